"""Windows as tokens: which tokens are the counselor's, and the text of each."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from core.errors import InputError
from core.models.perplexity.conversations import Message
from core.models.perplexity.layout import ChatLayout, Laid, Layout, layouts
from core.models.perplexity.request import Part
from core.models.perplexity.windows import Window
from core.models.rows import Tokens
from core.models.spelling import pieces
from core.models.token_ids import Spans, token_ids, token_spans
from core.questions.prompting.chat import LeftOutError

Texts = TypeVar("Texts")

TOGETHER = 256
"""Texts tokenized in one call."""


@dataclass(frozen=True, slots=True)
class Words:
    """A window's tokens; those from ``first`` on are scored.

    ``pieces`` are the texts of the scored tokens; together they are the scored text. ``dropped`` messages of the
    context did not fit into what the model reads.
    """

    tokens: Tokens
    first: int
    pieces: tuple[str, ...]
    dropped: int = 0


class Refused(Exception):
    """Raised when a chat template refuses these turns or omits the system prompt."""


def encode(
    parts: Sequence[Part], tokenizer: Any, *, mode: str, context: int
) -> tuple[list[list[Words]], tuple[str, ...]]:
    """The words of each part's windows, in one layout for all of them, and what has to be known about it.

    ``context`` is the most tokens that the model reads (0: no limit). Raises :class:`InputError` if a system prompt
    and a message alone are more.
    """

    def encoded(layout: Layout) -> list[list[Words]]:
        return [_part(part, layout, tokenizer, mode=mode, context=context) for part in parts]

    return _in_first_layout(encoded, mode, tokenizer)


def beginnings(contexts: Sequence[Sequence[Message]], tokenizer: Any, *, prompt: str) -> list[Laid]:
    """The text before an answer to each of the ``contexts``, in one layout for all of them."""

    def laid(layout: Layout) -> list[Laid]:
        return [_lay(layout, prompt, Window(0, tuple(context), ""), 0) for context in contexts]

    return _in_first_layout(laid, "standard", tokenizer)[0]


def _in_first_layout(make: Callable[[Layout], Texts], mode: str, tokenizer: Any) -> tuple[Texts, tuple[str, ...]]:
    """The texts in the first layout that the tokenizer can write all of them in, with the notes on it."""
    for layout, notes in layouts(mode, tokenizer):
        with suppress(Refused):
            return make(layout), (*notes, *(layout.notes if isinstance(layout, ChatLayout) else ()))
    raise InputError("the model's tokenizer can't lay these conversations out; choose another model")


def _part(part: Part, layout: Layout, tokenizer: Any, *, mode: str, context: int) -> list[Words]:
    prompt = part.prompt.text
    laid = [_lay(layout, prompt, window, 0) for window in part.windows]
    encoded = []
    for window, words in zip(part.windows, _words(laid, tokenizer), strict=True):
        dropped = 0
        while context and len(words.tokens) - 1 > context:
            if dropped == len(window.context):
                raise InputError(_too_long(part, window, len(words.tokens) - 1, context))
            dropped += 1
            words = _words([_lay(layout, prompt, window, dropped)], tokenizer)[0]
        if mode == "published":  # there the last token of each message is missed
            words = Words(words.tokens[:-1], words.first, words.pieces[:-1])
        if words.first >= len(words.tokens):
            raise InputError(f"message {window.number + 1} has no token that can be scored; leave it out")
        encoded.append(Words(words.tokens, words.first, words.pieces, dropped))
    return encoded


def _too_long(part: Part, window: Window, tokens: int, context: int) -> str:
    return (
        f"system prompt {part.prompt.name!r} and message {window.number + 1} alone are {tokens:,} tokens, the model "
        f"reads {context:,}; shorten the prompt, or choose a model that reads more"
    )


def _lay(layout: Layout, prompt: str, window: Window, dropped: int) -> Laid:
    from jinja2 import TemplateError

    try:
        laid = layout(prompt, window.context[dropped:], window.reply)
    except (TemplateError, TypeError, ValueError, LeftOutError) as error:
        raise Refused(str(error)) from error
    if prompt not in laid.text[: laid.start]:
        raise Refused("the system prompt is not in the text")
    return laid


def _words(laid: Sequence[Laid], tokenizer: Any) -> list[Words]:
    words: list[Words] = []
    for start in range(0, len(laid), TOGETHER):
        batch = laid[start : start + TOGETHER]
        if not getattr(tokenizer, "is_fast", False):
            words += [_without_offsets(text, tokenizer) for text in batch]
            continue
        encoded = token_spans(tokenizer, [text.text for text in batch], special=not batch[0].chat)
        words += [_cut(text, ids, spans) for text, (ids, spans) in zip(batch, encoded, strict=True)]
    return words


def _cut(laid: Laid, ids: Tokens, spans: Spans) -> Words:
    """Scored is every token that ends behind ``laid.start``; one that begins before it is the message's first.

    Without a token before it the message's first can't be scored, and its text goes to the next.
    """
    ends = [i for i, (begin, end) in enumerate(spans) if end > laid.start and end > begin]
    if not ends:
        return Words(ids, len(ids), ())
    first, last = max(1, ends[0]), ends[-1]
    ends = [end for _, end in spans[first : last + 1]]
    return Words(ids[: last + 1], first, pieces(laid.text, ends, start=laid.start))


def _without_offsets(laid: Laid, tokenizer: Any) -> Words:
    """For tokenizers without character offsets: the tokens that differ from those of the text before the message."""
    whole, before = token_ids(tokenizer, [laid.text, laid.text[: laid.start]], special=not laid.chat)
    shorter = min(len(whole), len(before))
    same = next((i for i in range(shorter) if whole[i] != before[i]), shorter)
    first = max(1, same)
    return Words(whole, first, tuple(tokenizer.decode([token]) for token in whole[first:]))
