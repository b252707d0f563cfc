"""Four example questions that a click asks at once, chosen by the bundled model's answers to them."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from app.formatting import plain
from core.models import model_sources
from core.runs.answering.custom_question import CustomQuestion
from core.runs.spec import RunSpec

RUN = RunSpec(model="pocket-8m-humble", task="qa")
"""The run that calibrates the examples: the one that pages open with, if no other is chosen."""
MODEL = RUN.model


@dataclass(frozen=True, slots=True)
class QuestionToTry:
    """A question to try. ``says`` describes its set by LAC at alpha 0.1, calibrated by :data:`RUN`."""

    label: str
    question: str
    options: tuple[str, ...]
    says: str


EXAMPLES = {
    "sure": QuestionToTry(
        "One it is sure of",
        "Which planet is the closest to the sun?",
        ("Mars", "Mercury", "Venus", "Earth"),
        "The model is sure: at alpha 0.1 the LAC set has a single option, and it is the right one.",
    ),
    "unsure": QuestionToTry(
        "One it is not sure of",
        "What is the capital of Canada?",
        ("Toronto", "Ottawa", "Vancouver", "Montreal"),
        "The model prefers Toronto, which is wrong. But at alpha 0.1 the LAC set also keeps Ottawa, the right answer.",
    ),
    "unknown": QuestionToTry(
        "One it cannot know",
        "Who won the football World Cup in 2014?",
        ("Brazil", "Germany", "Argentina", "Spain"),
        "Nothing that this model read mentions a World Cup. It is sure all the same, and wrong: Germany won. The "
        "guarantee covers questions like those that calibrate the set, and this is not one.",
    ),
    "own": QuestionToTry(
        "One with more options",
        "Which instrument sounds best?",
        ("the piano", "the violin", "the guitar", "the flute", "the drum"),
        "This question has no right answer, and five options instead of four, so its set promises nothing. It still "
        "shows which options the model prefers.",
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
    return EXAMPLES if model_sources.ships(MODEL) else {}


def _button(name: str, label: str, ask: Callable[[str], None], *, help: str = "") -> None:
    st.button(label, key=f"own_example_{name}", help=plain(help) or None, on_click=ask, args=(name,))


def what_to_see(own: CustomQuestion) -> str:
    """A sentence on what the answer shows, if the model is the one for which the example was chosen; otherwise an empty
    text."""
    for example in EXAMPLES.values():
        if (own.question, own.options, own.context) == (example.question, example.options, ""):
            return example.says if (own.model, own.run_id) == (MODEL, RUN.run_id) else ""
    return ""
