import math

import numpy as np
import pytest

from core.conformal.alpha import ALPHAS, check_thousandths, thousandths
from core.errors import InputError

pytestmark = pytest.mark.quick


def test_every_thousandth_comes_back():
    assert [thousandths(a / 1000) for a in range(1, 1000)] == list(range(1, 1000))
    assert np.array_equal(ALPHAS, np.arange(1, 1000))


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 1.2, math.nan, math.inf, -math.inf])
def test_outside_the_open_interval(alpha: float):
    with pytest.raises(InputError, match=r"alpha must lie in \(0, 1\), got"):
        thousandths(alpha)


@pytest.mark.parametrize("alpha", [0.0004, 0.12345, 0.9999])
def test_between_two_thousandths(alpha: float):
    with pytest.raises(InputError, match="alpha counts in thousandths"):
        thousandths(alpha)


@pytest.mark.parametrize("alpha", [0, 1000, -5])
def test_whole_thousandths(alpha: int):
    assert check_thousandths(100) == 100
    with pytest.raises(InputError, match="1 to 999"):
        check_thousandths(alpha)


def test_the_ends_and_what_is_no_whole_number():
    assert (check_thousandths(1), check_thousandths(999)) == (1, 999)
    assert type(check_thousandths(np.int64(7))) is int
    with pytest.raises(InputError, match="whole number"):
        check_thousandths(99.5)
    assert thousandths(0.0999999995) == 100  # within a millionth of a thousandth
    with pytest.raises(InputError, match="counts in thousandths"):
        thousandths(0.099999998)
