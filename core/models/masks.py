"""Masks that say what each token of a tree row may see. A tree row holds a question's context once, then every option's
tokens but the last, side by side. A token sees the shared prefix, the context before it and its own option before it; a
sliding window shortens that by the distance of their *positions*, which is not the distance of their columns.

Architectures take such a mask in one of three ways, and a wrong way gives wrong results without an error: one mask for
all layers (``full``), one windowed mask for all layers (``windowed``: Mistral), or a dictionary of both
(``dictionary``: Gemma 2 and 3, Cohere 2). None of them works if the model takes no positions (ALiBi) or has a recurrent
state.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from core.models.decoder import Decoder
from core.models.rows import TokenRow

MASK_BYTES = 8
"""Bytes for each pair of tokens while a mask is made: one number and some truth values."""
MOST_MASK = 1 << 29
"""The bytes that the mask of one row may take: a row of 8,192 tokens. Longer rows are scored without a mask."""


def fits_mask(width: int, *, behind: int = 0) -> bool:
    """Whether a row of ``width`` tokens after ``behind`` others may have a mask of its own."""
    return MASK_BYTES * width * (behind + width) <= MOST_MASK


@dataclass(frozen=True, slots=True)
class Tree:
    """Tree rows of one batch: ``tokens`` and ``positions`` (n, width), ``segments`` (n, width) with 0 for context,
    j for the j-th option and −1 for padding; ``columns[i][j]`` are the columns whose next token option j scores."""

    tokens: torch.Tensor
    positions: torch.Tensor
    segments: torch.Tensor
    columns: list[list[list[int]]]


def tree(decoder: Decoder, rows: Sequence[TokenRow], *, start: int) -> Tree:
    """Lay out rows whose first token stands at position ``start``."""
    width = max(row.tree_length for row in rows)
    tokens = torch.zeros(len(rows), width, dtype=torch.long)
    positions = torch.zeros(len(rows), width, dtype=torch.long)
    segments = torch.full((len(rows), width), -1)
    columns: list[list[list[int]]] = []
    for i, row in enumerate(rows):
        at = len(row.context)
        ids, places, parts = list(row.context), list(range(at)), [0] * at
        of_row = []
        for j, option in enumerate(row.options, start=1):
            read = option[:-1]
            of_row.append([at - 1, *range(len(ids), len(ids) + len(read))])
            ids += read
            places += range(at, at + len(read))
            parts += [j] * len(read)
        columns.append(of_row)
        tokens[i, : len(ids)] = torch.tensor(ids)
        positions[i, : len(ids)] = torch.tensor(places) + start
        segments[i, : len(ids)] = torch.tensor(parts)
    move = decoder.device
    return Tree(tokens.to(move), positions.to(move), segments.to(move), columns)


def window(config: Any) -> int | None:
    """The sliding window of a model; None if it has none."""
    text = config.get_text_config()
    size = getattr(text, "sliding_window", None)
    used = getattr(text, "use_sliding_window", True)
    return int(size) if size and used else None


def kinds(config: Any) -> tuple[str, ...]:
    """The ways of giving a model its mask that are worth trying, the most likely first."""
    if window(config) is None:
        return ("full",)
    layers = set(getattr(config.get_text_config(), "layer_types", None) or ("sliding_attention",))
    if layers == {"full_attention"}:
        return ("full",)
    return ("dictionary", "windowed") if "full_attention" in layers else ("windowed", "dictionary")


def tree_mask(decoder: Decoder, laid: Tree, *, prefix: int, kind: str) -> Any:
    """The mask of a tree after ``prefix`` tokens, added to attention scores: 0 where seen, else the least number."""
    seen = _visible(laid)
    full = _with_prefix(seen, torch.ones(*seen.shape[:2], prefix, dtype=torch.bool, device=seen.device))
    if kind == "full":
        return _additive(decoder, full)
    size = window(decoder.model.config)
    assert size is not None
    near = laid.positions[:, :, None] - laid.positions[:, None, :] < size
    # A sliding layer's cache keeps the last size − 1 tokens of the prefix.
    positions = torch.arange(prefix - min(prefix, size - 1), prefix, device=seen.device)
    reach = laid.positions[:, :, None] - positions[None, None, :] < size
    sliding = _with_prefix(seen & (near | _diagonal(seen)), reach)
    if kind == "windowed":
        return _additive(decoder, sliding)
    return {"full_attention": _additive(decoder, full), "sliding_attention": _additive(decoder, sliding)}


def _visible(laid: Tree) -> torch.Tensor:
    """(n, width, width): whether a token sees another one, which is earlier and in the context or in its own option."""
    row, column = laid.segments[:, :, None], laid.segments[:, None, :]
    width = laid.tokens.shape[1]
    before = torch.ones(width, width, dtype=torch.bool, device=laid.tokens.device).tril()
    return (((column == 0) | (row == column)) & before) | _diagonal(laid.tokens)


def _diagonal(like: torch.Tensor) -> torch.Tensor:
    """Let every token see at least itself, because a row without any visible token would be NaN."""
    return torch.eye(like.shape[1], dtype=torch.bool, device=like.device)


def _with_prefix(seen: torch.Tensor, prefix: torch.Tensor) -> torch.Tensor:
    return torch.cat([prefix, seen], dim=-1)


def _additive(decoder: Decoder, seen: torch.Tensor) -> torch.Tensor:
    dtype = decoder.model.dtype
    zero = torch.zeros((), dtype=dtype, device=seen.device)
    return torch.where(seen[:, None], zero, torch.finfo(dtype).min)
