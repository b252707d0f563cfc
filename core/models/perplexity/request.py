"""A perplexity request: system prompts × conversations (or choices), in one mode, with windows of one size.

A request is stored under its hash, so that a run's spec can name it. Prompts, conversations and files of choices have
hashes too: whatever was measured before in the same way is not measured again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.errors import InputError
from core.models.perplexity import choices as choice
from core.models.perplexity import conversations as talk
from core.models.perplexity.choices import Choice
from core.models.perplexity.conversations import Conversation, digest
from core.models.perplexity.layout import MODES
from core.models.perplexity.prompts import SystemPrompt
from core.models.perplexity.windows import EXCHANGES, Window, check_exchanges, windows


@dataclass(frozen=True, slots=True)
class Part:
    """A prompt and a source: the unit that is measured, stored and looked up. ``source`` is its hash; ``endings`` how
    many windows follow each other as the endings of one choice, 0 for a conversation."""

    prompt: SystemPrompt
    source: str
    windows: tuple[Window, ...]
    endings: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that one perplexity run measures."""

    prompts: tuple[SystemPrompt, ...]
    conversations: tuple[Conversation, ...] = ()
    choices: tuple[Choice, ...] = ()
    mode: str = "standard"
    exchanges: int | None = EXCHANGES

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InputError(f"unknown mode {self.mode!r}; choose from {', '.join(MODES)}")
        check_exchanges(self.exchanges)
        if not self.prompts:
            raise InputError("give at least one system prompt; the empty one is a baseline")
        if not self.conversations and not self.choices:
            raise InputError("give at least one conversation or a file of choices")

    @property
    def digest(self) -> str:
        """A hash of the whole request, ten hexadecimal digits."""
        return digest(self.to_json())

    @property
    def sources(self) -> tuple[str, ...]:
        """The hashes of the conversations, then that of the choices."""
        digests = dict.fromkeys(conversation.digest for conversation in self.conversations)
        return (*digests, *([choice.digest_of(self.choices)] if self.choices else []))

    def parts(self) -> Iterator[Part]:
        """The parts, prompt by prompt, so that what the windows of one prompt share is computed once."""
        known = {conversation.digest: conversation for conversation in self.conversations}
        for prompt in {prompt.digest: prompt for prompt in self.prompts}.values():
            for source, conversation in known.items():
                yield Part(prompt, source, windows(conversation, self.exchanges))
            if self.choices:
                yield from self._of_choices(prompt)

    def _of_choices(self, prompt: SystemPrompt) -> Iterator[Part]:
        all_windows = tuple(
            Window(number, each.context, ending) for number, each in enumerate(self.choices) for ending in each.endings
        )
        yield Part(prompt, choice.digest_of(self.choices), all_windows, len(self.choices[0].endings))

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "prompts": [{"name": item.name, "text": item.text} for item in self.prompts],
            "conversations": [item.to_json() for item in self.conversations],
            "choices": [item.to_json() for item in self.choices],
            "mode": self.mode,
            "exchanges": self.exchanges,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Request:
        """What :meth:`to_json` wrote."""
        try:
            return cls(
                tuple(SystemPrompt(item["name"], item["text"]) for item in values["prompts"]),
                tuple(talk.from_json(item) for item in values["conversations"]),
                tuple(choice.from_json(item) for item in values["choices"]),
                values["mode"],
                values["exchanges"],
            )
        except (KeyError, TypeError) as error:
            raise InputError(f"a request for perplexities can't be read ({error}); ask again") from error
