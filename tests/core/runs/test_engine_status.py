"""How run.json, the database and the locks are weighed."""

import pytest

from core.runs import status
from core.runs.queue import run_queue
from core.runs.queue.run_queue import QueueEntry
from core.runs.status import judge
from core.runs.store import RunRecord
from tests.core.runs.conftest import spec

pytestmark = pytest.mark.quick


def entry(word: str, **values: str) -> QueueEntry:
    return QueueEntry("run", word, "host:cpu", **values)


@pytest.mark.parametrize(
    ("written", "known", "held", "state", "part"),
    [
        ("queued", entry("ENQUEUED"), False, "queued", ""),
        ("running", entry("ENQUEUED"), False, "queued", ""),  # a killed worker's run before the next takes it
        ("cancelled", entry("ENQUEUED"), True, "queued", ""),  # resumed while the old worker was still stopping
        ("queued", entry("PENDING"), False, "running", ""),
        ("cancelled", entry("PENDING"), True, "running", ""),
        ("failed", entry("PENDING"), False, "failed", "as written"),  # the worker is about to say so
        ("paused", entry("PENDING"), False, "paused", "as written"),
        ("paused", entry("SUCCESS"), False, "paused", "as written"),
        ("paused", entry("ENQUEUED"), False, "queued", ""),
        ("running", entry("CANCELLED"), True, "running", "Stopping"),
        ("running", entry("CANCELLED"), False, "cancelled", "resume"),
        ("done", entry("CANCELLED"), False, "done", ""),  # finished before the cancel took effect
        ("running", entry("MAX_RECOVERY_ATTEMPTS_EXCEEDED", death="killed by x"), False, "failed", "killed by x"),
        ("running", entry("ERROR"), False, "failed", "logs"),
        ("running", entry("SUCCESS"), False, "failed", "ended before the run did"),
        ("failed", entry("SUCCESS"), False, "failed", "as written"),
        ("running", None, True, "running", ""),  # `python -m core run`
        ("running", None, False, "failed", "ended before the run did"),
        ("done", None, False, "done", ""),
    ],
)
def test_the_state_of_a_run(written, known, held, state, part):
    record = RunRecord(
        spec=spec(), state=written, created=0.0, message="as written" if written in ("failed", "paused") else ""
    )
    judged_state, message = judge(record, known, held=held)
    assert judged_state == state
    assert part in message


def test_what_a_worker_could_not_write_is_written_for_it(home):
    from core.runs import store

    name = spec().run_id
    folder = store.create(RunRecord(spec=spec(), state="running", created=0.0))
    store.write_progress(folder, store.Progress(3, 10, "scoring"))
    status.settle(QueueEntry(name, run_queue.GIVEN_UP, "host:cpu", 4, "killed by signal 9"))
    record = store.read_record(name)
    assert record.state == "failed"
    assert "killed by signal 9" in record.message
    assert record.ended is not None
    assert store.read_progress(name) is None
    status.settle(QueueEntry(name, run_queue.CANCELLED))  # what has ended stays as it is
    assert store.read_record(name) == record
    status.settle(QueueEntry("gone", run_queue.CANCELLED))  # and a deleted run is nobody's business
