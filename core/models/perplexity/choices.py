"""The choice benchmark: which of several endings follows a context? One is real; models wrote the others.

A file of choices is the published CSV (``context,A,B,C,D,label`` with labels 1 to 4, the system prompt inside the
context) or JSON lines: ``{"context": [messages], "endings": [texts], "label": place of the real one from 0}``.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError
from core.models.perplexity.conversations import FOLDER, PERSON, ROLES, Conversation, Message, digest, located
from core.models.perplexity.windows import windows
from core.storage.atomic import write_atomically
from core.storage.json_text import loads
from core.tables.encodings import LINE_END, read_text

BUNDLED = FOLDER / "choices.jsonl"
COLUMNS = ("context", "A", "B", "C", "D", "label")
MESSAGE = re.compile(rf"^({'|'.join(ROLES)}): ?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Choice:
    """A context of messages, the endings, and which one (from 0) is real.

    ``system`` is a system prompt that came with the context. It is used where a compared prompt is empty.
    """

    context: tuple[Message, ...]
    endings: tuple[str, ...]
    label: int
    system: str = ""

    def __post_init__(self) -> None:
        if len(self.endings) < 2:
            raise InputError(f"a choice needs at least 2 endings, there are {len(self.endings)}")
        if not 0 <= self.label < len(self.endings):
            raise InputError(f"the label {self.label} is not one of the {len(self.endings)} endings, counted from 0")
        for place, ending in enumerate(self.endings, 1):
            if not ending.strip():
                raise InputError(f"ending {place} is empty; write it or take the choice out")
        if not self.context:
            raise InputError("a choice needs a context of at least one message")

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "context": [{"role": m.role, "content": m.text} for m in self.context],
            "endings": list(self.endings),
            "label": self.label,
            "system": self.system,
        }


def from_json(values: Any) -> Choice:
    """Read what :meth:`Choice.to_json` wrote. Raises :class:`InputError` for anything else."""
    if not isinstance(values, dict) or not {"context", "endings", "label"} <= set(values):
        raise InputError("a choice is an object with “context”, “endings” and “label”")
    try:
        context = tuple(Message(m["role"], m["content"].strip()) for m in values["context"])
        endings = tuple(str(ending).strip() for ending in values["endings"])
        return Choice(context, endings, int(values["label"]), str(values.get("system", "")))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"a choice can't be read ({type(error).__name__}: {error})") from None


def digest_of(choices: Sequence[Choice]) -> str:
    """A hash of all choices, ten hexadecimal digits."""
    return digest([choice.to_json() for choice in choices])


def read(path: Path) -> tuple[Choice, ...]:
    """The choices of a file."""
    try:
        return parse(read_text(path)[0], path.name)
    except OSError as error:
        raise InputError(f"{path} can't be read ({error.strerror})") from error


def parse(content: str, file: str) -> tuple[Choice, ...]:
    """The choices in a file's content: JSON lines, a list in JSON, or the published CSV."""
    begin = content.lstrip()[:1]
    is_json = begin == "{" or file.lower().endswith((".jsonl", ".ndjson"))
    choices = (
        _json_list(content, file) if begin == "[" else _json_lines(content, file) if is_json else _csv(content, file)
    )
    if not choices:
        raise InputError(f"{file} has no choices")
    if len({len(choice.endings) for choice in choices}) > 1:
        raise InputError(f"{file} has choices with different numbers of endings; give all of them the same number")
    return choices


def write(choices: Sequence[Choice], path: Path) -> None:
    """Write choices as JSON lines, all at once."""
    lines = [json.dumps(choice.to_json(), ensure_ascii=False) for choice in choices]
    write_atomically(path, "".join(f"{line}\n" for line in lines).encode())


Write = Callable[[Sequence[tuple[Message, ...]], int], list[list[str]]]
"""Takes contexts and a number, and returns that many endings for each context."""


def make(
    conversations: Sequence[Conversation], write: Write, *, generated: int = 3, seed: int = 0
) -> tuple[Choice, ...]:
    """A choice for each counselor message except an opening: the real ending and the ``generated`` ones, shuffled.

    A context is left out if its generated endings repeat each other or the real one.
    """
    all_windows = [window for conversation in conversations for window in windows(conversation)]
    rng = np.random.default_rng(seed)
    choices = []
    for window, endings in zip(all_windows, write([window.context for window in all_windows], generated), strict=True):
        if len({window.reply, *endings}) < generated + 1 or not all(ending.strip() for ending in endings):
            continue
        order = rng.permutation(generated + 1)
        texts = [window.reply, *endings]
        choices.append(Choice(window.context, tuple(texts[i] for i in order), int(np.argmin(order))))
    return tuple(choices)


def _json_lines(content: str, file: str) -> tuple[Choice, ...]:
    lines = enumerate(LINE_END.split(content), 1)
    return tuple(_from_json(_json(line, f"{file}, line {n}"), f"{file}, line {n}") for n, line in lines if line.strip())


def _json_list(content: str, file: str) -> tuple[Choice, ...]:
    return tuple(_from_json(values, f"{file}, choice {n}") for n, values in enumerate(_json(content, file), 1))


def _json(text: str, where: str) -> Any:
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: it is not JSON ({error})") from None


def _from_json(values: Any, where: str) -> Choice:
    with located(where):
        return from_json(values)


def _csv(content: str, file: str) -> tuple[Choice, ...]:
    reader = csv.DictReader(io.StringIO(content, newline=""))
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise InputError(f"{file} lacks the columns {', '.join(missing)}; a file of choices has {', '.join(COLUMNS)}")
    choices = []
    for number, row in enumerate(reader, 1):
        label = (row["label"] or "").strip()
        with located(f"{file}, choice {number}"):
            if label not in ("1", "2", "3", "4"):
                raise InputError(f"the label is {label!r}; it is one of 1 to 4")
            system, context = _published_context(row["context"] or "")
            endings = tuple((row[name] or "").strip() for name in COLUMNS[1:5])
            choices.append(Choice(context, endings, int(label) - 1, system))
    return tuple(choices)


def _published_context(text: str) -> tuple[str, tuple[Message, ...]]:
    """The system prompt that stands before the first role, and the messages."""
    marks = list(MESSAGE.finditer(text))
    if not marks:
        return "", (Message(PERSON, text.strip()),)
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    messages = tuple(
        Message(mark.group(1), text[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)
    )
    system = "\n".join(line.strip() for line in text[: marks[0].start()].strip().splitlines())
    return system, messages
