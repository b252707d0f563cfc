import fcntl

import numpy as np
import pytest

from core.errors import InputError, RunBusyError, RunCancelled, RunError, SelfCheckError
from core.questions import bank
from core.reports.evaluation import load
from core.runs import store
from core.runs.agent import liveness
from core.runs.execution import execute as module
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from core.settings import settings
from core.storage.tables import finished_chunks
from tests.conftest import synthetic_questions

pytestmark = pytest.mark.quick


SPEC = RunSpec(model="fake", task="qa", shots=2)


def test_a_run_from_start_to_end(fake):
    seen = []
    name = execute(SPEC, on_progress=seen.append)
    record = store.read_record(name)
    assert record.state == "done"
    assert record.provenance["self_check"]["questions"] == 8
    assert len(record.provenance["demonstrations"]) == 2
    assert record.provenance["example_prompt"].count("Answer:") == 3
    assert sorted(store.read_logits(name).ids) == sorted(
        q["id"] for q in store.read_questions(name).to_pylist() if q["role"] != "demonstration"
    )
    assert [p.stage for p in seen][:2] == ["loading the model", "checking itself"]
    assert (seen[-1].done, seen[-1].total) == (128, 128)
    assert store.read_progress(name) is None
    assert store.read_log(name)[-1].endswith("done")
    assert len(load(name).test) == 64
    before = (settings().runs / name / "logits.parquet").stat().st_mtime_ns
    assert execute(SPEC) == name  # done is done
    assert (settings().runs / name / "logits.parquet").stat().st_mtime_ns == before


def test_cancelled_then_resumed_equals_uninterrupted(fake, monkeypatch, tmp_path):
    calls = []

    def cancelled():
        calls.append(1)
        return len(calls) > 15

    with pytest.raises(RunCancelled):
        execute(SPEC, cancelled=cancelled)
    name = SPEC.run_id
    assert store.read_record(name).state == "cancelled"
    with pytest.raises(InputError, match="is cancelled; its figures are shown once it has finished successfully"):
        load(name)
    finished = finished_chunks(settings().runs / name)
    assert finished == [0]
    execute(SPEC)
    resumed = store.read_logits(name)
    assert any("continues after 50" in line for line in store.read_log(name))
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path / "other"))
    execute(SPEC)
    whole = store.read_logits(name)
    assert resumed.ids == whole.ids
    assert np.array_equal(resumed.logits, whole.logits)


def test_chunks_of_other_questions_are_not_taken_over(fake, monkeypatch):
    requests = []
    with pytest.raises(RunCancelled):
        execute(SPEC, cancelled=lambda: requests.append(1) or len(requests) > 15)
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(130, seed=5))
    name = execute(SPEC)
    assert any("questions have changed" in line for line in store.read_log(name))
    assert len(store.read_logits(name).ids) == 128


def test_a_failed_self_check_stops_the_run_with_its_figure(fake):
    fake(fault=0.25)
    with pytest.raises(SelfCheckError, match=r"differ by 0\.25 .* more than 0\.0001"):
        execute(SPEC)
    record = store.read_record(SPEC.run_id)
    assert record.state == "failed"
    assert "0.25" in record.message
    assert not (settings().runs / SPEC.run_id / "logits.parquet").exists()


def test_what_goes_wrong_is_said_in_words(fake, monkeypatch):
    for error, says in (
        (OSError(28, "No space left on device"), "the disk is full"),
        (
            PermissionError(13, "Permission denied", "/home/runs"),
            "/home/runs can't be written; make it writable, or set",
        ),
        (MemoryError(), "there was not enough memory"),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError"),
    ):

        def broken(*args, error=error, **kwargs):
            raise error

        monkeypatch.setattr(module, "load_engine", broken)
        with pytest.raises(RunError, match=says):
            execute(SPEC)
        assert store.read_record(SPEC.run_id).state == "failed"
    assert any("Traceback" in line for line in store.read_log(SPEC.run_id))


def test_two_never_execute_one_run(fake):
    execute(SPEC)
    store.update_record(SPEC.run_id, state="cancelled")
    with (settings().runs / SPEC.run_id / f"run.{liveness.host()}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(RunBusyError, match="another process"):
            execute(SPEC)
        assert store.read_record(SPEC.run_id).state == "cancelled"


@pytest.mark.parametrize(
    "change",
    [{"model": "/no/such/folder"}, {"samples": 3, "calibration_share": 0.01}],
)
def test_what_can_not_begin_writes_nothing(fake, change):
    spec = RunSpec(**(SPEC.to_json() | change))
    with pytest.raises(InputError):
        execute(spec)
    assert not settings().runs.exists()
