"""Unusable arguments end with one sentence and status 2."""

from __future__ import annotations

import pytest

from core.settings import ASSETS
from pocket_world.__main__ import main
from pocket_world.recipes import RECIPES
from pocket_world.tokens import published_tokenizer

MODEL = ASSETS / "models" / "pocket-1m"


def test_unknown_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--model", "pocket-9t"]) == 2
    said = capsys.readouterr().err.strip()
    assert said == f"unknown pocket model 'pocket-9t'; choose from {', '.join(RECIPES)}"


@pytest.mark.parametrize("arguments", [[], ["bake"], ["train", "--threads", "0"], ["check", "--every", "x"]])
def test_unusable_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_nothing_to_publish(capsys: pytest.CaptureFixture[str], tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path))
    monkeypatch.setattr("pocket_world.train.train_tokenizer", lambda *_, **__: published_tokenizer(MODEL))
    assert main(["publish", "--model", "pocket-1m"]) == 2
    assert "no checkpoint" in capsys.readouterr().err


def test_check_of_every_thousandth_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--every", "1000"]) == 0
    assert "0 question texts and 0 runs" in capsys.readouterr().out
