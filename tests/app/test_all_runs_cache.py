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
    cache, (make, calls) = AllRunsCache(most=2), counted("value")
    assert [cache(RUNS, "asked", make), cache([*RUNS], "asked", make)] == ["value", "value"]
    assert len(calls) == 1


@pytest.mark.parametrize(
    "others",
    [RUNS[:1], (*RUNS, RUNS[0]), RUNS[::-1], (RUNS[0], RunRecord(RUNS[1].spec, "done", 0.0))],
    ids=["gone", "come", "another order", "written again"],
)
def test_all_values_are_dropped_when_the_runs_change(others: tuple[RunRecord, ...]):
    cache, (make, calls) = AllRunsCache(most=2), counted("value")
    cache(RUNS, "asked", make)
    cache(others, "asked", make)
    assert len(calls) == 2
    assert len(cache) == 1


def test_what_was_asked_longest_ago_is_dropped_first():
    cache, calls = AllRunsCache(most=2), []
    for key in ("a", "b", "a", "c", "a", "b"):
        assert cache(RUNS, key, lambda key=key: calls.append(key) or key) == key
    assert calls == ["a", "b", "c", "b"]
    assert len(cache) == 2


def test_neither_an_error_nor_a_value_that_may_pass_is_kept():
    cache, (make, calls) = AllRunsCache(most=2), counted("broken")

    def fail() -> str:
        raise InputError("a file can't be read")

    for _ in range(2):
        with pytest.raises(InputError):
            cache(RUNS, "asked", fail)
        assert cache(RUNS, "asked", make, lasts=lambda value: value != "broken") == "broken"
    assert len(calls) == 2
    assert len(cache) == 0


def test_a_value_may_be_made_of_another_one():
    cache = AllRunsCache(most=2)
    assert cache(RUNS, "outer", lambda: cache(RUNS, "inner", lambda: "in") + "side") == "inside"
    assert len(cache) == 2


def test_sessions_that_ask_at_once_make_a_value_once():
    cache, begun, calls = AllRunsCache(most=2), threading.Barrier(4), []

    def ask() -> None:
        begun.wait()
        cache(RUNS, "asked", lambda: calls.append(1))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls == [1]
