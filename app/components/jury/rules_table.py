"""Every rule's measures with their intervals."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app.background import computing
from app.components.shared import figures
from core.jury.adjudication import RULES
from core.jury.experiment import JuryExperiment
from core.jury_pipeline.jury_store import JuryRecord
from core.reports.file_names import About

TITLES = {
    "accuracy": "Accuracy",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "to_majority": "Accuracy minus majority's",
    "to_max_probability": "Accuracy minus maximum probability's",
}
"""Each figure of a rule and its title."""


def rules_table(record: JuryRecord, found: JuryExperiment | None) -> None:
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
            for name in TITLES:
                one = getattr(of, name)
                row |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
            rows.append(row)
        table = pd.DataFrame(rows)
        st.dataframe(
            pd.DataFrame(
                {"Rule": [RULES[name].title for name in table["rule"]]}
                | {title: [_with_interval(row, name) for row in rows] for name, title in TITLES.items()}
            ),
            hide_index=True,
            height="content",
            column_config={"Rule": st.column_config.TextColumn(pinned=True)},
            alt="Every rule's measures with their intervals",
        )
        figures.download("Figures as CSV", table, "jury-rules", About([record.name]))
        st.caption("The same on the command line, with FILES replaced by files of judgements or a jury's name:")
        st.code("python -m core jury evaluate --judgements FILES --protocol all-rules --json", language="sh")


def _with_interval(row: dict[str, object], name: str) -> str:
    sign = "+" if name.startswith("to_") else ""
    value, low, high = (f"{row[of]:{sign}.3f}" for of in (name, f"{name}_low", f"{name}_high"))
    return f"{value} ({low} to {high})"
