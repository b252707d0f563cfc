"""The results of finished perplexity runs, as the tables of :mod:`core.reports.perplexity` take them."""

from dataclasses import dataclass, replace

from core.errors import InputError
from core.models.perplexity import scored_parts
from core.models.perplexity.figures import ScoredMessage
from core.models.perplexity.request import Request
from core.models.server_address import ServedWeights
from core.runs import store
from core.runs.execution import perplexity_run
from core.runs.model_files import recorded_weights
from core.runs.spec import RunSpec
from core.runs.store import STATE_WORDS, RunRecord


@dataclass(frozen=True, slots=True)
class PerplexityRun:
    """A finished run: its request, and the messages of each (prompt, source), choices ending by ending.

    ``dropped`` counts the context messages, over all windows, that did not fit the model's context. ``vocabulary`` is
    the size of the model's vocabulary, None for an older run that did not record it. ``served`` are the weights of a
    model on a server, None for another and where they are not known.
    """

    spec: RunSpec
    request: Request
    messages: dict[tuple[str, str], tuple[ScoredMessage, ...]]
    dropped: int
    notes: tuple[str, ...]
    vocabulary: int | None = None
    served: ServedWeights | None = None


def asked_of(record: RunRecord) -> Request:
    """The request of a run, without the conversations that its server did not answer."""
    request = perplexity_run.read_request(record.spec)
    missing = record.provenance.get("missing", {})
    remaining = tuple(conversation for conversation in request.conversations if conversation.digest not in missing)
    return replace(request, conversations=remaining) if missing else request


def read(run_id: str) -> PerplexityRun:
    """Read a finished run. Raises :class:`~core.errors.InputError` for any other."""
    record = store.read_record(run_id)
    if not record.spec.measures_perplexity:
        does = "made a jury" if record.spec.makes_jury else "answers questions"
        raise InputError(f"run {record.run_id} {does}; it holds no losses of words")
    if record.state != "done":
        raise InputError(
            f"run {record.run_id} is {STATE_WORDS[record.state]}; its figures are shown once it has finished "
            "successfully"
        )
    table = store.read_file(record.run_id, perplexity_run.FILE)
    with store.reading(record.run_id, perplexity_run.FILE):
        messages, dropped = scored_parts.read(table)
    engine = record.provenance.get("engine", {})
    request = asked_of(record)
    return PerplexityRun(
        record.spec,
        request,
        messages,
        dropped,
        tuple(engine.get("notes", ())),
        engine.get("vocabulary"),
        recorded_weights(record),
    )
