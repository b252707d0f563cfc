"""Perplexity runs, which score every word of a counselor: the request, the execution, and the files.

The request is kept by its hash in ``HEDGE_HOME/perplexity`` before the run is asked for, and copied into the run's
folder (``request.json``) when it begins. ``losses.parquet`` holds the scored messages
(:mod:`core.perplexity.scored_parts`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.files.atomic import write_atomically
from core.files.tables import join_chunks
from core.inference.engine_factory import load_server_engine
from core.perplexity import scored_parts
from core.perplexity.figures import ScoredMessage
from core.perplexity.request import Request
from core.perplexity.scoring import Scorer
from core.perplexity.server_scoring import ServerScorer
from core.runs import store
from core.runs.execution.progress import ProgressReporter
from core.runs.spec import PERPLEXITY, RunSpec
from core.settings import settings

TASK = "perplexity"
FILE = "losses.parquet"


def spec_of(request: Request, model: str, *, dtype: str = "float32", **how: Any) -> RunSpec:
    """The spec of a run that measures this request with a model; ``how`` are its servers, their key and prices. The
    request is stored."""
    folder = settings().home / TASK
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / f"{request.digest}.json", json.dumps(request.to_json()).encode())
    return RunSpec(model=model, task=f"{TASK}@{request.digest}", form=PERPLEXITY, dtype=dtype, **how)


def read_request(spec: RunSpec) -> Request:
    """The request of a run. Raises :class:`InputError` if it was not stored."""
    name = spec.task.partition("@")[2]
    copies = [folder / spec.run_id / "request.json" for folder in store.runs_folders()]
    for path in (settings().home / TASK / f"{name}.json", *copies):
        if name.isalnum() and path.is_file():
            try:
                return Request.from_json(json.loads(path.read_bytes()))
            except ValueError as error:
                raise InputError(f"{path} can't be read ({error}); delete the run and ask again") from error
    raise InputError(f"there is no request {name!r} for perplexities; ask for them on the Perplexity page")


@dataclass(frozen=True, slots=True)
class PerplexityRun:
    """A finished run: its request, and the messages of each (prompt, source), choices ending by ending.

    ``dropped`` messages of context did not fit what the model reads, over all windows. ``vocabulary`` is how many
    tokens the model spreads its probability over, None for a run of before that was recorded.
    """

    spec: RunSpec
    request: Request
    messages: dict[tuple[str, str], tuple[ScoredMessage, ...]]
    dropped: int
    notes: tuple[str, ...]
    vocabulary: int | None = None


def read(run_id: str) -> PerplexityRun:
    """Read a finished run. Raises :class:`InputError` for any other."""
    record = store.read_record(run_id)
    if not record.spec.measures_perplexity:
        does = "made a jury" if record.spec.makes_jury else "answers questions"
        raise InputError(f"run {record.run_id} {does}; it holds no losses of words")
    if record.state != "done":
        raise InputError(
            f"run {record.run_id} is {record.state}; its figures are shown once it has finished successfully"
        )
    messages, dropped = scored_parts.read(store.folder_of(run_id) / FILE)
    return PerplexityRun(
        record.spec,
        read_request(record.spec),
        messages,
        dropped,
        tuple(record.provenance.get("engine", {}).get("notes", ())),
        record.provenance.get("engine", {}).get("vocabulary"),
    )


def perform(spec: RunSpec, folder: Path, reporter: ProgressReporter) -> dict[str, Any]:
    """Score what is missing of a run's request; returns what ``run.json`` says of it.

    Raises :class:`~core.errors.InputError` if the words don't fit the model.
    """
    request = read_request(spec)
    write_atomically(folder / "request.json", json.dumps(request.to_json()).encode())
    reporter.total = sum(len(part.windows) for part in request.parts())
    reporter.begin(f"{reporter.total} messages")
    reporter.report("asking the server" if spec.servers else "loading the model")
    with _loaded(spec, reporter) as scorer:
        reporter.stop_if_cancelled()
        seconds = scored_parts.score_missing(scorer, request, folder, reporter)
    join_chunks(folder, FILE)
    return {
        "engine": scorer.description,
        "request": {
            "mode": request.mode,
            "exchanges": request.exchanges,
            "prompts": [one.digest for one in request.prompts],
            "sources": list(request.sources),
        },
        "scoring_seconds": round(seconds, 3),
    }


@contextmanager
def _loaded(spec: RunSpec, reporter: ProgressReporter) -> Iterator[Scorer | ServerScorer]:
    """What scores a run; connections to servers are closed at its end, and what they were paid is noted."""
    if not spec.servers:
        yield Scorer.load(spec.model, dtype=spec.dtype, batch_size=spec.batch_size)
        return

    def waiting(reason: str) -> None:
        reporter.stop_if_cancelled()
        if reason:
            reporter.report(f"waiting: {reason}")

    engine = load_server_engine(
        spec.model,
        servers=spec.servers,
        key_variable=spec.key_variable,
        price=spec.price,
        spent=store.read_record(spec.run_id).spent,
        on_wait=waiting,
    )
    with closing(engine):
        try:
            yield ServerScorer(engine)
        finally:
            known = store.read_record(spec.run_id).provenance
            store.update_record(spec.run_id, provenance=known | {"spent": engine.client.spending.tokens})
