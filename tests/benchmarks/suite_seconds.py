"""Processor seconds of tests and files: ``python -m pytest -n0 -p tests.benchmarks.suite_seconds ROOM``.

They count the test process and the children that it has waited for, so a busy machine does not change them. What a test
leaves running (a server that a whole file uses) counts where it ends; agents and workers, which are nobody's children,
do not count.
"""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Generator

import pytest

SHOWN = 20
SECONDS: dict[str, float] = {}


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """With its fixtures: what a module shares counts for its first test."""
    began = _processor_seconds()
    done = yield
    SECONDS[item.nodeid] = _processor_seconds() - began
    return done


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Files and tests by their processor seconds, the longest first."""
    files: Counter[str] = Counter()
    for name, seconds in SECONDS.items():
        files[name.partition("::")[0]] += seconds
    terminalreporter.section(f"processor seconds: {sum(SECONDS.values()):.0f}")
    for found in (files.most_common(SHOWN), Counter(SECONDS).most_common(SHOWN)):
        for name, seconds in found:
            terminalreporter.write_line(f"{seconds:8.1f} {name}")
        terminalreporter.write_line("")
