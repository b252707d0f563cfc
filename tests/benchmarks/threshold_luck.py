"""What it costs to hold the threshold fixed, and what redrawing both sides mends.

    python -m tests.benchmarks.threshold_luck [--draws 400] [--n 500]

First by simulation, on the laws of ``tests/simulation/set_sizes.py``: two models of one law, called different by tests
that hold both thresholds fixed (paired t, Wilcoxon's signed ranks) and by the paired permutation test; how often
Student's interval of the mean set size holds the expected size, and the bootstrap's; and the true standard deviation of
a mean set size over the one that the test sets alone claim. Then on the recorded runs that ship with Hedge: every pair
of models with the same task, strategy, dtype, form and shots, by LAC and by APS at alpha 0.1.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections import defaultdict

import numpy as np
from scipy import stats

from core.conformal.permutation import Swappable, swap_test
from core.errors import InputError
from core.reports.compare import paired
from core.reports.evaluation import load
from core.reports.report import set_estimates
from core.reports.scored_sets import form
from core.runs import store
from tests.simulation import set_sizes
from tests.simulation.set_sizes import ALPHA, SATURATED, TIED, TWINS, USUAL, Law

FIVE = 0.05
LAWS = {"unlike noise": USUAL, "tied scores": TIED, "twins": TWINS, "near saturation": SATURATED}


def fixed_p_values(change: np.ndarray) -> tuple[float, float]:
    """Paired t and Wilcoxon of differences in set size (m,), both thresholds held fixed; 1 where nothing differs."""
    moved = change[change != 0]
    if len(moved) == 0:
        return 1.0, 1.0
    spread = change.std(ddof=1)
    t = float(stats.ttest_1samp(change, 0).pvalue) if spread > 0 else 0.0
    return t, float(stats.wilcoxon(moved, method="asymptotic").pvalue)


def sizes_of(side: Swappable) -> np.ndarray:
    """The sizes of the run's own sets, (m,)."""
    n = side.calibration.shape[1]
    limit = np.sort(side.calibration[0])[-(-(n + 1) * (1000 - ALPHA) // 1000) - 1]
    return (side.test[0] <= limit).sum(axis=1).astype(float)


def simulated(law: Law, name: str, n: int, draws: int) -> tuple[float, ...]:
    """Shares of false alarms (t, Wilcoxon, permutation), of intervals that hold (Student, bootstrap), and the ratio."""
    alarms, held, means, claimed = np.zeros(3), np.zeros(2), [], []
    truth = set_sizes.expected(law, name, n)[0]
    for seed in range(draws):
        first, second = set_sizes._two(seed, n, law, name, 0.0)
        one, other = sizes_of(first), sizes_of(second)
        p = (*fixed_p_values(other - one), swap_test(first, second, ALPHA, resamples=499, seed=seed).mean_set_size)
        alarms += np.array(p) <= FIVE
        run = set_sizes.drawn_run(seed, n, law)
        made = form(run, name, ALPHA)
        sizes = made.members.sum(axis=1)
        error = sizes.std(ddof=1) / np.sqrt(n)
        reach = stats.t.ppf(0.975, n - 1) * error
        held += [
            abs(sizes.mean() - truth) <= reach,
            set_sizes.holds(set_estimates(run, made, ALPHA).mean_set_size, truth),
        ]
        means.append(sizes.mean())
        claimed.append(error)
    return (*alarms / draws, *held / draws, float(np.std(means) / max(np.mean(claimed), 1e-12)))


def recorded() -> None:
    """Pairs of models among the recorded runs: significant with the thresholds fixed, and by the permutation test."""
    groups = defaultdict(list)
    for name in store.run_ids():
        record = store.read_record(name)
        spec = record.spec
        if store.is_bundled(name) and record.state == "done" and spec.answers:
            groups[spec.task, spec.strategy, spec.dtype, spec.form, spec.shots, spec.prompt_format].append(name)
    for score in ("lac", "aps"):
        counts = defaultdict(int)
        for (_, strategy, dtype, *_), names in groups.items():
            for a, b in itertools.combinations([load(name) for name in names], 2):
                if a.spec.model == b.spec.model:
                    continue
                try:
                    (pair,) = paired.compare([(a, b)], ALPHA, score=score)
                except InputError:
                    continue
                change = paired.questions(a, b, ALPHA, score=score)["change"].to_numpy(dtype=float)
                t, wilcoxon = fixed_p_values(change)
                valid = pair.p_values["set_size"] <= FIVE
                for which in ("all", "base float32") if (strategy, dtype) == ("base", "float32") else ("all",):
                    for test, p in (("t", t), ("wilcoxon", wilcoxon)):
                        counts[which, test] += p <= FIVE
                        counts[which, test, "fails"] += p <= FIVE and not valid
                    counts[which, "valid"] += valid
                    counts[which, "pairs"] += 1
        for which in ("all", "base float32"):
            keys = ("pairs", ("t",), ("t", "fails"), ("wilcoxon",), ("wilcoxon", "fails"), "valid")
            cells = [counts[(which, key) if isinstance(key, str) else (which, *key)] for key in keys]
            print(f"| {score.upper()}, {which} | {' | '.join(map(str, cells))} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--n", type=int, default=500)
    given = parser.parse_args()
    began = time.process_time()
    print("| law, score | paired t | Wilcoxon | permutation | Student holds | bootstrap holds | true sd / claimed |")
    print("|---|---|---|---|---|---|---|")
    for title, law in LAWS.items():
        for name in ("lac", "aps"):
            *shares, ratio = simulated(law, name, given.n, given.draws)
            cells = " | ".join(f"{100 * share:.1f}%" for share in shares)
            print(f"| {title}, {name.upper()} | {cells} | {ratio:.1f} |", flush=True)
    print("\n| recorded runs | pairs | t ≤ .05 | … fail | Wilcoxon ≤ .05 | … fail | permutation ≤ .05 |")
    print("|---|---|---|---|---|---|---|")
    recorded()
    print(f"\n{time.process_time() - began:.0f} s of processor time")


if __name__ == "__main__":
    main()
