"""Maps from probabilities to better calibrated ones. Each is fitted on questions that are used for nothing else.

They take log-probabilities (n, k), which can represent values that are too small for a probability, and return logits.
The softmax of the logits gives the recalibrated probabilities, and their log-softmax the log-probabilities.

``temperature``  softmax(log p / T) with the T that minimises NLL; the ranking of options stays (Guo et al. 2017)
``vector``       softmax(w · log p + b) with one weight and one bias per option (Guo et al. 2017)
``platt``        each option against the rest, by a sigmoid of its log-odds with Platt's (1999) smoothed targets
``isotonic``     each option against the rest, by isotonic regression (Zadrozny & Elkan 2002)

The last two scale each row to sum to 1 afterwards. An option with probability 0 stays at 0, for example one that a
question lacks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import log_expit, logsumexp

from core.calibration.binary import Isotonic, Sigmoid
from core.conformal.probabilities import check_labels, check_probabilities, log
from core.errors import InputError
from core.records import OPTION_NAMES, FloatArray, IntArray

FEWEST = 10
"""With fewer questions than this, nothing is fitted."""
COLDEST, HOTTEST = 0.01, 100.0
SMALLEST = 1e-12
STEEPEST = 50.0
FLAT = 1e-9
"""Losses that differ by no more than this are the same."""


class Recalibration(Protocol):
    """A fitted map from log-probabilities to logits."""

    def logits(self, log_probabilities: FloatArray) -> FloatArray:
        """The logits (n, k) of the recalibrated probabilities, from log-probabilities (n, k)."""
        ...

    def words(self) -> dict[str, float]:
        """The parameters to show to a person, by name; empty if there are too many."""
        ...

    def notes(self) -> tuple[str, ...]:
        """A sentence for each parameter that the questions of the fit do not determine."""
        ...


def tempered(log_probabilities: FloatArray, temperature: float) -> FloatArray:
    """The logits ``log p / T``; T > 1 makes probabilities more equal, T < 1 less.

    Raises :class:`InputError` if the temperature is not above 0 and finite.

    >>> np.exp(tempered(np.log([[0.8, 0.2]]), 2.0)).round(3)  # not scaled to sum to 1
    array([[0.894, 0.447]])
    """
    if not 0 < temperature < np.inf:
        raise InputError(f"a temperature must be above 0 and finite, got {temperature:g}")
    return log_probabilities / temperature


@dataclass(frozen=True, slots=True)
class Temperature:
    """One temperature for all options: ``log p / T``. ``any_fits`` says that all temperatures fit equally well."""

    temperature: float
    any_fits: bool = False

    def logits(self, log_probabilities: FloatArray) -> FloatArray:
        return tempered(log_probabilities, self.temperature)

    def words(self) -> dict[str, float]:
        return {"temperature": self.temperature}

    def notes(self) -> tuple[str, ...]:
        if self.any_fits:
            return ("Every temperature fits these questions equally well, so it stays at 1.",)
        if self.temperature in (COLDEST, HOTTEST):
            return (
                f"The temperature is at its limit of {self.temperature:g}: a value beyond it would fit these questions "
                "even better.",
            )
        return ()


@dataclass(frozen=True, slots=True)
class Vector:
    """``weights`` and ``biases`` of the options, (k,) each: ``w · log p + b``.

    ``never_true`` are the options that are true in no question of the fit, and ``at_limit`` says that some weight or
    bias is.
    """

    weights: FloatArray
    biases: FloatArray
    never_true: tuple[int, ...] = ()
    at_limit: bool = False

    def logits(self, log_probabilities: FloatArray) -> FloatArray:
        return log_probabilities * self.weights + self.biases

    def words(self) -> dict[str, float]:
        return {}

    def notes(self) -> tuple[str, ...]:
        notes = []
        if self.never_true:
            verbs = ("is", "has") if len(self.never_true) == 1 else ("are", "have")
            never = ", ".join(OPTION_NAMES[j] for j in self.never_true)
            notes.append(
                f"{never} {verbs[0]} never true in the questions of the fit, and {verbs[1]} the mean weight and bias "
                "of the other options."
            )
        if self.at_limit:
            notes.append("Some weights are at their limits: the questions of the fit do not say how far to go.")
        return tuple(notes)


@dataclass(frozen=True, slots=True)
class PlattScaling:
    """One sigmoid of the log-odds per option."""

    sigmoids: tuple[Sigmoid, ...]

    def logits(self, log_probabilities: FloatArray) -> FloatArray:
        odds = _log_odds(np.exp(log_probabilities))
        slopes, intercepts = np.array([(sigmoid.slope, sigmoid.intercept) for sigmoid in self.sigmoids]).T
        return _kept(log_expit(odds * slopes + intercepts), log_probabilities)

    def words(self) -> dict[str, float]:
        return {}

    def notes(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class IsotonicScaling:
    """One non-decreasing function of the probability per option."""

    functions: tuple[Isotonic, ...]

    def logits(self, log_probabilities: FloatArray) -> FloatArray:
        columns = [rising(p) for rising, p in zip(self.functions, np.exp(log_probabilities).T, strict=True)]
        return _kept(log(np.stack(columns, axis=1)), log_probabilities)

    def words(self) -> dict[str, float]:
        return {}

    def notes(self) -> tuple[str, ...]:
        return ()


def _kept(logs: FloatArray, log_probabilities: FloatArray) -> FloatArray:
    """The new logarithms (n, k), but −inf for an option with probability 0.

    A row that would be −inf everywhere keeps its old log-probabilities.
    """
    restored = np.where(np.isneginf(log_probabilities), -np.inf, logs)
    return np.where(np.isneginf(restored).all(axis=1, keepdims=True), log_probabilities, restored)


def _log_odds(probabilities: FloatArray) -> FloatArray:
    p = np.clip(probabilities, SMALLEST, 1 - SMALLEST)
    return np.asarray(np.log(p) - np.log1p(-p), dtype=np.float64)


def fit_temperature(log_probabilities: FloatArray, labels: IntArray) -> Temperature:
    """The temperature from 0.01 to 100 that minimises NLL; 1 if all of them fit equally well."""
    from scipy.optimize import minimize_scalar  # imported here: it is slow, and every page imports this module

    logs = _finite(log_probabilities)
    true = logs[np.arange(len(labels)), labels]

    def loss(log_t: float) -> float:
        # With s = 1/T: NLL = mean(log Σ_j exp(s·z_j) − s·z_true)
        scale = np.exp(-log_t)
        return float((logsumexp(logs * scale, axis=1) - true * scale).mean())

    minimum = minimize_scalar(
        loss, bounds=(np.log(COLDEST), np.log(HOTTEST)), method="bounded", options={"xatol": 1e-9}
    )
    best = float(loss(minimum.x))
    limits = {limit: loss(float(np.log(limit))) for limit in (COLDEST, HOTTEST)}
    if max(limits.values()) - min(best, *limits.values()) <= FLAT:
        return Temperature(1.0, any_fits=True)
    # The search ends just before a limit. If the limit itself fits as well, it is the best temperature.
    limit = min(limits, key=limits.__getitem__)
    return Temperature(limit if limits[limit] <= best + FLAT * abs(best) else float(np.exp(minimum.x)))


def fit_vector(log_probabilities: FloatArray, labels: IntArray) -> Vector:
    """The weights from 0.01 to 100 and biases that minimise NLL; the biases sum to 0.

    For an option that is never true, the best bias is −∞, which says nothing about other questions. Such an option has
    the mean weight and the mean bias of the others.
    """
    from scipy.optimize import minimize

    logs = _finite(log_probabilities)
    n, k = logs.shape
    truth = np.eye(k)[labels]
    there = ~np.isneginf(log_probabilities).all(axis=0)
    unseen = there & (truth.sum(axis=0) == 0)
    seen = ~unseen
    # The parameters of all options from those of the fitted ones, (k, k): unseen options take the mean.
    spread = np.eye(k)
    spread[unseen] = (seen & there) / max(int((seen & there).sum()), 1)

    def loss(values: FloatArray) -> tuple[float, FloatArray]:
        # values (2k,) are w, then b. z = w·log p + b; ∂NLL/∂z = (softmax(z) − y)/n, (n, k)
        weights, biases = (values[:k], values[k:]) if seen.all() else (spread @ values[:k], spread @ values[k:])
        z = logs * weights + biases
        whole = logsumexp(z, axis=1, keepdims=True)
        off = (np.exp(z - whole) - truth) / n
        slopes = (off * logs).sum(axis=0), off.sum(axis=0)
        if not seen.all():
            slopes = spread.T @ slopes[0], spread.T @ slopes[1]
        return float((whole[:, 0] - (z * truth).sum(axis=1)).mean()), np.concatenate(slopes)

    bounds = [(COLDEST, HOTTEST)] * k + [(-STEEPEST, STEEPEST)] * k
    start = np.concatenate([np.ones(k), np.zeros(k)])
    minimum = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500})
    weights, biases = (
        (spread @ minimum.x[:k], spread @ minimum.x[k:]) if unseen.any() else (minimum.x[:k], minimum.x[k:])
    )
    limits = np.isclose(minimum.x[:k], HOTTEST) | np.isclose(minimum.x[:k], COLDEST)
    at_limit = bool((limits | np.isclose(np.abs(minimum.x[k:]), STEEPEST))[there & seen].any())
    return Vector(weights, biases - biases.mean(), tuple(np.flatnonzero(unseen).tolist()), at_limit)


def fit_platt(log_probabilities: FloatArray, labels: IntArray) -> PlattScaling:
    """One sigmoid per option. The slope is from 0 to 100, because a negative one would reverse the order of an option's
    probabilities."""
    odds = _log_odds(np.exp(log_probabilities))
    return PlattScaling(
        tuple(Sigmoid.fit(x, labels == j, least_slope=0.0, most_slope=HOTTEST) for j, x in enumerate(odds.T))
    )


def fit_isotonic(log_probabilities: FloatArray, labels: IntArray) -> IsotonicScaling:
    """One isotonic regression per option."""
    return IsotonicScaling(tuple(Isotonic.fit(p, labels == j) for j, p in enumerate(np.exp(log_probabilities).T)))


def _finite(logs: FloatArray) -> FloatArray:
    """Replace −inf by a finite log-probability, so low that no temperature allowed here makes it count."""
    return np.maximum(logs, np.finfo(np.float64).min / 1e4)


METHODS: dict[str, Callable[[FloatArray, IntArray], Recalibration]] = {
    "temperature": fit_temperature,
    "vector": fit_vector,
    "platt": fit_platt,
    "isotonic": fit_isotonic,
}
"""Every recalibration method, by name."""


def fit(method: str, log_probabilities: FloatArray, labels: IntArray) -> Recalibration:
    """Fit a map on log-probabilities (n, k) and labels (n,), which are used for nothing else afterwards.

    Raises :class:`InputError` for an unknown method, fewer than 10 questions, or invalid arrays.
    """
    if method not in METHODS:
        raise InputError(f"unknown recalibration {method!r}; choose from {', '.join(METHODS)}")
    p = check_probabilities(np.exp(log_probabilities))
    y = check_labels(labels, n=len(p), k=p.shape[1])
    if len(p) < FEWEST:
        raise InputError(f"recalibration needs at least {FEWEST} questions of its own, got {len(p)}")
    logs = np.asarray(log_probabilities, dtype=np.float64)
    if np.isneginf(logs[np.arange(len(p)), y]).any():  # a true option with probability 0: every map's loss is infinite
        logs = log((p + SMALLEST) / (1 + SMALLEST * p.shape[1]))
    return METHODS[method](logs, y)
