"""What each command does: arguments in, an :class:`Answer` out."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from core.conformal.alpha import thousandths
from core.errors import HedgeError, InputError
from core.exchange import bluq, llm_uncertainty_bench
from core.exchange.imported import ImportedRun, save
from core.reports import report as reports
from core.reports.evaluation import load
from core.reports.view import View, look
from core.runs import store
from core.runs.spec import MODES, RunSpec
from core.runs.store import Progress, RunRecord


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
        from core.runs import engine

        ids = [engine.submit(spec) for spec in specs]
        return Answer({"runs": ids}, "\n".join(f"{name} is queued" for name in ids))
    status = 0
    ids = []
    for spec in specs:
        try:
            ids.append(_execute_here(spec))
        except HedgeError as error:
            if len(specs) == 1:
                raise
            print(f"hedge: {error}", file=sys.stderr)
            status = 1
    made = [reports.report(load(name), alpha).to_json() for name in ids]
    return Answer({"runs": ids, "reports": made}, _report_table(made), status)


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


def _execute_here(spec: RunSpec) -> str:
    from tqdm import tqdm

    from core.runs.execute import cut_short, execute

    with tqdm(desc=f"{spec.model_name} {spec.task_name}", unit="question", file=sys.stderr) as bar:

        def show(progress: Progress) -> None:
            bar.total = progress.total
            bar.set_postfix_str(progress.stage, refresh=False)
            bar.update(progress.done - bar.n)

        name = execute(spec, on_progress=show)
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


IMPORTERS: dict[str, Callable[[Namespace], list[ImportedRun]]] = {
    "llm-uncertainty-bench": _read_bench,
    "bluq": lambda arguments: bluq.read(arguments.path),
}
"""Every format that can be brought in, by name."""


def import_results(arguments: Namespace) -> Answer:
    """Read every file, then write the runs: all of an import or nothing."""
    ids = save(IMPORTERS[arguments.format](arguments))
    return Answer({"runs": ids}, "\n".join(ids))


# ---------------------------------------------------------------- doctor


def doctor(arguments: Namespace) -> Answer:
    """What this machine can run, finding by finding."""
    from core.doctor import findings

    found = findings()
    width = max(len(f.name) for f in found)
    text = "\n".join(f"{'ok ' if f.good else 'no '} {f.name:<{width}}  {f.value}. {f.meaning}" for f in found)
    values = [{"name": f.name, "good": f.good, "value": f.value, "meaning": f.meaning} for f in found]
    return Answer(values, text)
