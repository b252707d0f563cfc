"""Figures of a run in which only an upper bound of some letters is known, as ranges that move with alpha.

Where the ends of a range meet, the figure is known. Python computes both ends at every alpha
(:mod:`core.reports.bounded`), and the browser draws those of the alpha that a person drags to. As in the Alpha lab,
data stays the same between reruns, and a released alpha goes into the view.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import streamlit as st

from app import state
from app.components.shared.bundled import component
from app.components.shared.messages import message_texts
from app.components.shared.seed import browser_shows, seed
from app.state.presented import PresentedView
from core.conformal.scores import SCORES
from core.records import OPTION_NAMES, FloatArray
from core.reports.bounded import BoundedCurves, BoundedOptions, BoundedRun

LAB_KEY, QUESTION_KEY = "lab_ranges", "question_ranges"
NOT_PRESENTED = (
    "Ranges have no presenter view. To fill the window with the figures, choose a run whose figures are known exactly."
)
_mount = component("ranges", Path(__file__).with_name("ranges.html"))


def lab_ranges(
    bounded: BoundedRun, curves: Mapping[str, BoundedCurves], shown: Sequence[str], *, version: str, view: PresentedView
) -> None:
    """Mount the coverage, the mean set size and the share of exact sets of a run, at every alpha, by the two scores
    that are ``shown`` side by side."""
    columns = {
        f"{name}_{figure}": values
        for name, curve in curves.items()
        for figure, values in {
            "coverage_low": curve.coverage[0],
            "coverage_high": curve.coverage[1],
            "size_low": curve.mean_set_size[0],
            "size_high": curve.mean_set_size[1],
            "exact": curve.exact_share,
        }.items()
    }
    run = bounded.run
    _mounted(
        LAB_KEY,
        {
            "kind": "lab",
            "n": len(run.calibration),
            "m": len(run.test),
            "k": run.k,
            "bounded": bounded.bounded_questions,
            "scores": [{"name": name, "title": SCORES[name].title} for name in shown],
            "curves": pa.table(columns),
        },
        version=":".join([version, *shown]),
        view=view,
    )


def question_ranges(
    options: Sequence[str],
    standings: Sequence[BoundedOptions],
    probabilities: tuple[FloatArray, FloatArray],
    *,
    label: int | None,
    version: str,
    view: PresentedView,
) -> None:
    """Mount one question's ``options`` (k,) with the least and the largest of their ``probabilities``.

    ``label`` is the index of the true option, or None if it is unknown.
    """
    low, high = probabilities
    _mounted(
        QUESTION_KEY,
        {
            "kind": "question",
            "letters": list(OPTION_NAMES[: len(options)]),
            "options": list(options),
            "truth": -1 if label is None else label,
            "low": low.tolist(),
            "high": high.tolist(),
            "scores": [
                {
                    "name": standing.name,
                    "title": SCORES[standing.name].title,
                    "surely": standing.surely.tolist(),
                    "perhaps": standing.perhaps.tolist(),
                }
                for standing in standings
            ],
        },
        version=":".join([version, *(standing.name for standing in standings)]),
        view=view,
    )


def _mounted(key: str, data: dict[str, Any], *, version: str, view: PresentedView) -> None:
    (st.info if view.present == "1" else st.caption)(NOT_PRESENTED)
    started = seed(key, version, view.alpha)
    _mount(
        key=key,
        data={**data, "version": version, "alpha": started.start, "revision": started.revision},
        on_view_change=lambda: _take_view(key, type(view)),
    )


def _take_view(key: str, page: type[PresentedView]) -> None:
    view = state.read_changes(page, {"alpha": message_texts(key, "view").get("alpha", "")})
    browser_shows(key, view.alpha)
