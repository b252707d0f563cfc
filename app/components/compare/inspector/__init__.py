"""Two runs question by question: the four counts as filters, and each question with both sets, picks and probabilities.

``rows.js`` chooses and orders the questions, ``row.js`` shows one, and ``inspector.js`` combines them. As in the Alpha
lab, data stays the same between reruns, and filters, the choice of a pair and the keyboard need no message to Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import streamlit as st

from app import navigation, state
from app.components.compare.pair_state import INSPECTOR_KEY, take_view
from app.components.shared.seed import seed
from app.state.compare import CompareView
from app.state.one_question import OneQuestionView
from app.state.shared import SharedView
from charts.run_names import told_apart
from charts.scripts import bundle
from core.conformal.scores import SCORES
from core.records import LETTERS

HERE = Path(__file__).parent
SCRIPT = HERE / "inspector.js"
NAMES = ("first", "second", "right", "change", "sure", "subject", "search", "order", "question")
"""The fields of a view that the component shows and changes."""

_mount = st.components.v2.component(
    "hedge_inspector",
    html=(HERE / "inspector.html").read_text(encoding="utf-8"),
    css=(HERE / "inspector.css").read_text(encoding="utf-8"),
    js=bundle(SCRIPT),
)


def inspector(
    run_ids: Sequence[str],
    titles: Sequence[str],
    numbers: pa.Table,
    texts: pa.Table,
    *,
    others: Sequence[tuple[str, str]],
    version: str,
    view: CompareView,
) -> None:
    """Mount the inspector of runs that share questions (:mod:`core.reports.compare.inspector`).

    ``others`` are ids and titles of compared runs with other questions, which can be chosen too. ``version`` identifies
    the data.
    """
    start = seed(INSPECTOR_KEY, version, {name: getattr(view, name) for name in NAMES})
    options = sum(name.startswith("o") and name[1:].isdigit() for name in texts.column_names)
    _mount(
        key=INSPECTOR_KEY,
        data={
            "version": version,
            "runs": [
                {"id": name, "title": title, "name": short}
                for name, title, short in zip(run_ids, titles, told_apart(titles), strict=True)
            ],
            "others": [{"id": name, "title": title} for name, title in others],
            "letters": list(LETTERS[:options]),
            "numbers": numbers,
            "texts": texts,
            "alpha": view.alpha,
            "score": view.score,
            "score_title": SCORES[view.score].title,
            "view": start.start,
            "revision": start.revision,
        },
        on_view_change=lambda: take_view(INSPECTOR_KEY, NAMES),
        on_open_change=_open,
    )


def _open() -> None:
    """Open a question of one of the two runs on the One question page."""
    asked: dict[str, Any] = st.session_state[INSPECTOR_KEY].get("open") or {}
    view = state.read_changes(CompareView, {name: str(asked[name]) for name in NAMES if name in asked})
    state.change(SharedView, run=str(asked.get("run", "")))
    opened = state.fresh(OneQuestionView, question=str(asked.get("id", "")), bars=view.score)
    navigation.go(navigation.ONE_QUESTION, **state.address_of(opened))
