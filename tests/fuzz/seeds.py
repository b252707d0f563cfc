"""Small whole files of every kind, from which fuzzed ones are made."""

from functools import cache

import numpy as np
import pandas as pd

from core.exchange.dropped.examples import (
    LABELS,
    ROW_NAMES,
    WORKBOOK,
    N,
    P,
    as_csv,
    as_lines,
    npz,
    rows,
    zipped,
)
from core.exchange.dropped.kind import Files
from core.exchange.dropped.kinds import KINDS
from core.exchange.inspect_log import eval_log


@cache
def seeds() -> dict[str, tuple[Files, ...]]:
    """Whole drops: the examples of each kind of file, and more shapes of tables and of archives."""
    drops = {name: tuple(example.files() for example in kind.examples) for name, kind in KINDS.items() if kind.examples}
    frame = pd.DataFrame(rows(), columns=ROW_NAMES)
    lists = [{"id": i, "probs": list(P[i]), "options": ["a", "b", "c"], "label": LABELS[i]} for i in range(N)]
    drops["table"] += (
        *({"t.csv": as_csv(ROW_NAMES, rows(), separator)} for separator in ";\t"),
        {"t.csv": pd.DataFrame(lists).to_csv(index=False).encode()},
        {"t.json": frame.to_json(orient="split").encode()},
        {"t.jsonl": as_lines(frame.to_dict(orient="records"))},
    )
    table = as_csv(ROW_NAMES, rows())
    (workbook,) = WORKBOOK
    arrays = npz(scores=np.array(P), labels=np.array([0, 1, 2, 0, 2, 1]))
    drops["archives"] = (
        {"a.zip": zipped({"m/t.csv": table, "n/a.eval": eval_log()})},
        {"a.zip": zipped({"run/run.json": b"{}", "x.npz": arrays} | workbook.files())},
    )
    return drops
