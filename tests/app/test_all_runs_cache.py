"""The cache of what pages make of the list of runs."""

import threading
from collections.abc import Callable

import pytest

from app.caches.all_runs_cache import AllRunsCache
from core.errors import InputError
from core.runs.spec import RunSpec
from core.runs.store import RunRecord

pytestmark = pytest.mark.quick

RUNS = tuple(RunRecord(RunSpec(model=name, task="rc"), "done", 0.0) for name in "ab")


def counted(value: str) -> tuple[Callable[[], str], list[str]]:
    """A function that gives the value, and a list that grows with each call."""
    calls: list[str] = []

    def make() -> str:
        calls.append(value)
        return value

    return make, calls


def test_a_value_is_made_once_while_the_runs_are_the_same():
    kept, (make, calls) = AllRunsCache(most=2), counted("value")
    assert [kept(RUNS, "asked", make), kept([*RUNS], "asked", make)] == ["value", "value"]
    assert len(calls) == 1


@pytest.mark.parametrize(
    "others",
    [RUNS[:1], (*RUNS, RUNS[0]), RUNS[::-1], (RUNS[0], RunRecord(RUNS[1].spec, "done", 0.0))],
    ids=["gone", "come", "another order", "written again"],
)
def test_all_values_are_dropped_when_the_runs_change(others: tuple[RunRecord, ...]):
    kept, (make, calls) = AllRunsCache(most=2), counted("value")
    kept(RUNS, "asked", make)
    kept(others, "asked", make)
    assert len(calls) == 2
    assert len(kept) == 1


def test_what_was_asked_longest_ago_is_dropped_first():
    kept, calls = AllRunsCache(most=2), []
    for asked in ("a", "b", "a", "c", "a", "b"):
        assert kept(RUNS, asked, lambda asked=asked: calls.append(asked) or asked) == asked
    assert calls == ["a", "b", "c", "b"]
    assert len(kept) == 2


def test_neither_an_error_nor_a_value_that_may_pass_is_kept():
    kept, (make, calls) = AllRunsCache(most=2), counted("broken")

    def fail() -> str:
        raise InputError("a file can't be read")

    for _ in range(2):
        with pytest.raises(InputError):
            kept(RUNS, "asked", fail)
        assert kept(RUNS, "asked", make, lasts=lambda value: value != "broken") == "broken"
    assert len(calls) == 2
    assert len(kept) == 0


def test_a_value_may_be_made_of_another_one():
    kept = AllRunsCache(most=2)
    assert kept(RUNS, "outer", lambda: kept(RUNS, "inner", lambda: "in") + "side") == "inside"
    assert len(kept) == 2


def test_sessions_that_ask_at_once_make_a_value_once():
    kept, begun, calls = AllRunsCache(most=2), threading.Barrier(4), []

    def ask() -> None:
        begun.wait()
        kept(RUNS, "asked", lambda: calls.append(1))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls == [1]
