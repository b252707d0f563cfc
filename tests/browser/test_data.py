"""The drop zone in a real browser: a folder that is dropped keeps its name, and its runs are imported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor, server


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home: Path = tmp_path_factory.mktemp("data") / "home"
    home.mkdir()
    with server(home, agent=False) as url:
        yield url


def samples(folder: Path) -> Path:
    """A folder as lm-eval writes it, which is named for the model."""
    folder.mkdir()
    rows = [
        {
            "doc_id": i,
            "doc": {"question": f"Which is {i}?"},
            "target": str(i % 2),
            "arguments": [[f"Which is {i}?", " this"], [f"Which is {i}?", " that"]],
            "resps": [[[-0.2, True]], [[-1.7 - 0.01 * i, False]]],
            "filtered_resps": [[-0.2, True], [-1.7 - 0.01 * i, False]],
            "acc": float(i % 2 == 0),
        }
        for i in range(40)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "samples_mine_2026-01-01T00-00-00.000000.jsonl").write_text(lines, encoding="utf-8")
    return folder


def drop(page: Page, path: Path) -> None:
    """Drop a file or a folder onto the drop zone, as a person does with the mouse."""
    zone = page.get_by_test_id("stFileUploaderDropzone")
    expect(zone).to_be_visible()
    box = zone.bounding_box()
    assert box is not None
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    session = page.context.new_cdp_session(page)
    for step in ("dragEnter", "dragOver", "drop"):
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        session.send("Input.dispatchDragEvent", {"type": step, **place, "data": data})
    session.detach()


def test_a_dropped_folder_keeps_its_name_and_is_imported(visit: Visitor, address: str, tmp_path: Path):
    page = visit(address).open("/data")
    drop(page, samples(tmp_path / "org__model-x"))
    expect(page.get_by_text("org__model-x/samples_mine").first).to_be_visible()
    page.get_by_role("button", name="Import 1 run").click()
    opened = page.get_by_role("link", name="model-x").or_(page.get_by_role("button", name="model-x"))
    expect(opened.first).to_be_visible()
