"""The coverage figures of the Overview, the Alpha lab and One question, besides a run's own figures.

The laws of coverage do not depend on the model, so one does: six options, with the true one's logit raised.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from core.conformal.coverage import beta_binomial_band, beta_parameters, guarantee_p_value
from core.conformal.probabilities import softmax
from core.conformal.pvalues import p_values
from core.conformal.scores import score, true_scores
from core.conformal.threshold import exact
from core.questions import POCKET_BANK
from core.records import FloatArray, IntArray
from core.reports.evaluation import Evaluation
from core.reports.overview.matrix import matrix
from core.reports.report import report
from core.runs.spec import RunSpec
from tests.reference.redraw import beta_band, redraw
from tests.simulation.case import INTERVAL, TEST, Case, simulated

K, ALPHA = 6, 100
TASKS_SHOWN = ("qa", "rc", "ci", "drs", "ds")
NAMED_AT = 0.05


def draw(rng: np.random.Generator, n: int) -> tuple[FloatArray, IntArray]:
    """Option probabilities (n, K) and labels (n,) of random questions."""
    labels = rng.integers(0, K, n)
    logits = rng.normal(size=(n, K))
    logits[np.arange(n), labels] += 1.5
    return softmax(logits), labels


def drawn_run(seed: int, n: int, m: int) -> Evaluation:
    """A run of n calibration and m test questions of three subjects that are alike."""
    rng = np.random.default_rng([seed, n, m])
    p, labels = draw(rng, n + m)
    groups = rng.choice(["a", "b", "c"], n + m, p=[0.5, 0.3, 0.2])
    return simulated(p, labels, n, groups=groups)


def a_cell_is_marked(seed: int, n: int) -> bool:
    """Whether the Overview marks one of 20 runs that all keep the guarantee, each with n + n questions of its own."""
    rng = np.random.default_rng([seed, n, 20])
    covered = rng.binomial(n, rng.beta(*beta_parameters(n, ALPHA), size=20))
    specs = {f"{m}-{task}": RunSpec(model=f"m{m}", task=task) for m in range(4) for task in TASKS_SHOWN}
    table = pd.DataFrame(
        [
            {
                **{"run": name, "task": spec.task, "bank": POCKET_BANK, "form": spec.form, "questions": name},
                **{"k": K, "n_test": n, "test_questions": n},
                **dict.fromkeys(("accuracy", "accuracy_low", "accuracy_high"), 0.5),
                **dict.fromkeys(("lac_set_size", "lac_set_size_low", "lac_set_size_high"), 2.0),
                **dict.fromkeys(("lac_coverage_low", "lac_coverage_high"), 0.9),
                "lac_coverage": count / n,
                "lac_empty_rate": 0.0,
                "lac_coverage_p": guarantee_p_value(int(count), n, n, ALPHA),
            }
            for (name, spec), count in zip(specs.items(), covered, strict=True)
        ]
    )
    cells = matrix(table, specs, frozenset(), "lac").cells.values()
    assert len(cells) == 20
    return any(cell.too_few_covered for cell in cells)


def draw_in_its_band(seed: int, n: int) -> bool:
    """Whether coverage on endless test questions lies in the dark band, that of the calibration draw alone."""
    q = exact(np.random.default_rng([seed, n]).random(n), ALPHA)  # scores spread evenly: q is also their share below q
    low, high = beta_band(n, ALPHA)
    return low <= q <= high


def subject_named(seed: int, n: int) -> bool:
    """Whether the lab names a subject as covered too little where all are alike (``strataSaid`` of forest.js)."""
    result = report(drawn_run(seed, n, n), ALPHA, scores=("lac",)).scores["lac"]
    level = NAMED_AT / len(result.strata)
    return any(
        guarantee_p_value(round(stratum.coverage * stratum.m), n, stratum.m, ALPHA) <= level
        for stratum in result.strata
        if stratum.coverage < 1 - ALPHA / 1000
    )


def truth_ruled_out(seed: int, n: int, name: str) -> bool:
    """Whether the true option's conformal p-value is at most 5%."""
    p, labels = draw(np.random.default_rng([seed, n]), n + 1)
    scores = score(name, p, seed=seed)
    own = true_scores(scores, labels)
    return bool(p_values(own[:n], scores[n:])[0, labels[n]] <= NAMED_AT)


def redrawn_in_the_band(seed: int, n: int) -> bool:
    """Whether a redrawn split of one fixed set of questions covers what the law of the figure says."""
    scores = np.random.default_rng(n).random(2 * n)
    result = redraw(scores, scores, n=n, alpha=ALPHA, draws=1, clusters=np.arange(2 * n), seed=seed)["exact"][0]
    low, high = beta_binomial_band(n, n, ALPHA)
    return low <= result <= high


def cases() -> tuple[Case, ...]:
    all_cases: list[Case] = []
    for n, short in ((200, 60), (1000, 40), (5000, 10)):
        size = f"n = {n:,}"

        def add(
            name: str, hit: Callable[[int], bool], allowed: tuple[float, float], *, size: str = size, short: int = short
        ) -> None:
            all_cases.append(Case(f"{name}, {size}", hit, allowed, short, 1000))

        add("coverage: band of the calibration draw", lambda seed, n=n: draw_in_its_band(seed, n), INTERVAL)
        add("coverage: a table of 20 runs with a mark", lambda seed, n=n: a_cell_is_marked(seed, n), TEST)
        add("coverage: subjects named as covered too little", lambda seed, n=n: subject_named(seed, n), TEST)
        add("coverage: conformal p-value", lambda seed, n=n: truth_ruled_out(seed, n, "lac"), TEST)
        add("coverage: conformal p-value, tied scores", lambda seed, n=n: truth_ruled_out(seed, n, "aps"), TEST)
        add("coverage: a redrawn split", lambda seed, n=n: redrawn_in_the_band(seed, n), INTERVAL)
    return tuple(all_cases)


CASES = cases()
