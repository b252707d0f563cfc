"""Evaluations of token predictions side by side: reliability, figures, ranks."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app import state
from app.components.shared import figures
from app.components.tokens.text_by_token import EVALUATIONS_KEY
from app.formatting import plain
from charts.rank_variances import rank_variances
from charts.token_reliability import MOST, token_reliability
from core.reports import tokens as reports
from core.reports.file_names import About
from core.reports.tokens import TokenResult

ERROR_HELP = (
    "{}The error beyond luck with its 95% interval, then the observed error and what a calibrated model "
    "shows by luck. Tokens are treated as independent of each other."
)
TITLES = {"accuracy": "Accuracy", "nll": "NLL", "ece": "ECE", "smooth_ece": "Smooth ECE"}


def evaluations() -> None:
    """Show the reliability and figures of the chosen evaluations."""
    st.subheader("How far can a model's confidence be trusted?", anchor=False)
    found, problems = reports.results()
    for problem in problems:
        st.warning(plain(problem))
    if not found:
        st.info("There is no evaluation yet. `python -m core tokens evaluate` makes one.")
        return
    names = list(range(len(found)))
    state.name_unknown(EVALUATIONS_KEY, [one.name for one in found])
    chosen = st.multiselect(
        "Evaluations", names, names[:3], format_func=lambda i: found[i].name, key=EVALUATIONS_KEY,
        bind="query-params",
        max_selections=MOST, help="`python -m core tokens evaluate` makes evaluations. Some ship with Hedge.",
    )  # fmt: skip
    if not chosen:
        st.info("Choose an evaluation above.")
        return
    picked = tuple(found[i] for i in chosen)
    figures.show(
        token_reliability(reports.reliability_frame(picked)),
        "On the dashed line, the accuracy of the model's top token equals its confidence. A line is the "
        "Clopper–Pearson 95% interval of a bin's accuracy.",
        _about(picked),
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
            "ECE": st.column_config.TextColumn(help=ERROR_HELP.format("With 15 bins. ")),
            "Smooth ECE": st.column_config.TextColumn(help=ERROR_HELP.format("Without bins. ")),
            "Active ranks": st.column_config.TextColumn(
                help="Ranks that add at least 1% of the variance that the largest rank of their layer adds."
            ),
            "NLL": st.column_config.TextColumn(
                help="−log of the true token's probability, on average, in nats. Compare it only within one tokenizer."
            ),
        },
        alt="Accuracy, NLL and ECE of the chosen evaluations",
    )
    figures.download("Figures as CSV", frame, "token-figures", _about(picked))


def _about(picked: Sequence[TokenResult]) -> About:
    return About([one.name for one in picked])


def _ranks(one: TokenResult) -> None:
    frame = reports.variances_frame(one)
    if frame.empty:
        return
    with st.expander(plain(f"The ranks of {one.name}")):
        figures.show(
            rank_variances(frame),
            "The variance that each rank adds to its layer, as a share of the layer's largest. Automatic "
            "relevance determination switches off ranks that contribute nothing: they fall to 0%.",
            _about([one]),
        )
