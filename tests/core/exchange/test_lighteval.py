"""lighteval: details of both layouts, made here in their shape."""

import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from core.exchange import lighteval

pytestmark = pytest.mark.quick

NAME = "details_leaderboard|arc:challenge|25|0_2024-05-01T10-00-00.000000.parquet"


def write(tmp_path, rows, name=NAME):
    folder = tmp_path / "details" / "org" / "small" / "2024-05-01T10-00-00"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    pd.DataFrame(rows).to_parquet(path)
    return path


def old(i: int, *, as_text: bool) -> dict:
    row = {
        "example": f"Question: which is {i}?",
        "full_prompt": f"… Question: which is {i}?",
        "choices": [" one", " two's", " three"],
        "gold_index": [i % 3],
        "predictions": [(-1.0, True), (-2.0, False), (-3.5, False)],
    }
    row["predictions"] = repr(row["predictions"]) if as_text else [str(pair[0]) for pair in row["predictions"]]
    return row | ({"choices": repr(row["choices"]), "gold_index": repr(row["gold_index"])} if as_text else {})


def new(i: int) -> dict:
    return {
        "doc": {"query": f"Which is {i}?", "choices": ["A", "B", "C"], "gold_index": [i % 3], "id": str(i)},
        "model_response": {"logprobs": [-1.0, -2.0, -3.5], "text": []},
        "metric": {"acc": 1.0},
    }


@pytest.mark.parametrize("as_text", [True, False])
def test_the_older_layout(tmp_path, as_text):
    run = lighteval.read(write(tmp_path, [old(i, as_text=as_text) for i in range(6)]))
    assert (run.spec.model, run.spec.task, run.spec.shots) == ("org/small", "arc:challenge", 25)
    assert run.scored.logits.tolist() == [[-1.0, -2.0, -3.5]] * 6
    assert [question.label for question in run.questions] == [0, 1, 2, 0, 1, 2]
    assert run.questions[0].options == ("one", "two's", "three")
    assert run.spec.form == "cloze"


def test_the_newer_layout(tmp_path):
    run = lighteval.read(write(tmp_path, [new(i) for i in range(6)], "details_arc_2025-05-01T10-00-00.parquet"))
    assert run.scored.logits.tolist() == [[-1.0, -2.0, -3.5]] * 6
    assert run.spec.form == "letters"
    assert run.questions[5].id == "5"
    assert run.provenance["lacks"] == []


def test_a_generative_task_is_refused(tmp_path):
    rows = [new(i) for i in range(4)]
    for row in rows:
        row["model_response"] = {"logprobs": [], "text": ["A"]}
    with pytest.raises(InputError, match="row 1: expected the log-likelihood of each of 3 choices, found 0"):
        lighteval.read(write(tmp_path, rows))


def test_several_right_choices_are_refused(tmp_path):
    rows = [new(i) for i in range(4)]
    rows[2]["doc"]["gold_index"] = np.array([0, 1])
    with pytest.raises(InputError, match="row 3: expected one right choice"):
        lighteval.read(write(tmp_path, rows))
