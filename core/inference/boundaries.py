"""Lengths at which a model may change its arithmetic, read from its configuration: the end of a sliding window, of a
chunk of attention or of a recurrence, the length from which other frequencies or another scale are taken.

A scoring path that is right on one side of such a length may be wrong on the other. So a self-check tries rows of every
side that a run has, and its verdict holds for those sides alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.inference.rows import TokenRow

LENGTHS = re.compile(
    r"(sliding_|attention_|keep_|local_attention_|lsh_attn_|local_attn_|mamba_|index_)?"
    r"(window|window_size|window_len|chunk_size|chunk_length|block_size|topk)"
    r"|local_attention|compress_rates?|max_inference_chunksize|context_len"
    r"|original_max_position_embeddings|floor_scale|log_scaling_n_floor"
)
"""Names of such lengths in the configurations of transformers."""

Side = tuple[int, int, int]
"""The numbers of boundaries below a row's shared beginning, its context and its longest option."""


def boundaries(config: Any) -> tuple[int, ...]:
    """The boundaries of a model: texts up to such a length and longer ones may be computed in different ways.

    A window or a chunk has two: it ends, and the one after it does. Scales change one token earlier (``floor_scale``).
    """
    found = set(_lengths(config.get_text_config().to_dict()))
    return tuple(sorted({edge for length in found for edge in (length - 1, length, 2 * length) if edge > 1}))


def side(row: TokenRow, edges: Sequence[int], *, shared: int) -> Side:
    """Where a row that begins with ``shared`` common tokens lies between the boundaries."""
    return (
        bisect_left(edges, shared),
        bisect_left(edges, len(row.context)),
        bisect_left(edges, row.whole_length),
    )


def _lengths(values: Mapping[str, Any], *, inside: bool = False) -> Iterator[int]:
    """The values of all names that are lengths, and those in dictionaries with such a name."""
    for name, value in values.items():
        is_length = inside or bool(LENGTHS.fullmatch(str(name)))
        if isinstance(value, Mapping):
            yield from _lengths(value, inside=is_length)
        elif is_length and isinstance(value, int | float):
            yield int(value)
