"""Coverage under a shift as a live figure: it follows the alpha lab's alpha in the browser, without a message."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import streamlit as st

from charts.scripts import LIVE_CSS, bundle
from core.reports.alpha_lab.covariate_shift import Shifted

HERE = Path(__file__).parent
SCRIPT = HERE / "shift.js"

_mount = st.components.v2.component(
    "hedge_shift",
    html=(HERE / "shift.html").read_text(encoding="utf-8"),
    css=LIVE_CSS.read_text(encoding="utf-8") + (HERE / "shift.css").read_text(encoding="utf-8"),
    js=bundle(SCRIPT),
)


def shift_figure(found: Shifted, *, alpha: int, pairs: int, key: str) -> None:
    """Coverage and mean set size of a shift, unweighted and weighted, at the lab's alpha (thousandths, at first).

    ``pairs`` is among how many the two sides were searched for; 0 where a person chose them.
    """
    _mount(
        key=key,
        data={
            "curves": pa.table(
                {
                    "coverage": found.coverage,
                    "size": found.mean_set_size,
                    "weighted_coverage": found.weighted_coverage,
                    "weighted_size": found.weighted_mean_set_size,
                }
            ),
            "n": found.n,
            "m": found.m,
            "source": found.source,
            "target": found.target,
            "alpha": alpha,
            "pairs": pairs,
        },
    )
