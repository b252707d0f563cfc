"""The answering server and its worker as processes: asked, crashed, hung, killed, idle, and asked again."""

import os
import pickle
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections import deque
from contextlib import suppress
from multiprocessing import AuthenticationError, Pipe, util
from multiprocessing.connection import Client, answer_challenge, deliver_challenge
from pathlib import Path

import pytest

from core.errors import InputError, RunError
from core.processes.stop_signals import StopSignals
from core.runs.agent.worker_process import environment
from core.runs.answering import client, custom_question
from core.runs.answering.custom_question import AnswerProgress
from core.runs.answering.server import MOST_WAITING, AnsweringServer, listening, serve
from core.settings import ROOT
from core.storage.file_lock import holder, is_held
from tests.core.runs.answering.conftest import StartServer, answered, ended, own, until_stage, worker_process
from tests.core.runs.conftest import until
from tests.processes import living


def test_a_question_is_answered_and_the_next_finds_the_model_warm(run_id: str, fake_home: Path):
    first, second = own(run_id), own(run_id, "And of Italy?")
    assert client.ask(first).stage == "waiting"
    assert ended(first).stage == answered(second).stage == "answered"
    answer = custom_question.read_answer(first.answer_id)
    assert answer.loading_s > 0
    assert len(answer.logits) == 6
    assert answer.recorded_difference == 0  # the fake model says the same of the run's own questions again
    assert custom_question.read_answer(second.answer_id).loading_s == 0


def test_the_server_outlives_who_started_it_and_there_is_one(run_id: str, fake_home: Path):
    question = own(run_id)
    code = (
        "import pickle, sys; from core.runs.answering import client\n"
        "client.ask(pickle.loads(bytes.fromhex(sys.argv[1])))"
    )
    for _ in range(2):
        subprocess.run(
            [sys.executable, "-c", code, pickle.dumps(question).hex()], check=True, cwd=ROOT, env=environment()
        )
    assert ended(question).stage == "answered"
    servers = living(fake_home, "core.runs.answering.server")
    assert [p.pid for p in servers] == [holder(client.server_lock())]
    assert servers[0].ppid() == 1 or "answering" not in " ".join(servers[0].parent().cmdline())
    command = [sys.executable, "-m", "core.runs.answering.server"]
    second = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=60)
    assert second.returncode == 2
    assert "an answering server runs on this host already" in second.stderr


def test_only_its_owner_can_connect(run_id: str, fake_home: Path, start_server: StartServer):
    start_server()
    assert stat.S_IMODE(client.address_file().stat().st_mode) == 0o600
    path, key = client.address()
    assert stat.S_IMODE(Path(path).parent.stat().st_mode) == 0o700
    for wrong in (b"\0" * 32, b"x", key[:-1]):
        with pytest.raises(AuthenticationError):
            Client(path, authkey=wrong)
    for noise in (b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\1x", b"\xff" * 100_000, b""):
        with socket.socket(socket.AF_UNIX) as talk, suppress(ConnectionError):
            talk.connect(path)
            talk.sendall(noise)
            talk.shutdown(socket.SHUT_WR)
            assert b"WELCOME" not in talk.makefile("rb").read()
    with Client(path) as silent, Client(path, authkey=key) as other:  # who says nothing holds up nobody
        other.send(("progress", ("no-such-question", 0.0)))
        assert "no longer has this question" in str(other.recv())
        assert silent.recv_bytes().startswith(b"#CHALLENGE#")
    assert answered(own(run_id)).stage == "answered"


def test_a_socket_is_in_a_folder_for_temporary_files_or_the_hosts_or_is_a_port(home: Path, monkeypatch):
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        monkeypatch.setattr(util, "get_temp_dir", lambda: short)
        with listening() as listener:
            assert str(listener.address).startswith(f"{short}/listener-")
        monkeypatch.setattr(util, "get_temp_dir", lambda: f"{short}/{'t' * 120}")
        monkeypatch.setenv("HEDGE_HOME", short)
        client.server_lock().parent.mkdir(parents=True)
        for _ in range(2):  # a server that was killed leaves its socket
            with listening() as listener:
                assert listener.address == str(client.server_lock().with_suffix(".socket"))
                assert stat.S_IMODE(Path(listener.address).stat().st_mode) == 0o600
            client.server_lock().with_suffix(".socket").touch()
        monkeypatch.setenv("HEDGE_HOME", str(home / ("h" * 120)))
        with listening() as listener:
            assert listener.address[0] == "127.0.0.1"


def called_with(message: object) -> str:
    """How a server refuses the message of a client that knows the key."""
    server = AnsweringServer(idle_s=1.0, limits={}, signals=StopSignals.__new__(StopSignals))  # no handlers here
    ours, theirs = Pipe()
    with ours:
        serving = threading.Thread(target=serve, args=(server, theirs, b"key"))
        serving.start()
        answer_challenge(ours, b"key")
        deliver_challenge(ours, b"key")
        ours.send(message)
        reply = ours.recv()
        serving.join()
    assert isinstance(reply, InputError)
    assert (server.ending, server.waiting, server.worker) == (False, deque(), None)
    return str(reply)


@pytest.mark.parametrize(
    ("message", "ending"),
    [
        *(((name, ()), f"of the answering server, got {name!r}") for name in ("__class__", "run", "_next", "", 5)),
        (("ask" * 1000, ()), "server, got 'askaskaskask...kaskaskaskask'"),
        ((["ask"], ()), "server, got ['ask']"),
        (("ask", "x"), "arguments, got ('ask', 'x')"),
        (("ask", (), ()), "arguments, got ('ask', (), ())"),
        ("ask", "arguments, got 'ask'"),
        (None, "arguments, got None"),
    ],
)
def test_a_client_may_call_four_methods_and_nothing_else(message: object, ending: str):
    reply = called_with(message)
    assert reply.startswith(("a client may call ask, progress, stop, warm of the ", "a call of the answering server "))
    assert reply.endswith(ending)


SIGNAL_AFTER_LOCK = """
import os, signal
from core.runs.answering import server
from core.storage import file_lock

def take(path):
    lock = file_lock.take(path)
    os.kill(os.getpid(), signal.SIGINT)
    return lock

server.take = take
server.main()
"""


@pytest.mark.parametrize("shell", ["", "trap '' INT; "], ids=["plain", "ignored"])
def test_a_signal_right_after_the_server_has_its_lock_stops_it(fake_home: Path, shell: str):
    stopped = subprocess.run(
        ["sh", "-c", f'{shell}exec "$0" -c "$1"', sys.executable, SIGNAL_AFTER_LOCK],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (stopped.returncode, stopped.stderr) == (0, "")
    assert not client.address_file().exists()
    assert not is_held(client.server_lock())


def test_a_server_that_is_stopped_ends_its_worker_and_says_so(run_id: str, fake_home: Path, start_server: StartServer):
    server = start_server(load_ms=60_000)
    question = own(run_id)
    client.ask(question)
    until_stage(question, "loading")
    server.terminate()
    assert server.wait(20) == 0
    assert living(fake_home) == []
    assert not client.address_file().exists()
    assert client.progress(question.answer_id).message == client.GONE


def test_a_server_that_does_not_reply_is_said_in_time(
    run_id: str, fake_home: Path, start_server: StartServer, monkeypatch: pytest.MonkeyPatch
):
    process = start_server()
    monkeypatch.setattr(client, "REPLIES_WITHIN_S", 0.2)
    monkeypatch.setattr(client, "STARTS_WITHIN_S", 0.5)
    process.send_signal(signal.SIGSTOP)
    with pytest.raises(RunError, match="has not replied within"):
        client.ask(own(run_id))
    process.send_signal(signal.SIGCONT)


def test_a_worker_that_is_killed_in_loading_is_told_in_words_and_replaced(
    run_id: str, fake_home: Path, start_server: StartServer
):
    start_server(load_ms=60_000)
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
    run_id: str, fake_home: Path, start_server: StartServer, fake: dict[str, float], message: str
):
    start_server(limits={"answering": 0.5} if "hang_at" in fake else None, **fake)  # 3: after the run's own questions
    progress = answered(own(run_id))
    assert progress.stage == "failed"
    assert re.search(message, progress.message)
    if "hang_at" in fake:
        until(lambda: len(living(fake_home)) == 1, "the hung worker to be gone")


def test_what_can_not_be_answered_is_said_and_costs_nobody_else(
    run_id: str, fake_home: Path, start_server: StartServer
):
    start_server()
    progress = answered(own(run_id, model="/no/such/model"))
    assert progress.stage == "failed"
    assert "there is no folder '/no/such/model'" in progress.message
    assert "there is no run" in answered(own("no-such-run")).message
    assert answered(own(run_id)).stage == "answered"


def test_the_queue_keeps_its_order_and_its_length(run_id: str, fake_home: Path, start_server: StartServer):
    start_server(load_ms=60_000)
    questions = [own(run_id, f"Question {i}?") for i in range(MOST_WAITING + 1)]
    states = [client.ask(question) for question in questions]
    until_stage(questions[0], "loading")
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
    run_id: str, fake_home: Path, start_server: StartServer
):
    start_server(load_ms=60_000)
    questions = [own(run_id, f"Question {i}?") for i in range(8)]
    for question in questions:
        client.ask(question)
    for question in questions:
        until_stage(question, "starting", "loading")
        client.stop(question.answer_id)
    assert {ended(question).message for question in questions} == {"Stopped."}
    until(lambda: len(living(fake_home)) == 1, "every worker to be gone")


def test_a_server_that_nobody_asks_ends_with_its_worker(run_id: str, fake_home: Path, start_server: StartServer):
    server, question = start_server("--idle-s", "1"), own(run_id)
    assert answered(question).stage == "answered"
    assert server.wait(30) == 0
    until(lambda: not living(fake_home), "the worker to follow")
    assert client.address() is None
    assert client.progress(question.answer_id) == AnswerProgress(question.answer_id, "failed", client.GONE)
    assert answered(question).stage == "answered"  # by another


def test_a_server_that_is_killed_takes_its_worker_along_and_is_replaced(
    run_id: str, fake_home: Path, start_server: StartServer, monkeypatch: pytest.MonkeyPatch
):
    server = start_server(load_ms=60_000)
    question = own(run_id)
    client.ask(question)
    until_stage(question, "loading")
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    until(lambda: not living(fake_home), "the worker to follow")
    assert client.progress(question.answer_id).message == client.GONE
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    assert answered(question).stage == "answered"


def test_a_server_whose_home_is_taken_away_ends(fake_home: Path, start_server: StartServer):
    server = start_server()
    client.address_file().unlink()
    assert server.wait(30) == 0


def test_a_model_can_be_warmed_before_there_is_a_question(run_id: str, fake_home: Path, start_server: StartServer):
    start_server()
    client.warm("fake", "float32")
    client.warm("/no/such/model", "float32")  # nothing is heard of what is wrong
    assert answered(own(run_id)).stage == "answered"
    assert custom_question.read_answer(own(run_id).answer_id).loading_s == 0
