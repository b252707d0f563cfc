"""A question as tokens: the context that all options share, and the tokens that each option adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.errors import InputError

Tokens = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One question's tokens. An option's score is Σ log p of its tokens after ``context``.

    Answer letters are options of one token each; then one forward pass over ``context`` scores them all.
    """

    context: Tokens
    options: tuple[Tokens, ...]

    @property
    def is_letters(self) -> bool:
        """Whether every option is one token."""
        return all(len(option) == 1 for option in self.options)

    @property
    def tree_length(self) -> int:
        """Tokens of a row that holds the context once and every option's tokens but its last."""
        return len(self.context) + sum(len(option) - 1 for option in self.options)

    @property
    def longest_option(self) -> int:
        """Tokens of the longest option."""
        return max(len(option) for option in self.options)

    @property
    def whole_length(self) -> int:
        """Tokens that the model reads to score the longest option alone."""
        return len(self.context) + self.longest_option - 1

    def without(self, shared: int) -> TokenRow:
        """The row without its first ``shared`` context tokens."""
        return TokenRow(self.context[shared:], self.options)


def check_vocabulary(highest: int, *, vocabulary: int) -> None:
    """Raise :class:`InputError` if a token's id is not below ``vocabulary``, the number of tokens that the model
    knows."""
    if highest >= vocabulary:
        raise InputError(
            f"the tokenizer has token {highest}, the model only {vocabulary}; they do not belong together, so take the "
            "tokenizer that came with the model"
        )


def rectangle(rows: Sequence[Sequence[float]], *, fill: float) -> npt.NDArray[np.float64]:
    """Rows of different lengths as an array (rows, longest); shorter ones end with ``fill``.

    >>> rectangle([[1.0, 2.0], [3.0]], fill=0.5).tolist()
    [[1.0, 2.0], [3.0, 0.5]]
    """
    table = np.full((len(rows), max(len(row) for row in rows)), fill, dtype=np.float64)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table


def common_prefix(sequences: Sequence[Tokens]) -> int:
    """Length of the longest beginning that all sequences share, leaving each at least one token.

    >>> common_prefix([(1, 2, 3), (1, 2, 4, 5)]), common_prefix([(1, 2), (1, 2)]), common_prefix([])
    (2, 1, 0)
    """
    if not sequences:
        return 0
    first, last = min(sequences), max(sequences)
    limit = min(len(sequence) for sequence in sequences) - 1
    for i in range(limit):
        if first[i] != last[i]:
            return i
    return max(limit, 0)


def split_options(context: Tokens, wholes: Sequence[Tokens]) -> TokenRow:
    """A row from the context's tokens and those of context + option, each tokenized as one string.

    Tokenizing the pieces separately and joining them is wrong if the tokenizer merges characters across the boundary.
    So the context is what all whole strings have in common, up to the number of tokens that the context has alone. If
    all options change the boundary token in the same way (a space that joins the colon before it), it belongs to the
    context. If they change it differently, it belongs to each option.

    >>> split_options((1, 2, 3), [(1, 2, 3, 4), (1, 2, 9, 5)])
    TokenRow(context=(1, 2), options=((3, 4), (9, 5)))
    >>> split_options((1, 2, 3), [(1, 2, 8, 4), (1, 2, 8, 5, 6)])
    TokenRow(context=(1, 2, 8), options=((4,), (5, 6)))
    """
    shared = min(common_prefix(wholes), len(context))
    return TokenRow(wholes[0][:shared], tuple(whole[shared:] for whole in wholes))
