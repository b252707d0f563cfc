"""Conversations of a counselor (``assistant``) with a person (``user``), from text or JSON lines.

Text, as published: a message a line, ``assistant: …`` or ``user: …``. JSON lines: a conversation a line,
``{"name": …, "messages": [{"role": …, "content": …}, …]}``, or a message a line, which make one conversation.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.files.json_text import loads
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


def digest(values: Any) -> str:
    """A hash of JSON values, ten hexadecimal digits."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:10]


def bundled() -> tuple[Conversation, ...]:
    """The conversations that ship with Hedge, by name."""
    return tuple(read(path)[0] for path in sorted(FOLDER.glob("*.txt")) if path.stem != "README")


def read(path: Path) -> tuple[Conversation, ...]:
    """The conversations of a file: JSON lines if its name ends in ``.jsonl``, otherwise text."""
    try:
        content = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} can't be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    return parse(content, path.name)


def parse(content: str, file: str) -> tuple[Conversation, ...]:
    """The conversations in a file's content. An error message names ``file`` and the line."""
    name = Path(file).stem.replace("_", " ")
    if file.lower().endswith((".jsonl", ".ndjson")):
        return _json_lines(content, file, name)
    found = [_line(line, file, number) for number, line in enumerate(content.splitlines(), 1) if line.strip()]
    return (_named(name, found, file),)


def from_json(values: Any) -> Conversation:
    """Read what :meth:`Conversation.to_json` wrote. Raises :class:`InputError` for anything else."""
    if not isinstance(values, dict) or not isinstance(values.get("messages"), list):
        raise InputError("a conversation is an object with “messages”, a list")
    return Conversation(str(values.get("name", "")), tuple(_message(one) for one in values["messages"]))


def _line(line: str, file: str, number: int) -> Message:
    role, colon, text = line.strip().partition(":")
    try:
        if not colon:
            raise InputError(f"it begins with no role; a line is “{COUNSELOR}: …” or “{PERSON}: …”")
        return Message(role.strip().lower(), text.strip())
    except InputError as error:
        raise InputError(f"{file}, line {number}: {error}") from None


def _json_lines(content: str, file: str, name: str) -> tuple[Conversation, ...]:
    found: list[Conversation] = []
    single: list[Message] = []
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            values = loads(line)
            if isinstance(values, dict) and "role" in values:
                single.append(_message(values))
            else:
                made = from_json(values)
                found.append(made if made.name else Conversation(f"{name} {number}", made.messages))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{file}, line {number}: it is not JSON ({error})") from None
        except InputError as error:
            raise InputError(f"{file}, line {number}: {error}") from None
    if single and found:
        raise InputError(f"{file} has lines of single messages and lines of whole conversations; keep to one kind")
    return (_named(name, single, file),) if single or not found else tuple(found)


def _message(values: Any) -> Message:
    if not isinstance(values, dict) or not isinstance(values.get("role"), str):
        raise InputError("a message is an object with “role” and “content”")
    if not isinstance(values.get("content"), str):
        raise InputError(f"a message of the {values['role']} has no text in “content”")
    return Message(values["role"].strip().lower(), values["content"].strip())


def _named(name: str, messages: Sequence[Message], file: str) -> Conversation:
    try:
        return Conversation(name, tuple(messages))
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
