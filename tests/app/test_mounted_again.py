"""Streamlit calls a component again and again on one element, and may end an earlier call after a later one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.settings import ROOT
from tests.app.javascript import passed_tests

COMPONENTS = ROOT / "app" / "components"
SCRIPTS = [path for path in sorted(COMPONENTS.rglob("*.js")) if "constructor(root)" in path.read_text("utf-8")]
CONSTRUCTOR = re.compile(r"constructor\(root\) \{(.*?)\n  \}", re.DOTALL)
OWN_END = re.compile(r"^  return \(\) =>", re.MULTILINE)


def test_only_the_last_call_in_a_place_closes_a_component():
    assert passed_tests([Path(__file__).parent / "mounted.test.mjs"], HEDGE_SCRIPTS=str(COMPONENTS)) == 5


@pytest.mark.parametrize("path", sorted(COMPONENTS.rglob("*.js")), ids=lambda path: path.stem)
def test_every_component_is_mounted_once_in_its_place(path):
    """An end of its own would close the component for a call that Streamlit has dropped while loading the script."""
    text = path.read_text("utf-8")
    _, *mounting = re.split(r"^export (?:default )?function (?:mount\w+)?\(\{", text, maxsplit=1, flags=re.MULTILINE)
    if not mounting or path.name == "mounted.js":
        return
    assert OWN_END.findall(mounting[0]) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_constructor_replaces_what_an_earlier_one_left(path):
    made = CONSTRUCTOR.search(path.read_text("utf-8"))
    assert made is not None
    assert re.findall(r'find\("[^"]*"\)\.append\(', made[1]) == []


def test_the_readings_of_the_temperature_are_there_once():
    script = (ROOT / "app/components/calibration/temperature/temperature.js").read_text("utf-8")
    emptied, filled = script.index("list.replaceChildren()"), script.index("list.append(")
    assert emptied < filled
