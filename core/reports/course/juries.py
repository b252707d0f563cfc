"""The data of the lesson on juries: every verdict of a jury, and how often a few rules are right."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from core.jury.adjudication import RULES
from core.jury.experiment import JuryExperiment, Protocol
from core.jury.judgements import Judgements
from core.reports import jury as reports
from core.reports.report import finite

SHOWN_RULES = ("majority", "mean_probability", "max_confidence", "best_juror", "weighted_log_odds")
"""The rules that the lesson compares."""
EXAMPLES = 12
"""The answers of each kind that are shown: those with the shortest questions."""


def jury_protocol(judgements: Judgements) -> Protocol:
    """The default test of rules on the Jury page, for :data:`SHOWN_RULES` alone."""
    own = {"calibration", "test"} <= set(judgements.parts)
    return replace(Protocol(), share=None if own else 0.5, rules=SHOWN_RULES)


def shown_rules(judgements: Judgements) -> JuryExperiment:
    """The results of :data:`SHOWN_RULES` on answers on which the jurors disagree, with intervals."""
    return reports.rules(judgements, jury_protocol(judgements)).experiment


def jury_tables(judgements: Judgements) -> dict[str, Any]:
    """The data of a jury of n answers and j jurors.

    ``verdicts`` has ``label``, ``p0 … p(j−1)`` and ``f0 … f(j−1)``, the probabilities of True and of False, in file
    order. ``cases`` has ``row``, ``question`` and ``answer`` of answers that all jurors get wrong, and of answers on
    which they disagree. ``rules`` has a row for each of :data:`SHOWN_RULES`: its ``title``, its ``accuracy``, and how
    much larger that is than the majority's (``gain``), each with the ends of its 95% interval, None if there is none.
    ``splits`` is the number of splits into answers that calibrate and answers that test.
    """
    evaluated = shown_rules(judgements)
    columns: dict[str, Any] = {"label": judgements.labels.astype(np.uint8)}
    for j in range(len(judgements.jurors)):
        columns |= {f"p{j}": judgements.p_true[:, j], f"f{j}": judgements.p_false[:, j]}
    rows = [
        {
            "rule": outcome.rule,
            "title": RULES[outcome.rule].title,
            **{name: _known(getattr(outcome.accuracy, end)) for name, end in _ENDS.items()},
            **{
                f"gain_{name}" if name != "accuracy" else "gain": _known(getattr(outcome.to_majority, end))
                for name, end in _ENDS.items()
            },
        }
        for outcome in evaluated.outcomes
        if outcome.rule in SHOWN_RULES
    ]
    return {
        "jurors": list(judgements.jurors),
        "verdicts": pa.table(columns),
        "cases": _cases(judgements),
        "rules": finite(rows),
        "splits": len(evaluated.protocol.seeds),
    }


_ENDS = {"accuracy": "value", "low": "low", "high": "high"}


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _cases(judgements: Judgements) -> pa.Table:
    lengths = np.array([len(text) for text in judgements.questions])
    wrong = judgements.right == 0
    kinds = (wrong.all(axis=1), judgements.disagreed)
    rows = np.concatenate([np.flatnonzero(kind)[np.argsort(lengths[kind], kind="stable")][:EXAMPLES] for kind in kinds])
    return pa.table(
        {
            "row": rows.astype(np.int32),
            "question": [judgements.questions[row].strip() for row in rows],
            "answer": [judgements.answers[row].strip() for row in rows],
        }
    )
