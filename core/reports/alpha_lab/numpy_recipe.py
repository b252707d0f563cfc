"""A NumPy script that forms a score's threshold and sets from a downloaded file.

The text reads a table of :mod:`core.reports.alpha_lab.sets_table` and forms the sets again from nothing but its
probabilities, labels and roles, with the exact threshold. It is run by a test, on the file.
"""

from __future__ import annotations

import json

from core.conformal.alpha import THOUSAND, check_thousandths
from core.conformal.mondrian import check_by
from core.conformal.scores import SCORES, Parameters
from core.conformal.sets import check_empty
from core.conformal.tuning import tune
from core.errors import InputError
from core.reports.evaluation import Evaluation

READERS = {
    ".csv": (
        "import csv",
        "with open({file}, encoding='utf-8', newline='') as file:\n    rows = list(csv.DictReader(file))",
    ),
    ".parquet": ("import pyarrow.parquet", "rows = pyarrow.parquet.read_table({file}).to_pylist()"),
}
"""What reads a file, by its ending: its import and its line."""

NUMBER = "float(row['p_' + letter])"
NUMBER_IF_ANY = "float('nan' if row['p_' + letter] in ('', None) else row['p_' + letter])"
RANKS = """\
ranks = np.empty_like(order)
np.put_along_axis(ranks, order, np.arange(len(letters), 0, -1)[None], axis=1)"""
MASS = """\
rising = np.take_along_axis(p, order, axis=1)
mass = np.hstack([np.ones((len(p), 1)), 1 - np.cumsum(rising, axis=1)[:, :-1]])  # 1 - what is ranked after
scores = np.empty_like(p)
np.put_along_axis(scores, order, mass, axis=1)"""
ORDER = "order = np.argsort(p, axis=1, kind='stable')  # rising; of equal options the later is ranked first"
LACKING = """\
lacking = np.isnan(p)  # options that a question does not have; they are in no set
p = np.where(lacking, 0, p)"""
ORDER_OF_REAL = ORDER.replace("(p,", "(np.where(lacking, -1, p),")
U = "u = np.array([[float(row['u'])] for row in rows])"


def _score_lines(name: str, parameters: Parameters) -> list[str]:
    weight, free = parameters.weight, parameters.free_ranks
    return {
        "lac": ["scores = 1 - p"],
        "aps": [ORDER, MASS],
        "aps-randomised": [ORDER, MASS, U, "scores -= u * p"],
        "raps": [ORDER, MASS, RANKS, f"scores += {weight!r} * np.maximum(ranks - {free}, 0)"],
        "saps": [ORDER, RANKS, f"scores = p.max(axis=1, keepdims=True) + {weight!r} * (ranks - 1)"],
        "margin": [
            ORDER,
            RANKS,
            "best, second = (np.take_along_axis(p, order[:, [place]], axis=1) for place in (-1, -2))",
            "scores = np.where(ranks == 1, second, best) - p",
        ],
        "top-k": [ORDER, RANKS, "scores = ranks.astype(float)"],
    }[name]


STRATA_LINES = {
    "all": ["limits = limit(calibrates)  # one threshold for all"],
    "group": [
        "subject = np.array([row['subject'] for row in rows])",
        "each = {name: limit(subject == name) for name in np.unique(subject)}  # a threshold for each subject",
        "limits = np.array([[each[name]] for name in subject[tests]])",
    ],
    "class": ["limits = np.array([limit(y == j) for j in range(len(letters))])  # a threshold for each option"],
}
FILL_LINES = [
    "empty = ~sets.any(axis=1)",
    "sets[empty, len(letters) - 1 - p[tests][empty][:, ::-1].argmax(axis=1)] = True  # of equal options the later",
]


def numpy_recipe(run: Evaluation, name: str, alpha: int, *, file: str, empty: str = "allow", by: str = "all") -> str:
    """A script that forms the sets of the score ``name`` at ``alpha`` thousandths from ``file``.

    ``file`` is a sets table of the same view, saved as ``.csv`` or ``.parquet``, with the columns of that score. When
    run, the script prints the threshold (or thresholds), coverage and mean set size, and leaves ``limits`` and ``sets``
    (m, k). Raises :class:`InputError` for unknown names or another ending.
    """
    check_thousandths(alpha)
    if name not in SCORES:
        raise InputError(f"unknown score {name!r}; choose from {', '.join(SCORES)}")
    ending = next((one for one in READERS if file.lower().endswith(one)), None)
    if ending is None:
        raise InputError(f"a recipe reads {' or '.join(READERS)}, got {file!r}; name the file accordingly")
    module, reading = READERS[ending]
    tuned = tune(name, run.option_probabilities, run.labels, run.calibration, seed=run.spec.seed)
    ragged = not run.real.all()
    made = _score_lines(name, tuned.parameters)
    if ragged:
        made = [LACKING, *(ORDER_OF_REAL if line == ORDER else line for line in made), "scores[lacking] = np.nan"]
    role = f"{name}_role" if SCORES[name].tuned else "role"
    lines = [
        module,
        "import numpy as np",
        "",
        reading.format(file=json.dumps(file, ensure_ascii=False)),
        f"letters = {run.letters!r}",
        f"p = np.array([[{NUMBER_IF_ANY if ragged else NUMBER} for letter in letters] for row in rows])",
        "y = np.array([letters.index(row['label']) for row in rows])",
        f"calibrates, tests = (np.array([row[{role!r}] == role for row in rows]) for role in ('calibration', 'test'))",
        "",
        f"# {SCORES[name].title}: {SCORES[name].formula}",
        *made,
        "",
        "def limit(mine):",
        "    own = np.sort(scores[calibrates & mine, y[calibrates & mine]])",
        f"    rank = -(-(len(own) + 1) * {THOUSAND - alpha} // {THOUSAND})  # (n + 1)(1 - alpha), rounded up",
        "    return own[rank - 1] if rank <= len(own) else np.inf",
        "",
        *STRATA_LINES[check_by(by)],
        "sets = scores[tests] <= limits",
        *(FILL_LINES if check_empty(empty) == "top1" else []),
        f"print({'each' if by == 'group' else 'limits'})",
        "print(sets[np.arange(len(sets)), y[tests]].mean(), sets.sum(axis=1).mean())  # coverage, mean set size",
    ]
    return "\n".join(lines) + "\n"
