"""Evaluations of token predictions side by side: reliability, figures, ranks."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app import state
from app.components.shared import figures
from app.components.tokens.text_by_token import EVALUATIONS_KEY
from app.formatting import plain
from charts.rank_variances import rank_variances
from charts.token_reliability import MOST, token_reliability
from core.reports import tokens as reports
from core.reports.tokens import TokenResult

ERROR_HELP = (
    "{}the error beyond luck with its 95% interval, then the error that is seen and what a calibrated model shows by "
    "luck. Tokens count as independent of each other."
)
TITLES = {"accuracy": "ACC", "nll": "NLL", "ece": "ECE", "smooth_ece": "Smooth ECE"}


def evaluations() -> None:
    """Show the reliability and figures of the chosen evaluations."""
    st.subheader("How far can their confidence be trusted?", anchor=False)
    found, problems = reports.results()
    for problem in problems:
        st.warning(plain(problem))
    if not found:
        st.info("Evaluations would be here; `python -m core tokens evaluate` makes one.")
        return
    names = list(range(len(found)))
    state.name_unknown(EVALUATIONS_KEY, [one.name for one in found])
    chosen = st.multiselect(
        "Evaluations", names, names[:3], format_func=lambda i: found[i].name, key=EVALUATIONS_KEY,
        bind="query-params",
        max_selections=MOST, help="Made by `python -m core tokens evaluate`, the latest of yours among them.",
    )  # fmt: skip
    if not chosen:
        st.info("Choose an evaluation above.")
        return
    picked = tuple(found[i] for i in chosen)
    figures.show(
        token_reliability(reports.reliability_frame(picked)),
        "On the dashed line a model's top token is right as often as it is sure; a rule is the "
        "Clopper–Pearson 95% interval of a bin's accuracy.",
    )
    _table(picked)
    for one in picked:
        _ranks(one)


def _table(picked: tuple[TokenResult, ...]) -> None:
    frame = reports.figures_frame(picked)
    shown = pd.DataFrame(
        [
            {
                "Model": row["name"],
                "Adapter": row["kind"],
                "Tokens": row["tokens"],
                **{title: reports.estimate_of(one, name).text() for name, title in TITLES.items()},
                "Active ranks": f"{row['active_ranks']} of {row['ranks']}" if row["ranks"] else "–",
            }
            for one, row in zip(picked, frame.to_dict("records"), strict=True)
        ]
    )
    st.dataframe(
        shown,
        hide_index=True,
        column_config={
            "ECE": st.column_config.TextColumn(help=ERROR_HELP.format("15 bins; ")),
            "Smooth ECE": st.column_config.TextColumn(help=ERROR_HELP.format("No bins; ")),
            "Active ranks": st.column_config.TextColumn(
                help="Those that add at least 1% of the variance that their layer's largest one adds."
            ),
            "NLL": st.column_config.TextColumn(
                help="Of the true token, in nats; it compares within one tokenizer alone."
            ),
        },
        alt="Accuracy, NLL and ECE of the chosen evaluations",
    )
    figures.download("These figures as CSV", frame, "token-figures")


def _ranks(one: TokenResult) -> None:
    frame = reports.variances_frame(one)
    if frame.empty:
        return
    with st.expander(plain(f"The ranks of {one.name}")):
        figures.show(
            rank_variances(frame),
            "The variance that each rank adds to its layer, as a share of the layer's largest. Automatic relevance "
            "determination lets go of ranks that carry nothing: they fade to 0%.",
        )
