"""Laws of the data at which intervals break: very good models, coarse probabilities, heavy tails, repeated questions.

Evidence for the options of a question is normal around its true option, and a calibrated model gives the posterior
probabilities of its evidence. The other laws change one thing about it. Several models see the same questions with
noise that is partly their own, so models of equal skill are exchangeable.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from core.records import FloatArray, IntArray

PRIORS = {2: np.array([0.6, 0.4]), 4: np.array([0.4, 0.3, 0.2, 0.1])}
"""The shares of the true options: the last letter is rare."""
REPEATS = 5
VOTES = 10
SHARED, OF_MODEL, OF_ROW = 0.4, 0.3, 0.3
"""The parts of the noise's variance: common to all models, a model's own for a question, and a row's own."""


@dataclass(frozen=True, slots=True)
class Rows:
    """n rows of m models.

    ``probabilities`` (m, n, k), ``labels`` (n,), and ``shares`` (n, k), the probabilities of the labels given what the
    first model says of a row. ``clusters`` (n,) numbers the questions, or is None if no question repeats. ``samples``
    (n,) is the number of picks of each row, where probabilities are their frequencies.
    """

    probabilities: FloatArray
    labels: IntArray
    shares: FloatArray
    clusters: IntArray | None
    samples: IntArray | None = None


Draw = Callable[[np.random.Generator, int, FloatArray, int], Rows]
"""Draws n rows of models with these skills (m,) and with k options."""


def _evidence(
    rng: np.random.Generator,
    n: int,
    skills: FloatArray,
    k: int,
    *,
    repeats: int = 1,
    of_row: float = OF_ROW,
    heavy: bool = False,
) -> tuple[FloatArray, IntArray]:
    """The logits of the posterior, (m, n, k), and the labels, (n,). ``heavy`` logits have the tails of Student's t with
    2 degrees of freedom."""
    q, m = n // repeats, len(skills)
    labels = rng.choice(k, q, p=PRIORS[k])
    spread = 1 / np.sqrt(rng.chisquare(2, q) / 2) if heavy else 0.8 * rng.gamma(2, size=q)
    noise = (
        np.sqrt(SHARED) * rng.normal(size=(1, q, 1, k))
        + np.sqrt(OF_MODEL + OF_ROW - of_row) * rng.normal(size=(m, q, 1, k))
        + np.sqrt(of_row) * rng.normal(size=(m, q, repeats, k))
    )
    strength = skills[:, None, None, None] * spread[:, None, None]
    logits = np.log(PRIORS[k]) + strength * (noise + strength * np.eye(k)[labels][:, None])
    return logits.reshape(m, q * repeats, k), np.repeat(labels, repeats)


def _posterior(*, sharper: float = 1.0, heavy: bool = False) -> Draw:
    def draw(rng: np.random.Generator, n: int, skills: FloatArray, k: int) -> Rows:
        logits, labels = _evidence(rng, n, skills, k, heavy=heavy)
        return Rows(softmax(sharper * logits, axis=-1), labels, softmax(logits[0], axis=-1), None)

    return draw


def _chance(rng: np.random.Generator, n: int, skills: FloatArray, k: int) -> Rows:
    logits, _ = _evidence(rng, n, skills, k)
    return Rows(softmax(logits, axis=-1), rng.choice(k, n, p=PRIORS[k]), np.tile(PRIORS[k], (n, 1)), None)


def _repeated(*, of_row: float) -> Draw:
    def draw(rng: np.random.Generator, n: int, skills: FloatArray, k: int) -> Rows:
        logits, labels = _evidence(rng, n, skills, k, repeats=REPEATS, of_row=of_row)
        p = softmax(logits, axis=-1)
        return Rows(p, labels, p[0], np.repeat(np.arange(n // REPEATS), REPEATS))

    return draw


def _votes(least: int, most: int = 0) -> Draw:
    """Each model is asked a question this many times, or a random number of times up to ``most``; the truth is drawn as
    the least skilled one answers in the long run."""

    def draw(rng: np.random.Generator, n: int, skills: FloatArray, k: int) -> Rows:
        a = k / 2 * PRIORS[k]
        often = rng.dirichlet(a, n)
        samples = rng.integers(least, most + 1, n) if most else np.full(n, least)
        votes = np.stack([rng.multinomial(samples, _raised(often, skill / skills.min())) for skill in skills])
        shares = (votes[0] + a) / (samples[:, None] + a.sum())
        return Rows(votes / samples[:, None], _drawn(rng, often), shares, None, samples)

    return draw


def _calibrated_votes(rng: np.random.Generator, n: int, skills: FloatArray, k: int) -> Rows:
    """The truth is drawn as the first model votes."""
    rows = _votes(VOTES)(rng, n, skills, k)
    p = rows.probabilities[0]
    return Rows(rows.probabilities, _drawn(rng, p), p, None, rows.samples)


def _drawn(rng: np.random.Generator, p: FloatArray) -> IntArray:
    """An option of each row with these probabilities."""
    return np.asarray((p.cumsum(axis=1) <= rng.random((len(p), 1))).sum(axis=1).clip(0, p.shape[1] - 1))


def _raised(p: FloatArray, power: float) -> FloatArray:
    raised = np.maximum(p, 1e-300) ** power
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _nearly_perfect(*, errors: float) -> Draw:
    """Confidences from .99 to .9995; ``errors`` is how many times as often as it says a model errs."""

    def draw(rng: np.random.Generator, n: int, skills: FloatArray, k: int) -> Rows:
        m = len(skills)
        labels = rng.integers(0, k, n)
        doubt = (1 - rng.uniform(0.99, 0.9995, (m, n))) / skills[:, None] ** 2
        uniform = np.where(rng.random(n) < SHARED, rng.random(n), rng.random((m, n)))
        top = np.where(uniform < errors * doubt, (labels + rng.integers(1, k, (m, n))) % k, labels)
        p = np.where(np.arange(k) == top[..., None], 1 - doubt[..., None], doubt[..., None] / (k - 1))
        off = errors * doubt[0][:, None]
        return Rows(p, labels, np.where(np.arange(k) == top[0][:, None], 1 - off, off / (k - 1)), None)

    return draw


@dataclass(frozen=True, slots=True)
class Law:
    """``calibrated`` says whether the top option is right as often as its probability says, and ``exchangeable``
    whether models of equal skill are."""

    name: str
    draw: Draw
    calibrated: bool = False
    exchangeable: bool = True

    def rows(self, seed: int, n: int, *, skills: tuple[float, ...] = (1.0,), k: int = 4) -> Rows:
        rng = np.random.default_rng([zlib.crc32(self.name.encode()), seed, n, len(skills), k])
        return self.draw(rng, n, np.array(skills), k)


LAWS: dict[str, Law] = {
    law.name: law
    for law in (
        Law("calibrated", _posterior(), calibrated=True),
        Law("overconfident", _posterior(sharper=2.0)),
        Law("chance", _chance),
        Law("votes of ten", _votes(VOTES)),
        Law("votes of ten, calibrated", _calibrated_votes, calibrated=True, exchangeable=False),
        Law("votes of five", _votes(5)),
        Law("votes of thirty", _votes(30)),
        Law("votes of 5 to 30", _votes(5, 30)),
        Law("near-perfect", _nearly_perfect(errors=1.0), calibrated=True),
        Law("near-perfect, overconfident", _nearly_perfect(errors=5.0)),
        Law("heavy tails", _posterior(heavy=True), calibrated=True),
        Law("heavy tails, overconfident", _posterior(sharper=2.0, heavy=True)),
        Law("repeated x 5", _repeated(of_row=0.0), calibrated=True),
        Law("five prompts", _repeated(of_row=OF_ROW), calibrated=True),
    )
}
VARIANTS = (
    "votes of ten, calibrated",
    "votes of thirty",
    "votes of 5 to 30",
    "heavy tails, overconfident",
    "five prompts",
)
"""Laws that only the command draws."""
