"""From a click in the menu to the first useful paint: `python -m tests.benchmarks.pages [KIND …] [PAGE …]`.

warm   one server that has shown every page once: ten clicks on each page; p50 and p95 of the seconds in the browser
cold   a fresh server for each page, which has shown the first page (Learn, for the first page itself) and nothing else
still  as cold, but the page is opened by its address, three times: the script runs and the seconds until it shows all
       of its figures and no script runs

Without a kind: warm and cold. The runs are the ones that ship. Processor time is that of the server's process, from the
click until its script has ended (still: until the page is still). A paint is useful once the page's heading and its
figure are drawn (``tests.browser.test_pages.FIGURES``).
"""

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import psutil
from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from app.navigation import MENU, PAGES, PageEntry
from tests.browser.conftest import FLAGS, server
from tests.browser.script_runs import ScriptRuns
from tests.browser.test_pages import FIGURES

KINDS = ("warm", "cold", "still")
CLICKS = 10
VISITS = 3
SEEN_WITHIN_MS = 60_000
IMPORTED_MS = 4_000
"""After the first page has been painted, the server imports what the others need."""
ARM = """([figure, last, within]) => {
  const drawn = () => {
    const hosts = document.querySelectorAll('[data-testid^=stBidiComponent]');
    const roots = [document, ...[...hosts].map(one => one.shadowRoot).filter(Boolean)];
    return figure.split(', ').flatMap(one => {
      const [, css, text] = one.match(/^(.*):has-text\\('(.*)'\\)$/) ?? [null, one, ''];
      return roots.flatMap(root => [...root.querySelectorAll(css)]).filter(each => each.textContent.includes(text));
    });
  };
  const old = new Set(drawn());
  let begun = null;
  window.useful = new Promise((done, failed) => {
    setTimeout(() => {
      const app = document.querySelector('.stApp');
      const computing = [...document.querySelectorAll('.computing')].map(one => one.textContent);
      failed(new Error(`waited for a new ${figure}; ${JSON.stringify({
        address: location.pathname, heading: document.querySelector('h1')?.textContent, clicked: begun !== null,
        figures: drawn().length, of_them_old: drawn().filter(one => old.has(one)).length,
        script: app?.dataset.testScriptState, connection: app?.dataset.testConnectionState, computing,
      })}`));
    }, within);
    document.addEventListener('click', event => begun = event.timeStamp, { capture: true, once: true });
    const look = () => {
      const heading = document.querySelector('h1');
      const there = heading && heading.textContent !== last && drawn().some(one => !old.has(one));
      if (begun !== null && there) requestAnimationFrame(() => done((performance.now() - begun) / 1000));
      else requestAnimationFrame(look);
    };
    look();
  });
}"""
"""Before the click: remembers what is drawn, and counts the seconds from the click to the frame after a new figure."""
IDLE = "document.querySelector('.stApp[data-test-script-state=notRunning]') !== null"


def main() -> None:
    """Measure what the command line asks for."""
    words = sys.argv[1:]
    entries = [entry for entry in PAGES if entry.name in words] or list(PAGES)
    kinds = [kind for kind in KINDS if kind in words] or ["warm", "cold"]
    unknown = set(words) - set(KINDS) - {entry.name for entry in PAGES}
    if unknown:
        sys.exit(f"there is no page {', '.join(sorted(unknown))}")
    if kinds != ["still"]:
        print(f"{'page':<14}{'p50, s':>8}{'p95, s':>8}{'server, processor s':>22}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        if "warm" in kinds:
            warm(browser, entries)
        if "cold" in kinds:
            cold(browser, entries)
        if "still" in kinds:
            still(browser, entries)
        browser.close()


def warm(browser: Browser, entries: list[PageEntry]) -> None:
    """Ten clicks on each page, in the order of the menu, on a server that has shown each once."""
    with tempfile.TemporaryDirectory() as folder, server(Path(folder) / "home") as address:
        order = entries if len(entries) > 1 else [*(entry for entry in PAGES[:2] if entry not in entries), *entries]
        page = _opened(browser, address, order[-1])  # each click leads to another page
        measured: dict[str, list[tuple[float, float]]] = {entry.name: [] for entry in entries}
        for turn in range(CLICKS + 1):
            for entry in order:
                taken = _clicked(page, entry)
                if turn and entry.name in measured:
                    measured[entry.name].append(taken)
        for name, values in measured.items():
            _tell(name, "warm", values)
        page.close()


def cold(browser: Browser, entries: list[PageEntry]) -> None:
    """One click on each page, on a server of its own."""
    for entry in entries:
        with tempfile.TemporaryDirectory() as folder, server(Path(folder) / "home") as address:
            page = _opened(browser, address, PAGES[0] if entry is not PAGES[0] else PAGES[1])
            _tell(entry.name, "cold", [_clicked(page, entry)])
            page.close()


def still(browser: Browser, entries: list[PageEntry]) -> None:
    """Three first visits of each page, each on a new server."""
    print(f"{'page':<14}{'script runs':>14}{'still after, s':>16}{'server, processor s':>22}")
    for entry in entries:
        visits = [_still(browser, entry) for _ in range(VISITS)]
        runs = "/".join(str(count) for count, _, _ in visits)
        _, seconds, processor = np.median(visits, axis=0)
        print(f"{entry.name:<14}{runs:>14}{seconds:>16.2f}{processor:>22.2f}  still", flush=True)


def _still(browser: Browser, entry: PageEntry) -> tuple[int, float, float]:
    """The script runs, the seconds and the server's processor time of a first visit."""
    with tempfile.TemporaryDirectory() as folder, server(Path(folder) / "home") as address:
        first = _opened(browser, address, PAGES[0] if entry is not PAGES[0] else PAGES[1])
        first.wait_for_timeout(IMPORTED_MS)
        first.close()
        page = browser.new_page(bypass_csp=True, viewport={"width": 1440, "height": 900})
        used, runs = processor_time(), ScriptRuns(page)
        seconds = runs.until_still(address if entry is PAGES[0] else f"{address}/{entry.name}")
        page.close()
        return len(runs.runs), seconds, processor_time() - used


def _opened(browser: Browser, address: str, entry: PageEntry) -> Page:
    page = browser.new_page(bypass_csp=True, viewport={"width": 1440, "height": 900})
    page.set_default_timeout(SEEN_WITHIN_MS)
    page.goto(address if entry is PAGES[0] else f"{address}/{entry.name}")
    page.locator(FIGURES[entry.name]).first.wait_for()
    page.wait_for_function(IDLE)
    return page


def _clicked(page: Page, entry: PageEntry) -> tuple[float, float]:
    """The seconds to the first useful paint, and the server's processor time until its script has ended."""
    used = processor_time()
    group = next(group for group, entries in MENU.items() if entry in entries)
    page.get_by_test_id("stTopNavSection").filter(has_text=group).click()
    link = page.get_by_test_id("stTopNavDropdownLink").filter(has_text=entry.title)
    link.wait_for()
    before = page.get_by_role("heading", level=1).inner_text()
    page.evaluate(ARM, [FIGURES[entry.name], before, SEEN_WITHIN_MS])
    link.click()
    try:
        seconds = page.evaluate("window.useful")
    except PlaywrightError as error:
        within = SEEN_WITHIN_MS // 1000
        sys.exit(f"from “{before}” to “{entry.title}”: nothing useful was painted within {within} s. {error.message}")
    page.wait_for_function(IDLE)
    return seconds, processor_time() - used


def processor_time() -> float:
    """Seconds of processor that the server, a child of this process, has used."""
    spent = [child.cpu_times() for child in psutil.Process().children() if "app" in child.cmdline()]
    return sum(times.user + times.system for times in spent)


def _tell(name: str, kind: str, values: list[tuple[float, float]]) -> None:
    seconds, processor = np.array(values).T
    row = f"{np.percentile(seconds, 50):>8.2f}{np.percentile(seconds, 95):>8.2f}{np.median(processor):>22.2f}"
    print(f"{name:<14}{row}  {kind}", flush=True)


if __name__ == "__main__":
    main()
