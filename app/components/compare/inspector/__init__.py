"""Two runs question by question: the four counts as filters, and each question with both sets, picks and probabilities.

``rows.js`` chooses and orders the questions, ``row.js`` shows one, and ``inspector.js`` combines them. As in the Alpha
lab, data stays the same between reruns, and filters, the choice of a pair and the keyboard need no message to Python.
"""

from collections.abc import Sequence
from pathlib import Path

from app import navigation, state
from app.components.compare.compare_cache import InspectorTables
from app.components.compare.pair_state import INSPECTOR_KEY, take_view
from app.components.shared.bundled import component
from app.components.shared.messages import message_texts
from app.components.shared.seed import seed
from app.state.compare import CompareView
from app.state.one_question import OneQuestionView
from app.state.shared import SharedView
from core.conformal.scores import SCORES
from core.questions.option_names import short_names

NAMES = ("first", "second", "right", "change", "sure", "subject", "search", "order", "question")
"""The fields of a view that the component shows and changes."""

_mount = component("inspector", Path(__file__).with_name("inspector.html"))


def inspector(
    run_ids: Sequence[str],
    titles: Sequence[str],
    tables: InspectorTables | None,
    *,
    names: Sequence[str],
    others: Sequence[tuple[str, str]],
    version: str,
    view: CompareView,
) -> None:
    """Mount the inspector of runs that share questions (:mod:`core.reports.compare.inspector`).

    ``names`` are what tells the runs apart. ``tables`` is None as long as the questions are still to come: the
    inspector then keeps their place. ``others`` are ids and titles of compared runs with other questions, which can be
    chosen too. ``version`` identifies the data.
    """
    start = seed(INSPECTOR_KEY, version, {name: getattr(view, name) for name in NAMES})
    _mount(
        key=INSPECTOR_KEY,
        data={
            "version": version,
            "runs": [
                {"id": name, "title": title, "name": short}
                for name, title, short in zip(run_ids, titles, names, strict=True)
            ],
            "others": [{"id": name, "title": title} for name, title in others],
            "letters": short_names(tables.letters) if tables else [],
            "options": list(tables.letters) if tables and tables.classes else [],
            "numbers": tables and tables.numbers,
            "texts": tables and tables.texts,
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
    reported = message_texts(INSPECTOR_KEY, "open")
    view = state.read_changes(CompareView, {name: reported[name] for name in NAMES if name in reported})
    state.change(SharedView, run=reported.get("run", ""))
    opened = state.fresh(OneQuestionView, question=reported.get("id", ""), bars=view.score)
    navigation.go(navigation.ONE_QUESTION, **state.address_of(opened))
