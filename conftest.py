"""Marks the quick tests, sorts files in the order in which xdist hands them out, and sets what all processes need."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

from tests.file_order import handed_out
from tests.quick import is_quick, may_be_quick

# Set before NumPy is imported, and inherited by whatever a test starts. With a thread for each core in each process,
# the threads of one wait, busily, for those of another to be given a core.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Some virtual machines name AMX among the processor's features, and kill whoever uses it: torch does, for bfloat16. A
# process of pytest-xdist that dies so takes the whole session with it.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

# The hundreds of processes that tests start need not compile the tree anew each.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False  # nor this one: pytest's rewriting of every assert takes as long as collecting

MEMORY = Path("/dev/shm")
ROOM = 4 * 2**30
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM:
    # Runs and databases are synced to the disk at every step; a folder in memory waits for no disk.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# A third of the time that collecting takes went into looking for garbage in what is collected, which stays.
gc.disable()

collect_ignore = ["tests/benchmarks"]
"""Commands, not tests; they import every rival that Hedge is compared with."""


TRIED_TWICE = {Path(__file__).parent / "tests" / name for name in ("browser", "faults")}
LEAST, MOST = 3, 4
"""Processes of all tests, and of the quick tests at most."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file without tests is not imported to look for some, and ``-m quick`` imports nothing of what it leaves out:
    importing torch alone takes seconds."""
    if collection_path.suffix == ".py" and not collection_path.name.startswith("test_"):
        without_tests = ">>>" not in collection_path.read_text(encoding="utf-8")  # no doctest, as nine modules in ten
    else:
        without_tests = False
    quick = config.option.markexpr.strip() == "quick"
    return True if without_tests or (quick and not may_be_quick(collection_path)) else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Files of tests are collected once: they have no doctests."""
    found = yield
    return [one for one in found if not (file_path.name.startswith("test_") and isinstance(one, DoctestModule))]


def pytest_collection_finish() -> None:
    """Look for garbage again, but no longer in what is there by now."""
    gc.freeze()
    gc.enable()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Three on two cores: some tests wait, in the whole suite for servers, workers and pages, of the quick ones for a
    clock. Quick tests take more processes where there are more cores."""
    return max(LEAST, min(os.cpu_count() or 1, MOST)) if config.option.markexpr.strip() == "quick" else LEAST


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the quick tests and those that may be tried twice, and sort files in the order in which they are handed out.

    A test in the browser, or of a kill, depends on when each of four programs gets the processor. One that fails is
    tried once more, three in a session at most. The summary counts it as "rerun" and shows what it failed with.
    """
    for item in items:
        if TRIED_TWICE.intersection(item.path.parents):
            item.add_marker(pytest.mark.flaky(reruns=1))
        if is_quick(item.path, set(getattr(item, "fixturenames", ())), getattr(item, "function", None)):
            item.add_marker(pytest.mark.quick)
    place = {path: i for i, path in enumerate(handed_out(list(dict.fromkeys(item.path for item in items))))}
    items.sort(key=lambda item: place[item.path])  # stable: the tests of a file keep their order
