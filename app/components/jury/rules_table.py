"""Every rule's measures with their intervals."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app.background import computing
from app.components.shared import figures
from core.jury.experiment import MEASURES, JuryExperiment


def rules_table(found: JuryExperiment | None) -> None:
    """Show one row per rule, with a download. The table is folded away, and empty while ``found`` is computed."""
    with st.expander("All figures of every rule", on_change="rerun", key="jury_table_open") as folded:
        if not folded.open:
            return
        if found is None:
            computing("the intervals of every rule")
            return
        rows = []
        for of in found.outcomes:
            row: dict[str, object] = {"rule": of.rule}
            for name in MEASURES:
                one = getattr(of, name)
                row |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
            for name in ("to_majority", "to_max_probability"):
                one = getattr(of, name)
                row |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
            rows.append(row)
        table = pd.DataFrame(rows)
        st.dataframe(
            table,
            hide_index=True,
            height="content",
            column_config={
                name: st.column_config.NumberColumn(format="%.4f") for name in table.columns if name != "rule"
            },
            alt="Every rule's measures with their intervals",
        )
        figures.download("Figures as CSV", table, "jury-rules")
        st.caption("The same on the command line, with FILES replaced by files of judgements or a jury's name:")
        st.code("python -m core jury evaluate --judgements FILES --protocol all-rules --json", language="sh")
