"""A model that was trained again is set beside the one that ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import InputError
from core.settings import ASSETS
from pocket_world import bank
from pocket_world.compare import ModelFigures, compared, figures_of
from pocket_world.evaluate import Share

FOLDER = ASSETS / "models" / "pocket-1m"


@pytest.mark.nightly
def test_a_shipped_model_has_the_figures_of_its_card() -> None:
    questions = [question for question in bank.questions() if question.task == "rc"]
    found = figures_of(FOLDER, questions)
    line = next(line for line in (FOLDER / "README.md").read_text().splitlines() if line.startswith("| rc, base |"))
    share = found.letters["rc"]
    assert line.split("|")[2:4] == [f" {share.n} ", f" {share.value:.1%} "]
    assert list(found.letters) == ["rc"]
    assert found.perplexity > 1


def test_differences_are_points_of_letters_and_percent_of_perplexity() -> None:
    shipped = ModelFigures({"qa": Share(30, 100), "rc": Share(50, 100)}, 50.0)
    again = ModelFigures({"qa": Share(33, 100), "rc": Share(49, 100)}, 49.0)
    assert compared(shipped, again).splitlines()[2:] == [
        "| qa | 30.0% | 33.0% | +3.0 points |",
        "| rc | 50.0% | 49.0% | -1.0 points |",
        "| mean by letter | 40.0% | 41.0% | +1.0 points |",
        "| perplexity a token | 50.0 | 49.0 | -2.0% |",
    ]


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no model"):
        figures_of(tmp_path, [])
