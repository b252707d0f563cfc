"""What Inspect writes and finds here itself. It runs once in a session: importing it alone takes five seconds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.settings import ROOT
from tests.made_once import made_once

QUESTIONS = 60
"""In the logs."""

CODE = """
import sys
from pathlib import Path
from tests.core.exchange import write_inspect
from tests.hedge import run_inspect
out = Path(sys.argv[1])
for part in ("logs", "scored"):
    (out / part).mkdir()
write_inspect.main(out / "logs", int(sys.argv[2]))
run_inspect.main(out / "scored")
"""
"""In a process of its own because Inspect needs the event loop, which the browser of other tests holds, and leaves
streams open."""


def inspect_runs(factory: pytest.TempPathFactory) -> Path:
    """A folder with what ``write_inspect`` writes into ``logs`` and ``run_inspect`` into ``scored``."""
    return made_once(factory, "inspect", _run)


def _run(folder: Path) -> None:
    command = [sys.executable, "-c", CODE, str(folder), str(QUESTIONS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
