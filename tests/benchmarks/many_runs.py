"""The Overview in a home with many finished runs: ``python -m tests.benchmarks.many_runs [RUNS …]``.

Processor time of the page's script, run by AppTest in this process: the first visit, which summarises every run; the
median of the visits after it; the median step of alpha, each to a value that was not shown before; and the median step
back to one that was. A fifth of the runs is of each task and every model has all tasks, so that the page's defaults
show all of them, beside the runs that ship. ``python -m tests.benchmarks.many_runs --home DIR RUNS`` only makes such a
home and keeps it, for a server.
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import streamlit as st
from streamlit.testing.v1 import AppTest

from app.components.shared.controls import ALPHA_KEY
from core.questions import TASKS
from core.reports.frames import alpha_value
from core.runs import store
from core.settings import ROOT
from tests.conftest import synthetic_run

COUNTS = (504, 624, 1_000)
QUESTIONS = 200
STEPS = 7
MEMORY = Path("/dev/shm")  # a disk would sync each of some thousand files


def make_runs(runs: int) -> None:
    """Write so many runs into HEDGE_HOME; those of a task ask the same questions."""
    tasks = list(TASKS)
    for i in range(runs):
        model, task = divmod(i, len(tasks))
        signal = 0.5 + 3 * model * len(tasks) / runs
        synthetic_run(QUESTIONS, model=f"model-{model:03}", task=tasks[task], seed=task, signal=signal)


def measure(runs: int) -> None:
    """Print a line for a home with so many runs."""
    st.cache_resource.clear()
    app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=600)
    first = spent(app.run)
    visits = [spent(app.run) for _ in range(STEPS)]
    new = [spent(lambda alpha=alpha: move(app, alpha)) for alpha in range(150, 150 + STEPS)]
    back = [spent(lambda alpha=alpha: move(app, alpha)) for alpha in range(150, 150 + STEPS)]
    shown = "".join(f"{statistics.median(of):>14.2f}" for of in (visits, new, back))
    print(f"{runs:>6,} runs{first:>14.2f}{shown}", flush=True)


def move(app: AppTest, alpha: int) -> None:
    """Move the slider to so many thousandths."""
    app.slider(key=ALPHA_KEY).set_value(alpha_value(alpha)).run()


def spent(step: Callable[[], object]) -> float:
    """The processor time of a step."""
    start = time.process_time()
    step()
    return time.process_time() - start


def main() -> None:
    """Make each home, and measure it or keep it."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("runs", nargs="*", type=int, default=list(COUNTS), help="how many runs each home has")
    asked.add_argument("--home", type=Path, help="make one home there, and measure nothing")
    asked = asked.parse_args()
    if asked.home:
        os.environ["HEDGE_HOME"] = str(asked.home)
        make_runs(asked.runs[0])
        print(f"{len(store.run_ids()):,} runs, with those that ship; HEDGE_HOME={asked.home} python -m app")
        return
    logging.disable(logging.CRITICAL)
    print(f"processor s{'first visit':>13}{'visit':>14}{'new alpha':>14}{'alpha again':>14}")
    for runs in asked.runs:
        with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
            os.environ["HEDGE_HOME"] = str(Path(folder) / "home")
            make_runs(runs)
            measure(runs)


if __name__ == "__main__":
    main()
