"""Compare with 12 runs of 5,000 test questions: `python -m tests.benchmarks.compare_runs [score …]`.

Processor time of what the page computes before its first figure, of the matrix of all 66 pairs, which is computed in
the background, and of the tables of the inspector, with their sizes. The runs are synthetic, half of 10,000 questions
calibrates, and their home is a temporary folder.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import TypeVar

from core.reports import evaluation
from core.reports.compare import benchmark, inspector, run_matrix
from core.reports.compare.benchmark import SetRule
from core.reports.report import shown_with
from tests.conftest import synthetic_run

RUNS, QUESTIONS, ALPHA = 12, 10_000, 100
Made = TypeVar("Made")


def timed(what: str, make: Callable[[], Made]) -> Made:
    """Make a value, and print its processor time."""
    began = time.process_time()
    made = make()
    print(f"{what:<58}{time.process_time() - began:>8.2f} s", flush=True)
    return made


def main() -> None:
    """Measure each score that the command line names, LAC by default."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HEDGE_HOME"] = folder
        ids = [synthetic_run(QUESTIONS, model=f"model-{i}", seed=7, signal=1 + 0.15 * i) for i in range(RUNS)]
        runs = timed("reading the runs", lambda: [evaluation.load(name) for name in ids])
        for score in sys.argv[1:] or ["lac"]:
            rule = SetRule(ALPHA, shown_with(score))
            timed(f"{score}: dot plots", lambda rule=rule: benchmark.run_rows(runs, benchmark.reports(runs, rule)))
            shared = timed(
                f"{score}: shared questions and sets",
                lambda score=score: run_matrix.shared_questions(runs, ALPHA, score=score),
            )
            numbers = timed(f"{score}: the inspector's numbers", lambda of=shared: inspector.inspector_numbers(of))
            texts = timed(f"{score}: the inspector's texts", lambda: inspector.inspector_texts(runs))
            timed(
                f"{score}: 66 pairs, intervals and {run_matrix.SWAPS:,} swaps",
                lambda score=score: run_matrix.run_matrix(runs, ALPHA, score=score),
            )
            print(f"{score}: sent to the browser: {numbers.nbytes / 1e6:.2f} MB and {texts.nbytes / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
