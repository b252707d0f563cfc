"""A training that stops and goes on ends like one that never stopped."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer, LlamaForCausalLM

from core.errors import InputError
from core.pocket import train
from core.pocket.batches import batch, share_right, weighted_loss
from core.pocket.binding import pair_find
from core.pocket.publish import publish
from core.pocket.recipes import RECIPES, recipe
from core.pocket.train import Trainer, learning_rate

TINY = replace(
    RECIPES["pocket-1m-facts"],
    hidden=16,
    layers=1,
    heads=2,
    intermediate=16,
    pairs_steps=2,
    binding_steps=2,
    steps=4,
    cooldown=2,
)


def trainer(folder: Path, tiny=TINY) -> Trainer:
    return Trainer(tiny, folder=folder / "work", target=folder / "model", tokenizer_documents=300)


@pytest.fixture(autouse=True)
def _frequent_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "CHECK_EVERY", {"pairs": 2, "binding": 2, "facts": 2})
    monkeypatch.setattr(Trainer, "publish", lambda self: None)


def test_resuming_ends_in_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = trainer(tmp_path / "whole")
    whole.run()

    stopped = trainer(tmp_path / "stopped")
    save = stopped._save

    def save_and_stop() -> None:
        save()
        if stopped.progress.stage == "facts" and stopped.progress.step == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(stopped, "_save", save_and_stop)
    with pytest.raises(KeyboardInterrupt):
        stopped.run()
    resumed = trainer(tmp_path / "stopped")
    assert (resumed.progress.stage, resumed.progress.step) == ("facts", 2)
    resumed.run()

    assert resumed.progress.tokens == whole.progress.tokens
    for name, weights in whole.model.state_dict().items():
        torch.testing.assert_close(resumed.model.state_dict()[name], weights, rtol=1e-5, atol=1e-6)


def test_a_checkpoint_of_another_recipe_is_refused(tmp_path: Path) -> None:
    trainer(tmp_path).run()
    with pytest.raises(InputError, match="rate"):
        trainer(tmp_path, replace(TINY, rate=0.5))


def test_publishing_swaps_the_whole_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    made = trainer(tmp_path)
    made.bank = made.bank[:20]
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "stale").touch()
    made.publish()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "work"]
    assert not (tmp_path / "model" / "stale").exists()
    assert "intermediate state" in (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    loaded = LlamaForCausalLM.from_pretrained(tmp_path / "model")
    assert loaded.config.vocab_size == len(AutoTokenizer.from_pretrained(tmp_path / "model"))


def test_learning_rate() -> None:
    one = recipe("pocket-1m")
    assert learning_rate(one, "facts", 0) == pytest.approx(one.rate / 100)
    assert learning_rate(one, "facts", one.steps - one.cooldown) == one.rate
    assert learning_rate(one, "facts", one.steps - one.cooldown // 2) == pytest.approx(one.rate / 2)
    assert learning_rate(one, "facts", one.steps - 1) == pytest.approx(one.rate / 20)
    assert learning_rate(one, "binding", 5000) == one.binding_rate


def test_a_compiled_body_gives_the_same_loss(tmp_path: Path) -> None:
    made = trainer(tmp_path)
    data = made._batch()
    compiled = torch.compile(made.model.model, backend="eager")
    with torch.no_grad():
        torch.testing.assert_close(weighted_loss(made.model, data, compiled), weighted_loss(made.model, data))


def test_a_grown_model_begins_as_the_smaller_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = trainer(tmp_path)
    small_size = len(small.tokenizer)
    grown = replace(TINY, name="grown", hidden=32, layers=2, heads=4, grown_from="model", vocabulary=small_size)
    with pytest.raises(InputError, match="train that model first"):
        Trainer(grown, folder=tmp_path / "grown", target=tmp_path / "target")
    monkeypatch.undo()
    publish(small.model, small.tokenizer, small.target, "card")
    begun = Trainer(grown, folder=tmp_path / "grown", target=tmp_path / "target")
    assert begun.progress.stage == "facts"
    assert begun.tokenizer.get_vocab() == small.tokenizer.get_vocab()
    tokens = torch.tensor([begun.tokenizer.encode("Question: What is it?\nA. red")])
    torch.testing.assert_close(begun.model(tokens).logits, small.model(tokens).logits, rtol=1e-4, atol=1e-5)


def test_pairs_are_counted_right(tmp_path: Path) -> None:
    made = trainer(tmp_path)
    documents = [
        pair_find(["one", "two", "red", "cat"], ["one", "two", "red", "cat"], random.Random(i)) for i in range(8)
    ]
    assert 0 <= share_right(made.model, batch(documents, made.tokenizer)) <= 1
    assert {document.pieces[1].text for document in documents} <= {" A", " B", " C", " D"}
    for document in documents:
        asked, letter = document.pieces[0].text, document.pieces[1].text.strip()
        value = asked.removeprefix("Which option says ").partition("?")[0]
        assert f"\n{letter}. {value}\n" in asked
