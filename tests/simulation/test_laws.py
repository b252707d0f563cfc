"""The short form of the table of every interval and p-value under every law: few rows, where intervals break first."""

import ast
from collections.abc import Iterator

import pytest

from core.settings import ROOT
from tests.simulation.case import SURE
from tests.simulation.law_table import FIGURES, PAGES, SHORT, SIZES, Cell, Interval, cells
from tests.simulation.laws import LAWS, VARIANTS


@pytest.mark.simulation
@pytest.mark.parametrize("law", [name for name in LAWS if name not in VARIANTS])
@pytest.mark.parametrize("page", PAGES)
def test_intervals_hold_and_tests_keep_quiet(page: str, law: str):
    result = cells(page, LAWS[law], SIZES[0], SHORT)
    assert {
        name: cell.text() for name, cell in result.items() if cell.fails(FIGURES[page][name].allowed, tail=SURE)
    } == {}


def test_every_figure_is_measured_under_a_calibrated_law():
    for page, figures in FIGURES.items():
        assert PAGES[page](LAWS["calibrated"], SIZES[1], 0).keys() == figures.keys()


def texts() -> Iterator[str]:
    """All texts of the pages' source, with single spaces."""
    for path in (ROOT / "app").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield " ".join(node.value.split())


def test_a_page_says_what_an_interval_covers_that_does_not_hold_93_to_99_per_cent():
    shown = "\n".join(texts())
    assert {
        figure.says for figures in FIGURES.values() for figure in figures.values() if figure.says not in shown
    } == set()


def test_a_point_an_end_out_of_range_and_a_miss_are_told_apart():
    outcomes = {
        ends: Interval(0.5, *ends, least=0, most=1).outcome(0.5) for ends in ((0.5, 0.5), (-0.1, 0.7), (0.6, 0.7))
    }
    assert list(outcomes.values()) == ["point", "out of range", "miss"]
    assert Interval(0.5, float("nan"), float("nan")).outcome(0.5) == "none"
    assert Interval(0.5, 0.4, 0.6).outcome(0.6) == "hit"


def test_a_cell_fails_by_too_few_hits_too_many_alarms_and_any_fault():
    assert Cell(12, hits=6).fails((0.93, 0.99), tail=SURE)
    assert not Cell(12, hits=10).fails((0.93, 0.99), tail=SURE)
    assert Cell(12, hits=6).fails((0, 0.065), tail=SURE)
    assert Cell(12, hits=12, points=1).fails((0.93, 1.0), tail=SURE)
    assert not Cell(12, none=12).fails((0.93, 0.99), tail=SURE)
