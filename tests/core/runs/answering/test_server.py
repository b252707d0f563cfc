"""The desk and its answerer as processes: asked, crashed, hung, killed, idle, and asked again."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import InputError
from core.runs.agent.file_lock import holder
from core.runs.agent.worker_process import environment
from core.runs.answering import answers, client, endpoint
from core.runs.answering.state import AnswerState
from core.settings import ROOT
from tests.core.runs.answering.conftest import OpenDesk, answerer_process, ended, own
from tests.core.runs.conftest import until
from tests.processes import living


def talk(text: bytes) -> dict[str, object]:
    """One message as it is."""
    at = endpoint.address()
    assert at is not None
    with socket.create_connection(("127.0.0.1", at.port), timeout=10) as line:
        line.sendall(text)
        line.shutdown(socket.SHUT_WR)
        with line.makefile("rb") as heard:
            return json.loads(heard.readline())


def test_a_question_is_answered_and_the_next_finds_the_model_warm(run_id: str, fake_home: Path):
    first = own(run_id)
    assert client.ask(first).stage == "waiting"
    assert ended(first).stage == "answered"
    answer = answers.read(first.answer_id)
    assert answer.loading_s > 0
    assert len(answer.logits) == 6
    assert answer.recorded_difference == 0  # the fake model says the same of the run's own questions again
    second = own(run_id, "And of Italy?")
    client.ask(second)
    assert ended(second).stage == "answered"
    assert answers.read(second.answer_id).loading_s == 0


def test_asking_loads_no_torch_into_the_asking_process(fake_home: Path):
    code = (
        "import sys\n"
        "from core.runs.answering import answers, client, custom_question, state\n"
        "import core.reports.one_question\n"
        "heavy = {'torch', 'transformers', 'core.inference.fake'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=120)


def test_the_desk_outlives_who_opened_it_and_there_is_one(run_id: str, fake_home: Path):
    asked = own(run_id)
    code = (
        "import json, sys; from core.runs.answering import client\n"
        "from core.runs.answering.custom_question import OwnQuestion\n"
        "client.ask(OwnQuestion.from_json(json.loads(sys.argv[1])))"
    )
    for _ in range(2):
        subprocess.run(
            [sys.executable, "-c", code, json.dumps(asked.to_json())], check=True, cwd=ROOT, env=environment()
        )
    assert ended(asked).stage == "answered"
    desks = living(fake_home, "core.runs.answering.server")
    assert [p.pid for p in desks] == [holder(endpoint.desk_lock())]
    assert desks[0].ppid() == 1 or "desk" not in " ".join(desks[0].parent().cmdline())
    second = subprocess.run(
        [sys.executable, "-m", "core.runs.answering.server"],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert second.returncode == 2
    assert "a desk is open on this host already" in second.stderr


def test_only_its_owner_may_talk_to_it(run_id: str, fake_home: Path, open_desk: OpenDesk):
    open_desk()
    path = endpoint.desk_lock().with_name("answers.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    asked = own(run_id)
    for token in ("", "x" * 64, None):
        said = talk(json.dumps({"do": "ask", "own": asked.to_json(), "token": token}).encode() + b"\n")
        assert said == {"error": "the message does not carry the desk's token"}
    at = endpoint.address()
    assert at is not None
    for text in (b"GET / HTTP/1.1\r\n\r\n", b"\n", b"[" * 100_000 + b"\n", b"\xff\xfe\n", b"7\n"):
        assert "error" in talk(text)
    assert talk(b"x" * (endpoint.MOST_BYTES + 10)) == {"error": "the message is too long"}
    for message in ({"do": "fly"}, {"do": "ask", "own": 3}, {"do": "state", "id": "x", "wait_s": "y"}, {}):
        assert "error" in talk(json.dumps(message | {"token": at.token}).encode() + b"\n")
    client.ask(asked)
    assert ended(asked).stage == "answered"


def test_an_answerer_that_is_killed_in_loading_is_told_in_words_and_replaced(
    run_id: str, fake_home: Path, open_desk: OpenDesk
):
    open_desk(load_ms=60_000)
    asked = own(run_id)
    client.ask(asked)
    until(lambda: client.state(asked.answer_id).stage == "loading", "the model to load")
    answerer_process(fake_home).kill()
    now = ended(asked)
    assert now.stage == "failed"
    assert now.message == (
        "the answerer was killed by signal 9 (SIGKILL), perhaps for want of memory while loading fake; "
        "choose a smaller model, or ask again"
    )
    other = own(run_id, "Another?")
    client.ask(other)
    until(lambda: client.state(other.answer_id).stage == "loading", "another answerer")
    client.stop(other.answer_id)
    assert ended(other).message == "Stopped."
    until(lambda: len(living(fake_home)) == 1, "the answerer to be gone")


def test_one_that_dies_while_answering(run_id: str, fake_home: Path, open_desk: OpenDesk):
    open_desk(die_at=4)  # three of the run's own questions, then this one, then the next
    first, second = own(run_id), own(run_id, "Another?")
    client.ask(first)
    assert ended(first).stage == "answered"
    client.ask(second)
    assert "while answering fake" in ended(second).message


def test_one_that_hangs_is_given_up(run_id: str, fake_home: Path, open_desk: OpenDesk):
    open_desk(limits={"answering": 0.5}, hang_at=3)
    asked = own(run_id)
    client.ask(asked)
    now = ended(asked)
    assert (
        now.message
        == "fake was answering for 0.5 s without news and was given up; choose a smaller model, or ask again"
    )
    until(lambda: len(living(fake_home)) == 1, "the hung answerer to be gone")


def test_what_can_not_be_answered_is_said_and_costs_nobody_else(run_id: str, fake_home: Path, open_desk: OpenDesk):
    open_desk()
    for asked, says in (
        (own(run_id, model="/no/such/model"), "there is no folder '/no/such/model'"),
        (own("no-such-run"), "there is no run"),
    ):
        client.ask(asked)
        now = ended(asked)
        assert now.stage == "failed"
        assert says in now.message
    asked = own(run_id)
    client.ask(asked)
    assert ended(asked).stage == "answered"
    with pytest.raises(InputError, match="at least 2 options"):
        own(run_id, options=("x",))


def test_a_model_that_disagrees_with_itself_is_stopped(run_id: str, fake_home: Path, open_desk: OpenDesk):
    open_desk(fault=0.5)
    asked = own(run_id)
    client.ask(asked)
    assert "differ by 0.5 in log-probability" in ended(asked).message


def test_the_queue_keeps_its_order_and_its_length(run_id: str, fake_home: Path, open_desk: OpenDesk):
    open_desk(load_ms=60_000)
    asked = [own(run_id, f"Question {i}?") for i in range(17)]
    states = [client.ask(one) for one in asked]
    until(lambda: client.state(asked[0].answer_id).stage == "loading", "the first")
    assert [client.state(one.answer_id).ahead for one in asked[1:4]] == [1, 2, 3]
    assert all(state.stage == "waiting" for state in states)
    assert client.ask(asked[5]).ahead == 5  # once more is the same question
    with pytest.raises(InputError, match="16 questions are waiting already"):
        client.ask(own(run_id, "One more?"))
    client.stop(asked[3].answer_id)
    assert client.state(asked[3].answer_id).message == "Stopped before it was asked."
    client.stop(asked[0].answer_id)
    until(lambda: client.state(asked[1].answer_id).stage in ("starting", "loading"), "the second")


def test_a_desk_that_nobody_asks_closes_with_its_answerer(run_id: str, fake_home: Path, open_desk: OpenDesk):
    desk = open_desk("--idle-s", "1")
    asked = own(run_id)
    client.ask(asked)
    assert ended(asked).stage == "answered"
    assert desk.wait(30) == 0
    until(lambda: not living(fake_home), "the answerer to follow")
    assert endpoint.address() is None
    assert client.state(asked.answer_id) == AnswerState(asked.answer_id, "failed", client.GONE)
    client.ask(asked)  # opens another
    assert ended(asked).stage == "answered"


def test_a_desk_that_is_killed_takes_its_answerer_along_and_is_replaced(
    run_id: str, fake_home: Path, open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
):
    desk = open_desk(load_ms=60_000)
    asked = own(run_id)
    client.ask(asked)
    until(lambda: client.state(asked.answer_id).stage == "loading", "the model to load")
    os.kill(desk.pid, signal.SIGKILL)
    desk.wait()
    until(lambda: not living(fake_home), "the answerer to follow")
    assert client.state(asked.answer_id).message == client.GONE
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    client.ask(asked)
    assert ended(asked).stage == "answered"


def test_a_desk_whose_home_is_taken_away_closes(fake_home: Path, open_desk: OpenDesk):
    desk = open_desk()
    endpoint.desk_lock().with_name("answers.json").unlink()
    assert desk.wait(30) == 0


def test_a_model_can_be_warmed_before_there_is_a_question(run_id: str, fake_home: Path, open_desk: OpenDesk):
    open_desk()
    client.warm("fake", "float32")
    answerer_process(fake_home)
    client.warm("/no/such/model", "float32")  # nothing is heard of what is wrong
    asked = own(run_id)
    client.ask(asked)
    assert ended(asked).stage == "answered"
    assert answers.read(asked.answer_id).loading_s == 0
