"""Models side by side, in bits per byte."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from app.caches.perplexity_library import Library
from app.components.perplexity.measured_messages import UNIFORM_HELP, measured_messages
from app.components.perplexity.perplexity_form import PerplexityForm
from core.perplexity.figures import bits_per_byte, uniform_bits_per_byte


def across_models(ready: list[str], chosen: PerplexityForm, found: Library) -> None:
    """Compare models, in bits per byte only."""
    st.subheader("Across models", anchor=False)
    rows = []
    for model in ready:
        size = found.vocabulary(chosen.setup(model), [one.digest for one in chosen.prompts], chosen.talks)
        for name, of in measured_messages(chosen, found, chosen.setup(model)).items():
            whole = [message for messages in of.values() for message in messages]
            tokens, count = sum(m.tokens for m in whole), sum(m.bytes for m in whole)
            rows.append(
                {
                    "Model": model,
                    "Prompt": name,
                    "Bits per byte": bits_per_byte(whole),
                    "Uniform": uniform_bits_per_byte(whole, size) if size else math.nan,
                    "Bytes per token": count / tokens,
                }
            )
    table = pd.DataFrame(rows)
    st.dataframe(
        table,
        hide_index=True,
        column_config={
            "Bits per byte": st.column_config.NumberColumn(
                format="%.3f", help="Lower means that the model expects the words more."
            ),
            "Uniform": st.column_config.NumberColumn(format="%.3f", help=UNIFORM_HELP),
            "Bytes per token": st.column_config.NumberColumn(
                format="%.2f", help="The mean length of the model's tokens."
            ),
        },
        alt="Bits per byte of each model under each prompt",
    )
    st.caption(
        "Perplexity is left out here on purpose. It is an average over tokens, and models cut the same words "
        "into different tokens. A model with long tokens has fewer of them, and each one is less likely. "
        "Bits per byte use the same unit for all models: the bytes of the text."
    )
