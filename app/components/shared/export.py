"""The one place on a page that exports its figures and tables, for a paper, a slide or a spreadsheet."""

from collections.abc import Sequence

import streamlit as st

from app.state.data import MOST_EXPORTED
from core.reports.compare.benchmark import SetRule


def section(run_ids: Sequence[str], rule: SetRule, figure_names: Sequence[str], *, key: str) -> None:
    """Show the exports of a page's runs, folded away. Computes nothing until a person opens it.

    ``figure_names`` are of :data:`core.reports.figure_names.RUN_FIGURES`, and ``key`` begins the widgets' keys.
    """
    with st.expander("Export: figures, tables, references", on_change="rerun", key=f"{key}_export_open") as folded:
        if not folded.open:
            return
        if len(run_ids) > MOST_EXPORTED:
            st.caption(
                f"At most {MOST_EXPORTED} runs can be exported at once, and {len(run_ids)} are shown. Choose fewer."
            )
            return
        from app.components.shared import (
            export_forms,
        )  # imports the chart libraries

        export_forms.runs_exports(run_ids, rule, figure_names, key=key)
