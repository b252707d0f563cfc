"""The data of the lesson on calibration: a run's log-probabilities, and the temperature that fits other questions."""

import math
from typing import Any

from core.calibration.recalibration import fit_temperature
from core.errors import InputError
from core.reports.calibration.recalibrated import halves
from core.reports.calibration.temperature import COLDEST, HOTTEST, HUNDRED, dial_rows
from core.reports.evaluation import Evaluation


def calibration_tables(run: Evaluation) -> dict[str, Any]:
    """``rows`` as :func:`core.reports.calibration.temperature.dial_rows` gives them, and ``fitted``
    (:func:`fitted_temperature`).
    """
    return {"rows": dial_rows(run), "fitted": fitted_temperature(run)}


def fitted_temperature(run: Evaluation) -> int | None:
    """The temperature in hundredths that fits the calibration questions best, as the Calibration page names it.

    It is the geometric mean of the fits on the two halves of the calibration questions, from 20 to 500. None for a run
    of frequencies or with too few questions to halve, or whose questions do not determine a temperature.
    """
    if run.samples is not None:
        return None
    try:
        sides = halves(run)
    except InputError:
        return None
    maps = [fit_temperature(run.log_probabilities[rows], run.labels[rows]) for rows in sides]
    if any(fitted.notes() for fitted in maps):
        return None
    temperatures = [fitted.temperature for fitted in maps]
    middle = math.exp(sum(map(math.log, temperatures)) / len(temperatures))
    return min(HOTTEST, max(COLDEST, round(HUNDRED * middle)))
