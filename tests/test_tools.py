"""The linters, the formatters and the type checker find nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from core.settings import ROOT
from tests import needs


@pytest.mark.parametrize(
    "words",
    [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]],
    ids=["ruff check", "ruff format", "mypy"],
)
def test_nothing_found(words):
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_nothing_found_in_javascript():
    """ESLint and Prettier, where `npm ci` has brought them; nothing is downloaded here."""
    npm = shutil.which("npm")
    if npm is None or not (ROOT / "node_modules" / "eslint").is_dir():
        needs.missing("ESLint and axe-core")
    done = subprocess.run(
        [npm, "run", "--silent", "lint"], cwd=ROOT, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
