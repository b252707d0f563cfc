"""A person's own question is answered while a long run has the only slot."""

import json

from core.runs import engine
from core.runs.answering import client
from core.runs.answering.custom_question import CustomQuestion
from tests.conftest import synthetic_run
from tests.core.runs.conftest import begun, spec, until


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
