"""A short version of the fault table; ``python -m tests.faults`` plays all of it, on both databases, 20 moments.

Here the run that is killed ten times is killed four times, in each way once.
"""

import pytest

from tests.faults import played
from tests.faults.played import KILLS, NotHere, ended_well
from tests.faults.stage import Row
from tests.parameters import rest_nightly
from tests.postgres import server

ON_SQLITE = ("out_of_memory", "killed_ten_times", "worker_killed", "hangs", "all_killed", "clock_jumped")
ON_POSTGRES = ("disk_full", "killed_ten_times", "agent_killed")


@pytest.fixture(scope="module")
def postgres():
    with server() as running:
        yield running


def play(name, on, capsys) -> Row:
    try:
        row: Row = getattr(played, name)(on)
    except NotHere as reason:
        pytest.skip(str(reason))
    with capsys.disabled():
        print(f"\n{row.to_markdown()}", end="")
    return row


def check(name, row):
    assert ended_well(getattr(played, name), row)
    (seen,) = row.tries
    return seen


@pytest.mark.parametrize("name", rest_nightly(ON_SQLITE, now=ON_SQLITE[:2]))
def test_on_sqlite(name, capsys):
    seen = check(name, play(name, None, capsys))
    if name == "out_of_memory":
        assert "out of memory: the system stopped it" in seen.message
    if name == "hangs":
        assert "worker" in seen.message
    # What is scored twice is at most the chunk that was lost, of each worker that was.
    assert seen.again <= 50 * 2


@pytest.mark.parametrize("name", rest_nightly(ON_POSTGRES, now=ON_POSTGRES[:2]))
def test_on_postgres(name, postgres, capsys):
    seen = check(name, play(name, postgres, capsys))
    if name != "killed_ten_times":  # it looks only after the last kill
        assert seen.noticed is not None
        assert seen.resumed is not None
    if name == "disk_full":
        assert seen.message == "the disk is full; free some space, then resume the run"
    assert seen.again <= 50 * (len(KILLS) if name == "killed_ten_times" else 1)  # a chunk for each kill
