"""The queue of the model that is kept warm: visitors take turns, and nobody stops another's question."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core import access
from core.access import Actor, UserRole, quotas
from core.access.quotas import Quotas
from core.errors import InputError
from core.runs.answering import client
from core.runs.answering.answer_queue import AnswerQueue
from core.runs.answering.custom_question import CustomQuestion
from tests.core.runs.answering.conftest import next_engine, own, until_stage


@pytest.fixture
def queue() -> AnswerQueue:
    """A queue that has not begun to answer."""
    return AnswerQueue()


def question(text: str) -> CustomQuestion:
    return CustomQuestion("fake", "run", text, ("a", "b"))


def asked_in_turn(queue: AnswerQueue) -> list[str]:
    """The texts of the waiting questions in the order in which they are handed to the worker."""
    texts = []
    while queue.waiting:
        job = queue._next()
        texts.append(job.question.question)
    return texts


@pytest.mark.quick
def test_visitors_take_turns(queue: AnswerQueue):
    for n in range(5):
        queue.ask(question(f"a{n}"), "ann", "ann")
    queue.ask(question("b0"), "ben", "ben")
    progress = queue.ask(question("b1"), "ben", "ben")
    assert progress.ahead == 3  # a0, b0 and a1
    assert queue.progress(question("a2").answer_id, 0.0, "ann").ahead == 4
    assert asked_in_turn(queue) == ["a0", "b0", "a1", "b1", "a2", "a3", "a4"]
    # Ann has just had her turn, so Ben is next although she asked first.
    queue.ask(question("a5"), "ann", "ann")
    queue.ask(question("b2"), "ben", "ben")
    assert asked_in_turn(queue) == ["b2", "a5"]


@pytest.mark.quick
def test_one_visitor_can_t_fill_the_queue(queue: AnswerQueue):
    for n in range(3):
        queue.ask(question(f"a{n}"), "ann", "ann", 3)
    with pytest.raises(InputError, match=r"^3 of your questions are waiting already, and this server keeps 3 for each"):
        queue.ask(question("a3"), "ann", "ann", 3)
    queue.ask(question("a2"), "ann", "ann", 3)  # it waits already
    queue.ask(question("b0"), "ben", "ben", 3)
    queue.stop(question("a1").answer_id, "ann")
    queue.ask(question("a3"), "ann", "ann", 3)


@pytest.mark.quick
def test_stop_ends_one_s_own_question_alone(queue: AnswerQueue):
    name = question("shared").answer_id
    for asker in ("page 1", "page 2"):
        queue.ask(question("shared"), asker, "10.0.0.1")
    for stranger in ("page 3", "page 1"):
        queue.stop(name, stranger)
        assert queue.progress(name, 0.0, stranger).message == "Stopped."
    assert queue.progress(name, 0.0, "page 2").stage == "waiting"
    assert len(queue.waiting) == 1
    queue.ask(question("shared"), "page 1", "10.0.0.1")  # once more
    assert queue.progress(name, 0.0, "page 1").stage == "waiting"
    for asker in ("page 1", "page 2"):
        queue.stop(name, asker)
    assert not queue.waiting
    assert queue.progress(name, 0.0, "page 3").message == "Stopped before it was asked."


@pytest.fixture
def public(fake_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(client, "_check_model", lambda model, key="": None)  # visitors ask what ships with Hedge
    monkeypatch.setattr(quotas, "_asked", {})
    quotas.hold(Quotas(waiting_questions=2))
    yield
    access.serve("local")
    quotas.hold(Quotas())


def test_visitors_of_a_public_server_have_a_page_and_a_line_of_their_own(
    run_id: str, public: None, monkeypatch: pytest.MonkeyPatch
):
    """The real queue: each page stops its own questions alone, and all pages of one line share its turns."""
    next_engine(monkeypatch)
    access.serve("public")
    page = [Actor("visitor", UserRole.VIEWER, f"2001:db8::{n}", f"page {n}") for n in range(2)]
    other = Actor("visitor", UserRole.VIEWER, "192.0.2.1", "other page")
    with access.acting_as(page[0]):
        client.ask(own(run_id, "first"))
        until_stage(own(run_id, "first"), "starting", "loading")
        for n in range(2):
            client.ask(own(run_id, f"mine {n}"))
    with access.acting_as(page[1]), pytest.raises(InputError, match="2 of your questions are waiting"):
        client.ask(own(run_id, "mine 2"))  # another address of the same line
    with access.acting_as(other):
        assert client.ask(own(run_id, "another's")).ahead == 1
    with access.acting_as(page[1]):
        client.stop(own(run_id, "mine 0").answer_id)
    with access.acting_as(page[0]):
        assert client.progress(own(run_id, "mine 0").answer_id).stage == "waiting"
        client.stop(own(run_id, "mine 0").answer_id)
        assert client.progress(own(run_id, "mine 0").answer_id).message == "Stopped before it was asked."
