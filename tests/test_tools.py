"""The linter and the formatter find nothing. The hosted CI also runs mypy, ESLint and Prettier."""

import subprocess
import sys

import pytest

from core.settings import ROOT


@pytest.mark.parametrize("words", [["check", "."], ["format", "--check", "."]], ids=["check", "format"])
def test_nothing_found(words: list[str]):
    done = subprocess.run([sys.executable, "-m", "ruff", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
