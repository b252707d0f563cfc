"""JavaScript tests under pytest: run them with Node's test runner, and name those that fail."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import needs

SHOWN = 10
"""Failing tests whose messages are shown; all are named."""
LONGEST = 1500
"""Characters of one message that are shown."""


class Failure(NamedTuple):
    """A failing JavaScript test: its name, ``file:line:column``, and what its assertion says."""

    name: str
    location: str
    message: str


def node() -> str:
    """The path of Node.js."""
    return shutil.which("node") or needs.missing("Node.js")


def passed_tests(files: Sequence[Path], **environment: str) -> int:
    """How many tests of these files pass; where any fails, the pytest test fails with their names and messages."""
    done = subprocess.run(
        [node(), "--test", "--test-reporter=tap", *map(str, files)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = failures(done.stdout)
    if failed:
        pytest.fail(report(failed, done.stdout), pytrace=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]
    passed = re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)
    assert passed is not None, done.stdout[-8000:]
    return int(passed[1])


def failures(tap: str) -> list[Failure]:
    """The failing tests of Node's TAP output; a group that fails by its subtests alone is left out."""
    found = []
    lines = tap.splitlines()
    for i, line in enumerate(lines):
        start = re.match(r"( *)not ok \d+ - (.*)$", line)
        if start is None:
            continue
        block = _block(lines[i + 1 :], start[1] + "  ...")
        if _value(block, "failureType") == "subtestsFailed":
            continue
        name = re.sub(r"\\([\\#])", r"\1", start[2])
        found.append(Failure(name, _value(block, "location"), _value(block, "error")))
    return found


def report(failed: Sequence[Failure], tap: str) -> str:
    """The names in the first line, then each message; what a file that could not be loaded printed comes last."""
    told = [f"{len(failed)} JavaScript test(s) failed: {'; '.join(one.name for one in failed)}"]
    told += [f"{one.name} ({one.location})\n{one.message[:LONGEST]}" for one in failed[:SHOWN]]
    printed = [line for line in tap.splitlines() if re.match(r"# (?!Subtest:|\w+ \d)", line)]
    if printed:
        told.append("Node printed:\n" + "\n".join(printed)[:LONGEST])
    return "\n\n".join(told)


def _block(lines: Sequence[str], end: str) -> list[str]:
    """The lines up to the one that ends a test's YAML block."""
    return list(lines[: lines.index(end)]) if end in lines else []


def _value(block: Sequence[str], key: str) -> str:
    """The text of a key of a YAML block, on its own line or indented below it; empty where there is none."""
    for i, line in enumerate(block):
        start = re.match(rf"( *){key}: (.*)$", line)
        if start is None:
            continue
        if not start[2].startswith("|"):
            return start[2].strip("'\"").replace("''", "'")
        text = []
        for below in block[i + 1 :]:
            if below.strip() and not below.startswith(start[1] + "  "):
                break
            text.append(below[len(start[1]) + 2 :])
        return "\n".join(text).rstrip()
    return ""
