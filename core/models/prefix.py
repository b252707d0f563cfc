"""The shared beginning of a run's prompts, computed once."""

import copy
from collections.abc import Sequence
from typing import Any

import torch

from core.models.decoder import Decoder
from core.models.rope_lengths import Regime
from core.models.rows import TokenRow, Tokens, common_prefix

WORTH_SHARING = 32
"""In tokens. Copying a shorter beginning takes longer than computing it again."""


MOST_REGIMES = 4
"""Of how many regimes (:meth:`~core.models.decoder.Decoder.regime`) the beginning is kept at once."""


class Prefix:
    """The tokens of a shared beginning and their cache, which is copied for each batch and never changed.

    The cache has a row for each regime of the texts that begin in this way; for most models there is one. ``lengths``
    are those of the whole texts. A text of another regime adds its row.
    """

    def __init__(self, decoder: Decoder, tokens: Tokens, lengths: Sequence[int] = ()) -> None:
        self.tokens = tokens
        self._decoder = decoder
        self._compute(dict(list({decoder.regime(n): n for n in lengths or [len(tokens)]}.items())[:MOST_REGIMES]))

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def lengths(self) -> tuple[int, ...]:
        """A length of each regime that the cache has."""
        return tuple(self._lengths.values())

    def cache(self, lengths: Sequence[int]) -> Any:
        """A copy of the cache with a row for each of the texts of these lengths. It is repeated by ``reorder_cache``,
        which handles every kind of state: keys, windows, convolutions, recurrences.
        """
        regimes = [self._decoder.regime(length) for length in lengths]
        needed = dict(zip(regimes, lengths, strict=True))
        if not needed.keys() <= self._lengths.keys():
            lengths_together = self._lengths | needed
            self._compute(lengths_together if len(lengths_together) <= MOST_REGIMES else needed)
        places = {regime: row for row, regime in enumerate(self._lengths)}
        copied = copy.deepcopy(self._cache)
        copied.reorder_cache(torch.tensor([places[regime] for regime in regimes]))
        return copied

    def _compute(self, lengths: dict[Regime, int]) -> None:
        self._cache, self._lengths = self._decoder.new_cache(), lengths
        tokens = self._decoder.tokens([self.tokens] * len(lengths))
        self._decoder.hidden(tokens, cache=self._cache, lengths=list(lengths.values()))


def shared_tokens(rows: Sequence[TokenRow]) -> Tokens:
    """The beginning that all rows share, or None if it is too short to be worth copying."""
    shared = common_prefix([row.context for row in rows]) if len(rows) > 1 else 0
    return rows[0].context[:shared] if shared >= WORTH_SHARING else ()


def after(prefix: Prefix | None, *, rows: int, width: int, device: torch.device) -> torch.Tensor:
    """Positions (rows, width) of tokens that follow the prefix."""
    start = len(prefix) if prefix else 0
    return torch.arange(start, start + width, device=device)[None].expand(rows, -1)
