"""The set sizes of the compared runs, and contrasts of a single setting.

What draws with Altair is imported where it is needed: the first paint does not wait for it.
"""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app.components.compare import compare_cache
from app.components.shared import downloads
from app.formatting import PERCENT, in_percent
from app.state.compare import CompareView
from charts.run_names import full_names, task_titles, told_apart
from core.reports.compare import side_by_side
from core.reports.compare.benchmark import SetRule
from core.reports.report import shown_with
from core.reports.titles import setting_title

CONTRAST_TITLES = {"dtype": "Precision", "strategy": "Strategy", "shots": "Shots", "form": "By letter or by text"}


def set_rule(view: CompareView) -> SetRule:
    """How sets are formed on this page. The view's score comes first."""
    return SetRule(view.alpha, shown_with(view.score), "exact", view.empty)


def shapes(rows: pd.DataFrame, run_ids: Sequence[str], view: CompareView) -> None:
    """Show how large sets are, and when they are large."""
    from app.components.shared import figures
    from charts.heat_map import set_sizes
    from charts.sizes_when_right import sizes_when_right

    of_score = rows[rows["score"] == view.score]
    names = told_apart(full_names(of_score))
    runs = compare_cache.evaluations(run_ids)
    about = figures.about(run_ids, view.alpha)
    figures.show(
        set_sizes(side_by_side.size_shares(runs, names, view.alpha, view.score)),
        "A more certain model has more sets with one option. An empty set says that no option fits.",
        about,
    )
    figures.show(
        sizes_when_right(side_by_side.sizes_when_right(runs, names, view.alpha, view.score)),
        "If a model's uncertainty is informative, its sets are larger where its top option is wrong.",
        about,
    )


def contrasts(rows: pd.DataFrame, view: CompareView) -> None:
    """Show tables of runs that differ in only one setting."""
    of_score = rows[rows["score"] == view.score]
    shown = False
    for setting, title in CONTRAST_TITLES.items():
        table = side_by_side.contrast(of_score, setting)
        if table.empty:
            continue
        shown = True
        st.markdown(f"**{title}**")
        settings = {name: [setting_title(name, value) for value in table[name]] for name in CONTRAST_TITLES}
        st.dataframe(
            in_percent(table, ("accuracy", "coverage"))
            .assign(task=task_titles(table), **settings)
            .drop(columns=["score", "bank"]),
            hide_index=True,
            column_config={
                "dtype": "precision",
                "accuracy": st.column_config.NumberColumn("accuracy", format=PERCENT),
                "coverage": st.column_config.NumberColumn("coverage", format=PERCENT),
                "mean_set_size": st.column_config.NumberColumn("mean set size", format="%.2f"),
                "uacc": st.column_config.NumberColumn("UAcc", format="%.3f"),
                "ece_excess": st.column_config.NumberColumn("ECE beyond chance", format="%.3f"),
                "ece_low": st.column_config.NumberColumn("95% from", format="%.3f"),
                "ece_high": st.column_config.NumberColumn("95% to", format="%.3f"),
                "ece": st.column_config.NumberColumn("ECE observed", format="%.3f"),
                "ece_luck": st.column_config.NumberColumn("ECE by chance", format="%.3f"),
                "prompts_a_second": st.column_config.NumberColumn("prompts per second", format="%.1f"),
                "model_gb": st.column_config.NumberColumn(
                    "weights, GB",
                    format="%.3f",
                    help="The number of parameters times the bytes that each one takes at this precision.",
                ),
            },
            alt=f"Runs that differ only in one setting: {title}",
        )
        about = downloads.about(of_score["run"].tolist(), view.alpha)
        downloads.download(f"{title} as CSV", table, f"contrast-{setting}", about)
    if not shown:
        st.caption("No two of these runs differ only in precision, strategy, shots or form.")
