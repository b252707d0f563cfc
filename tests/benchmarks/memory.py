"""The memory of Hedge's processes: `python -m tests.benchmarks.memory [--idle MINUTES]`.

A server in a fresh home, and Chromium, which opens every page once and asks one typed question. Then the memory
of each kind of process (PSS: what it alone has, and its share of what it has with others), and of all: while the last
page is open, and once it has been closed for the idle time, 10 minutes by default.
"""

import argparse
import re
import shutil
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psutil
from playwright.sync_api import Page, expect, sync_playwright

from app.navigation import PAGES
from core.runs.spec import RunSpec
from tests.benchmarks.own_question_waits import question
from tests.browser.conftest import FLAGS, SEEN_WITHIN_MS, server, settled
from tests.browser.test_pages import FIGURES
from tests.core.runs.conftest import until

KINDS = {
    "core.runs.agent.host_agent": "agent",
    "core.runs.agent.worker": "worker",
    "core.runs.answering.worker": "own questions",
    "core.processes.confined.forking": "readers",
    "app": "page server",
}
"""The kind of a process whose command line names a module."""
IDLE_MINUTES = 10.0
LASTING = set(KINDS.values()) - {"readers"}
"""Processes that live for more than a minute without anything to do. Doctor's own checks end by themselves."""
QUIET_FOR_S = 5.0
"""After the last page: what it still computes in the background counts, too."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--idle", type=float, default=IDLE_MINUTES, metavar="MINUTES", help="0: print only the first")
    idle_s = 60 * parser.parse_args().idle
    expect.set_options(timeout=SEEN_WITHIN_MS)
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        server(home := Path(folder) / "home") as address,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(bypass_csp=True)
        page.set_default_timeout(120_000)
        for entry in PAGES:
            page.goto(f"{address}/{entry.name}")
            page.locator(FIGURES[entry.name]).first.wait_for()
            settled(page)
        ask(page, address)
        until(lambda: set(memory_of(home)) <= LASTING, "Doctor's checks and the readers to end", within_s=300)
        page.wait_for_timeout(1000 * QUIET_FOR_S)
        show("all pages, one own question", memory_of(home))
        browser.close()
        if idle_s:
            time.sleep(idle_s)
            show(f"closed for {idle_s / 60:g} minutes", memory_of(home))


def ask(page: Page, address: str) -> None:
    """Ask the smallest model a question, and wait for its answer."""
    page.goto(f"{address}/one_question?ask=own&run={RunSpec(model='pocket-1m', task='qa').run_id}")
    text, options = question(0)
    page.get_by_role("textbox", name="Question", exact=True).fill(text)
    page.get_by_role("textbox", name=re.compile("^Options")).fill("\n".join(options))
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_text(re.compile("answered in")).wait_for()
    settled(page)


def memory_of(home: Path) -> Counter[str]:
    """Megabytes of PSS by kind, of the processes that live in a home and those that they started."""
    members: dict[int, psutil.Process] = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("HEDGE_HOME") == str(home):
                members |= {each.pid: each for each in (process, *process.children(recursive=True))}
    megabytes: Counter[str] = Counter()
    for process in members.values():
        with suppress(psutil.Error):
            megabytes[kind(process.cmdline())] += process.memory_full_info().pss / 1e6
    return megabytes


def kind(command: list[str]) -> str:
    """The kind of a process by its command line; its words, for another one."""
    return next((KINDS[word] for word in command if word in KINDS), " ".join(command)[:60])


def show(when: str, megabytes: Counter[str]) -> None:
    """Print a row."""
    parts = ", ".join(f"{name} {size:.0f}" for name, size in megabytes.most_common())
    print(f"{when}: {megabytes.total():.0f} MB ({parts})", flush=True)


if __name__ == "__main__":
    main()
