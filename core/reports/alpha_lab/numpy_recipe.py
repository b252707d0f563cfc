"""A NumPy script that forms a score's threshold and sets from a downloaded file.

The text reads a table of :mod:`core.reports.alpha_lab.sets_table` and forms the sets again from its probabilities,
labels and roles alone, with the exact threshold. A test runs the script on such a file.
"""

import json

from core.conformal.alpha import THOUSAND, check_thousandths
from core.conformal.mondrian import check_by
from core.conformal.scores import score_named
from core.conformal.scores.recipe_lines import ON_GRID
from core.conformal.sets import check_empty
from core.conformal.tuning import tune
from core.errors import InputError
from core.reports.evaluation import Evaluation

READING_LINES = {
    ".csv": (
        "import csv",
        "with open({file}, encoding='utf-8', newline='') as file:\n    rows = list(csv.DictReader(file))",
    ),
    ".parquet": ("import pyarrow.parquet", "rows = pyarrow.parquet.read_table({file}).to_pylist()"),
}
"""The import and the line that read a file, by the ending of its name."""

NAMES = "[name[2:] for name in rows[0] if name.startswith('p_')]  # those of the options"
NUMBER = "float(row['p_' + letter])"
NUMBER_IF_ANY = "float('nan' if row['p_' + letter] in ('', None) else row['p_' + letter])"
LACKING = """\
lacking = np.isnan(p)  # options that a question does not have; they are in no set
p = np.where(lacking, 0, p)"""
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
    "sets[empty, len(letters) - 1 - on_grid(p, p)[tests][empty][:, ::-1].argmax(axis=1)] = True  # the later of equals",
]


def numpy_recipe(run: Evaluation, name: str, alpha: int, *, file: str, empty: str = "allow", by: str = "all") -> str:
    """A script that forms the sets of the score ``name`` at ``alpha`` thousandths from ``file``.

    ``file`` is a sets table of the same view, saved as ``.csv`` or ``.parquet``, with the columns of that score. When
    run, the script prints the threshold (or thresholds), coverage and mean set size, and leaves ``limits`` and ``sets``
    (m, k). Raises :class:`InputError` for unknown names or another ending.
    """
    check_thousandths(alpha)
    rule = score_named(name)
    ending = next((suffix for suffix in READING_LINES if file.lower().endswith(suffix)), None)
    if ending is None:
        raise InputError(f"a recipe reads {' or '.join(READING_LINES)}, got {file!r}; name the file accordingly")
    module, reading = READING_LINES[ending]
    tuned = tune(name, run.option_probabilities, run.labels, run.calibration, seed=run.spec.seed)
    ragged = not run.real.all()
    formula_lines = list(rule.numpy_lines(tuned.parameters))
    if ragged:
        formula_lines = [
            LACKING,
            *(line.replace("on_grid(p, p)", "on_grid(p, p) - lacking") for line in formula_lines),
            "scores[lacking] = np.nan",
        ]
    role = f"{name}_role" if rule.tuned else "role"
    letters = repr("".join(run.letters)) if all(len(letter) == 1 for letter in run.letters) else NAMES
    lines = [
        module,
        "import numpy as np",
        "",
        reading.format(file=json.dumps(file, ensure_ascii=False)),
        f"letters = {letters}",
        f"p = np.array([[{NUMBER_IF_ANY if ragged else NUMBER} for letter in letters] for row in rows])",
        "y = np.array([letters.index(row['label']) for row in rows])",
        f"calibrates, tests = (np.array([row[{role!r}] == role for row in rows]) for role in ('calibration', 'test'))",
        "",
        *ON_GRID.splitlines(),
        "",
        f"# {rule.title}: {rule.formula}",
        *formula_lines,
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
