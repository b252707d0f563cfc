"""The figures of the course's further lessons in the browser equal what core computes; old links and texts hold."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from core.reports import lesson
from core.reports.lesson import LESSONS
from tests.app import golden_course
from tests.app.javascript import passed_tests


def names_in(name: str) -> set[str]:
    return {name for step in lesson.load(LESSONS[name]).steps for text in step.texts for name in lesson.names(text)}


def plain(sent: dict[str, Any]) -> dict[str, Any]:
    """The data sent to the browser, as JSON. A table is an object of its columns."""
    return {
        name: {"table": value.to_pydict()} if isinstance(value, pa.Table) else value for name, value in sent.items()
    }


def test_every_figure_in_the_texts_equals_cores(home: Path, tmp_path: Path):
    golden = {
        name: {
            **case,
            "data": golden_course.written(plain(case["data"])),
            "names": sorted(names_in(name)),
            "guessed": sorted(step.guess.of for step in lesson.load(LESSONS[name]).steps),
            "steps": [step.name for step in lesson.load(LESSONS[name]).steps],
        }
        for name, case in golden_course.cases().items()
    }
    assert set(golden) == set(LESSONS) - {"sets"}
    path = tmp_path / "golden.json"
    path.write_text(json.dumps({"lessons": golden}))
    tests = Path(__file__).with_name("course.test.mjs")
    text = tests.read_text()
    each, once = len(re.findall(r"^  test\(", text, re.MULTILINE)), len(re.findall(r"^test\(", text, re.MULTILINE))
    assert passed_tests([tests], HEDGE_GOLDEN=str(path)) == each * len(golden) + once


@pytest.mark.quick
@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_has_its_own_names_and_no_typed_number(name: str):
    content = lesson.load(LESSONS[name])
    assert content.short
    assert 4 <= len(content.steps) <= 8
    for step in content.steps:
        assert step.say, step.name
        assert step.guess.question.endswith("?")
        assert (step.guess.kind == "choice") == (len(step.guess.choices) > 1)
        for text in step.texts:
            assert not re.search(r"\d", re.sub(r"\{\w+\}", "", text)), step.name


@pytest.mark.quick
def test_no_step_has_the_name_of_another():
    names = [step.name for path in LESSONS.values() for step in lesson.load(path).steps]
    guessed = [step.guess.of for path in LESSONS.values() for step in lesson.load(path).steps]
    assert len(set(names)) == len(names)
    assert len(set(guessed)) == len(guessed)
