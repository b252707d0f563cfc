"""Answer or pass in the browser equals core's to the last bit: Node's test runner beside values that Python writes."""

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.conformal.selective import (
    SelectiveAnswers,
    SelectiveResult,
    critical_errors,
    error_bound,
    fewest_answers,
    selective,
)
from core.reports import answer_or_pass
from core.reports.report import finite
from core.settings import ROOT
from tests.app.javascript import passed_tests

SCRIPT = ROOT / "app" / "components" / "shared" / "selective" / "selective.js"
LAWS = (
    (0.1, 0.1, 3000),
    (0.05, 0.1 / 3, 1000),
    (0.001, 0.05, 7000),
    (0.5, 0.001, 400),
    (0.333, 0.2, 400),
    (0.999, 0.5, 50),
)
SETTINGS = ((100, 100), (150, 100), (50, 20), (1, 1), (500, 500), (333, 37))


def answers(n: int, judges: int, *, seed: int, places: int = 12, never: float = 0.0) -> SelectiveAnswers:
    """Answers whose risk falls with their confidence, which is rounded to some ``places``; a share is never given."""
    rng = np.random.default_rng(seed)
    sure = np.round(1 - rng.random((n, judges)) ** 2 / 2, places)
    wrong = (rng.random((n, judges)) < 0.9 * (1 - sure)).astype(np.float64)
    none = rng.random((n, judges)) < never
    return SelectiveAnswers(np.where(none, 0.0, sure), np.where(none, 0.5, wrong))


def of(confidence: list[float], wrong: int) -> SelectiveAnswers:
    """Answers with these confidences, the last of them wrong."""
    n = len(confidence)
    return SelectiveAnswers(np.array(confidence, dtype=np.float64)[:, None], (np.arange(n) >= n - wrong)[:, None] * 1.0)


CASES = {
    "one judge": (answers(400, 1, seed=1), answers(380, 1, seed=2)),
    "three judges": (answers(300, 3, seed=3), answers(301, 3, seed=4)),
    "ties": (answers(200, 2, seed=5, places=1), answers(200, 2, seed=6, places=1)),
    "some never answer": (answers(150, 2, seed=7, never=0.4), answers(90, 2, seed=8, never=0.4)),
    "nobody answers": (answers(40, 1, seed=9, never=1.0), answers(40, 1, seed=10, never=1.0)),
    "ten labels": (answers(10, 2, seed=11), answers(10, 2, seed=12)),
    "10,000 verdicts": (answers(5000, 2, seed=13), answers(5000, 2, seed=14)),
    "one label": (answers(1, 1, seed=15), answers(80, 1, seed=16)),
    "one sure answer": (of([0.9, *[0.2] * 59], 1), of([0.9, *[0.2] * 79], 5)),
    "sets of 1 to 3 options": (of([4, 3, 2] * 40, 3), of([4, 3, 2] * 20, 8)),
    "empty sets": (of([0] * 60, 3), of([0] * 80, 5)),
    "sets of one size": (of([3] * 60, 1), of([3] * 80, 1)),
}


def _words(result: SelectiveResult, k: int) -> dict[str, Any]:
    alone = len(result.stages) == 1
    return {
        "headline": answer_or_pass.headline(result),
        "promise": answer_or_pass.promise_words(result),
        "from": [answer_or_pass.threshold_words(stage.threshold, k) for stage in result.stages],
        "notes": [answer_or_pass.stage_notes(stage, result.alpha, alone=alone, k=k) for stage in result.stages],
    }


def _columns(side: SelectiveAnswers) -> list[dict[str, Any]]:
    return [
        {"confidence": side.confidence[:, j].tolist(), "wrong": side.wrong[:, j].tolist()}
        for j in range(side.wrong.shape[1])
    ]


def test_the_browsers_thresholds_and_words_equal_pythons(tmp_path: Path):
    golden = {
        "arithmetic": [
            {
                "alpha": alpha,
                "delta": delta,
                "n": n,
                "critical": critical_errors(n, alpha, delta).tolist(),
                "fewest": fewest_answers(alpha, delta),
                "bounds": [
                    [errors, m, finite(error_bound(errors, m, delta))]
                    for m in (0, 1, 10, n)
                    for errors in {0, m // 7, m // 2, m}
                ],
            }
            for alpha, delta, n in LAWS
        ],
        "cases": [
            {
                "name": name,
                "calibration": _columns(calibration),
                "judged": _columns(judged),
                "k": k,
                "results": [finite(asdict(result)) | {"words": _words(result, k)} for result in results],
            }
            for name, (calibration, judged) in CASES.items()
            for k in [4 if "sets" in name else 0]
            for results in [[selective(calibration, judged, alpha, delta) for alpha, delta in SETTINGS]]
        ],
    }
    path = tmp_path / "selective.json"
    path.write_text(json.dumps(golden))
    passed = passed_tests([Path(__file__).with_name("selective.test.mjs")], HEDGE_GOLDEN=str(path))
    assert passed == len(LAWS) + len(CASES) * len(SETTINGS)


@pytest.mark.quick
def test_the_arithmetic_knows_no_page_and_uses_what_both_languages_round_alike():
    text = SCRIPT.read_text(encoding="utf-8")
    assert not re.search(r"\b(document|window|HTMLElement)\b", text)
    assert set(re.findall(r"Math\.(\w+)", text)) <= {"max", "min", "floor"}
    assert "**" not in text
