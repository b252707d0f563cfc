"""The Calibration page's cached data: diagrams, a bin's questions, recalibration, coverage at every alpha."""

from functools import partial

import pandas as pd
import pyarrow as pa

from app.background import Computation
from app.caches.by_version import by_version
from app.caches.run_cache import compared_evaluation, evaluation, run_key
from core.reports.calibration import calibrated as calibrations
from core.reports.calibration import temperature
from core.reports.calibration.calibrated import CalibrationDiagram, CalibrationFigures
from core.reports.calibration.recalibrated import Recalibrated
from core.reports.calibration.recalibrated import recalibrated as recalibrate


# 4 kB per entry: 0.3 MB in all. A view needs one entry for each of at most 24 runs.
@by_version(run_key, max_entries=64, show_spinner="Measuring calibration …")
def diagrams(run_id: str, within: str, bins: int, by: str) -> list[CalibrationDiagram]:
    """The reliability diagrams of a finished run, one per stratum."""
    return calibrations.diagrams(compared_evaluation(run_id), within=within, bins=bins, by=by)


@by_version(run_key, max_entries=64)  # 5 kB per entry: 0.3 MB in all. Otherwise as above
def calibrated(run_id: str, within: str, bins: int, by: str) -> Computation[list[CalibrationFigures]]:
    """The figures that belong to these diagrams."""
    return Computation(partial(calibrations.calibrated, compared_evaluation(run_id), within=within, bins=bins, by=by))


@by_version(run_key, max_entries=64)  # 15 kB per entry: 1 MB in all. A view needs one
def bin_questions(run_id: str, within: str, stratum: str, number: int, bins: int, by: str) -> pd.DataFrame:
    """The test questions in one bin of a diagram. Bins count from 1."""
    return calibrations.bin_questions(compared_evaluation(run_id), within, stratum, number, bins=bins, by=by)


@by_version(run_key, max_entries=64)  # 1 kB per entry. A view needs one
def recalibrated(run_id: str, alpha: int) -> Computation[list[Recalibrated]]:
    """A finished run's figures before and after every recalibration method."""
    return Computation(partial(recalibrate, compared_evaluation(run_id), alpha))


@by_version(run_key, max_entries=64)  # 11 kB: 0.7 MB in all. A view needs 24 at most
def nominal_coverage(run_id: str) -> pd.DataFrame:
    """Nominal and actual coverage at every alpha."""
    return calibrations.nominal_coverage(compared_evaluation(run_id))


@by_version(run_key, max_entries=16, show_spinner="Reading the run …")  # 0.1 MB each: 1.3 MB in all. A view needs one
def dial_rows(run_id: str) -> pa.Table:
    """The rows from which the temperature component computes."""
    return temperature.dial_rows(evaluation(run_id))
