"""Files whose address names their content are sent compressed, once for all, and nothing else is."""

import gzip
from collections.abc import Mapping
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from app.serving import bundle_files, compression
from app.serving.compression import StaticCompression
from charts.bundles import BUNDLES

pytestmark = pytest.mark.quick

FOR_GOOD = {"cache-control": "public, immutable, max-age=31536000"}
TEXT = "let a = 1;\n" * 200
GZIP = {"accept-encoding": "gzip, deflate"}
PLAIN = {"accept-encoding": "identity"}


class Served:
    """A small app behind the middleware; ``asked`` are the paths that reached it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        routes = [Route("/{name}", self.answer), *bundle_files.routes("")]
        self.client = TestClient(Starlette(routes=routes, middleware=[Middleware(StaticCompression)]))

    async def answer(self, request: Request) -> Response:
        name = request.path_params["name"]
        self.asked.append(name)
        headers = {} if name.startswith("changing") else FOR_GOOD | {"set-cookie": "session=secret", "etag": '"1"'}
        kind = "font/woff2" if name.endswith("woff2") else "text/javascript"
        return Response("x" if name.startswith("tiny") else TEXT, headers=headers, media_type=kind)

    def get(self, path: str, headers: Mapping[str, str] = GZIP) -> tuple[Response, bytes]:
        """The answer and its bytes as they were sent."""
        with self.client.stream("GET", path, headers=headers) as response:
            return response, b"".join(response.iter_raw())


@pytest.fixture
def served() -> Served:
    return Served()


def test_a_file_that_never_changes_is_compressed_once(served: Served) -> None:
    for _ in range(3):
        response, sent = served.get("/a.js")
        assert response.headers["content-encoding"] == "gzip"
        assert gzip.decompress(sent).decode() == TEXT
        assert response.headers["content-length"] == str(len(sent))
        assert response.headers["vary"] == "accept-encoding"
        assert response.headers["cache-control"] == FOR_GOOD["cache-control"]
        assert "etag" not in response.headers
    assert served.asked == ["a.js"]


def test_nobody_gets_the_cookie_of_another(served: Served) -> None:
    assert all("set-cookie" not in served.get("/a.js")[0].headers for _ in range(2))


@pytest.mark.parametrize("name", ["changing.js", "tiny.js", "font.woff2"])
def test_other_answers_stay_as_they_are(served: Served, name: str) -> None:
    for _ in range(2):
        response, sent = served.get(f"/{name}")
        assert "content-encoding" not in response.headers
        assert len(sent) == int(response.headers["content-length"])
    assert served.asked == [name, name]


@pytest.mark.parametrize(
    "headers", [PLAIN, {"accept-encoding": "gzip;q=0, br"}, {"accept-encoding": "xgzip"}, GZIP | {"range": "bytes=0-9"}]
)
def test_a_client_that_cannot_take_it_gets_the_plain_file(served: Served, headers: dict[str, str]) -> None:
    served.get("/a.js")
    response, sent = served.get("/a.js", headers)
    assert "content-encoding" not in response.headers
    assert sent.decode() == TEXT


def test_the_memory_is_bounded(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "MOST_FILES", 2)
    for name in ("a.js", "b.js", "a.js", "c.js", "a.js", "b.js"):
        served.get(f"/{name}")
    assert served.asked == ["a.js", "b.js", "c.js", "b.js"]


@pytest.mark.parametrize("path", ["/./a.js", "/x//a.js", "/x/../a.js", "/%2e/a.js"])
def test_another_way_to_write_a_path_takes_no_memory(path: str) -> None:
    compressing = StaticCompression(Response(TEXT, headers=FOR_GOOD, media_type="text/javascript"))
    for asked in ("/a.js", path):
        response = TestClient(compressing, base_url="http://x").get(f"http://x{asked}", headers=GZIP)
        assert response.text == TEXT
    assert list(compressing.answers) == ["/a.js"]


def test_a_bundle_is_a_file_for_good_and_no_other_file_can_be_asked_for(served: Served) -> None:
    response, sent = served.get(bundle_files.address("jury.js"))
    assert gzip.decompress(sent) == (BUNDLES / "jury.js").read_bytes()
    assert "immutable" in response.headers["cache-control"]
    for name in ("jury.js", "jury-0000000000000000.js", "..%2F..%2Fconfig.toml", "%00"):
        assert served.get(f"/bundles/{name}")[0].status_code == 404


def test_browsers_do_not_keep_a_bundle_that_an_update_has_replaced(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = bundle_files.address("jury.js")
    served.get(bundle_files.address("jury.css"))
    monkeypatch.setattr(bundle_files, "BUNDLES", tmp_path)
    (tmp_path / "jury.js").write_text(TEXT)
    response, sent = served.get(address)
    assert (sent.decode(), response.headers["cache-control"]) == (TEXT, "no-store")
