"""What the Overview, the Alpha lab, One question and Learn show of coverage: bands, intervals and p-values.

The laws of coverage do not depend on the model, so one does: six options, of which the true one's logit is raised; the
figures are those of :func:`core.reports.report.report`, which the pages call and the browser's arithmetic equals.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd

from core.conformal.coverage import beta_band, beta_binomial_band, beta_parameters, guarantee_p_value
from core.conformal.probabilities import log, softmax
from core.conformal.pvalues import p_values
from core.conformal.redraw import redraw
from core.conformal.scores import score, true_scores
from core.conformal.scores.lac import lac_scores
from core.conformal.threshold import exact
from core.records import FloatArray, IntArray
from core.reports.evaluation import Evaluation, calibrating
from core.reports.overview.matrix import matrix
from core.reports.report import Report, report
from core.runs.spec import RunSpec
from core.tasks import POCKET_BANK
from tests.simulation.case import INTERVAL, TEST, Case

K, ALPHA = 6, 100
TASKS_SHOWN = ("qa", "rc", "ci", "drs", "ds")
SUBJECTS = np.array(["easy", "middling", "hard"])
SIGNAL = np.array([2.5, 1.5, 0.5])
"""By how much the true option's logit is raised on average in each subject."""
POPULATION = 300_000
NAMED_AT = 0.05
EDGE = (0.93, 1.0)
"""What a band may hold at the edges, where counts are few, or rows of a question are counted as if they were alike."""


def draw(rng: np.random.Generator, n: int, *, alike: bool = False) -> tuple[FloatArray, IntArray, IntArray]:
    """Option probabilities (n, K), labels and subjects (n,) of random questions; half of them are easy ones.

    ``alike`` subjects are names without a meaning.
    """
    subjects = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    labels = rng.integers(0, K, n)
    logits = rng.normal(size=(n, K))
    logits[np.arange(n), labels] += 1.5 if alike else SIGNAL[subjects]
    return softmax(logits), labels, subjects


def drawn_run(seed: int, n: int, m: int, *, alike: bool = False) -> Evaluation:
    """A run of n calibration and m test questions."""
    p, labels, subjects = draw(np.random.default_rng([seed, n, m]), n + m, alike=alike)
    return Evaluation(
        run_id="drawn",
        spec=RunSpec(model="drawn", task="qa"),
        ids=np.array([str(i) for i in range(n + m)]),
        groups=SUBJECTS[subjects],
        probabilities=p,
        log_probabilities=log(p),
        labels=labels,
        calibration=np.arange(n),
        test=np.arange(n, n + m),
        letters="ABCDEF",
    )


SAYS_EDGE = (
    "With few possible coverages, or where each question counts once however its rows differ, the band holds coverage "
    "in more than 97.5% of draws."
)
VOTES, PROMPTS = 10, 5
EDGES = ("votes of ten", "near-perfect", "repeated", "five prompts")


def edge_run(seed: int, n: int, law: str) -> Evaluation:
    """A run of n calibration and n test rows at the edge of what data is like.

    ``votes of ten`` are the shares of ten votes, so most scores are tied. ``near-perfect`` answers are right with the
    confidences that they state, .99 to .9995. ``repeated`` rows ask each question five times with the same answer, and
    ``five prompts`` with answers that differ.
    """
    rng = np.random.default_rng([seed, n, EDGES.index(law)])
    if law in EDGES[2:]:
        p, labels, _ = draw(rng, 2 * (n // PROMPTS))
        clusters = np.repeat(np.arange(len(labels)), PROMPTS)
        logits = np.log(p)[clusters] + (law == "five prompts") * rng.normal(size=(len(clusters), K))
        return _edge_run(softmax(logits), labels[clusters], PROMPTS * (n // PROMPTS), clusters, seed)
    if law == "near-perfect":
        sure, top = rng.uniform(0.99, 0.9995, 2 * n), rng.integers(0, K, 2 * n)
        p = np.repeat((1 - sure)[:, None] / (K - 1), K, axis=1)
        p[np.arange(2 * n), top] = sure
        labels = np.where(rng.random(2 * n) < sure, top, (top + rng.integers(1, K, 2 * n)) % K)
    else:
        p, labels, _ = draw(rng, 2 * n)
        p = np.stack([rng.multinomial(VOTES, row / row.sum()) for row in p]) / VOTES
    return _edge_run(p, labels, n, None, seed)


def _edge_run(p: FloatArray, labels: IntArray, n: int, clusters: IntArray | None, seed: int) -> Evaluation:
    rows = np.arange(len(labels))
    own, left_out = calibrating(rows[:n], rows[n:], clusters, seed=seed)
    return Evaluation(
        run_id="drawn",
        spec=RunSpec(model="drawn", task="qa"),
        ids=rows.astype(str),
        groups=np.full(len(rows), ""),
        probabilities=p,
        log_probabilities=log(p),
        labels=labels,
        calibration=own,
        test=rows[n:],
        letters="ABCDEF",
        clusters=clusters,
        left_out=left_out,
    )


def edge_in_its_band(seed: int, n: int, law: str) -> bool:
    found = report(edge_run(seed, n, law), ALPHA, scores=("lac",)).scores["lac"]
    low, high = found.coverage_band
    return low <= found.coverage <= high


def edge_doubted(seed: int, n: int, law: str) -> bool:
    return report(edge_run(seed, n, law), ALPHA, scores=("lac",)).scores["lac"].p_value <= NAMED_AT


@cache
def large_repeated() -> tuple[FloatArray, IntArray]:
    """The LAC scores of very many rows of ``five prompts``, and their labels."""
    run = edge_run(10**6, POPULATION, "five prompts")
    return lac_scores(run.probabilities), run.labels


def repeated_size_interval_holds(seed: int, n: int) -> bool:
    """Whether the interval of sets of two options holds how many of all such sets hold the truth, where rows repeat
    questions."""
    found = report(edge_run(seed, n, "five prompts"), ALPHA, scores=("lac",)).scores["lac"]
    scores, labels = large_repeated()
    members = scores <= found.threshold
    two = members.sum(axis=1) == 2
    truth = members[np.arange(len(labels)), labels][two].mean()
    return bool(found.by_size[2].low <= truth <= found.by_size[2].high)


@cache
def population() -> tuple[FloatArray, IntArray, IntArray]:
    """The LAC scores of all options of very many questions, their labels and subjects."""
    p, labels, subjects = draw(np.random.default_rng(99), POPULATION)
    return lac_scores(p), labels, subjects


@cache
def easy_scores() -> FloatArray:
    """The true options' LAC scores of the easy questions of the population, rising."""
    scores, labels, subjects = population()
    return np.sort(true_scores(scores, labels)[subjects == 0])


def reported(seed: int, n: int, m: int, *, by: str = "all", score_name: str = "lac", alike: bool = False) -> Report:
    return report(drawn_run(seed, n, m, alike=alike), ALPHA, scores=(score_name,), by=by)


def in_its_band(seed: int, n: int, by: str) -> bool:
    """Whether coverage lies in the band in which the guarantee leaves it."""
    found = reported(seed, n, n, by=by).scores["lac"]
    low, high = found.coverage_band
    return low <= found.coverage <= high


def guarantee_doubted(seed: int, n: int, by: str, score_name: str) -> bool:
    """Whether the p-value speaks at 5% against a guarantee that holds."""
    return reported(seed, n, n, by=by, score_name=score_name).scores[score_name].p_value <= NAMED_AT


def a_cell_is_marked(seed: int, n: int) -> bool:
    """Whether the Overview marks one of 20 runs that all keep the guarantee, each with n + n questions of its own."""
    rng = np.random.default_rng([seed, n, 20])
    covered = rng.binomial(n, rng.beta(*beta_parameters(n, ALPHA), size=20))
    specs = {f"{m}-{task}": RunSpec(model=f"m{m}", task=task) for m in range(4) for task in TASKS_SHOWN}
    table = pd.DataFrame(
        [
            {
                "run": name,
                "task": spec.task,
                "bank": POCKET_BANK,
                "questions": name,
                "k": K,
                "n_test": n,
                **dict.fromkeys(("accuracy", "accuracy_low", "accuracy_high"), 0.5),
                **dict.fromkeys(("lac_set_size", "lac_set_size_low", "lac_set_size_high"), 2.0),
                **dict.fromkeys(("lac_coverage_low", "lac_coverage_high"), 0.9),
                "lac_coverage": count / n,
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


def subject_interval_holds(seed: int, n: int) -> bool:
    """Whether the interval of the easy subject, of about n test questions, holds its coverage at this threshold."""
    found = reported(seed, n, 2 * n).scores["lac"]
    easy = next(stratum for stratum in found.strata if stratum.stratum == "easy")
    truth = np.searchsorted(easy_scores(), found.threshold, side="right") / len(easy_scores())
    return bool(easy.low <= truth <= easy.high)


def size_interval_holds(seed: int, n: int) -> bool:
    """Whether the interval of sets of two options holds how many of all such sets hold the truth."""
    found = reported(seed, n, 4 * n).scores["lac"]
    scores, labels, _ = population()
    members = scores <= found.threshold
    two = members.sum(axis=1) == 2
    truth = members[np.arange(len(labels)), labels][two].mean()
    return bool(found.by_size[2].low <= truth <= found.by_size[2].high)


def subject_named(seed: int, n: int) -> bool:
    """Whether the lab names a subject as covered too little where all are alike (``strataSaid`` of forest.js)."""
    found = reported(seed, n, n, alike=True).scores["lac"]
    level = NAMED_AT / len(found.strata)
    return any(
        guarantee_p_value(round(of.coverage * of.m), n, of.m, ALPHA) <= level
        for of in found.strata
        if of.coverage < 1 - ALPHA / 1000
    )


def truth_ruled_out(seed: int, n: int, name: str) -> bool:
    """Whether the true option's conformal p-value is at most 5%."""
    p, labels, _ = draw(np.random.default_rng([seed, n]), n + 1)
    scores = score(name, p, seed=seed)
    own = true_scores(scores, labels)
    return bool(p_values(own[:n], scores[n:])[0, labels[n]] <= NAMED_AT)


def redrawn_in_the_band(seed: int, n: int) -> bool:
    """Whether a redrawn split of one fixed set of questions covers what the law of the figure says."""
    scores = np.random.default_rng(n).random(2 * n)
    found = redraw(scores, scores, n=n, alpha=ALPHA, draws=1, clusters=np.arange(2 * n), seed=seed)["exact"][0]
    low, high = beta_binomial_band(n, n, ALPHA)
    return low <= found <= high


def cases() -> tuple[Case, ...]:
    made: list[Case] = []
    for n, short in ((200, 60), (1000, 40), (5000, 10)):
        size = f"n = {n:,}"

        def add(
            name: str, hit: Callable[[int], bool], allowed: tuple[float, float], *, size: str = size, short: int = short
        ) -> None:
            made.append(Case(f"{name}, {size}", hit, allowed, short, 1000))

        add("coverage: band of coverage", lambda seed, n=n: in_its_band(seed, n, "all"), INTERVAL)
        add("coverage: band, a threshold a subject", lambda seed, n=n: in_its_band(seed, n, "group"), INTERVAL)
        add("coverage: band of the calibration draw", lambda seed, n=n: draw_in_its_band(seed, n), INTERVAL)
        add("coverage: p-value of the guarantee", lambda seed, n=n: guarantee_doubted(seed, n, "all", "lac"), TEST)
        add(
            "coverage: p-value of the guarantee, a threshold a letter",
            lambda seed, n=n: guarantee_doubted(seed, n, "class", "lac"),
            TEST,
        )
        add(
            "coverage: p-value of the guarantee, tied scores",
            lambda seed, n=n: guarantee_doubted(seed, n, "all", "aps"),
            TEST,
        )
        add("coverage: a table of 20 runs with a mark", lambda seed, n=n: a_cell_is_marked(seed, n), TEST)
        add("coverage: interval of a subject", lambda seed, n=n: subject_interval_holds(seed, n), INTERVAL)
        add("coverage: interval of a set size", lambda seed, n=n: size_interval_holds(seed, n), INTERVAL)
        add("coverage: subjects named as covered too little", lambda seed, n=n: subject_named(seed, n), TEST)
        add("coverage: conformal p-value", lambda seed, n=n: truth_ruled_out(seed, n, "lac"), TEST)
        add("coverage: conformal p-value, tied scores", lambda seed, n=n: truth_ruled_out(seed, n, "aps"), TEST)
        add("coverage: a redrawn split", lambda seed, n=n: redrawn_in_the_band(seed, n), INTERVAL)
    for n, short in ((60, 60), (200, 60), (1000, 20)):
        for law in EDGES:
            made.append(
                Case(
                    f"coverage: band of coverage, {law}, n = {n:,}",
                    lambda seed, n=n, law=law: edge_in_its_band(seed, n, law),
                    EDGE,
                    short,
                    1000,
                    SAYS_EDGE,
                )
            )
            made.append(
                Case(
                    f"coverage: p-value of the guarantee, {law}, n = {n:,}",
                    lambda seed, n=n, law=law: edge_doubted(seed, n, law),
                    TEST,
                    short,
                    1000,
                )
            )
    made += [
        Case(
            f"coverage: interval of a set size, repeated, n = {n:,}",
            lambda seed, n=n: repeated_size_interval_holds(seed, n),
            EDGE,
            40,
            1000,
            SAYS_EDGE,
        )
        for n in (200, 1000)
    ]
    return tuple(made)


CASES = cases()
