"""A model of the hub, from a server on this machine that speaks as the hub does, slowly."""

import hashlib
import json
import shutil
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from core.runs.answering import client, custom_question
from core.runs.answering.custom_question import CustomQuestion
from core.runs.answering.model_cache import total_bytes
from core.runs.spec import RunSpec
from core.settings import ASSETS
from tests.core.runs.answering.conftest import answered
from tests.light_environment import needs_models

POCKET = ASSETS / "models" / "pocket-1m"
REPOSITORY = "someone/pocket"
COMMIT = "0" * 39 + "1"
PIECE = 65_536


class Hub(BaseHTTPRequestHandler):
    """Model information and files of one repository; the weights come a piece at a time."""

    protocol_version = "HTTP/1.1"
    pause_s = 0.05

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        path = self.path.partition("?")[0]
        if path.startswith(f"/api/models/{REPOSITORY}"):
            files = [{"rfilename": p.name, "size": p.stat().st_size} for p in sorted(POCKET.iterdir())]
            said = {"_id": "1", "id": REPOSITORY, "modelId": REPOSITORY, "sha": COMMIT, "siblings": files, "tags": []}
            rest = path.removeprefix(f"/api/models/{REPOSITORY}")
            self._send(json.dumps([] if "tree" in rest else said).encode(), "application/json", body=body)
            return
        file = POCKET / path.rpartition("/")[2]
        if path.startswith(f"/{REPOSITORY}/resolve/") and file.is_file():
            self._send(file.read_bytes(), "application/octet-stream", body=body)
            return
        self.send_response(404)
        self.send_header("X-Error-Code", "EntryNotFound")
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, content: bytes, kind: str, *, body: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        for start in range(0, len(content) if body else 0, PIECE):
            self.wfile.write(content[start : start + PIECE])
            if len(content) > 10 * PIECE:
                time.sleep(self.pause_s)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of the hub, with a cache of its own."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("HF_ENDPOINT", address)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    yield address
    server.shutdown()
    server.server_close()


def test_a_models_bytes_are_told_while_they_come(hub: str, fake_home: Path, tmp_path: Path):
    own = CustomQuestion(REPOSITORY, RunSpec(model="pocket-1m", task="qa").run_id, "What?", ("x", "y", "z", "w"))
    client.ask(own)
    seen: dict[str, list[int]] = {}
    end = time.monotonic() + 120
    while not (now := client.progress(own.answer_id)).ended and time.monotonic() < end:
        seen.setdefault(now.stage, []).append(now.done_bytes)
        if now.stage == "downloading":
            assert now.total_bytes == sum(
                (POCKET / name).stat().st_size for name in ("model.safetensors", "tokenizer.json", "config.json")
            )
        time.sleep(0.05)
    assert now.stage == "answered", now.message
    assert len({*seen["downloading"]}) > 1  # the files that are there before the weights are counted
    assert seen["downloading"] == sorted(seen["downloading"])
    answer = custom_question.read_answer(own.answer_id)
    assert answer.loading_s > 0
    # The same weights: what another model of the same name says is not compared, because it is another name.
    assert len(answer.logits) == 6
    shutil.rmtree(tmp_path / "cache")


def test_a_hub_that_is_silent_is_said(fake_home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    own = CustomQuestion("no-one/nothing", RunSpec(model="pocket-1m", task="qa").run_id, "What?", ("x", "y"))
    assert "the hub can't be reached" in answered(own).message


@pytest.mark.quick
@needs_models
def test_a_hub_that_does_not_say_how_large_a_model_is(monkeypatch: pytest.MonkeyPatch):
    from core.models.model_sources import ModelSource

    def unreachable(*args: object, **options: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr("huggingface_hub.model_info", unreachable)
    assert total_bytes(ModelSource("m", "someone/m", is_hub=True)) == 0
