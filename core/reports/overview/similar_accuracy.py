"""Pairs of models with similar accuracy and different uncertainty."""

from dataclasses import dataclass

import pandas as pd

ALIKE = 0.03
"""Accuracies that differ by at most this are similar."""
UNLIKE = 0.1
"""Mean set sizes that differ by at least this share of the options are different."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Two runs on the same questions, the one with smaller sets first, with their accuracies and their mean set sizes
    in options. ``task`` and ``bank`` identify the questions."""

    task: str
    bank: str
    surer: str
    other: str
    surer_model: str
    other_model: str
    accuracies: tuple[float, float]
    sizes: tuple[float, float]


def alike(runs: pd.DataFrame, score: str) -> list[Alike]:
    """Pairs of models in an overview frame that were tested on the same questions with as many options, whose
    accuracies differ by at most 0.03 and whose mean set sizes by ``score`` differ by at least a tenth of the options.
    The largest difference comes first."""
    pairs = []
    size = f"{score}_set_size"
    for (task, _, k), group in runs.groupby(["task", "questions", "k"], sort=True):
        rows = group.sort_values(size, kind="stable").to_dict("records")
        for i, a in enumerate(rows):
            for b in rows[i + 1 :]:
                near = abs(a["accuracy"] - b["accuracy"]) <= ALIKE
                if near and a["model"] != b["model"] and b[size] - a[size] >= UNLIKE * float(str(k)):
                    pairs.append(
                        Alike(
                            str(task),
                            a["bank"],
                            a["run"],
                            b["run"],
                            a["model"],
                            b["model"],
                            (a["accuracy"], b["accuracy"]),
                            (a[size], b[size]),
                        )
                    )
    return sorted(pairs, key=lambda pair: pair.sizes[0] - pair.sizes[1])
