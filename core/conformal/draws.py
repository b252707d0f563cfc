"""Random numbers that the browser draws too, bit for bit.

Each number is a hash of where it is for: of a place (a row of a run's file, a cluster), a seed, a purpose and the
count of the draw. So it needs no state and no order, a part of the rows gets the numbers that it has in the whole, and
``app/components/shared/random_numbers.js`` has the same ones with 32-bit whole numbers alone. For one seed, purpose
and draw hashes of unlike places are unlike: the hash permutes the 2³² numbers. Seeds count modulo 2³².

The mixing steps are xor-shifts and odd products whose constants were searched for by how evenly each input bit flips
each output bit (C. Wellons, *hash-prospector*, 2018–2022); two rounds with unlike keys are used.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.records import BoolArray, FloatArray, IntArray

WORD = 1 << 32
UNIFORMS, SPLIT, FEWER, TUNING, REDRAW, FITTING = range(1, 7)
"""What numbers are drawn for; unlike purposes have nothing to do with each other. The browser fits nothing."""

Words = npt.NDArray[np.uint32]


def _stir(x: Words) -> Words:
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x21F0AAAD)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x735A2D97)
    return x ^ (x >> np.uint32(15))


def _word(value: int) -> Words:
    return np.array([value % WORD], dtype=np.uint32)


def hashes(places: IntArray, *, seed: int, purpose: int, draw: int = 0) -> Words:
    """A number from 0 to 2³² − 1 for each place, of the same shape; unlike places have unlike ones."""
    first = _stir(_stir(_stir(_word(purpose)) ^ _word(seed)) + _word(draw))
    second = _stir(first + _word(purpose))
    return _stir(_stir(np.asarray(places).astype(np.uint32) ^ first) + second)


def uniforms(places: IntArray, *, seed: int) -> FloatArray:
    """A number in [0, 1) with 53 bits for each place."""
    high, low = (hashes(places, seed=seed, purpose=UNIFORMS, draw=draw).astype(np.int64) for draw in (0, 1))
    return np.asarray((high * (1 << 21) + (low >> 11)) / (1 << 53), dtype=np.float64)


def first_part(places: IntArray, size: int, *, seed: int, purpose: int, draw: int = 0) -> BoolArray:
    """Which rows are in a random part of ``size`` of them, (n,); rows of one place are in it together or not at all.

    The part is that of the rows whose place has one of the least hashes. Where its end falls among rows of one place,
    all of them are in it, and it is larger than ``size``.
    """
    drawn = hashes(places, seed=seed, purpose=purpose, draw=draw)
    if size < 1:
        return np.zeros(len(drawn), dtype=np.bool_)
    return np.asarray(drawn <= np.partition(drawn, size - 1)[size - 1], dtype=np.bool_)
