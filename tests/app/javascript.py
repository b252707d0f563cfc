"""JavaScript tests under pytest: run them with Node's test runner, and name those that fail."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import needs

LONGEST = 20_000
"""Characters of Node's output that are shown."""


def node() -> str:
    """The path of Node.js."""
    return shutil.which("node") or needs.missing("Node.js")


def passed_tests(files: Sequence[Path], **environment: str) -> int:
    """The number of passing tests in these files. If any fails, the pytest test fails with its name and message."""
    done = subprocess.run(
        [node(), "--test", "--test-reporter=spec", *map(str, files)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    printed, _, failing = done.stdout.partition("failing tests:\n")
    if names := re.findall(r"^✖ (.*) \([\d.]+ms\)$", failing, re.MULTILINE):
        summary = f"{len(names)} JavaScript test(s) failed: {'; '.join(names)}"
        pytest.fail(f"{summary}\n{failing}\nNode printed:\n{printed}"[:LONGEST], pytrace=False)
    passed = re.search(r"^ℹ pass (\d+)$", printed, re.MULTILINE)
    assert done.returncode == 0, (done.stdout + done.stderr)[-LONGEST:]
    assert passed, printed[-LONGEST:]
    return int(passed[1])
