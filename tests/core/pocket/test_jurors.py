"""Jurors: tuned adapters that say True or False; the model under them stays as it was."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from transformers import AutoTokenizer, LlamaForCausalLM

from core.errors import InputError
from core.pocket.jurors import JURORS, juror_recipe, publish_juror, tune, tuned_on, verdicts
from core.pocket.world import world
from core.prompting.verdict import verdict_prompt
from core.settings import ASSETS

MODEL = ASSETS / "models" / "pocket-1m"


def test_a_third_of_the_facts_with_their_inverses() -> None:
    facts = world()
    assert 0.28 < sum(map(tuned_on, facts)) / len(facts) < 0.39
    sides: dict[str, set[bool]] = {}
    for fact in facts:
        sides.setdefault(fact.twin, set()).add(tuned_on(fact))
    assert all(len(side) == 1 for side in sides.values())


def test_a_juror_learns_a_few_facts_by_heart_and_its_model_stays() -> None:
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    model = LlamaForCausalLM.from_pretrained(MODEL, dtype=torch.float32)
    before = {name: weights.clone() for name, weights in model.state_dict().items()}
    facts = [fact for fact in world() if fact.relation == "capital"][:6]
    recipe = replace(JURORS["juror-1m"], steps=20, rows=12, rate=1e-2)
    tuned, losses = tune(recipe, model, tokenizer, facts=facts)
    assert len(losses) == 10
    assert losses[-1] < losses[0]
    found = verdicts(tuned, tokenizer, [(fact.questions[0], fact.answer) for fact in facts])
    assert all(abs(true + false - 1) < 1e-5 for true, false in found)
    frozen = {name.replace("base_layer.", ""): weights for name, weights in tuned.get_base_model().state_dict().items()}
    for name, weights in before.items():
        torch.testing.assert_close(frozen[name], weights, rtol=0, atol=0)


def test_verdicts_do_not_depend_on_the_batch(model, tokenizer) -> None:
    pairs = [("What is the capital of Peru?", "Lima"), ("Which colour has the sky on a clear day?", "green")]
    one, other = verdicts(model, tokenizer, pairs), verdicts(model, tokenizer, pairs, rows=1)
    assert one[0] == pytest.approx(other[0], abs=1e-5)
    assert one[1] == pytest.approx(other[1], abs=1e-5)


def test_the_prompt_ends_where_a_verdict_follows() -> None:
    assert verdict_prompt("Why?", "So").endswith("\nAnswer:")


def test_an_unknown_juror_and_one_without_its_model(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="juror-9t"):
        juror_recipe("juror-9t")
    monkeypatch.setattr("core.pocket.jurors.ASSETS", tmp_path)
    with pytest.raises(InputError, match="train that model first"):
        publish_juror(JURORS["juror-1m"], tmp_path / "adapter")
