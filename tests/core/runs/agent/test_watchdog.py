"""Which runs hang."""

import pytest

from core import progress
from core.runs.agent import watchdog
from core.runs.store import Progress, RunRecord, create, write_progress
from tests.core.runs.conftest import spec

pytestmark = pytest.mark.quick


def test_a_run_hangs_that_says_nothing_new(home, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    folder = create(RunRecord(spec=spec(), state="running", created=0.0))
    watch, at_work = watchdog.ProgressWatch(), {"a:cpu": folder.name}

    def overdue_at(second):
        now[0] = second
        return watch.overdue(at_work, after_s=10)

    write_progress(folder, Progress(0, 10, "loading the model"))
    assert watchdog.is_loading(folder.name)
    assert overdue_at(0) == overdue_at(39) == []
    assert overdue_at(40) == ["a:cpu"]
    write_progress(folder, Progress(5, 10, "scoring"))
    assert not watchdog.is_loading(folder.name)
    assert overdue_at(41) == overdue_at(50) == []
    assert overdue_at(51) == ["a:cpu"]
    assert watch.overdue({}, after_s=10) == []
    assert overdue_at(52) == []  # another try is given its own time
