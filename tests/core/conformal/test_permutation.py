"""The paired permutation test: by hand, against loops over whole sets, and what must always hold."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from core.conformal import permutation
from core.conformal.permutation import Swappable, swap_test
from core.conformal.probabilities import softmax
from core.conformal.scores import score, true_scores
from core.conformal.threshold import threshold
from core.errors import InputError

pytestmark = pytest.mark.quick

NONE = np.array([])


def two(n: int, m: int, *, k: int = 4, seed: int = 0, signal: float = 1.2, alone: int = 0) -> list[Swappable]:
    """Two models on the same questions, the second with ``signal`` more."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n + m + alone)
    scores, right = [], []
    for extra in (0.0, signal):
        logits = rng.normal(size=(n + m + alone, k))
        logits[np.arange(len(labels)), labels] += 1.2 + extra
        p = softmax(logits)
        scores.append(score("lac", p))
        right.append((p.argmax(axis=1) == labels)[n : n + m].astype(float))
    true = [true_scores(run_scores, labels) for run_scores in scores]
    swappables = []
    for own, other in ((0, 1), (1, 0)):
        swappables.append(
            Swappable(
                np.stack([true[own][:n], true[other][:n]]),
                true[own][n + m :],
                np.stack([scores[own][n : n + m], scores[other][n : n + m]]),
                np.stack([right[own], right[other]]),
                k,
            )
        )
    return swappables


def naive(first: Swappable, second: Swappable, calibration, test, alpha: int, empty: str) -> float:
    """Mean set size of the second run less the first's after one row of swaps, question by question."""
    means = []
    for side in (first, second):
        own = [side.calibration[int(swap), i] for i, swap in enumerate(calibration)] + side.alone.tolist()
        sizes = []
        for i, swap in enumerate(test):
            row = side.test[int(swap), i]
            size = int((row <= threshold(np.array(own), alpha)).sum())
            sizes.append(max(size, 1) if empty == "top1" else size)
        means.append(sum(sizes) / len(sizes))
    return means[1] - means[0]


def test_all_swaps_of_three_questions_by_hand():
    """One calibration question at alpha .5 (rank 1 of 1) and two test questions of two options."""
    # The first model's threshold is .2 and it keeps one option in each set; the second's is .6 and it keeps two.
    first = Swappable(
        np.array([[0.2], [0.6]]), NONE, np.array([[[0.1, 0.5]] * 2, [[0.3, 0.5]] * 2]), np.ones((2, 2)), 2
    )
    second = Swappable(first.calibration[::-1], NONE, first.test[::-1], first.right[::-1], 2)
    # Sizes at .2: 1 of the first model's row, 0 of the second's; at .6 both keep 2. Without the calibration swap
    # T = 2 − (1 or 0 a question): 1, 1.5, 1.5, 2; with it the signs turn. T = 1 is the least: p = 1.
    differences = [
        permutation._differences(first, second, np.array([[c]]), np.array([[a, b]]), 500, "allow")[0, 0]
        for c, a, b in product((False, True), repeat=3)
    ]
    assert differences == [1.0, 1.5, 1.5, 2.0, -2.0, -1.5, -1.5, -1.0]
    assert swap_test(first, second, 500, resamples=200).mean_set_size == 1.0


@pytest.mark.parametrize("empty", ["allow", "top1"])
@pytest.mark.parametrize("alone", [0, 7])
def test_figures_after_swaps_are_those_of_loops(empty, alone):
    n, m = 30, 12
    first, second = two(n, m, alone=alone)
    rng = np.random.default_rng(1)
    swaps = rng.integers(0, 2, (5, n)).astype(bool), rng.integers(0, 2, (5, m)).astype(bool)
    for alpha in (100, 333, 700):
        result = permutation._differences(first, second, *swaps, alpha, empty)[0]
        slow = [naive(first, second, swaps[0][r], swaps[1][r], alpha, empty) for r in range(5)]
        assert result == pytest.approx(slow)


def test_options_that_a_question_lacks_are_in_no_set():
    first, second = two(40, 20)
    lacking = [replace(side, test=np.where(np.arange(4) == 3, np.nan, side.test)) for side in (first, second)]
    result = permutation._differences(*lacking, np.zeros((1, 40), bool), np.zeros((1, 20), bool), 1, "allow")
    assert result[0, 0] == 0  # alpha .001: all sets are full, with three options each
    limits = np.full((1, 1), np.inf)
    assert (permutation.sizes_at(lacking[0].test[0], limits) == 3).all()


def test_a_model_beside_itself_differs_in_nothing():
    first, _ = two(50, 40)
    same = Swappable(
        np.stack([first.calibration[0]] * 2), NONE, np.stack([first.test[0]] * 2), np.stack([first.right[0]] * 2), 4
    )
    result = swap_test(same, same, 100, resamples=300)
    assert (result.mean_set_size, result.uacc) == (1.0, 1.0)


def test_it_does_not_matter_which_run_is_first():
    first, second = two(80, 60, signal=0.5)
    assert swap_test(first, second, 100) == swap_test(second, first, 100)


def test_a_better_model_is_found_and_the_seed_repeats():
    first, second = two(200, 200, signal=2.0)
    result = swap_test(first, second, 100)
    assert result.mean_set_size == result.uacc == 1 / 2001
    assert swap_test(first, second, 100, seed=4) == swap_test(first, second, 100, seed=4)


def test_uacc_that_is_not_defined_is_no_difference():
    first, second = two(30, 10)
    # All options of all test questions score 2, above any threshold: every set is empty.
    nothing = [replace(side, test=np.full_like(side.test, 2.0)) for side in (first, second)]
    result = swap_test(*nothing, 500, resamples=50)
    assert (result.mean_set_size, result.uacc) == (1.0, 1.0)


def test_runs_of_other_questions_are_refused():
    first, second = two(30, 10)
    with pytest.raises(InputError, match="30 and 29 calibration and 10 and 10 test questions"):
        swap_test(first, replace(second, calibration=second.calibration[:, 1:]), 100)
    with pytest.raises(InputError, match="alpha in thousandths"):
        swap_test(first, second, 0)


def test_swapping_every_question_turns_both_figures_round():
    first, second = two(40, 30)
    n, m = np.ones((1, 40), dtype=bool), np.ones((1, 30), dtype=bool)
    seen = permutation._differences(first, second, ~n, ~m, 100, "allow")
    assert (np.abs(seen) > 0).all()
    assert permutation._differences(first, second, n, m, 100, "allow") == pytest.approx(-seen)


def naive_uacc(first: Swappable, second: Swappable, calibration, test, alpha: int) -> float:
    """UAcc of the second run less the first's after one row of swaps: accuracy · √k / mean set size."""
    values = []
    for side in (first, second):
        own = np.array([side.calibration[int(swap), i] for i, swap in enumerate(calibration)] + side.alone.tolist())
        limit = threshold(own, alpha)
        size = np.mean([(side.test[int(swap), i] <= limit).sum() for i, swap in enumerate(test)])
        right = np.mean([side.right[int(swap), i] for i, swap in enumerate(test)])
        values.append(right * np.sqrt(side.options) / size)
    return values[1] - values[0]


def test_p_values_are_those_of_counting_seeded_swaps_by_loops(monkeypatch):
    first, second = two(14, 18, seed=3, signal=0.6)
    none = np.zeros(14, dtype=bool), np.zeros(18, dtype=bool)
    swaps = permutation.coins(np.random.default_rng([7, 0x5A9]), 80, 32)
    assert swaps.dtype == np.bool_
    size = abs(naive(first, second, *none, 200, "allow"))
    uacc = abs(naive_uacc(first, second, *none, 200))
    sizes = [abs(naive(first, second, row[:14], row[14:], 200, "allow")) for row in swaps]
    uaccs = [abs(naive_uacc(first, second, row[:14], row[14:], 200)) for row in swaps]
    expected = [
        (1 + sum(value >= seen - 1e-9 for value in swapped)) / 81 for seen, swapped in ((size, sizes), (uacc, uaccs))
    ]
    assert all(1 / 81 < value < 1 for value in expected)
    result = swap_test(first, second, 200, resamples=80, seed=7)
    assert (result.mean_set_size, result.uacc) == pytest.approx(expected)
    assert swap_test(first, second, 200, resamples=80, seed=8) != result
    # 32 coins are four bytes a row, so the same swaps come out whatever is held at a time.
    monkeypatch.setattr(permutation, "CHUNK", 300)
    assert swap_test(first, second, 200, resamples=80, seed=7) == result
    # Seed 0 unless another is asked for.
    assert swap_test(first, second, 200, resamples=80) == swap_test(first, second, 200, resamples=80, seed=0)


def test_one_test_question_is_enough_and_none_is_too_few():
    first, second = two(30, 1)
    assert 0 < swap_test(first, second, 100, resamples=20).mean_set_size <= 1
    empty = [replace(side, test=side.test[:, :0], right=side.right[:, :0]) for side in (first, second)]
    with pytest.raises(InputError, match="at least one to test"):
        swap_test(*empty, 100)
    wider = replace(second, right=np.ones((2, 2)))
    with pytest.raises(InputError, match="1 and 2 test questions"):
        swap_test(first, wider, 100)


def test_coins_are_fair_and_a_new_row_begins_with_a_new_byte():
    result = permutation.coins(np.random.default_rng(1), 4000, 11)
    assert result.shape == (4000, 11)
    assert abs(result.mean(axis=0) - 0.5).max() < 4 * 0.5 / np.sqrt(4000)
    drawn = np.frombuffer(np.random.default_rng(1).bytes(8000), dtype=np.uint8).reshape(4000, 2)
    first = [[bool(byte >> 7 - bit & 1) for bit in range(8)] for byte in drawn[:20, 0].tolist()]
    assert result[:20, :8].tolist() == first
