"""Smooth calibration error.

The gaps ``correct − confidence`` are smoothed on [0, 1] by a Gaussian kernel that is reflected at both ends. The error
is the integral of the absolute result: ``smECE_σ = ∫ |Σ K_σ(t, cᵢ) (yᵢ − cᵢ) / n| dt``. The width is the fixed point
``smECE_σ = σ`` (Błasiok & Nakkiran 2023, arXiv 2309.12236), so no bins need to be chosen. The reflected kernel is the
heat kernel of a rod with insulated ends. It multiplies the j-th cosine by ``exp(−(πjσ)²/2)``, and is computed in this
way, on a grid with steps of 1/1000. Each question is divided between its two nearest grid points.
"""

import numpy as np

from core.calibration.bins import TopLabel
from core.records import FloatArray

CELLS = 1000
GRID: FloatArray = np.linspace(0, 1, CELLS + 1)
GRID.setflags(write=False)
NARROWEST = 0.001
HALVINGS = 30


def on_grid(confidence: FloatArray, values: FloatArray, *, cells: int = CELLS) -> FloatArray:
    """Sums of values (n,) at the grid points, (cells + 1,), (1001,) by default.

    Each value is divided between its two neighbouring points by linear interpolation.
    """
    at = np.clip(confidence, 0, 1) * cells
    left = np.minimum(at.astype(np.int64), cells - 1)
    part = at - left
    low = np.bincount(left, weights=values * (1 - part), minlength=cells + 1)
    return np.asarray(low + np.bincount(left + 1, weights=values * part, minlength=cells + 1), dtype=np.float64)


def cosines(sums: FloatArray) -> FloatArray:
    """The cosine coefficients of sums at grid points (…, cells + 1), in the same shape."""
    from scipy.fft import dct  # imported here because no page needs it for its first paint

    # The two end points have half a cell each. Their sums are doubled, because the transform (DCT-I) counts its ends
    # once and all other points twice.
    doubled = sums.copy()
    doubled[..., [0, -1]] *= 2
    return np.asarray(dct(doubled, type=1, axis=-1), dtype=np.float64)


def heated(coefficients: FloatArray, width: FloatArray | float) -> FloatArray:
    """Smoothed densities at the grid points, (…, cells + 1), with a kernel width per row.

    ``coefficients`` (…, cells + 1) come from :func:`cosines`.
    """
    from scipy.fft import idct

    cells = coefficients.shape[-1] - 1
    # The j-th coefficient is multiplied by exp(−(πjσ)²/2).
    heat = np.exp(-0.5 * (np.pi * np.arange(cells + 1) * np.asarray(width)[..., None]) ** 2)
    return np.asarray(idct(coefficients * heat, type=1, axis=-1) * cells, dtype=np.float64)


def densities_of(sums: FloatArray, width: FloatArray | float) -> FloatArray:
    """Smoothed densities of sums at grid points (…, cells + 1), with a kernel width per row."""
    return heated(cosines(sums), width)


def integral(values: FloatArray) -> FloatArray:
    """The integral over [0, 1] of values at grid points (…, cells + 1), by the trapezoidal rule, (…)."""
    cells = values.shape[-1] - 1
    return np.asarray((values.sum(axis=-1) - (values[..., 0] + values[..., -1]) / 2) / cells, dtype=np.float64)


def error_at(sums: FloatArray, n: int, width: FloatArray | float) -> FloatArray:
    """``smECE_σ`` of n questions at a given width σ, (…), from their summed gaps at grid points (…, cells + 1)."""
    return integral(np.abs(densities_of(sums, width))) / n


def fixed_points(sums: FloatArray, n: int, *, halvings: int = HALVINGS) -> FloatArray:
    """The width that equals each row's error at that width, (…,), to 2^−halvings by bisection; at least 0.001."""
    low, high = np.full(sums.shape[:-1], NARROWEST), np.ones(sums.shape[:-1])
    coefficients = cosines(sums)
    for _ in range(halvings):
        middle = (low + high) / 2
        wide = integral(np.abs(heated(coefficients, middle))) / n < middle
        low, high = np.where(wide, low, middle), np.where(wide, middle, high)
    return high


def smooth_error(top: TopLabel) -> float:
    """The smooth calibration error of the top option, from 0 to 1.

    >>> smooth_error(TopLabel(np.array([0.5, 0.5]), np.array([1.0, 0.0])))
    0.0
    """
    sums = on_grid(top.confidence, top.gap)
    width = float(fixed_points(sums, len(top)))
    return float(error_at(sums, len(top), width))
