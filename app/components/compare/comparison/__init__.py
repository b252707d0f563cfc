"""All compared runs in one figure: a dot plot of each measure, and a matrix of all pairs.

The dots come first. The matrix is computed in the background (:mod:`app.background`) and arrives in place. A
click on one of its cells chooses that pair for the inspector, which is notified in the browser.
"""

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from app.components.compare.pair_state import COMPARISON_KEY, take_view
from app.components.shared.bundled import component
from app.components.shared.published_switch import source_lines
from app.components.shared.seed import seed
from app.state.compare import CompareView
from core.conformal.scores import SCORES
from core.questions.bank_names import task_title
from core.reports.compare.run_matrix import RunMatrix
from core.reports.overview.published import ALPHA, SOURCES, PublishedResult
from core.reports.run_filter import name_order, task_key

NAMES = ("measure", "first", "second")
"""The fields of a view that the component shows and changes."""

_mount = component("comparison", Path(__file__).with_name("comparison.html"))


def comparison(
    rows: pd.DataFrame,
    titles: Mapping[str, str],
    *,
    names: Mapping[str, str],
    heading: str,
    group: Sequence[str],
    groups: Sequence[tuple[str, Sequence[str]]],
    matrix: RunMatrix | None,
    problem: str,
    published: Sequence[Sequence[PublishedResult]] = (),
    view: CompareView,
) -> None:
    """Mount the dot plots of ``rows`` (:func:`core.reports.compare.benchmark.run_rows`) and the matrix of ``group``.

    ``titles`` maps each run's id to its title, and ``names`` to what tells it from the others; ``heading`` is what all
    of them have in common. ``groups`` are the titles and runs of all groups that share questions.
    ``matrix`` is None while it is computed; ``problem`` says why there is none. ``published`` has figures that others
    published for the runs' tasks, one group for each row below the runs.
    """
    runs = list(titles)
    version = f"{','.join(runs)}|{','.join(group)}|{view.alpha}|{view.score}"
    version += f"|{len(published)}|{view.published_by}|{view.published_models}"
    start = seed(COMPARISON_KEY, version, {name: getattr(view, name) for name in NAMES})
    _mount(
        key=COMPARISON_KEY,
        data={
            "version": version,
            "heading": heading,
            "runs": _runs(rows, titles, names),
            "scores": [{"name": name, "title": SCORES[name].title} for name in dict.fromkeys(rows["score"])],
            "published": [_strip(group, set(_keys(rows))) for group in published],
            "alpha": view.alpha,
            "group": [runs.index(name) for name in group],
            "groups": [{"title": title, "runs": list(names)} for title, names in groups],
            "matrix": None if matrix is None else _matrix(matrix),
            "problem": problem,
            "view": start.start,
            "revision": start.revision,
        },
        on_view_change=lambda: take_view(COMPARISON_KEY, NAMES),
    )


def _runs(rows: pd.DataFrame, titles: Mapping[str, str], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Every run with its names and figures; an interval that does not exist is null."""
    by_score: dict[str, dict[str, Mapping[Hashable, Any]]] = {}
    for row in rows.to_dict("records"):
        by_score.setdefault(row["run"], {})[row["score"]] = row
    drawn = []
    for name in titles:
        own = by_score[name]
        at = next(iter(own.values()))
        drawn.append(
            {
                "id": name,
                "title": titles[name],
                "name": names[name],
                "n": int(at["n_test"]),
                "k": int(at["k"]),
                "accuracy": _estimate(at, "accuracy", "accuracy"),
                "ece": _estimate(at, "ece_excess", "ece"),
                "set_size": {score: _estimate(figures, "mean_set_size", "set_size") for score, figures in own.items()},
                "coverage": {score: _estimate(figures, "coverage", "coverage") for score, figures in own.items()},
            }
        )
    return drawn


def _keys(rows: pd.DataFrame) -> list[str]:
    return [task_key(task, bank) for task, bank in rows[["task", "bank"]].itertuples(index=False)]


def _strip(group: Sequence[PublishedResult], keys: Collection[str]) -> dict[str, Any]:
    """The row of one published table on one task: a mark for each of its models."""
    first = group[0]
    questions = "the same questions as runs here" if first.key in keys else "other questions than the runs here"
    return {
        "name": first.bank,
        "title": f"{task_title(first.task, first.bank)}, {questions}",
        "source": source_lines(first.source),
        "table": SOURCES[first.source].title,
        "alpha": ALPHA,
        "models": [
            {"name": result.model, "accuracy": result.accuracy, "set_size": result.set_size}
            for result in sorted(group, key=lambda result: name_order(result.model))
        ],
    }


def _estimate(row: Mapping[Hashable, Any], value: str, ends: str) -> list[float | None]:
    return [_finite(row[value]), _finite(row[f"{ends}_low"]), _finite(row[f"{ends}_high"])]


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _matrix(matrix: RunMatrix) -> dict[str, Any]:
    """The matrix as JSON values; runs are places in the group."""
    return {
        "n": matrix.n_test,
        "calibration": matrix.n_calibration,
        "smallest": matrix.smallest_p,
        "figures": {name: [_finite(value) for value in values] for name, values in matrix.figures.items()},
        "pairs": {
            name: [
                [
                    pair.first,
                    pair.second,
                    *map(
                        _finite,
                        (pair.difference.value, pair.difference.low, pair.difference.high, pair.p, pair.corrected),
                    ),
                ]
                for pair in pairs
            ]
            for name, pairs in matrix.pairs.items()
        },
    }
