"""Unusable arguments end with one sentence and status 2."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
import torch

from pocket_world.__main__ import main
from pocket_world.make import with_sources
from pocket_world.progress import LossRow, StageProgress
from pocket_world.recipes import RECIPES


def test_unknown_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["make", "--model", "pocket-9t"]) == 2
    said = capsys.readouterr().err.strip()
    assert said == f"unknown pocket model 'pocket-9t'; choose from {', '.join(RECIPES)}"


@pytest.mark.parametrize("arguments", [[], ["bake"], ["make", "--threads", "0"], ["check", "--every", "x"]])
def test_unusable_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_nothing_to_publish(capsys: pytest.CaptureFixture[str], tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path))
    assert main(["publish", "--model", "pocket-1m"]) == 2
    assert "pocket-1m is not whole" in capsys.readouterr().err


def test_status_of_what_is_begun(capsys: pytest.CaptureFixture[str], tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path))
    row = LossRow(
        stage="letters", step=500, tokens=1, seconds=1.0, loss=0.5, binding=0.7, perplexity=80.0,
        tasks={"qa": 0.3, "rc": 0.5},
    )  # fmt: skip
    progress = StageProgress(stage="everything", step=2250, seconds=3600.0, curve=[row])
    (tmp_path / "pocket" / "pocket-1m").mkdir(parents=True)
    (tmp_path / "pocket" / "pocket-1m" / "progress.json").write_text(json.dumps(asdict(progress)), encoding="utf-8")
    assert main(["status"]) == 0
    lines = capsys.readouterr().out.splitlines()
    # 500 and 2,250 steps in an hour, 2,750 left: 2,750 / 2,750 of an hour
    assert lines[0] == (
        "pocket-1m: everything step 2,250 of 5,000, loss 0.500, letters 40.0%, perplexity 80.0, "
        "1.00 hours gone, about 1.00 left"
    )
    assert lines[1:] == [f"{name}: not begun" for name in list(RECIPES)[1:]]


def test_a_model_is_made_after_those_that_it_grows_from() -> None:
    assert with_sources("pocket-3m-instruct") == ["pocket-1m", "pocket-3m", "pocket-3m-instruct"]
    made: set[str] = set()
    for name, recipe in RECIPES.items():
        assert not recipe.grown_from or recipe.grown_from in made
        made.add(name)


def test_check_of_every_thousandth_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--every", "1000"]) == 0
    said = capsys.readouterr().out
    assert "0 question texts and 0 runs" in said
    assert "0 runs of 8 words of the 9 conversations" in said


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["make", "--device", "cuda"]) == 2
    assert "torch finds none here" in capsys.readouterr().err
