"""The short form of ``python -m tests.damage``: 50 flipped bits in each kind of file, and a few worse damages."""

from pathlib import Path
from random import Random

import pytest

from tests.damage.damages import DAMAGES
from tests.damage.kinds import KINDS
from tests.damage.looks import Look, Refused
from tests.damage.tries import GOOD, Kind, Stage

FLIPS = 50
OTHERS = 3
"""Tries of each other damage."""
IN_SUITE = ("run", "archive", "trash", "chunk")
"""The suite flips bits of the other kinds where they are read: ``tests/core/test_kept_files.py`` and
``tests/core/storage/database/test_flips.py``. At night all kinds are damaged here."""
ALONE = ("part", "perplexity chunk", "jury path", "unfinished", "older run")
"""The kinds that need a process for each try, because it loads a model or continues a run."""


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in IN_SUITE else pytest.mark.nightly) for n in KINDS])
def test_a_damaged_file_gives_the_same_figures_or_a_sentence(tmp_path, name):
    stage = Stage(name, KINDS[name], tmp_path, pages=False)
    results = stage.run("flip", range(FLIPS), 20261129, at_once=1 if name in ALONE else FLIPS)
    for damage in DAMAGES:
        if damage != "flip":
            results += stage.run(damage, range(OTHERS), 20261129, at_once=1 if name in ALONE else OTHERS)
    assert len(results) > FLIPS
    bad = [f"{each.outcome}: {each.damaged}: {each.details[-900:]}" for each in results if each.outcome not in GOOD]
    assert KINDS[name].older or not bad, "\n".join(bad)
    assert not [line for line in bad if line.startswith(("exception", "hang"))]


# ---------------------------------------------------------------- the harness itself


def _stage(folder: Path, get, *, files: tuple[str, ...] = ("mine",)) -> Stage:
    def build() -> dict[str, str]:
        for name in ("mine", "other"):
            (folder / "home" / f"{name}.txt").write_bytes(b"12345678")
        return {}

    def home() -> Path:
        return folder / "home"

    return Stage("test", Kind(build, lambda names: [Look("look", files, lambda: get(home()))], ("mine.txt",)), folder)


def _content(home: Path) -> str:
    return (home / "mine.txt").read_bytes().decode("latin-1")


def _refuses(home: Path) -> str:
    if _content(home) != "12345678":
        raise Refused("mine.txt is damaged; delete it")
    return _content(home)


@pytest.mark.parametrize(
    ("get", "files", "outcome"),
    [
        (lambda home: "constant", ("mine",), "same"),
        (_refuses, ("mine",), "refused"),
        (_refuses, ("other",), "others lost"),
        (_content, ("mine",), "other figures"),
        (lambda home: {"12345678": 1}[_content(home)], ("mine",), "exception"),
    ],
)
def test_what_a_try_shows_is_seen(tmp_path, get, files, outcome):
    results = _stage(tmp_path, get, files=files).run("flip", range(3), 1)
    assert [result.damaged for result in results] == ["mine.txt"] * 3
    assert {result.outcome for result in results} == {outcome}


def test_a_sentence_that_does_not_name_what_is_damaged_is_unclear(tmp_path):
    def refuses(home: Path) -> str:
        if _content(home) != "12345678":
            raise Refused("something is damaged")
        return _content(home)

    (result,) = _stage(tmp_path, refuses).run("flip", [0], 1)
    assert result.outcome == "unclear sentence"


def test_a_flip_changes_one_bit_and_no_time(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"\0" * 100)
    before = path.stat()
    assert DAMAGES["flip"](path, [], Random(3)) == [path]
    assert sum(byte.bit_count() for byte in path.read_bytes()) == 1
    assert path.stat().st_mtime_ns == before.st_mtime_ns
