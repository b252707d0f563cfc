"""The Calibration page's cached data: diagrams, a bin's questions, recalibration, coverage at every alpha."""

from __future__ import annotations

from functools import partial

import pandas as pd
import pyarrow as pa
import streamlit as st

from app.background import Computation
from app.caches.run_cache import RunKey, load_compared, load_evaluation, run_key
from core.reports.calibration import calibrated as calibrations
from core.reports.calibration import temperature
from core.reports.calibration.calibrated import CalibrationDiagram, CalibrationFigures
from core.reports.calibration.recalibrated import Recalibrated
from core.reports.calibration.recalibrated import recalibrated as recalibrate


def diagrams(run_id: str, within: str, bins: int, by: str) -> list[CalibrationDiagram]:
    """The reliability diagrams of a finished run, one per stratum."""
    return _diagrams(run_key(run_id), within, bins, by)


def calibrated(run_id: str, within: str, bins: int, by: str) -> Computation[list[CalibrationFigures]]:
    """The figures that belong to these diagrams."""
    return _calibrated(run_key(run_id), within, bins, by)


def bin_questions(run_id: str, within: str, stratum: str, number: int, bins: int, by: str) -> pd.DataFrame:
    """The test questions in one bin of a diagram. Bins count from 1."""
    return _bin_questions(run_key(run_id), within, stratum, number, bins, by)


def recalibrated(run_id: str, alpha: int) -> Computation[list[Recalibrated]]:
    """A finished run's figures before and after every recalibration method."""
    return _recalibrated(run_key(run_id), alpha)


def nominal_coverage(run_id: str) -> pd.DataFrame:
    """Nominal and actual coverage at every alpha."""
    return _nominal_coverage(run_key(run_id))


def dial_rows(run_id: str) -> pa.Table:
    """The rows from which the temperature component computes."""
    return _dial_rows(run_key(run_id))


# 4 kB per entry: 0.3 MB in all. A view needs one entry for each of at most 24 runs.
@st.cache_resource(max_entries=64, show_spinner="Measuring calibration …")
def _diagrams(key: RunKey, within: str, bins: int, by: str) -> list[CalibrationDiagram]:
    return calibrations.diagrams(load_compared(key), within=within, bins=bins, by=by)


@st.cache_resource(max_entries=64, show_spinner=False)  # 5 kB per entry: 0.3 MB in all. Otherwise as above
def _calibrated(key: RunKey, within: str, bins: int, by: str) -> Computation[list[CalibrationFigures]]:
    return Computation(partial(calibrations.calibrated, load_compared(key), within=within, bins=bins, by=by))


@st.cache_resource(max_entries=64, show_spinner=False)  # 15 kB per entry: 1 MB in all. A view needs one
def _bin_questions(key: RunKey, within: str, stratum: str, number: int, bins: int, by: str) -> pd.DataFrame:
    return calibrations.bin_questions(load_compared(key), within, stratum, number, bins=bins, by=by)


@st.cache_resource(max_entries=64, show_spinner=False)  # 1 kB per entry. A view needs one
def _recalibrated(key: RunKey, alpha: int) -> Computation[list[Recalibrated]]:
    return Computation(partial(recalibrate, load_compared(key), alpha))


@st.cache_resource(max_entries=64, show_spinner=False)  # 11 kB: 0.7 MB in all. A view needs 24 at most
def _nominal_coverage(key: RunKey) -> pd.DataFrame:
    return calibrations.nominal_coverage(load_compared(key))


@st.cache_resource(max_entries=16, show_spinner="Reading the run …")  # 0.1 MB each: 1.3 MB in all. A view needs one
def _dial_rows(key: RunKey) -> pa.Table:
    return temperature.dial_rows(load_evaluation(key))
