"""A cache with one value for each run: hits when it is full, versions, threads and errors."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.caches.per_run import PerRun, RunKey
from core.errors import InputError

pytestmark = pytest.mark.quick


def keys(n: int, stamp: int = 1) -> list[RunKey]:
    return [RunKey(f"run-{i}", stamp) for i in range(n)]


def test_going_through_more_runs_than_fit_still_finds_most_of_them():
    computed: list[RunKey] = []
    cache = PerRun(lambda key: computed.append(key), most=100)
    for _ in range(20):
        for key in keys(110):
            cache(key)
    assert len(cache) == 100
    # The least recently used one dropped would be 20 · 110 computations; at random each round has about 10 to 20.
    assert 110 < len(computed) < 110 + 19 * 40


def test_a_new_version_takes_the_place_of_the_old_one():
    cache = PerRun(lambda key: key.stamp, most=10)
    (old,), (new,) = keys(1), keys(1, stamp=2)
    assert (cache(old), cache(new), len(cache)) == (1, 2, 1)
    assert cache.held(new)
    assert not cache.held(old)


def test_threads_that_ask_at_once_compute_once():
    computed, gate = [], threading.Barrier(2)

    def compute(key: RunKey) -> int:
        computed.append(key)
        gate.wait(timeout=30)  # until the main thread has seen that the value is on its way
        return 7

    cache = PerRun(compute, most=10)
    (key,) = keys(1)
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(cache, key) for _ in range(4)]
        gate.wait(timeout=30)
        assert [each.result() for each in futures] == [7] * 4
    assert computed == [key]


def test_an_error_is_not_kept():
    answers = iter([InputError("broken"), 3])

    def compute(key: RunKey) -> int:
        answer = next(answers)
        if isinstance(answer, InputError):
            raise answer
        return answer

    cache = PerRun(compute, most=10)
    (key,) = keys(1)
    with pytest.raises(InputError, match="broken"):
        cache(key)
    assert cache(key) == 3
