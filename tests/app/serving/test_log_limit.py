"""A logger writes a limited number of lines, and says how many it left out."""

import logging

import pytest

from app.serving import log_limit, rate

pytestmark = pytest.mark.quick


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which the test sets."""
    time = [1000.0]
    monkeypatch.setattr(rate.time, "monotonic", lambda: time[0])
    return time


@pytest.fixture
def logger(now: list[float]) -> logging.Logger:
    """A logger with the limit of its own."""
    logger = logging.Logger("visited")
    logger.addFilter(log_limit._FewLines())
    return logger


def test_lines_beyond_the_limit_are_left_out_and_counted(
    logger: logging.Logger, now: list[float], caplog: pytest.LogCaptureFixture
):
    logger.addHandler(caplog.handler)
    for i in range(1000):
        logger.warning("refused %d", i)
    assert [record.getMessage() for record in caplog.records] == [f"refused {i}" for i in range(log_limit.AT_ONCE)]
    logger.error("the disk is full")  # another level has lines of its own
    assert caplog.records[-1].getMessage() == "the disk is full"
    now[0] += 10  # six lines a minute
    logger.warning("refused %s", "x" * 100_000)
    logger.warning("refused again")
    last = caplog.records[-1].getMessage()
    assert last.startswith("refused xxx")
    assert last.endswith(f"(and {1000 - log_limit.AT_ONCE} lines that were left out)")
    assert len(last) < log_limit.LONGEST_LINE + 100
