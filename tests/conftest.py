"""Fixtures for all tests: a home of their own, real data and models if they are installed, synthetic runs."""

import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest

from core.exchange.imported import ImportedRun, save
from core.questions.option_names import OF_CLASSES, are_classes, of_order
from core.records import DONT_KNOW, NONE_OF_ABOVE, OptionLogits, Question, Role
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from core.storage.sealed import SEALED
from tests import needs
from tests.processes import end_all

# Other work shares the processors: a slow example is no fault. The test line draws the same examples each time, so that
# it fails for what changed; every night `random` draws others.
hypothesis.settings.register_profile("hedge", deadline=None, derandomize=True)
hypothesis.settings.register_profile("random", deadline=None)
hypothesis.settings.load_profile("hedge")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty HEDGE_HOME."""
    folder = tmp_path / "home"
    monkeypatch.setenv("HEDGE_HOME", str(folder))
    monkeypatch.delenv("HEDGE_DATABASE_URL", raising=False)
    return folder


@pytest.fixture
def fake_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with the fake model; whatever was started in it ends with the test."""
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    yield home
    end_all(home)


def _outside(variable: str, what: str) -> Path:
    """The folder that a variable names; without it the test skips, and with a wrong one it fails."""
    value = os.environ.get(variable) or needs.missing(what)
    folder = Path(value)
    assert folder.is_dir(), f"{variable} names {folder}, which is no folder"
    return folder


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Published results of other tools."""
    return _outside("HEDGE_REAL_DATA", "published results")


@pytest.fixture(scope="session")
def real_models() -> Path:
    """A small pretrained model."""
    return _outside("HEDGE_REAL_MODELS", "a pretrained model")


def without_digests(path: Path) -> Any:
    """The content of one of Hedge's JSON files, as an older version would have written it."""
    plain = json.loads(path.read_bytes(), object_hook=lambda values: {k: values[k] for k in values if k != SEALED})
    return {name: plain[name] for name in plain if name != "files"} if isinstance(plain, dict) else plain


def synthetic_questions(n: int, *, k: int = 6, seed: int = 0) -> list[Question]:
    """n questions of k options with seeded labels."""
    labels = np.random.default_rng(seed).integers(0, max(k - 2, 2), n)
    return [
        Question(
            id=f"q{i}",
            task="qa",
            group=("colours", "sums")[i % 2],
            context="",
            question=f"Which option of question {i} is right?",
            options=(*(f"option {j} of {i}" for j in range(k - 2)), DONT_KNOW, NONE_OF_ABOVE),
            label=int(labels[i]),
        )
        for i in range(n)
    ]


def synthetic_run(
    n: int = 200,
    *,
    k: int = 6,
    seed: int = 0,
    model: str = "synthetic",
    signal: float = 1.5,
    task: str = "qa",
    shots: int = 0,
    model_fingerprint: str = "",
    ordered: bool = False,
) -> str:
    """Write a finished run of n questions into HEDGE_HOME; half calibrate. The options of ``ordered`` questions are k
    levels. Returns its id."""
    questions = synthetic_questions(n, k=k, seed=seed)
    if ordered:
        levels = tuple(f"level {level}" for level in range(k))
        questions = [replace(question, options=levels, ordered=True) for question in questions]
    logits = np.random.default_rng(seed).normal(size=(n, k)).astype(np.float32) * 1.5
    logits[np.arange(n), [q.label for q in questions]] += signal
    spec = RunSpec(model=model, task=task, seed=seed, shots=shots, model_fingerprint=model_fingerprint)
    record = RunRecord(spec=spec, state="queued", created=time.time(), provenance=of_order(questions))
    folder = store.create(record)
    store.write_questions(folder, questions, ["calibration" if i < n // 2 else "test" for i in range(n)])
    store.write_logits(folder, OptionLogits(tuple(q.id for q in questions), logits, np.ones(n, dtype=np.float32)))
    store.update_record(spec.run_id, state="done", ended=time.time())
    return spec.run_id


def give_files(folder: Path) -> str:
    """Write questions and logits into a run's folder, which a run that is done has. Returns its id."""
    questions = synthetic_questions(4)
    logits = np.zeros((4, 6), dtype=np.float32)
    store.write_questions(folder, questions, ["calibration", "calibration", "test", "test"])
    store.write_logits(folder, OptionLogits(tuple(q.id for q in questions), logits, np.ones(4, dtype=np.float32)))
    return folder.name


def classifier_run(names: Sequence[str], n: int = 200, *, model: str = "forest", texts: Sequence[str] = ()) -> str:
    """Import the probabilities of a classifier of n inputs, as the reader of tables gives them; half calibrate. Each
    class is true as often. Returns the run's id."""
    k = len(names)
    rng = np.random.default_rng(k)
    labels = rng.permutation(np.arange(n) % k)
    logits = rng.normal(size=(n, k)).astype(np.float32)
    logits[np.arange(n), labels] += 3
    questions = tuple(
        Question(str(i), "inputs", "inputs", "", f"{texts[i] if texts else f'input {i}'}", tuple(names), int(labels[i]))
        for i in range(n)
    )
    spec = RunSpec(model=model, task="inputs", origin="table", fingerprint=f"{k:016x}")
    provenance: dict[str, Any] = {"texts": bool(texts)} | ({OF_CLASSES: True} if are_classes(questions) else {})
    scored = OptionLogits(tuple(q.id for q in questions), logits, np.full(n, np.nan, np.float32))
    roles: tuple[Role, ...] = tuple("calibration" if i < n // 2 else "test" for i in range(n))
    (run_id,) = save([ImportedRun(spec, questions, roles, scored, provenance)])
    return run_id
