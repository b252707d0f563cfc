"""Lengths at which a model may change its arithmetic, read from its configuration: the end of a sliding window, of a
chunk of attention or of a recurrence, the length from which other frequencies or another scale are taken.

A scoring path that is right on one side of such a length may be wrong on the other. So a self-check tries rows of every
side that a run has, and its verdict holds for those sides alone.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LENGTHS = re.compile(
    r"(sliding_|attention_|keep_|local_attention_|lsh_attn_|local_attn_|mamba_|index_)?"
    r"(window|window_size|window_len|chunk_size|chunk_length|block_size|topk)"
    r"|local_attention|compress_rates?|max_inference_chunksize|context_len"
    r"|original_max_position_embeddings|floor_scale|log_scaling_n_floor"
)
"""Names of such lengths in the configurations of transformers."""

Side = tuple[int, ...]
"""The numbers of boundaries below the lengths of a row's parts: the shared beginning, the context and the whole row."""


def boundaries(config: Any) -> tuple[int, ...]:
    """The boundaries of a model: texts up to such a length and longer ones may be computed in different ways.

    A window or a chunk has two: it ends, and the one after it does. Scales change one token earlier (``floor_scale``).
    """
    lengths = set(_lengths(config.get_text_config().to_dict()))
    return tuple(sorted({edge for length in lengths for edge in (length - 1, length, 2 * length) if edge > 1}))


def side(edges: Sequence[int], *lengths: int) -> Side:
    """Where a row lies between the boundaries.

    >>> side((64, 128), 40, 64, 65)
    (0, 0, 1)
    """
    return tuple(bisect_left(edges, length) for length in lengths)


def ends_of_sides(sides: Sequence[Side], lengths: Sequence[int]) -> set[int]:
    """The places of the shortest and the longest row of each side; none if all rows are on one side.

    >>> ends_of_sides([(0,), (1,), (1,), (1,)], [3, 7, 8, 9]), ends_of_sides([(0,), (0,)], [3, 4])
    ({0, 1, 3}, set())
    """
    if len(set(sides)) < 2:
        return set()
    places = sorted(range(len(sides)), key=lambda i: lengths[i])
    return {*{sides[i]: i for i in places}.values(), *{sides[i]: i for i in reversed(places)}.values()}


def _lengths(values: Mapping[str, Any], *, inside: bool = False) -> Iterator[int]:
    """The values of all names that are lengths, and those in dictionaries with such a name."""
    for name, value in values.items():
        is_length = inside or bool(LENGTHS.fullmatch(str(name)))
        if isinstance(value, Mapping):
            yield from _lengths(value, inside=is_length)
        elif is_length and isinstance(value, int | float):
            yield int(value)
