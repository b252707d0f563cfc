"""Models side by side, in bits per byte."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app.components.perplexity.measured_messages import measured_messages
from app.components.perplexity.perplexity_form import PerplexityForm
from app.components.perplexity.perplexity_library import Library
from app.components.shared.static_table import static_table
from core.models.perplexity.figures import bits_per_byte, uniform_bits_per_byte

UNIFORM, UNKNOWN = "Of uniform guessing", "–"


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
                    "Bits per byte": f"{bits_per_byte(whole):.3f}",
                    UNIFORM: f"{uniform_bits_per_byte(whole, size):.3f}" if size else UNKNOWN,
                    "Bytes per token": f"{count / tokens:.2f}",
                }
            )
    table = pd.DataFrame(rows)
    if (table[UNIFORM] == UNKNOWN).all():
        table = table.drop(columns=UNIFORM)
    static_table(table, alt="Bits per byte of each model under each prompt", texts=2)
    st.caption(
        "Fewer bits per byte mean that the model expects the words more. Perplexities of different models can't be "
        "compared, because a perplexity is a mean over tokens, and models cut the same words into different tokens. "
        "The bytes of a text are the same for all models."
    )
