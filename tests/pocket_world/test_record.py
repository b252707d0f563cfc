"""The recorded runs are what the shipped models answer to the shipped bank."""

from __future__ import annotations

import json
import random
import shutil
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from core.errors import InputError
from core.models.engine import Engine
from core.models.engine_factory import load_engine
from core.models.perplexity import choices, conversations
from core.models.perplexity.scoring import Scorer
from core.questions import bank
from core.reports import perplexity_results
from core.runs.execution import perplexity_run
from core.runs.prompts import draw_questions, prompts
from core.runs.shared_questions import FOLDER as SHARED
from core.runs.shared_questions import questions_file
from core.runs.spec import RunSpec
from core.storage.sealed import digest_of
from pocket_world.record import FOLDER, leave_out, record, recorded_specs
from tests.parameters import rest_nightly


def spec_of(folder: Path) -> RunSpec:
    return RunSpec.from_json(json.loads((folder / "run.json").read_text(encoding="utf-8"))["spec"])


@lru_cache(maxsize=2)
def engine_of(model: str, dtype: str) -> Engine:
    return load_engine(model, dtype=dtype, batch_size=None)


RUNS = [folder for folder in sorted(FOLDER.iterdir()) if spec_of(folder).answers]
OF_WORDS = [folder for folder in sorted(FOLDER.iterdir()) if not spec_of(folder).answers]
SMALLEST = [folder for folder in (*RUNS, *OF_WORDS) if spec_of(folder).model == "pocket-1m"]


def test_there_are_some() -> None:
    assert {spec_of(folder).model for folder in RUNS} >= {"pocket-1m"}
    files = [path for folder in (FOLDER, SHARED) for path in folder.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 10 * 2**20


def test_recorded_runs_share_their_questions() -> None:
    shared = {questions_file(folder) for folder in RUNS}
    assert shared == set(SHARED.glob("*.parquet"))
    assert len(shared) < len(RUNS) / 3
    for path in shared:
        assert digest_of(path) == path.stem


def test_runs_that_tell_nothing_go(tmp_path: Path) -> None:
    specs = {model: recorded_specs(model) for model in ("pocket-1m", "pocket-8m")}
    assert [(spec.task, spec.form, spec.dtype) for spec in specs["pocket-1m"]] == [
        ("qa", "letters", "float32"),
        ("qa", "cloze", "float32"),
        *((task, "letters", "float32") for task in ("rc", "ci", "drs", "ds")),
    ]
    assert len(specs["pocket-8m"]) == 5 * 3 + 1 + 1 + 6  # tasks by strategies, bfloat16, cloze, shots
    assert {spec.strategy for spec in specs["pocket-8m"]} == {"base", "shared", "task"}

    kept = [folder for folder in RUNS if spec_of(folder).model == "pocket-1m" and spec_of(folder).task == "qa"]
    told = json.loads((kept[0] / "run.json").read_text(encoding="utf-8"))
    told["spec"]["strategy"] = "task"
    other = tmp_path / "runs" / RunSpec.from_json(told["spec"]).run_id
    for folder in kept:
        shutil.copytree(folder, tmp_path / "runs" / folder.name)
    shutil.copytree(kept[0], other)
    (other / "run.json").write_text(json.dumps(told), encoding="utf-8")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / questions_file(kept[0]).name).touch()
    (tmp_path / "shared" / "0123.parquet").touch()
    assert leave_out("pocket-1m", folder=tmp_path / "runs", shared=tmp_path / "shared") == [other.name]
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {folder.name for folder in kept}
    assert [path.name for path in (tmp_path / "shared").iterdir()] == [questions_file(kept[0]).name]


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_a_recorded_run_is_of_the_questions_that_ship(folder: Path) -> None:
    spec = spec_of(folder)
    assert spec.run_id == folder.name
    kept = json.loads((folder / "run.json").read_text(encoding="utf-8"))["provenance"]["data_fingerprint"]
    assert kept == bank.fingerprint(draw_questions(spec).questions)


@pytest.mark.parametrize(
    "folder",
    rest_nightly([folder for folder in RUNS if spec_of(folder).strategy == "base"], now=SMALLEST),
    ids=lambda folder: folder.name,
)
def test_it_comes_out_the_same(folder: Path) -> None:
    """Ten of its questions are asked again; probabilities differ by less than 1e-4 in float32.

    A bfloat16 logit of 16 to 32 comes in steps of an eighth, and processors round differently: one step moves a
    probability by up to 0.031, and two are let pass. Many processors compute slowly in bfloat16.
    """
    spec = spec_of(folder)
    kept = pq.read_table(folder / "logits.parquet").to_pydict()
    recorded = dict(zip(kept["id"], kept["logits"], strict=True))
    asked = random.Random(folder.name).sample(prompts(spec, draw_questions(spec)), 10)
    engine = engine_of(spec.model, spec.dtype)
    engine.prepare(asked)
    tolerance = 1e-4 if spec.dtype == "float32" else 6.5e-2
    for batch in engine.score(asked):
        for name, logits in zip(batch.ids, batch.logits, strict=True):
            np.testing.assert_allclose(softmax(logits), softmax(recorded[name]), rtol=0, atol=tolerance)


@pytest.mark.parametrize("folder", rest_nightly(OF_WORDS, now=SMALLEST), ids=lambda folder: folder.name)
def test_words_are_of_what_ships_and_come_out_the_same(folder: Path) -> None:
    spec = spec_of(folder)
    assert spec.run_id == folder.name
    request = perplexity_run.read_request(spec)
    assert set(request.conversations) == set(conversations.bundled())
    assert request.choices == choices.read(choices.BUNDLED)
    part = next(request.parts())
    scorer = Scorer.load(spec.model, dtype=spec.dtype)
    first = scorer.lay_out([part], mode=request.mode)[0][0]
    ((_, found),) = scorer.score(part.windows[:1], [first])
    recorded = perplexity_results.read(folder.name).messages[part.prompt.digest, part.source][0]
    assert found.pieces == recorded.pieces
    np.testing.assert_allclose(found.losses, recorded.losses, rtol=0, atol=1e-3)


def softmax(values) -> np.ndarray:
    raised = np.exp(np.asarray(values, dtype=np.float64) - np.max(values))
    return raised / raised.sum()


def test_specs() -> None:
    specs = recorded_specs("pocket-1m")
    assert len(specs) == len({spec.run_id for spec in specs}) == 6
    assert [spec.form for spec in recorded_specs("pocket-8m") if spec.dtype == "bfloat16"] == ["letters"]
    with_shots = [(spec.form, spec.shots) for spec in recorded_specs("pocket-8m") if spec.shots]
    assert with_shots == [(form, shots) for form in ("letters", "cloze") for shots in (1, 2, 5)]


def test_an_unknown_task_is_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="arc"):
        record("pocket-1m", tasks=["arc"], folder=tmp_path)


def test_words_of_other_texts_go(tmp_path: Path) -> None:
    (kept,) = [folder for folder in OF_WORDS if spec_of(folder).model == "pocket-1m"]
    told = json.loads((kept / "run.json").read_text(encoding="utf-8"))
    told["spec"]["task"] = "perplexity@0123456789"
    other = tmp_path / "runs" / RunSpec.from_json(told["spec"]).run_id
    for target in (other, tmp_path / "runs" / kept.name):
        shutil.copytree(kept, target)
    (other / "run.json").write_text(json.dumps(told), encoding="utf-8")
    assert leave_out("pocket-1m", folder=tmp_path / "runs", shared=tmp_path) == [other.name]
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [kept.name]
