"""Random numbers that are the same in Python and in the browser, bit for bit.

Each number is a hash of a place (a row of a run's file, or a cluster), a seed, a purpose and the number of the draw. So
it needs no state and no order, and a subset of the rows gets the same numbers as in the whole.
``app/components/shared/random_numbers.js`` computes the same numbers using 32-bit integers only. For one seed, purpose
and draw, different places have different hashes, because the hash is a permutation of the 2³² numbers. Seeds are taken
modulo 2³².

The mixing steps are xor-shifts and multiplications by odd constants. The constants were found by a search for how
evenly each input bit flips each output bit (C. Wellons, *hash-prospector*, 2018–2022). Two rounds with different keys
are used.
"""

import numpy as np
import numpy.typing as npt

from core.records import BoolArray, FloatArray, IntArray

WORD = 1 << 32
UNIFORMS, SPLIT, FEWER, TUNING, REDRAW, FITTING, ORDER, SMOOTHING, ONE_EACH = range(1, 10)
"""The purposes of random numbers. The numbers of different purposes are unrelated. The browser does not use FITTING."""

Words = npt.NDArray[np.uint32]


def _stir(x: Words) -> Words:
    # Each step can be inverted modulo 2³²: x ← (x ⊕ x ≫ s) · odd constant.
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x21F0AAAD)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x735A2D97)
    return x ^ (x >> np.uint32(15))


def _word(value: int) -> Words:
    return np.array([value % WORD], dtype=np.uint32)


def hashes(places: IntArray, *, seed: int, purpose: int, draw: int = 0) -> Words:
    """An integer from 0 to 2³² − 1 for each place, in the same shape; different places get different integers."""
    first = _stir(_stir(_stir(_word(purpose)) ^ _word(seed)) + _word(draw))
    second = _stir(first + _word(purpose))
    return _stir(_stir(np.asarray(places).astype(np.uint32) ^ first) + second)


def uniforms(places: IntArray, *, seed: int, purpose: int = UNIFORMS) -> FloatArray:
    """A number in [0, 1) with 53 random bits for each place, in the same shape."""
    # u = (32 bits of the first hash, then 21 bits of the second) / 2⁵³
    high, low = (hashes(places, seed=seed, purpose=purpose, draw=draw).astype(np.int64) for draw in (0, 1))
    return np.asarray((high * (1 << 21) + (low >> 11)) / (1 << 53), dtype=np.float64)


def first_part(places: IntArray, size: int, *, seed: int, purpose: int, draw: int = 0) -> BoolArray:
    """Whether each row is in a random subset of ``size`` rows, (n,); rows of one place are all in it or all out.

    The subset contains the rows whose places have the smallest hashes. If its end falls between rows of one place, all
    rows of that place are in it, and the subset is larger than ``size``.
    """
    drawn = hashes(places, seed=seed, purpose=purpose, draw=draw)
    if size < 1:
        return np.zeros(len(drawn), dtype=np.bool_)
    return np.asarray(drawn <= np.partition(drawn, size - 1)[size - 1], dtype=np.bool_)


def one_each(places: IntArray, clusters: IntArray, *, seed: int) -> BoolArray:
    """Whether each row is the one that stands for its cluster, (n,): the row whose place has the smallest hash.

    ``places`` (n,) are the rows of a run's file, and ``clusters`` (n,) number their clusters.
    """
    order = np.lexsort((hashes(places, seed=seed, purpose=ONE_EACH), clusters))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = clusters[order[1:]] != clusters[order[:-1]]
    stands = np.zeros(len(order), dtype=np.bool_)
    stands[order[first]] = True
    return stands
