"""Runs that are right far less often than guesses say so before they are kept."""

from dataclasses import replace

import numpy as np
import pytest

from core.exchange import below_chance, table
from core.reports.imported_figures import evaluation
from core.runs.caveats import of_record

pytestmark = pytest.mark.quick


def run_of(tmp_path, right, of):
    """A run of four options that is right for the first rows."""
    rows = [f"0.7,0.1,0.1,0.1,{'A' if i < right else 'B'}" for i in range(of)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["p_A,p_B,p_C,p_D,label", *rows]) + "\n")
    return table.read([path])[0]


@pytest.mark.parametrize(("right", "is_noted"), [(10, True), (11, False)])
def test_the_bound_is_that_of_the_binomial_distribution(tmp_path, right, is_noted):
    """Of 100 guesses with 1/4 each, at most 10 are right with probability 0.00014; of 90, at most 11 with 0.0022."""
    run = below_chance.noted(run_of(tmp_path, right, 100 if is_noted else 90))
    assert ("below_chance" in run.provenance) == is_noted


def test_the_caveat_names_the_figures_and_the_usual_causes(tmp_path):
    run = below_chance.noted(run_of(tmp_path, 4, 80))
    (caveat,) = of_record(run.spec, run.provenance)
    assert caveat.kind == "chance"
    assert caveat.sentence == "Only 4 of 80 answers (5.0%) are right, far fewer than by guessing (25.0%)."
    assert "labels may count from another number" in caveat.way_out
    assert caveat in evaluation(run).recorded


def test_a_table_that_hedge_exported_is_not_judged_again(tmp_path):
    run = run_of(tmp_path, 0, 100)
    run.provenance["exported_run"] = "r"
    assert below_chance.noted(run) is run


def drawn(run, rng, *, right=None, letter=False):
    """The run with other answers: right with this probability, else guesses, or mostly one letter."""
    k, labels = 4, np.array([question.label for question in run.questions])
    picks = rng.integers(0, k, len(labels))
    if letter:
        picks = np.where(rng.random(len(labels)) < 0.8, picks[0], picks)
    if right is not None:
        picks = np.where(rng.random(len(labels)) < right, labels, (labels + rng.integers(1, k, len(labels))) % k)
    return replace(run, scored=replace(run.scored, probabilities=np.where(np.arange(k) == picks[:, None], 0.7, 0.1)))


def test_in_simulations_guesses_are_not_noted_and_labels_read_wrongly_are(tmp_path):
    rng = np.random.default_rng(0)
    run = run_of(tmp_path, 50, 100)
    labels = rng.permutation(np.arange(100) % 4).tolist()
    run = replace(
        run, questions=[replace(question, label=y) for question, y in zip(run.questions, labels, strict=True)]
    )

    def noted(draws, **how):
        return sum("below_chance" in below_chance.noted(drawn(run, rng, **how)).provenance for _ in range(draws))

    assert noted(300) + noted(300, letter=True) <= 3  # at 1 in 1,000, 4 or more come in 0.3% of seeds
    assert noted(30, right=0.1 / 3) == 30  # a model of accuracy .9, whose labels are those of other options
    assert 9 <= noted(30, right=0.3 / 3) <= 26  # of accuracy .7: 58% with 100 questions
    assert noted(30, right=0.5) == 0


def test_guesses_are_rarely_noted():
    """The share of runs of pure guesses that are noted is at most 1 in 1,000: the test is exact."""
    from scipy.stats import binom

    for n in (10, 40, 100, 1000):
        noted = np.arange(n + 1)[binom.cdf(np.arange(n + 1), n, 0.25) < below_chance.SURE]
        assert binom.pmf(noted, n, 0.25).sum() < below_chance.SURE
