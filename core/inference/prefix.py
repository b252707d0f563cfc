"""The shared beginning of a run's prompts, computed once."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch

from core.inference.decoder import Decoder
from core.inference.rows import TokenRow, Tokens, common_prefix

WORTH_SHARING = 32
"""In tokens. Copying a shorter beginning takes longer than computing it again."""


class Prefix:
    """The tokens of a shared beginning and their cache, which is copied for each batch and never changed."""

    def __init__(self, decoder: Decoder, tokens: Tokens) -> None:
        self.tokens = tokens
        self._cache = decoder.new_cache()
        decoder.hidden(decoder.tokens([tokens]), cache=self._cache)

    def __len__(self) -> int:
        return len(self.tokens)

    def cache(self, rows: int) -> Any:
        """A copy of the cache for that many rows. It is repeated by ``reorder_cache``, which handles every kind of
        state: keys, windows, convolutions, recurrences.
        """
        copied = copy.deepcopy(self._cache)
        copied.reorder_cache(torch.zeros(rows, dtype=torch.long))
        return copied


def shared_tokens(rows: Sequence[TokenRow]) -> Tokens:
    """The beginning that all rows share, or None if it is too short to be worth copying."""
    shared = common_prefix([row.context for row in rows]) if len(rows) > 1 else 0
    return rows[0].context[:shared] if shared >= WORTH_SHARING else ()


def after(prefix: Prefix | None, *, rows: int, width: int, device: torch.device) -> torch.Tensor:
    """Positions (rows, width) of tokens that follow the prefix."""
    start = len(prefix) if prefix else 0
    return torch.arange(start, start + width, device=device)[None].expand(rows, -1)
