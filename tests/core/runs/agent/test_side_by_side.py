"""A person's own question and runs at the same time: each has its own process, and neither waits for the other."""

import json

from core.runs import engine
from core.runs.answering import client
from core.runs.answering.custom_question import CustomQuestion
from tests.conftest import synthetic_run
from tests.core.runs.answering.conftest import answered, ended, own, until_stage
from tests.core.runs.answering.conftest import worker_process as answering_process
from tests.core.runs.conftest import assert_each_question_once, begun, is_in, long_spec, spec, until, worker_process
from tests.processes import gone


def test_an_own_question_does_not_wait_for_the_long_run_nor_disturb_it(engine_home, monkeypatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"ms": 20}))
    calibrated = synthetic_run(model="fake")
    long = engine.submit(spec(samples=2000))
    until(begun(long), "the long run")
    question = CustomQuestion(
        model="fake", run_id=calibrated, question="What is it?", options=("this", "that", "none", "x")
    )
    client.ask(question)
    until(lambda: client.progress(question.answer_id, wait_s=0.5).ended, "the answer")
    now = engine.status(long)
    assert (now.state, now.worker_alive, now.tries) == ("running", True, 1)
    assert now.progress.done < now.progress.total
    assert client.progress(question.answer_id).stage == "answered"
    engine.cancel(long)


def test_a_killed_process_takes_neither_the_run_nor_the_question_of_the_other_with_it(engine_home, pace):
    calibrated = synthetic_run(model="fake")
    assert answered(own(calibrated)).stage == "answered"
    warm = answering_process(engine_home)
    pace(40)
    run_id = engine.submit(long_spec())
    until(begun(run_id), "the run, submitted while the question's model is loaded")
    assert answered(own(calibrated, "And of Italy?")).stage == "answered"
    assert warm.is_running()
    warm.kill()
    assert gone(warm.pid)
    pace(2000)
    question = own(calibrated, "And of Spain?")
    client.ask(question)
    in_progress = ("loading", "checking", "answering")
    until_stage(question, *in_progress, "failed")
    if client.progress(question.answer_id).stage == "failed":  # it went to the killed process
        client.ask(question)
        until_stage(question, *in_progress)
    assert engine.status(run_id).state == "running"
    worker_process().kill()
    pace(0)
    assert ended(question).stage == "answered"
    until(is_in(run_id, "done"), "the run to be done")
    assert_each_question_once(run_id)
