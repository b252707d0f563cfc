"""VLM-Uncertainty-Bench: the published files give the published figures."""

import csv
import pickle

import numpy as np
import pytest

from core.errors import InputError
from core.exchange import vlm_uncertainty_bench as vlm
from core.reports.imported_figures import evaluation
from core.reports.scored_sets import form

pytestmark = pytest.mark.quick


def row(i: int) -> dict:
    texts = {"A": "one", "B": "two", "C": "three", "D": "four"}
    return {"id": i, "question": f"How many {i}?", "answer": "ABCD"[i % 4], "logits": np.arange(6) * 1.5} | texts


def write(tmp_path, rows):
    (tmp_path / "small").mkdir(exist_ok=True)
    path = tmp_path / "small" / "oodcv.pkl"
    path.write_bytes(pickle.dumps(rows))
    return path


def test_options_and_names(tmp_path):
    run = vlm.read(write(tmp_path, [row(i) for i in range(8)]))
    assert (run.spec.model, run.spec.task) == ("small", "oodcv")
    assert run.questions[0].options == ("one", "two", "three", "four", "I don't know", "None of the above")
    assert (run.roles.count("calibration"), run.roles.count("test")) == (4, 4)


def test_a_token_id_behind_the_logits_is_left_out(tmp_path):
    """The authors' program appends the id of the top token, which makes the array one of double precision."""
    rows = [row(i) | {"logits": np.append(np.arange(6, dtype=np.float32), 319)} for i in range(8)]
    run = vlm.read(write(tmp_path, rows))
    assert run.scored.logits.tolist() == [[0, 1, 2, 3, 4, 5]] * 8
    assert run.provenance["precision"] == "double"
    run = vlm.read(write(tmp_path, [row(i) | {"logits": np.arange(6, dtype=np.float32)} for i in range(8)]))
    assert "precision" not in run.provenance


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"answer": "G"}, "row 3: expected the answer as a letter of 6 options, found 'G'"),
        ({"answer": "F"}, "row 3: expected an answer as the truth"),
        ({"logits": [1.0, float("nan")]}, "row 3: expected numbers as logits"),
        ({"logits": np.arange(5.0)}, "expected as many logits in every row, found from 5 to 6"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, change, says):
    rows = [row(i) for i in range(8)]
    rows[2] |= change
    with pytest.raises(InputError, match=says):
        vlm.read(write(tmp_path, rows))


def test_published_accuracies_come_out_to_the_last_digit(real_data):
    """And mean LAC set sizes within what the published threshold, which is not the exact one, changes."""
    folder = real_data / "vlm-uncertainty-bench"
    tables = {}
    for name in ("acc", "set_sizes_LAC"):
        with (folder / "tables" / f"{name}.csv").open() as file:
            tables[name] = {line["model_name"]: line for line in csv.DictReader(file)}
    for path in sorted((folder / "output").glob("*/*.pkl")):
        run = vlm.read(path)
        made = evaluation(run)
        right = made.probabilities[made.test].argmax(axis=1) == made.labels[made.test]
        model, task = run.spec.model, run.spec.task
        assert right.mean() == pytest.approx(float(tables["acc"][model][task]), abs=1e-12)
        sizes = form(made, "lac", 100, method="paper", empty="top1").members.sum(axis=1)
        assert sizes.mean() == pytest.approx(float(tables["set_sizes_LAC"][model][task]), abs=0.01)
