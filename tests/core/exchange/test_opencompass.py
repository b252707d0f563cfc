"""OpenCompass: predictions as its inferencers write them, made here in their shape."""

import json

import numpy as np
import pytest

from core.errors import InputError
from core.exchange import opencompass

pytestmark = pytest.mark.quick


def ppl(i: int, losses=(1.0, 2.0, 3.0), gold="A", key="PPL") -> dict:
    row = {
        f"label: {letter}": {"testing input": f"Q{i}? Answer: {letter}", "prompt": f"Q{i}? Answer: {letter}", key: loss}
        for letter, loss in zip("ABC", losses, strict=True)
    }
    return row | {"in-context examples": "", "prediction": "A", "gold": gold}


def write(tmp_path, rows, name="ARC-c.json"):
    folder = tmp_path / "predictions" / "small-7b"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(json.dumps({str(i): row for i, row in enumerate(rows)}))
    return path


def test_a_lower_loss_is_a_higher_logit(tmp_path):
    run = opencompass.read(write(tmp_path, [ppl(i, gold="ABC"[i % 3]) for i in range(6)]))
    assert (run.spec.model, run.spec.task, run.spec.form) == ("small-7b", "ARC-c", "cloze")
    assert run.scored.logits[0].tolist() == [-1.0, -2.0, -3.0]
    assert [question.label for question in run.questions] == [0, 1, 2, 0, 1, 2]
    assert run.questions[4].question == "Q4? Answer:"


def test_log_likelihoods_are_taken_as_they_are(tmp_path):
    run = opencompass.read(write(tmp_path, [ppl(i, (-1.0, -2.0, -4.0), key="Loglikelihood") for i in range(4)]))
    assert run.scored.logits[0].tolist() == [-1.0, -2.0, -4.0]


def test_probabilities_of_choices_are_read(tmp_path):
    rows = [
        {"testing input": f"Q{i}?", "choices": ["A", "B"], "prediction": [0.8, 0.2], "pred_label": 0, "gold": "B"}
        for i in range(4)
    ]
    run = opencompass.read(write(tmp_path, rows))
    assert run.scored.logits[0].tolist() == pytest.approx(np.log([0.8, 0.2]).tolist(), abs=1e-6)
    assert run.spec.form == "letters"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"origin_prompt": "Q?", "prediction": "A", "gold": "A"}, "found only the model's text in 'prediction'"),
        ({key: one for key, one in ppl(0).items() if key != "gold"}, "expected the right option in 'gold', found none"),
        (ppl(0, gold="Z"), "expected 'gold' as one of 'A, B, C', found 'Z'"),
        (ppl(0, gold="²"), "expected 'gold' as one of 'A, B, C', found '²'"),
        (ppl(0, losses=(1.0, "x", 2.0)), "expected PPL as a number, found 'x'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, row, says):
    with pytest.raises(InputError, match=says) as raised:
        opencompass.read(write(tmp_path, [row] * 4))
    assert "question 0" in str(raised.value)
