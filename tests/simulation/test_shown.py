"""Every interval and p-value that a page or a command can show has a simulation."""

import pytest

from tests.simulation.case import INTERVAL, TEST
from tests.simulation.cases import CASES
from tests.simulation.law_table import FIGURES, HOLDS, NAMES, QUIET
from tests.simulation.origins import places
from tests.simulation.shown import NO_INTERVAL, PASSED_ON, SIMULATED

pytestmark = pytest.mark.quick


def named(beginning: str) -> list[str]:
    return [name for name in (*NAMES, *(case.name for case in CASES)) if name.startswith(beginning)]


def test_every_place_is_listed_once():
    lists = [set(SIMULATED), set(PASSED_ON), set(NO_INTERVAL)]
    assert sum(map(len, lists)) == len(set.union(*lists))
    assert places() == set.union(*lists)


def test_every_listed_place_has_its_simulations():
    for place, beginnings in SIMULATED.items():
        assert beginnings, place
        for beginning in beginnings:
            assert named(beginning), f"{place}: no simulation's name begins with {beginning!r}"


def test_what_is_passed_on_comes_from_a_simulated_place():
    assert {source for sources in PASSED_ON.values() for source in sources} <= set(SIMULATED)


def test_every_simulation_is_of_something_shown():
    used = {name for beginnings in SIMULATED.values() for beginning in beginnings for name in named(beginning)}
    assert used == {*NAMES, *(case.name for case in CASES)}


def test_the_names_differ():
    names = [*NAMES, *(case.name for case in CASES)]
    assert len(set(names)) == len(names)


def test_an_interval_that_is_not_of_95_per_cent_says_what_it_means():
    unlike = [case for case in CASES if case.allowed not in (INTERVAL, TEST)]
    assert unlike
    assert [case.name for case in unlike if not case.says] == []
    assert [
        figure
        for figures in FIGURES.values()
        for figure in figures.values()
        if figure not in (HOLDS, QUIET) and not figure.says
    ] == []
