"""The static report in a browser that has no network: alpha drags, and every figure is the report's."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from charts import static_report
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import load
from tests.browser.conftest import NOT_TOO_WIDE, Lab, holds, still
from tests.conftest import synthetic_run


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_alpha_drags_offline_and_figures_are_pythons(browser: BrowserContext, home: Path, tmp_path: Path, theme: str):
    names = [synthetic_run(300, seed=i, model=f"model-{i}") for i in range(2)]
    path = tmp_path / "report.html"
    path.write_bytes(static_report.report_html([load(name) for name in names], SetRule()))
    page = browser.new_page()
    errors: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("request", lambda request: asked.append(request.url))
    browser.set_offline(True)
    try:
        page.set_viewport_size({"width": 900, "height": 900})
        page.emulate_media(color_scheme=theme)
        page.goto(path.as_uri())
        lab = Lab(page).ready()
        lab.expect_alpha(100)
        lab.expect_report(names[0])
        lab.alpha.scroll_into_view_if_needed()
        box = still(lab.alpha)
        page.mouse.move(box["x"] + box["width"] * 0.1, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2, steps=5)
        page.mouse.up()
        assert 250 < lab.thousandths() < 350
        lab.expect_report(names[0])
        page.get_by_label("Run").select_option("1")
        lab.ready()
        lab.expect_report(names[1])
        expect(page.get_by_role("button", name="Present", exact=True)).to_have_count(0)
        holds(page, NOT_TOO_WIDE)
        assert len(page.screenshot(path=str(tmp_path / f"{theme}.png"))) > 20_000
    finally:
        browser.set_offline(False)
        page.close()
    assert errors == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
