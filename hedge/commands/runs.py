"""The commands that launch and manage runs."""

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import PurePath
from typing import Any

from core import access
from core.conformal.alpha import thousandths
from core.errors import HedgeError, InputError, RunError, plain
from core.questions import split_task
from core.questions.bank_names import bank_name
from core.questions.catalogue import is_file
from core.questions.option_names import OF_CLASSES
from core.reports.titles import spec_task_title
from core.runs import store, trash
from core.runs.caveats import of_run_record
from core.runs.execution.progress import WAITING
from core.runs.model_files import NOT_READ, identified, known
from core.runs.spec import MODES, RunSpec
from core.runs.store import STATE_WORDS, Progress, RunRecord
from core.storage.names import named
from hedge.commands.answer import CommandResult, of_runs

UNREADABLE = "unreadable"
"""Instead of a state: what the run's folder says can't be read."""


def run(arguments: Namespace) -> CommandResult:
    """Execute every combination here, one after the other, or queue them."""
    from core.runs.execution.execute import preflight
    from core.runs.prompts import load_data

    alpha = thousandths(arguments.alpha)
    arguments.task = [_kept_task(task, arguments.labels_from) for task in arguments.task]
    specs = specs_of(arguments)
    for task, spec in {spec.task: spec for spec in specs}.items():
        if line := load_data(spec).read_as:
            print(f"hedge: {PurePath(task).name}: {line}", file=sys.stderr)
    for spec in specs:
        preflight(spec)
    if arguments.dry_run:
        return _previews(known(specs))
    specs = launched(specs)
    _warn(specs, alpha)
    for spec in specs:
        if is_done(spec.run_id):
            print(f"hedge: run {spec.run_id} has finished before; another --seed makes another run", file=sys.stderr)
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
            status = max(status, error.exit_status)
    return _figures(ids, alpha, status)


def _kept_task(task: str, labels_from: int | None) -> str:
    """The task itself, or a copy of a file of questions in which letters name the answers that are numbers."""
    if labels_from is None:
        return task
    from core.exchange.dropped import question_files

    if not is_file(task) or split_task(task)[1]:
        raise InputError(f"--labels-from is about a file of questions, and {task!r} is none; leave it out")
    access.check_path(task)
    path = named(task)
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    return question_files.keep(path, path.name, labels_from)


def launched(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """The specs with the fingerprints of their models.

    Raises :class:`~core.errors.InputError` if a finished run is asked for again, and its server now has other weights.
    """
    from tqdm import tqdm

    from core.runs.execution.served import check_finished

    for note in check_finished(specs):
        print(f"hedge: {note}", file=sys.stderr)
    with tqdm(bar_format="hedge: {desc}", file=sys.stderr, delay=0.5, leave=False) as bar:
        return identified(specs, report=bar.set_description_str)


def _warn(specs: list[RunSpec], alpha: int) -> None:
    """Say before the launch which caveats the new ones of these runs will probably have."""
    from core.models.counting import characters_per_token
    from core.reports.forecast import expected_caveats, work_of

    earlier = list(store.readable())  # `hedge runs` says which ones can't be read
    done = {record.run_id for record in earlier if record.state == "done"}
    for spec in specs:
        if spec.run_id not in done and (work := work_of(spec)):
            held = None if spec.servers else characters_per_token(spec.model, work.sample)
            for caveat in expected_caveats(spec, work, earlier=earlier, text_of_token=held, alpha=alpha):
                print(f"warning: run {spec.run_id}: {caveat.text}", file=sys.stderr)


def _figures(run_ids: list[str], alpha: int, status: int) -> CommandResult:
    """The figures of runs that have just ended at ``alpha`` thousandths."""
    # Here, because the other commands of this file need neither SciPy nor pandas, whose import takes half a second.
    from core.reports import report as reports
    from core.reports.bounded import bounded_report
    from core.reports.evaluation import load
    from hedge.commands.reports import bounded_table, report_table

    rows, ranges, without = [], [], []
    for name in run_ids:
        record = store.read_record(name)
        if record.has_no_answer:
            without.append(reports.without_answer(name))
        elif record.bounded:
            ranges.append(bounded_report(name, alpha))
        else:
            rows.append(reports.report(load(name), alpha).to_json())
    values = {"runs": run_ids, "reports": [*rows, *(bounds.to_json() for bounds in ranges), *without]}
    lines = ["\n  ".join([entry["run"], *entry["notes"]]) for entry in without]
    return CommandResult(values, "\n".join(filter(None, [report_table(rows), bounded_table(ranges), *lines])), status)


def _queued(specs: list[RunSpec]) -> CommandResult:
    """Ask this host's workers for the runs; several of them are one group, as on the page."""
    from core.runs import actions, engine

    if len(specs) == 1:
        ids = [engine.submit(specs[0])]
        return CommandResult({"runs": ids}, asked_for(ids[0]))
    group, outcome = actions.launch(specs)
    lines = [asked_for(name) for name in outcome.done]
    lines += [f"{name} is not: {reason}" for name, reason in outcome.refused.items()]
    values = {"runs": list(outcome.done), "refused": outcome.refused, "group": group.id if group else None}
    return CommandResult(values, "\n".join(lines), 0 if outcome.done else 1)


def asked_for(run_id: str) -> str:
    """The result of asking the workers for a run: it may have been running or done already."""
    from core.runs import engine

    words = {"running": "is running", "done": "has finished already"}
    return f"{run_id} {words.get(engine.status(run_id).state, 'waits for a worker')}"


def specs_of(arguments: Namespace) -> list[RunSpec]:
    """The runs that the words of ``hedge run`` ask for, as on the page."""
    from core.models.devices.slots import default_dtype
    from core.runs.prompts import Combination
    from hedge.commands.run_words import OPTIONS

    names = {choice.name: OPTIONS.get(choice.name, choice.name).lstrip("-") for choice in fields(Combination)}
    values = {name: getattr(arguments, option) for name, option in names.items()}
    values["dtypes"] = values["dtypes"] or [default_dtype() if not arguments.device.startswith("cpu") else "float32"]
    values["samples"] = MODES[arguments.mode] if arguments.mode else arguments.samples
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return Combination(**values).specs()


def _previews(specs: list[RunSpec]) -> CommandResult:
    """Print what each run would ask. Nothing is written and no weights are loaded."""
    from core.models.preview import preview
    from core.reports.forecast import tokens_sent
    from core.runs.prompts import draw_questions, prompts

    values, lines = [], []
    for spec in specs:
        drawn = draw_questions(spec)
        run_prompts = prompts(spec, drawn)
        middle = len(run_prompts) // 2
        if spec.servers:
            tokens, written = tokens_sent(spec, run_prompts, drawn)
            cost = spec.price.cost(tokens, written)
            counts: dict[str, object] = {"questions": len(run_prompts), "tokens": tokens, "cost": cost}
            values.append(
                {"run": _id_of(spec), "format": spec.prompt_format, "text": run_prompts[middle].text, **counts}
            )
            lines.append(
                f"{run_prompts[middle].text}\n\n-- {_id_of(spec)}: {len(run_prompts)} prompts of about {tokens:,} "
                "tokens in all, counted by their length"
                + (f", which cost about {cost:.3g}" if spec.price.is_known else "")
            )
            continue
        shown = preview(spec.model, run_prompts[middle:] + run_prompts[:middle])
        counts = asdict(shown) | {"run": _id_of(spec), "questions": len(run_prompts)}
        values.append(counts)
        lines.append(
            f"{shown.text}\n\n-- {_id_of(spec)}: {len(run_prompts)} prompts; this one has {shown.tokens} tokens, "
            f"{shown.sampled} of them have {shown.shortest} to {shown.longest}, the first {shown.shared} shared; then "
            f"one of {', '.join(repr(ending) for ending in shown.continuations)}; {shown.truncated} do not fit"
            + "".join(f"\n{note}" for note in shown.notes)
        )
    return CommandResult({"previews": values}, "\n\n".join(lines))


def _id_of(spec: RunSpec) -> str:
    """The run's id; without its end if the model's files have not been read yet, which decide it."""
    return f"{spec.run_id.rpartition('-')[0]}-…" if spec.model_fingerprint == NOT_READ else spec.run_id


def is_done(run_id: str) -> bool:
    """Whether a run has finished, here or where it was shipped from."""
    return run_id in store.run_ids() and store.read_record(run_id).state == "done"


def execute_here(spec: RunSpec, *, unit: str = "prompt") -> str:
    """Execute a run in this process with a progress bar that counts in ``unit``; returns its id. One that ships with
    Hedge has finished, as for the queue.
    """
    if is_done(spec.run_id) and store.is_bundled(spec.run_id):
        return spec.run_id
    from tqdm import tqdm

    from core.runs import engine
    from core.runs.execution.execute import execute

    engine.check_free(spec.run_id)
    # With a delay nothing is drawn before the first question: of a model that is refused the sentence says it all.
    title = f"{spec.model_name} on {spec_task_title(spec, bank_name(spec))}"
    with tqdm(desc=plain(title, one_line=True), unit=unit, file=sys.stderr, delay=0.001) as bar:

        def show(progress: Progress) -> None:
            bar.total = progress.total
            if progress.done:
                bar.delay = 0  # from here on it is drawn, also of a run that ends at once
            bar.set_postfix_str(progress.stage, refresh=False)
            if progress.done != bar.n:
                bar.update(progress.done - bar.n)

        name = execute(spec, on_progress=show)
    if not spec.answers:
        return name
    provenance = store.read_record(name).provenance
    for url in provenance.get("engine", {}).get("servers", ()) if spec.servers else ():
        if url not in spec.servers:
            print(f"hedge: run {name} asked the server at {url}", file=sys.stderr)
    roles = store.read_questions(name)["role"].to_pylist()
    wanted, used = spec.samples, roles.count("calibration") + roles.count("test")
    if (wanted is None or used < wanted) and not provenance.get("missing"):
        print(f"hedge: run {name} uses all {used} available questions", file=sys.stderr)
    return name


def runs(arguments: Namespace) -> CommandResult:
    """List every run with its state; if runs wait and no agent lives that could take them, start one."""
    problems: list[str] = []
    rows = [_row_of(run_id, problems) for run_id in store.run_ids()]
    lines = []
    for row in rows:
        about = f"{row['run']}{'  ' + row['message'] if row['message'] else ''}"
        if row["state"] == UNREADABLE:
            about = row["message"].removeprefix("run ")  # it names the run
        lines.append(f"{STATE_WORDS.get(row['state'], row['state']):<10} {about}")
        lines += [f"{'':<11}{caveat['sentence']}" for caveat in row["caveats"]]
    if not problems and any(row["state"] not in (*store.ENDED, UNREADABLE) for row in rows):
        from core.runs import engine

        if engine.ensure_agent_if_needed():
            print("hedge: no agent was running; one has been started and continues these runs", file=sys.stderr)
    text = "\n".join(lines) or "There are no runs yet; `hedge run --help` shows how to make one."
    return CommandResult(rows, text, int(bool(problems)), "".join(f"hedge: {problem}" for problem in problems))


def _row_of(run_id: str, problems: list[str]) -> dict[str, Any]:
    """A run's row; one that a newer Hedge wrote, or that is damaged, says so and hides no other."""
    try:
        record = store.read_record(run_id)
        store.check_files(record, whole=False)
        return _run_row(record, problems)
    except InputError as error:
        return {"run": run_id, "state": UNREADABLE, "message": str(error), "done": None, "total": None, "caveats": []}


def _run_row(record: RunRecord, problems: list[str]) -> dict[str, Any]:
    """One run as it is now; of one that has not ended the engine knows more than its folder.

    A run database that can't be used is asked once, and is what ``problems`` then says.
    """
    state, message, progress = record.state, record.message, None
    if state not in store.ENDED and not problems:
        from core.runs import engine

        try:
            now = engine.status(record.run_id)
            state, message, progress = now.state, now.message, now.progress
        except RunError as error:
            problems.append(str(error))
        if progress and progress.stage.startswith(WAITING):
            message = message or progress.stage
    return {
        "run": record.run_id,
        "state": state,
        "message": message,
        "done": progress.done if progress else None,
        "total": progress.total if progress else None,
        "caveats": [asdict(caveat) for caveat in of_run_record(record)],
        **record.spec.to_json(),
        **(dict.fromkeys(("strategy", "form"), "") if record.provenance.get(OF_CLASSES) else {}),
        "bank": bank_name(record.spec, record.provenance) if record.spec.answers else None,
    }


def cancel(arguments: Namespace) -> CommandResult:
    """Cancel runs."""
    from core.runs import engine

    return _each(arguments, engine.cancel, "is being cancelled")


def resume(arguments: Namespace) -> CommandResult:
    """Resume runs."""
    from core.runs import engine

    return _each(arguments, lambda name: engine.resume(name, budget=arguments.budget), "waits for a worker")


def _each(arguments: Namespace, action: Callable[[str], None], says: str) -> CommandResult:
    ids = [store.folder_of(name).name for name in arguments.run]

    def act(name: str) -> str:
        action(name)
        return name

    read = of_runs(ids, act)
    return _done(read.values, says).beside(read)


def first(arguments: Namespace) -> CommandResult:
    """Move waiting runs to the front of the queue."""
    from core.runs import engine

    ids = [store.folder_of(name).name for name in arguments.run]
    engine.put_first(ids)
    return _done(ids, "is next")


def delete(arguments: Namespace) -> CommandResult:
    """Move runs to the bin."""
    from core.runs import actions

    ids = [store.folder_of(name).name for name in arguments.run]
    for name in ids:
        actions.delete(name)
    return _done(ids, "is in the bin; you can `restore` it for a week")


def restore(arguments: Namespace) -> CommandResult:
    """Restore deleted runs."""
    return _done([trash.restore(name) for name in arguments.run], "is restored")


def _done(run_ids: list[str], says: str) -> CommandResult:
    return CommandResult({"runs": run_ids}, "\n".join(f"{name} {says}" for name in run_ids))


def show_bin(arguments: Namespace) -> CommandResult:
    """List the bin, or empty it."""
    if arguments.empty:
        ids = trash.empty_bin()
        return CommandResult({"runs": ids}, f"{len(ids)} deleted runs were removed for good")
    binned = trash.binned()
    rows = [{"run": each.run_id, "deleted": each.deleted, "bytes": each.size} for each in binned]
    lines = [f"{each.run_id}  {each.size / 1e6:.1f} MB" for each in binned]
    return CommandResult(rows, "\n".join(lines) or "The bin is empty.")


def agent(arguments: Namespace) -> CommandResult:
    """Run the host agent in the foreground until it is stopped, or has had nothing to do for a while."""
    from core.runs.agent.host_agent import main

    main(idle_minutes=arguments.idle_minutes)
    return CommandResult({}, "")


def doctor(arguments: Namespace) -> CommandResult:
    """Print the doctor's findings: what this machine can run."""
    from core.checks.doctor import findings

    results = findings()
    marks = {True: "ok ", False: "no ", None: " - "}
    width = max(len(f.name) for f in results)
    text = "\n".join(f"{marks[f.good]} {f.name:<{width}}  {f.value}. {f.meaning}" for f in results)
    values = [{"name": f.name, "good": f.good, "value": f.value, "meaning": f.meaning} for f in results]
    return CommandResult(values, text)
