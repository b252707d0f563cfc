"""Windows: what a model sees before each message of the counselor, the system prompt and the latest exchanges.

An exchange is what the person says and the counselor's answer to it; the counselor's opening is one without a
request. A message's own request is always in its window, and at most ``exchanges`` whole exchanges before it; the
oldest are left out.
"""

from dataclasses import dataclass

from core.errors import InputError
from core.models.perplexity.conversations import COUNSELOR, Conversation, Message

EXCHANGES = 2
"""Exchanges before a message, as published."""


@dataclass(frozen=True, slots=True)
class Window:
    """One message to be scored: its ``number`` in the conversation (from 0), what comes before it, and its text."""

    number: int
    context: tuple[Message, ...]
    reply: str


def windows(conversation: Conversation, exchanges: int | None = EXCHANGES) -> tuple[Window, ...]:
    """A window for each message of the counselor except an opening. ``exchanges`` None includes all of them."""
    check_exchanges(exchanges)
    past: list[tuple[Message, ...]] = []
    request: tuple[Message, ...] = ()
    found_windows = []
    for number, message in enumerate(conversation.messages):
        if message.role != COUNSELOR:
            request += (message,)
            continue
        if number:
            latest = past if exchanges is None else past[max(0, len(past) - exchanges) :]
            found_windows.append(Window(number, tuple(m for each in latest for m in each) + request, message.text))
        past.append((*request, message))
        request = ()
    return tuple(found_windows)


def check_exchanges(exchanges: int | None) -> None:
    """Raise :class:`InputError` unless the value is a whole number from 0, or None for all exchanges."""
    if exchanges is not None and exchanges < 0:
        raise InputError(f"the exchanges before a message are counted from 0, got {exchanges}")
