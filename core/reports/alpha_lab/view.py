"""Views of a run: another split, fewer calibration questions, or no options E and F.

A view changes which rows calibrate, which rows test, and which options there are. Everything else is computed as for
the run itself. A view is part of a link, so it consists of a few small values.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.conformal.draws import FEWER, SPLIT, WORD, first_part
from core.conformal.probabilities import log, log_softmax
from core.errors import InputError
from core.questions.identity import cluster_name
from core.questions.near_duplicates import clusters
from core.records import DONT_KNOW, NONE_OF_ABOVE, FloatArray, IntArray, Question
from core.reports.evaluation import Evaluation
from core.reports.repeated import one_row_each
from core.runs import store

KEPT = 4
FEWEST = 5
"""The fewest calibration questions of a view."""


@dataclass(frozen=True, slots=True)
class SplitView:
    """``drop_extra`` removes E "I don't know" and F "None of the above" and renormalises the rest. ``n_calibration`` is
    the number of calibration questions to use (None: all). ``split_seed`` draws another split of the same sizes (None:
    the run's own split).
    """

    drop_extra: bool = False
    n_calibration: int | None = None
    split_seed: int | None = None


def look(run: Evaluation, view: SplitView) -> Evaluation:
    """The run under the view.

    Raises :class:`InputError` if the run has no E and F to drop, if one of them is the truth or fewer than two options
    would be left, if there are fewer calibration questions than asked for, and for an invalid seed.
    """
    if view.split_seed is not None:
        run = _split_again(run, view.split_seed)
    if view.n_calibration is not None:
        run = _fewer(run, view.n_calibration)
    return _without_extra(run) if view.drop_extra else run


def extra_options(run: Evaluation) -> tuple[int, ...]:
    """Which option places hold E and F in every question of the run; empty if they are not all alike, if there is one
    alone that is right in some question, as "None of the above" can be, and for the classes of a classifier."""
    if run.classes:
        return ()
    rows = store.read_questions(run.run_id, columns=["options"])["options"].combine_chunks()
    fewest = pc.min(rows.value_lengths()).as_py() or 0
    extra = pa.array([DONT_KNOW, NONE_OF_ABOVE])
    places = range(min(run.k, fewest))
    extra_places = tuple(j for j in places if pc.all(pc.is_in(pc.list_element(rows, j), value_set=extra)).as_py())
    return () if len(extra_places) == 1 and np.isin(run.labels, extra_places).any() else extra_places


def renormalise(probabilities: FloatArray, places: tuple[int, ...]) -> FloatArray:
    """Probabilities (n, k) without the options at ``places``, each row summing to 1 again.

    NaN stands for an option that a question lacks, and becomes 0. A row with nothing left is spread evenly: the model
    said nothing about the options that stay.
    """
    remaining = np.delete(probabilities, places, axis=1)
    real = ~np.isnan(remaining)
    sums = np.nancumsum(remaining, axis=1)[:, -1:]  # from left to right, as the browser adds
    even = np.where(real, 1 / real.sum(axis=1, keepdims=True), 0)
    return np.where(sums > 0, np.where(real, remaining, 0) / np.where(sums > 0, sums, 1), even)


def renormalise_logs(log_probabilities: FloatArray, probabilities: FloatArray, places: tuple[int, ...]) -> FloatArray:
    """The output of :func:`renormalise` for ``probabilities`` (n, k; NaN for an option that a question lacks), as
    logarithms: from ``log_probabilities`` (n, k), or of the even spread where nothing is left."""
    remaining = np.delete(log_probabilities, places, axis=1)
    even = ~(np.nansum(np.delete(probabilities, places, axis=1), axis=1) > 0)
    remaining[even] = log(renormalise(probabilities[even], places))
    return log_softmax(remaining)


def _without_extra(run: Evaluation) -> Evaluation:
    places = extra_options(run)
    if not places:
        raise InputError(f"run {run.run_id} has no options E “{DONT_KNOW}” and F “{NONE_OF_ABOVE}” to leave out")
    if np.isin(run.labels, places).any():
        raise InputError(f"run {run.run_id} has questions whose truth is E or F, so these can't be left out")
    if run.k - len(places) < 2:
        raise InputError(
            f"without E and F, only {run.k - len(places)} option is left; a set needs at least 2 to choose from"
        )
    shift = np.array([sum(place < j for place in places) for j in range(run.k)])
    return replace(
        run,
        probabilities=renormalise(run.option_probabilities, places),
        log_probabilities=renormalise_logs(run.log_probabilities, run.option_probabilities, places),
        labels=run.labels - shift[run.labels],
        letters=tuple(letter for j, letter in enumerate(run.letters) if j not in places),
        counts=run.option_counts - len(places),
        places=tuple(j for j in range(run.k) if j not in places),
        letters_left_out=tuple(run.letters[j] for j in places),
        samples=None if run.samples is None else _picks_of(run, options=np.delete(np.arange(run.k), places)),
    )


def _picks_of(run: Evaluation, *, options: IntArray) -> IntArray:
    """The number of picks of these ``options``, (n,)."""
    counts = np.rint(run.probabilities[:, options] * np.asarray(run.samples)[:, None])
    return np.asarray(counts.sum(axis=1), dtype=np.int64)


def _fewer(run: Evaluation, n: int) -> Evaluation:
    have = len(run.calibration)
    smallest = min(FEWEST, have)
    if not smallest <= n <= have:
        raise InputError(f"choose from {smallest} to {have} calibration questions, not {n}")
    part = first_part(run.calibration, n, seed=run.spec.seed, purpose=FEWER)
    return replace(run, calibration=run.calibration[part])


def _split_again(run: Evaluation, seed: int) -> Evaluation:
    """Another split of the same questions into sides of the same size. Questions alike stay together, and one
    row stands for each question that rows repeat."""
    if not 0 <= seed < WORD:
        raise InputError(f"the seed of a split must be a whole number from 0 to {WORD - 1}, got {seed}")
    run = one_row_each(run)
    rows, clusters = clustered(run)
    calibrates = first_part(clusters, len(run.calibration), seed=seed, purpose=SPLIT)
    if len(run.test) > 0 and (calibrates.all() or len(rows) < 2):
        raise InputError(f"run {run.run_id} has too few different questions to split again")
    return replace(run, calibration=rows[calibrates], test=rows[~calibrates])


def clustered(run: Evaluation) -> tuple[IntArray, IntArray]:
    """The calibration and test rows in file order, and for each a number that is the same for questions alike."""
    rows = np.sort(np.concatenate([run.calibration, run.test]))
    if store.read_record(run.run_id).provenance.get("texts") is False:
        return rows, np.arange(len(rows), dtype=np.int64)  # an imported table without texts: nothing to compare
    path = store.questions_path(run.run_id)
    return rows, _clusters(run.run_id, str(path), path.stat().st_mtime_ns, tuple(run.ids[rows].tolist()))


@lru_cache(maxsize=KEPT)
def _clusters(run_id: str, path: str, stamp: int, ids: tuple[str, ...]) -> IntArray:
    """Cached for a few runs and the present state of their files: comparing 20,000 questions takes seconds, which is
    too long for a view."""
    table = store.read_questions(run_id)
    if len(ids) < table.num_rows:
        table = table.filter(pc.is_in(table["id"], pa.array(ids)))
    texts = {q["id"]: q for q in table.drop_columns("role").to_pylist()}
    questions = [
        Question(**{**q, "options": tuple(q["options"]), "cluster": cluster_name(q.get("cluster", ""))})
        for q in (texts[name] for name in ids)
    ]
    numbers = np.array(clusters(questions), dtype=np.int64)
    numbers.setflags(write=False)
    return numbers
