"""Nominal and actual coverage at every alpha."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app.caches import calibration_cache, run_cache
from app.components.shared import figures
from app.components.shared.runs import titles
from app.formatting import plain
from charts.nominal_coverage import nominal_and_actual
from core.errors import HedgeError


def every_alpha(run_ids: Sequence[str]) -> None:
    """Show the nominal and actual coverage of the runs."""
    st.subheader("Does coverage hold at every alpha?", anchor=False)
    names = titles([run_cache.record(name) for name in run_ids])
    frames = []
    for run_id in run_ids:
        try:
            frames.append(calibration_cache.nominal_coverage(run_id).assign(name=names[run_id]))
        except HedgeError as error:
            st.info(plain(f"{error}."))
    if frames:
        figures.show(
            nominal_and_actual(pd.concat(frames, ignore_index=True)),
            "In the band, coverage is what the guarantee promises, give or take luck"
            + (". The band is that of the first run." if len(frames) > 1 else "."),
            figures.about(run_ids),
        )
