"""Logs of lm-evaluation-harness, which runs once in a session: importing it alone takes ten seconds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.settings import ASSETS
from tests.made_once import made_once

QUESTIONS = 120
"""The first ones of the bundled bank."""

MODEL = ASSETS / "models" / "pocket-1m"
SCRIPT = Path(__file__).parent / "exchange" / "write_lm_eval.py"


def harness_logs(factory: pytest.TempPathFactory) -> Path:
    """The folder with the samples and results of both tasks, as the harness left them."""
    (folder,) = (made_once(factory, "lm-eval", _run) / "out" / "logs").iterdir()
    return folder


def _run(folder: Path) -> None:
    command = [sys.executable, SCRIPT, folder / "out", MODEL, ASSETS / "bank" / "qa.jsonl", QUESTIONS]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
