"""Sizes of models of the hub, asked of a server on this machine that speaks as the hub does; no weights are sent."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from core.errors import InputError
from core.models import hub_sizes
from core.models.devices.fitting import check_fits
from core.models.devices.slots import Slot
from core.models.memory_estimate import memory_gib, parameters

COMMIT = "0" * 39 + "1"
LLAMA_70B = {
    "model_type": "llama",
    "dtype": "bfloat16",
    "hidden_size": 8192,
    "num_hidden_layers": 80,
    "vocab_size": 128256,
    "intermediate_size": 28672,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "tie_word_embeddings": False,
}
COUNT = 70_553_706_496
FILES = {
    "someone/indexed": {
        "config.json": json.dumps(LLAMA_70B).encode(),
        "model.safetensors.index.json": json.dumps({"metadata": {"total_size": 2 * COUNT}, "weight_map": {}}).encode(),
    },
    "someone/counted": {
        "config.json": json.dumps(LLAMA_70B).encode(),
        "model.safetensors.index.json": json.dumps({"metadata": {"total_parameters": 12_345}}).encode(),
    },
    "someone/single": {"config.json": json.dumps(LLAMA_70B).encode(), "model.safetensors": b"0" * 2_000},
    "someone/shapes": {"config.json": json.dumps(LLAMA_70B).encode()},
}


class Hub(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bodies: list[str] = []  # noqa: RUF012 - emptied by the fixture

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        repository, _, path = self.path.partition("?")[0].strip("/").partition("/resolve/main/")
        content = FILES.get(repository, {}).get(path)
        if body:
            self.bodies.append(path)
        self.send_response(404 if content is None else 200)
        self.send_header("X-Repo-Commit", COMMIT)
        if content is None:
            self.send_header("X-Error-Code", "EntryNotFound" if repository in FILES else "RepoNotFound")
        else:
            self.send_header("ETag", f'"{path}"')
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        if body and content:
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch, tmp_path) -> Iterator[None]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        for name, value in {"ENDPOINT": address, "HF_HUB_CACHE": str(tmp_path), "HF_HUB_OFFLINE": False}.items():
            monkeypatch.setattr(f"huggingface_hub.constants.{name}", value)
        monkeypatch.setattr("huggingface_hub.file_download.HF_HUB_CACHE", str(tmp_path), raising=False)
        template = address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr("huggingface_hub.file_download.HUGGINGFACE_CO_URL_TEMPLATE", template, raising=False)
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
        Hub.bodies.clear()
        hub_sizes._asked.cache_clear()
        yield
        server.shutdown()
    hub_sizes._asked.cache_clear()


@pytest.mark.parametrize(
    ("name", "count"),
    [("indexed", COUNT), ("counted", 12_345), ("single", 1_000), ("shapes", 70_552_387_584), ("no", 0)],
)
def test_a_size_comes_from_small_files(hub, name, count):
    model = f"someone/{name}"
    assert parameters(model) == 0  # nobody is asked unless that is wanted
    assert not Hub.bodies
    assert parameters(model, ask=True) == count
    assert "model.safetensors" not in Hub.bodies


def test_what_was_asked_is_known_afterwards(hub):
    assert parameters("someone/indexed", ask=True) == COUNT
    assert parameters("someone/indexed") == COUNT  # from the cache of the hub
    assert memory_gib(["someone/indexed"], dtype="bfloat16") == pytest.approx(158.2, abs=0.1)


def test_a_hub_out_of_reach_says_nothing(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    hub_sizes._asked.cache_clear()
    assert parameters("someone/away", ask=True) == 0


def test_a_hub_that_cannot_be_reached_is_asked_once(hub, monkeypatch):
    """A person waits for the answer, and each further try would be made after a longer pause."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # and nobody listens
        nowhere = f"http://127.0.0.1:{free.getsockname()[1]}" + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", nowhere)
        monkeypatch.setattr("huggingface_hub.file_download.HUGGINGFACE_CO_URL_TEMPLATE", nowhere, raising=False)
        pauses: list[float] = []
        monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", pauses.append)
        assert parameters("someone/away", ask=True) == 0
    assert pauses == []


def test_a_run_that_cannot_fit_says_what_would(hub):
    def needs(dtype: str) -> float:
        return memory_gib(["someone/indexed"], dtype=dtype, ask=True)

    def said(slots: list[Slot], dtype: str, device: str = "") -> str:
        with pytest.raises(InputError) as error:
            check_fits("indexed", slots, dtype=dtype, device=device, needs_gib=needs)
        return str(error.value)

    four = [Slot(f"gpu{i}", str(i), 79.6, "H100") for i in range(4)]
    assert said(four, "float32") == (
        "model indexed in float32 needs about 315.9 GiB, and the largest device, H100, has 79.6, which is too little "
        "on all 4 devices of a host, too; choose bfloat16, which takes 158.2 GiB on 3 devices"
    )
    assert "choose int4, which takes 51.8 GiB on 1 device" in said(four, "bfloat16", "cuda:1")
    laptop = [Slot("cpu", "", 16.0, "CPU")]
    assert said(laptop, "bfloat16").endswith(
        "has 16.0; choose a smaller model, a host with more memory, or a server that holds it (--server)"
    )
    assert "int4 on a host with 3 devices like that" in said([Slot("gpu0", "0", 24.0, "L4")], "bfloat16")
    assert "there is no device cuda:9 here; there is cuda:0, cuda:1, cuda:2, cuda:3" in said(four, "float32", "cuda:9")
    check_fits("indexed", four, dtype="bfloat16", device="", needs_gib=needs)
