"""Perplexity measurements of counselors' words: prompts, conversations and choices of every finished run, by hash."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import streamlit as st

from app.caches import run_cache
from app.caches.per_run import PerRun, RunKey
from core.errors import HedgeError, InputError, UnreadableRunError
from core.models.model_fingerprint import in_spec
from core.models.perplexity import conversations as talks
from core.models.perplexity.choices import BUNDLED, Choice, digest_of
from core.models.perplexity.choices import read as read_choices
from core.models.perplexity.conversations import Conversation
from core.models.perplexity.figures import ScoredMessage
from core.models.perplexity.prompts import SHIPPED, SystemPrompt
from core.models.perplexity.request import Request
from core.models.perplexity.windows import EXCHANGES
from core.models.replaced_weights import NOT_RECORDED, is_here
from core.models.server_address import ON_SERVERS, ServedWeights
from core.reports import perplexity_results
from core.reports.perplexity import called
from core.reports.perplexity_results import PerplexityRun
from core.runs import store
from core.runs.execution import perplexity_run
from core.runs.store import RunRecord
from core.storage.sealed import DamagedError

OLDER = f"{NOT_RECORDED}: an older version measured some of this, and the model may have been replaced since"

UNCOMPARED = "whether the server still holds the weights that were measured is known once it is connected"
OTHERS_SERVED = "the server holds other weights by this name now than when these words were measured"


@dataclass(frozen=True, slots=True)
class ScoringSetup:
    """How words are scored. Only figures with the same setup can be compared.

    The model is named with its servers, if it is on any (:attr:`~core.runs.spec.RunSpec.asked_model`). ``weights`` are
    those of a run's spec (:attr:`~core.runs.spec.RunSpec.model_fingerprint`).
    """

    model: str
    dtype: str = "float32"
    mode: str = "standard"
    exchanges: int | None = EXCHANGES
    weights: str = ""

    @property
    def of_choices(self) -> ScoringSetup:
        """How choices are scored, whose windows do not depend on the number of exchanges."""
        return replace(self, exchanges=EXCHANGES)


@dataclass(slots=True)
class Library:
    """Everything that is known, by hash.

    ``cells`` maps a setup, a prompt and a source to the latest run that measured them, and ``weights`` a model to
    those of its latest run.

    Measurements of an older version, which did not record the weights, are shown where there are no others.
    """

    prompts: dict[str, SystemPrompt]
    conversations: dict[str, Conversation]
    choices: dict[str, tuple[Choice, ...]]
    cells: dict[tuple[ScoringSetup, str, str], RunKey] = field(default_factory=dict)
    weights: dict[str, str] = field(default_factory=dict)

    def weights_of(self, model: str) -> str:
        """The weights of a model as they are now; those of its latest run if its files are not on this machine."""
        if ON_SERVERS in model:
            return ""
        if not is_here(model):
            return self.weights.get(model, "")
        try:
            with st.spinner("Reading the model's files …"):
                return in_spec(model)
        except HedgeError:  # measuring it says what is wrong
            return self.weights.get(model, "")

    def _key(self, setup: ScoringSetup, prompt: str, source: str) -> RunKey | None:
        cell = self.cells.get((setup, prompt, source))
        return cell or self.cells.get((replace(setup, weights=""), prompt, source))

    def messages(self, setup: ScoringSetup, prompt: str, source: str) -> tuple[ScoredMessage, ...] | None:
        """The messages of a prompt and a source, or None if nobody has measured them."""
        key = self._key(setup, prompt, source)
        return _measured(key).messages[prompt, source] if key else None

    def by_conversation(
        self, setup: ScoringSetup, prompt: str, sources: Iterable[str]
    ) -> dict[str, tuple[ScoredMessage, ...]]:
        """The messages of each measured conversation, by the conversation's name."""
        names = called({source: self.conversations[source].name for source in sources})
        by_source = {source: self.messages(setup, prompt, source) for source in names}
        return {names[source]: messages for source, messages in by_source.items() if messages}

    def missing(self, setup: ScoringSetup, prompts: Sequence[str], sources: Sequence[str]) -> list[tuple[str, str]]:
        """The pairs of prompt and source that have no measurement to show with this setup."""
        return [(p, s) for p in prompts for s in sources if not self._key(setup, p, s)]

    def to_measure(self, setup: ScoringSetup, prompts: Sequence[str], sources: Sequence[str]) -> list[tuple[str, str]]:
        """The pairs of prompt and source that nobody has measured with this setup and these weights."""
        return [(p, s) for p in prompts for s in sources if (setup, p, s) not in self.cells]

    def notes(
        self,
        setup: ScoringSetup,
        prompts: Sequence[str],
        sources: Sequence[str],
        *,
        served: ServedWeights | None = None,
    ) -> list[str]:
        """Notes that a reader needs on how these were measured; ``served`` are the weights that the server of the model
        holds now, if it is connected."""
        keys = self._keys(setup, prompts, sources)
        sentences: dict[str, None] = {}
        if any(self._key(setup, p, s) for p, s in self.to_measure(setup, prompts, sources)):
            sentences[OLDER] = None
        for key in sorted(keys, key=lambda key: key.run_id):
            measured = _measured(key)
            sentences |= dict.fromkeys(measured.notes)
            if measured.dropped:
                sentences[
                    f"{measured.dropped:,} earlier messages were left out, because the model can't read that much"
                ] = None
            if measured.spec.servers and (measured.served is None or served is None):
                sentences[UNCOMPARED] = None
            elif measured.served and served and not measured.served.alike(served):
                sentences[f"{OTHERS_SERVED}; delete the run {key.run_id} to measure those that it holds now"] = None
        return list(sentences)

    def runs(self, setup: ScoringSetup, prompts: Sequence[str], sources: Sequence[str]) -> list[str]:
        """The ids of the runs that measured these."""
        return sorted(key.run_id for key in self._keys(setup, prompts, sources))

    def _keys(self, setup: ScoringSetup, prompts: Sequence[str], sources: Sequence[str]) -> set[RunKey]:
        return {key for p in prompts for s in sources if (key := self._key(setup, p, s))}

    def vocabulary(self, setup: ScoringSetup, prompts: Sequence[str], sources: Sequence[str]) -> int | None:
        """The number of tokens over which the model spread its probability. None if a run does not record it, or runs
        differ.
        """
        keys = self._keys(setup, prompts, sources)
        sizes = {_measured(key).vocabulary for key in keys}
        return sizes.pop() if len(sizes) == 1 else None


def library() -> Library:
    """The shipped prompts, conversations and choices, and those of every run of this kind, finished or not."""
    shipped = {conversation.digest: conversation for conversation in _bundled()}
    collected = Library({prompt.digest: prompt for prompt in SHIPPED.values()}, shipped, {**_bundled_choices()})
    damaged = False
    # The oldest run comes first, so the latest run that measured a cell is the one that is kept.
    for record in reversed(run_cache.runs().records):
        if not record.spec.measures_perplexity:
            continue
        try:
            _add(collected, record, _request(run_cache.run_key(record.run_id)))
        except UnreadableRunError as error:
            damaged |= run_cache.set_aside(error)
    if damaged:
        st.rerun()
    return collected


def _add(collected: Library, record: RunRecord, request: Request) -> None:
    collected.prompts |= {item.digest: item for item in request.prompts if item.digest not in collected.prompts}
    collected.conversations |= {
        item.digest: item for item in request.conversations if item.digest not in collected.conversations
    }
    if request.choices:
        collected.choices.setdefault(digest_of(request.choices), request.choices)
    if record.state != "done":
        return
    key = run_cache.run_key(record.run_id)
    spec = record.spec
    collected.weights[spec.asked_model] = spec.model_fingerprint
    setup = ScoringSetup(spec.asked_model, spec.dtype, request.mode, request.exchanges, spec.model_fingerprint)
    of_choices = digest_of(request.choices) if request.choices else ""
    for prompt in request.prompts:
        for source in (name for name in request.sources if name not in record.provenance.get("missing", {})):
            here = setup.of_choices if source == of_choices else setup
            collected.cells[here, prompt.digest, source] = key


@st.cache_resource(show_spinner=False)
def _bundled() -> tuple[Conversation, ...]:
    return talks.bundled()


@st.cache_resource(show_spinner=False)
def _bundled_choices() -> dict[str, tuple[Choice, ...]]:
    if not BUNDLED.is_file():
        return {}
    shipped = read_choices(BUNDLED)
    return {digest_of(shipped): shipped}


# 95 kB per entry, nearly all of it the shared conversations that ship.
def _read_request(key: RunKey) -> Request:
    record = run_cache.record(key.run_id)
    try:
        request = perplexity_run.read_request(record.spec)
    except InputError as error:
        with store.reading(key.run_id, perplexity_run.REQUEST):
            raise DamagedError("it is missing or damaged") from error
    # Most runs measure the shipped conversations, whose texts are most of a request, so all runs share one copy of
    # them.
    shipped = {conversation.digest: conversation for conversation in _bundled()}
    return replace(
        request,
        conversations=tuple(shipped.get(conversation.digest, conversation) for conversation in request.conversations),
    )


_request = PerRun(_read_request, most=4096)


# 0.4 MB per entry of nine conversations under three prompts; a run of one conversation takes a ninth of that.
@st.cache_resource(max_entries=128, show_spinner="Reading the losses …")
def _measured(key: RunKey) -> PerplexityRun:
    return perplexity_results.read(key.run_id)
