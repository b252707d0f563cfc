"""When a run is given up: the deaths of its workers that count, and the work that was kept between them.

A run that kills its worker would do so again and again. It is given up after :data:`TRIES` deaths of workers without
new work in between: a finished chunk, a written answer, a scored conversation, a step of training. After new work it
has all of its tries again.

A worker that dies with its agent or its host is not the run's fault, and neither is one that a person stops. But a run
may take its agent or its host with it each time, for example when memory runs out. So a run is also given up if it was
begun :data:`BEGINNINGS` times without new work.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from core.errors import InputError
from core.runs.queue import run_queue
from core.runs.queue.run_queue import QueueEntry

TRIES = 3
BEGINNINGS = 12
KEPT = (".parquet", ".json", ".jsonl")
PASSING = "losses.json"
"""The loss curve of a training, which begins again with each try."""


def kept_bytes(run_id: str) -> int:
    """The size of the work that the run's tries have kept; it grows with each chunk, answer and step of training."""
    return sum(map(_size, _kept_files(run_id)))


def begin(entry: QueueEntry) -> str:
    """Count a try that begins now. Returns the sentence with which the run is given up instead, empty if it is not."""
    bytes_kept = kept_bytes(entry.run_id)
    if bytes_kept > entry.kept:
        entry = replace(entry, deaths=(), beginnings=0, kept=bytes_kept)
        run_queue.wait_to_note(entry.run_id, deaths=[], kept=bytes_kept)
    if len(entry.deaths) >= TRIES or entry.beginnings >= BEGINNINGS:
        return given_up(entry)
    run_queue.wait_to_note(entry.run_id, beginnings=entry.beginnings + 1, death="")
    return ""


def note_death(run_id: str, reason: str, *, bytes_kept: int, within_s: float) -> None:
    """Count the death of a worker against its run, which had kept this many bytes."""
    for entry in run_queue.entries([run_id], within_s=within_s).values():
        news: dict[str, object] = {"deaths": [*entry.deaths, reason]}
        if bytes_kept > entry.kept:
            news = {"deaths": [reason], "kept": bytes_kept, "beginnings": 0}
        run_queue.note(run_id, within_s=within_s, death=reason, **news)


def given_up(entry: QueueEntry) -> str:
    """Why a run was given up, with the way out."""
    if entry.beginnings >= BEGINNINGS and len(entry.deaths) < TRIES:
        last = f"; the last worker was {entry.death}" if entry.death else ""
        return (
            f"It was begun {entry.beginnings} times, and each time its worker, its agent or its host ended before "
            f"anything new was finished{last}; look for the reason in the logs of the host, then resume it."
        )
    *others, last = entry.deaths or (entry.death or "for an unknown reason",)
    before = ", ".join(reason for reason in dict.fromkeys(others) if reason != last)
    memory = any("out of memory" in reason for reason in (*others, last))
    return (
        f"{max(TRIES, len(entry.deaths))} workers ended while they ran it, the last one {last}"
        f"{f' (before that: {before})' if before else ''}, and nothing new was finished in between; "
        f"{'choose a smaller model or precision, or ' if memory else ''}resume it to try again."
    )


def _kept_files(run_id: str) -> Iterator[Path]:
    from core.runs import store  # imports pyarrow, which an idle agent does not need

    try:
        folder, spec = store.folder_of(run_id), store.read_record(run_id).spec
    except InputError:  # deleted or damaged
        return
    yield folder / store.BARE
    yield from (folder / "chunks").glob("[!.]*")
    if spec.makes_jury:
        from core.jury.pipeline.jury_spec import folder_of

        pipeline = folder_of(spec.task.partition("@")[2])
        for path in pipeline.rglob("*"):
            hidden = any(part.startswith(".") for part in path.relative_to(pipeline).parts)
            if path.suffix in KEPT and path.name != PASSING and not hidden:
                yield path


def _size(path: Path) -> int:
    with suppress(OSError):  # it is being replaced, or there is none
        return path.stat().st_size
    return 0
