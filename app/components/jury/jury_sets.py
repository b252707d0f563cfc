"""Conformal sets of verdicts: a jury may give both verdicts, or none."""

from __future__ import annotations

import streamlit as st

from app.caches import jury_cache
from app.components.shared import controls
from app.state.jury import JuryView
from core.jury.experiment import Protocol
from core.jury.pipeline.jury_store import JuryRecord
from core.reports.repeated import counted


def sets(record: JuryRecord, view: JuryView, protocol: Protocol) -> None:
    """Show the sets of verdicts at the view's alpha. Computes nothing while folded."""
    with st.expander(
        "Prediction sets of the jury: True, False, both or neither", on_change="rerun", key="jury_sets_open"
    ) as folded:
        if not folded.open:
            return
        controls.alpha_slider(view)
        found = jury_cache.pooled_sets(record.jury_id, protocol, view.alpha)
        low, high = found.band
        with st.container(horizontal=True, gap="large"):
            st.metric(
                "Hold the truth",
                f"{found.coverage:.1%}",
                help=f"If the promise holds, this lies between {low:.1%} and {high:.1%} for 95% of draws.",
                width="content",
            )
            for name, count in (
                ("{True}", found.only_true),
                ("{False}", found.only_false),
                ("{True, False}", found.both),
                ("{}", found.empty),
            ):
                st.metric(name, f"{count:,}", width="content")
        st.caption(
            "These are conformal sets of the first split's test answers, by LAC on the jurors' mean probability. "
            "For answers like the calibration answers, a share of up to alpha of the sets may miss the truth. "
            "This is a promise about many answers, not about a single one."
        )
        if not found.n_calibration:
            st.caption("The source's own split has answers of each question on both sides, so none calibrates.")
        elif found.test_questions < found.n_test or found.n_calibration < found.of_calibration:
            st.caption(
                f"{found.n_calibration:,} of {found.of_calibration:,} answers calibrate, one of each question that is "
                f"not tested. The test side has {counted(found.n_test, found.test_questions)}."
            )
