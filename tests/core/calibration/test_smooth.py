import numpy as np
import pytest
from scipy.stats import norm

from core.calibration.bins import TopLabel
from core.calibration.smooth import CELLS, GRID, densities_of, error_at, on_grid, smooth_error

pytestmark = pytest.mark.quick


def slow(at, confidence, values, width):
    """The reflected kernel as a sum over mirror images."""
    images = sum(norm.pdf(at[:, None], 2 * r + s * confidence, width) for r in range(-8, 9) for s in (1, -1))
    return images @ values


@pytest.fixture
def top():
    rng = np.random.default_rng(5)
    c = rng.integers(0, CELLS + 1, 80) / CELLS  # on the grid, both ends among them
    c[:2] = 0, 1
    return TopLabel(c, (rng.random(80) < c**2).astype(float))


@pytest.mark.parametrize("width", [0.01, 0.07, 0.4, 1.0])
def test_the_kernel_against_a_sum_of_mirror_images(top, width):
    result = densities_of(on_grid(top.confidence, top.gap), width)
    assert result == pytest.approx(slow(GRID, top.confidence, top.gap, width), abs=1e-9)


def test_mass_is_kept(top):
    density = densities_of(on_grid(top.confidence, np.ones(len(top))), 0.05)
    assert (density.sum() - (density[0] + density[-1]) / 2) / CELLS == pytest.approx(len(top))


def test_the_error_equals_its_width(top):
    error = smooth_error(top)
    assert float(error_at(on_grid(top.confidence, top.gap), len(top), error)) == pytest.approx(error, abs=1e-6)


def test_a_constant_gap_is_the_error():
    # Everybody is wrong and .3 sure: the gap is −.3 everywhere that anything is.
    assert smooth_error(TopLabel(np.full(50, 0.3), np.zeros(50))) == pytest.approx(0.3, abs=1e-9)
