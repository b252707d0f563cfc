"""Proxies, a network's own certificates, and the hub's token, with servers on this machine."""

import logging
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from core.errors import InputError
from core.shelf.bring import bring
from core.shelf.entries import entry
from core.shelf.own_links import of_link
from tests import needs
from tests.core.shelf.mirror import Mirror, serving
from tests.core.shelf.test_own_links import CSV

NOBODY = "http://127.0.0.1:9"
"""An address where no server is."""
HOST = "files.example.org"
TOKEN = "hf_" + "SecretSecretSecret"


def test_a_proxy_is_asked_and_no_proxy_is_respected(made_up: Mirror, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HEDGE_SHELF_MIRROR", NOBODY)
    monkeypatch.setenv("HTTP_PROXY", made_up.url)
    monkeypatch.setenv("http_proxy", made_up.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(InputError, match=r"127.0.0.1 can't be reached"):
        bring(entry("made-up"))
    assert made_up.requests == []
    monkeypatch.delenv("NO_PROXY")
    assert len(bring(entry("made-up")).runs) == 2
    assert all(address.startswith(f"{NOBODY}/some/release/") for address, _ in made_up.requests)


@pytest.fixture
def authority(tmp_path: Path) -> tuple[Path, ssl.SSLContext]:
    """A network's own authority: its certificate, and what a server of :data:`HOST` needs."""
    if shutil.which("openssl") is None:
        needs.missing("openssl")
    key, own, request, signed = (tmp_path / name for name in ("ca.key", "ca.pem", "host.csr", "host.pem"))
    host_key, names = tmp_path / "host.key", tmp_path / "names"
    names.write_text(f"subjectAltName=DNS:{HOST}")
    new = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    sign = ["openssl", "x509", "-req", "-days", "2"]
    for command in (
        [*new, "-x509", "-days", "2", "-subj", "/CN=Test authority", "-keyout", key, "-out", own],
        [*new, "-subj", f"/CN={HOST}", "-keyout", host_key, "-out", request],
        [*sign, "-in", request, "-CA", own, "-CAkey", key, "-CAcreateserial", "-extfile", names, "-out", signed],
    ):
        subprocess.run(command, check=True, capture_output=True, timeout=60)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(signed, host_key)
    return own, context


def test_https_goes_through_the_proxy_and_a_networks_own_authority_is_trusted(
    mirror: Mirror, authority: tuple[Path, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
):
    own, context = authority
    monkeypatch.setenv("HTTPS_PROXY", mirror.url)
    monkeypatch.setenv("https_proxy", mirror.url)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with serving(context) as secure:
        secure.files["/scores.csv"] = CSV
        mirror.tunnel = int(secure.url.rpartition(":")[2])
        link = f"https://{HOST}/scores.csv"
        with pytest.raises(InputError, match=f"the certificate of {HOST} is not trusted.*SSL_CERT_FILE"):
            bring(of_link(link))
        assert secure.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(own))
        assert len(bring(of_link(link)).runs) == 1
        assert sum(secure.sent.values()) == len(CSV)
    assert {address for address, _ in mirror.requests} == {f"{HOST}:443"}


def test_the_hubs_token_goes_to_the_hub_alone_and_is_written_nowhere(
    made_up: Mirror,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
):
    """The hub redirects to its storage on another host, as it does for large files."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with serving() as hub, serving() as storage:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        for server in (hub, storage):
            server.add_to_hub("some/data", "scores.csv", CSV)
        hub.storage = storage.url
        assert len(bring(of_link("some/data")).runs) == 1
        bring(entry("made-up"))
        with pytest.raises(InputError) as caught:
            bring(of_link("some/nothing"))
    assert sum(storage.sent.values()) == len(CSV)
    assert any(TOKEN in head for head in hub.heads)
    assert storage.heads
    assert made_up.heads
    assert not any(TOKEN in head for head in [*storage.heads, *made_up.heads])
    printed = capfd.readouterr()
    for text in (str(caught.value), repr(caught.value.__cause__), caplog.text, printed.out, printed.err):
        assert TOKEN not in text
    files = [path for path in home.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert [path for path in files if TOKEN.encode() in path.read_bytes()] == []
