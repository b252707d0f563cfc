"""The command line: the check counts overlaps, and ``ship`` makes all that ships, in order."""

import re
from dataclasses import replace
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from core.settings import ASSETS
from hedge.commands.grammar import parser
from pocket_world import __main__ as command
from pocket_world import curriculum, jury, ship
from pocket_world.bank import questions
from pocket_world.documents import lettered
from pocket_world.jury import JURORS
from pocket_world.recipes import HUMBLE
from tests.parameters import rest_nightly


@pytest.mark.parametrize("every", rest_nightly([1000, 31], now=[1000]))
def test_check_of_some_steps(home: Path, capsys: pytest.CaptureFixture[str], every: int) -> None:
    assert command.main(["check", "--model", "pocket-1m", "--every", str(every)]) == 0
    name, documents, *_, overlaps = re.split(r": | documents, | words, ", capsys.readouterr().out)
    assert (name, overlaps) == ("pocket-1m", "0 bank questions, 0 runs of the bank, 0 runs of conversations\n")
    assert int(documents.replace(",", "")) > 90_000 / every


def test_a_check_that_finds_a_bank_question_fails(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = lettered([questions()[0]])
    monkeypatch.setattr(curriculum, "all_documents", lambda *_, every: [shown])
    assert command.main(["check", "--model", "pocket-1m"]) == 1
    assert "1 documents" in (printed := capsys.readouterr().out)
    assert "1 bank questions" in printed


def test_all_that_ships_is_made_in_an_order_in_which_each_command_finds_what_it_needs() -> None:
    parsers = {"pocket_world": command.parser(), "core": parser()}
    lines = list(ship.commands())
    for words in lines:
        parsers[words[0]].parse_args(words[1:])
    own = [words[1] for words in lines if words[0] == "pocket_world"]
    assert own == ["publish", "humble", "record", "answer", "juror", "jury"]
    outputs = [word for words in lines for word in words] + [
        str(ASSETS / "adapters" / name) for name in (*JURORS, HUMBLE)
    ]
    assert {str(folder) for folder in (ASSETS / "adapters").iterdir()} <= {*outputs}
    assert {str(file) for file in (ASSETS / "tokens").rglob("*.json")} <= {*outputs}


def test_ship_begins_with_the_command_of_that_number(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    written = tmp_path / "written"
    note = "import pathlib, sys\n"
    note += f"pathlib.Path({str(written)!r}).open('a').write(sys.argv[1]); sys.exit(int(sys.argv[2]))"
    (tmp_path / "noting.py").write_text(note, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    lines = [["noting", "1", "0"], ["noting", "2", "0"], ["noting", "3", "4"], ["noting", "4", "0"]]
    monkeypatch.setattr(ship, "commands", lambda: lines)
    with pytest.raises(CalledProcessError, match="status 4"):
        ship.ship(2)
    assert written.read_text(encoding="utf-8") == "23"


@pytest.mark.nightly
def test_a_juror_is_made(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base, tuning = JURORS["juror-3m"]
    monkeypatch.setitem(JURORS, "juror-3m", (base, replace(tuning, steps=20, rows=8, rank=2)))
    answered = jury.answered
    monkeypatch.setattr(jury, "answered", lambda tuning: answered(tuning=tuning)[:50])
    assert "of 50 answers, " in jury.make_juror("juror-3m", tmp_path / "adapter")
    assert (tmp_path / "adapter" / "adapter_model.safetensors").is_file()
