"""A training that stops and goes on ends like one that never stopped."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer, LlamaForCausalLM, PreTrainedTokenizerFast

from core.errors import InputError
from pocket_world import checks, make, train
from pocket_world.batches import batch, batches, weighted_loss
from pocket_world.documents import StepPart
from pocket_world.muon import StackedMuon
from pocket_world.optimizers import LETTERS_RATE, rates, set_rate
from pocket_world.packed import LENGTH, ROWS, packed, packed_loss
from pocket_world.publish import publish
from pocket_world.reader import read
from pocket_world.recipes import RECIPES, Stage, recipe
from pocket_world.stream import Stream
from pocket_world.text_loss import TextLoss
from pocket_world.train import StepData, Trainer
from tests import needs
from tests.parameters import rest_nightly

TINY = replace(
    RECIPES["pocket-1m"],
    hidden=16,
    layers=1,
    heads=2,
    intermediate=16,
    matching_steps=2,
    letters_steps=2,
    steps=6,
    prose=0.5,
)


real_tokenizer = train.train_tokenizer
tokenizers: list[PreTrainedTokenizerFast] = []


def one_tokenizer(stream: Stream, **words: int) -> PreTrainedTokenizerFast:
    """A tokenizer of few documents, trained once for all tests."""
    if not tokenizers:
        tokenizers.append(real_tokenizer(stream, **words))
    return tokenizers[0]


def trainer(folder: Path, tiny=TINY, **words) -> Trainer:
    return Trainer(tiny, folder=folder, tokenizer_documents=300, **words)


@pytest.fixture(autouse=True)
def _few_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    few_checks(monkeypatch)


def few_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks after every second step, of few questions and no text: what they find is no matter here."""
    monkeypatch.setattr(train, "train_tokenizer", one_tokenizer)
    monkeypatch.setattr(checks, "CHECK_QUESTIONS", 10)
    monkeypatch.setattr(train, "CHECK_EVERY", {"matching": 2, "letters": 2, "everything": 2})
    monkeypatch.setattr(checks, "held_out_loss", lambda *_, **__: TextLoss(1.0, 1, 1))
    monkeypatch.setattr(Trainer, "write", lambda self: None)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Trainer:
    """A training that never stopped, made once."""
    with pytest.MonkeyPatch.context() as patch:
        few_checks(patch)
        made = trainer(tmp_path_factory.mktemp("whole"))
        assert made.run()
    return made


def after(steps: int) -> Callable[[], bool]:
    """Says stop before the step behind so many."""
    left = iter([False] * steps)
    return lambda: next(left, True)


def same_weights(one: Trainer, other: Trainer) -> bool:
    return all(torch.equal(weights, other.model.state_dict()[name]) for name, weights in one.model.state_dict().items())


@pytest.mark.parametrize("steps", rest_nightly([1, 3, 7], now=[3]))
def test_resuming_ends_in_the_same_weights_bit_by_bit(whole: Trainer, tmp_path: Path, steps: int) -> None:
    """Stopped within a stage, between two checks, and resumed in a new trainer."""
    shutil.copytree(whole.folder / "tokenizer", tmp_path / "tokenizer")
    stopped = trainer(tmp_path)
    assert not stopped.run(stop=after(steps))
    assert not same_weights(stopped, whole)
    resumed = trainer(tmp_path)
    assert same_weights(resumed, stopped)
    assert resumed.progress == stopped.progress
    assert resumed.run()
    assert same_weights(resumed, whole)
    assert resumed.progress.tokens == whole.progress.tokens
    assert [row["loss"] for row in resumed.progress.curve] == [row["loss"] for row in whole.progress.curve]


def test_sigterm_saves_and_ends(whole: Trainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    shutil.copytree(whole.folder / "tokenizer", tmp_path / "tokenizer")
    try:
        stopped, stop = trainer(tmp_path), make.stopper(None)
        step = stopped._step

        def step_and_signal(data: StepData) -> None:
            step(data)
            os.kill(os.getpid(), signal.SIGTERM)

        monkeypatch.setattr(stopped, "_step", step_and_signal)
        assert not stopped.run(stop=stop)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert trainer(tmp_path).progress.step == 1


def test_time_that_is_up_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert make.stopper(0.0)()
    assert not make.stopper(60.0)()
    assert not make.stopper(None)()


@pytest.mark.nightly
def test_a_checkpoint_of_another_recipe_is_refused(tmp_path: Path) -> None:
    trainer(tmp_path).run(stop=after(1))
    with pytest.raises(InputError, match="rate"):
        trainer(tmp_path, replace(TINY, rate=0.5))


@pytest.mark.nightly
def test_writing_swaps_the_whole_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    made = trainer(tmp_path)
    made.bank = made.bank[:20]
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "stale").touch()
    made.write()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "tokenizer"]
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


def test_learning_rates_rise_in_each_stage_and_fall_in_everything() -> None:
    one = replace(recipe("pocket-1m"), letters_steps=2000, steps=5000, rate=0.006, token_rate=0.001)

    def at(stage: Stage, step: int, **words: int) -> tuple[float, float]:
        return rates(one, stage, step, **words)

    assert at("matching", 0) == pytest.approx((LETTERS_RATE / 50, 0.001 / 50))
    assert at("letters", 1000) == (LETTERS_RATE, 0.001)
    assert at("letters", 1500) == pytest.approx(((LETTERS_RATE + 0.006) / 2, 0.001))
    assert at("letters", 2000) == pytest.approx((0.006, 0.001))
    assert at("everything", 0) == pytest.approx((0.006 / 300, 0.001 / 300))
    assert at("everything", 2500) == pytest.approx((0.003, 0.0005))
    assert at("everything", 4999) == pytest.approx((0.0003, 0.00005))


def test_a_check_ends_each_stage(whole: Trainer) -> None:
    assert [(row["stage"], row["step"]) for row in whole.progress.curve] == [
        ("matching", 2),
        ("letters", 2),
        ("everything", 2),
        ("everything", 4),
        ("everything", 6),
    ]


def test_every_weight_has_one_optimizer(tmp_path: Path) -> None:
    made = trainer(tmp_path)
    held = [weights for one in made.optimizers for group in one.param_groups for weights in group["params"]]
    assert sorted(map(id, held)) == sorted(map(id, made.model.parameters()))


def test_one_step_moves_matrices_along_the_nearest_orthogonal_matrix(tmp_path: Path) -> None:
    """Muon with all singular values near rate · √max(1, rows / columns), and no weight decays."""
    made = trainer(tmp_path)
    muon, adamw = made.optimizers
    assert adamw.defaults["weight_decay"] == 0
    set_rate(muon, 0.001)
    before = {name: weights.detach().clone() for name, weights in made.model.named_parameters()}
    weighted_loss(made.model, next(made._data())[0], read=lambda tokens: read(made.model, tokens)).backward()
    muon.step()
    moved = {name for name, weights in made.model.named_parameters() if not torch.equal(weights, before[name])}
    assert moved == {name for name, weights in before.items() if weights.ndim == 2 and "embed" not in name}
    for name, weights in made.model.named_parameters():
        if name in moved:
            largest = torch.linalg.svdvals(weights.detach() - before[name])[0]
            assert 0.6 < largest / (0.001 * max(1, weights.shape[0] / weights.shape[1]) ** 0.5) < 1.3


def test_the_readers_loss_is_that_of_transformers(tmp_path: Path) -> None:
    made = trainer(tmp_path)
    data = next(made._data())[0]
    with torch.no_grad():
        own = weighted_loss(made.model, data, lambda tokens: read(made.model, tokens))
        torch.testing.assert_close(own, weighted_loss(made.model, data), rtol=5e-3, atol=5e-3)


@pytest.mark.nightly
def test_batches_of_like_length_have_the_weighted_mean_loss_of_all_parts(tmp_path: Path) -> None:
    made, rng = trainer(tmp_path), random.Random(8)
    parts = [
        StepPart([made.stream.document(form, rng) for _ in range(20)], weight)
        for form, weight in (("short", 1.0), ("several ds", 4.0), ("rc", 1.0))
    ]
    several, alone = batches(parts, made.tokenizer), [batch(part.documents, made.tokenizer) for part in parts]
    assert len(several) > 1
    assert sum(one.size for one in several) == sum(one.size for one in alone)
    assert sum(one.tokens.numel() for one in several) < sum(one.tokens.numel() for one in alone)
    assert sum(float(one.weights[:, 1:].sum()) for one in several) == pytest.approx(1)
    with torch.no_grad():
        found = sum(weighted_loss(made.model, one, precision=torch.float32, mean=False) for one in several)
        short, several_ds, rc = (weighted_loss(made.model, one, precision=torch.float32) for one in alone)
    torch.testing.assert_close(found, (short + 4 * several_ds + rc) / 6)


@pytest.mark.nightly
def test_packed_rows_have_the_loss_and_the_gradients_of_batches(tmp_path: Path) -> None:
    made, rng = trainer(tmp_path, replace(TINY, layers=2)), random.Random(9)
    parts = [
        StepPart([made.stream.document(form, rng) for _ in range(rows)], weight)
        for form, rows, weight in (("short", 40, 1.0), ("several ds", 3, 1.0), ("passage", 2, 4.0))
    ]
    data = packed(parts, made.tokenizer)
    assert data.tokens.shape[1] == LENGTH
    assert len(data.tokens) % ROWS == 0
    assert (data.documents >= 0).sum() == data.size - sum(len(part.documents) for part in parts)
    tensors = {one.name: torch.from_numpy(getattr(data, one.name)) for one in fields(data) if one.name != "size"}
    assert all((weights > 0).sum() > 20 for weights in data.expected_weights)
    own = packed_loss(made.model, precision=torch.float32, middle=(1, 1, 2), **tensors)
    own.backward()
    gradients = [weights.grad.clone() for weights in made.model.parameters() if weights.grad is not None]
    made.model.zero_grad()
    several = [
        weighted_loss(
            made.model,
            one,
            lambda tokens: read(made.model, tokens, precision=torch.float32, middle=(1, 1, 2)),
            precision=torch.float32,
            mean=False,
        )
        for one in batches(parts, made.tokenizer)
    ]
    torch.testing.assert_close(own, sum(several), rtol=1e-4, atol=1e-5)
    sum(several, torch.zeros(())).backward()
    for before, weights in zip(gradients, made.model.parameters(), strict=True):
        torch.testing.assert_close(weights.grad, before, rtol=1e-3, atol=1e-5)


def test_muon_in_stacks_moves_matrices_as_torch_does() -> None:
    torch.manual_seed(4)
    ours, theirs = ([torch.nn.Parameter(torch.zeros(shape)) for shape in ((8, 6), (6, 8), (8, 6))] for _ in range(2))
    both = StackedMuon(ours, lr=0.02), torch.optim.Muon(theirs, lr=0.02, weight_decay=0.0)
    for _ in range(3):
        for one, other in zip(ours, theirs, strict=True):
            one.grad = torch.randn_like(one)
            other.grad = one.grad.clone()
        for optimizer in both:
            optimizer.step()
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


@pytest.mark.nightly
def test_processes_make_the_text_that_training_would_make_itself(tmp_path: Path) -> None:
    alone, helped = trainer(tmp_path / "alone"), trainer(tmp_path / "helped", workers=1)
    assert alone.run()
    assert helped.run()
    assert same_weights(alone, helped)


@pytest.mark.nightly
def test_a_grown_model_begins_as_the_smaller_one(tmp_path: Path) -> None:
    small = trainer(tmp_path)
    small_size = len(small.tokenizer)
    grown = replace(TINY, name="grown", hidden=32, layers=2, heads=4, grown_from="model", vocabulary=small_size)
    with pytest.raises(InputError, match="make that model first"):
        Trainer(grown, folder=tmp_path / "grown", source=tmp_path / "model")
    publish(small.model, small.tokenizer, tmp_path / "model", "card")
    begun = Trainer(grown, folder=tmp_path / "grown", source=tmp_path / "model")
    assert begun.progress.stage == "everything"
    assert begun.tokenizer.get_vocab() == small.tokenizer.get_vocab()
    tokens = torch.tensor([begun.tokenizer.encode("Question: What is it?\nA. red")])
    torch.testing.assert_close(begun.model(tokens).logits, small.model(tokens).logits, rtol=1e-4, atol=1e-5)

    begun.run(stop=after(1))
    shutil.rmtree(tmp_path / "model")
    resumed = Trainer(grown, folder=tmp_path / "grown", source=tmp_path / "model")  # which is not needed any more
    assert same_weights(resumed, begun)
    assert resumed.model.config.rms_norm_eps == begun.model.config.rms_norm_eps
    torch.testing.assert_close(resumed.model(tokens).logits, begun.model(tokens).logits, rtol=0, atol=0)


def test_a_captured_step_has_the_loss_and_moves_the_weights_of_one_batch_by_batch(tmp_path: Path) -> None:
    if not torch.cuda.is_available():
        needs.missing("a GPU")
    words = {"tiny": replace(TINY, layers=2, middle=(1, 1, 2)), "precision": torch.float32}
    graph, alone = trainer(tmp_path / "graph", device="cuda", **words), trainer(tmp_path / "alone", **words)
    for one in (graph, alone):
        data = one._data()
        for _ in range(2):
            one._step(next(data))
    assert float(graph._losses) == pytest.approx(float(alone._losses), rel=1e-3)
    for ours, theirs in zip(graph.model.parameters(), alone.model.parameters(), strict=True):
        torch.testing.assert_close(ours.cpu(), theirs, rtol=0.05, atol=2e-3)
