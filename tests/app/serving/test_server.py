"""`app/server.py` as Streamlit and another ASGI server serve it: guarded either way; `app/main.py` alone refuses."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from app.serving.policy import content_security_policy
from core.serving.classroom import lecture, quiz
from core.settings import ROOT
from tests.browser.conftest import held_by_tests, wait_for
from tests.intruders.client import Client
from tests.parameters import rest_nightly

SEAT = "5" * 32
APP = ("app", "--server.headless", "false", "--server.port")
STREAMLIT = ("streamlit", "run", "app/server.py", "--server.headless", "true", "--server.port")
UVICORN = ("uvicorn", "app.server:app", "--port")
ENDS_WITHIN_S = 60


@contextmanager
def started(command: Sequence[str], home: Path, *, under: Sequence[str] = ()) -> Iterator[tuple[str, psutil.Popen]]:
    """The command with a free port after it, as a process, once it answers; its address. ``under`` starts it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log, opened = home.parent / "server.log", home.parent / "opened"
    browser = f"sh -c 'echo %s > {opened}'"
    environment = {**os.environ, "HEDGE_HOME": str(home), "CUDA_VISIBLE_DEVICES": "", "BROWSER": browser}
    with held_by_tests(home) as nothing_warm, log.open("wb") as out:
        whole = [*under, sys.executable, "-m", *command, str(port)]
        process = psutil.Popen(whole, cwd=ROOT, env=environment | nothing_warm, stdout=out, stderr=subprocess.STDOUT)
        try:
            wait_for(f"http://127.0.0.1:{port}/healthz", process, log)
            yield f"http://127.0.0.1:{port}", process
        finally:
            with suppress(psutil.NoSuchProcess):
                process.kill()
            process.wait()


@pytest.mark.parametrize(
    "command",
    rest_nightly([APP, STREAMLIT, UVICORN], now=[APP, STREAMLIT]),
    ids=["app", "streamlit", "uvicorn"],
)
def test_every_server_serves_the_guarded_app_and_ends_while_a_phone_listens(command: Sequence[str], home: Path):
    live = lecture.open_class(quiz.draw("qa", n=4, calibration=2))
    live.join(SEAT)
    with started(command, home) as (address, process):
        client = Client(address)
        try:
            assert client.ask("GET", "/healthz").body == b"alive\n"
            script = client.ask("GET", "/").body.decode().partition('src="./')[2].partition('"')[0]
            for path in (
                "/",
                "/learn",
                f"/{script}",
                "/static/gone.js",
                "/_stcore/health",
                "/healthz",
                "/join/",
                "/join/X",
            ):
                answer = client.ask("GET", path)
                assert answer.headers["Content-Security-Policy"] == content_security_policy(), path
                assert answer.headers["X-Content-Type-Options"] == "nosniff", path
            assert script.endswith(".js")
            assert "A lesson in prediction sets" in client.screen("learn").text
            if command is APP:
                opened = home.parent / "opened"
                while not (opened.exists() and opened.read_text()):
                    time.sleep(0.05)
                assert opened.read_text().strip() == address
            request = urllib.request.Request(
                f"{address}/join/{live.code}/stream", headers={"Authorization": f"Bearer {SEAT}"}
            )
            with urllib.request.urlopen(request) as stream:
                assert stream.readline() == b"event: state\n"
                process.send_signal(signal.SIGTERM)
                process.wait(ENDS_WITHIN_S)
        finally:
            client.close()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("app/main.py",), "start Hedge with `hedge` or `streamlit run app/server.py`"),
        (("app/server.py", "--server.address", "0.0.0.0"), "others can reach it and do everything that you can"),
    ],
)
def test_nothing_is_served_without_the_guard(arguments: Sequence[str], sentence: str, home: Path):
    command = [sys.executable, "-m", "streamlit", "run", *arguments, "--server.headless", "true", "--server.port", "0"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 1
    assert sentence in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
