"""Logistic regression by Newton's method.

The loss is convex, so it is minimal where its gradient is 0. Newton's method finds that point almost to machine
precision in a few steps (Bishop 2006, Pattern Recognition and Machine Learning, section 4.3.3).
"""

import numpy as np
from scipy.special import expit

from core.records import FloatArray

STEPS = 100
CLOSE = 1e-20
"""Newton's method stops once the Newton decrement is at most this times (1 + |loss|)."""
VISIBLE = 1e-10
"""Up to this times (1 + |loss|), the decrement is so small that rounding can make the right step look worse."""
SMALLEST_STEP = 1e-18


def logistic(
    features: FloatArray, targets: FloatArray, *, penalty: float = 0.0, offset: FloatArray | None = None
) -> FloatArray:
    """The weights of P = σ(x·w + b + offset) that minimise Σ loss + penalty/2 · |w|², (d + 1,), the intercept last.

    ``features`` are (n, d), where d may be 0, and ``targets`` (n,) lie in [0, 1]. ``offset`` (n,) is a part of the
    log-odds that is not fitted. The intercept is not penalised; a penalty of 1 is scikit-learn's C = 1. A Newton step
    is halved until the loss falls, except near the minimum, where rounding hides whether it does.
    """
    x = np.column_stack([features, np.ones(len(features))])
    fixed = np.zeros(len(x)) if offset is None else offset
    ridge = np.diag([penalty] * features.shape[1] + [0.0])
    w = np.zeros(x.shape[1])
    w[-1] = -fixed.mean()  # log-odds near 0, so p(1 − p) does not round to 0
    loss = _loss(x @ w + fixed, targets, w, ridge)
    for _ in range(STEPS):
        p = expit(x @ w + fixed)
        # ∇ = Xᵀ(p − t) + λw and H = Xᵀ diag(p(1 − p)) X + λI; the step is H⁻¹∇.
        gradient = x.T @ (p - targets) + ridge @ w
        hessian = (x * (p * (1 - p))[:, None]).T @ x + ridge + 1e-12 * np.eye(len(w))
        step = np.linalg.solve(hessian, gradient)
        decrement = gradient @ step  # ∇ᵀH⁻¹∇, twice what the step takes from the loss where that is quadratic
        is_visible = decrement > VISIBLE * (1 + abs(loss))
        size = 1.0
        while (new := _loss(x @ (w - size * step) + fixed, targets, w - size * step, ridge)) > loss and is_visible:
            size /= 2
            if size < SMALLEST_STEP:
                return w
        w = w - size * step
        if decrement <= CLOSE * (1 + abs(loss)):
            break
        loss = new
    return w


def _loss(z: FloatArray, targets: FloatArray, w: FloatArray, ridge: FloatArray) -> float:
    return float((np.logaddexp(0, z) - targets * z).sum() + 0.5 * w @ ridge @ w)
