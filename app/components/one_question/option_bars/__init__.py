"""One question's options as bars that end at the alpha at which each leaves the set.

``membership.js`` decides who is in, in whole numbers; ``bars.js`` and ``table.js`` show it, ``words.js`` says it,
``option_bars.js`` joins them. As in the alpha lab, data stays the same between reruns and what the browser starts
from (the seed) changes only where the view was changed by other than the component. The table of runs is mounted
apart, so that the bars need not wait for it; it hears a moving alpha from the bars, in the browser.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import streamlit as st

from app import state
from app.components.shared.seed import browser_shows, seed
from app.state.one_question import OneQuestionView
from charts.scripts import bundle
from core.conformal.scores import SCORES
from core.conformal.threshold import full_set_message
from core.records import DONT_KNOW, LETTERS, NONE_OF_ABOVE
from core.reports.alpha_lab.saturation import can_saturate
from core.reports.one_question import CalibratedRun, OptionPValues

KEY = "option_bars"
RUNS_KEY = "question_runs"
HERE = Path(__file__).parent
SCRIPT = HERE / "option_bars.js"

_CSS = (HERE / "option_bars.css").read_text(encoding="utf-8")
_JS = bundle(SCRIPT)
_mount_bars = st.components.v2.component(
    "hedge_option_bars", html=(HERE / "option_bars.html").read_text(encoding="utf-8"), css=_CSS, js=_JS
)
_mount_runs = st.components.v2.component(
    "hedge_question_runs",
    html='<section class="question" aria-label="In several runs"><div class="runs-table wide"></div></section>',
    css=_CSS,
    js=_JS,
)


def option_bars(
    options: Sequence[str],
    found: Sequence[OptionPValues],
    by: CalibratedRun,
    *,
    label: int | None,
    version: str,
    view: OneQuestionView,
) -> None:
    """Mount the bars of one question's ``options`` (k,), calibrated by ``by``.

    ``label`` is the true option's place, None where nobody knows it; ``version`` names the data. A released alpha,
    the policy for empty sets and the chosen score go into the view.
    """
    started = seed(KEY, version, _shown(view))
    alpha, empty, bars = started.start
    _mount_bars(
        key=KEY,
        data={
            "kind": "question",
            "version": version,
            "letters": list(LETTERS[: len(options)]),
            "options": list(options),
            "truth": -1 if label is None else label,
            "top": found[0].top,
            "extra": any(option in (DONT_KNOW, NONE_OF_ABOVE) for option in options),
            "scores": [_score(one, by) for one in found],
            "thresholds": pa.table({one.name: by.scores[one.name].thresholds() for one in found}),
            "alpha": alpha,
            "empty": empty,
            "bars": bars,
            "revision": started.revision,
        },
        on_view_change=_take_view,
    )


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
    """One run's row in the table of runs; ``href`` opens the question there, ``here`` marks the run that is shown."""

    run_id: str
    title: str
    href: str
    here: bool
    standings: tuple[OptionPValues, ...]


def run_table(
    rows: Sequence[RunRow], *, k: int, label: int, version: str, view: OneQuestionView, on_open: Callable[[str], None]
) -> None:
    """Mount the same question in several runs, a row each; ``on_open`` is called with the run that is clicked."""
    _mount_runs(
        key=RUNS_KEY,
        data={
            "kind": "runs",
            "version": version,
            "letters": list(LETTERS[:k]),
            "truth": label,
            "scores": list(SCORES),
            "runs": [
                {
                    "run": row.run_id,
                    "title": row.title,
                    "href": row.href,
                    "here": row.here,
                    "top": row.standings[0].top,
                    "n": {one.name: one.n for one in row.standings},
                    "counts": {one.name: one.counts.tolist() for one in row.standings},
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


def _shown(view: OneQuestionView) -> tuple[int, str, str]:
    return view.alpha, view.empty, view.bars


def _take_view() -> None:
    view = _read(st.session_state[KEY].get("view") or {})
    browser_shows(KEY, _shown(view))


def _open(on_open: Callable[[str], None]) -> None:
    asked: dict[str, Any] = st.session_state[RUNS_KEY].get("open") or {}
    _read(asked)
    on_open(str(asked.get("run", "")))


def _read(reported: dict[str, Any]) -> OneQuestionView:
    """The view with what the browser reports in it; it is checked as a link would be."""
    return state.read_changes(
        OneQuestionView, {name: str(reported.get(name, "")) for name in ("alpha", "empty", "bars")}
    )
