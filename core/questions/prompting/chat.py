"""A prompt in a model's own chat format (V1 of Ye et al. 2024; V2 leaves it plain).

The whole prompt is what the user says; the assistant's turn begins with the prompt's last words, ``Answer:``, so that
the next token is the answer in either format.

A template is a program and may leave a text out without a word, as one that expects other keys or a list of parts does.
So every text must be found in what it writes (:func:`conversation`).
"""

import html
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from jinja2 import TemplateError

from core.errors import InputError, plain

OPENING = "Answer:"
SHORT = 12
"""A text with fewer characters may be in a template's own words by chance."""
MARKER = "Zq7Vw3Kx{}"
"""Stands in for a short text; no template has it among its own words."""
SHOWN = 60
"""Characters of a text that an error quotes."""

Turns = Sequence[dict[str, str]]
"""The messages of a conversation: ``role`` and ``content``."""


class ChatTokenizer(Protocol):
    """The part of a transformers tokenizer that this module uses."""

    @property
    def chat_template(self) -> Any:
        """The template, or None."""

    def apply_chat_template(
        self, conversation: Any, *, tokenize: bool, add_generation_prompt: bool, enable_thinking: bool
    ) -> Any:
        """The conversation as one text, up to the beginning of the assistant's turn."""
        ...


class LeftOutError(InputError):
    """A chat template leaves a text of the conversation out."""


def render(tokenizer: ChatTokenizer, text: str, *, system: str = "") -> str:
    """``text`` as a conversation up to and including the assistant's first word, with special tokens. Raises
    :class:`InputError` if the model has no chat template, or if the template refuses the conversation or leaves out a
    part of it."""
    if not getattr(tokenizer, "chat_template", None):
        raise InputError("the model has no chat template; ask it in the plain format (--format plain)")
    question = text.removesuffix(OPENING).rstrip()
    opening = OPENING if text.endswith(OPENING) else ""
    turns = [{"role": "system", "content": system}] * bool(system) + [{"role": "user", "content": question}]
    try:
        rendered = conversation(tokenizer, turns)
    except (TemplateError, TypeError, ValueError) as error:
        raise InputError(
            f"the model's chat template refuses this conversation ({str(error)[:300]}); "
            f"{'leave out the system prompt, or ' if system else ''}ask in the plain format (--format plain)"
        ) from error
    return f"{rendered}{opening}"


def conversation(tokenizer: ChatTokenizer, turns: Turns, *, asks: bool = True) -> str:
    """The conversation as the template writes it, with the assistant's header if it ``asks`` for an answer.

    A template that leaves a text out gets the texts as lists of parts, as templates of models that also see images
    expect them. Raises :class:`LeftOutError` if that does not help either, and what the template raises if it refuses
    the conversation.
    """
    problem: Exception | None = None
    for written in _ways(turns):
        try:
            rendered = _apply(tokenizer, written(turns), asks)
            escaped = written is _as_texts
            missing = _left_out(rendered, turns, escaped=escaped)
            if not missing and (short := _short(turns)):
                missing = _left_out(_apply(tokenizer, written(short), asks), short, escaped=escaped)
        except (TemplateError, TypeError, ValueError) as error:
            problem = problem or error
            continue
        if not missing:
            return rendered
        problem = problem or LeftOutError(_sentence(missing[0], turns, rendered))
    assert problem is not None
    raise problem


def _apply(tokenizer: ChatTokenizer, turns: Any, asks: bool) -> str:
    # Models that think aloud first would not answer with their next token; other templates ignore the word.
    text: str = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=asks, enable_thinking=False)
    return text


# ---------------------------------------------------------------- how texts are handed to a template


def _as_texts(turns: Turns) -> Any:
    return list(turns)


def _as_parts(turns: Turns) -> Any:
    return [{**turn, "content": [{"type": "text", "text": turn["content"]}]} for turn in turns]


def _as_parts_but_the_system(turns: Turns) -> Any:
    return [turn if turn["role"] == "system" else _as_parts([turn])[0] for turn in turns]


def _ways(turns: Turns) -> Iterator[Callable[[Turns], Any]]:
    yield _as_texts
    if any(turn["role"] == "system" for turn in turns):
        yield _as_parts_but_the_system
    yield _as_parts


# ---------------------------------------------------------------- whether they are there


@dataclass(frozen=True, slots=True)
class Form:
    """How ``rendered`` and ``text`` are compared."""

    rendered: Callable[[str], str]
    text: Callable[[str], str]


def _spaced(text: str) -> str:
    return " ".join(text.split())


FORMS = (Form(str, str.strip), Form(_spaced, _spaced))
"""A template may strip a text, and write its spaces and line ends in another way."""
ESCAPED = (
    Form(html.unescape, str.strip),
    Form(str, lambda text: json.dumps(text)[1:-1]),
    Form(str, lambda text: json.dumps(text, ensure_ascii=False)[1:-1]),
)
"""It may also escape a text, as HTML or as JSON."""


def _left_out(rendered: str, turns: Turns, *, escaped: bool) -> Turns:
    """The turns whose text is not in ``rendered``, each in a place of its own."""
    fewest = turns
    for form in (*FORMS, *(ESCAPED if escaped else ())):
        fewest = min(fewest, _missing(form, rendered, turns), key=len)
        if not fewest:
            break
    return fewest


def _missing(form: Form, rendered: str, turns: Turns) -> Turns:
    rest, missing = form.rendered(rendered), []
    for turn in sorted(turns, key=lambda turn: -len(turn["content"])):
        text = form.text(turn["content"])
        before, match, after = rest.partition(text) if text else (rest, " ", "")
        rest = f"{before}\0{after}"
        if not match:
            missing.append(turn)
    return missing


def _short(turns: Turns) -> list[dict[str, str]]:
    """The turns with markers in place of short texts; empty if no text is short."""
    short = [0 < len(turn["content"].strip()) < SHORT for turn in turns]
    if not any(short):
        return []
    return [{**turn, "content": MARKER.format(i)} if short[i] else turn for i, turn in enumerate(turns)]


def _sentence(turn: dict[str, str], turns: Turns, rendered: str) -> str:
    if turn["role"] == "system":
        return (
            "the model's chat template passes over a system prompt; ask in the plain format (--format plain), which "
            "puts it first"
        )
    lines = [line for line in turn["content"].splitlines() if line.strip()]
    lost = [line for line in lines if _spaced(line) not in _spaced(rendered)]
    if len(lost) == len(lines):
        what = "the question and its options" if len(turns) <= 2 else "messages"
    else:
        line = _spaced(lost[0] if lost else lines[0])
        quoted = plain(line if len(line) <= SHOWN else f"{line[:SHOWN]}…", one_line=True)
        what = f"or changes part of the prompt (“{quoted}”)"
    return (
        f"the model's chat template leaves out {what}, so the model would not read it; ask in the plain format "
        "(--format plain), or use the model's own template"
    )
