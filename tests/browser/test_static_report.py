"""The static report and figures as files in a browser without a network: alpha drags, and names are no script."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from charts import static_report
from charts.figure_files import figures
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import load
from core.runs import store
from tests.browser.conftest import NOT_TOO_WIDE, Lab, eventually, holds, still
from tests.browser.hostile import HOSTILE
from tests.conftest import synthetic_questions, synthetic_run

BACKGROUND = "getComputedStyle(document.body).backgroundColor"


def test_alpha_drags_offline_and_figures_are_pythons(browser: BrowserContext, home: Path, tmp_path: Path):
    names = [synthetic_run(300, seed=i, model=f"model-{i}<img class=planted src=//e.vil/m.png>") for i in range(2)]
    questions = [replace(q, question=HOSTILE) for q in synthetic_questions(300, seed=0)]
    store.write_questions(store.folder_of(names[0]), questions, ["calibration"] * 150 + ["test"] * 150)
    path = tmp_path / "report.html"
    path.write_bytes(static_report.report_html([load(name) for name in names], SetRule()))
    page = browser.new_page()
    errors: list[str] = []
    urls: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: urls.append(request.url))
    browser.set_offline(True)
    try:
        page.set_viewport_size({"width": 900, "height": 900})
        page.emulate_media(color_scheme="light")
        page.goto(path.as_uri())
        alpha_drags(page, names)
        eventually(page, lambda: page.locator(".planted, [href*='e.vil'], [src*='e.vil']").count())
        expect(page).not_to_have_title("caught")
        light = page.evaluate(BACKGROUND)
        page.emulate_media(color_scheme="dark")
        eventually(page, lambda: page.evaluate(BACKGROUND) == light)
        holds(page, NOT_TOO_WIDE)
        assert len(page.screenshot(path=str(tmp_path / "dark.png"))) > 20_000
    finally:
        browser.set_offline(False)
        page.close()
    assert errors == []
    assert [url for url in urls if not url.startswith(("file:", "data:", "blob:"))] == []
    assert not re.search(r"<(img|script|a)[^>]*planted", path.read_text(encoding="utf-8"))


def alpha_drags(page: Page, names: list[str]) -> None:
    lab = Lab(page).ready()
    lab.expect_alpha(100)
    lab.expect_report(names[0])
    expect(page.locator(".asked").first).to_have_text(HOSTILE)
    lab.alpha.scroll_into_view_if_needed()
    box = still(lab.alpha)
    page.mouse.move(box["x"] + box["width"] * 0.1, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    eventually(page, lambda: not 250 < lab.thousandths() < 350)
    lab.expect_report(names[0])
    page.get_by_label("Run").select_option("1")
    lab.ready()
    lab.expect_report(names[1])
    expect(page.get_by_role("button", name="Present", exact=True)).to_have_count(0)


@pytest.mark.parametrize("name", ["reliability", "radar"])
def test_a_figure_is_drawn_under_its_policy_and_names_are_no_script(
    browser: BrowserContext, home: Path, tmp_path: Path, name: str
):
    attack = f"{HOSTILE}</SCRIPT><script class=planted>document.title='caught'</script><!--<script>"
    runs = [load(synthetic_run(300, seed=i, model=f"model-{i}{attack}")) for i in range(2)]
    (figure,) = figures([name], runs)
    (page_file, drawing) = (tmp_path / "figure.html", tmp_path / "figure.svg")
    page_file.write_bytes(figure.html())
    drawing.write_bytes(figure.svg())
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    browser.set_offline(True)
    try:
        for path in (page_file, drawing):
            page.goto(path.as_uri())
            expect(page.locator("svg path").nth(10)).to_be_attached()
            assert page.locator(".planted, [href*='e.vil'], [src*='e.vil']").count() == 0
            assert page.evaluate("document.title") == figure.drawing.title
    finally:
        browser.set_offline(False)
        page.close()
    assert errors == []
