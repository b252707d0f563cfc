"""Marks the quick tests, sorts files in the order in which xdist hands them out, and sets what all processes need."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.file_order import handed_out
from tests.quick import is_quick, may_be_quick

# Set before NumPy is imported, and inherited by whatever a test starts. With a thread for each core in each process,
# the threads of one wait, busily, for those of another to be given a core.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The hundreds of processes that tests start need not compile the tree anew each.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

MEMORY = Path("/dev/shm")
ROOM = 4 * 2**30
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM:
    # Runs and databases are synced to the disk at every step; a folder in memory waits for no disk.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

collect_ignore = ["tests/benchmarks"]
"""Commands, not tests; they import every rival that Hedge is compared with."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """``-m quick`` does not even import what it leaves out: importing torch alone takes seconds."""
    if config.option.markexpr.strip() == "quick" and not may_be_quick(collection_path):
        return True
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the quick tests, and put the files into the order in which they are handed out."""
    for item in items:
        if is_quick(item.path, set(getattr(item, "fixturenames", ()))):
            item.add_marker(pytest.mark.quick)
    place = {path: i for i, path in enumerate(handed_out(list(dict.fromkeys(item.path for item in items))))}
    items.sort(key=lambda item: place[item.path])  # stable: the tests of a file keep their order
