"""Conformal sets of verdicts: a jury may give both verdicts, or none."""

from __future__ import annotations

import streamlit as st

from app.caches import jury_cache
from app.components.shared import controls
from app.state.jury import JuryView
from core.jury.experiment import Protocol
from core.runs.juries.jury_store import JuryRecord


def sets(record: JuryRecord, view: JuryView, protocol: Protocol) -> None:
    """Show the sets of verdicts at the view's alpha. Computes nothing while folded."""
    with st.expander("A jury that may say both, or neither", on_change="rerun", key="jury_sets_open") as folded:
        if not folded.open:
            return
        controls.alpha_slider(view)
        found = jury_cache.pooled_sets(record.jury_id, protocol, view.alpha)
        low, high = found.band
        a, b, c, d, e = st.columns(5)
        a.metric(
            "Hold the truth",
            f"{found.coverage:.1%}",
            help=f"By luck alone {low:.1%} to {high:.1%} where the promise holds.",
        )
        for column, name, count in (
            (b, "{True}", found.only_true),
            (c, "{False}", found.only_false),
            (d, "{True, False}", found.both),
            (e, "{ }", found.empty),
        ):
            column.metric(name, f"{count:,}")
        st.caption(
            "Conformal sets by LAC on the jurors' mean probability, of the first split's test answers: of answers like "
            "those that calibrated, a share of alpha may have a set that misses the truth. It is a promise about many "
            "answers, not about one."
        )
