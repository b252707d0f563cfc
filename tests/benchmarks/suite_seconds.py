"""Processor seconds of tests and files: ``python -m pytest -n0 -p tests.benchmarks.suite_seconds ROOM``.

A load of twenty on two cores makes them up to three times as large. Where the tests may make a control group of their
own (as root, with ``cpuacct`` or cgroup 2), they count everything that a test starts while it works: servers, the
browser, agents and workers. Elsewhere they count the test process and the children that it has waited for, so that a
server counts where it ends, and agents and workers, which are nobody's children, do not count.
"""

import atexit
import os
import resource
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path

import pytest

SHOWN = int(os.environ.get("SUITE_SECONDS_SHOWN", "20"))
SECONDS: dict[str, float] = {}
CONTROL_GROUPS = Path("/sys/fs/cgroup")


def _of_children() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _counter() -> Callable[[], float]:
    """A function that reads the processor seconds of this process's control group, or of its children."""
    for kind, file, read in (
        ("cpuacct", "cpuacct.usage", lambda text: int(text) / 1e9),
        (".", "cpu.stat", lambda text: int(text.split()[1]) / 1e6),
    ):
        group = CONTROL_GROUPS / kind / f"hedge-tests-{os.getpid()}"
        with suppress(OSError):
            group.mkdir()
            (group / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
            atexit.register(_leave, group)
            counted = group / file
            return lambda: read(counted.read_text(encoding="ascii"))
    return _of_children


def _leave(group: Path) -> None:
    """Give the control group back, unless a process that a test has left behind is still in it."""
    with suppress(OSError):
        (group.parent / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
        group.rmdir()


processor_seconds = _counter()
BEGAN = processor_seconds()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """With its fixtures: what a module shares counts for its first test."""
    began = processor_seconds()
    done = yield
    SECONDS[item.nodeid] = processor_seconds() - began
    return done


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Files and tests by their processor seconds, the longest first."""
    files: Counter[str] = Counter()
    for name, seconds in SECONDS.items():
        files[name.partition("::")[0]] += seconds
    whole = processor_seconds() - BEGAN
    terminalreporter.section(f"processor seconds: {sum(SECONDS.values()):.0f}, with collecting {whole:.0f}")
    for rows in (files.most_common(SHOWN), Counter(SECONDS).most_common(SHOWN)):
        for name, seconds in rows:
            terminalreporter.write_line(f"{seconds:8.1f} {name}")
        terminalreporter.write_line("")
