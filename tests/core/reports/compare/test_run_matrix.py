"""The matrix of all pairs against each pair alone, and the tables of the inspector."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from core.conformal.pvalues import holm
from core.errors import InputError
from core.reports import question_plan
from core.reports.compare import inspector, paired, run_matrix
from core.reports.compare.pair_in_words import detectable_words
from core.reports.compare.paired_shares import paired_share_interval
from core.reports.compare.power import ROUGH
from core.reports.compare.run_matrix import SWAPS, pairs_frame
from core.reports.compare.shared_questions import groups
from core.reports.evaluation import load
from core.reports.scored_sets import form
from core.runs import store
from tests.conftest import synthetic_run
from tests.core.reports.compare.rotated import rotated_copy

pytestmark = pytest.mark.quick


def models(count: int, *, n: int = 200) -> list[str]:
    return [synthetic_run(n, seed=3, model=f"model-{i}", signal=0.8 + 0.3 * i) for i in range(count)]


@pytest.mark.parametrize("score", ["lac", "raps", "aps-randomised"])
def test_the_figures_of_a_pair_are_those_of_the_pair_alone(home, score: str):
    runs = [load(name) for name in models(3)]
    result = run_matrix.run_matrix(runs, 100, score=score, resamples=300)
    assert (result.n_test, len(result.pairs["accuracy"])) == (100, 3)
    for k, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        (alone,) = paired.compare([(runs[i], runs[j])], 100, score=score)
        for name, figure in (("accuracy", alone.accuracy), ("set_size", alone.set_size), ("uacc", alone.uacc)):
            pair = result.pairs[name][k]
            assert (pair.first, pair.second) == (i, j)
            assert pair.difference.value == pytest.approx(figure.mean)
            assert pair.difference.value == pytest.approx(result.figures[name][j] - result.figures[name][i])
            assert pair.difference.low <= pair.difference.value <= pair.difference.high
        assert result.pairs["accuracy"][k].p == alone.p_values["accuracy"]
        assert result.pairs["set_size"][k].p == pytest.approx(alone.p_values["set_size"], abs=0.12)
    for pairs in result.pairs.values():
        assert [figure.corrected for figure in pairs] == holm([figure.p for figure in pairs])


def test_as_many_swaps_as_of_a_pair_give_its_p_value(home):
    a, b = (load(name) for name in models(2))
    (alone,) = paired.compare([(a, b)], 100)
    result = run_matrix.run_matrix([a, b], 100, resamples=2000)
    assert result.pairs["set_size"][0].p == alone.p_values["set_size"]
    assert result.pairs["uacc"][0].p == alone.p_values["uacc"]
    assert result.pairs["set_size"][0].difference.ends == pytest.approx((alone.set_size.low, alone.set_size.high))
    assert result.smallest_p == 1 / (1 + SWAPS)


def test_runs_without_shared_questions_and_too_many_runs_are_refused(home):
    a, b = load(synthetic_run(seed=1, n=30)), load(synthetic_run(seed=2, n=14, model="other"))
    with pytest.raises(InputError, match="needs at least 10"):
        run_matrix.run_matrix([a, b], 100)
    with pytest.raises(InputError, match="compares 2 to 12 runs, not 1"):
        run_matrix.run_matrix([a], 100)


def test_groups_are_runs_with_the_same_test_questions(home):
    same, other = models(2, n=40), synthetic_run(40, seed=5, model="elsewhere")
    assert groups([same[0], other, same[1]]) == [(same[0], same[1]), (other,)]


def test_a_pair_s_detectable_differences_are_those_of_a_plan_from_it(home):
    runs = [load(name) for name in models(2)]
    result, pilot = run_matrix.run_matrix(runs, 100, resamples=20), question_plan.pilot_of(runs, 100)
    figures = question_plan.figures_of(pilot, pilot.calibration, pilot.tests, 100)
    assert result.pairs["accuracy"][0].detectable == figures.accuracy > 0
    assert result.pairs["set_size"][0].detectable == figures.set_size > 0
    assert result.pairs["set_size"][0].rough == figures.rough is True  # a hundred calibration questions
    assert pairs_frame(result)["rough"].tolist() == [False, True, False]
    assert ROUGH in detectable_words(result)
    unlike = [load(synthetic_run(1600, seed=3, model=f"unlike-{signal}", signal=signal)) for signal in (0.5, 3.0)]
    assert ROUGH not in detectable_words(run_matrix.run_matrix(unlike, 100, resamples=20))
    three = run_matrix.run_matrix([load(name) for name in models(3)], 100, resamples=20)
    assert three.pairs["accuracy"][0].detectable > figures.accuracy  # at 5% over three pairs


def test_the_frame_has_a_row_for_each_figure_and_pair(home):
    result = run_matrix.run_matrix([load(name) for name in models(3)], 100, resamples=20)
    frame = pairs_frame(result)
    assert len(frame) == 9
    assert (frame["second_value"] - frame["first_value"]).tolist() == pytest.approx(frame["difference"].tolist())


def test_tangos_interval_holds_the_differences_that_its_statistic_does_not_reject():
    """At the ends the score statistic is ±z: q from the quadratic by numpy's roots."""
    b, c, n = 9, 4, 60
    result = paired_share_interval(c, b, n, z=1.96)
    for d, sign in ((result.low, 1), (result.high, -1)):
        roots = np.roots([2 * n, -b - c + (2 * n - b + c) * d, -c * d * (1 - d)])
        q = max(roots.real)
        assert (b - c - n * d) / math.sqrt(n * (2 * q + d * (1 - d))) == pytest.approx(1.96 * sign, abs=1e-6)


def test_tangos_interval_at_its_edges():
    none = paired_share_interval(0, 0, 100, z=1.96)
    assert none.value == 0
    # Without a discordant question the ends are z²/(n + z²) away, as of Wilson's interval of none in n.
    assert none.high == pytest.approx(1.96**2 / (100 + 1.96**2), abs=1e-4)
    assert none.low == pytest.approx(-none.high)
    every = paired_share_interval(0, 20, 20, z=float(norm.ppf(0.975)))
    assert (every.value, every.high) == (1, pytest.approx(1))
    assert every.low < 1


def test_the_inspectors_numbers_are_those_of_the_runs(home):
    runs = [load(name) for name in models(2)]
    shared = run_matrix.shared_questions(runs, 100, score="aps")
    table = inspector.inspector_numbers(shared)
    texts = inspector.inspector_texts(runs)
    assert table.num_rows == texts.num_rows == 100
    assert "id1" not in table.column_names
    for i, run in enumerate(runs):
        members = form(run, "aps", 100).members
        bits = table[f"set{i}_0"].to_numpy()
        assert [[bool(bit >> j & 1) for j in range(run.k)] for bit in bits.tolist()] == members.tolist()
        assert table[f"pick{i}"].to_pylist() == run.probabilities[run.test].argmax(axis=1).tolist()
        shares = np.stack([table[f"p{i}_{j}"].to_numpy() for j in range(run.k)], axis=1)
        assert shares / 10_000 == pytest.approx(run.probabilities[run.test], abs=5e-5)
    assert table["label"].to_pylist() == runs[0].labels[runs[0].test].tolist()
    stored = {row["id"]: row for row in store.read_questions(runs[0].run_id).to_pylist()}
    assert texts["id"].to_pylist() == runs[0].ids[runs[0].test].tolist()
    first = texts.slice(0, 1).to_pylist()[0]
    assert [first[f"o{j}"] for j in range(6)] == stored[first["id"]]["options"]


def test_options_in_another_order_are_shown_in_that_of_the_first_run(home):
    """The same run with every question's options reversed has the same sets and picks once they are put in order."""
    name = models(1)[0]
    run, turned = load(name), load(rotated_copy(name))
    table = inspector.inspector_numbers(run_matrix.shared_questions([run, turned], 100))
    for column in ("pick{}", "set{}_0", *(f"p{{}}_{j}" for j in range(run.k))):
        own, other = (column.format(i) for i in (0, 1))
        assert table[own].to_pylist() == table[other].to_pylist(), column
    result = run_matrix.run_matrix([run, turned], 100, resamples=50)
    assert {pair.p for pairs in result.pairs.values() for pair in pairs} == {1.0}
