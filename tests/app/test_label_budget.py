"""The label budget's script shows the numbers that Python computed."""

import json
from pathlib import Path

import numpy as np

from core.jury.label_budget import FEWEST
from core.jury.label_draw import JudgedAnswers, sample_of
from core.reports.label_budget import curve, judge_uses
from tests.app.javascript import passed_tests
from tests.core.jury.verdicts import seeded_jury


def labels(n: int) -> str:
    return f"{n:,} {'label' if n == 1 else 'labels'}"


def percent(share: float) -> str:
    return f"{share:.1%}"


def texts(row: dict[str, float]) -> dict[str, str]:
    n, worth = int(row["n"]), int(np.floor(row["worth"] + 0.5))
    weight = f"λ = {row['weight']:.2f}"
    return {
        "labels": labels(n),
        "judged": f"{percent(row['value'])}",
        "judgedInterval": f"{percent(row['low'])} to {percent(row['high'])}",
        "alone": f"{percent(row['alone'])}",
        "aloneInterval": f"{percent(row['alone_low'])} to {percent(row['alone_high'])}",
        "worth": labels(worth),
        "saved": f"too few labels to learn about a judge, which takes {FEWEST}"
        if n < FEWEST
        else f"the judge saves {labels(worth - n)} ({weight})"
        if worth > n
        else f"the judge saves none ({weight})",
    }


def test_the_browser_shows_what_python_computed(tmp_path: Path):
    judged = JudgedAnswers.of(seeded_jury(1111))
    rows = curve(judged, sample_of(judged, seed=0), judge_uses(judged.judgements)[0])
    numbers = rows["n"].tolist()
    golden = {
        "columns": {name: rows[name].tolist() for name in rows},
        "places": [[n, max(np.searchsorted(numbers, n, side="right").item() - 1, 0)] for n in (0, 10, 57, 207, 1200)],
        "texts": [texts(row) for row in rows.to_dict("records")],
        "fewest": FEWEST,
    }
    path = tmp_path / "golden.json"
    path.write_text(json.dumps(golden))
    assert passed_tests([Path(__file__).with_name("label_budget.test.mjs")], HEDGE_GOLDEN=str(path)) == 3
