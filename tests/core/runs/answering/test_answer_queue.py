"""The queue and its worker as a process: asked, crashed, hung, killed, idle, and asked again."""

import re
from pathlib import Path

import pytest

from core.errors import InputError
from core.runs.answering import answer_queue, client, custom_question
from core.runs.answering.answer_queue import MOST_WAITING
from core.runs.answering.custom_question import AnswerProgress
from tests.core.runs.answering.conftest import answered, ended, next_engine, own, until_stage, worker_process
from tests.core.runs.conftest import until
from tests.processes import living


def test_a_question_is_answered_and_the_next_finds_the_model_warm(run_id: str, fake_home: Path):
    client.warm("fake", "float32")
    client.warm("/no/such/model", "float32")  # nothing is heard of what is wrong
    first, second = own(run_id), own(run_id, "And of Italy?")
    assert answered(first).stage == answered(second).stage == "answered"
    answer = custom_question.read_answer(first.answer_id)
    assert answer.loading_s == 0
    assert len(answer.logits) == 6
    assert answer.recorded_difference == 0  # the fake model says the same of the run's own questions again


def test_nothing_is_loaded_beforehand_if_nothing_is_to_be_kept(fake_home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HEDGE_WARM_MINUTES", "0")
    client.warm("fake", "float32")
    assert living(fake_home) == []


def test_a_worker_that_is_killed_in_loading_is_told_in_words_and_replaced(
    run_id: str, fake_home: Path, monkeypatch: pytest.MonkeyPatch
):
    next_engine(monkeypatch)
    question = own(run_id)
    client.ask(question)
    until_stage(question, "loading")
    worker_process(fake_home).kill()
    now = ended(question)
    assert now.stage == "failed"
    assert now.message == (
        "the process that answers was killed by signal 9 (SIGKILL), perhaps because memory ran out while loading fake; "
        "choose a smaller model, or ask again"
    )
    client.ask(own(run_id, "Another?"))
    until_stage(own(run_id, "Another?"), "loading")


@pytest.mark.parametrize(
    ("fake", "message"),
    [
        ({"die_at": 3}, "the process that answers was killed by signal 9 .* while answering fake; choose a smaller"),
        ({"hang_at": 3}, "^fake was answering for 0.5 s without news and was given up; choose a smaller model, or ask"),
        ({"fault": 0.5}, "differ by 0.5 in log-probability"),
    ],
)
def test_each_failure_has_its_sentence(
    run_id: str, fake_home: Path, monkeypatch: pytest.MonkeyPatch, fake: dict[str, float], message: str
):
    next_engine(monkeypatch, **fake)  # 3: after the run's own questions
    if "hang_at" in fake:
        monkeypatch.setitem(answer_queue.LIMITS, "answering", 0.5)
    progress = answered(own(run_id))
    assert progress.stage == "failed"
    assert re.search(message, progress.message)
    if "hang_at" in fake:
        until(lambda: not living(fake_home), "the hung worker to be gone")


def test_what_can_not_be_answered_is_said_and_costs_nobody_else(run_id: str, fake_home: Path):
    progress = answered(own(run_id, model="/no/such/model"))
    assert progress.stage == "failed"
    assert "there is no folder '/no/such/model'" in progress.message
    assert "there is no run" in answered(own("no-such-run")).message
    assert answered(own(run_id)).stage == "answered"
    assert client.progress("0" * 16) == AnswerProgress("0" * 16, "failed", client.GONE)


def test_the_queue_keeps_its_order_and_its_length(run_id: str, fake_home: Path, monkeypatch: pytest.MonkeyPatch):
    next_engine(monkeypatch)
    questions = [own(run_id, f"Question {i}?") for i in range(MOST_WAITING + 1)]
    states = [client.ask(question) for question in questions[:1]]
    until_stage(questions[0], "starting", "loading")
    states += [client.ask(question) for question in questions[1:]]
    assert [client.progress(question.answer_id).ahead for question in questions[1:4]] == [1, 2, 3]
    assert all(state.stage == "waiting" for state in states)
    assert client.ask(questions[5]).ahead == 5  # once more is the same question
    with pytest.raises(InputError, match=f"{MOST_WAITING} questions are waiting already"):
        client.ask(own(run_id, "One more?"))
    client.stop(questions[3].answer_id)
    assert client.progress(questions[3].answer_id).message == "Stopped before it was asked."
    client.stop(questions[0].answer_id)
    until_stage(questions[1], "starting", "loading")


def test_stopping_one_after_another_blames_no_question_for_another(
    run_id: str, fake_home: Path, monkeypatch: pytest.MonkeyPatch
):
    next_engine(monkeypatch)
    questions = [own(run_id, f"Question {i}?") for i in range(8)]
    for question in questions:
        client.ask(question)
    for question in questions:
        until_stage(question, "starting", "loading")
        client.stop(question.answer_id)
    assert {ended(question).message for question in questions} == {"Stopped."}
    until(lambda: not living(fake_home), "every worker to be gone")


def test_a_worker_that_nobody_asks_ends_and_is_started_again(
    run_id: str, fake_home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HEDGE_WARM_MINUTES", "0.001")
    question = own(run_id)
    for _ in range(2):
        assert answered(question).stage == "answered"
        until(lambda: not living(fake_home), "the worker to end")
