"""The download of a frame. It needs no chart library, for which a first paint would have to wait."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app.caches import run_cache
from core.exchange.writing import frame_to_csv
from core.questions.bank_names import bank_name
from core.reports.file_names import About, about_runs


def about(runs: Sequence[str], alpha: int | None = None) -> About:
    """What a download is about: these runs, at alpha in thousandths if its figures depend on it."""
    records = [run_cache.record(run_id) for run_id in dict.fromkeys(runs)]
    return about_runs([(record.spec, bank_name(record.spec, record.provenance)) for record in records], alpha=alpha)


def download(label: str, frame: pd.DataFrame, name: str, about: About) -> None:
    """Show a button that saves a frame as CSV. The file is made when a person clicks it, and named for what it holds
    (``name``) and what it is ``about``.
    """
    st.download_button(
        label,
        data=lambda: frame_to_csv(frame),
        file_name=about.file_name(name, "csv"),
        mime="text/csv",
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
        key=f"download-{name}",
    )
