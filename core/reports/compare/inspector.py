"""The data that the inspector of Compare shows for each question: the sets, picks and probabilities of several runs, as
tables.

All of it goes to the browser once, so that filters and another pair of runs need no further message. Probabilities are
rounded to hundredths of a percent, a difference that bars can't show, and long texts are shortened. The page One
question shows both in full.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from core.conformal.probabilities import top_options
from core.records import BoolArray, FloatArray, IntArray
from core.reports.compare.common_options import on_common_options
from core.reports.compare.run_matrix import SharedQuestions
from core.reports.compare.shared_questions import aligned, orders, shared_rows, widened
from core.reports.evaluation import Evaluation
from core.reports.frames import shortened
from core.runs import store

IN_ONE_NUMBER = 32
"""The most options that a part of a set can have, which is written as one number."""
HUNDREDTHS = 10_000
TEXT_SHOWN = 600
"""Characters of a question that are shown; a longer one is shortened."""
OPTION_SHOWN = 200


def inspector_numbers(shared: SharedQuestions) -> pa.Table:
    """One row per shared question, in the first run's order of questions and options.

    ``label`` is the place of the right option. Run i has ``pick{i}``, the place of its top option; ``set{i}_{w}``, a
    number whose bit j says that option 32w + j is in the set; and ``p{i}_{j}``, probabilities in hundredths of a
    percent. ``id{i}`` is the question's id in run i, left out where it is the same as in the first run.
    """
    runs, k = shared.runs, max(run.k for run in shared.runs)
    columns: dict[str, object] = {"label": runs[0].labels[shared.rows[0]].astype(np.uint8)}
    for i, run in enumerate(runs):
        order = orders(runs[0], shared.rows[0], run, shared.rows[i], k)
        own = np.nan_to_num(aligned(widened(run, k)[shared.rows[i]], order))
        columns[f"pick{i}"] = _picks(run, shared.rows[i], order, k).astype(np.uint8)
        members = _members(shared, i, order, k)
        for word, first in enumerate(range(0, k, IN_ONE_NUMBER)):
            columns[f"set{i}_{word}"] = _bits(members[:, first : first + IN_ONE_NUMBER])
        for j in range(k):
            columns[f"p{i}_{j}"] = np.rint(own[:, j] * HUNDREDTHS).astype(np.uint16)
        if i and not np.array_equal(run.ids[shared.rows[i]], runs[0].ids[shared.rows[0]]):
            columns[f"id{i}"] = run.ids[shared.rows[i]]
    return pa.table(columns)


def inspector_texts(runs: Sequence[Evaluation]) -> pa.Table:
    """The test questions that all runs have, as in the first run: ``id``, ``group``, ``context``, ``question`` and the
    options ``o0`` …, which are left out if they are classes. Long texts are shortened."""
    rows_by_run = shared_rows(runs, [run.test for run in runs])
    alike, _ = on_common_options(runs, rows_by_run)
    run, rows = alike[0], rows_by_run[0]
    texts = store.read_questions(run.run_id)
    at = {name: i for i, name in enumerate(texts["id"].to_pylist())}
    picked = texts.take(np.array([at[name] for name in run.ids[rows].tolist()], dtype=np.int64))
    options = [] if run.classes else picked["options"].to_pylist()
    places = () if run.classes else run.option_places
    return pa.table(
        {
            "id": picked["id"],
            "group": picked["group"].dictionary_encode(),
            "context": [shortened(text) for text in picked["context"].to_pylist()],
            "question": [shortened(text, TEXT_SHOWN) for text in picked["question"].to_pylist()],
            **{f"o{j}": [_option(offered, place) for offered in options] for j, place in enumerate(places)},
        }
    )


def _option(options: Sequence[str], place: int) -> str:
    return shortened(options[place], OPTION_SHOWN) if place < len(options) else ""


def _picks(run: Evaluation, rows: IntArray, order: IntArray | None, k: int) -> IntArray:
    """The place of each top option in the first run's order, (m,)."""
    own = top_options(run.probabilities[rows])
    if order is None:
        return own
    # order[i, j] is where the first run's option j stands in this run, so its inverse leads back
    return np.asarray((order == own[:, None]).argmax(axis=1), dtype=np.int64)


def _members(shared: SharedQuestions, i: int, order: IntArray | None, k: int) -> BoolArray:
    """The sets (m, k) of run i in the first run's order of options."""
    own = shared.sets[i].members[shared.places[i]]
    wide = np.concatenate([own, np.zeros((len(own), k - own.shape[1]), dtype=np.bool_)], axis=1)
    return wide if order is None else np.take_along_axis(wide, order, axis=1)


def _bits(members: BoolArray) -> FloatArray:
    """Sets (m, 32) as one number each, (m,)."""
    return np.asarray(members @ (1 << np.arange(members.shape[1])), dtype=np.uint32)
