"""Perplexity runs, which score every word of a counselor.

The request is stored before the run is asked for (:mod:`core.models.perplexity.stored_requests`), and copied into the
run's folder (``request.json``) when it begins. ``losses.parquet`` holds the scored messages
(:mod:`core.models.perplexity.scored_parts`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from core.models.perplexity import scored_parts, stored_requests
from core.models.perplexity.request import Request
from core.models.perplexity.scoring import Scorer
from core.models.perplexity.server_scoring import ServerScorer
from core.runs import store
from core.runs.execution.progress import ProgressReporter
from core.runs.execution.served import server_engine
from core.runs.spec import PERPLEXITY, RunSpec
from core.storage.tables import join_chunks

FILE = "losses.parquet"
REQUEST = "request.json"


def spec_of(request: Request, model: str, *, dtype: str = "float32", **how: Any) -> RunSpec:
    """The spec of a run that measures this request with a model; ``how`` are its servers, their key and prices. The
    request is stored."""
    stored_requests.store(request)
    return RunSpec(model=model, task=f"perplexity@{request.digest}", form=PERPLEXITY, dtype=dtype, **how)


def read_request(spec: RunSpec) -> Request:
    """The request of a run. Raises :class:`~core.errors.InputError` if it was not stored."""
    copies = [folder / spec.run_id / REQUEST for folder in store.runs_folders()]
    return stored_requests.read(spec.task.partition("@")[2], copies=copies)


def perform(spec: RunSpec, folder: Path, reporter: ProgressReporter) -> dict[str, Any]:
    """Score what is missing of a run's request; returns what ``run.json`` says of it.

    Raises :class:`~core.errors.InputError` if the words don't fit the model.
    """
    request = read_request(spec)
    stored_requests.write_to(folder / REQUEST, request)
    parts = list(request.parts())
    reporter.total = sum(len(part.windows) for part in parts)
    reporter.begin(f"{reporter.total} messages")
    reporter.report("asking the server" if spec.servers else "loading the model")
    with _loaded(spec, reporter) as scorer:
        reporter.stop_if_cancelled()
        seconds, missing = scored_parts.score_missing(scorer, request, folder, reporter)
        left = [i for i, part in enumerate(parts) if part.source not in missing]
        join_chunks(
            folder,
            FILE,
            left,
            fits=partial(scored_parts.misfit, parts),
            repair=lambda: scored_parts.score_missing(scorer, request, folder, reporter),
        )
    notes = [_missing_note(request, source, *reason) for source, reason in missing.items()]
    for note in notes:
        reporter.log(note)
    described = scorer.description
    return {
        "engine": described | {"notes": [*described["notes"], *notes]} if notes else described,
        **({"missing": dict(sorted(missing.items()))} if missing else {}),
        "request": {
            "mode": request.mode,
            "exchanges": request.exchanges,
            "prompts": [prompt.digest for prompt in request.prompts],
            "sources": list(request.sources),
        },
        "scoring_seconds": round(seconds, 3),
    }


def _missing_note(request: Request, source: str, kind: str, reason: str) -> str:
    name = next(conversation.name for conversation in request.conversations if conversation.digest == source)
    return (
        f"the conversation {name!r} is left out, because the server does not answer a message of it ({kind}; {reason})"
    )


@contextmanager
def _loaded(spec: RunSpec, reporter: ProgressReporter) -> Iterator[Scorer | ServerScorer]:
    """What scores a run."""
    if spec.servers:
        with server_engine(spec, reporter) as engine:
            yield ServerScorer(engine)
        return
    yield Scorer.load(
        spec.model,
        dtype=spec.dtype,
        batch_size=spec.batch_size,
        device=reporter.device_of(spec),
        fingerprint=spec.model_fingerprint,
        report=reporter.report,
    )
