"""Texts as token ids: the one place where a tokenizer is called.

A model continues a text, so a text must not end with tokens that the tokenizer appends by itself (``add_eos_token``,
``$A </s>``, ``[CLS] $A [SEP]``): after an end token, the next token is that of another text. They are removed here.
Tokens that the tokenizer puts in front stay, and so does an end token that the text itself contains.
"""

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from core.errors import InputError
from core.models.folder_limits import panics_as_errors
from core.models.rows import Tokens

PROBES = ("A", "Answer: B or ☃", "Question 7?\nNo. That is the end", "one, two; three " * 40 + "(4)")
"""Texts of different lengths and ends, with characters that no tokenizer has as one token."""

Spans = Sequence[tuple[int, int]]
"""The characters of each token, as (first, end)."""


class AddedTokensError(InputError):
    """A tokenizer adds tokens of its own to a text, and not only in front of it and behind it."""


_APPENDED: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def token_ids(tokenizer: Any, texts: Sequence[str], *, special: bool = True) -> list[Tokens]:
    """The ids of each text's tokens; with ``special`` also the tokens that the tokenizer puts in front of a text.

    Raises :class:`AddedTokensError` if the tokenizer adds tokens anywhere else than in front of and behind a text.
    """
    if not texts:
        return []
    end = -appended(tokenizer) or None if special else None
    return [tuple(row[:end]) for row in _encoded(tokenizer, texts, special)["input_ids"]]


def token_spans(tokenizer: Any, texts: Sequence[str], *, special: bool = True) -> list[tuple[Tokens, Spans]]:
    """The ids of each text's tokens as :func:`token_ids` gives them, and their characters. For fast tokenizers only."""
    if not texts:
        return []
    end = -appended(tokenizer) or None if special else None
    encoded = _encoded(tokenizer, texts, special, return_offsets_mapping=True)
    rows = zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)
    return [(tuple(ids[:end]), spans[:end]) for ids, spans in rows]


def appended(tokenizer: Any) -> int:
    """How many tokens the tokenizer appends to a text; their names do not matter, only what it does with the probes."""
    if tokenizer not in _APPENDED:
        _APPENDED[tokenizer] = _appended(tokenizer)
    return _APPENDED[tokenizer]


def _appended(tokenizer: Any) -> int:
    wholes, bare = (
        [tuple(row) for row in _encoded(tokenizer, PROBES, special)["input_ids"]] for special in (True, False)
    )
    # (tokens in front, tokens behind) under which the whole is the bare text with tokens around it, for every probe
    fitting = set.intersection(
        *(
            {
                (first, len(whole) - len(text) - first)
                for first in range(len(whole) - len(text) + 1)
                if whole[first : first + len(text)] == text
            }
            for whole, text in zip(wholes, bare, strict=True)
        )
    )
    ends = {behind: {whole[len(whole) - behind :] for whole in wholes} for _, behind in fitting}
    alike = [behind for behind, tokens in ends.items() if len(tokens) == 1]
    if not alike or _ends_every_text(tokenizer, bare):
        raise AddedTokensError(
            "the tokenizer adds tokens of its own to a text in a way that Hedge can't take back (inside the text, or "
            "others for each text), so a continuation of the text can't be scored; take the tokenizer's files that "
            "came with the model, without what adds these tokens (post_processor in tokenizer.json)"
        )
    return min(alike)


def _ends_every_text(tokenizer: Any, bare: Sequence[Tokens]) -> bool:
    """Whether even texts without special tokens, which end differently, all end with the same known token."""
    unknown = getattr(tokenizer, "unk_token_id", None)
    (end, *other_ends), known = {text[-1:] for text in bare}, set[int]().union(*bare)
    return not other_ends and len(known) > 1 and end not in ((), (unknown,))


def _encoded(tokenizer: Any, texts: Sequence[str], special: bool, **wanted: bool) -> Any:
    with panics_as_errors():
        return tokenizer(list(texts), add_special_tokens=special, verbose=False, **wanted)
