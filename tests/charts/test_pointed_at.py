"""Heat maps and radars: they draw what their frame holds, and a hover says the rest."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from charts import heat_map
from charts.figure import Figure
from charts.juror_pairs import juror_pairs
from charts.radar import AXES, radar
from charts.rank_variances import rank_variances
from core.questions import TASKS
from core.reports import evaluation
from core.reports.compare import benchmark
from core.reports.compare.benchmark import SetRule
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick


@pytest.fixture
def rows(home: Path) -> pd.DataFrame:
    names = [synthetic_run(model=f"model-{i}", seed=i, task=("qa", "rc")[i % 2]) for i in range(4)]
    runs = [evaluation.load(name) for name in names]
    result = benchmark.run_rows(runs, benchmark.reports(runs, SetRule()))
    return result[result["score"] == "lac"]


def drawn_rows(figure: Figure) -> list[dict[str, Any]]:
    """The rows that the figure draws."""
    (rows,) = figure.spec["datasets"].values()
    return rows


def hovers(figure: Figure) -> list[str]:
    """What a hover on a cell names, in order."""
    return [f"{tip['title']} {tip.get('format', '')}".strip() for tip in figure.spec["layer"][0]["encoding"]["tooltip"]]


def test_a_cell_a_run_and_task(rows: pd.DataFrame):
    figure = heat_map.heat_map(rows, "mean_set_size")
    cells = drawn_rows(figure)
    assert sorted(cell["mean_set_size"] for cell in cells) == pytest.approx(sorted(rows["mean_set_size"]))
    assert figure.spec["layer"][0]["encoding"]["fillOpacity"]["scale"]["domain"] == [0, rows["k"].max()]
    assert {cell["column"] for cell in cells} == {"Question\nanswering", "Reading\ncomprehension"}
    for row in rows.to_dict("records"):
        assert f"{row['model']}, {TASKS[row['task']]}: {row['mean_set_size']:.3g}" in figure.alt


def test_rows_say_only_what_tells_them_apart():
    names = ["pocket-1m · 2 shots · by text  Summaries", "pocket-1m · 4 shots · by text  Summaries"]
    figure = heat_map.set_sizes(pd.DataFrame({"name": np.repeat(names, 2), "size": [0, 1] * 2, "share": 0.5}))
    assert [cell["row"] for cell in drawn_rows(figure)] == ["2 shots", "2 shots", "4 shots", "4 shots"]
    assert drawn_rows(figure)[0]["name"] == names[0]  # the hover says the whole name
    assert hovers(figure)[0] == "Run"


def test_a_hover_on_two_jurors_says_the_ends_of_the_interval():
    known = {"agreement": 0.75, "agreement_low": 0.5, "agreement_high": 0.875}
    itself = {"agreement": 1.0, "agreement_low": np.nan, "agreement_high": np.nan}
    pairs = pd.DataFrame(
        [
            {"first": "b", "second": "b", **itself},
            {"first": "a", "second": "a", **itself},
            {"first": "b", "second": "a", **known},
            {"first": "a", "second": "b", **known},
        ]
    )
    figure = juror_pairs(pairs, "agreement")
    assert [cell["agreement"] for cell in drawn_rows(figure)] == [1.0, 0.75, 0.75, 1.0]
    assert (drawn_rows(figure)[1]["agreement_low"], drawn_rows(figure)[1]["agreement_high"]) == (0.5, 0.875)
    assert hovers(figure) == ["Juror", "and", "Same verdict .0%", "from .0%", "to .0%"]


def test_ranks_say_their_variances():
    frame = pd.DataFrame({"layer": ["0 q", "0 q"], "rank": [1, 2], "variance": [4.0, 1.0], "share": [1.0, 0.25]})
    figure = rank_variances(frame)
    assert [cell["percent"] for cell in drawn_rows(figure)] == [100.0, 25.0]
    assert hovers(figure)[-1] == "Variance added .3g"
    assert figure.alt.startswith("2 of 2 ranks add at least 1%")


def test_a_radar_has_a_star_for_each_run_that_is_closed_and_as_wide_as_its_figures(rows: pd.DataFrame):
    drawn = radar(rows).frame.query("kind == 'run'")
    assert drawn["name"].nunique() == len(rows)
    for (_, star), row in zip(drawn.groupby("name", sort=False), rows.to_dict("records"), strict=True):
        assert star["axis"].tolist() == [*AXES, next(iter(AXES))]
        values = star["value"].tolist()
        assert values[0] == values[-1] == pytest.approx(row["accuracy"])
        assert values[2] == pytest.approx(1 - (row["mean_set_size"] - 1) / (row["k"] - 1))
        assert np.hypot(star["x"], star["y"]).tolist() == pytest.approx(values)
