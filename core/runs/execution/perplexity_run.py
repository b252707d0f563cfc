"""Perplexity runs, which score every word of a counselor: the request, the execution, and the files.

The request is kept by its hash in ``HEDGE_HOME/perplexity`` before the run is asked for, and copied into the run's
folder (``request.json``) when it begins. ``losses.parquet`` has one row per message and a row group a part (a system
prompt and a conversation, or all choices): ``prompt``, ``source``, ``message``, ``dropped``, ``pieces`` and ``losses``
(nats). Everything else is computed from them.
"""

from __future__ import annotations

import itertools
import json
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from core.errors import InputError
from core.files.atomic import drop_parts, write_atomically
from core.files.tables import finished_chunks, join_chunks, read_table, write_chunk
from core.perplexity.figures import ScoredMessage
from core.perplexity.request import Part, Request
from core.perplexity.tokens import Words
from core.runs import store
from core.runs.execution.eta import RunRate
from core.runs.execution.progress import ProgressReporter
from core.runs.spec import PERPLEXITY, RunSpec
from core.settings import settings

if TYPE_CHECKING:
    from core.perplexity.scoring import Scorer

TASK = "perplexity"
FILE = "losses.parquet"


def spec_of(request: Request, model: str, *, dtype: str = "float32") -> RunSpec:
    """The spec of a run that measures this request with a model. The request is stored."""
    folder = settings().home / TASK
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / f"{request.digest}.json", json.dumps(request.to_json()).encode())
    return RunSpec(model=model, task=f"{TASK}@{request.digest}", form=PERPLEXITY, dtype=dtype)


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
    table = read_table(store.folder_of(run_id) / FILE)
    messages: dict[tuple[str, str], list[ScoredMessage]] = {}
    columns = [table[name].to_pylist() for name in ("prompt", "source", "message", "pieces", "losses")]
    for prompt, source, number, pieces, losses in zip(*columns, strict=True):
        made = ScoredMessage(number, tuple(pieces), np.array(losses, dtype=np.float32))
        messages.setdefault((prompt, source), []).append(made)
    return PerplexityRun(
        record.spec,
        read_request(record.spec),
        {key: tuple(of) for key, of in messages.items()},
        sum(table["dropped"].to_pylist()),
        tuple(record.provenance.get("engine", {}).get("notes", ())),
        record.provenance.get("engine", {}).get("vocabulary"),
    )


def perform(spec: RunSpec, folder: Path, reporter: ProgressReporter) -> dict[str, Any]:
    """Score what is missing of a run's request; returns what ``run.json`` says of it.

    Raises :class:`~core.errors.InputError` if the words don't fit the model.
    """
    request = read_request(spec)
    parts = list(request.parts())
    _begin(spec, folder, request, reporter, messages=sum(len(part.windows) for part in parts))
    from core.perplexity.scoring import Scorer

    scorer = Scorer.load(spec.model, dtype=spec.dtype, batch_size=spec.batch_size)
    reporter.stop_if_cancelled()
    words = scorer.lay_out(parts, mode=request.mode)
    for note in scorer.notes:
        store.log(folder, note)
    if dropped := sum(each.dropped for of in words for each in of):
        store.log(folder, f"messages of context left out because the model reads too little: {dropped:,}")
    seconds = _score_missing(folder, scorer, parts, words, reporter)
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
        "python": platform.python_version(),
        "host": platform.node(),
    }


def _begin(spec: RunSpec, folder: Path, request: Request, reporter: ProgressReporter, *, messages: int) -> None:
    write_atomically(folder / "request.json", json.dumps(request.to_json()).encode())
    drop_parts(folder)
    store.update_record(spec.run_id, state="running", started=time.time(), ended=None, message="")
    store.log(folder, f"{reporter.worker} begins: {messages} messages")
    reporter.total = messages
    reporter.report("loading the model")


def _score_missing(
    folder: Path, scorer: Scorer, parts: Sequence[Part], words: Sequence[Sequence[Words]], reporter: ProgressReporter
) -> float:
    """Score the parts that no earlier try finished, prompt by prompt; returns the seconds it took."""
    finished = set(finished_chunks(folder))
    missing = [i for i in range(len(parts)) if i not in finished]
    reporter.done = sum(len(parts[i].windows) for i in finished)
    speed = RunRate(sum(len(each.tokens) for i in missing for each in words[i]))

    def told(tokens: int) -> None:
        reporter.done += 1
        speed.add(1, tokens)
        reporter.report("scoring", rate=speed.rate, remaining_s=speed.remaining_s)

    for prompt, group in itertools.groupby(missing, key=lambda i: parts[i].prompt):
        of_prompt = list(group)
        reporter.report("checking itself")
        check = scorer.begin([each for i in of_prompt for each in words[i]])
        for reason in check.refused:
            store.log(folder, f"self-check refused {reason}")
        store.log(folder, f"{prompt.name}: self-check passed by {check.rung}: {check.largest_difference:.2e}")
        for i in of_prompt:
            messages = scorer.score(parts[i], words[i], tell=told)
            write_chunk(folder, i, _table(parts[i], words[i], messages))
    return speed.seconds


def _table(part: Part, words: Sequence[Words], messages: Sequence[ScoredMessage]) -> pa.Table:
    n = len(messages)
    return pa.table(
        {
            "prompt": [part.prompt.digest] * n,
            "source": [part.source] * n,
            "message": pa.array([message.number for message in messages], pa.int32()),
            "dropped": pa.array([each.dropped for each in words], pa.int32()),
            "pieces": pa.array([list(message.pieces) for message in messages], pa.list_(pa.string())),
            "losses": pa.array([message.losses for message in messages], pa.list_(pa.float32())),
        }
    )
