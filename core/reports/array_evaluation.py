"""An evaluation of probabilities and labels from a notebook or another harness, without a stored run."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.conformal.alpha import number
from core.conformal.clusters import joined
from core.conformal.draws import SPLIT, first_part
from core.errors import InputError, shown_value
from core.records import BoolArray, IntArray
from core.reports.array_inputs import (
    as_array,
    check_index,
    labelled,
    names_of_options,
    read_groups,
    read_labels,
    read_probabilities,
)
from core.reports.evaluation import Evaluation, calibrating
from core.runs.caveats import Caveat, Caveats, frequencies_caveat, picked
from core.runs.spec import RunSpec

ORIGIN = "table"
MOST_SHARE = 0.999
"""The largest share that a run can be asked to calibrate on; all rows with a label may calibrate."""


def of_arrays(
    probabilities: Any,
    labels: Any,
    *,
    calibration: float | Sequence[int] | npt.NDArray[Any] = 0.5,
    clusters: Any = None,
    groups: Any = None,
    classes: Any = None,
    values: str = "probabilities",
    ordered: bool = False,
    seed: int = 0,
    name: str = "arrays",
) -> Evaluation:
    """The evaluation of probabilities (n, k) and labels (n,), each 0-based or the name of a class. A row may end in NaN
    for options that its question lacks.

    ``calibration`` is the share of questions that calibrate, drawn with ``seed``, or their row numbers, or a mask (n,)
    of true and false, or of 1 and 0. All others test. ``clusters`` (n,), numbers or names, say which rows repeat a
    question or belong together: these stay on one side of a drawn split, one random row of each calibrates, and they
    count as one in every interval. ``groups`` (n,) name the rows' groups. ``classes`` (k,) name the columns, and
    ``values`` says what the numbers are (:func:`~core.reports.array_inputs.read_probabilities`), and ``ordered`` that
    the columns are ordered levels. Rows without a label
    neither calibrate nor test (:func:`new_rows`). ``name`` is the name of the questions. Raises :class:`InputError` for
    invalid probabilities or labels, a split that can't be read, or one whose calibration side is empty, or its test
    side where every row has a label.

    >>> run = of_arrays([[0.9, 0.1], [0.2, 0.8]], [0, 1], calibration=[0])
    >>> run.calibration.tolist(), run.test.tolist()
    ([0], [1])
    """
    seed = check_seed(seed)
    read = read_probabilities(probabilities, classes=classes, values=values, labels=labels)
    p, counts = read.probabilities, read.counts
    n, k = p.shape
    y = read_labels(labels, read)
    beyond = np.flatnonzero(y >= counts)
    if len(beyond):
        raise InputError(f"label {int(y[beyond[0]])} of row {beyond[0]} is an option that its question lacks (NaN)")
    there = labelled(y)
    if not there.any():
        raise InputError("no row has a label; the rows that calibrate need one")
    joint = None if clusters is None else joined([name or None for name in read_groups(clusters, read, "clusters")])
    check_index(calibration, read, "rows that calibrate")
    calibrates = _split(calibration, np.arange(n) if joint is None else joint, there, seed)
    n_labelled = int(there.sum())
    tests = there & ~calibrates
    if not calibrates.any() or not (tests.any() or n_labelled < n):
        raise InputError(
            f"{calibrates.sum()} of {n_labelled} questions calibrate and {tests.sum()} test; each side needs at least 1"
        )
    own, left_out = calibrating(np.flatnonzero(calibrates), np.flatnonzero(~calibrates), joint, seed=seed)
    if len(own) == 0:
        raise InputError("each cluster that calibrates also tests; keep the rows of a cluster on one side of the split")
    digest = hashlib.sha256(np.ascontiguousarray(p).data)
    digest.update(y.tobytes() + calibrates.tobytes())
    share = float(calibrates.sum() / n_labelled)
    return Evaluation(
        run_id=f"arrays-{digest.hexdigest()[:10]}",
        spec=RunSpec(
            model=name,
            task=name,
            seed=seed,
            calibration_share=min(share, MOST_SHARE),
            origin=ORIGIN,
            fingerprint=digest.hexdigest()[:16],
        ),
        ids=np.array([str(row + 1) for row in range(n)]),
        groups=np.full(n, "") if groups is None else np.array(read_groups(groups, read, "groups", complete=True)),
        probabilities=p,
        log_probabilities=read.log_probabilities,
        labels=np.maximum(y, 0),
        calibration=own,
        test=np.flatnonzero(tests),
        letters=names_of_options(read.names, k),
        classes=bool(read.names),
        counts=counts,
        clusters=joint,
        left_out=left_out,
        recorded=(*_without_label(n - n_labelled), *_of_picks(read.samples)),
        samples=read.samples,
        ordered=bool(ordered),
    )


def new_rows(run: Evaluation) -> IntArray:
    """The rows without a label, in an evaluation of arrays: those that neither calibrate nor test."""
    used = np.concatenate([run.calibration, run.left_out, run.test])
    return np.setdiff1d(np.arange(len(run.labels)), used)


def _without_label(rows: int) -> Caveats:
    if not rows:
        return ()
    have = f"{rows:,} row{' has' if rows == 1 else 's have'}"
    return (Caveat("unlabelled", f"{have} no label and count in no figure."),)


def _of_picks(samples: IntArray | None) -> Caveats:
    return () if samples is None else (frequencies_caveat(picked(samples), int(samples.max())),)


def check_seed(seed: Any) -> int:
    """The seed as an integer. Raises :class:`InputError` for anything else than a whole number."""
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)):
        raise InputError(f"the seed must be a whole number, got {shown_value(seed)} ({type(seed).__name__})")
    return int(seed)


def check_share(share: Any) -> float:
    """The share of questions that calibrate. Raises :class:`InputError` if it is no number in (0, 1)."""
    value = number(share, "the share of questions that calibrate")
    if not 0 < value < 1:
        raise InputError(f"the share of questions that calibrate must lie in (0, 1), got {value:g}; try 0.5")
    return value


def _split(
    calibration: float | Sequence[int] | npt.NDArray[Any], places: IntArray, there: BoolArray, seed: int
) -> BoolArray:
    """Which questions calibrate, (n,); those of one place (n,) are drawn together, from those ``there``, with a
    label."""
    n = len(places)
    given = as_array(calibration, "calibration rows")
    if given.ndim == 0:
        if given.dtype.kind not in "uif":
            raise InputError(
                f"calibration must be a share, a mask, or row numbers, got {str(calibration)[:80]!r} "
                f"({type(calibration).__name__})"
            )
        calibrates = np.zeros(n, dtype=np.bool_)
        size = round(check_share(given) * int(there.sum()))
        calibrates[there] = first_part(places[there], size, seed=seed, purpose=SPLIT)
        return calibrates
    if given.dtype == np.bool_:
        if given.shape != (n,):
            raise InputError(f"the mask of calibration questions has shape {given.shape}; expected ({n},)")
        calibrates = given.copy()
    elif given.ndim != 1 or not np.issubdtype(given.dtype, np.integer) or ((given < 0) | (given >= n)).any():
        raise InputError(f"calibration must be a share, a mask, or row numbers from 0 to {n - 1}")
    elif len(given) == n and (given <= 1).all():  # as row numbers, no n of them leave a question to test
        calibrates = np.asarray(given == 1, dtype=np.bool_)
    else:
        rows, counts = np.unique(given, return_counts=True)
        if (counts > 1).any():
            raise InputError(f"calibration names row {rows[counts > 1][0]} more than once; name each row once")
        calibrates = np.zeros(n, dtype=np.bool_)
        calibrates[given] = True
    if (calibrates & ~there).any():
        row = int(np.argmax(calibrates & ~there))
        raise InputError(f"row {row} calibrates, but it has no label; leave it out of calibration")
    return calibrates
