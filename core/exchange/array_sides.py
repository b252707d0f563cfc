"""Which rows of numpy arrays calibrate and which test: arrays of two sides, arrays of row numbers, or one of words."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError
from core.records import Role
from core.tables.field_names import ROLES, SPLIT_NAMES, TRAINING
from core.tables.safe_read import shown

Arrays = dict[str, np.ndarray[Any, np.dtype[Any]]]
WORDS = re.compile(r"[A-Za-z]+")
ROW_NUMBERS = ("idx", "index", "indices", "ind", "rows")


def sides(arrays: Arrays, path: Path) -> tuple[Arrays, tuple[Role, ...], int]:
    """The arrays with a row for each question that calibrates or tests, the role of each (none if nothing says it), and
    how many training rows are left out. Arrays such as ``cal_probs`` and ``test_probs`` become one, ``probs``. Raises
    :class:`InputError` where they do not fit together."""
    named: dict[str, dict[str, str]] = {}
    for name in arrays:
        words = [word for word in WORDS.findall(name) if word.lower() in ROLES or word.lower() in TRAINING]
        if len(words) == 1:
            rest = re.sub(r"^[_ .-]+|[_ .-]+$", "", re.sub(rf"[_ .-]*{words[0]}[_ .-]*", "_", name, count=1))
            named.setdefault(words[0].lower(), {})[rest] = name
    trained = {word: own for word, own in named.items() if word in TRAINING}
    others = {
        word: own for word, own in named.items() if word not in TRAINING and ROLES[word] in ("calibration", "test")
    }
    calibrating = [word for word in others if ROLES[word] == "calibration"]
    testing = [word for word in others if ROLES[word] == "test"]
    if trained and not others and not _whole(arrays, named):
        raise InputError(f"{path}: expected rows that calibrate or test, found only training rows, which do neither")
    if len(calibrating) > 1 or len(testing) > 1:
        raise InputError(
            f"{path}: expected one side that calibrates and one that tests, found {shown(', '.join(others))}; leave "
            "out the others"
        )
    left_out = sum(_rows(arrays, own) for own in trained.values())
    rest_of_arrays = {
        name: array for name, array in arrays.items() if not any(name in own.values() for own in named.values())
    }
    if not others:
        return _by_words(arrays, path)
    if calibrating and testing:
        cal, test = others[calibrating[0]], others[testing[0]]
        if set(cal) & set(ROW_NUMBERS) & set(test):
            return _by_numbers(rest_of_arrays, arrays, cal, test, path)
        for rest in cal:
            if rest in test:
                rest_of_arrays[rest or "values"] = _joined(arrays, cal[rest], test[rest], path)
        return rest_of_arrays, _roles(_rows(arrays, cal), _rows(arrays, test)), left_out
    if trained:  # the only other side is split as any file
        (own,) = others.values()
        return rest_of_arrays | {rest or "values": arrays[name] for rest, name in own.items()}, (), left_out
    return _by_words(arrays, path)


def side_of(name: str) -> str:
    """What the rows of an array are for by its name: a role, ``training``, or nothing.

    >>> side_of("cal_probs"), side_of("y_test"), side_of("x_train"), side_of("logits")
    ('calibration', 'test', 'training', '')
    """
    sides = {
        "training" if word.lower() in TRAINING else str(ROLES[word.lower()])
        for word in WORDS.findall(name)
        if word.lower() in TRAINING or ROLES.get(word.lower()) in ("calibration", "test")
    }
    return sides.pop() if len(sides) == 1 else ""


def without_side(name: str) -> str:
    """An array's name without the words that say what its rows are for."""
    words = [word for word in re.split(r"[_ .-]+", name) if not side_of(word)]
    return "_".join(words)


def _whole(arrays: Arrays, named: dict[str, dict[str, str]]) -> bool:
    """Whether arrays of scores are of no side, so that a name such as ``fit`` says nothing of rows."""
    sided = {name for own in named.values() for name in own.values()}
    return any(array.ndim >= 2 for name, array in arrays.items() if name not in sided)


def _rows(arrays: Arrays, own: dict[str, str]) -> int:
    return max((array.shape[-2] for name in own.values() if (array := arrays[name]).ndim >= 2), default=0) or max(
        (len(arrays[name]) for name in own.values() if arrays[name].ndim), default=0
    )


def _joined(arrays: Arrays, cal: str, test: str, path: Path) -> np.ndarray[Any, np.dtype[Any]]:
    first, second = arrays[cal], arrays[test]
    if first.ndim != second.ndim or not first.ndim or first.shape[1:] != second.shape[1:]:
        raise InputError(
            f"{path}: expected {cal} and {test} with as many options, found the shapes {first.shape} and {second.shape}"
        )
    return np.concatenate([first, second])


def _by_numbers(
    named_arrays: Arrays, arrays: Arrays, cal: dict[str, str], test: dict[str, str], path: Path
) -> tuple[Arrays, tuple[Role, ...], int]:
    """The rows whose numbers two arrays list; the others are left out."""
    rest = next(name for name in ROW_NUMBERS if name in cal and name in test)
    own = [arrays[side[rest]] for side in (cal, test)]
    n = max((array.shape[-2] for array in named_arrays.values() if array.ndim >= 2), default=0)
    rows = np.concatenate([array.reshape(-1) for array in own])
    if (
        any(array.dtype.kind not in "iu" for array in own)
        or ((rows < 0) | (rows >= n)).any()
        or len({*rows}) < len(rows)
    ):
        raise InputError(
            f"{path}: expected row numbers from 0 to {n - 1} in {cal[rest]} and {test[rest]}, each once, found others"
        )
    roles = _roles(own[0].size, own[1].size)
    return {name: _taken(array, rows, n) for name, array in named_arrays.items()}, roles, n - len(rows)


def _roles(calibrating: int, testing: int) -> tuple[Role, ...]:
    roles: list[Role] = ["calibration"] * calibrating
    roles += ["test"] * testing
    return tuple(roles)


def _by_words(arrays: Arrays, path: Path) -> tuple[Arrays, tuple[Role, ...], int]:
    """The roles that an array of words says, without the training rows."""
    name = next((name for name in arrays if name.lower() in SPLIT_NAMES and _are_words(arrays[name])), "")
    if not name:
        return arrays, (), 0
    words = [str(word).strip().lower() for word in arrays[name].tolist()]
    if len(set(words)) < 2 or not any(word in ROLES or word in TRAINING for word in words):
        return {key: array for key, array in arrays.items() if key != name}, (), 0
    odd = next((i for i, word in enumerate(words) if word not in ROLES and word not in TRAINING), None)
    if odd is not None:
        raise InputError(f"{path}, row {odd + 1}: expected calibration or test in {name!r}, found {shown(words[odd])}")
    rows = np.flatnonzero([word not in TRAINING for word in words])
    roles = tuple(ROLES[words[row]] for row in rows)
    evaluated = {key: _taken(array, rows, len(words)) for key, array in arrays.items() if key != name}
    return evaluated, roles if len(set(roles)) > 1 else (), len(words) - len(rows)


def _are_words(array: np.ndarray[Any, np.dtype[Any]]) -> bool:
    return array.ndim == 1 and array.size > 1 and array.dtype.kind == "U"


def _taken(array: np.ndarray[Any, np.dtype[Any]], rows: np.ndarray[Any, np.dtype[Any]], n: int) -> Any:
    """Some rows of an array of n rows; other arrays, such as names, stay as they are."""
    if array.ndim >= 2 and array.shape[-2] == n:
        return array[..., rows, :]
    return array[rows] if array.ndim == 1 and len(array) == n else array
