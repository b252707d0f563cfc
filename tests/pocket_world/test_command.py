"""The command line: unusable arguments end with one sentence and status 2, and ``ship`` makes all that ships."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from core.errors import InputError, RunError
from core.settings import ASSETS
from hedge.commands.grammar import parser
from pocket_world import __main__ as command
from pocket_world import jury, ship
from pocket_world.card import add_results
from pocket_world.jury import JURORS, SPECS, answered, juror_recipe, publish_juror
from pocket_world.recipes import RECIPES


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["make", "--model", "pocket-9t"], f"unknown pocket model 'pocket-9t'; choose from {', '.join(RECIPES)}"),
        (["publish"], "pocket-1m is not whole; `python -m pocket_world make --model pocket-1m` goes on with it"),
        (["ship", "--from", "cake"], "unknown step 'cake'; choose from models, endings, runs,"),
        (["juror", "--juror", "juror-9t"], "unknown juror 'juror-9t'; choose from juror-3m,"),
        (["make", "--device", "cuda"], "torch finds none here"),
    ],
)
def test_one_sentence(home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], error: str) -> None:
    if "cuda" in arguments and torch.cuda.is_available():
        return
    assert command.main(arguments) == 2
    assert error in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["bake"], ["check", "--every", "0"], ["check", "--every", "x"]])
def test_unusable_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_check_of_every_thousandth_step(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["check", "--every", "1000"]) == 0
    printed = capsys.readouterr().out
    assert "0 question texts and 0 runs" in printed
    assert "0 runs of 8 words of the 9 conversations" in printed


def test_all_that_ships_is_made_in_an_order_in_which_each_command_finds_what_it_needs() -> None:
    parsers = {"pocket_world": command._parser(), "core": parser()}
    for words in [words for step in ship.commands().values() for words in step]:
        parsers[words[0]].parse_args(words[1:])
    lines = [" ".join(words) for step in ship.commands().values() for words in step]
    models: set[str] = set()
    for model, recipe in RECIPES.items():
        assert not recipe.grown_from or recipe.grown_from in models
        models.add(model)
        assert lines.index(f"pocket_world publish --model {model}") < lines.index(
            f"pocket_world record --model {model}"
        )
    for adapter in (ASSETS / "adapters").iterdir():
        assert any(adapter.name in line for line in lines), adapter.name
    for file in (ASSETS / "tokens").rglob("*.json"):
        assert any(str(file) in line for line in lines), file.name
    assert set(SPECS["pocket-8m"].jurors) <= {line.split()[-1] for line in lines}


def test_ship_begins_with_the_step_that_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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


@pytest.mark.nightly
def test_a_juror_is_published_with_its_card(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Fifty of the answers that a juror is tried on are enough to see where the figures go.
    right_about = jury.right_about
    monkeypatch.setattr(jury, "right_about", lambda folder, proposed: right_about(folder, proposed[:50]))
    line = publish_juror(replace(JURORS["juror-3m"], steps=20, rows=8, rank=2), tmp_path / "adapter")
    assert "always to say False is right about" in line
    card = (tmp_path / "adapter" / "README.md").read_text()
    assert line.removeprefix("juror-3m: ") in card
    assert card.count("\n| ") == 12
    with pytest.raises(InputError, match=r"python -m pocket_world answer"):
        answered(replace(juror_recipe("juror-3m"), answers="pocket-9t"), tuning=True)


def test_the_card_tells_the_figures_of_the_recorded_runs(home: Path, tmp_path: Path) -> None:
    shipped = (ASSETS / "models" / "pocket-1m" / "README.md").read_text(encoding="utf-8")
    (tmp_path / "README.md").write_text(shipped.replace("float32", "float16"), encoding="utf-8")
    add_results("pocket-1m", tmp_path)
    section = shipped[shipped.index("## Recorded runs") :]
    assert (tmp_path / "README.md").read_text(encoding="utf-8").endswith(section)
