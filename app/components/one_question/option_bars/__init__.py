"""One question's options as bars. Each bar ends at the alpha at which its option leaves the set.

``membership.js`` decides in whole numbers which options are in the set. ``bars.js`` and ``table.js`` show it,
``words.js`` describes it, and ``option_bars.js`` combines them. As in the Alpha lab, data stays the same between
reruns. The browser's starting state (the seed) changes only if something other than the component changed the view. The
table of runs is mounted separately, so that the bars need not wait for it. In the browser, the bars tell it of each
change of alpha.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from app import state
from app.components.shared.bundled import component
from app.components.shared.messages import message_texts
from app.components.shared.seed import browser_shows, seed
from app.state.one_question import OneQuestionView
from app.state.presented import PRESENTED_NAMES
from core.conformal.scores import SCORES
from core.conformal.threshold import full_set_message
from core.questions.option_names import short_names
from core.records import FloatArray, Question
from core.reports.alpha_lab.saturation import can_saturate
from core.reports.one_question import CalibratedRun, OptionPValues

KEY = "option_bars"
RUNS_KEY = "question_runs"
SHOWN = ("alpha", "empty", "bars", *PRESENTED_NAMES)
"""The fields of a view that the component shows and changes."""
_mount_bars = component("option_bars", Path(__file__).with_name("option_bars.html"))
_mount_runs = component(
    "question_runs",
    '<section class="question" aria-label="In several runs"><div class="runs-table wide"></div></section>',
    bundle="option_bars",
)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """What is shown of a question: ``label`` is the index of the true one of its ``options`` (k,), or None if it is
    unknown, and the model gives them the ``probabilities`` (k,).
    """

    question: str
    context: str
    options: tuple[str, ...]
    label: int | None
    probabilities: FloatArray


def option_bars(
    question: AskedQuestion,
    standings: Sequence[OptionPValues],
    by: CalibratedRun,
    *,
    name: str,
    version: str,
    view: OneQuestionView,
    caveats: str = "",
    on_turn: Callable[[int], None] | None = None,
) -> None:
    """Mount the bars of one question's options, calibrated by ``by``.

    ``version`` identifies the data. A released alpha, the policy for empty sets, the chosen score and the presenter
    view go into the view. The presenter view shows the run's ``name`` and the ``caveats``. ``on_turn`` is called with
    -1 or 1 when a lecturer asks for the question before or after.
    """
    started = seed(KEY, version, _shown(view))
    _mount_bars(
        key=KEY,
        data={
            **_bars(question, standings, by),
            "version": version,
            "name": name,
            "caveats": caveats,
            "turns": on_turn is not None,
            **started.start,
            "revision": started.revision,
        },
        on_view_change=_take_view,
        on_turn_change=lambda: _turn(on_turn),
    )


def embedded_bars(
    question: AskedQuestion, standings: Sequence[OptionPValues], by: CalibratedRun, view: OneQuestionView
) -> dict[str, Any]:
    """The data of the same bars outside the app (:mod:`charts.embed`)."""
    shown = _shown(replace(view, present="0", shown="page"))
    return {**_bars(question, standings, by), "version": "embed", "turns": False, **shown, "revision": 0}


def _bars(question: AskedQuestion, standings: Sequence[OptionPValues], by: CalibratedRun) -> dict[str, Any]:
    options, label = question.options, question.label
    return {
        "kind": "question",
        "letters": short_names(by.names(len(options))),
        "classes": by.classes,
        "options": list(options),
        "probabilities": question.probabilities.tolist(),
        "question": question.question,
        "context": question.context,
        "truth": -1 if label is None else label,
        "top": standings[0].top,
        "scores": [_score(standing, by) for standing in standings],
        "thresholds": pa.table({standing.name: by.scores[standing.name].thresholds() for standing in standings}),
    }


def _score(standing: OptionPValues, by: CalibratedRun) -> dict[str, Any]:
    about, calibrated = SCORES[standing.name], by.scores[standing.name]
    return {
        "name": standing.name,
        "title": about.title,
        "formula": about.formula,
        "sentence": about.sentence,
        "source": about.source,
        "n": standing.n,
        "counts": standing.counts.tolist(),
        "badge": {True: "tuned", False: "not tuned", None: ""}[calibrated.tuned],
        "note": calibrated.note,
        "saturates": can_saturate(standing.name, calibrated.parameters),
        "full_set_text": full_set_message(standing.n, 1),
    }


@dataclass(frozen=True, slots=True)
class RunRow:
    """One row of the table of runs. ``href`` opens the question in that run; ``here`` marks the run that is shown."""

    run_id: str
    title: str
    href: str
    here: bool
    standings: tuple[OptionPValues, ...]


def run_table(
    rows: Sequence[RunRow],
    question: Question,
    by: CalibratedRun,
    *,
    version: str,
    view: OneQuestionView,
    on_open: Callable[[str], None],
) -> None:
    """Mount the same ``question`` in several runs, one row per run; ``by`` is the run that is shown. ``on_open`` is
    called with the run that is clicked.
    """
    _mount_runs(
        key=RUNS_KEY,
        data={
            "kind": "runs",
            "version": version,
            "letters": short_names(by.names(len(question.options))),
            "classes": by.classes,
            "options": list(question.options),
            "truth": question.label,
            "scores": [name for name in by.scores if all(name in _names(row.standings) for row in rows)],
            "runs": [
                {
                    "run": row.run_id,
                    "title": row.title,
                    "href": row.href,
                    "here": row.here,
                    "top": row.standings[0].top,
                    "n": {standing.name: standing.n for standing in row.standings},
                    "counts": {standing.name: standing.counts.tolist() for standing in row.standings},
                }
                for row in rows
            ],
            "alpha": view.alpha,
            "empty": view.empty,
            "bars": view.bars,
            "revision": 0,
        },
        on_open_change=lambda: _open(on_open),
    )


def _names(standings: Sequence[OptionPValues]) -> list[str]:
    return [standing.name for standing in standings]


def _shown(view: OneQuestionView) -> dict[str, Any]:
    return {name: getattr(view, name) for name in SHOWN}


def _take_view() -> None:
    view = _read(message_texts(KEY, "view"))
    browser_shows(KEY, _shown(view))


def _turn(on_turn: Callable[[int], None] | None) -> None:
    reported = message_texts(KEY, "turn")
    browser_shows(KEY, _shown(_read(reported)))
    if on_turn and reported.get("direction") in ("-1", "1"):
        on_turn(int(reported["direction"]))


def _open(on_open: Callable[[str], None]) -> None:
    reported = message_texts(RUNS_KEY, "open")
    _read(reported)
    on_open(reported.get("run", ""))


def _read(reported: dict[str, str]) -> OneQuestionView:
    """Update the view with what the browser reports. The values are validated as those of a link are."""
    return state.read_changes(OneQuestionView, {name: reported[name] for name in SHOWN if name in reported})
