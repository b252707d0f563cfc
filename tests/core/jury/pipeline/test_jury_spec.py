"""The settings of a jury pipeline: its questions and their parts, and bad requests."""

import json
from dataclasses import replace

import numpy as np
import pytest

from core.errors import InputError
from core.jury.pipeline import jury_spec
from core.jury.pipeline.jury_spec import JurySpec

pytestmark = pytest.mark.quick

SPEC = JurySpec(base="pocket-1m", jurors=("pocket-1m",) * 3, samples=60)


def test_a_fact_and_its_inverse_stay_on_one_side() -> None:
    spec = replace(SPEC, samples=None)
    parts = jury_spec.split(jury_spec.drawn(spec), spec)
    clusters = [{q.cluster for q in part} for part in parts]
    assert not clusters[0] & clusters[1]
    assert not (clusters[0] | clusters[1]) & clusters[2]
    sizes = np.array([len(part) for part in parts]) / sum(map(len, parts))
    np.testing.assert_allclose(sizes, [1 / 3, 1 / 3, 1 / 3], atol=0.02)
    own = [{q.id for q in jury_spec.own_part(parts[0], spec, place)} for place in range(3)]
    assert len(own[0] & own[1]) < len(own[0])


def test_questions_that_are_for_tuning_tune(tmp_path) -> None:
    rows = [{"question": f"What is {n}?", "answer": str(n), "tuning": n % 4 == 0} for n in range(40)]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = JurySpec(base="pocket-1m", jurors=("pocket-1m",) * 2, questions=str(path), tune_share=0.9)
    tuning, calibration, test = jury_spec.split(jury_spec.drawn(spec), spec)
    assert {int(q.normalized_aliases[0]) for q in tuning} == set(range(0, 40, 4))
    assert len(calibration) == len(test) == 15


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"jurors": ("pocket-1m",)}, "at least two jurors, got 1"),
        ({"samples": 3}, "at least 8, got 3"),
        ({"tune_share": 1.0}, r"tune share must lie in \(0, 1\), got 1"),
        ({"dtype": "int3"}, "unknown dtype 'int3'"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"rate": 3.0}, "learning rate must lie in"),
    ],
)
def test_requests_that_make_no_path(change, says) -> None:
    with pytest.raises(InputError, match=says):
        replace(SPEC, **change)


def test_models_and_questions_that_are_not_there(home, tmp_path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        jury_spec.create(replace(SPEC, base="./gone"))
    with pytest.raises(InputError, match="there is no file"):
        jury_spec.create(replace(SPEC, questions=str(tmp_path / "gone.jsonl")))
    assert jury_spec.path_ids() == []
    with pytest.raises(InputError, match="is not a jury pipeline"):
        jury_spec.folder_of("../runs")
