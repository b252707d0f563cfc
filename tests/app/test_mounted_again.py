"""Streamlit can mount a component again on the same element, after it was taken away."""

from __future__ import annotations

import re

import pytest

from core.settings import ROOT

SCRIPTS = [path for path in sorted((ROOT / "app").rglob("*.js")) if "constructor(root)" in path.read_text("utf-8")]
CONSTRUCTOR = re.compile(r"constructor\(root\) \{(.*?)\n  \}", re.DOTALL)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_constructor_replaces_what_an_earlier_one_left(path):
    made = CONSTRUCTOR.search(path.read_text("utf-8"))
    assert made is not None
    assert re.findall(r'find\("[^"]*"\)\.append\(', made[1]) == []


def test_the_readings_of_the_temperature_are_there_once():
    script = (ROOT / "app/components/calibration/temperature/temperature.js").read_text("utf-8")
    emptied, filled = script.index("list.replaceChildren()"), script.index("list.append(")
    assert emptied < filled
