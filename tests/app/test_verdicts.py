"""The jury's script orders as Python does."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.state.jury import CASES
from core.jury.adjudication import CONSTANT
from core.jury.experiment import Protocol
from core.reports.jury import bench
from tests.app.javascript import passed_tests
from tests.core.jury.verdicts import seeded_jury

SLACK = 1e-9


def _kind(rows: pd.DataFrame, jurors: int, rule: str, kind: str) -> np.ndarray:
    trues = rows[[f"v{j}" for j in range(jurors)]].sum(axis=1).to_numpy()
    verdicts = {name[2:]: rows[name].to_numpy() for name in rows if name.startswith("r_")}
    wrong = verdicts[rule] == 1 - rows["label"].to_numpy()
    sure = rows[f"s_{rule}"].to_numpy()
    judged = [verdict for name, verdict in verdicts.items() if name not in CONSTANT]
    return {
        "all": np.ones(len(rows), bool),
        "split": (np.minimum(trues, jurors - trues) == jurors // 2)
        | ((jurors % 2 == 0) & (np.minimum(trues, jurors - trues) == jurors // 2 - 1) & (trues > 0) & (trues < jurors)),
        "flipped": verdicts[rule] != verdicts["majority"],
        "differ": np.ptp(np.array(judged), axis=0) > 0,
        "sure": wrong & (sure >= 0.8 - SLACK),
        "abstained": sure < 0.7 - SLACK,
    }[kind]


def _order(rows: pd.DataFrame, rule: str, chosen: np.ndarray) -> list[int]:
    flipped = (rows[f"r_{rule}"] != rows["r_majority"]).to_numpy()
    places = np.flatnonzero(chosen)
    return sorted(places.tolist(), key=lambda i: (not flipped[i], -rows[f"s_{rule}"][i], i))


@pytest.mark.parametrize("j", [2, 3, 4, 5])
def test_the_browser_orders_as_python_does(j: int, tmp_path: Path) -> None:
    rows = bench(seeded_jury(160, j), Protocol(disagreement=False), 0).rows
    numbers = rows.drop(columns=["id", "question", "answer"])
    rules = [name[2:] for name in rows if name.startswith("r_")]
    golden = {
        "jurors": [f"juror{i}" for i in range(j)],
        "rules": rules,
        "columns": {name: numbers[name].astype(float).tolist() for name in numbers},
        "kinds": {rule: {kind: _order(rows, rule, _kind(rows, j, rule, kind)) for kind in CASES} for rule in rules},
    }
    path = tmp_path / "golden.json"
    path.write_text(json.dumps(golden))
    passed = passed_tests([Path(__file__).with_name("verdicts.test.mjs")], HEDGE_GOLDEN=str(path))
    assert passed == len(rules) * len(CASES)
