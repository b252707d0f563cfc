"""Three cards that lead into Hedge: to the lesson, to a moving alpha, and to a question."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from app import navigation, state
from app.caches import overview_cache
from app.components.overview.first_page import mount, target
from app.formatting import shortened
from app.state.alpha_lab import AlphaLabView
from app.state.compare import CompareView
from app.state.fields import MOST_COMPARED
from app.state.one_question import OneQuestionView
from app.state.overview import OverviewView
from core import access
from core.access import UserRole
from core.conformal.alpha import ALPHAS, THOUSAND
from core.errors import HedgeError, UnreadableRunError
from core.reports.overview.example_question import LONGEST_OPTION
from core.reports.run_filter import record_task_key, task_order
from core.runs.spec import RunSpec
from core.runs.store import RunRecord

ENTRY = "llm-uncertainty-bench"

CURVE_STEP = 10
"""The step between two points of the curve, in thousandths of alpha."""
LONGEST_QUESTION = 120
LESSON_CARD = {
    "kind": "lesson",
    "title": "New to this? Take the ten-minute lesson",
    "text": "What a set of answers promises, and when the promise breaks: figures that you can move. You need no "
    "statistics.",
    "target": target(navigation.LEARN, {}),
}


def ways_in(showcase: RunRecord, finished: Sequence[RunRecord], view: OverviewView) -> None:
    """Show the three cards: the lesson, the ``showcase`` by alpha, and a question.

    If the showcase has no figures, there are no cards: the page then says why.
    """
    shared = overview_cache.shared_view(view)
    try:
        cards = overview_cache.cached_view(finished, ("ways", shared), lambda: _cards(showcase, finished, shared))
    except UnreadableRunError:
        raise
    except HedgeError:
        return
    mount("ways", cards=cards)


def _cards(showcase: RunRecord, finished: Sequence[RunRecord], view: OverviewView) -> list[dict[str, Any]]:
    asks = _with_short_question(showcase, finished, view)
    return [LESSON_CARD, _alpha_card(showcase, view), _question_card(asks, view)]


def _with_short_question(showcase: RunRecord, finished: Sequence[RunRecord], view: OverviewView) -> RunRecord:
    """The showcase, or the first run with its model and settings on another task that has a question without a
    context, if the showcase has none."""
    here = showcase.spec

    def same_but_task(spec: RunSpec) -> bool:
        return replace(spec, task=here.task, batch_size=here.batch_size) == here

    others = [
        record_of_run
        for record_of_run in finished
        if record_of_run is not showcase and same_but_task(record_of_run.spec)
    ]
    for record in (showcase, *sorted(others, key=lambda record_of_run: task_order(record_task_key(record_of_run)))):
        if overview_cache.example(record.run_id, view.score).short:
            return record
    return showcase


def _alpha_card(showcase: RunRecord, view: OverviewView) -> dict[str, Any]:
    summary = overview_cache.summary(showcase.run_id, view.score)
    sizes, options = summary.scores[view.score], summary.row["k"]
    # From the smallest alpha on, where sets are largest, so that no alpha has a mark above the curve.
    alphas = [*ALPHAS[:1], *ALPHAS[CURVE_STEP - 1 :: CURVE_STEP]]
    points = [[int(alpha), sizes.mean_set_size(int(alpha))] for alpha in alphas]
    size = sizes.mean_set_size(view.alpha)
    return {
        "kind": "curve",
        "title": "Drag alpha",
        "text": "Alpha is how often a set may miss the truth.",
        "target": target(navigation.ALPHA_LAB, state.linked(AlphaLabView, view, run=showcase.run_id)),
        "sizes": points,
        "at": [view.alpha, size],
        "options": options,
        "label": f"Mean set size falls as alpha grows; at alpha {view.alpha / THOUSAND:g} it is {size:.1f} of "
        f"{options} options.",
    }


def _question_card(run: RunRecord, view: OverviewView) -> dict[str, Any]:
    example = overview_cache.example(run.run_id, view.score)
    threshold = overview_cache.summary(run.run_id, view.score).scores[view.score].threshold(view.alpha)
    options = zip(example.options, example.members(threshold), strict=True)
    return {
        "kind": "question",
        "title": "One question",
        "text": "Ticked options are in the model's set. You can ask your own.",
        "target": target(
            navigation.ONE_QUESTION,
            state.linked(OneQuestionView, view, run=run.run_id, question=example.id),
        ),
        "question": shortened(example.question, LONGEST_QUESTION),
        "options": [{"text": shortened(text, LONGEST_OPTION), "inside": inside} for text, inside in options],
    }


def ways_on(showcase: RunRecord, table: pd.DataFrame, view: OverviewView) -> None:
    """Link to the runs of the overview frame with the ``showcase``'s questions on Compare, and to the shelf, if the
    person may import from it."""
    alike = table["run"][table["questions"] == overview_cache.summary(showcase.run_id).questions] if len(table) else ()
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(alike) > 1:
            runs = ",".join(alike[:MOST_COMPARED])
            navigation.link(navigation.COMPARE, "Compare these models", **state.linked(CompareView, view, runs=runs))
        if access.may(UserRole.LAUNCHER):
            navigation.link(navigation.DATA, "Open the shelf: published results of models up to 72 B", shelf=ENTRY)
