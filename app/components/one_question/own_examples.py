"""Four questions that a click asks at once, chosen by what the bundled model makes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from app.formatting import plain
from core.inference import models
from core.runs.answering.custom_question import CustomQuestion

MODEL = "pocket-8m"


@dataclass(frozen=True, slots=True)
class QuestionToTry:
    """A question to try, with the options besides "I don't know" and "None of the above".

    ``says`` describes its set by LAC at alpha 0.1.
    """

    label: str
    question: str
    options: tuple[str, ...]
    says: str


EXAMPLES = {
    "sure": QuestionToTry(
        "One it is sure of",
        "Which planet is closest to the Sun?",
        ("Venus", "Mercury", "Mars", "Earth"),
        "The model is sure of this one. At alpha 0.1 the LAC set has one option, and the option is right.",
    ),
    "unsure": QuestionToTry(
        "One it is not sure of",
        "What is the capital of Australia?",
        ("Sydney", "Canberra", "Melbourne", "Perth"),
        "The model prefers the right answer, Canberra, but at alpha 0.1 the LAC set also keeps Sydney and Melbourne.",
    ),
    "unknown": QuestionToTry(
        "One it cannot know",
        "Who founded Microsoft?",
        ("Steve Jobs", "Bill Gates", "Elon Musk", "Mark Zuckerberg"),
        "Nothing that this model read mentions Microsoft. It gives all four people about the same probability, and at "
        "alpha 0.1 the LAC set keeps all four.",
    ),
    "own": QuestionToTry(
        "One with other options",
        "What should we have for dinner?",
        ("pizza", "soup", "salad", "pasta", "curry"),
        "This question has no right answer, and five options instead of four. In training the fifth letter, E, was "
        "never the right one, so the model rules out curry here, as it would anything else in fifth place.",
    ),
}
"""What the bundled model makes of these is checked by ``tests/app/test_own_examples.py``."""


def example_buttons(ask: Callable[[str], None]) -> None:
    """Show a button for each example. ``ask`` is called with the name of the example that is clicked."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("Examples:", width="content")
        for name, example in _examples().items():
            _button(name, example.label, ask, help=example.question)


def example_cards(ask: Callable[[str], None]) -> None:
    """Show a card for each example with its question and options, where no answer is shown yet."""
    offered = list(_examples().items())
    for start in range(0, len(offered), 2):
        for column, (name, example) in zip(st.columns(2), offered[start : start + 2], strict=True):
            with column.container(border=True, height="stretch"):
                st.markdown(f"**{plain(example.question)}**")
                st.caption(plain(" · ".join(example.options)))
                _button(name, example.label, ask)


def _examples() -> dict[str, QuestionToTry]:
    return EXAMPLES if MODEL in models.bundled_models() else {}


def _button(name: str, label: str, ask: Callable[[str], None], *, help: str = "") -> None:
    st.button(label, key=f"own_example_{name}", help=plain(help) or None, on_click=ask, args=(name,))


def what_to_see(own: CustomQuestion) -> str:
    """What is seen in the answer if an example was asked, else an empty text."""
    for example in EXAMPLES.values():
        same = (own.model, own.question, own.options) == (MODEL, example.question, example.options)
        if same and own.extra and not own.context:
            return example.says
    return ""
