"""What each command does: arguments in, an :class:`Answer` out."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from core.conformal.alpha import thousandths
from core.errors import HedgeError, InputError
from core.exchange import bluq, inspect_log, llm_uncertainty_bench, lm_eval, table, writing
from core.exchange.imported import ImportedRun, save
from core.exchange.run_table import run_table, runs_table
from core.exchange.sheet import open_sheet
from core.reports import report as reports
from core.reports.evaluation import load
from core.reports.report import finite
from core.reports.view import View, look
from core.runs import store
from core.runs.spec import MODES, RunSpec
from core.runs.store import Progress, RunRecord
from core.settings import ROOT, settings

if TYPE_CHECKING:  # pandas, which most commands do without
    from core.reports import claims, paired
    from core.reports.benchmark import Asked


@dataclass(frozen=True, slots=True)
class Answer:
    """``values`` for ``--json``, ``text`` for a person, and the exit status."""

    values: Any
    text: str
    status: int = 0


# ---------------------------------------------------------------- runs


def run(arguments: Namespace) -> Answer:
    """Execute every combination here, one after the other, or queue them."""
    from core.runs.execute import preflight

    alpha = thousandths(arguments.alpha)
    specs = _specs(arguments)
    for spec in specs:
        preflight(spec)
    if arguments.dry_run:
        return _previews(specs)
    if arguments.queue:
        return _queued(specs)
    status = 0
    ids = []
    for spec in specs:
        try:
            ids.append(execute_here(spec))
        except HedgeError as error:
            if len(specs) == 1:
                raise
            print(f"hedge: {error}", file=sys.stderr)
            status = 1
    made = [reports.report(load(name), alpha).to_json() for name in ids]
    return Answer({"runs": ids, "reports": made}, _report_table(made), status)


def _queued(specs: list[RunSpec]) -> Answer:
    """Ask this host's workers for the runs; several of them are one group, as on the page."""
    from core.runs import actions, engine

    if len(specs) == 1:
        ids = [engine.submit(specs[0])]
        return Answer({"runs": ids}, f"{ids[0]} is queued")
    group, outcome = actions.launch(specs)
    lines = [f"{name} is queued" for name in outcome.done]
    lines += [f"{name} is not: {reason}" for name, reason in outcome.refused.items()]
    values = {"runs": list(outcome.done), "refused": outcome.refused, "group": group.id if group else None}
    return Answer(values, "\n".join(lines), 0 if outcome.done else 1)


def _specs(arguments: Namespace) -> list[RunSpec]:
    from core.runs.asked import Combination

    return Combination(
        models=tuple(arguments.model),
        tasks=tuple(arguments.task),
        strategies=tuple(arguments.strategy),
        dtypes=tuple(arguments.dtype),
        forms=tuple(arguments.form),
        formats=tuple(arguments.format),
        shots=tuple(arguments.shots),
        samples=MODES[arguments.mode] if arguments.mode else arguments.samples,
        rotations=arguments.rotations,
        orders=arguments.orders,
        system=arguments.system,
        repeats=arguments.repeats,
        batch_size=arguments.batch_size,
        seed=arguments.seed,
        calibration_share=arguments.calibration_share,
    ).specs()


def _previews(specs: list[RunSpec]) -> Answer:
    """What each run would ask; nothing is written and no weights are loaded."""
    from core.inference.preview import preview
    from core.runs.asked import draw_questions, prompts

    values, lines = [], []
    for spec in specs:
        drawn = draw_questions(spec)
        asked = prompts(spec, drawn)
        middle = len(asked) // 2
        shown = preview(spec.model, asked[middle:] + asked[:middle])
        counts = asdict(shown) | {"run": spec.run_id, "questions": len(asked)}
        values.append(counts)
        lines.append(
            f"{shown.text}\n\n-- {spec.run_id}: {len(asked)} prompts; this one has {shown.tokens} tokens, "
            f"{shown.sampled} of them have {shown.shortest} to {shown.longest}, the first {shown.shared} shared; then "
            f"one of {', '.join(repr(said) for said in shown.continuations)}; {shown.truncated} do not fit"
        )
    return Answer({"previews": values}, "\n\n".join(lines))


def execute_here(spec: RunSpec, *, unit: str = "question") -> str:
    """Execute a run in this process with a progress bar that counts in ``unit``; returns its id."""
    from tqdm import tqdm

    from core.runs import engine
    from core.runs.execute import cut_short, execute

    engine.check_free(spec.run_id)
    with tqdm(desc=f"{spec.model_name} {spec.task_name}", unit=unit, file=sys.stderr) as bar:

        def show(progress: Progress) -> None:
            bar.total = progress.total
            bar.set_postfix_str(progress.stage, refresh=False)
            bar.update(progress.done - bar.n)

        name = execute(spec, on_progress=show)
    if not spec.answers:
        return name
    roles = store.read_questions(name)["role"].to_pylist()
    wanted, used = spec.samples, roles.count("calibration") + roles.count("test")
    if wanted is None or used < wanted:
        print(f"hedge: run {name} uses all {used} questions there are", file=sys.stderr)
    if shortened := cut_short(store.read_record(name).provenance["engine"]):
        print(f"hedge: run {name}: {shortened}", file=sys.stderr)
    return name


def runs(arguments: Namespace) -> Answer:
    """List every run with its state."""
    rows = [_run_row(store.read_record(name)) for name in store.run_ids()]
    lines = [f"{row['state']:<10} {row['run']}{'  ' + row['message'] if row['message'] else ''}" for row in rows]
    return Answer(rows, "\n".join(lines) or "There are no runs yet; `python -m core run --help` shows how to make one.")


def _run_row(record: RunRecord) -> dict[str, Any]:
    """One run as it is now; of one that has not ended the engine knows more than its folder."""
    state, message, progress = record.state, record.message, None
    if state not in store.ENDED:
        from core.runs import engine

        now = engine.status(record.run_id)
        state, message, progress = now.state, now.message, now.progress
    return {
        "run": record.run_id,
        "state": state,
        "message": message,
        "done": progress.done if progress else None,
        "total": progress.total if progress else None,
        **record.spec.to_json(),
    }


def cancel(arguments: Namespace) -> Answer:
    """Stop runs."""
    return _each(arguments, "cancel", "is being cancelled")


def resume(arguments: Namespace) -> Answer:
    """Go on with runs."""
    return _each(arguments, "resume", "is queued")


def _each(arguments: Namespace, verb: str, says: str) -> Answer:
    from core.runs import engine

    ids = [store.folder_of(name).name for name in arguments.run]
    action: Callable[[str], None] = getattr(engine, verb)
    for name in ids:
        action(name)
    return Answer({"runs": ids}, "\n".join(f"{name} {says}" for name in ids))


def first(arguments: Namespace) -> Answer:
    """Let queued runs be the next."""
    from core.runs import engine

    ids = [store.folder_of(name).name for name in arguments.run]
    engine.put_first(ids)
    return Answer({"runs": ids}, "\n".join(f"{name} comes next" for name in ids))


def delete(arguments: Namespace) -> Answer:
    """Move runs to the bin."""
    from core.runs import actions

    ids = [store.folder_of(name).name for name in arguments.run]
    for name in ids:
        actions.delete(name)
    return Answer({"runs": ids}, "\n".join(f"{name} is in the bin; `restore` has it back for a week" for name in ids))


def restore(arguments: Namespace) -> Answer:
    """Have deleted runs back."""
    from core.runs import actions

    ids = [actions.restore(name) for name in arguments.run]
    return Answer({"runs": ids}, "\n".join(f"{name} is back" for name in ids))


def show_bin(arguments: Namespace) -> Answer:
    """List the bin, or empty it."""
    from core.runs import house

    if arguments.empty:
        ids = house.empty_bin()
        return Answer({"runs": ids}, f"{len(ids)} deleted runs are gone for good")
    found = house.binned()
    rows = [{"run": each.run_id, "deleted": each.deleted, "bytes": each.size} for each in found]
    lines = [f"{each.run_id}  {each.size / 1e6:.1f} MB" for each in found]
    return Answer(rows, "\n".join(lines) or "The bin is empty.")


def agent(arguments: Namespace) -> Answer:
    """Be the host agent until stopped."""
    from core.runs.agent import main

    main()
    return Answer({}, "")


# ---------------------------------------------------------------- figures


def report(arguments: Namespace) -> Answer:
    """The figures of runs at alpha, as a view has them."""
    alpha = thousandths(arguments.alpha)
    view = View(arguments.drop_extra, arguments.n_calibration, arguments.split_seed)
    made = []
    for name in arguments.run:
        figures = reports.report(
            look(load(name), view),
            alpha,
            scores=arguments.score,
            method=arguments.threshold,
            empty=arguments.empty,
            by=arguments.by,
        )
        made.append({**figures.to_json(), "view": asdict(view)})
    return Answer(made, _report_table(made))


def _report_table(made: list[dict[str, Any]]) -> str:
    lines = []
    for values in made:
        lines.append(
            f"{values['run']}\n  {values['n_calibration']} calibration, {values['n_test']} test, alpha "
            f"{values['alpha']:.3f}: accuracy {values['accuracy']:.3f}, ECE {values['ece']:.3f}"
        )
        for name, figures in values.items():
            if isinstance(figures, dict) and "coverage_band" in figures:
                low, high = figures["coverage_band"]
                size = figures["mean_set_size"]
                lines.append(
                    f"  {name:<15} coverage {figures['coverage']:.3f} (95 % band {low:.3f} to {high:.3f}), "
                    f"mean set size {size:.2f}, empty {figures['empty_rate']:.3f}"
                )
                lines += [f"    {note}" for note in figures["notes"]]
                if values["by"] != "all":
                    lines += _strata_lines(figures["strata"], "subject" if values["by"] == "group" else "true letter")
        if order := values["option_order"]:
            stable = ", ".join(f"{name} {figures['same']:.3f}" for name, figures in order["sets"].items())
            lines.append(
                f"  in {order['orders']} orders of the options: letter bias {order['letter_bias']:.3f}, choice changed "
                f"for {order['changed']:.3f} of questions, same set {stable}"
            )
    return "\n".join(lines)


def _strata_lines(strata: list[dict[str, Any]], title: str) -> list[str]:
    """A table with a row a stratum: its questions, threshold, coverage with its interval, mean set size."""
    width = max(len(title), *(len(row["stratum"]) for row in strata))
    lines = [f"    {title:<{width}}      n      m  threshold  coverage (95 % interval)  size"]
    for row in strata:
        threshold = "none" if row["threshold"] is None else f"{row['threshold']:.4f}"
        lines.append(
            f"    {row['stratum']:<{width}}  {row['n']:>5}  {row['m']:>5}  {threshold:>9}  "
            f"{row['coverage']:>8.3f}  ({row['low']:.3f} to {row['high']:.3f})  {row['mean_set_size']:>4.2f}"
        )
    return lines


# ---------------------------------------------------------------- import


def _read_bench(arguments: Namespace) -> list[ImportedRun]:
    if arguments.labels is None:
        raise InputError("llm-uncertainty-bench results come without answers; give their folder with --labels")
    return llm_uncertainty_bench.read(arguments.path, labels=arguments.labels)


def _read_table(arguments: Namespace) -> list[ImportedRun]:
    columns = table.read_mapping(arguments.mapping) if arguments.mapping else None
    if columns is None and arguments.options:
        if not arguments.label:
            raise InputError("--options needs --label, the column with the right option")
        columns = table.Columns(tuple(arguments.options), arguments.label, values=arguments.values or "")
    elif columns is None and (arguments.values or arguments.label):
        found = table.recognise(open_sheet(arguments.path[0]), label=arguments.label or "")
        columns = replace(found, values=arguments.values or found.values)
    return table.read(arguments.path, columns=columns, model=arguments.model or "", task=arguments.task or "")


IMPORTERS: dict[str, Callable[[Namespace], list[ImportedRun]]] = {
    "llm-uncertainty-bench": _read_bench,
    "bluq": lambda arguments: bluq.read(arguments.path),
    "lm-eval": lambda arguments: lm_eval.read(arguments.path),
    "inspect": lambda arguments: inspect_log.read(arguments.path),
    "table": _read_table,
}
"""Every format that can be brought in, by name."""


def import_results(arguments: Namespace) -> Answer:
    """Read every file, then write the runs: all of an import or nothing."""
    ids = save(IMPORTERS[arguments.format](arguments))
    return Answer({"runs": ids}, "\n".join(ids))


# ---------------------------------------------------------------- export and compare


def _asked(arguments: Namespace) -> Asked:
    from core.reports.benchmark import Asked

    return Asked(thousandths(arguments.alpha), tuple(arguments.score), arguments.threshold, arguments.empty)


def export(arguments: Namespace) -> Answer:
    """Write runs, or the figures of runs, into a folder."""
    names = [store.folder_of(name).name for name in arguments.run]
    asked = _asked(arguments)
    made = EXPORTS[arguments.format](names, asked, arguments.out)
    paths = [str(path) for path in made]
    return Answer({"files": paths}, "\n".join(paths))


def _export_table(kind: str) -> Callable[[list[str], Asked, Path], list[Path]]:
    """The questions of all runs as one table, which can be brought in again."""

    def made(names: list[str], asked: Asked, out: Path) -> list[Path]:
        for name in names:
            load(name)  # a run that has not ended well goes nowhere
        return [writing.write(out, f"runs.{kind}", writing.ONE_TABLE[kind](runs_table(names)))]

    return made


def _figures_table(names: list[str], asked: Asked) -> pa.Table:
    from core.reports import benchmark

    runs = [load(name) for name in names]
    return pa.Table.from_pandas(benchmark.run_rows(runs, benchmark.reports(runs, asked)), preserve_index=False)


def _export_xlsx(names: list[str], asked: Asked, out: Path) -> list[Path]:
    """A sheet with every run's figures, and one a run with its questions."""
    tables = {"figures": _figures_table(names, asked)}
    tables |= {f"{i} {name}": run_table(name) for i, name in enumerate(names, start=1)}
    return [writing.write(out, "runs.xlsx", writing.to_xlsx(tables))]


def _export_markdown(names: list[str], asked: Asked, out: Path) -> list[Path]:
    """The figures as a document."""
    notes = (
        f"Alpha {asked.alpha / 1000:.3f}, {asked.method} threshold, empty sets: {asked.empty}.",
        "Intervals are 95 %; that of coverage is its band where the guarantee holds.",
    )
    content = writing.to_markdown({"Figures": _figures_table(names, asked)}, title="Results", notes=notes)
    return [writing.write(out, "results_summary.md", content)]


def _export_json(names: list[str], asked: Asked, out: Path) -> list[Path]:
    """Results, summary and configuration of a benchmark, as BLUQ lays them out."""
    from core.reports import benchmark

    runs = [load(name) for name in names]
    results = benchmark.results_json(runs, benchmark.reports(runs, asked))
    stamp = time.strftime("%Y%m%d_%H%M%S")
    parts: dict[str, Any] = {
        "results": results,
        "summary": benchmark.summary_json(results),
        "config": benchmark.config_json(runs, asked),
    }
    return [
        writing.write(out, f"{name}_{stamp}.json", json.dumps(value, indent=1, allow_nan=False).encode())
        for name, value in parts.items()
    ]


def _drawn(what: str) -> Callable[[list[str], Asked, Path], list[Path]]:
    """Figures and the static report are drawn by the app's charts, in a process of their own."""

    def made(names: list[str], asked: Asked, out: Path) -> list[Path]:
        command = [sys.executable, "-m", "app.paper", what, *names, "--out", str(out.resolve())]
        command += ["--alpha", str(asked.alpha / 1000), "--score", asked.scores[0]]
        command += ["--threshold", asked.method, "--empty", asked.empty]
        environment = {**os.environ, "HEDGE_HOME": str(settings().home)}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            said = done.stderr.strip().splitlines()[-1:] or ["no word of why"]
            raise InputError(f"{what} could not be drawn: {said[0].removeprefix('hedge: ')}")
        return [Path(line) for line in done.stdout.splitlines()]

    return made


EXPORTS: dict[str, Callable[[list[str], Asked, Path], list[Path]]] = {
    **{kind: _export_table(kind) for kind in writing.ONE_TABLE},
    "xlsx": _export_xlsx,
    "md": _export_markdown,
    "json": _export_json,
    "figures": _drawn("figures"),
    "html": _drawn("html"),
}
"""Every format that runs go out in, by name."""


def compare(arguments: Namespace) -> Answer:
    """Figures beside each other, every pair of runs on one task question by question, and the published claims."""
    from core.reports import benchmark, claims, paired

    names = [store.folder_of(name).name for name in arguments.run]
    asked = _asked(arguments)
    runs = [load(name) for name in names]
    score = asked.scores[0]
    rows = benchmark.run_rows(runs, benchmark.reports(runs, asked))
    alike = [(a, b) for a, b in itertools.combinations(runs, 2) if a.spec.task_name == b.spec.task_name]
    pairs = paired.compare(alike, asked.alpha, score=score)
    made = claims.claims(rows[rows["score"] == score])
    values = {
        "runs": finite(rows.to_dict("records")),
        "pairs": [finite(asdict(pair)) for pair in pairs],
        "claims": [
            finite(
                {
                    **{k: v for k, v in vars_of(claim).items() if k != "points"},
                    "points": claim.points.to_dict("records"),
                }
            )
            for claim in made
        ],
    }
    return Answer(values, _comparison_text(rows[rows["score"] == score], pairs, made))


def vars_of(record: Any) -> dict[str, Any]:
    """A frozen record's fields without going into them."""
    return {one.name: getattr(record, one.name) for one in fields(record)}


def _comparison_text(rows: Any, pairs: list[paired.Pair], made: list[claims.Claim]) -> str:
    lines = [
        f"{row['run']}\n  accuracy {row['accuracy']:.3f}, coverage {row['coverage']:.3f}, mean set size "
        f"{row['mean_set_size']:.2f}"
        for row in rows.to_dict("records")
    ]
    lines += [_pair_text(pair) for pair in pairs]
    lines += [f"“{claim.statement}” {claim.verdict} ({claim.measure}: {claim.figure:.2f})" for claim in made]
    return "\n".join(lines)


def _pair_text(pair: paired.Pair) -> str:
    corrected = ", ".join(f"{name} {p:.3g}" for name, p in pair.holm.items())
    return (
        f"{pair.first} and {pair.second}, {pair.n} questions\n  right: both {pair.both_right}, only the first "
        f"{pair.only_first}, only the second {pair.only_second}, neither {pair.both_wrong}; sets grew {pair.grew}, "
        f"shrank {pair.shrank}\n  accuracy {_span(pair.accuracy)}, set size {_span(pair.set_size)}\n"
        f"  p after Holm: {corrected}"
    )


def _span(of: paired.Difference) -> str:
    return f"{of.mean:+.3f} ({of.low:+.3f} to {of.high:+.3f})"


# ---------------------------------------------------------------- doctor


def doctor(arguments: Namespace) -> Answer:
    """What this machine can run, finding by finding."""
    from core.doctor import findings

    found = findings()
    width = max(len(f.name) for f in found)
    text = "\n".join(f"{'ok ' if f.good else 'no '} {f.name:<{width}}  {f.value}. {f.meaning}" for f in found)
    values = [{"name": f.name, "good": f.good, "value": f.value, "meaning": f.meaning} for f in found]
    return Answer(values, text)
