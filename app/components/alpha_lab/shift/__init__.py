"""Coverage under a shift as a live figure. It follows the Alpha lab's alpha in the browser, without the server."""

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


def shift_figure(shifted: Shifted, *, alpha: int, pairs: int, key: str) -> None:
    """Show coverage and mean set size under a shift, unweighted and weighted, at the lab's alpha.

    ``alpha``, in thousandths, is the value at the start. ``pairs`` is the number of pairs among which the two sides
    were found by a search; it is 0 if a person chose them.
    """
    _mount(
        key=key,
        data={
            "curves": pa.table(
                {
                    "coverage": shifted.coverage,
                    "size": shifted.mean_set_size,
                    "weighted_coverage": shifted.weighted_coverage,
                    "weighted_size": shifted.weighted_mean_set_size,
                }
            ),
            "n": shifted.n,
            "m": shifted.m,
            "source": shifted.source,
            "target": shifted.target,
            "alpha": alpha,
            "pairs": pairs,
        },
    )
