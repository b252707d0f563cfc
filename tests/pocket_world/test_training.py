"""A training that stops and goes on ends like one that never stopped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer, LlamaForCausalLM

from core.errors import InputError
from pocket_world import train
from pocket_world.batches import weighted_loss
from pocket_world.publish import publish
from pocket_world.reader import read
from pocket_world.recipes import RECIPES, recipe
from pocket_world.tokens import published_tokenizer
from pocket_world.train import BEFORE_RECALL, Trainer, rate_share

TINY = replace(
    RECIPES["pocket-1m"],
    hidden=16,
    layers=1,
    heads=2,
    intermediate=16,
    matching_steps=2,
    letters_steps=2,
    steps=4,
    cooldown=2,
    recall=2,
)


def trainer(folder: Path, tiny=TINY) -> Trainer:
    return Trainer(tiny, folder=folder / "work", target=folder / "model", tokenizer_documents=300)


@pytest.fixture(autouse=True)
def _frequent_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks after every second step, of few questions: what they find is no matter here."""
    monkeypatch.setattr(train, "CHECK_QUESTIONS", 10)
    monkeypatch.setattr(train, "CHECK_EVERY", {"matching": 2, "letters": 2, "everything": 2, "recall": 2})
    monkeypatch.setattr(Trainer, "publish", lambda self: None)


def test_resuming_ends_in_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = trainer(tmp_path / "whole")
    whole.run()

    stopped = trainer(tmp_path / "stopped")
    save = stopped._save

    def save_and_stop() -> None:
        save()
        if stopped.progress.stage == "everything" and stopped.progress.step == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(stopped, "_save", save_and_stop)
    with pytest.raises(KeyboardInterrupt):
        stopped.run()
    resumed = trainer(tmp_path / "stopped")
    assert (resumed.progress.stage, resumed.progress.step) == ("everything", 2)
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


def test_half_precision_halves_the_file(tmp_path: Path) -> None:
    made = trainer(tmp_path)
    for name, half in (("whole", False), ("half", True)):
        publish(made.model, made.tokenizer, tmp_path / name, "card", half=half)
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("whole", "half")]
    assert 0.45 < sizes[1] / sizes[0] < 0.6
    loaded = LlamaForCausalLM.from_pretrained(tmp_path / "half", dtype=torch.float32)
    for name, weights in made.model.state_dict().items():
        torch.testing.assert_close(loaded.state_dict()[name], weights, rtol=1e-3, atol=1e-6)
    assert made.model.dtype == torch.float32


def test_learning_rate() -> None:
    one = recipe("pocket-1m")
    assert rate_share(one, "everything", 0) == pytest.approx(1 / 300)
    assert rate_share(one, "everything", one.steps - one.cooldown) == 1
    assert rate_share(one, "everything", one.steps - one.cooldown // 2) == pytest.approx(0.5)
    assert rate_share(one, "everything", one.steps - 1) == pytest.approx(0.05)
    assert rate_share(one, "matching", 2999) == 1
    assert rate_share(one, "recall", 0) == pytest.approx(1 / 100)
    assert rate_share(one, "recall", one.recall // 3) == 1
    assert rate_share(one, "recall", one.recall * 2 // 3) == pytest.approx(0.5)
    assert rate_share(one, "recall", one.recall - 1) == pytest.approx(0.05)


def test_a_goal_ends_a_stage(tmp_path: Path) -> None:
    easy = trainer(tmp_path, replace(TINY, matching_steps=50, matching_goal=0.0, letters_steps=50, letters_goal=0.0))
    easy.run()
    assert [(row["stage"], row["step"]) for row in easy.progress.curve] == [
        ("matching", 2),
        ("letters", 2),
        ("everything", 2),
        ("everything", 4),
        ("recall", 2),
    ]


def test_the_model_before_its_last_stage_is_kept(tmp_path: Path) -> None:
    made = trainer(tmp_path)
    made.run()
    early = LlamaForCausalLM.from_pretrained(made.folder / BEFORE_RECALL)
    assert not torch.equal(early.model.embed_tokens.weight, made.model.model.embed_tokens.weight)
    assert published_tokenizer(made.folder / BEFORE_RECALL).get_vocab() == made.tokenizer.get_vocab()


def test_every_weight_has_one_optimizer(tmp_path: Path) -> None:
    made = trainer(tmp_path)
    held = [weights for one in made.optimizers for group in one.param_groups for weights in group["params"]]
    assert sorted(map(id, held)) == sorted(map(id, made.model.parameters()))


def test_one_step_moves_matrices_along_the_nearest_orthogonal_matrix(tmp_path: Path) -> None:
    """Muon with all singular values near rate · √max(1, rows / columns), and no weight decays."""
    made = trainer(tmp_path)
    muon, adamw = made.optimizers
    assert (muon.defaults["weight_decay"], adamw.defaults["weight_decay"]) == (0, 0)
    before = {name: weights.detach().clone() for name, weights in made.model.named_parameters()}
    weighted_loss(made.model, made._batch(), read=lambda tokens: read(made.model, tokens)).backward()
    muon.step()
    moved = {name for name, weights in made.model.named_parameters() if not torch.equal(weights, before[name])}
    assert moved == {name for name, weights in before.items() if weights.ndim == 2 and "embed" not in name}
    for name, weights in made.model.named_parameters():
        if name in moved:
            largest = torch.linalg.svdvals(weights.detach() - before[name])[0]
            assert 0.6 < largest / (made.recipe.rate * max(1, weights.shape[0] / weights.shape[1]) ** 0.5) < 1.3


def test_a_checkpoint_of_the_earlier_muon_is_refused(tmp_path: Path) -> None:
    trainer(tmp_path).run()
    path = tmp_path / "work" / "checkpoint.pt"
    state = torch.load(path, weights_only=True)
    del state["optimizers"][0]["param_groups"][0]["weight_decay"]
    torch.save(state, path)
    with pytest.raises(InputError, match="own Muon, before torch had one; delete it"):
        trainer(tmp_path)


def test_the_readers_loss_is_that_of_transformers(tmp_path: Path) -> None:
    made = trainer(tmp_path)
    data = made._batch()
    with torch.no_grad():
        own = weighted_loss(made.model, data, lambda tokens: read(made.model, tokens))
        torch.testing.assert_close(own, weighted_loss(made.model, data), rtol=5e-3, atol=5e-3)


def test_a_grown_model_begins_as_the_smaller_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = trainer(tmp_path)
    small_size = len(small.tokenizer)
    grown = replace(TINY, name="grown", hidden=32, layers=2, heads=4, grown_from="model", vocabulary=small_size)
    with pytest.raises(InputError, match="train that model first"):
        Trainer(grown, folder=tmp_path / "grown", target=tmp_path / "target")
    monkeypatch.undo()
    publish(small.model, small.tokenizer, small.target, "card")
    begun = Trainer(grown, folder=tmp_path / "grown", target=tmp_path / "target")
    assert begun.progress.stage == "everything"
    assert begun.tokenizer.get_vocab() == small.tokenizer.get_vocab()
    tokens = torch.tensor([begun.tokenizer.encode("Question: What is it?\nA. red")])
    torch.testing.assert_close(begun.model(tokens).logits, small.model(tokens).logits, rtol=1e-4, atol=1e-5)
