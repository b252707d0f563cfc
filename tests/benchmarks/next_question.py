"""What "Next" on One question computes, over the runs that ship.

python -m tests.benchmarks.next_question
"""

from __future__ import annotations

import logging
import time

from app.caches import question_cache
from app.components.one_question.question import MOST_RUNS
from core.runs.spec import RunSpec

MOST_SHARED = RunSpec(model="pocket-8m", task="qa").run_id
"""A run that ships, whose questions were asked in most other runs."""


def main() -> None:
    """Print the processor time of six questions in turn; the first one fills the caches."""
    logging.disable(logging.CRITICAL)  # outside a server every cached call warns that there is no session
    questions = question_cache.question_list(MOST_SHARED)["id"]
    for number, question in enumerate(questions[:6], start=1):
        began = time.process_time()
        question_cache.shown_question(MOST_SHARED, question)
        found = question_cache.in_other_runs(MOST_SHARED, question, MOST_RUNS)
        took = time.process_time() - began
        print(f"question {number}: {took:.2f} s of processor time, {len(found.tested)} runs", flush=True)


if __name__ == "__main__":
    main()
