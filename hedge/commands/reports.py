"""The commands that print figures of one run or of several."""

from __future__ import annotations

import itertools
import math
from argparse import Namespace
from collections.abc import Hashable, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from core.conformal.alpha import thousandths
from core.conformal.scores import SCORES
from core.conformal.selective import delta_thousandths
from core.errors import InputError, plain
from core.estimates import difference_shown, interval_text
from core.questions.bank_names import task_title
from core.reports import report as reports
from core.reports.alpha_lab.view import SplitView, look
from core.reports.bounded import BoundedReport, bounded_report
from core.reports.caveats import footnotes, in_one, marked, of_run
from core.reports.evaluation import load
from core.reports.p_values import p_said, p_text
from core.reports.repeated import sides
from core.reports.report import finite, shown
from core.reports.thresholds import threshold_text
from core.runs import store
from core.runs.caveats import COLUMN
from hedge.commands.answer import CommandResult, of_runs

if TYPE_CHECKING:  # pandas, which most commands don't need
    from core.reports.compare import claims, paired
    from core.reports.compare.benchmark import SetRule


def report(arguments: Namespace) -> CommandResult:
    """The figures of runs at alpha, as a view has them."""
    alpha = thousandths(arguments.alpha)
    view = SplitView(arguments.drop_extra, arguments.n_calibration, arguments.split_seed)
    values: list[dict[str, Any]] = []
    ranges: list[BoundedReport] = []

    def add(name: str) -> None:
        if store.read_record(name).bounded:
            ranges.append(_ranges(name, alpha, arguments, view))
            return
        figures = reports.report(
            look(load(name), view),
            alpha,
            scores=arguments.score,
            method=arguments.threshold,
            empty=arguments.empty,
            by=arguments.by,
        )
        values.append({**figures.to_json(), "view": asdict(view)})

    read = of_runs(arguments.run, add)
    text = "\n".join(filter(None, [report_table(values), bounded_table(ranges)]))
    return CommandResult([*values, *(bounds.to_json() for bounds in ranges)], text).beside(read)


def _ranges(name: str, alpha: int, arguments: Namespace, view: SplitView) -> BoundedReport:
    """The figures of a run with bounds, which has only what is asked for by default."""
    plain = (arguments.threshold, arguments.empty, arguments.by) == ("exact", "allow", "all")
    if not plain or view != SplitView():
        raise InputError(
            f"the server of run {name} gave only an upper bound of some letters, so its figures are ranges, and these "
            "are known for the exact threshold, one for all questions and the run's own split; leave out the other "
            "options"
        )
    return bounded_report(name, alpha, scores=arguments.score)


def bounded_table(ranges: list[BoundedReport]) -> str:
    """Reports of runs with bounds as text."""
    return "\n".join(line for bounds in ranges for line in bounds.lines(task_title(bounds.task, bounds.bank)))


def report_table(results: list[dict[str, Any]]) -> str:
    lines = []
    for values in results:
        lines.append(
            f"{values['run']}\n  {task_title(values['task'], values['bank'])}: "
            f"{sides(values['n_calibration'], values['n_test'], values['test_questions'])}: "
            f"accuracy {values['accuracy']:.3f}, NLL "
            f"{shown(math.inf if values['nll_infinite'] else values['nll'])}, ECE beyond chance {_ece(values)}"
        )
        lines += [f"  {note}" for note in values["notes"]]
        lines.append(f"  sets at alpha {values['alpha']:.3f}, intervals 95%:")
        for name, figures in values.items():
            if isinstance(figures, dict) and "coverage_band" in figures:
                low, high = figures["coverage_band"]
                lines.append(
                    f"  {name:<15} coverage {figures['coverage']:.3f} (95% band {low:.3f} to "
                    f"{high:.3f}), mean set size {_with_ends(figures, 'mean_set_size', 2)}, UAcc "
                    f"{_with_ends(figures, 'uacc', 3)}, empty {figures['empty_rate']:.3f}"
                )
                lines += [f"    {note}" for note in figures["notes"]]
                if values["by"] != "all":
                    lines += _strata_lines(figures["strata"], "subject" if values["by"] == "group" else "true option")
        if order := values["option_order"]:
            stable = ", ".join(f"{name} {figures['same']:.3f}" for name, figures in order["sets"].items())
            lines.append(
                f"  {order['questions']} questions, each in {order['orders']} orders of its options: letter bias "
                f"{order['letter_bias']:.3f} ({p_said(order['letter_p_value'])}), choice changed for "
                f"{order['changed']:.3f} of questions, same set {stable}"
            )
    return "\n".join(lines)


def _ece(values: dict[str, Any]) -> str:
    seen = f"seen {values['ece']:.3f}, chance {values['ece_luck']:.3f}"
    if values["ece_excess"] is None:
        return f"{seen} (no interval from so few questions)"
    return f"{values['ece_excess']:.3f} (95% {interval_text(*values['ece_interval'])}; {seen})"


def _with_ends(figures: dict[str, Any], name: str, digits: int) -> str:
    """A figure with its interval in brackets; "none" if it is not defined."""
    if figures[name] is None:
        return "none"
    return f"{figures[name]:.{digits}f} ({interval_text(*figures[f'{name}_interval'], digits=digits)})"


def _strata_lines(strata: list[dict[str, Any]], title: str) -> list[str]:
    """A table with one row per stratum: its questions, threshold, coverage with its interval, mean set size."""
    names = [plain(row["stratum"], one_line=True) for row in strata]
    width = max(len(title), *map(len, names))
    lines = [f"    {title:<{width}}      n      m  threshold  coverage (Clopper–Pearson 95%)  size"]
    for name, row in zip(names, strata, strict=True):
        threshold = "none" if row["threshold"] is None else threshold_text(row["threshold"])
        lines.append(
            f"    {name:<{width}}  {row['n']:>5}  {row['m']:>5}  {threshold:>9}  "
            f"{row['coverage']:>8.3f}  ({row['low']:.3f} to {row['high']:.3f})  {row['mean_set_size']:>4.2f}"
        )
    return lines


def answer_or_pass(arguments: Namespace) -> CommandResult:
    """From which confidence, or up to which set size, runs may answer."""
    from core.reports import answer_or_pass as passing

    alpha, delta = thousandths(arguments.alpha), delta_thousandths(arguments.delta)
    sets_alpha = thousandths(arguments.set_alpha, "the alpha of the sets")
    values, lines = [], []

    def add(name: str) -> None:
        run = load(name)
        sides = passing.run_sides(
            run, by=arguments.by, sets_alpha=sets_alpha, score=arguments.score, empty=arguments.empty
        )
        result = sides.selected(alpha, delta)
        caveats = in_one(of_run(run))
        notes = [*sides.notes, *([caveats] if caveats else [])]
        values.append(passing.to_json(result, [run.run_id], k=sides.k, notes=notes) | {"by": arguments.by})
        text = [*passing.text_lines(result, k=sides.k), *notes]
        lines.extend([run.run_id, *(f"  {line}" for line in text)])

    read = of_runs(arguments.run, add)
    return CommandResult(values, "\n".join(lines)).beside(read)


def compare(arguments: Namespace) -> CommandResult:
    """The figures of several runs, each pair of runs compared on the questions they share, and the published claims."""
    from core.reports.compare import benchmark, claims, common_options, paired
    from core.reports.compare.what_differs import what_differs
    from core.runs.model_files import served_weights

    read = of_runs([store.folder_of(name).name for name in arguments.run], load)
    names = [run.run_id for run in read.values]
    rule = asked_of(arguments)
    runs = common_options.offered_alike(read.values)
    score = rule.scores[0]
    rows = benchmark.run_rows(runs, benchmark.reports(runs, rule))
    reasons = {(a.run_id, b.run_id): paired.why_not(a, b) for a, b in itertools.combinations(runs, 2)}
    alike = [(a, b) for a, b in itertools.combinations(runs, 2) if not reasons[a.run_id, b.run_id]]
    pairs = paired.compare(alike, rule.alpha, score=score)
    shown_claims = claims.claims(claims.with_shared_questions(rows[rows["score"] == score]))
    served = served_weights([store.read_record(name) for name in names])
    about = {
        (a.run_id, b.run_id): what_differs(
            [a.spec, b.spec],
            calibrate=[len(a.calibration), len(b.calibration)],
            served=[served[a.run_id], served[b.run_id]],
        )
        for a, b in alike
    }
    chosen = paired.CHOSEN if alike and SCORES[score].tuned else ""
    sentences = [common_options.options_words(rows), *_not_compared(reasons, names), chosen]
    values = {
        "runs": finite(rows.to_dict("records")),
        "pairs": [finite(asdict(pair)) | {"differs": about[pair.first, pair.second]} for pair in pairs],
        "notes": [note for note in sentences if note],
        "claims": [
            finite(
                {
                    **{k: v for k, v in vars_of(claim).items() if k != "points"},
                    "points": claim.points.to_dict("records"),
                }
            )
            for claim in shown_claims
        ],
    }
    text = _comparison_text(rows[rows["score"] == score], values["notes"], pairs, about, shown_claims)
    return CommandResult(values, text).beside(read)


NONE_SHARED = "No two of these runs were tested on the same questions, so no pair is compared question by question."


def _not_compared(reasons: dict[tuple[str, str], str], names: Sequence[str]) -> list[str]:
    """Why pairs of runs are not compared. Runs on other questions are mentioned only if no pair is compared."""
    from core.reports.compare.shared_questions import few_shared
    from core.reports.question_identity import shared_tests

    sharing = [f"Not compared: {why}." for pair, why in reasons.items() if why and shared_tests(*pair)]
    if sharing or not all(reasons.values()):
        return sharing
    return [few_shared(names) or NONE_SHARED]


def vars_of(record: Any) -> dict[str, Any]:
    """A frozen record's fields without going into them."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _comparison_text(
    rows: Any,
    notes: list[str],
    pairs: list[paired.Pair],
    differs: dict[tuple[str, str], str],
    tested_claims: list[claims.PublishedClaim],
) -> str:
    from core.reports.compare.claims import family_words

    lines = [
        f"{marked(row['run'], row[COLUMN])}\n  {task_title(row['task'], row['bank'])}: accuracy {row['accuracy']:.3f} "
        f"({row['accuracy_low']:.3f} to {row['accuracy_high']:.3f}); at alpha {row['alpha']:.3f} coverage "
        f"{row['coverage']:.3f}, mean set size {row['mean_set_size']:.2f} ({row['set_size_low']:.2f} to "
        f"{row['set_size_high']:.2f}), UAcc {row['uacc']:.3f} ({row['uacc_low']:.3f} to {row['uacc_high']:.3f})"
        for row in rows.to_dict("records")
    ]
    lines += footnotes(rows[["run", COLUMN]].itertuples(index=False, name=None))
    lines += notes
    by_run = {row["run"]: row for row in rows.to_dict("records")}
    lines += [
        _pair_text(pair, differs[pair.first, pair.second], by_run[pair.first], by_run[pair.second]) for pair in pairs
    ]
    lines += filter(None, [family_words(rows["model"].tolist())])
    for claim in tested_claims:
        figure = "there is nothing to compute it from" if math.isnan(claim.figure) else f"{claim.figure:.2f}"
        lines.append(f"“{claim.statement}” {claim.verdict} ({claim.measure}: {figure})")
        lines += [f"  {sentence}" for sentence in (claim.instance, claim.caveat) if sentence]
    return "\n".join(lines)


def _pair_text(pair: paired.Pair, differs: str, first: dict[Hashable, Any], second: dict[Hashable, Any]) -> str:
    from core.reports.compare.pair_in_words import smallest_in_words
    from core.reports.compare.shared_questions import shared_words

    sentences = [*shared_words(pair.tested, pair.n, pair.units, repeats=pair.repeats), differs]
    if pair.alike:
        sentences.append("Both runs score every option of these questions alike, so nothing here tells them apart.")
    notes = "".join(f"\n  {note}" for note in sentences if note)
    corrected = ", ".join(f"{name.replace('_', ' ')} {p_text(p)}" for name, p in pair.holm.items())
    rows = "rows" if pair.units < pair.n else "questions"
    accuracy, size, uacc = (
        _span(difference, first[name], second[name], digits)
        for difference, name, digits in (
            (pair.accuracy, "accuracy", 3),
            (pair.set_size, "mean_set_size", 2),
            (pair.uacc, "uacc", 3),
        )
    )
    return (
        f"{pair.first} and {pair.second}, {pair.n} {rows}{notes}\n  right: both {pair.both_right}, only the first "
        f"{pair.only_first}, only the second {pair.only_second}, neither {pair.both_wrong}; sets grew {pair.grew}, "
        f"shrank {pair.shrank}\n  accuracy {accuracy}, set size {size}, UAcc {uacc}\n"
        f"  p after Holm: {corrected}{_alone(pair)}\n"
        f"  {smallest_in_words(pair.detectable, corrected=f'{pair.tests} tests')}"
    )


def _alone(pair: paired.Pair) -> str:
    """A line on calibration questions that the permutation test could not swap; empty if there are none."""
    if not any(pair.alone):
        return ""
    return (
        f"\n  {pair.n_calibration} calibration questions are swapped by the permutation test; {pair.alone[0]} and "
        f"{pair.alone[1]} calibrate one run only and are not"
    )


def _span(difference: paired.Difference, first: float, second: float, digits: int) -> str:
    """The difference of the two figures as they are printed above, with its interval."""
    mean = difference_shown(second, first, digits=digits, exact=difference.mean)
    return f"{mean:+.{digits}f} ({difference.low:+.{digits}f} to {difference.high:+.{digits}f})"


def asked_of(arguments: Namespace) -> SetRule:
    """The alpha, scores, threshold and policy that a command is given."""
    from core.reports.compare.benchmark import SetRule

    return SetRule(thousandths(arguments.alpha), tuple(arguments.score), arguments.threshold, arguments.empty)
