"""Streamlit calls a component again and again on one element, and may end an earlier call after a later one."""

import re
from pathlib import Path

import pytest

from core.settings import ROOT
from tests.app.javascript import passed_tests

COMPONENTS = ROOT / "app" / "components"
SCRIPTS = [path for path in sorted(COMPONENTS.rglob("*.js")) if "constructor(root)" in path.read_text("utf-8")]
CONSTRUCTOR = re.compile(r"constructor\(root\) \{(.*?)\n  \}", re.DOTALL)
UNMANAGED = re.compile(r"^export (?:default )?function[^(]*\(\{[^}]*parentElement", re.MULTILINE)


def test_calls_may_come_and_end_in_any_order():
    assert passed_tests([Path(__file__).parent / "mounted.test.mjs"]) == 7


def test_the_browser_asks_for_what_a_page_awaits_until_it_is_there():
    assert passed_tests([Path(__file__).parent / "awaited.test.mjs"]) == 4


def test_a_page_that_is_drawn_again_leaves_what_is_being_typed():
    assert passed_tests([Path(__file__).parent / "number_dial.test.mjs"]) == 2


@pytest.mark.quick
def test_every_component_is_mounted_by_the_shared_function():
    assert not [path for path in COMPONENTS.rglob("*.js") if UNMANAGED.search(path.read_text("utf-8"))]


@pytest.mark.quick
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_constructor_replaces_what_an_earlier_one_left(path):
    constructor = CONSTRUCTOR.search(path.read_text("utf-8"))
    assert constructor is not None
    assert re.findall(r'find\("[^"]*"\)\.append\(', constructor[1]) == []


@pytest.mark.quick
def test_the_readings_of_the_temperature_are_there_once():
    script = (ROOT / "app/components/calibration/temperature/temperature.js").read_text("utf-8")
    emptied, filled = script.index("list.replaceChildren()"), script.index("list.append(")
    assert emptied < filled
