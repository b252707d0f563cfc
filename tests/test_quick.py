"""What is quick, and the order of files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from core.settings import ROOT
from tests.file_order import COMPUTING, WAITING, handed_out
from tests.quick import NOT_QUICK, is_quick, may_be_quick


@pytest.mark.parametrize(
    ("name", "quick"),
    [
        ("tests/core/conformal/test_sets.py", True),
        ("core/perplexity/figures.py", True),
        ("core/perplexity/scoring.py", False),  # it imports core.inference, which imports torch
        ("tests/core/perplexity/test_scoring.py", False),
        ("tests/browser/test_learn.py", False),
    ],
)
def test_files(name: str, quick: bool):
    assert may_be_quick(ROOT / name) == quick


@pytest.mark.parametrize(
    ("text", "quick"),
    [
        ("import numpy as np\n", True),
        ("def load():\n    from transformers import AutoTokenizer\n", False),
        ("from core.inference import (\n    models,\n    decoder,\n)\n", False),
        ("from core.inference import (\n    models,\n)\n", True),
        ("x = 'import torch'\n", True),
    ],
)
def test_imports(tmp_path: Path, text: str, quick: bool):
    path = tmp_path / "test_it.py"
    path.write_text(text)
    assert may_be_quick(path) == quick


def test_a_fixture_that_starts_a_worker_is_not_quick():
    path = ROOT / "tests/core/runs/test_engine_status.py"
    assert is_quick(path, {"home"})
    assert not is_quick(path, {"home", "engine_home"})


def _shell() -> None:
    subprocess.run(["true"], check=True)


def test_what_starts_a_process_is_not_quick():
    path = ROOT / "tests/core/conformal/test_sets.py"

    def calls() -> None:
        _shell()

    assert not is_quick(path, set(), _shell)
    assert not is_quick(path, set(), calls)
    assert is_quick(path, set(), test_every_room_is_there)


def test_every_room_is_there():
    assert [room for room in (*NOT_QUICK, *WAITING, *COMPUTING) if not (ROOT / room).exists()] == []


def test_files_that_wait_and_files_that_compute_take_turns_and_short_ones_come_last():
    names = [
        "tests/app/test_theme.py",
        "tests/browser/test_alpha_lab.py",
        "tests/browser/test_learn.py",
        "tests/core/conformal/test_sets.py",
        "tests/simulation/test_simulation.py",
    ]
    assert handed_out([ROOT / name for name in names]) == [ROOT / names[i] for i in (1, 4, 2, 0, 3)]
