"""The steps that make what ships: commands that exist, in an order in which each finds what it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import RunError
from core.settings import ASSETS
from hedge.commands.grammar import parser
from pocket_world import __main__ as command
from pocket_world import ship
from pocket_world.jury import SPECS
from pocket_world.recipes import RECIPES


def test_every_command_can_be_read() -> None:
    parsers = {"pocket_world": command._parser(), "core": parser()}
    for words in [words for step in ship.commands().values() for words in step]:
        parsers[words[0]].parse_args(words[1:])


def test_all_that_ships_is_made() -> None:
    said = [" ".join(words) for step in ship.commands().values() for words in step]
    for model in RECIPES:
        assert said.index(f"pocket_world publish --model {model}") < said.index(f"pocket_world record --model {model}")
    for adapter in (ASSETS / "adapters").iterdir():
        assert any(adapter.name in words for words in said), adapter.name
    for file in (ASSETS / "tokens").rglob("*.json"):
        assert any(str(file) in words for words in said), file.name
    assert set(SPECS["pocket-8m"].jurors) <= {words.split()[-1] for words in said}


def test_it_begins_with_the_step_that_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    written = tmp_path / "written"
    note = "import pathlib, sys\n"
    note += f"pathlib.Path({str(written)!r}).open('a').write(sys.argv[1]); sys.exit(int(sys.argv[2]))"
    (tmp_path / "noting.py").write_text(note, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    steps = {"one": [["noting", "1", "0"]], "two": [["noting", "2", "0"], ["noting", "3", "4"]], "three": []}
    monkeypatch.setattr(ship, "commands", lambda: steps)
    with pytest.raises(RunError, match=r"`python -m noting 3 4` ended with status 4; .* ship --from two` goes on"):
        ship.ship("two")
    assert written.read_text(encoding="utf-8") == "23"


def test_an_unknown_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["ship", "--from", "cake"]) == 2
    assert "unknown step 'cake'; choose from models, endings, runs," in capsys.readouterr().err
