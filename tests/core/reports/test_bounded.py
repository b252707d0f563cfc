"""The figures of a run with bounds: between their ends lie those of the run that a full list would have given."""

import numpy as np
import pytest

from core.conformal.bounds import bounded_sets
from core.reports.bounded import (
    bounded_curves,
    bounded_options,
    bounded_report,
    bounded_run,
    probability_ends,
    report_frame,
    report_of,
)
from core.reports.evaluation import load
from core.reports.one_question import bench, standings
from core.reports.report import report
from tests.served import served_run

pytestmark = pytest.mark.quick

ALPHAS = (1, 50, 100, 250, 500, 900, 999)


@pytest.fixture
def run(home):
    return bounded_run(served_run(listed=2))


@pytest.mark.parametrize("name", ["lac", "aps"])
def test_curves_are_the_report_s_figures_at_every_alpha(run, name: str):
    curves = bounded_curves(run, name)
    for alpha in ALPHAS:
        sets = bounded_sets(run.calibration(name), run.test(name), alpha)
        at = alpha - 1
        labels = run.run.labels[run.run.test]
        assert (curves.coverage[0][at], curves.coverage[1][at]) == pytest.approx(sets.coverage(labels))
        assert (curves.mean_set_size[0][at], curves.mean_set_size[1][at]) == pytest.approx(sets.mean_set_size())
        assert curves.exact_share[at] == pytest.approx(sets.exact_share)
    shares = curves.exact_share
    result = report_of(run, 100).scores[name]
    assert sum(round(1000 * (last - first)) + 1 for first, last in result.exact_alphas) == (shares == 1).sum()


def test_the_ends_hold_the_figures_of_a_server_that_lists_everything(home):
    exact = served_run(model="whole")
    ranges = bounded_run(served_run(listed=2))
    truth = load(exact)
    for alpha in ALPHAS:
        figures, between = report(truth, alpha), report_of(ranges, alpha)
        assert between.accuracy[0] <= figures.accuracy <= between.accuracy[1]
        for name, ends in between.scores.items():
            exact_figures = figures.scores[name]
            assert ends.coverage[0] <= exact_figures.coverage <= ends.coverage[1]
            assert ends.mean_set_size[0] <= exact_figures.mean_set_size <= ends.mean_set_size[1]
            assert ends.threshold[0] - 1e-6 <= exact_figures.threshold <= ends.threshold[1] + 1e-6


def test_an_option_leaves_its_set_between_the_alphas_that_are_said(home):
    whole = load(served_run(model="whole"))
    exact = bench(whole)
    ranges = bounded_run(served_run(listed=2))
    undecided = 0
    for row in ranges.run.test[:40]:
        low, high = probability_ends(ranges, row)
        shares = whole.probabilities[row][~np.isnan(whole.probabilities[row])]
        assert (low - 1e-6 <= shares).all()
        assert (shares <= high + 1e-6).all()
        by_name = {standing.name: standing for standing in standings(exact, shares, place=row)}
        for options in bounded_options(ranges, row):
            inside_until = by_name[options.name].leaves - 1  # the largest alpha at which the option is in
            assert (options.surely <= inside_until).all()
            assert (inside_until <= options.perhaps).all()
            undecided += int((options.surely < options.perhaps).sum())
    assert undecided > 0


def test_a_run_without_bounds_has_ends_that_meet(home):
    bounds = bounded_report(served_run(), 100)
    assert bounds.bounded_questions == 0
    assert bounds.accuracy[0] == bounds.accuracy[1]
    frame = report_frame(bounds)
    assert frame["exact_share"].tolist() == [1.0, 1.0]
    assert np.array_equal(frame["coverage_low"], frame["coverage_high"])
