"""What all test processes need: one thread for each, a folder in memory, and a last line about skipped tests."""

import os
import shutil
from pathlib import Path

import pytest

from tests import needs

# Set before NumPy is imported, and inherited by every process that a test starts. Otherwise each process has a thread
# for each core, and they wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Some virtual machines claim AMX and then kill the process that uses it, as torch does for bfloat16.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

# The hundreds of processes that tests start share compiled modules.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

MEMORY = Path("/dev/shm")
FREE_BYTES = 4 * 2**30
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= FREE_BYTES:
    # Runs and databases sync to the disk at every step; a folder in memory waits for no disk.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores, because tests of servers and pages often wait."""
    return (os.cpu_count() or 1) + 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line which tests were skipped for what they need, and how to get it."""
    reasons = [report.longrepr[2] for report in terminalreporter.stats.get("skipped", ())]
    if line := needs.summary(reason.removeprefix("Skipped: ") for reason in reasons):
        terminalreporter.write_line(line, yellow=True)
