import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from core.errors import InputError
from core.exchange import llm_uncertainty_bench as bench
from core.exchange.imported import logits_dtype, save
from core.runs import store
from core.settings import settings
from tests.core.exchange.drops import read_logits

pytestmark = pytest.mark.quick


def write(folder: Path, *, n=40, name="Tiny-1B_halu_dialogue_base_icl1.pkl", answers=None, rows=None) -> Path:
    labels = answers or [{"id": i, "answer": "ABCD"[i % 4]} for i in range(n)]
    (folder / "halu_dialogue.labels.json").write_text(json.dumps({"labels": labels}))
    logits = np.random.default_rng(0).normal(size=(n, 6)).astype(np.float32)
    path = folder / name
    path.write_bytes(pickle.dumps(rows or [{"id": i, "logits_options": logits[i]} for i in range(n)]))
    return path


def test_names_roles_and_labels(tmp_path):
    (run,) = read_logits([write(tmp_path)], labels=tmp_path)
    assert (run.spec.model, run.spec.task, run.spec.strategy, run.spec.shots) == ("Tiny-1B", "drs", "base", 3)
    assert [q.id for q, r in zip(run.questions, run.roles, strict=True) if r == "demonstration"] == list("13579")
    assert [q.label for q in run.questions][:5] == [0, 1, 2, 3, 0]
    assert run.roles.count("calibration") == 17
    assert run.roles.count("test") == 18


@pytest.mark.parametrize("n", [40, 41, 9999, 10000])
def test_the_split_is_scikit_learns(n):
    roles = bench.published_roles(range(n))
    rest = [i for i in range(n) if i not in bench.DEMONSTRATION_IDS]
    calibration, test = train_test_split(rest, train_size=0.5, random_state=42)
    assert {i for i, role in enumerate(roles) if role == "calibration"} == set(calibration)
    assert {i for i, role in enumerate(roles) if role == "test"} == set(test)


def test_the_same_files_are_one_run_and_others_another(home, tmp_path):
    path = write(tmp_path)
    ids = save(read_logits([path], labels=tmp_path))
    assert save(read_logits([path], labels=tmp_path)) == ids
    write(tmp_path, n=50)
    assert save(read_logits([path], labels=tmp_path)) != ids
    assert store.read_record(ids[0]).spec.origin == "llm-uncertainty-bench"


def test_whole_questions_are_kept(home, tmp_path):
    path = write(tmp_path)
    choices = dict(zip("ABCDEF", ["one", "two", "three", "four", "I don't know", "None of the above"], strict=True))
    items = [
        {"id": i, "answer": "B", "question": f"Why {i}?", "context": "c", "choices": choices, "subject": "s"}
        for i in range(40)
    ]
    (tmp_path / "halu_dialogue.json").write_text(json.dumps(items))
    (run,) = read_logits([path], labels=tmp_path)
    assert (run.questions[2].question, run.questions[2].group, run.questions[2].options[1]) == ("Why 2?", "s", "two")


def rows(n=40, k=6):
    return [{"id": i, "logits_options": np.zeros(k, dtype=np.float32)} for i in range(n)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"rows": rows()[:1] * 2}, "stands twice"),
        ({"rows": [{"id": 99, "logits_options": np.zeros(6)}]}, "has no answer"),
        ({"rows": rows(k=5)}, "6 options but 5 logits"),
        ({"rows": [{"id": 0, "logits_options": np.array([np.nan] * 6)}]}, "must be a number"),
        ({"rows": [{"id": 0}]}, "an id and logits_options"),
        ({"rows": {"id": 0}}, "expected a list"),
        ({"answers": [{"id": 0, "answer": "G"}]}, "outside the options"),
        ({"answers": [{"id": 0}]}, "is not a list of questions"),
    ],
)
def test_bad_files_are_named_and_nothing_is_written(home, tmp_path, change, says):
    good = write(tmp_path, name="Good_halu_dialogue_base_icl1.pkl")
    bad = write(tmp_path, **change)
    with pytest.raises(InputError, match=says):
        save(read_logits([good, bad], labels=tmp_path))
    assert not settings().runs.exists()


def test_the_precision_is_read_off_the_logits():
    values = np.random.default_rng(0).normal(size=(20, 6)).astype(np.float32)
    assert logits_dtype(values) == "float32"
    assert logits_dtype(values.astype(np.float16).astype(np.float32)) == "float16"
    # Small values are subnormal in float16, so that precision can't hold what bfloat16 can.
    tiny = (values * np.float32(1e-6)).view(np.uint32) & np.uint32(0xFFFF0000)
    assert logits_dtype(tiny.view(np.float32)) == "bfloat16"
