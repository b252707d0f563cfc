"""The lab's widget in a page with the little that anywidget asks of a host: alpha drags, and figures are Python's."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

import hedge
from core.reports.array_evaluation import of_arrays
from core.reports.evaluation import load
from core.reports.report import report
from tests.browser.conftest import NOT_TOO_WIDE, Lab, eventually, holds, still
from tests.conftest import synthetic_run

HOST = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Notebook</title>
<body data-jp-theme-light="LIGHT"><div id="cell"></div>
<script type="module">
const traits = TRAITS;
const heard = {};
const model = {
  get: (name) => traits[name],
  set: (name, value) => { traits[name] = value; heard[`change:${name}`]?.forEach((listen) => listen()); },
  save_changes: () => { document.body.dataset.saved = traits.alpha; },
  on: (event, listen) => (heard[event] ??= []).push(listen),
  off: (event, listen) => { heard[event] = heard[event].filter((one) => one !== listen); },
};
const url = URL.createObjectURL(new Blob([ESM], { type: "text/javascript" }));
const el = document.createElement("div");
const close = (await import(url)).default.render({ model, el }); // as a notebook does, before it is in the page
document.getElementById("cell").append(el);
Object.assign(window, { model, heard, close });
</script></body></html>"""


def page_of(widget, *, theme: str) -> str:
    traits = {name: getattr(widget, name) for name in ("data", "page", "themes", "alpha")}
    values = {"LIGHT": json.dumps(theme == "light"), "TRAITS": json.dumps(traits), "ESM": json.dumps(widget._esm)}
    return re.sub("LIGHT|TRAITS|ESM", lambda match: values[match[0]].replace("</", "<\\/"), HOST)


def test_alpha_drags_and_figures_are_pythons(browser: BrowserContext, home: Path, tmp_path: Path):
    run = load(synthetic_run(300))
    widget = hedge.lab(run.probabilities, run.labels, calibration=run.calibration, alpha=0.2)
    expected = of_arrays(run.probabilities, run.labels, calibration=run.calibration)
    path = tmp_path / "notebook.html"
    path.write_text(page_of(widget, theme="dark"))
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    browser.set_offline(True)

    def figures_are_pythons(lab: Lab) -> None:
        eventually(page, lambda: equal(lab))

    def equal(lab: Lab) -> None:
        expected_report = report(expected, lab.thousandths())
        for name, figures in expected_report.scores.items():
            assert lab.value(name, "threshold") == figures.threshold
            assert lab.value(name, "coverage") == figures.coverage
            assert lab.value(name, "meanSize") == figures.mean_set_size
            assert lab.figures()[f"{name} meanSize"][1] == f"{figures.mean_set_size:.2f}"

    try:
        page.set_viewport_size({"width": 900, "height": 900})
        page.goto(path.as_uri())
        lab = Lab(page).ready()
        lab.expect_alpha(200)
        figures_are_pythons(lab)
        box = still(lab.alpha)
        page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2, steps=5)
        eventually(page, lambda: not 250 < lab.thousandths() < 350)
        figures_are_pythons(lab)
        page.mouse.up()
        expect(page.locator("body")).to_have_attribute("data-saved", str(lab.thousandths() / 1000))
        page.evaluate("model.set('alpha', 0.05)")
        lab.expect_alpha(50)
        figures_are_pythons(lab)
        frame = page.locator("#cell > div > div")
        dark = widget.themes["dark"]["--st-background-color"]
        assert frame.evaluate("(el) => el.style.getPropertyValue('--st-background-color')") == dark
        assert len(page.screenshot(path=str(tmp_path / "dark.png"))) > 20_000
        page.evaluate("document.body.dataset.jpThemeLight = 'true'")
        expect(frame).to_have_css("color-scheme", "light")
        holds(page, NOT_TOO_WIDE)
        assert len(page.screenshot(path=str(tmp_path / "light.png"))) > 20_000
        page.evaluate("close()")
        assert page.evaluate("heard['change:alpha'].length") == 0
    finally:
        browser.set_offline(False)
        page.close()
    assert errors == []


@pytest.mark.parametrize("alpha", [0, 0.12345])
def test_an_alpha_that_is_none_is_refused(home: Path, alpha: float):
    widget = hedge.lab([[0.9, 0.1], [0.2, 0.8]], [0, 1])
    with pytest.raises(Exception, match="alpha"):
        widget.alpha = alpha
    assert widget.alpha == 0.1
