"""Three cards that lead into Hedge, each with a small picture of real figures."""

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
from core.questions.bank_names import task_title
from core.reports.overview.example_question import LONGEST_OPTION
from core.reports.run_filter import record_task_key, task_order
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.store import RunRecord

ENTRY = "llm-uncertainty-bench"

CURVE_STEP = 10
"""The step between two points of the curve, in thousandths of alpha."""
MOST_BARS = 4
LONGEST_NAME = 18
LONGEST_QUESTION = 120


def ways_in(showcase: RunRecord, finished: Sequence[RunRecord], view: OverviewView) -> None:
    """Show the three cards: the ``showcase``, models on its questions with its settings, and a question.

    If the showcase has no figures, there are no cards: the page then says why.
    """
    shared = overview_cache.shared_view(view)
    try:
        cards, _ = overview_cache.cached_view(
            finished, ("ways", shared), lambda: _cards(showcase, finished, shared), lasts=lambda value: not value[1]
        )
    except UnreadableRunError:
        raise
    except HedgeError:
        return
    mount("ways", cards=cards)


def _cards(
    showcase: RunRecord, finished: Sequence[RunRecord], view: OverviewView
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The cards, and one sentence for each run on them that can't be read."""
    alike = [record for record in finished if _same_but_model(record, showcase)]
    table, problems = overview_cache.overview(alike, view.alpha, view.score)
    questions = overview_cache.summary(showcase.run_id).questions
    table = table[table["questions"] == questions]
    asks = _with_short_question(showcase, finished, view)
    return [_alpha_card(showcase, view), _models_card(table, view), _question_card(asks, view)], problems


def _same_but_model(record: RunRecord, showcase: RunRecord) -> bool:
    return replace(record.spec, model=showcase.spec.model, batch_size=showcase.spec.batch_size) == showcase.spec


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
    curve, options = summary.scores[view.score].curve, summary.report.k
    # From the smallest alpha on, where sets are largest, so that no alpha has a mark above the curve.
    alphas = [*ALPHAS[:1], *ALPHAS[CURVE_STEP - 1 :: CURVE_STEP]]
    points = [[int(alpha), float(curve.mean_set_size[alpha - 1])] for alpha in alphas]
    size = float(curve.mean_set_size[view.alpha - 1])
    return {
        "kind": "curve",
        "title": "Drag alpha",
        "text": "Alpha is how often a set may miss the truth. Allow more misses, and the sets shrink.",
        "go": "Open the Alpha lab",
        "target": target(navigation.ALPHA_LAB, state.linked(AlphaLabView, view, run=showcase.run_id)),
        "sizes": points,
        "at": [view.alpha, size],
        "options": options,
        "label": f"Mean set size falls as alpha grows; at alpha {view.alpha / THOUSAND:g} it is {size:.1f} of "
        f"{options} options.",
    }


def _models_card(table: pd.DataFrame, view: OverviewView) -> dict[str, Any]:
    size = f"{view.score}_set_size"
    rows = table.sort_values([size, "run"], kind="stable").head(MOST_BARS).to_dict("records")
    first = rows[0]
    title = task_title(first["task"], first["bank"])
    words = "; ".join(f"{row['model']} {row[size]:.1f}" for row in rows)
    runs = ",".join(row["run"] for row in rows[:MOST_COMPARED])
    return {
        "kind": "bars",
        "title": "See which model hedges well",
        "text": "All models make the same promise. The one that keeps it with the smallest sets is the most certain.",
        "go": "Compare these models",
        "target": target(navigation.COMPARE, state.linked(CompareView, view, runs=runs)),
        "heading": f"Options in a set, {title}",
        "bars": [{"name": shortened(row["model"], LONGEST_NAME), "size": float(row[size])} for row in rows],
        "label": f"Mean set sizes on {title}: {words}.",
    }


def _question_card(run: RunRecord, view: OverviewView) -> dict[str, Any]:
    example = overview_cache.example(run.run_id, view.score)
    threshold = overview_cache.summary(run.run_id, view.score).scores[view.score].curve.thresholds[view.alpha - 1]
    options = zip(example.options, example.probabilities.tolist(), example.members(float(threshold)), strict=True)
    return {
        "kind": "question",
        "title": "Ask a question",
        "text": "A ticked option is in the model's set. Ask your own question and see what it can rule out.",
        "go": "Ask your own question",
        "target": target(
            navigation.ONE_QUESTION,
            state.linked(OneQuestionView, view, run=run.run_id, ask="own"),
        ),
        "question": shortened(example.question, LONGEST_QUESTION),
        "options": [
            {"text": shortened(text, LONGEST_OPTION), "share": share, "inside": inside}
            for text, share, inside in options
        ],
    }


def shelf_line(finished: Sequence[RunRecord]) -> None:
    """Show the line if every finished run comes with Hedge and the person may import others."""
    if access.may(UserRole.LAUNCHER) and overview_cache.cached_view(
        finished, "all shipped", lambda: _all_shipped(finished)
    ):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(
                "Published results of models up to 72 B parameters are on the shelf.",
                width="content",
            )
            navigation.link(navigation.DATA, "Open the shelf", shelf=ENTRY)


def _all_shipped(finished: Sequence[RunRecord]) -> bool:
    return all(store.is_bundled(record.run_id) for record in finished)
