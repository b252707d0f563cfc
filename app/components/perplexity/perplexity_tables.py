"""Tables of all figures, and of the published ones."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from app.components.perplexity.measured_messages import DIFFERENCE_HELP, P_HELP, UNIFORM_HELP, MeasuredMessages, names
from app.components.perplexity.perplexity_form import PerplexityForm
from app.components.shared import figures
from core.reports import perplexity as reports
from core.reports.file_names import About


def tables(measured: MeasuredMessages, chosen: PerplexityForm, vocabulary: int | None, about: About) -> None:
    """Show figures by conversation and prompt, their differences, and published ones. All tables are folded away."""
    with st.expander("All figures, and the published ones"):
        table = reports.by_conversation(measured, vocabulary=vocabulary)
        st.dataframe(
            table,
            hide_index=True,
            column_config={
                "conversation": "Conversation",
                "prompt": "Prompt",
                "messages": "Messages",
                "tokens": "Tokens",
                "perplexity": st.column_config.NumberColumn("Perplexity", format="%.2f"),
                "message_mean": st.column_config.NumberColumn("Mean of messages", format="%.2f"),
                "bits_per_byte": st.column_config.NumberColumn("Bits per byte", format="%.3f"),
                "uniform": st.column_config.NumberColumn("Uniform perplexity", format="%.0f", help=UNIFORM_HELP),
                "uniform_bits_per_byte": st.column_config.NumberColumn(
                    "Uniform, bits per byte", format="%.3f", help=UNIFORM_HELP
                ),
            },
            alt="Perplexities by conversation and prompt",
        )
        figures.download("Figures as CSV", table, "perplexities", about)
        a, b = list(measured.values())[:2]
        differences = reports.differences(a, b)
        if len(differences):
            st.markdown("**A − B by conversation**, nats per token")
            st.dataframe(
                differences,
                hide_index=True,
                column_config={
                    "conversation": "Conversation",
                    "n": "Messages",
                    "difference": st.column_config.NumberColumn("A − B", format="%+.3f", help=DIFFERENCE_HELP),
                    "low": st.column_config.NumberColumn("from", format="%+.3f"),
                    "high": st.column_config.NumberColumn("to", format="%+.3f"),
                    "p": st.column_config.NumberColumn("p", format="%.3g", help=P_HELP),
                },
                alt="Differences of the two prompts by conversation",
            )
            figures.download("Differences as CSV", differences, "prompt-differences", about)
        _published(table, chosen)


def _published(table: pd.DataFrame, chosen: PerplexityForm) -> None:
    """Show the published perplexities, beside ours for conversations with the same name."""
    printed = reports.published()
    ours = table.set_index(["conversation", "prompt"])["message_mean"]
    called = names(chosen)
    printed["ours"] = [
        ours.get((conversation, called[prompt]), math.nan)
        for conversation, prompt in zip(printed["conversation"], printed["prompt"], strict=True)
    ]
    beside = printed["ours"].notna().any()
    printed = printed if beside else printed.drop(columns="ours")
    st.markdown("**Published figures** (not by Hedge), with other prompts A and B: a counselor and a president")
    st.dataframe(
        printed,
        hide_index=True,
        column_config={
            "model": "Model",
            "conversation": "Conversation",
            "prompt": "Prompt",
            "perplexity": st.column_config.NumberColumn("Perplexity, published", format="%.2f"),
            "ours": st.column_config.NumberColumn(
                "Here, mean of messages",
                format="%.2f",
                help="The figure of the model above, on a conversation with the same name.",
            ),
        },
        alt="Perplexities as they were published",
    )
    st.caption(
        "These are means of the messages' perplexities. The role's name is scored, and the last token of "
        "each message is missed. “As published” under “How words are scored” computes ours in the same way. "
        + ("" if beside else "Our figures are shown beside them if conversations with these names are measured.")
    )
