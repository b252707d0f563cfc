"""Probabilities, labels and names as notebooks have them: arrays, tensors, data frames, categories, lists."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.conformal.probabilities import (
    ROW_SUM_TOLERANCE,
    SUM_WITHIN,
    frequencies,
    in_double,
    log,
    log_softmax,
    row_blocks,
    softmax,
    sum_within,
)
from core.errors import InputError, shown_value
from core.questions.identity import cluster_name
from core.records import OPTION_NAMES, BoolArray, FloatArray, IntArray

MOST_CLASSES = 1000
VALUES = ("probabilities", "logits", "counts")
PER_CENT = 100
FIRST_ROWS = 5
CERTAIN = 3
"""A deviation of this many standard errors is not chance."""


@dataclass(frozen=True, slots=True)
class ClassProbabilities:
    """Probabilities (n, k) with 0 for options that a question lacks, their logarithms, and how many options each
    question has, (n,).

    ``names`` (k,) are the classes' names as they were given; empty if there are none. ``index`` is that of a data
    frame's rows. ``samples`` (n,) are the numbers of picks where probabilities are their frequencies.
    """

    probabilities: FloatArray
    log_probabilities: FloatArray
    counts: IntArray
    names: tuple[Any, ...]
    index: Any = None
    samples: IntArray | None = None


def read_probabilities(
    given: Any, *, classes: Any = None, values: str = "probabilities", labels: Any = None
) -> ClassProbabilities:
    """The probabilities (n, k) of n questions and 2 to 1,000 classes, or one column, (n,) or (n, 1), of class 1.

    ``classes`` (k,) are the names of the columns; a data frame has its own, unless it only counts its columns.
    ``values`` says whether the numbers are probabilities, logits or counts of a model's picks. Raises
    :class:`InputError` for anything else.
    """
    if not isinstance(values, str) or values not in VALUES:
        raise InputError(f"unknown values {shown_value(values)}; choose from {', '.join(VALUES)}")
    p, counts = _numbers(as_array(given, "probabilities"), values)
    names = given_names(given, classes, labels, p.shape[1])
    samples = None
    if values == "counts":
        p, samples = _frequencies(p)
        logs = log(p)
    elif values == "logits":
        with np.errstate(over="ignore"):
            p, logs = softmax(p), log_softmax(p)
    else:
        p = _checked(p)
        logs = log(p)
    index = getattr(given, "index", None) if hasattr(given, "loc") else None
    return ClassProbabilities(p, logs, counts, names, index, samples)


def given_names(given: Any, classes: Any, labels: Any, k: int) -> tuple[Any, ...]:
    """The names of k columns: ``classes``, else those of a data frame, else the categories of labels if they are
    sorted, as classifiers sort them; empty without any. Raises :class:`InputError` for others than k different texts or
    numbers."""
    if classes is not None:
        return _class_names(classes, k)
    names = _column_names(given)
    if len(names) == k:  # the name of one column is not one of its two classes
        return _class_names(names, k)
    categories = getattr(getattr(labels, "cat", labels), "categories", None)
    if categories is None or not hasattr(categories, "tolist"):
        return ()
    own = tuple(categories.tolist())
    try:
        in_order = own == tuple(sorted(own))
    except TypeError:
        in_order = False
    return _class_names(own, k) if in_order and len(own) == k and own != tuple(range(k)) else ()


def as_array(values: Any, what: str) -> npt.NDArray[Any]:
    """Anything that is an array, a tensor, a data frame, a series or a list, as an array of NumPy. Raises
    :class:`InputError` for other things."""
    try:
        if type(values).__module__.split(".")[0] == "scipy" and hasattr(values, "toarray"):
            values = values.toarray()
        if isinstance(values, (list, tuple)) and values and hasattr(values[0], "detach"):
            values = [_of_torch(tensor) for tensor in values]
        if hasattr(values, "detach") and hasattr(values, "cpu"):
            values = _of_torch(values)
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values, np.nan) if values.dtype.kind == "f" else values.tolist()
        array = np.asarray(values)
        if array.dtype.name == "bfloat16":  # of JAX
            array = array.astype(np.float32)
    except Exception as error:  # other people's conversions raise whatever they like
        raise InputError(f"the {what} are no array of numbers: {' '.join(str(error).split())[:120]}") from error
    return array


def _of_torch(tensor: Any) -> npt.NDArray[Any]:
    tensor = tensor.detach().cpu()
    if str(tensor.dtype) == "torch.bfloat16":
        tensor = tensor.float()
    return np.asarray(tensor.numpy())


def _column_names(values: Any) -> tuple[Any, ...]:
    """The names of a data frame's columns; empty if it has none, or if they only count the columns."""
    if getattr(values, "ndim", 2) != 2:  # a series has no columns
        return ()
    columns = getattr(values, "column_names", getattr(values, "columns", None))  # of pyarrow, and of all others
    if columns is None or isinstance(columns, (str, bytes)) or any(not hasattr(name, "__hash__") for name in columns):
        return ()
    names = tuple(getattr(columns, "tolist", lambda: list(columns))())
    if any(not isinstance(name, (str, int, float, bool, np.generic)) for name in names):
        raise InputError(
            f"the columns have names such as {shown_value(names[0])}; give classes=, one name for each column"
        )
    counted = (tuple(range(len(names))), tuple(f"column_{j}" for j in range(len(names))))
    return () if names in counted else names


def _class_names(classes: Any, k: int) -> tuple[Any, ...]:
    if isinstance(classes, (str, bytes)):
        raise InputError(f"classes must be a list of {k} names, got {shown_value(classes)}")
    array = as_array(list(classes) if isinstance(classes, (tuple, range)) else classes, "classes")
    if array.ndim != 1 or len(array) != k:
        raise InputError(
            f"classes have shape {array.shape} for {k} columns of probabilities; give {k} names, in the order of the "
            "columns"
        )
    names = tuple(_plain(name) for name in array.tolist())
    texts = [class_text(name) for name in names]
    if any(_missing(name) for name in names):
        raise InputError("a class has no name; give one to each column")
    if any(not isinstance(name, (str, int, float)) for name in names):
        raise InputError("the names of classes must be texts or numbers")
    if len(set(texts)) < k:
        again = next(text for text in texts if texts.count(text) > 1)
        raise InputError(f"two classes are called {shown_value(again)}; give each column its own name")
    return names


def _plain(value: Any) -> Any:
    """A cell as Python has it: bytes as text, whole floats as integers."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def class_text(name: Any) -> str:
    """The name of a class as text, on one line."""
    return " ".join(str(name).split())


def _missing(value: Any) -> bool:
    """Whether a label is that of no class: None, NaN, pandas' NA, an empty text."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, str) and not value.strip())


def _row(values: FloatArray) -> str:
    """The first numbers of a row, for a message."""
    first = ", ".join(f"{value:.6g}" for value in values[:FIRST_ROWS].tolist())
    return f"[{first}{', …' if len(values) > FIRST_ROWS else ''}]"


def _numbers(given: npt.NDArray[Any], values: str) -> tuple[FloatArray, IntArray]:
    """Numbers (n, k), with 0 (−inf in logits) for options that a question lacks, and how many options it has, (n,)."""
    shape = given.shape
    expected = f"expected (n, k) with 2 to {MOST_CLASSES:,} classes, or one column of probabilities of class 1"
    if given.dtype.kind not in "buifO":
        raise InputError(f"the probabilities are no array of numbers: their type is {given.dtype}")
    if given.ndim not in (1, 2) or given.size == 0 or (not shape[-1] <= MOST_CLASSES and given.ndim == 2):
        raise InputError(f"probabilities have shape {shape}; {expected}")
    one_column = given.ndim == 1 or shape[1] == 1
    if one_column and values == "counts":
        raise InputError(f"counts have shape {shape}; expected a column for each of 2 to {MOST_CLASSES:,} classes")
    if one_column and given.dtype.kind in "bui":
        raise InputError(
            f"probabilities have shape {shape} and are whole numbers, as decisions are; give what predict_proba gives"
        )
    try:
        p = in_double(given if given.dtype.kind == "f" else given.astype(np.float64))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"the probabilities are no array of numbers: {' '.join(str(error).split())[:120]}") from error
    if np.isposinf(p).any():
        raise InputError(f"row {int(np.argmax(np.isposinf(p.reshape(len(p), -1)).any(axis=1)))} has an infinite number")
    if one_column:
        own = p.reshape(-1)
        if np.isnan(own).any():
            raise InputError(f"row {int(np.argmax(np.isnan(own)))} of the probabilities has none (NaN)")
        # A logit z of class 1 is a logit of 0 for class 0.
        return np.stack([np.zeros(len(own)) if values == "logits" else 1 - own, own], axis=1), np.full(len(own), 2)
    lacking = np.isnan(p)
    counts = np.full(len(p), p.shape[1], dtype=np.int64)
    if lacking.any():
        counts = np.asarray((~lacking).sum(axis=1), dtype=np.int64)
        wrong = np.flatnonzero((lacking != (np.arange(p.shape[1]) >= counts[:, None])).any(axis=1) | (counts < 2))
        if len(wrong):
            raise InputError(
                f"row {wrong[0]} of the probabilities is {_row(p[wrong[0]])}; NaN may only stand at its end, after at "
                "least 2 options"
            )
        p = np.where(lacking, -np.inf if values == "logits" else 0.0, p)
    if values == "logits" and np.isneginf(p).all(axis=1).any():
        raise InputError(f"row {int(np.argmax(np.isneginf(p).all(axis=1)))} of the logits rules every class out")
    return p, counts


def _frequencies(counts: FloatArray) -> tuple[FloatArray, IntArray]:
    """The shares (n, k) of counts of picks, and the number of each row's picks, (n,)."""
    bad = ((counts < 0) | (np.mod(counts, 1) != 0)).any(axis=1) | (counts.sum(axis=1) == 0)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"row {row} of the counts is {_row(counts[row])}; picks are counted in whole numbers, at least one in a row"
        )
    if counts.sum(axis=1).max() < 2:
        raise InputError("every row counts one pick, and the share of a single pick is no frequency; ask several times")
    return frequencies(counts.astype(np.int64))


def _checked(p: FloatArray) -> FloatArray:
    """The probabilities, rows that do not sum to 1 within 1e-6 divided by their sums, which are near 1."""
    sums, bad = np.empty(len(p)), np.empty(len(p), dtype=np.bool_)
    for rows in row_blocks(len(p), p.shape[1]):
        sums[rows] = p[rows].sum(axis=1)
        inside = (p[rows].min(axis=1) >= -ROW_SUM_TOLERANCE) & (p[rows].max(axis=1) <= 1 + SUM_WITHIN)
        bad[rows] = ~inside | ~(abs(sums[rows] - 1) <= SUM_WITHIN)
    if bad.any() and (within := sum_within(p)) > SUM_WITHIN:  # looked at only where it matters
        bad = (p.min(axis=1) < -ROW_SUM_TOLERANCE) | (p.max(axis=1) > 1 + SUM_WITHIN) | ~(abs(sums - 1) <= within)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"row {row} of the probabilities is {_row(p[row])}, with sum {sums[row]:.6g}; probabilities lie in [0, 1] "
            f"and sum to 1{_way_out(p, sums)}"
        )
    if (off := abs(sums - 1) > ROW_SUM_TOLERANCE).any():
        p = np.where(off[:, None], p / sums[:, None], p)
    if p.min() < 0 or p.max() > 1:  # by a rounding error, as 1 − p may be
        p = np.clip(p, 0, 1)
    return p


def _way_out(p: FloatArray, sums: FloatArray) -> str:
    """Advice for numbers that are not probabilities, by their range."""
    if (p >= 0).all() and (np.mod(p, 1) == 0).all() and (sums >= 2).mean() > 0.5:
        if (sums == PER_CENT).all():
            return '; divide per cent by 100, and say values="counts" for counts of picks'
        return '; counts of picks are read with values="counts", and logits with values="logits"'
    if (p >= 0).all() and (abs(sums - PER_CENT) <= PER_CENT * SUM_WITHIN).mean() > 0.5:
        return "; divide per cent by 100"
    if (p >= 0).all() and (abs(p.sum(axis=0) - 1) <= SUM_WITHIN).all():
        return "; here the columns do, so transpose it"
    if (p >= 0).all() and (p <= 1).all():
        share = "divide each row by its sum if its classes exclude each other"
        return f"; these are rounded too far, or not of all classes: {share}"
    if (p <= 0).all():
        return '; log-probabilities are read with values="logits"'
    return '; decisions and logits of all classes are read with values="logits", which takes their softmax'


def read_labels(given: Any, p: ClassProbabilities) -> IntArray:
    """The place of the true class of each row, (n,), counted from 0, and −1 for rows without a label.

    Labels are the classes' names, or numbers from 0. None, NaN, pandas' NA, an empty text and −1 are no label. Raises
    :class:`InputError` for labels of another shape, and for those that are no class.
    """
    n, k = p.probabilities.shape
    check_index(given, p, "labels")
    array = as_array(given, "labels")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (n,):
        hint = ""
        if array.shape == (n, k):
            hint = "; of rows with a 1 for the true class, give labels.argmax(axis=1)"
        elif array.shape == (k,):
            hint = "; if the probabilities have a column for each question, transpose them"
        raise InputError(f"labels have shape {array.shape}; expected ({n},), one for each row of probabilities{hint}")
    if array.dtype.kind in "iu" and not p.names:
        return _numbered(array.astype(np.int64), p)
    cells = [_plain(cell) for cell in array.tolist()]
    names = p.names
    own = {name: place for place, name in enumerate(names)}
    texts = {class_text(name): place for place, name in enumerate(names)}
    labels = np.full(n, -1, dtype=np.int64)
    places: dict[Any, int] = {}
    for row, cell in enumerate(cells):
        try:
            if (place := places.get(cell)) is None:
                place = places[cell] = _place(cell, own, texts, k, where=f"label {shown_value(cell)} of row {row}")
        except TypeError:
            raise InputError(f"label {shown_value(cell)} of row {row} is neither a number nor a name") from None
        labels[row] = place
    return labels if names else _numbered(labels, p)


def _place(cell: Any, own: dict[Any, int], texts: dict[str, int], k: int, *, where: str) -> int:
    """The place of the class that a label names; −1 for none."""
    if own and not isinstance(cell, bool) and cell in own:
        return own[cell]
    if own and (text := class_text(cell)) in texts:
        return texts[text]
    if _missing(cell) or cell in (-1, "-1"):
        return -1
    if isinstance(cell, (bool, np.bool_)) and k == 2 and not own:
        return int(cell)
    if isinstance(cell, str) and not own and cell.strip().isdecimal():  # as an array of numbers and texts has them
        cell = int(cell)
    number = isinstance(cell, int) and not isinstance(cell, bool)
    if own and not (number and all(isinstance(name, str) and not _is_number(name) for name in own)):
        listed = ", ".join([*texts][:FIRST_ROWS]) + (", …" if k > FIRST_ROWS else "")
        raise InputError(f"{where} is not one of the {k} classes {listed}")
    if not number:
        raise InputError(
            f"{where} is no whole number from 0 to {k - 1}; if labels are names, give classes=, the names of the "
            "columns in their order (model.classes_ in scikit-learn)"
        )
    if not 0 <= cell < k:
        raise InputError(f"{where} is outside the {k} options; labels count from 0 to {k - 1}{_from_one(cell, k)}")
    return int(cell)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _from_one(label: int, k: int) -> str:
    return f"; if yours count from 1, give classes=range(1, {k + 1})" if label == k else ""


def _numbered(labels: IntArray, p: ClassProbabilities) -> IntArray:
    """Labels that count from 0, checked: those that seem to count from 1 are refused."""
    k = p.probabilities.shape[1]
    outside = (labels < -1) | (labels >= k)
    if outside.any():
        row = int(np.argmax(outside))
        label = int(labels[row])
        hint = _from_one(label, k)
        raise InputError(f"label {label} of row {row} is outside the {k} options; labels count from 0 to {k - 1}{hint}")
    there = labels >= 0
    if k == 2 and not p.names and not there.all() and there.any() and labels[there].min() == 1:
        raise InputError(
            "labels are -1 and 1, and -1 is no label here; give classes=[-1, 1] if it is the class of the first "
            "column, or None in its place"
        )
    if there.any() and labels[there].min() >= 1 and not p.names:
        top = p.probabilities[there].argmax(axis=1)
        right, shifted = int((top == labels[there]).sum()), int((top == labels[there] - 1).sum())
        if shifted - right > CERTAIN * math.sqrt(right + shifted):
            raise InputError(
                f"no label is 0, and {shifted:,} of {there.sum():,} rows are right if labels count from 1, but only "
                f"{right:,} if they count from 0; give classes=range(1, {k + 1}) or classes=range({k}) to say which"
            )
    return labels


def check_index(given: Any, p: ClassProbabilities, what: str) -> None:
    """Raise :class:`InputError` if a series has the index of the probabilities' rows, but in another order."""
    index = getattr(given, "index", None)
    if p.index is None or index is None or callable(index) or not hasattr(given, "loc"):
        return
    if len(index) == len(p.index) and not index.equals(p.index) and index.sort_values().equals(p.index.sort_values()):
        raise InputError(
            f"the {what} have the index of the probabilities in another order; give them with .reindex, or with "
            ".to_numpy() if their order is the right one"
        )


def read_groups(given: Any, p: ClassProbabilities, what: str, *, complete: bool = False) -> list[str]:
    """The name of each row's group, (n,), empty where a row has none. Raises :class:`InputError` for other shapes,
    and with ``complete`` for a row without a name."""
    n = len(p.probabilities)
    check_index(given, p, what)
    array = as_array(given, what)
    if array.shape != (n,) or array.dtype.kind not in "biufUSO":
        raise InputError(
            f"the {what} have shape {array.shape} and type {array.dtype}; give {n} numbers or names, one for each row"
        )
    names = ["" if _missing(cell) else cluster_name(_plain(cell)) for cell in array.tolist()]
    if complete and "" in names:
        raise InputError(f"row {names.index('')} has no group; give each row a number or a name")
    return names


def names_of_options(names: Sequence[Any], k: int) -> tuple[str, ...]:
    """The names of the k options: those of the classes, else letters, or numbers from 0 if there are too few
    letters."""
    if names:
        return tuple(class_text(name) for name in names)
    return OPTION_NAMES[:k] if k <= len(OPTION_NAMES) else tuple(str(place) for place in range(k))


def labelled(labels: IntArray) -> BoolArray:
    """Which rows have a label, (n,)."""
    return np.asarray(labels >= 0, dtype=np.bool_)
