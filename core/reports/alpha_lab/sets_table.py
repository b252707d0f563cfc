"""The questions of a view with their probabilities and sets as one table, for a spreadsheet or a script."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.conformal.draws import uniforms
from core.conformal.scores import SCORES
from core.questions.option_names import set_text
from core.records import IntArray
from core.reports.evaluation import Evaluation
from core.reports.scored_sets import form, true_letters


def sets_table(
    run: Evaluation, alpha: int, *, scores: Sequence[str], empty: str = "allow", by: str = "all"
) -> pd.DataFrame:
    """A row for each calibration and test question in file order, at ``alpha`` thousandths.

    ``id``, ``role`` (``calibration`` or ``test``), ``subject``, ``label`` (the true letter) and ``p_A …``, the options'
    probabilities. For each named score ``NAME_score`` of the true option, and for test questions ``NAME_threshold``
    (missing with ``by="class"``, where each option has its own), ``NAME_set`` (its letters), ``NAME_size`` and
    ``NAME_covered``. A randomised score adds ``u``, its frozen random number; a tuned one ``NAME_role``, which is
    ``aside`` for the questions that its parameters were chosen on.
    """
    rows = np.sort(np.concatenate([run.calibration, run.test]))
    columns: dict[str, Any] = {
        "id": run.ids[rows],
        "role": np.where(np.isin(rows, run.calibration), "calibration", "test"),
        "subject": run.groups[rows],
        "label": true_letters(run, rows),
    }
    columns |= {f"p_{letter}": run.option_probabilities[rows, j] for j, letter in enumerate(run.letters)}
    if any(SCORES[name].randomised for name in scores):
        columns["u"] = uniforms(rows, seed=run.spec.seed)
    for name in scores:
        columns |= _score_columns(run, name, alpha, rows, empty=empty, by=by)
    return pd.DataFrame(columns)


def _score_columns(run: Evaluation, name: str, alpha: int, rows: IntArray, *, empty: str, by: str) -> dict[str, Any]:
    formed = form(run, name, alpha, empty=empty, by=by)
    own, test, labels = formed.tuned.calibration, run.test, run.labels[run.test]
    each = np.arange(len(test))
    thresholds = np.full(len(test), formed.threshold)  # not a number where there are several
    if by == "group":
        thresholds = np.array([formed.thresholds[subject] for subject in run.groups[test].tolist()])
    letters = np.array(list(run.letters))

    def at(places: IntArray, values: Any, dtype: Any) -> Any:
        """A column that has values in some rows and missing values in the others."""
        return pd.Series(values, index=places).reindex(rows).astype(dtype).array

    true = np.concatenate([formed.calibration_scores, formed.test_scores[each, labels]])
    columns = {
        f"{name}_score": at(np.concatenate([own, test]), true, "Float64"),
        f"{name}_threshold": at(test, thresholds, "Float64"),
        f"{name}_set": at(test, [set_text(letters[member], run.letters) for member in formed.members], "string"),
        f"{name}_size": at(test, formed.members.sum(axis=1), "Int64"),
        f"{name}_covered": at(test, formed.members[each, labels], "boolean"),
    }
    if SCORES[name].tuned:
        role = np.where(np.isin(rows, test), "test", np.where(np.isin(rows, own), "calibration", "aside"))
        columns = {f"{name}_role": role, **columns}
    return columns
