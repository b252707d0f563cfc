"""Scoring texts through the engine and through a run."""

import numpy as np
import pytest

from core.models import paths
from core.models.model_sources import resolve
from core.models.transformers_engine import TransformersEngine
from core.questions import bank
from core.records import Prompt
from core.reports.evaluation import load
from core.reports.report import CLOZE_NOTE, report
from core.runs import store
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from tests.conftest import synthetic_questions

STORIES = [
    ("Lily had a red ball. She wanted to play with her", (" ball", " sky", " angry", " seven")),
    ("Tom was very hungry. He went to the kitchen to eat some", (" food", " clouds", " loud", " slept")),
    ("Once upon a time, there was a little", (" girl", " of", " quickly", " therefore")),
    ("The sun was hot. Sue jumped into the water to", (" swim", " paper", " blue", " were")),
    ("Ben was sad because he lost his toy. His mom gave him a big", (" hug", " under", " went", " because")),
    ("The dog barked and wagged its", (" tail", " moon", " happily", " said")),
    ("It was time for bed. Mia closed her", (" eyes", " cars", " jump", " green")),
    ("They played all day in the park. They were very", (" happy", " tree", " running to", " the")),
    ("The bird could fly high in the", (" sky", " shoe", " asked", " nice")),
    ("Max said sorry to his friend and they became friends", (" again", " apple", " big", " under")),
]


def engine_of(folder):
    return TransformersEngine.load(resolve(str(folder)), dtype="float32")


def scored(engine, prompts):
    collected = {}
    for batch in engine.score(prompts):
        assert batch.option_tokens is not None
        collected |= {name: (row, counts) for name, row, counts in zip(batch.ids, batch.logits, batch.option_tokens)}  # noqa: B905
    return [collected[p.question_id] for p in prompts]


def test_story_endings_far_above_chance_on_every_rung(real_models):
    engine = engine_of(real_models / "tinystories-656k")
    opening = "Once upon a time there was a big park. Many kids came to the park every day to run and to play. " * 2
    prompts = [Prompt(f"s{i}", opening + text, 4, continuations=ends) for i, (text, ends) in enumerate(STORIES)]
    engine.prepare(prompts)
    check = engine.self_check(prompts)
    assert check.rung == "prefix cache and tree (full mask)"
    assert sum(int(row.argmax() == 0) for row, _ in scored(engine, prompts)) >= 8  # chance: 2.5 of 10
    truth = np.array(paths.one_by_one(engine.decoder, [engine.encoder.rows([p])[0] for p in prompts]))
    for rung in engine.rungs:
        engine.climb = type(engine.climb)(rung, 0.0, 1e-4, ())
        got = np.array([row for row, _ in scored(engine, prompts)])
        assert np.abs(got - truth).max() < 1e-4, rung.name


def test_a_run_of_texts(home, tiny_model, monkeypatch):
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(40))
    spec = RunSpec(model=str(tiny_model), task="qa", form="cloze", shots=1)
    assert "-cloze-" in spec.run_id
    name = execute(spec)
    written = store.read_logits(name)
    assert written.option_tokens is not None
    assert written.option_tokens.shape == written.logits.shape
    assert written.logits.shape[1] == 4  # "I don't know" and "None of the above" are not asked for
    assert {len(options) for options in store.read_questions(name)["options"].to_pylist()} == {4}
    assert written.option_tokens.min() >= 1
    assert np.isnan(written.letter_mass).all()
    assert (written.logits < 0).all()
    assert store.read_record(name).provenance["self_check"]["rung"] == "tree (full mask)"
    figures = report(load(name), 100)
    assert figures.form == "cloze"
    assert CLOZE_NOTE in figures.scores["lac"].notes


def test_letters_have_no_token_counts(home, tiny_model, monkeypatch):
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(20))
    name = execute(RunSpec(model=str(tiny_model), task="qa"))
    assert store.read_logits(name).option_tokens is None
    assert CLOZE_NOTE not in report(load(RunSpec("pocket-1m", "qa").run_id), 100).scores["lac"].notes


@pytest.mark.parametrize("batch_size", [1, 5])
def test_a_batch_size_changes_no_score_and_no_run(home, tiny_model, monkeypatch, batch_size):
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(20))
    spec = RunSpec(model=str(tiny_model), task="qa", form="cloze")
    by_hand = RunSpec(model=str(tiny_model), task="qa", form="cloze", batch_size=batch_size)
    assert spec == by_hand
    assert spec.run_id == by_hand.run_id
    name = execute(spec)
    first = store.read_logits(name)
    store.update_record(name, state="cancelled")
    (store.folder_of(name) / "logits.parquet").unlink()
    execute(by_hand)
    assert store.read_record(name).provenance["engine"]["budget"]["rows"] == batch_size
    again = store.read_logits(name)
    assert again.ids == first.ids
    assert np.abs(again.logits - first.logits).max() < 1e-4
