"""One question as two prompting methods asked it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from app.caches import prompting_cache
from app.components.one_question.question import show_question
from app.formatting import counted, plain, shortened
from core.records import LETTERS, Question
from core.reports.prompting import experiments as reports
from core.reports.prompting.experiments import LETTERS_METHOD, MethodSets, PromptingMethod


def card(one: MethodSets, two: MethodSets, question_id: str) -> None:
    """Show a question as both methods asked it."""
    asked = prompting_cache.question(one.reading, question_id)
    show_question(asked)
    sides = [each.side(question_id) for each in (one, two)]
    k = min(len(side.probabilities) for side in sides)
    table = pd.DataFrame({"option": [_named(asked, j) for j in range(k)]})
    columns: dict[str, Any] = {"option": st.column_config.TextColumn("Option", width="medium")}
    for name, side in zip(("first", "second"), sides, strict=True):
        table[name] = side.probabilities[:k]
        table[f"{name}_in"] = ["in" if side.members[j] else "out" for j in range(k)]
        columns[name] = st.column_config.ProgressColumn(
            shortened(side.reading.title, 24), format="percent", min_value=0, max_value=1, help=side.reading.title
        )
        columns[f"{name}_in"] = st.column_config.TextColumn("Set", width=50)
    st.dataframe(
        table,
        hide_index=True,
        height="content",
        column_config=columns,
        alt="The question's options by both ways of asking",
    )
    for side in sides:
        right = "the truth" if side.pick == asked.label else "not the truth"
        size = sum(side.members)
        st.caption(
            plain(
                f"{side.reading.title} picks {LETTERS[side.pick]}, {right}. Its set holds "
                f"{counted(size, 'option')}{'' if not size or side.members[asked.label] else ' and misses the truth'}."
            )
        )
    texts = next((side.reading for side in sides if side.reading.method != LETTERS_METHOD), None)
    if texts:
        _texts(texts, question_id)


def _named(asked: Question, j: int) -> str:
    return f"{LETTERS[j]}. {shortened(asked.options[j], 90)}{' (the truth)' if j == asked.label else ''}"


def _texts(reading: PromptingMethod, question_id: str) -> None:
    st.markdown("**Scores of the options' texts**")
    st.dataframe(
        reports.option_scores(reading, question_id),
        hide_index=True,
        height="content",
        column_config={
            "option": "Option",
            "log_p": st.column_config.NumberColumn(
                "log p", format="%.2f", help="The log-probability of all tokens of the option, in nats."
            ),
            "tokens": "Tokens",
            "unconditional": st.column_config.NumberColumn(
                "after “Answer:”",
                format="%.2f",
                help="The option's log p after a bare “Answer:”, without the question.",
            ),
            "mutual": st.column_config.NumberColumn(
                "alone", format="%.2f", help="The option's log p at the start of a text, as in lm-evaluation-harness."
            ),
        },
        alt="Log-likelihoods of the options' texts",
    )
