"""Option probabilities (n, k) and labels (n,): softmax, input checks, ranking, and which figures are equal."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.records import BoolArray, FloatArray, IntArray, LogitArray, OptionLogits

ROW_SUM_TOLERANCE = 1e-6
SUM_WITHIN = 0.01
MOST_ROUNDED = 0.05
DECIMALS_END = 1e-9
"""1.01 − 1 is more than 0.01 in floats."""
GRID = 1e12
NEAR_AN_END = 1e-6
MOST_VOTES = 1000
FEW = 100
BLOCK = 1 << 17
"""How many numbers of a large array are worked on at a time: 1 MB of float64, which a processor's cache holds."""
NEXT_TO_IT = 1e-11
"""Values up to 1 that differ by more than this are different on the grid of 12 decimals."""
DECIMALS = range(5, 13)
"""Shares with more decimals than the first of these, and no more than the last, may have been cut."""
BY_CHANCE = 1e-3
PER_CENT = 100
SURELY = 0.01
TIES = ("later", "first")
"""Which of several equally probable options is ranked first."""


def row_blocks(n: int, k: int) -> Iterator[slice]:
    """Slices that are the n rows of an array (n, k) together, with about :data:`BLOCK` numbers in each.

    >>> list(row_blocks(3, BLOCK))
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    """
    step = max(1, BLOCK // max(k, 1))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def softmax(logits: LogitArray) -> FloatArray:
    """Probabilities (n, k) of logits (n, k), in float64; a logit of −inf is a probability of 0.

    >>> softmax(np.array([[0.0, 0.0]]))
    array([[0.5, 0.5]])
    """
    values = np.asarray(logits, dtype=np.float64)
    shifted = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True), dtype=np.float64)


def on_grid(values: FloatArray, *, share: FloatArray | None = None) -> FloatArray:
    """Values rounded to 12 decimals, ``⌊10¹² · value + ½⌋ / 10¹²``, in the same shape, so that values that differ only
    by rounding become equal.

    In float64, 0.6 − 0.2 is a little smaller than 0.4 − 0, although both are 0.4. A sum of a few probabilities is off
    by less than 10⁻¹⁵. So equal ones get the same value, for decimals and for shares such as votes, of up to a
    thousand. The order of two values never changes.

    A value that is less than 10⁻⁶ from 0 or 1, and not equal to it, is kept as it is: there, the tiny probabilities of
    a confident model decide, which the grid would make equal. If the values are probabilities and a cost, ``share`` has
    the probabilities alone, and this rule looks at them. The browser computes the same
    (``app/components/shared/scores/grid.js``).

    >>> bool(on_grid(np.array([0.6 - 0.2]))[0] == on_grid(np.array([0.4 - 0.0]))[0] == 0.4)
    True
    """
    values = np.asarray(values, dtype=np.float64)
    share = values if share is None else share
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = values * GRID
        rounded += 0.5
        np.floor(rounded, out=rounded)
        rounded /= GRID
        distance = share + 0.5
        np.floor(distance, out=distance)
        distance -= share
        np.abs(distance, out=distance)
        near = (distance > 0) & (distance < NEAR_AN_END)
    return np.where(near, values, rounded)


def in_double(values: npt.NDArray[Any]) -> FloatArray:
    """Numbers in float64, in the same shape.

    Shares of votes and rounded decimals in single precision get their digits back: if all values are multiples of 1/m
    for some m up to 1,000, as far as single precision can say, each becomes the nearest of these. In float32 0.6 is
    0.60000002, which would be in the bin above 0.6, and 0.6 − 0.2 would not be 0.4. The same holds for shares that were
    written with 6 to 12 decimals, as pandas writes JSON.

    >>> in_double(np.array([0.6, 0.2], dtype=np.float32)).tolist()
    [0.6, 0.2]
    >>> in_double(np.array([0.3333333333, 0.6666666667])).tolist() == [1 / 3, 2 / 3]
    True
    """
    wide: FloatArray = values.astype(np.float64)
    single = values.dtype in (np.float16, np.float32)
    few = wide.ravel()[:: 1 + wide.size // FEW]  # in most arrays, a few values show that there is no pattern
    few = few[np.isfinite(few)]
    if np.abs(few).max(initial=0) > PER_CENT or not (single or any((few.round(d) == few).all() for d in DECIMALS)):
        return wide
    known = np.unique(wide[np.isfinite(wide)])
    if not known.size or np.abs(known).max() > PER_CENT:
        return wide
    if single:
        within, written = float(np.finfo(values.dtype).eps) / 2, 0.0
    else:
        decimals = next((d for d in DECIMALS if (known.round(d) == known).all()), None)
        if decimals is None or decimals == DECIMALS[0]:
            return wide
        within, written = 0.0, 0.51 * 10.0**-decimals

    def is_multiple(x: FloatArray, m: npt.NDArray[np.int64]) -> BoolArray:
        """Whether each of x (…) is a multiple of 1/m, by all m (a,): (a, …)."""
        parts = np.multiply.outer(m, x)
        allowed = within * np.abs(parts) + np.multiply.outer(m, np.full_like(x, written))
        return np.asarray(np.abs(parts - np.rint(parts)) <= allowed)

    m = np.arange(1, min(MOST_VOTES, int(SURELY / max(within, written))) + 1)
    if written:  # few figures are multiples by chance, of some m up to m, in about this share of files
        fractions = int((known != np.rint(known)).sum())
        m = m[m * (2 * written * m) ** fractions <= BY_CHANCE]
    m = m[is_multiple(known[:: 1 + len(known) // FEW], m).all(axis=1)]
    shared = next((number for number in m.tolist() if is_multiple(known, np.array([number])).all()), None)
    return wide if shared is None else np.where(np.isfinite(wide), np.rint(wide * shared) / shared, wide)


def log(probabilities: FloatArray) -> FloatArray:
    """``log p`` in the same shape; −inf if p is 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities), dtype=np.float64)


def log_softmax(logits: LogitArray) -> FloatArray:
    """Log-probabilities (n, k) of logits (n, k), in float64: ``z − max z − log Σ exp(z − max z)``.

    They stay finite even if the probability itself is too small for a float64. A logit of −inf stays −inf.

    >>> log_softmax(np.array([[0.0, -1000.0]])).tolist()
    [[0.0, -1000.0]]
    """
    values = np.asarray(logits, dtype=np.float64)
    shifted = values - values.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)), dtype=np.float64)


def sum_within(values: FloatArray) -> float:
    """How far the sum of a row of probabilities (n, k) may be from 1, because they are rounded: 0.01, and up to 0.05 if
    all have two decimals, half a hundredth for each option.

    >>> sum_within(np.array([[0.125, 0.875]])), sum_within(np.full((1, 8), 0.12))
    (0.010000001, 0.040000001)
    """
    with np.errstate(over="ignore", invalid="ignore"):  # figures near the largest number are no probabilities
        hundredths = 100 * np.nan_to_num(values, nan=0.0, posinf=0.5, neginf=0.5)
        rounded = bool((np.abs(hundredths - np.rint(hundredths)) <= ROW_SUM_TOLERANCE).all())
    within = min(values.shape[1] / 200, MOST_ROUNDED) if rounded else 0.0
    return max(within, SUM_WITHIN) + DECIMALS_END


def option_shares(scored: OptionLogits) -> tuple[FloatArray, FloatArray]:
    """Each question's option probabilities (n, k) and their logarithms, in float64.

    Probabilities that the source gave stay as they are. A row that does not sum to 1 within 1e-6 (rounded figures, or
    those of a few letters among all tokens) is divided by its sum. Logits become probabilities by a softmax.
    """
    given = scored.probabilities
    if given is None:
        return softmax(scored.logits), log_softmax(scored.logits)
    sums = given.sum(axis=1, keepdims=True)
    p = np.where(np.abs(sums - 1) <= ROW_SUM_TOLERANCE, given, given / sums)
    return p, log(p)


def frequencies(counts: IntArray) -> tuple[FloatArray, IntArray]:
    """Each option's share of the picks of its question, (n, k), and the number of these picks, (n,).

    A share is one division of whole numbers, so equal shares are equal to the last bit, whatever they are shares of.

    >>> frequencies(np.array([[1, 2, 0]]))[0].tolist() == [[1 / 3, 2 / 3, 0.0]]
    True
    """
    samples = np.asarray(counts.sum(axis=1), dtype=np.int64)
    return np.asarray(counts / samples[:, None], dtype=np.float64), samples


def check_probabilities(probabilities: FloatArray) -> FloatArray:
    """The probabilities as float64 (n, k), each row in [0, 1] and summing to 1 within 1e-6.

    Raises :class:`InputError`, naming the first bad row, if there is one.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 2 or p.shape[1] < 2:
        raise InputError(f"probabilities have shape {p.shape}; expected (n, k) with at least 2 options")
    bad = ~np.isfinite(p).all(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"row {row} of the probabilities holds {p[row].tolist()}; every probability must be a number")
    bad = ((p < 0) | (p > 1 + ROW_SUM_TOLERANCE)).any(axis=1) | (abs(p.sum(axis=1) - 1) > ROW_SUM_TOLERANCE)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"row {row} of the probabilities is {p[row].tolist()}, with sum {p[row].sum():.6g}; "
            "probabilities lie in [0, 1] and sum to 1"
        )
    return p


def check_labels(labels: IntArray, *, n: int, k: int) -> IntArray:
    """The labels as int64 (n,), each a 0-based option index below k; raises :class:`InputError` otherwise."""
    y = np.asarray(labels)
    if y.shape != (n,) or not np.issubdtype(y.dtype, np.integer):
        raise InputError(f"labels have shape {y.shape} and type {y.dtype}; expected ({n},) whole numbers")
    outside = (y < 0) | (y >= k)
    if outside.any():
        row = int(np.argmax(outside))
        raise InputError(f"label {int(y[row])} of row {row} is outside the {k} options; labels count from 0 to {k - 1}")
    return y.astype(np.int64, copy=False)


def top_options(probabilities: FloatArray, *, ties: str = "later") -> IntArray:
    """The index of the most probable option of each row, (…) from (…, k); NaN means that a question lacks the option.

    If several options are equally probable (:func:`on_grid`), the last of them is taken. It has
    rank 1 in :func:`core.conformal.scores.ranks`. ``ties="first"`` takes the first of them, as the published tools do
    (:data:`core.conformal.published.TOP_TIES`). Raises :class:`InputError` for any other value of ``ties``.

    >>> top_options(np.array([[0.4, 0.2, 0.4]])), top_options(np.array([[0.4, 0.2, 0.4]]), ties="first")
    (array([2]), array([0]))
    """
    if ties not in TIES:
        raise InputError(f"unknown order of equal options {ties!r}; choose from {', '.join(TIES)}")
    p = np.asarray(probabilities, dtype=np.float64)
    k = p.shape[-1]
    rows, options = _top_places(p.reshape(-1, k))
    top = np.full(p.size // k, 0 if ties == "first" else k - 1)
    if ties == "first":
        rows, options = rows[::-1], options[::-1]
    top[rows] = options  # of several options of a row, the last one stays
    return np.asarray(top.reshape(p.shape[:-1]), dtype=np.int64)


def are_top(probabilities: FloatArray) -> BoolArray:
    """Whether each option is the most probable one, or equal to it (:func:`on_grid`), (…, k).

    >>> are_top(np.array([[0.4, 0.2, 0.4]])).tolist()
    [[True, False, True]]
    """
    p = np.asarray(probabilities, dtype=np.float64)
    top = np.zeros((p.size // p.shape[-1], p.shape[-1]), dtype=np.bool_)
    top[_top_places(p.reshape(top.shape))] = True
    return top.reshape(p.shape)


def _top_places(p: FloatArray) -> tuple[IntArray, IntArray]:
    """The rows and the options of all most probable options (:func:`are_top`), from (n, k), in their order."""
    # Rounding keeps the order of values, so only those next to the largest of a row can be equal to it.
    top = np.fmax.reduce(p, axis=1, keepdims=True)
    rows, options = np.nonzero(p >= top - NEXT_TO_IT * np.maximum(1, np.abs(top)))
    values = on_grid(p[rows, options])
    best = np.full(len(p), -np.inf)
    np.maximum.at(best, rows, values)
    equal = values == best[rows]
    return rows[equal], options[equal]


def top_shares(probabilities: FloatArray) -> FloatArray:
    """Each option's share of being the top option, (…, k): 1 for the most probable option, otherwise 0.

    If several options are equally and most probable (:func:`on_grid`), each has an equal share.

    >>> top_shares(np.array([[0.4, 0.2, 0.4]]))
    array([[0.5, 0. , 0.5]])
    """
    top = are_top(probabilities)
    return np.asarray(top / top.sum(axis=-1, keepdims=True), dtype=np.float64)
