"""The matrix of Compare: its tests of all pairs, corrected together, and its intervals, which hold together.

The data are those of :mod:`tests.simulation.set_sizes`: models of one law answer the same questions, of which n
calibrate and n test. A test hits where any pair of equal models is called different. Intervals hit where all of them
hold the true differences. Each draw redraws the calibration questions, so that their luck counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache, partial

import numpy as np
from scipy.special import betaincinv

from core.conformal.pairwise import SharedRuns
from core.conformal.scores import score, true_scores
from core.conformal.threshold import rank
from core.records import FloatArray, IntArray
from core.reports.compare.run_matrix import SWAPS, PairDifference, differences
from tests.simulation.case import TEST, Case
from tests.simulation.set_sizes import LEVELS, POPULATION, SATURATED, TWINS, USUAL, Law, expected, holds, questions

ALPHA = 100
SIGNIFICANT = 0.05
TITLES = {"accuracy": "accuracy", "set_size": "set size", "uacc": "UAcc"}
TOGETHER = (0.935, 1.0)
SAYS_OF_FEW = "Where few questions differ, they hold the true difference in 95% of draws or more."
KEPT = 4096
"""Draws whose outcome is kept: a draw serves the cases of all figures."""
SAYS = "all of them hold the true differences in at least 95% of draws"


def drawn_runs(seed: int, n: int, law: Law, *, models: int, name: str, lead: float = 0.0) -> SharedRuns:
    """``models`` runs on n calibration and n test questions; the last model's signal is larger by ``lead``."""
    rng = np.random.default_rng([seed, n, models, 5])
    said, labels = questions(rng, 2 * n, law, models=models, lead=lead)
    scores = [score(name, p) for p in said]
    return SharedRuns(
        setting=(0,) * models,
        calibration=np.stack([true_scores(of, labels)[:n] for of in scores])[None],
        test=np.stack([of[n:] for of in scores])[None],
        right=np.stack([(p.argmax(axis=1) == labels)[n:].astype(np.float64) for p in said]),
        alone=(np.array([]),) * models,
        options=(law.k,) * models,
    )


@lru_cache(maxsize=KEPT)
def _called_different(seed: int, n: int, law: Law, models: int, name: str, lead: float) -> frozenset[str]:
    """The figures of which a pair of equal models is called different; with a ``lead``, the last model is better."""
    _, pairs = differences(
        drawn_runs(seed, n, law, models=models, name=name, lead=lead), ALPHA, resamples=SWAPS, seed=seed
    )
    equal = models - 1 if lead else models
    return frozenset(
        figure for figure in pairs if any(of.corrected <= SIGNIFICANT for of in pairs[figure] if of.second < equal)
    )


def _any_called_different(
    seed: int, *, n: int, law: Law, models: int, name: str, figure: str, lead: float = 0.0
) -> bool:
    return figure in _called_different(seed, n, law, models, name, lead)


@lru_cache(maxsize=KEPT)
def _held(seed: int, n: int, law: Law, models: int, name: str, lead: float) -> frozenset[str]:
    """The figures of which all intervals hold the true differences."""
    _, pairs = differences(drawn_runs(seed, n, law, models=models, name=name, lead=lead), ALPHA, resamples=1, seed=seed)
    own = *expected(law, name, n), _accuracy(law, 0.0)
    ahead = *expected(law, name, n, lead), _accuracy(law, lead)
    gaps = {figure: ahead[i] - own[i] for i, figure in enumerate(("set_size", "uacc", "accuracy"))}
    return frozenset(
        figure
        for figure, of_pairs in pairs.items()
        if all(holds(of.difference, gaps[figure] if of.second == models - 1 else 0.0) for of in of_pairs)
    )


def _all_hold(seed: int, *, n: int, law: Law, models: int, name: str, figure: str, lead: float = 0.0) -> bool:
    return figure in _held(seed, n, law, models, name, lead)


@lru_cache(maxsize=8)
def _accuracy(law: Law, lead: float) -> float:
    (p,), labels = questions(np.random.default_rng(0xACC), 400_000, law, lead=lead)
    return float((p.argmax(axis=1) == labels).mean())


def _case(
    title: str,
    hit: Callable[..., bool],
    *,
    short: int,
    allowed: tuple[float, float],
    long: int = 1000,
    says: str = "",
    **arguments: object,
) -> Case:
    return Case(f"matrix: {title}, n = {arguments['n']}", partial(hit, **arguments), allowed, short, long, says)


CASES: tuple[Case, ...] = (
    *(
        _case(
            f"any false difference in {TITLES[figure]}, {models} equal runs, {title}",
            _any_called_different,
            n=n,
            law=law,
            models=models,
            name=name,
            figure=figure,
            allowed=TEST,
            short=short,
            long=long,
        )
        for figure, models, title, law, name, n, short, long in (
            ("accuracy", 4, "LAC", USUAL, "lac", 200, 30, 1000),
            ("accuracy", 12, "LAC", USUAL, "lac", 1000, 6, 400),
            ("set_size", 4, "LAC", USUAL, "lac", 200, 30, 1000),
            ("set_size", 12, "LAC", USUAL, "lac", 200, 8, 400),
            ("set_size", 4, "APS", USUAL, "aps", 1000, 13, 400),
            ("set_size", 4, "twins, LAC", TWINS, "lac", 200, 20, 1000),
            ("set_size", 4, "APS near saturation", SATURATED, "aps", 200, 20, 1000),
            ("set_size", 4, "LAC", USUAL, "lac", 5000, 3, 400),
            ("uacc", 4, "LAC", USUAL, "lac", 200, 20, 1000),
        )
    ),
    *(
        _case(
            f"any false difference in {TITLES[figure]}, 4 equal runs and a better one",
            _any_called_different,
            n=n,
            law=USUAL,
            models=5,
            name="lac",
            figure=figure,
            lead=3.0,
            allowed=TEST,
            short=20,
        )
        for figure, n in (("accuracy", 200), ("set_size", 200))
    ),
    *(
        _case(
            f"all intervals of {TITLES[figure]}, {models} runs, {title}",
            _all_hold,
            n=n,
            law=law,
            models=models,
            name=name,
            figure=figure,
            lead=lead,
            allowed=TOGETHER,
            short=short,
            long=long,
            says=SAYS,
        )
        for figure, models, title, law, name, n, lead, short, long in (
            ("accuracy", 4, "LAC", USUAL, "lac", 200, 0.0, 30, 1000),
            ("accuracy", 4, "twins, one better", TWINS, "lac", 1000, 1.5, 13, 1000),
            ("accuracy", 12, "LAC", USUAL, "lac", 5000, 0.0, 3, 400),
            ("set_size", 4, "LAC", USUAL, "lac", 200, 0.0, 30, 1000),
            ("set_size", 12, "LAC", USUAL, "lac", 200, 0.0, 8, 1000),
            ("set_size", 4, "LAC, one better", USUAL, "lac", 1000, 1.5, 13, 1000),
            ("set_size", 4, "APS", USUAL, "aps", 1000, 0.0, 13, 400),
            ("set_size", 12, "LAC", USUAL, "lac", 5000, 0.0, 2, 400),
            ("set_size", 4, "APS near saturation", SATURATED, "aps", 200, 0.0, 20, 1000),
            ("uacc", 4, "LAC", USUAL, "lac", 200, 0.0, 20, 1000),
            ("uacc", 12, "LAC", USUAL, "lac", 1000, 0.0, 6, 400),
        )
    ),
)


# ---------------------------------------------------------------- pairs at the edges

REPEATS = 5
K = 4


def _nearly_perfect(seed: int, n: int) -> SharedRuns:
    """Two runs right as often as they say: 99 and 99.5 to 99.95% of the time; n questions calibrate and n test."""
    said, labels = _sure_answers(np.random.default_rng([seed, n, 0xED6E]), 2 * n)
    return _pair(said, labels, n)


def _sure_answers(rng: np.random.Generator, n: int) -> tuple[list[FloatArray], IntArray]:
    """The probabilities of both runs, (n, 4), and the labels, (n,)."""
    labels, said = rng.integers(0, K, n), []
    for least in (0.99, 0.995):
        sure = rng.uniform(least, 0.9995, n)
        top = np.where(rng.random(n) < sure, labels, (labels + rng.integers(1, K, n)) % K)
        said.append(np.where(np.arange(K) == top[:, None], sure[:, None], (1 - sure[:, None]) / (K - 1)))
    return said, labels


def _repeated(seed: int, n: int) -> SharedRuns:
    """Two equal runs that were asked each of n / 5 test questions five times; as many others calibrate."""
    g = n // REPEATS
    rng = np.random.default_rng([seed, n, 0x5E])
    said, labels = questions(rng, 2 * g, USUAL, models=2)
    rows = np.concatenate([np.arange(g), g + np.arange(g).repeat(REPEATS)])
    return replace(_pair([p[rows] for p in said], labels[rows], g), clusters=rows)


def _pair(said: list[FloatArray], labels: IntArray, n: int) -> SharedRuns:
    scores = [score("lac", p) for p in said]
    return SharedRuns(
        setting=(0, 0),
        calibration=np.stack([true_scores(of, labels)[:n] for of in scores])[None],
        test=np.stack([of[n:] for of in scores])[None],
        right=np.stack([(p.argmax(axis=1) == labels)[n:].astype(np.float64) for p in said]),
        alone=(np.array([]), np.array([])),
        options=(said[0].shape[1],) * 2,
    )


@lru_cache(maxsize=KEPT)
def _edge(seed: int, n: int, repeated: bool, resamples: int) -> dict[str, PairDifference]:
    shared = (_repeated if repeated else _nearly_perfect)(seed, n)
    _, pairs = differences(shared, ALPHA, resamples=resamples, seed=seed)
    return {figure: of[0] for figure, of in pairs.items()}


@cache
def _edge_truth(n: int) -> dict[str, float]:
    """The second nearly perfect run's figures minus the first's, over draws of n calibration questions."""
    said, labels = _sure_answers(np.random.default_rng(0xC0FFEE), POPULATION)
    found = []
    for p in said:
        scores = score("lac", p)
        true, k = np.sort(true_scores(scores, labels)), int(rank(n, ALPHA))
        limits = true[(betaincinv(k, n + 1 - k, LEVELS) * POPULATION).astype(np.int64)]
        sizes = np.searchsorted(np.sort(scores.ravel()), limits, side="right") / POPULATION
        right = float((p.argmax(axis=1) == labels).mean())
        found.append((right, float(sizes.mean()), float((right * K**0.5 / sizes).mean())))
    return {name: found[1][i] - found[0][i] for i, name in enumerate(("accuracy", "set_size", "uacc"))}


def _edge_held(seed: int, *, n: int, figure: str, repeated: bool) -> bool:
    of = _edge(seed, n, repeated, 1)[figure].difference
    return of.low < of.high and holds(of, 0.0 if repeated else _edge_truth(n)[figure])


def _edge_alarmed(seed: int, *, n: int, figure: str) -> bool:
    return _edge(seed, n, True, 400)[figure].p <= SIGNIFICANT


CASES = (
    *CASES,
    *(
        _case(
            f"interval of one difference in {TITLES[figure]}, {title}",
            _edge_held,
            n=n,
            figure=figure,
            repeated=repeated,
            allowed=TOGETHER,
            short=30,
            long=600,
            says=SAYS_OF_FEW,
        )
        for repeated, title in ((False, "nearly perfect"), (True, "repeated x 5"))
        for figure in TITLES
        for n in (60, 200, 1000)
    ),
    *(
        _case(
            f"false difference in {TITLES[figure]}, repeated x 5",
            _edge_alarmed,
            n=n,
            figure=figure,
            allowed=TEST,
            short=30,
            long=600,
        )
        for figure in TITLES
        for n in (60, 200, 1000)
    ),
)
