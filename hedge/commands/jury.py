"""What ``hedge jury …`` does: arguments in, an :class:`~hedge.commands.Answer` out."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.calibration.estimate import FEWEST
from core.conformal.alpha import thousandths
from core.conformal.selective import delta_thousandths
from core.errors import InputError
from core.estimates import Estimate
from core.exchange import juries, writing
from core.exchange.juries import ReadJury
from core.jury.adjudication import rules_in_words
from core.jury.agreement import Agreement, agreement
from core.jury.experiment import PROTOCOLS, JuryExperiment, Protocol, run, split_in_half
from core.jury.judgements import Judgements
from core.jury.pipeline import jury_store
from core.jury.selection import in_order, judged_sides
from core.reports import jury as reports
from core.reports.answer_or_pass import jury_json, jury_text
from core.reports.file_names import About
from core.reports.report import finite
from hedge.commands.answer import CommandResult

if TYPE_CHECKING:  # slow to import, and not needed to list names
    import pandas as pd

MOST_SEEDS = 1000


def seeds(text: str) -> tuple[int, ...]:
    """Seeds as a person writes them: numbers and spans with commas between.

    >>> seeds("0-3,7")
    (0, 1, 2, 3, 7)
    """
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        last = last or first
        if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
            raise InputError(f"seeds must be whole numbers or spans such as 0-9, got {part.strip()!r}")
        if int(last) - int(first) >= MOST_SEEDS:
            raise InputError(f"at most {MOST_SEEDS} seeds are tried, got {part.strip()!r}")
        numbers += range(int(first), int(last) + 1)
    return tuple(dict.fromkeys(numbers))


def _read(arguments: Namespace, *, single: bool = False) -> ReadJury:
    """The judgements that files hold, or an imported jury, with notes. ``single`` admits one juror alone."""
    names: list[str] = arguments.judgements
    if _is_stored(arguments):
        record = jury_store.read_record(jury_store.folder_of(names[0]).name)
        return ReadJury(_as_said(jury_store.read(names[0]), arguments), record.sentences)
    parsed = juries.read([Path(name) for name in names], labels=arguments.labels, single=single)
    return replace(parsed, judgements=_as_said(parsed.judgements, arguments))


def _is_stored(arguments: Namespace) -> bool:
    """Whether the judgements are those of an imported jury, and no files."""
    names: list[str] = arguments.judgements
    return len(names) == 1 and not Path(names[0]).exists() and not Path(names[0]).suffix


def _as_said(judgements: Judgements, arguments: Namespace) -> Judgements:
    """The judgements as those of pairs where ``--pairwise`` says so."""
    return replace(judgements, pairwise=True) if arguments.pairwise else judgements


def protocol(arguments: Namespace) -> Protocol:
    """The protocol that arguments name, with what they change of it."""
    changes: dict[str, Any] = {"seeds": seeds(arguments.seeds)}
    if arguments.confidence:
        changes["confidence"] = arguments.confidence
    if arguments.calibration_share is not None:
        changes["share"] = arguments.calibration_share
    if arguments.all_answers:
        changes["disagreement"] = False
    if arguments.rule:
        changes["rules"] = tuple(dict.fromkeys(arguments.rule))
    return replace(PROTOCOLS[arguments.protocol] if arguments.protocol else Protocol(), **changes)


def select(arguments: Namespace) -> CommandResult:
    """From which confidence the verdicts of judges may stand for those of people."""
    alpha, delta = thousandths(arguments.alpha), delta_thousandths(arguments.delta)
    read = _read(arguments, single=True)
    judgements = in_order(read.judgements, arguments.juror or ())
    sides = judged_sides(judgements, share=arguments.calibration_share, seed=arguments.seed)
    sides = replace(sides, notes=(*read.notes, *sides.notes))
    return CommandResult(jury_json(sides, alpha, delta), jury_text(sides, alpha, delta))


def evaluate(arguments: Namespace) -> CommandResult:
    """Try rules on splits of a jury's judgements."""
    read, chosen, note = _read(arguments), protocol(arguments), ""
    judgements = read.judgements
    if arguments.protocol == "all-rules":  # the published experiment is only that on its own split
        chosen, note = split_in_half(judgements, chosen)
    experiment = run(judgements, chosen)
    errors = reports.calibration_errors(judgements, chosen)
    notes = [*read.notes, *([note] if note else []), *experiment.notes]
    values = reports.to_json(experiment, errors) | {"pairwise": judgements.pairwise, "notes": notes}
    if judgements.pairwise:
        values["share_first_better"] = values.pop("share_right")
    text = _experiment_text(experiment, errors, pairwise=judgements.pairwise)
    return CommandResult(values, "\n".join([*notes, text]))


def _experiment_text(experiment: JuryExperiment, errors: pd.DataFrame, *, pairwise: bool) -> str:
    kind = "on which the jurors disagree" if experiment.protocol.disagreement else "in all"
    share = f"{experiment.right:.1%} of them"
    what, share = ("pairs", f"the first answer is better in {share}") if pairwise else ("answers", f"{share} right")
    lines = [
        (
            f"{experiment.n} of {experiment.kept_of} {what} ({kind}), {share}; {experiment.n_calibration} calibrate "
            f"and {experiment.n_test} test in {len(experiment.protocol.seeds)} splits, "
            f"{experiment.protocol.confidence} confidence"
        ),
        "",
        f"{'rule':<20} accuracy (95% interval)   precision recall  F1      to majority",
    ]
    words = rules_in_words(pairwise=pairwise)
    lines += [
        f"{words[outcome.rule].title:<20} {_span(outcome.accuracy):<26} {outcome.precision.value:.4f}    "
        f"{outcome.recall.value:.4f}  {outcome.f1.value:.4f}  "
        f"{'' if outcome.rule == 'majority' else _span(outcome.to_majority, '+.3f', '+.3f')}".rstrip()
        for outcome in sorted(experiment.outcomes, key=lambda outcome: -outcome.accuracy.value)
    ]
    lines += ["", f"{'juror':<20} accuracy (95% interval)"]
    lines += [f"{juror.juror:<20} {_span(juror.accuracy)}" for juror in experiment.jurors]
    lines += ["", f"{'juror':<20} {'scale':<11} ECE    by chance less chance, 95% interval"]
    lines += [
        f"{row['juror']:<20} {row['scale']:<11} {row['ece']:.3f}  "
        + (
            f"{row['luck']:.3f}    {row['low']:.3f} to {row['high']:.3f}"
            if row["low"] == row["low"]
            else f"no interval: fewer than {FEWEST} questions"
        )
        for row in errors.to_dict("records")
    ]
    return "\n".join(lines)


def _span(estimate: Estimate, form: str = ".4f", form_of_ends: str = ".3f") -> str:
    return f"{estimate.value:{form}} ({_ends(estimate, form_of_ends)})"


def _ends(estimate: Estimate, form: str) -> str:
    return (
        f"{estimate.low:{form}} to {estimate.high:{form}}"
        if estimate.low == estimate.low
        else "no interval: one question"
    )


def agree(arguments: Namespace) -> CommandResult:
    """How much jurors agree, and what their unanimity is worth."""
    judgements = _read(arguments).judgements
    figures = agreement(judgements)
    return CommandResult(reports.agreement_json(figures), _agreement_text(figures, pairwise=judgements.pairwise))


def _agreement_text(figures: Agreement, *, pairwise: bool) -> str:
    def shown(estimate: Estimate) -> str:
        return _span(estimate) if estimate.value == estimate.value else "not defined"

    lines = [
        f"{pair.first} and {pair.second}: agree {shown(pair.agreement)}, Cohen's kappa {shown(pair.kappa)}, "
        f"errors correlate {shown(pair.error_correlation)}"
        for pair in figures.pairs
    ]
    return "\n".join(
        [
            *lines,
            f"Fleiss' kappa {shown(figures.fleiss)}, Krippendorff's alpha {shown(figures.krippendorff)}",
            f"effective number of votes {shown(figures.effective_votes)}",
            f"unanimous on {figures.n_unanimous} of {figures.n} "
            + ("pairs" if pairwise else "answers")
            + (f" to {figures.n_questions} questions" if figures.n_questions < figures.n else "")
            + (", for the less preferred answer on " if pairwise else ", wrong on ")
            + f"{shown(figures.unanimous_wrong)} of those",
        ]
    )


def bring_in(arguments: Namespace) -> CommandResult:
    """Read files and keep them as a jury."""
    paths = [Path(path) for path in arguments.judgements]
    parsed = juries.read(paths, labels=arguments.labels)
    name = arguments.name or "-".join(parsed.judgements.jurors)
    origin = f"imported from {', '.join(path.name for path in paths)}"
    judgements = _as_said(parsed.judgements, arguments)
    jury_id = jury_store.save(judgements, name=name, origin=origin, notes=parsed.notes)
    what = "pairs of answers" if judgements.pairwise else "answers"
    text = [f"{jury_id}: {len(judgements)} {what}, {len(judgements.jurors)} jurors", *parsed.notes]
    return CommandResult(
        {"jury": jury_id, "answers": len(parsed.judgements), "notes": list(parsed.notes)}, "\n".join(text)
    )


def export(arguments: Namespace) -> CommandResult:
    """Write a jury as one tidy table, or as a report."""
    import pyarrow as pa

    if arguments.format == "html":
        return _export_report(arguments)
    table = pa.Table.from_pandas(_read(arguments).judgements.table(), preserve_index=False)
    path = writing.write(arguments.out, f"judgements.{arguments.format}", writing.ONE_TABLE[arguments.format](table))
    return CommandResult({"files": [str(path)]}, str(path))


def _export_report(arguments: Namespace) -> CommandResult:
    """The static report of a jury, one HTML file. Rules are evaluated as the Jury page opens."""
    from charts.jury_report import jury_report_html

    alpha, delta = thousandths(arguments.alpha), delta_thousandths(arguments.delta)
    read = _read(arguments, single=True)
    judgements = read.judgements
    protocol = replace(PROTOCOLS["all-rules"], disagreement=bool(judgements.disagreed.any()))
    try:
        experiment: JuryExperiment | str = run(judgements, split_in_half(judgements, protocol)[0])
    except InputError as error:  # labels of one side: the rest of the report needs no rules
        experiment = f"No rule can be judged: {error}."
    called, origin = ", ".join(Path(name).name for name in arguments.judgements), "judgements of files"
    if _is_stored(arguments):
        record = jury_store.read_record(jury_store.folder_of(called).name)
        called, origin = record.name, record.origin
    content = jury_report_html(
        judgements, experiment, called, origin=origin, notes=read.notes, alpha=alpha, delta=delta
    )
    name = About([called], alpha=alpha).file_name("report", "html")
    path = writing.write(arguments.out.resolve(), name, content)
    return CommandResult({"files": [str(path)]}, str(path))


def show(arguments: Namespace) -> CommandResult:
    """List every jury."""
    rows, lines = [], []
    for name in jury_store.jury_ids():
        try:
            row = asdict(jury_store.checked_record(name))
            del row["files"]
            lines.append(f"{name}  {row['answers']} answers by {', '.join(row['jurors'])}; {row['origin']}")
        except InputError as error:  # it hides no other
            row = {"jury_id": name, "message": str(error)}
            lines.append(f"{name}  {error}")
        rows.append(finite(row))
    nothing = "There are no juries yet; `hedge jury import FILES` imports one."
    return CommandResult(rows, "\n".join(lines) or nothing)
