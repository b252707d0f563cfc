"""The first visit to a page in a server that has just started: ``python -m tests.benchmarks.first_visits [PAGE …]``.

The home has 1,000 runs of 400 questions. With ``--million`` it has one run with a million questions. Each page is
visited four times, each in a new process: twice with what an earlier server has kept in the home's cache, and
before each of these once with an empty cache, so that both kinds take turns. Printed are the median seconds of
processor time and on the wall until the page is still, and how much more memory the process holds afterwards. The
first page (here Learn), and imports that a server makes by itself while the browser loads Streamlit's scripts, do not
count.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import psutil

from core.settings import ROOT
from tests.benchmarks.million_questions import QUESTIONS, VISITS, compute_at_once, make_run
from tests.conftest import synthetic_run

RUNS = 1_000
QUESTIONS_OF_A_RUN = 400
MODELS = 50
PAGES = ("overview", "one_question", "alpha_lab", "compare", "calibration")
TURNS = 2


def visit(page: str) -> None:
    """Visit a page in this process, and print what it took as JSON."""
    from streamlit.testing.v1 import AppTest

    from app import background, first_paint

    background.start = compute_at_once
    background.painted = lambda page: True

    def opened(name: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=600)
        return app if name == "overview" else app.switch_page(f"../pages/{name}.py")

    first_paint.import_components()
    opened("learn").run()
    process = psutil.Process()
    before, used, begun = process.memory_info().rss, time.process_time(), time.perf_counter()
    app = opened(page)
    for _ in range(VISITS):
        app.run()
        if app.exception:
            raise SystemExit(str(app.exception))
    wall, processor = time.perf_counter() - begun, time.process_time() - used
    print(json.dumps([processor, wall, (process.memory_info().rss - before) / 2**20]))


def measured(pages: list[str], cache: Path) -> None:
    """Print a row for each page without and with what is kept."""
    print(f"{'page':<16}{'':<8}{'processor s':>12}{'wall s':>9}{'more MB':>9}")
    for page in pages:
        results: dict[str, list[list[float]]] = {"empty": [], "kept": []}
        for _ in range(TURNS):
            shutil.rmtree(cache, ignore_errors=True)
            for rows in results.values():
                command = [sys.executable, "-m", "tests.benchmarks.first_visits", "--visit", page]
                output = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
                rows.append(json.loads(output.stdout.decode().splitlines()[-1]))
        for kind, rows in results.items():
            processor, wall, memory = (median(values) for values in zip(*rows, strict=True))
            print(f"{page:<16}{kind:<8}{processor:>12.2f}{wall:>9.2f}{memory:>9.0f}", flush=True)


def main() -> None:
    """Make the home, and measure each visit in a new process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="pages to visit")
    parser.add_argument("--runs", type=int, default=RUNS, help="how many runs the home has")
    parser.add_argument("--million", action="store_true", help="one run of a million questions in their place")
    parser.add_argument("--visit", metavar="PAGE", help="only visit a page of HEDGE_HOME")
    given = parser.parse_args()
    if given.visit:
        visit(given.visit)
        return
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        os.environ["HEDGE_HOME"] = str(home)
        if given.million:
            make_run(QUESTIONS)
        for seed in range(0 if given.million else given.runs):
            synthetic_run(QUESTIONS_OF_A_RUN, seed=seed, model=f"model-{seed % MODELS}")
        measured(given.pages or list(PAGES[:2] if given.million else PAGES), home / "cache")


if __name__ == "__main__":
    main()
