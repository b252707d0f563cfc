"""How many runs of a person's own are stored here."""

from collections import Counter

import streamlit as st

from app.caches import run_cache
from core.reports.run_filter import is_own, source


def own_runs() -> None:
    """Say how many runs a person has imported and launched here, and what to do if there are none."""
    sources = Counter(source(record) for record in run_cache.runs().records if is_own(record))
    if not sources:
        st.markdown("**No run of yours is stored here yet.** Drop another tool's results, or take some from the shelf.")
        return
    kinds = " and ".join(f"{sources[name]:,} {name}" for name in ("imported", "launched") if sources[name])
    st.markdown(f"**{kinds} {'run of yours is' if sources.total() == 1 else 'runs of yours are'} stored here.**")
