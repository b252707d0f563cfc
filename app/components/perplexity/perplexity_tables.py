"""Tables of all figures, and of the published ones."""

import math

import pandas as pd
import streamlit as st

from app.components.perplexity.measured_messages import DIFFERENCE_HELP, P_HELP, UNIFORM_HELP, MeasuredMessages, names
from app.components.perplexity.perplexity_form import PerplexityForm
from app.components.shared.static_table import static_table
from app.formatting import rounded, signed
from core.reports import perplexity as reports
from core.reports.p_values import p_text

LARGE = 10_000
"""Perplexities from which decimals say nothing."""


def tables(measured: MeasuredMessages, chosen: PerplexityForm, vocabulary: int | None) -> None:
    """Show figures by conversation and prompt, their differences, and published ones. All tables are folded away."""
    with st.expander("All figures, and the published ones", key="perplexity_tables_open", on_change="rerun") as folded:
        if not folded.open:
            return
        table = reports.by_conversation(measured, vocabulary=vocabulary)
        is_large = float(table[["perplexity", "message_mean"]].to_numpy(float).max()) >= LARGE
        number = "%,.0f" if is_large else "%,.1f"
        st.dataframe(
            table,
            hide_index=True,
            height="content",
            column_config={
                "conversation": st.column_config.TextColumn("Conversation", pinned=True),
                "prompt": "Prompt",
                "messages": "Messages",
                "tokens": st.column_config.NumberColumn("Tokens", format="%,d"),
                "perplexity": st.column_config.NumberColumn("Perplexity", format=number),
                "message_mean": st.column_config.NumberColumn("Mean of messages", format=number),
                "bits_per_byte": st.column_config.NumberColumn("Bits per byte", format="%.3f"),
                "uniform": st.column_config.NumberColumn("Uniform perplexity", format="%,.0f", help=UNIFORM_HELP),
                "uniform_bits_per_byte": st.column_config.NumberColumn(
                    "Uniform, bits per byte", format="%.3f", help=UNIFORM_HELP
                ),
            },
            alt="Perplexities by conversation and prompt",
        )
        a, b = list(measured.values())[:2]
        differences = reports.differences(a, b)
        if len(differences):
            st.markdown("**A − B by conversation**, nats per token")
            shown = pd.DataFrame(
                {
                    "Conversation": differences["conversation"],
                    "A − B (95% interval)": [
                        f"{signed(value, 3)} ({signed(low, 3)} to {signed(high, 3)})"
                        if low == low
                        else f"{signed(value, 3)} (no interval)"
                        for value, low, high in differences[["difference", "low", "high"]].to_numpy()
                    ],
                    "p": differences["p"].map(p_text),
                    "Messages": differences["n"],
                }
            )
            static_table(shown, alt="Differences of the two prompts by conversation")
            st.caption(f"{DIFFERENCE_HELP} {P_HELP}")
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
    st.markdown("**Published figures** (not by Hedge), with other prompts A and B: a counselor and a president")
    rows: dict[tuple[str, str], dict[str, str]] = {}
    columns = ["model", "conversation", "prompt", "perplexity", "ours"]
    for model, conversation, prompt, value, here in printed[columns].itertuples(index=False, name=None):
        row = rows.setdefault((model, conversation), {"Model": model, "Conversation": conversation})
        row[f"Under {prompt}"] = rounded(value)
        if beside:
            row[f"Here under {prompt}"] = "–" if math.isnan(here) else rounded(here)
    static_table(pd.DataFrame(list(rows.values())), alt="Perplexities as they were published", texts=2)
    st.caption(
        "These are means of the messages' perplexities. The role's name is scored, and the last token of "
        "each message is missed. “As published” under “How words are scored” computes ours in the same way. "
        + ("" if beside else "Our figures are shown beside them if conversations with these names are measured.")
    )
