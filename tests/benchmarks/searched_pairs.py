"""The worst pair of subjects: what the search finds, and what its p-value would be were it not corrected.

``python -m tests.benchmarks.searched_pairs``: how often either p-value is below 5% where subjects are shuffled, what
bundled runs have, and how long a search takes.
"""

from __future__ import annotations

import time

from core.reports import evaluation
from core.reports.alpha_lab import covariate_shift
from core.runs import store
from tests.simulation.search import pair_alarms, uncorrected_alarms

DRAWS = 400


def main() -> None:
    for n, subjects in ((200, 4), (1000, 17)):
        corrected = sum(pair_alarms(seed, n, subjects) for seed in range(DRAWS)) / DRAWS
        plain = sum(uncorrected_alarms(seed, n, subjects) for seed in range(DRAWS)) / DRAWS
        print(f"{n} questions, {subjects} shuffled subjects: p < .05 in", end=" ")
        print(f"{100 * plain:.1f}% as if the pair had been chosen, {100 * corrected:.1f}% corrected")
    found, seconds = [], []
    for run_id in store.run_ids():
        if not store.read_record(run_id).spec.answers:
            continue
        run = evaluation.load(run_id)
        sides = {name: covariate_shift.side(run, name, by="lac") for name in covariate_shift.subjects(run)}
        began = time.process_time()
        search = covariate_shift.search(list(sides.values()))
        seconds.append(time.process_time() - began)
        if search:
            plain = covariate_shift.shifted(sides[search.source], sides[search.target]).p_value
            found.append((search.p_value, plain))
    corrected_low, plain_low = (sum(p < 0.05 for p in of) for of in zip(*found, strict=True))
    print(f"{len(found)} bundled runs: corrected p < .05 in {corrected_low}, as if chosen in {plain_low}")
    print(f"a search takes {max(seconds):.2f} s of processor time at most")


if __name__ == "__main__":
    main()
