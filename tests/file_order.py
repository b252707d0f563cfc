"""In which order xdist hands files to its processes."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

from tests.quick import inside

WAITING = ("tests/browser", "tests/core/runs", "tests/intruders", "tests/faults")
"""Rooms whose tests often wait for other processes, those whose files take longest first."""

COMPUTING = (
    "tests/simulation",
    "tests/pages",
    "tests/pocket_world",
    "tests/test_tools.py",
    "tests/core/inference",
    "tests/core/verify",
    "tests/app",
    "tests/core/exchange",
    "tests/core/test_cli.py",
    "tests/core/test_doctor.py",
)
"""Rooms whose tests take a processor for long, those whose files take longest first."""


def handed_out(paths: list[Path]) -> list[Path]:
    """Long files before short ones, so that no process is left with one while the other is idle; files that wait and
    files that compute in turn, so that they share the processors."""
    waiting, computing = _of_rooms(paths, WAITING), _of_rooms(paths, COMPUTING)
    long = [path for pair in zip_longest(waiting, computing) for path in pair if path]
    return long + [path for path in paths if path not in set(long)]


def _of_rooms(paths: list[Path], rooms: tuple[str, ...]) -> list[Path]:
    return [path for room in rooms for path in paths if inside(path, room)]
