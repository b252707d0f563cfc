"""Coverage minus its target is drawn for one score, with the first run's band around nothing."""

import pandas as pd
import pytest

from charts.nominal_coverage import coverage_minus_target

pytestmark = pytest.mark.quick


def _frame() -> pd.DataFrame:
    rows = [
        {
            "name": name,
            "score": score,
            "nominal": nominal,
            "coverage": nominal + gap,
            "low": nominal - 0.05,
            "high": 0.99,
        }
        for name, gap in (("one", -0.03), ("two", 0.02))
        for score in ("lac", "aps")
        for nominal in (0.5, 0.9)
    ]
    return pd.DataFrame(rows)


def test_the_difference_is_in_points_and_of_one_score():
    figure = coverage_minus_target(_frame(), "lac")
    assert set(figure.frame["score"]) == {"lac"}
    assert figure.frame["difference"].tolist() == pytest.approx([-3, -3, 2, 2])
    assert figure.frame["below"].tolist() == pytest.approx([-5] * 4)
    assert "one falls short by 3.0 points at most; two falls short by 0.0 points at most" in figure.alt
    assert figure.name == "coverage-minus-target-lac"
    figure.chart.to_dict()  # validates


@pytest.mark.parametrize(("longer", "below"), [("", 600), (" · Reading comprehension, by text", 1400)])
def test_long_names_have_rows_of_their_own_while_two_need_the_charts_width(longer, below):
    chart = coverage_minus_target(_frame().assign(name=lambda rows: rows["name"] + longer), "lac").chart
    assert f"windowSize()[0] < {below} ? 1 :" in chart.to_json()
