"""Perplexity measurements of counselors' words: prompts, conversations and choices of every finished run, by hash."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import streamlit as st

from app.caches import run_cache
from app.caches.per_run import PerRun, RunKey
from core.errors import HedgeError
from core.perplexity import conversations as talks
from core.perplexity.choices import BUNDLED, Choice, digest_of
from core.perplexity.choices import read as read_choices
from core.perplexity.conversations import Conversation
from core.perplexity.figures import ScoredMessage
from core.perplexity.prompts import SHIPPED, SystemPrompt
from core.perplexity.request import Request
from core.reports import perplexity_results
from core.reports.perplexity import called
from core.reports.perplexity_results import PerplexityRun
from core.runs.execution import perplexity_run
from core.runs.store import RunRecord


@dataclass(frozen=True, slots=True)
class ScoringSetup:
    """How words are scored. Only figures with the same setup can be compared.

    The model is named with its servers, if it is on any (:attr:`~core.runs.spec.RunSpec.asked_model`).
    """

    model: str
    dtype: str = "float32"
    mode: str = "standard"
    exchanges: int | None = 2


@dataclass(slots=True)
class Library:
    """Everything that is known, by hash.

    ``cells`` maps a setup, a prompt and a source to the latest run that measured them. ``problems`` has one sentence
    for each run that can't be read.
    """

    prompts: dict[str, SystemPrompt]
    conversations: dict[str, Conversation]
    choices: dict[str, tuple[Choice, ...]]
    cells: dict[tuple[ScoringSetup, str, str], RunKey] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def messages(self, setup: ScoringSetup, prompt: str, source: str) -> tuple[ScoredMessage, ...] | None:
        """The messages of a prompt and a source, or None if nobody has measured them."""
        key = self.cells.get((setup, prompt, source))
        return _measured(key).messages[prompt, source] if key else None

    def by_conversation(
        self, setup: ScoringSetup, prompt: str, sources: Iterable[str]
    ) -> dict[str, tuple[ScoredMessage, ...]]:
        """The messages of each measured conversation, by the conversation's name."""
        names = called({source: self.conversations[source].name for source in sources})
        found = {source: self.messages(setup, prompt, source) for source in names}
        return {names[source]: messages for source, messages in found.items() if messages}

    def missing(self, setup: ScoringSetup, prompts: Sequence[str], sources: Sequence[str]) -> list[tuple[str, str]]:
        """The pairs of prompt and source that nobody has measured with this setup."""
        return [(p, s) for p in prompts for s in sources if (setup, p, s) not in self.cells]

    def notes(self, setup: ScoringSetup, prompts: Sequence[str], sources: Sequence[str]) -> list[str]:
        """Notes that a reader needs on how these were measured."""
        keys = {self.cells[setup, p, s] for p in prompts for s in sources if (setup, p, s) in self.cells}
        said: dict[str, None] = {}
        for key in sorted(keys, key=lambda key: key.run_id):
            of = _measured(key)
            said |= dict.fromkeys(of.notes)
            if of.dropped:
                said[f"{of.dropped:,} earlier messages were left out, because the model can't read that much"] = None
        return list(said)

    def vocabulary(self, setup: ScoringSetup, prompts: Sequence[str], sources: Sequence[str]) -> int | None:
        """The number of tokens over which the model spread its probability. None if a run does not record it, or runs
        differ.
        """
        keys = {self.cells[setup, p, s] for p in prompts for s in sources if (setup, p, s) in self.cells}
        sizes = {_measured(key).vocabulary for key in keys}
        return sizes.pop() if len(sizes) == 1 else None


def library() -> Library:
    """The shipped prompts, conversations and choices, and those of every run of this kind, finished or not."""
    shipped = {conversation.digest: conversation for conversation in _bundled()}
    found = Library({one.digest: one for one in SHIPPED.values()}, shipped, _bundled_choices())
    # The oldest run comes first, so the latest run that measured a cell is the one that is kept.
    for record in reversed(run_cache.runs().records):
        if not record.spec.measures_perplexity:
            continue
        try:
            _add(found, record, _request(run_cache.run_key(record.run_id)))
        except HedgeError as error:
            found.problems.append(str(error))
    return found


def _add(found: Library, record: RunRecord, request: Request) -> None:
    found.prompts |= {one.digest: one for one in request.prompts if one.digest not in found.prompts}
    found.conversations |= {one.digest: one for one in request.conversations if one.digest not in found.conversations}
    if request.choices:
        found.choices.setdefault(digest_of(request.choices), request.choices)
    if record.state != "done":
        return
    key = run_cache.run_key(record.run_id)
    setup = ScoringSetup(record.spec.asked_model, record.spec.dtype, request.mode, request.exchanges)
    of_choices = digest_of(request.choices) if request.choices else ""
    for prompt in request.prompts:
        for source in (name for name in request.sources if name not in record.provenance.get("missing", {})):
            # The windows of choices do not depend on the number of exchanges.
            here = ScoringSetup(setup.model, setup.dtype, setup.mode) if source == of_choices else setup
            found.cells[here, prompt.digest, source] = key


@st.cache_resource(show_spinner=False)
def _bundled() -> tuple[Conversation, ...]:
    return talks.bundled()


@st.cache_resource(show_spinner=False)
def _bundled_choices() -> dict[str, tuple[Choice, ...]]:
    if not BUNDLED.is_file():
        return {}
    made = read_choices(BUNDLED)
    return {digest_of(made): made}


# 95 kB per entry, nearly all of it the shared conversations that ship.
def _read_request(key: RunKey) -> Request:
    request = perplexity_run.read_request(run_cache.record(key.run_id).spec)
    # Most runs measure the shipped conversations, whose texts are most of a request, so all runs share one copy of
    # them.
    shipped = {conversation.digest: conversation for conversation in _bundled()}
    return replace(request, conversations=tuple(shipped.get(one.digest, one) for one in request.conversations))


_request = PerRun(_read_request, most=4096)


# 0.4 MB per entry of nine conversations under three prompts; a run of one conversation takes a ninth of that.
@st.cache_resource(max_entries=128, show_spinner="Reading the losses …")
def _measured(key: RunKey) -> PerplexityRun:
    return perplexity_results.read(key.run_id)
