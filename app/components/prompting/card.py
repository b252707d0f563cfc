"""One question as two prompting methods asked it."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from app.caches import prompting_cache
from app.components.one_question.question import show_question
from app.components.shared.static_table import static_table
from app.formatting import counted, plain, shortened, signed
from core.records import LETTERS, Question
from core.reports.prompting import experiments as reports
from core.reports.prompting.experiments import LETTERS_METHOD, MethodSets, PromptingMethod


def card(one: MethodSets, two: MethodSets, question_id: str) -> None:
    """Show a question as both methods asked it."""
    asked = prompting_cache.question(one.reading, question_id)
    show_question(asked)
    sides = [each.side(question_id) for each in (one, two)]
    k = min(len(side.probabilities) for side in sides)
    table = pd.DataFrame({"Option": [_named(asked, j) for j in range(k)]})
    for side in sides:
        table[side.reading.title] = [
            f"{p:.1%}, {'in the set' if side.members[j] else 'out'}" for j, p in enumerate(side.probabilities[:k])
        ]
    static_table(table, alt="The probability of each option, and whether it is in the set, by both ways")
    for side in sides:
        right = "the truth" if side.pick == asked.label else f"but the truth is {LETTERS[asked.label]}"
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
    return f"{'✓ ' if j == asked.label else ''}{LETTERS[j]}. {shortened(asked.options[j], 90)}"


def _texts(reading: PromptingMethod, question_id: str) -> None:
    st.markdown("**Log-probabilities of the options' texts**, in nats")
    scores = reports.option_scores(reading, question_id)
    columns = {
        "log_p": "After the question",
        "unconditional": "After “Answer:” alone",
        "mutual": "At the start of a text",
    }
    table = pd.DataFrame(
        {
            "Option": scores["option"],
            **({"Tokens": scores["tokens"].map("{:,}".format)} if "tokens" in scores else {}),
            **{title: [_log(value) for value in scores[name]] for name, title in columns.items() if name in scores},
        }
    )
    static_table(table, alt="Log-likelihoods of the options' texts")
    st.caption(
        "Each is the log-probability of all tokens of the option: after the question, after a bare “Answer:” without "
        "the question, and at the start of a text, as in lm-evaluation-harness."
    )


def _log(value: float) -> str:
    return "–" if math.isnan(value) else signed(value, 2)
