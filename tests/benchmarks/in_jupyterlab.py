"""The notebook page of the documentation in JupyterLab itself:

    python -m venv /tmp/jl && /tmp/jl/bin/pip install jupyterlab anywidget
    python -m tests.benchmarks.in_jupyterlab /tmp/jl [--into DIR] [--keep]

JupyterLab is not one of Hedge's requirements, so it has an environment of its own; its kernel finds Hedge and the
packages of the Python that runs this command. Every block of code on the page becomes a cell, all cells run, and the
first lab is dragged as a person would drag it. Raises where a cell fails, where the figures do not follow, or where
``lab.alpha`` in Python is not the alpha in the browser. Pictures of the lab in the light and the dark theme, at four
widths, are left in DIR. ``--keep`` leaves JupyterLab open until Enter is pressed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

from core.settings import ROOT
from tests.browser.conftest import FLAGS

PAGE = ROOT / "docs" / "text" / "notebook.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SEEN_WITHIN_MS = 90_000
MIDDLE = 700, 500
WIDTHS = (1440, 1280, 900, 390)
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}


def main() -> None:
    """Run the page's cells, drag alpha, and take the pictures."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.in_jupyterlab", description=__doc__)
    parser.add_argument("environment", type=Path, help="an environment with jupyterlab and anywidget")
    parser.add_argument("--into", type=Path, default=Path("jupyterlab"), help="the folder of the pictures")
    parser.add_argument("--keep", action="store_true", help="leave JupyterLab open until Enter is pressed")
    arguments = parser.parse_args()
    arguments.into.mkdir(parents=True, exist_ok=True)
    print(version(arguments.environment))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder)
        (home / "page.ipynb").write_text(json.dumps(notebook(PAGE.read_text(encoding="utf-8"))))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": WIDTHS[0], "height": 1000})
        page.set_default_timeout(SEEN_WITHIN_MS)
        expect.set_options(timeout=SEEN_WITHIN_MS)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        news = page.get_by_role("button", name="No", exact=True)  # JupyterLab asks whether it may fetch news
        page.add_locator_handler(news, lambda button: button.click())
        with jupyterlab(arguments.environment, home) as address:
            try:
                ran(page, f"{address}/lab/tree/page.ipynb")
                dragged(page)
                pictures(page, arguments.into)
            except BaseException:
                page.screenshot(path=arguments.into / "failed.png")
                raise
            finally:
                if arguments.keep:
                    input(f"{address}/lab/tree/page.ipynb; press Enter to end ")
        browser.close()
    print("the page's errors:", errors or "none")


def version(environment: Path) -> str:
    """What was tried."""
    names = "jupyterlab", "anywidget", "ipywidgets", "ipykernel"
    code = f"from importlib.metadata import version as v; print(*(f'{{n}} {{v(n)}}' for n in {names}), sep=', ')"
    return subprocess.check_output([environment / "bin" / "python", "-c", code], text=True).strip()


def notebook(text: str) -> dict[str, object]:
    """The page as a notebook: a cell for each block of code."""
    last = "print('alpha in Python is', lab.alpha)\n"
    cells = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "execution_count": None, "outputs": [], "source": block}
        for i, block in enumerate([*BLOCK.findall(text), last])
    ]
    kernel = {"name": "hedge", "display_name": "Hedge", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


@contextmanager
def jupyterlab(environment: Path, home: Path) -> Iterator[str]:
    """JupyterLab's address; its kernel, and not the server, sees Hedge and the packages of this Python."""
    kernel = home / "data" / "kernels" / "hedge"
    kernel.mkdir(parents=True)
    seen = os.pathsep.join([str(ROOT), *(path for path in sys.path if path.endswith("site-packages"))])
    told = {
        "argv": [str(environment / "bin" / "python"), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Hedge",
        "language": "python",
        "env": {"PYTHONPATH": seen, "HEDGE_HOME": str(home / "hedge")},
    }
    (kernel / "kernel.json").write_text(json.dumps(told))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    options = [f"--port={port}", "--no-browser", "--allow-root", f"--ServerApp.root_dir={home}"]
    options += ["--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True"]
    with (home / "server.log").open("w") as log:
        server = subprocess.Popen(
            [environment / "bin" / "jupyter", "lab", *options], env={**os.environ, **own}, stdout=log, stderr=log
        )
    try:
        address = f"http://127.0.0.1:{port}"
        while server.poll() is None and not answers(address):
            time.sleep(0.2)
        if server.poll() is not None:
            raise SystemExit((home / "server.log").read_text())
        start_kernel(address)
        yield address
    finally:
        server.terminate()
        server.wait()


def start_kernel(address: str) -> None:
    """The notebook's kernel, so that JupyterLab does not ask for one."""
    session = {"path": "page.ipynb", "name": "page", "type": "notebook", "kernel": {"name": "hedge"}}
    request = urllib.request.Request(f"{address}/api/sessions", json.dumps(session).encode())
    urllib.request.urlopen(request, timeout=60).close()


def answers(address: str) -> bool:
    with suppress(OSError):
        return bool(urllib.request.urlopen(f"{address}/api", timeout=2).status == 200)
    return False


def ran(page: Page, address: str) -> None:
    """All cells have run and none of them failed."""
    page.goto(address)
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    cells.first.wait_for()
    page.get_by_text("Hedge | Idle").wait_for()
    page.get_by_role("menuitem", name="Run").click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    # "[n]:" stands beside every cell that has run; cells out of sight are not in the page.
    page.get_by_text("Hedge | Busy").wait_for()
    page.get_by_text("Hedge | Idle").wait_for()
    for cell in range(len(BLOCK.findall(PAGE.read_text(encoding="utf-8"))) + 1):
        shown = page.locator(f".jp-CodeCell[data-windowed-list-index='{cell}']")
        scrolled_to(page, shown)
        expect(shown.locator(".jp-InputPrompt").first).to_have_text(f"[{cell + 1}]:")
        expect(shown.locator("[data-mime-type*=stderr], [data-mime-type*=error]")).to_have_count(0)


def scrolled_to(page: Page, shown: Locator) -> None:
    """Turn the wheel over the notebook until JupyterLab has put the element into the page."""
    page.mouse.move(*MIDDLE)
    for way in (500, -500):
        for _ in range(40):
            if shown.count():
                shown.scroll_into_view_if_needed()
                return
            page.mouse.wheel(0, way)
            page.wait_for_timeout(100)
    raise AssertionError(f"the notebook shows no {shown}")


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="alpha").first


def dragged(page: Page) -> None:
    """Alpha is dragged, the figures follow the pointer, and Python hears what was released."""
    scrolled_to(page, slider(page))
    size = page.locator("article[data-score=lac] [data-figure=meanSize]").first
    before = size.inner_text()
    box = slider(page).bounding_box()
    assert box is not None
    height = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.05, height)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, height, steps=20)
    expect(size).not_to_have_text(before)
    page.mouse.up()
    alpha = int(slider(page).input_value()) / 1000
    told = page.locator(".jp-CodeCell", has_text="alpha in Python is").first
    scrolled_to(page, told)
    told.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(told.locator(".jp-OutputArea")).to_contain_text(f"{alpha:g}")
    scrolled_to(page, slider(page))  # JupyterLab took the lab out of the page meanwhile
    expect(slider(page)).to_have_value(str(round(1000 * alpha)))
    print(f"mean LAC set size {before} -> {size.inner_text()} at alpha {alpha:g}, in the browser and in Python")


def pictures(page: Page, into: Path) -> None:
    """The lab in both themes at every width, without JupyterLab's file list."""
    page.keyboard.press("Control+B")
    for theme, name in THEMES.items():
        page.set_viewport_size({"width": WIDTHS[0], "height": 1000})
        page.get_by_role("menuitem", name="Settings").click()
        for label in ("Theme", name):
            page.locator(".lm-Menu-itemLabel").get_by_text(label, exact=True).click()
        page.locator(f"body[data-jp-theme-light={str(theme == 'light').lower()}]").wait_for(state="attached")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 1000})
            scrolled_to(page, slider(page))
            page.wait_for_timeout(1_500)
            page.screenshot(path=into / f"{theme}_{width}.png")
            page.mouse.move(width / 2, 500)
            page.mouse.wheel(0, 900)
            page.wait_for_timeout(1_000)
            page.screenshot(path=into / f"{theme}_{width}_below.png")


if __name__ == "__main__":
    main()
