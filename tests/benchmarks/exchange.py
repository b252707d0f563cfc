"""Large imports and many runs: ``python -m tests.benchmarks.exchange import`` and ``… overview``. Prints figures.

import    a CSV of 1,000,000 questions of six options by ``python -m core import``, its report, the lab's tables
overview  504 finished runs of 200 questions: what the page computes when warm, and the page in a browser, from the
          click on its name to its chart
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from core.settings import ROOT

QUESTIONS, OPTIONS = 1_000_000, 6
RUNS, ASKED, TRIES = 504, 200, 7


def bring_in(home: Path) -> None:
    """One table in, and what the pages make of it."""
    rng = np.random.default_rng(0)
    path = home / "million.csv"
    p = rng.dirichlet(np.full(OPTIONS, 0.4), QUESTIONS)
    labels = (p.cumsum(axis=1) < rng.random((QUESTIONS, 1))).sum(axis=1)
    with path.open("w") as file:
        file.write(",".join(f"p_{letter}" for letter in "ABCDEF") + ",label\n")
        for row, label in zip(p, labels.tolist(), strict=True):
            file.write(",".join(f"{value:.9f}" for value in row) + f",{'ABCDEF'[label]}\n")
    print(f"{path.stat().st_size / 1e6:.0f} MB of CSV, {QUESTIONS:,} questions of {OPTIONS} options")
    _command("import", str(path))
    run_id = next(iter(_ids()))
    _command("report", run_id)
    _said(
        "tables of the lab",
        "from core.reports import frames; from core.reports.evaluation import load; "
        f"frames.lab_tables(load({run_id!r}))",
    )


def _ids() -> list[str]:
    from core.runs import store

    return [name for name in store.run_ids() if not store.is_bundled(name)]


def _command(*arguments: str) -> None:
    _timed(f"python -m core {arguments[0]}", [sys.executable, "-m", "core", *arguments])


def _said(what: str, code: str) -> None:
    _timed(what, [sys.executable, "-c", code])


def _timed(what: str, command: list[str]) -> None:
    begin = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    computed = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # The peak is that of the largest child so far, so the largest comes first.
    print(f"{what}: {time.perf_counter() - begin:.1f} s, {computed:.1f} s computed, {after.ru_maxrss / 2**20:.2f} GiB")


def overview(home: Path) -> None:
    """Many runs on the first page."""
    from playwright.sync_api import sync_playwright

    from app.caches import run_cache
    from core.reports import evaluation, frames
    from tests.benchmarks.browser_waits import PAINTED, launch
    from tests.browser.conftest import server
    from tests.conftest import synthetic_run

    ids = [
        synthetic_run(ASKED, model=f"model-{i % 63}", task=("qa", "rc", "ci", "drs")[i // 63 % 4], seed=i // 252)
        for i in range(RUNS)
    ]
    assert len(set(ids)) == RUNS
    summaries = [frames.summarise(evaluation.load(name)) for name in ids]
    _warm("list of runs", run_cache.runs)
    _warm("figures at one alpha", lambda: frames.overview_at(summaries, 100))
    with server(home) as address, sync_playwright() as playwright:
        chromium = launch(playwright.chromium)
        page = chromium.new_page()
        page.set_default_timeout(300_000)
        page.goto(address)
        page.evaluate(PAINTED)
        waits = []
        for _ in range(TRIES):
            page.get_by_role("link", name="New run").click()
            page.get_by_role("heading", name="Run a benchmark").wait_for()
            page.wait_for_timeout(1500)
            begin = time.perf_counter()
            page.get_by_role("link", name="Overview").click()
            page.get_by_role("heading", name="Hedge shows how sure").wait_for()
            page.evaluate(PAINTED)
            waits.append(time.perf_counter() - begin)
        chromium.close()
    print(f"click to chart: median {statistics.median(waits):.2f} s, worst of {TRIES} {max(waits):.2f} s")


def _warm(what: str, work: Callable[[], object]) -> None:
    work()
    took = []
    for _ in range(TRIES):
        begin = time.process_time()
        work()
        took.append(time.process_time() - begin)
    print(f"{what}: {statistics.median(took):.3f} s computed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["import", "overview"])
    what = parser.parse_args().what
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HEDGE_HOME"] = folder
        (bring_in if what == "import" else overview)(Path(folder))


if __name__ == "__main__":
    main()
