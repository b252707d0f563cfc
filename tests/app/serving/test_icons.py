"""Pages load a font with the icons that are used in place of Streamlit's font with all icons."""

import re
from importlib import resources
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app.serving import icons
from core.settings import ROOT

pytestmark = pytest.mark.quick

STREAMLIT = Path(str(resources.files("streamlit")))
PAGE = (STREAMLIT / "static" / "index.html").read_text("utf-8")
NAMES = set((ROOT / "assets" / "fonts" / "icons.txt").read_text("utf-8").split())
ICON = re.compile(r":material/([a-z0-9_]+)")
NO_ICONS = {"icon_name", "star_filled"}
"""An example in a docstring, and a name that Streamlit's own font lacks too."""


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=icons.routes("")))


def used(folder: Path, *endings: str) -> set[str]:
    paths = [path for path in folder.rglob("*") if path.suffix in endings]
    return {name for path in paths for name in ICON.findall(path.read_text("utf-8"))}


def test_the_font_has_every_icon_that_hedge_and_streamlit_use() -> None:
    hedge = {name for folder in ("app", "pages", "charts", "core") for name in used(ROOT / folder, ".py", ".js")}
    assert len(hedge) >= 10
    assert hedge <= NAMES
    assert used(STREAMLIT, ".py", ".js") - NO_ICONS <= NAMES


def test_a_page_gets_streamlits_style_with_the_smaller_font(client: TestClient) -> None:
    path = re.findall(r'href="(/icons/.*?)"', icons.with_our_icons(PAGE))
    assert len(path) == 1
    response = client.get(path[0])
    assert "immutable" in response.headers["cache-control"]
    (font,) = re.findall(r"icons-\w+\.woff2", response.text)
    assert client.get(f"/icons/{font}").content == icons.FONT.read_bytes()
    (original,) = (STREAMLIT / "static" / "static" / "css").glob("index.*.css")
    assert icons.ALL_ICONS.sub(font, original.read_text("utf-8")) == response.text.replace(
        "../static/media", "../media"
    )
    for media in re.findall(r"\.\./static/media/[\w.-]+", response.text):
        assert (STREAMLIT / "static" / media[3:]).is_file()
    for other in ("icons.woff2", "icons.txt", "..%2Ficons.txt", "style-0000000000000000.css"):
        assert client.get(f"/icons/{other}").status_code == 404


def test_another_page_and_another_version_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    assert icons.with_our_icons("<head></head>") == "<head></head>"
    monkeypatch.setattr(icons, "MADE_FOR", "1.66.0")
    assert icons.with_our_icons(PAGE) == PAGE
