"""The tokens that mean "the answer is B"."""

from collections.abc import Sequence
from typing import Protocol

from core.errors import InputError
from core.models.rows import Tokens
from core.records import LETTERS


class Encode(Protocol):
    """Texts to token ids, with the special tokens that the model expects in front."""

    def __call__(self, texts: Sequence[str], /) -> list[Tokens]:
        """One tuple of ids for each text."""
        ...


def letter_continuations(k: int) -> tuple[str, ...]:
    """How the first k letters follow ``Answer:``."""
    return tuple(f" {letter}" for letter in LETTERS[:k])


def letter_tokens(encode: Encode, *, k: int, context: str) -> list[int] | None:
    """The token of each of the first k letters after ``context``, a prompt that ends in ``Answer:``. It is found in
    context, because " B" after a colon and "B" at the start of a line are different tokens. None if a letter is not
    exactly one token there; letters are then scored as continuations. Raises :class:`InputError` if two letters have
    the same token, as with a tokenizer that does not know them.
    """
    prompt, *wholes = encode([context, *(context + letter for letter in letter_continuations(k))])
    if len(set(wholes)) != k:
        raise InputError(
            "the tokenizer writes two answer letters with the same token; score the options' texts (--form cloze), or "
            "choose another model"
        )
    if any(len(whole) != len(prompt) + 1 or whole[:-1] != prompt for whole in wholes):
        return None
    return [whole[-1] for whole in wholes]
