"""Whether an imported run is right far less often than guesses are, which tells of misread labels or options."""

from dataclasses import replace

import numpy as np
from scipy.special import bdtr

from core.exchange.imported import ImportedRun
from core.records import LogitArray
from core.runs.caveats import BELOW_CHANCE
from core.runs.spec import HEDGE, RUN_FOLDER

SURE = 1e-3
"""A run is noted where guesses would be right as rarely with at most this probability."""
OWN = (HEDGE, RUN_FOLDER)
"""Origins of runs whose labels Hedge itself knew."""


def noted(run: ImportedRun) -> ImportedRun:
    """The run, whose provenance says so if it is right far less often than guesses are. The number of right answers is
    compared with the binomial distribution of as many guesses, each right with the mean of 1 / k. Ties at the top that
    hold the right option count as right. Of the rows of one cluster, the first counts."""
    if run.spec.origin in OWN or "exported_run" in run.provenance:
        return run
    places = {name: i for i, name in enumerate(run.scored.ids)}
    figures: LogitArray = run.scored.logits if run.scored.probabilities is None else run.scored.probabilities
    rows, labels, counts = [], [], []
    seen: set[str] = set()
    for question, role in zip(run.questions, run.roles, strict=True):
        if role not in ("calibration", "test") or question.id not in places or question.cluster in seen:
            continue
        if question.cluster:
            seen.add(question.cluster)
        rows.append(places[question.id])
        labels.append(question.label)
        counts.append(len(question.options))
    if not rows:
        return run
    own = figures[rows]
    right = int((own[np.arange(len(rows)), labels] >= own.max(axis=1)).sum())
    chance = float(np.mean(1 / np.array(counts)))
    if bdtr(right, len(rows), chance) >= SURE:
        return run
    return replace(
        run, provenance=run.provenance | {BELOW_CHANCE: {"right": right, "questions": len(rows), "chance": chance}}
    )
