"""The matrix of Compare: its tests of all pairs, corrected together, and its intervals, which hold together.

The data are those of :mod:`tests.simulation.set_sizes`: models of one law answer the same questions; n of them
calibrate and n test. A test hits where any pair of equal models is called different. Intervals hit where all of them
hold the true differences. Each draw redraws the calibration questions, so that their variation counts.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial

import numpy as np

from core.conformal.pairwise import SharedRuns
from core.conformal.scores import score, true_scores
from core.reports.compare.run_matrix import SWAPS, differences
from tests.simulation.case import TEST, Case
from tests.simulation.set_sizes import SATURATED, TWINS, USUAL, Law, expected, holds, questions

ALPHA = 100
SIGNIFICANT = 0.05
TITLES = {"accuracy": "accuracy", "set_size": "set size", "uacc": "UAcc"}
TOGETHER = (0.935, 1.0)
KEPT = 4096
"""Draws whose outcome is kept: a draw serves the cases of all figures."""
SAYS = "all of them hold the true differences in at least 95% of draws"


def drawn_runs(seed: int, n: int, law: Law, *, models: int, name: str, lead: float = 0.0) -> SharedRuns:
    """``models`` runs on n calibration and n test questions; the last model's signal is larger by ``lead``."""
    rng = np.random.default_rng([seed, n, models, 5])
    answers, labels = questions(rng, 2 * n, law, models=models, lead=lead)
    scores = [score(name, p) for p in answers]
    return SharedRuns(
        setting=(0,) * models,
        calibration=np.stack([true_scores(run_scores, labels)[:n] for run_scores in scores])[None],
        test=np.stack([run_scores[n:] for run_scores in scores])[None],
        right=np.stack([(p.argmax(axis=1) == labels)[n:].astype(np.float64) for p in answers]),
        alone=(np.array([]),) * models,
        options=(law.k,) * models,
    )


@lru_cache(maxsize=KEPT)
def _called_different(seed: int, n: int, law: Law, models: int, name: str, lead: float) -> frozenset[str]:
    """The figures for which a pair of equal models is called different; with a ``lead``, the last model is better."""
    _, pairs = differences(
        drawn_runs(seed, n, law, models=models, name=name, lead=lead), ALPHA, resamples=SWAPS, seed=seed
    )
    equal = models - 1 if lead else models
    return frozenset(
        figure
        for figure in pairs
        if any(pair.corrected <= SIGNIFICANT for pair in pairs[figure] if pair.second < equal)
    )


def _any_called_different(
    seed: int, *, n: int, law: Law, models: int, name: str, figure: str, lead: float = 0.0
) -> bool:
    return figure in _called_different(seed, n, law, models, name, lead)


@lru_cache(maxsize=KEPT)
def _held(seed: int, n: int, law: Law, models: int, name: str, lead: float) -> frozenset[str]:
    """The figures for which all intervals hold the true differences."""
    _, pairs = differences(drawn_runs(seed, n, law, models=models, name=name, lead=lead), ALPHA, resamples=1, seed=seed)
    own = *expected(law, name, n), _accuracy(law, 0.0)
    ahead = *expected(law, name, n, lead), _accuracy(law, lead)
    gaps = {figure: ahead[i] - own[i] for i, figure in enumerate(("set_size", "uacc", "accuracy"))}
    return frozenset(
        figure
        for figure, of_pairs in pairs.items()
        if all(holds(pair.difference, gaps[figure] if pair.second == models - 1 else 0.0) for pair in of_pairs)
    )


def _all_hold(seed: int, *, n: int, law: Law, models: int, name: str, figure: str, lead: float = 0.0) -> bool:
    return figure in _held(seed, n, law, models, name, lead)


@lru_cache(maxsize=8)
def _accuracy(law: Law, lead: float) -> float:
    (p,), labels = questions(np.random.default_rng(0xACC), 400_000, law, lead=lead)
    return float((p.argmax(axis=1) == labels).mean())


def _cases(
    hit: Callable[..., bool],
    title: str,
    rows: tuple[tuple[str, int, str, Law, str, int, float, int, int], ...],
    allowed: tuple[float, float],
    says: str = "",
) -> Iterator[Case]:
    for figure, models, law_title, law, name, n, lead, short, long in rows:
        arguments = {"n": n, "law": law, "models": models, "name": name, "figure": figure, "lead": lead}
        title_of_case = f"matrix: {title.format(figure=TITLES[figure], models=models)}, {law_title}, n = {n}"
        yield Case(title_of_case, partial(hit, **arguments), allowed, short, long, says)


CASES: tuple[Case, ...] = (
    *_cases(
        _any_called_different,
        "any false difference in {figure}, {models} equal runs",
        (
            ("accuracy", 4, "LAC", USUAL, "lac", 200, 0.0, 30, 1000),
            ("accuracy", 12, "LAC", USUAL, "lac", 1000, 0.0, 6, 400),
            ("set_size", 4, "LAC", USUAL, "lac", 200, 0.0, 30, 1000),
            ("set_size", 12, "LAC", USUAL, "lac", 200, 0.0, 8, 400),
            ("set_size", 4, "APS", USUAL, "aps", 1000, 0.0, 13, 400),
            ("set_size", 4, "twins, LAC", TWINS, "lac", 200, 0.0, 20, 1000),
            ("set_size", 4, "APS near saturation", SATURATED, "aps", 200, 0.0, 20, 1000),
            ("set_size", 4, "LAC", USUAL, "lac", 5000, 0.0, 3, 400),
            ("uacc", 4, "LAC", USUAL, "lac", 200, 0.0, 20, 1000),
        ),
        TEST,
    ),
    *_cases(
        _any_called_different,
        "any false difference in {figure}",
        (
            ("accuracy", 5, "4 equal runs and a better one", USUAL, "lac", 200, 3.0, 20, 1000),
            ("set_size", 5, "4 equal runs and a better one", USUAL, "lac", 200, 3.0, 20, 1000),
        ),
        TEST,
    ),
    *_cases(
        _all_hold,
        "all intervals of {figure}, {models} runs",
        (
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
        ),
        TOGETHER,
        SAYS,
    ),
)
