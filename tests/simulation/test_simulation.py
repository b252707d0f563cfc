"""The short form of the simulations that so few draws can tell anything about."""

from __future__ import annotations

import re

import pytest

from tests.simulation.case import Case, draws, hits, improbable, notices
from tests.simulation.cases import CASES


def figure(case: Case) -> str:
    """What a case is about, whatever the number of questions."""
    return re.sub(r"[\d,]*\d", "", case.name)


def test_every_figure_has_a_short_form_that_would_notice_a_grave_fault():
    assert {figure(case) for case in CASES} - {figure(case) for case in CASES if notices(case)} == set()


@pytest.mark.simulation
@pytest.mark.parametrize("case", list(filter(notices, CASES)), ids=lambda case: case.name)
def test_it_means_what_it_says(case: Case):
    drawn = draws(case)
    count = hits(case, drawn)
    assert not improbable(count, drawn, case.allowed), f"{count} of {drawn}, allowed {case.allowed}"
