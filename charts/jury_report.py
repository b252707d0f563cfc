"""The static report of a jury: one HTML file without a script, with its rules, the promise of its judges, and the
worth of a few human labels."""

from collections.abc import Sequence
from typing import Any

from charts.figure_files import jury_figure, labels_figure
from charts.figure_style import FigureStyle
from charts.html_page import html_page
from charts.lab_outside import themes_css
from charts.static_report import Table, picture
from core.errors import InputError
from core.jury.experiment import JuryExperiment
from core.jury.judgements import Judgements
from core.jury.label_draw import JudgedAnswers, sample_of
from core.jury.selection import JudgedSides, in_order, judged_sides
from core.reports import answer_or_pass, label_budget, references
from core.reports.answer_or_pass import DELTA, threshold_words
from core.reports.jury import provenance
from core.reports.jury_answer import jury_answer, rule_table
from core.tables.read_as import counted

ABOUT = ("Verdicts from", "Decides", "Agrees with people", "")


def jury_report_html(
    judgements: Judgements,
    experiment: JuryExperiment | str,
    called: str,
    *,
    origin: str,
    notes: Sequence[str] = (),
    judges: Sequence[str] = (),
    alpha: int = 100,
    delta: int = DELTA,
    labels: int = label_budget.USUAL,
) -> bytes:
    """One HTML file about a jury that is ``called`` so.

    ``experiment`` has all rules, or says in a sentence why no rule can be judged. ``judges`` are asked in this order,
    all in their own order if none is named. Up to ``labels`` labels count. ``alpha`` and ``delta`` are in thousandths.
    """
    pairwise = judgements.pairwise
    what = "pairs" if pairwise else "answers"
    facts = dict(label_budget.provenance(judgements, called).facts)
    if isinstance(experiment, str):
        about: dict[str, Any] = {"answer": [experiment], "rules": None, "forest": None}
    else:
        rules, answer = rule_table(experiment, pairwise=pairwise), jury_answer(experiment, pairwise=pairwise)
        facts = dict(provenance(experiment, called).facts)
        about = {
            "answer": [
                f"{answer.headline}.",
                answer.detail,
                f"Answers: {facts['Answers']}. Splits: {facts['Splits']}. 95% intervals are in brackets.",
                *experiment.notes,
            ],
            "rules": {"head": list(rules), "rows": rules.values.tolist()},
            "forest": picture(jury_figure("jury-forest", judgements, experiment, called, FigureStyle("double"))),
        }
    budget_facts = dict(label_budget.provenance(judgements, called).facts)
    try:
        promise = _promise(judged_sides(in_order(judgements, judges)), alpha, delta, what)
    except InputError as error:  # no answers on one of the sides
        promise = {"promise": [f"{error}."], "alone": None, "in_turn": None}

    return html_page(
        "jury_report",
        title=called,
        themes=themes_css(),
        subtitle=f"{origin}; {len(judgements):,} {what}, {counted(len(judgements.jurors), 'judge')}",
        notes=notes,
        **about,
        **promise,
        **_budget(judgements, max(1, min(labels, len(judgements))), what),
        labels=picture(labels_figure(judgements, called, FigureStyle("double"))),
        facts=[
            *facts.items(),
            ("Promise", f"alpha {alpha / 1000:g}, delta {delta / 1000:g}"),
            ("Labels", budget_facts["Labels"]),
            ("Their intervals", budget_facts["Intervals"]),
        ],
        references=references.bibtex(references.jury_works()),
    )


def _promise(sides: JudgedSides, alpha: int, delta: int, what: str) -> dict[str, Any]:
    """The sentences of the promise, and tables of the judges alone and in turn."""
    result = sides.selected(alpha, delta)
    several = len(sides.judges) > 1
    alone = []
    for place, name in enumerate(sides.judges):
        one = sides.alone(place).selected(alpha, delta)
        (stage,) = one.stages
        agrees = f"{1 - one.error:.1%} (at least {1 - one.error_high:.1%})" if one.answered else "–"
        notes = " ".join(answer_or_pass.stage_notes(stage, alpha))
        alone.append([name, threshold_words(stage.threshold), f"{one.share:.1%}", agrees, notes])
    in_turn = [
        [
            name,
            threshold_words(stage.threshold),
            f"{stage.answered / result.n_judged:.1%}",
            f"{1 - stage.wrong / stage.answered:.1%}" if stage.answered else "–",
            " ".join(answer_or_pass.stage_notes(stage, alpha, alone=False)),
        ]
        for name, stage in zip(sides.judges, result.stages, strict=True)
    ]
    in_turn.append(["people", "", f"{result.passed:.1%}", "", ""])
    headline = answer_or_pass.headline(result, what=what, verdicts=True)
    return {
        "promise": [
            f"In turn: {headline[:1].lower()}{headline[1:]}." if several else f"{headline}.",
            answer_or_pass.promise_words(result, what=what, verdicts=True),
            *sides.notes,
        ],
        "alone": {"head": ["A judge alone", *ABOUT], "rows": alone},
        "in_turn": {"head": ["Judges in turn", *ABOUT], "rows": in_turn} if several else None,
    }


def _budget(judgements: Judgements, n: int, what: str) -> dict[str, Any]:
    """The sentences and the table of ``n`` labels."""
    judged = JudgedAnswers.of(judgements)
    budget = label_budget.label_budget(judged, sample_of(judged, seed=0), n=n)
    share = "First is better (95% interval)" if judgements.pairwise else "Share right (95% interval)"
    table: Table = {
        "head": ["Judge", "Uses", share, "λ", "Worth labels", "Less variance"],
        "rows": label_budget.cells(budget),
    }
    words = (
        f"From {n:,} labels of {len(judged):,} {what}, for new {what} like these. With a judge, its verdicts on all "
        "count (PPI++). Less variance is over random draws of as many labels, compared with the labels alone."
    )
    return {"budget": table, "budget_words": [words, f"The labels: {budget.origin}.", *budget.notes]}
