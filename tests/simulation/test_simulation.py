"""A short form of one simulation of each figure: the first one for which so few draws would notice a grave fault."""

import re

import numpy as np
import pytest

from tests.simulation.case import INTERVAL, TEST, Case, draws, hits, improbable, notices, verdict
from tests.simulation.cases import CASES


def figure(case: Case) -> str:
    """The subject of a case, without its number of questions."""
    return re.sub(r"[\d,]*\d", "", case.name)


SHORT = {figure(case): case for case in reversed(CASES) if notices(case)}


def test_every_figure_has_a_short_form_that_would_notice_a_grave_fault():
    assert {figure(case) for case in CASES} == SHORT.keys()


@pytest.mark.simulation
@pytest.mark.parametrize("case", SHORT.values(), ids=lambda case: case.name)
def test_it_means_what_it_says(case: Case):
    as_allowed, count, drawn = verdict(case, draws(case))
    assert as_allowed, f"{count} of {drawn}, allowed {case.allowed}"


@pytest.mark.parametrize("allowed", [INTERVAL, TEST])
@pytest.mark.parametrize("rate", [0.3, 0.95])
def test_the_draws_that_are_spared_would_change_no_verdict(allowed: tuple[float, float], rate: float):
    for seed in range(200):
        drawn = np.random.default_rng(seed).random(18) < rate
        case = Case("drawn beforehand", lambda i, drawn=drawn: bool(drawn[i]), allowed, 18, 18)
        as_allowed, count, tried = verdict(case, 18)
        assert as_allowed != improbable(hits(case, 18), 18, allowed)
        assert count == drawn[:tried].sum()
