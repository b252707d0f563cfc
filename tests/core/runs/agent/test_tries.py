"""Which deaths of workers count against a run, and when it is given up."""

import pytest

from core.errors import RunError
from core.jury.pipeline import jury_spec
from core.jury.pipeline.jury_spec import JurySpec
from core.runs import engine, store
from core.runs.agent import liveness, tries
from core.runs.agent.recovery import Recovery
from core.runs.agent.tries import BEGINNINGS, TRIES
from core.runs.agent.worker import Worker
from core.runs.agent.worker_process import Death
from core.runs.execution import jury_run
from core.runs.queue import run_queue
from core.runs.store import RunRecord
from core.settings import settings
from tests.core.runs.conftest import spec
from tests.core.runs.queue.test_run_queue import begin, entry

OUT_OF_MEMORY = "out of memory: the system stopped it"
KILLED = "killed by signal 9 (SIGKILL), perhaps because memory ran out"
HUNG = "killed because its run made no progress for 15 minutes"


@pytest.fixture
def name(engine_home, monkeypatch):
    """A run that waits, and nobody works off the queue."""
    monkeypatch.setattr(engine, "ensure_agent", lambda: None)
    liveness.wake()  # makes the folder in which workers say what they do
    return engine.submit(spec())


def begins(name: str) -> str:
    return tries.begin(entry(name))


def dies(name: str, reason: str = KILLED) -> None:
    tries.note_death(name, reason, bytes_kept=tries.kept_bytes(name), within_s=20)


def started(name: str) -> str:
    """Take the run and begin it, as a worker does; returns the worker's executor."""
    executor = f"{liveness.host()}:cpu"
    run_queue.take(executor, memory_gib=1)
    begin(name, executor)
    return executor


def finish_chunk(name: str, number: int) -> None:
    chunks = settings().runs / name / "chunks"
    chunks.mkdir(exist_ok=True)
    (chunks / f"{number:06d}.parquet").write_bytes(b"rows")


def test_new_work_gives_the_tries_back_as_often_as_there_is_some(name):
    for number in range(10):
        assert begins(name) == ""
        finish_chunk(name, number)
        dies(name)
        assert begins(name) == ""
        dies(name)
    assert begins(name) == ""
    dies(name)
    assert begins(name).startswith("3 workers ended")


def test_a_chunk_that_is_lost_and_scored_again_is_no_new_work(name):
    finish_chunk(name, 0)
    for _ in range(TRIES):
        assert begins(name) == ""
        dies(name)
        (settings().runs / name / "chunks" / "000000.parquet").unlink()
        tries.kept_bytes(name)
        finish_chunk(name, 0)
    assert begins(name) == (
        f"3 workers ended while they ran it, the last one {KILLED}, and nothing new was finished in between; "
        "resume it to try again."
    )


def test_the_sentence_names_each_reason_and_advises_a_smaller_model_only_for_memory(name):
    for reason in (OUT_OF_MEMORY, KILLED, OUT_OF_MEMORY, HUNG)[1:]:
        begins(name)
        dies(name, reason)
    assert begins(name) == (
        f"3 workers ended while they ran it, the last one {HUNG} (before that: {KILLED}, {OUT_OF_MEMORY}), and nothing "
        "new was finished in between; choose a smaller model or precision, or resume it to try again."
    )


def test_a_run_whose_agent_or_host_ends_each_time_is_given_up_at_last(name):
    for _ in range(BEGINNINGS):
        assert begins(name) == ""
    assert begins(name) == (
        "It was begun 12 times, and each time its worker, its agent or its host ended before anything new was "
        "finished; look for the reason in the logs of the host, then resume it."
    )
    finish_chunk(name, 0)
    assert begins(name) == ""


def test_a_run_that_a_person_resumes_has_all_its_tries(name):
    for _ in range(TRIES):
        dies(name)
    store.end(name, "failed", begins(name))
    run_queue.cancel(name)
    engine.resume(name)
    assert (entry(name).deaths, entry(name).beginnings, begins(name)) == ((), 0, "")


def test_a_run_that_is_put_back_keeps_its_deaths_and_not_the_reason_of_the_last(name):
    """An agent that was stopped, or a worker that needs long to start, gives a run that kills its workers no tries."""
    for _ in range(TRIES):
        assert begins(name) == ""
        assert entry(name).death == ""
        dies(name)
        assert entry(name).death == KILLED
        Recovery({started(name)}).put_back_own()
        assert (entry(name).status, entry(name).beginnings) == ("ENQUEUED", 0)
    assert begins(name).startswith("3 workers ended")


def test_a_worker_that_is_stopped_as_by_a_host_that_shuts_down_counts_against_no_run(name):
    recovery = Recovery(frozenset())
    recovery.see_death(Death(name, "killed by signal 15 (SIGTERM)", cancelled=False, stopped=True), "a:cpu")
    assert (entry(name).death, entry(name).deaths) == ("killed by signal 15 (SIGTERM)", ())
    assert "worker a:cpu was killed by signal 15 (SIGTERM)" in store.read_log(name)[-1]


def test_a_death_that_the_database_could_not_take_is_counted_once_it_answers(name, monkeypatch):
    recovery = Recovery(frozenset())
    with monkeypatch.context() as patch:
        patch.setenv("HEDGE_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
        with pytest.raises(RunError, match="can't be used"):
            recovery.see_death(Death(name, KILLED, cancelled=False), "a:cpu")
    assert entry(name).deaths == ()
    recovery.go_over()
    recovery.go_over()
    assert entry(name).deaths == (KILLED,)


def test_a_run_that_had_ended_before_its_worker_died_is_not_begun_again(name):
    executor = started(name)
    store.end(name, "failed", "as it was")
    assert Worker(executor).perform(name) == "it is failed"
    assert store.read_record(name).message == "as it was"
    assert not any("begins" in line for line in store.read_log(name))


def test_a_run_that_is_given_up_says_so_in_its_folder(name):
    executor = started(name)
    for _ in range(TRIES):
        dies(name, HUNG)
    assert Worker(executor).perform(name).startswith("failed: 3 workers ended")
    record = store.read_record(name)
    assert record.state == "failed"
    assert record.message.startswith(f"3 workers ended while they ran it, the last one {HUNG}, and nothing new")


def test_answers_verdicts_and_training_steps_of_a_jury_are_work_and_passing_files_are_none(home):
    path = jury_spec.folder_of(jury_spec.create(JurySpec(base="pocket-1m", jurors=("pocket-1m",) * 2, samples=60)))
    run = jury_run.spec_of(jury_spec.read_spec(path.name))
    store.create(RunRecord(run, "running", 0.0))
    byte_counts = [tries.kept_bytes(run.run_id)]
    for file in ("answers.jsonl", "jurors/a/checkpoint/training.json", "jurors/a/training.json", "judged-a.jsonl"):
        (path / file).parent.mkdir(parents=True, exist_ok=True)
        (path / file).write_text("{}\n" * 5)
        byte_counts.append(tries.kept_bytes(run.run_id))
    assert byte_counts == sorted(set(byte_counts))
    for file in ("losses.json", "jurors/a/.checkpoint.part/training.json", "jurors/a/adapter_model.safetensors"):
        (path / file).parent.mkdir(parents=True, exist_ok=True)
        (path / file).write_text("{}\n")
    assert tries.kept_bytes(run.run_id) == byte_counts[-1]
