"""Every rule's measures with their intervals."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app.background import computing
from app.components.shared import figures
from app.components.shared.static_table import static_table
from app.formatting import signed
from core.jury.adjudication import RULES
from core.jury.experiment import JuryExperiment
from core.jury.pipeline.jury_store import JuryRecord
from core.reports.file_names import About

TITLES = {
    "accuracy": "Accuracy",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "to_majority": "Accuracy minus Majority, points",
    "to_max_probability": "Accuracy minus Maximum probability, points",
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
            row: dict[str, float] = {}
            for name in TITLES:
                one = getattr(of, name)
                row |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
            rows.append(row)
        table = pd.DataFrame(rows)
        table.insert(0, "rule", [of.rule for of in found.outcomes])
        shown = pd.DataFrame(
            {"Rule": [RULES[name].title for name in table["rule"]]}
            | {title: [_with_interval(row, name) for row in rows] for name, title in TITLES.items()}
        )
        static_table(shown, alt="Every rule's measures with their intervals")
        figures.download("Figures as CSV", table, "jury-rules", About([record.name]))
        st.caption("The same on the command line, with FILES replaced by files of judgements or a jury's name:")
        st.code("hedge jury evaluate --judgements FILES --protocol all-rules --json", language="sh")


def _with_interval(row: dict[str, float], name: str) -> str:
    value, low, high = (100 * row[of] for of in (name, f"{name}_low", f"{name}_high"))
    if name.startswith("to_"):
        if row[name] == 0 and low != low:
            return "–"  # the rule itself
        if low != low:
            return f"{signed(value, 1)} (no interval)"
        return f"{signed(value, 1)} ({signed(low, 1)} to {signed(high, 1)})"
    return f"{value:.1f}% ({low:.1f}% to {high:.1f}%)" if low == low else f"{value:.1f}% (no interval)"
