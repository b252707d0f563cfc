"""The adapter that makes pocket-8m humble: what it learns from, what it learns, and that it can be made again."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from scipy.special import softmax

from core.models.engine_factory import load_engine
from core.models.folders import ADAPTER, ADAPTER_WEIGHTS, TRAINING
from core.models.perplexity import conversations
from core.questions.prompting.strategies import prompt
from core.runs.prompts import draw_questions, prompts
from core.runs.spec import RunSpec
from core.settings import ASSETS
from pocket_world import bank, humble
from pocket_world.contamination import Guard, audit
from pocket_world.documents import lettered
from pocket_world.recipes import HUMBLE
from pocket_world.stream import TASKS, Stream
from tests.parameters import rest_nightly


@pytest.fixture(scope="module")
def stream() -> Stream:
    return Stream(Guard.of(bank.questions(), conversations.bundled()))


@pytest.mark.parametrize("task", rest_nightly(TASKS, now=["qa"]))
def test_no_question_of_the_bank_is_fitted_on_or_learned_from(
    stream: Stream, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    monkeypatch.setattr(humble, "FITTED", {task: 200})
    monkeypatch.setattr(humble, "LEARNED", {task: 60})
    fitted, learned = humble.like_the_bank(task, stream.guard), humble.learned(task, stream)
    assert (len(fitted), len(learned) > 50) == (200, True)
    overlaps = audit([*(lettered([question]) for question in fitted), *learned], bank.questions())
    assert (overlaps["bank questions"], overlaps["runs of the bank"]) == (0, 0)
    assert {question.task for question in fitted} == {task}
    assert max(document.text.count("Answer:") for document in learned) > 1


def test_only_letters_are_at_a_temperature() -> None:
    """From the states come the logits that the engine gives; at a temperature the letters have as much together."""
    distiller = humble.Distiller(ASSETS / "models" / humble.BASE)
    question = bank.questions()[0]
    scored = next(load_engine(humble.BASE, dtype="float32").score([prompt(question, strategy="base")])).logits[0]
    states, following = distiller.states([lettered([question])])
    (own,) = distiller.logits(states)[:, distiller.letters].detach()
    assert softmax(own.numpy()) == pytest.approx(softmax(scored), abs=1e-5)
    assert following.tolist() == distiller.tokenizer.encode(f" {question.letter}")
    plain, warm = (distiller.at_temperature(states, temperature).exp() for temperature in (1.0, 3.0))
    rest = torch.ones(plain.shape[1], dtype=torch.bool)
    rest[distiller.letters] = False
    assert torch.allclose(plain[:, rest], warm[:, rest], atol=1e-6)
    assert warm.sum() == pytest.approx(1, abs=1e-4)
    wanted = softmax(own.numpy() / 3) * float(plain[:, ~rest].sum())
    assert warm[0, distiller.letters].numpy() == pytest.approx(wanted, abs=1e-5)


def test_the_adapter_is_made_on_the_model_that_ships(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "LEARNED": dict.fromkeys(TASKS, 12),
        "UNCHANGED": {"answered": 8},
        "STEPS": 20,
    }.items():
        monkeypatch.setattr(humble, name, value)
    monkeypatch.setattr(
        humble, "like_the_bank", lambda task, guard: [q for q in bank.questions() if q.task == task][:20]
    )
    monkeypatch.setattr(humble, "record_fingerprints", lambda: None)
    assert humble.make_humble(tmp_path).startswith("qa ")
    shipped = ASSETS / "adapters" / HUMBLE
    trained, ships = (json.loads((folder / TRAINING).read_text("utf-8")) for folder in (tmp_path, shipped))
    assert trained["base_weights"] == ships["base_weights"]
    assert (tmp_path / ADAPTER_WEIGHTS).stat().st_size == (shipped / ADAPTER_WEIGHTS).stat().st_size
    assert (tmp_path / ADAPTER).read_bytes() == (shipped / ADAPTER).read_bytes()
    engine = load_engine(str(tmp_path), dtype="float32")
    questions = prompts(spec := RunSpec(humble.BASE, "qa"), draw_questions(replace(spec, samples=4)))
    assert len([name for batch in engine.score(questions) for name in batch.ids]) == len(questions)
