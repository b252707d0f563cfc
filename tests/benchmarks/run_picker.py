"""What the picker of runs costs with 1,000 runs: ``python -m tests.benchmarks.run_picker``.

Processor time of one pass, the median of five: of the page's line, which stands on every page, and of each step of the
dialog, which is drawn only while it is open.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from app.caches import run_cache
from core.reports.run_filter import RunFilter, matching, offered
from core.reports.run_groups import grouped, sharing_questions
from core.reports.titles import record_titles
from tests.conftest import synthetic_run

RUNS = 1_000
TASKS = ("qa", "rc", "ci", "drs", "ds")
PASSES = 5


def milliseconds(step: Callable[[], object]) -> float:
    """The median processor time of a step in milliseconds."""
    spent = []
    for _ in range(PASSES):
        start = time.process_time()
        step()
        spent.append(1000 * (time.process_time() - start))
    return statistics.median(spent)


def main() -> None:
    """Write the runs into a home of their own, and print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HEDGE_HOME"] = str(Path(folder) / "home")
        for i in range(RUNS):
            synthetic_run(20, model=f"model-{i // len(TASKS)}", task=TASKS[i % len(TASKS)])
        records = run_cache.runs().finished
        kept = RunFilter(models=("model-7",))
        steps: dict[str, Callable[[], object]] = {
            "list of runs (every page)": run_cache.runs,
            "titles of 12 chosen runs (the line)": lambda: record_titles(records[:12]),
            "chips (dialog)": lambda: offered(records),
            "chips applied (dialog)": lambda: [record for record in records if kept.keeps(record)],
            "search (dialog)": lambda: matching(records, "model-7 question"),
            "groups (dialog)": lambda: grouped(records),
            "titles of all runs (dialog)": lambda: record_titles(records),
        }
        print(f"{len(records):,} runs")
        for name, step in steps.items():
            print(f"{milliseconds(step):8.1f} ms  {name}")
        start = time.process_time()
        found = sharing_questions(records[0], records)
        print(f"{1000 * (time.process_time() - start):8.1f} ms  same questions, the first click ({len(found)} found)")
        print(f"{milliseconds(lambda: sharing_questions(records[0], records)):8.1f} ms  same questions, later clicks")


if __name__ == "__main__":
    main()
