"""How many bundled runs have an APS threshold at 1 or just below it, with E and F kept and left out.

``python -m tests.benchmarks.saturated_aps``: a row an alpha, score and way: runs near 1 and at 1, and over all runs the
mean set size, the share of sets with one option, and coverage.
"""

from __future__ import annotations

import numpy as np

from core.reports import evaluation
from core.reports.alpha_lab.saturation import saturated
from core.reports.alpha_lab.view import SplitView, extra_options, look
from core.reports.evaluation import Evaluation
from core.reports.scored_sets import form
from core.runs import store

ALPHAS = (50, 100, 200)
SCORES = ("aps", "aps-randomised", "raps", "lac")


def bundled() -> list[tuple[Evaluation, Evaluation]]:
    """Every finished run that answers questions, as it is and without E and F where it has them."""
    runs = []
    for run_id in store.run_ids():
        record = store.read_record(run_id)
        if record.spec.answers and record.state == "done":
            run = evaluation.load(run_id)
            runs.append((run, look(run, SplitView(drop_extra=True)) if extra_options(run) else run))
    return runs


def main() -> None:
    runs = bundled()
    print(f"{len(runs)} runs\n")
    print("| alpha | score | E and F | just below 1 | at 1 | mean size | one option | coverage |")
    print("|---|---|---|---|---|---|---|---|")
    for alpha in ALPHAS:
        for name in SCORES:
            for way, words in enumerate(("kept", "left out")):
                figures = []
                for pair in runs:
                    run = pair[way]
                    made = form(run, name, alpha)
                    sizes = made.members.sum(axis=1)
                    held = made.members[np.arange(len(sizes)), run.labels[run.test]]
                    q, at = made.threshold, made.threshold == 1
                    figures.append((saturated([q]) and not at, at, sizes.mean(), (sizes == 1).mean(), held.mean()))
                near, at_one, size, single, coverage = np.array(figures, dtype=float).T
                shares = f"{size.mean():.2f} | {100 * single.mean():.1f}% | {100 * coverage.mean():.1f}%"
                print(f"| {alpha / 1000:g} | {name} | {words} | {near.sum():.0f} | {at_one.sum():.0f} | {shares} |")


if __name__ == "__main__":
    main()
