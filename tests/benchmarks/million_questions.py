"""One run of a million questions: ``python -m tests.benchmarks.million_questions [QUESTIONS]``.

Processor seconds, seconds on the wall and peak memory of the report, and of the first visits to Overview and to the
Alpha lab with this run, each in a process of its own. The run has four options a question and logits from a seeded
generator, and is written as every run is.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from app.background import Computation
from core.records import OptionLogits, Question
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from core.settings import ROOT

QUESTIONS = 1_000_000
OPTIONS = ("Paris", "London", "Rome", "Berlin")
VISITS = 2
"""A page runs once more when its figures have come."""
SUBJECTS = tuple(f"subject {i:02}" for i in range(20))


def make_run(questions: int, *, seed: int = 0) -> str:
    """Write a finished run of this many questions into HEDGE_HOME; half of them calibrate. Returns its id."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, len(OPTIONS), questions)
    logits = draw.normal(size=(questions, len(OPTIONS))).astype(np.float32) * 1.5
    logits[np.arange(questions), labels] += 1.5
    spec = RunSpec(model="million", task="qa", seed=seed)
    bank = [
        Question(f"q{i}", "qa", SUBJECTS[i % len(SUBJECTS)], "", f"What is asked as number {i}?", OPTIONS, label)
        for i, label in enumerate(labels.tolist())
    ]
    folder = store.create(RunRecord(spec=spec, state="queued", created=time.time()))
    store.write_questions(folder, bank, ["calibration" if i < questions // 2 else "test" for i in range(questions)])
    ids = tuple(question.id for question in bank)
    store.write_logits(folder, OptionLogits(ids, logits, np.ones(questions, dtype=np.float32)))
    store.update_record(spec.run_id, state="done", ended=time.time())
    return spec.run_id


def visit(page: str, run: str) -> None:
    """The first visit to a page, with the figures that it computes in the background."""
    from streamlit.testing.v1 import AppTest

    from app import background

    background.start = compute_at_once
    background.painted = lambda page: True
    app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=600)
    app.query_params["run"] = run
    if page != "overview":
        app.switch_page(f"../pages/{page}.py")
    for _ in range(VISITS):
        app.run()
        if app.exception:
            raise SystemExit(str(app.exception))


def compute_at_once(awaited: Sequence[Computation[object]]) -> None:
    """Compute in the place of the thread, so that the process has done all when the page's script has ended."""
    for computation in awaited:
        computation.run()


def measured(name: str, command: list[str]) -> None:
    """Run a command and print what it took."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    print(
        f"{name:<24}{used.ru_utime + used.ru_stime:>12.1f}{wall:>9.1f}{used.ru_maxrss / 2**20:>10.2f}"
        + ("" if os.waitstatus_to_exitcode(status) == 0 else "  failed"),
        flush=True,
    )


def main() -> None:
    """Make the run and measure each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="?", type=int, default=QUESTIONS, help="how many questions the run has")
    parser.add_argument("--make", action="store_true", help="only make the run in HEDGE_HOME, and print its id")
    parser.add_argument("--visit", nargs=2, metavar=("PAGE", "RUN"), help="only visit a page of HEDGE_HOME")
    given = parser.parse_args()
    if given.make:
        print(make_run(given.questions))
        return
    if given.visit:
        visit(*given.visit)
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HEDGE_HOME"] = str(Path(folder) / "home")
        own = [sys.executable, "-m", "tests.benchmarks.million_questions"]
        process = subprocess.run([*own, str(given.questions), "--make"], cwd=ROOT, stdout=subprocess.PIPE, check=True)
        run = process.stdout.decode().split()[-1]
        print(f"{given.questions:,} questions{'processor s':>20}{'wall s':>9}{'peak GiB':>10}")
        measured("report", [sys.executable, "-m", "core", "report", run])
        for page in ("overview", "alpha_lab"):
            measured(f"first visit, {page}", [*own, "--visit", page, run])


if __name__ == "__main__":
    main()
