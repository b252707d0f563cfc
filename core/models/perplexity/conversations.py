"""Conversations of a counselor (``assistant``) with a person (``user``).

Files that hold them are read in :mod:`core.models.perplexity.conversation_files`.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from core.errors import InputError
from core.settings import ASSETS

COUNSELOR, PERSON = "assistant", "user"
ROLES = (COUNSELOR, PERSON)
FOLDER = ASSETS / "conversations"
LONGEST = 100_000
"""The most characters of a message."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: str
    text: str

    def __post_init__(self) -> None:
        if self.role == "system":
            raise InputError("a message has the role 'system'; leave it out: the prompts compared take its place")
        if self.role not in ROLES:
            raise InputError(f"unknown role {self.role!r}; a message is the {COUNSELOR}'s or the {PERSON}'s")
        if not self.text.strip():
            raise InputError(f"a message of the {self.role} is empty; write it or take it out")
        if len(self.text) > LONGEST:
            raise InputError(f"a message has {len(self.text):,} characters, at most {LONGEST:,} can be read; split it")


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages in order. The name is for people; the ``digest`` identifies the conversation.

    Raises :class:`InputError` if the counselor says nothing after an opening.
    """

    name: str
    messages: tuple[Message, ...]

    def __post_init__(self) -> None:
        if not any(message.role == COUNSELOR for message in self.messages[1:]):
            raise InputError(
                f"conversation {self.name!r} has no message of the counselor ({COUNSELOR}) after its first; "
                "there is nothing to measure"
            )

    @property
    def digest(self) -> str:
        """A hash of the messages, ten hexadecimal digits. The name is not part of it."""
        return digest([[message.role, message.text] for message in self.messages])

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {"name": self.name, "messages": [{"role": m.role, "content": m.text} for m in self.messages]}


@contextmanager
def located(where: str) -> Iterator[None]:
    """Begin the sentences of errors in the block with the place in a file."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def digest(values: Any) -> str:
    """A hash of JSON values, ten hexadecimal digits."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:10]


def bundled() -> tuple[Conversation, ...]:
    """The conversations that ship with Hedge, by name."""
    from core.models.perplexity.conversation_files import read  # which needs the records of this module

    paths = sorted(path for path in FOLDER.glob("*.txt") if path.stem != "README")
    return tuple(conversation for path in paths for conversation in read(path).conversations)


def from_json(values: Any) -> Conversation:
    """Read what :meth:`Conversation.to_json` wrote. Raises :class:`InputError` for anything else."""
    if not isinstance(values, dict) or not isinstance(values.get("messages"), list):
        raise InputError("a conversation is an object with “messages”, a list")
    return Conversation(str(values.get("name", "")), tuple(_message(message) for message in values["messages"]))


def _message(values: Any) -> Message:
    if not isinstance(values, dict) or not isinstance(values.get("role"), str):
        raise InputError("a message is an object with “role” and “content”")
    if not isinstance(values.get("content"), str):
        raise InputError(f"a message of the {values['role']} has no text in “content”")
    return Message(values["role"].strip().lower(), values["content"].strip())
