"""A training that stops and goes on ends like one that never stopped; a model begins, grows and learns as it should."""

import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM

from core.errors import InputError
from core.questions.prompting.chat import render
from core.questions.prompting.strategies import prompt
from pocket_world import make, train
from pocket_world.batches import batch, batches, weighted_loss
from pocket_world.begin import begin
from pocket_world.chat.template import asked_in_chat, written
from pocket_world.documents import Document, Piece, StepPart
from pocket_world.evaluate import TextLoss
from pocket_world.recipes import RECIPES
from pocket_world.tokens import published_tokenizer
from pocket_world.train import LETTERS_RATE, Trainer, rates
from tests.parameters import rest_nightly
from tests.pocket_world.conftest import MODEL

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


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shipped tokenizer, and checks after every second step, of few questions and no text."""
    monkeypatch.setattr(train, "train_tokenizer", lambda *_, **__: published_tokenizer(MODEL))
    monkeypatch.setattr(train, "CHECK_QUESTIONS", 10)
    monkeypatch.setattr(train, "CHECK_EVERY", {"matching": 2, "letters": 2, "everything": 2})
    monkeypatch.setattr(train, "held_out_loss", lambda *_, **__: TextLoss(1.0, 1, 1))


def after(steps: int) -> Callable[[], bool]:
    """Stop after this many steps."""
    left = iter([False] * steps)
    return lambda: next(left, True)


def same_weights(trainer: Trainer, other: Trainer) -> bool:
    weights = other.model.state_dict()
    return all(torch.equal(values, weights[name]) for name, values in trainer.model.state_dict().items())


@pytest.mark.parametrize("steps", rest_nightly([1, 3, 7], now=[3]))
def test_resuming_ends_in_the_same_weights_bit_by_bit(tmp_path: Path, steps: int) -> None:
    """Stopped within a stage, between two checks, and resumed in a new trainer."""
    whole = Trainer(TINY, folder=tmp_path / "whole")
    assert whole.run()
    assert [(row["stage"], row["step"]) for row in whole.progress.curve] == [
        ("matching", 2),
        ("letters", 2),
        ("everything", 2),
        ("everything", 4),
        ("everything", 6),
    ]
    stopped = Trainer(TINY, folder=tmp_path / "again")
    assert not stopped.run(stop=after(steps))
    assert not same_weights(stopped, whole)
    with pytest.raises(InputError, match="began with other values of rate"):
        Trainer(replace(TINY, rate=0.5), folder=tmp_path / "again")
    resumed = Trainer(TINY, folder=tmp_path / "again")
    assert same_weights(resumed, stopped)
    assert resumed.run()
    assert same_weights(resumed, whole)
    assert resumed.progress.tokens == whole.progress.tokens
    assert [row["loss"] for row in resumed.progress.curve] == [row["loss"] for row in whole.progress.curve]


def test_sigterm_and_the_end_of_the_time_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    try:
        stop, trainer = make.stopper(None), Trainer(TINY, folder=tmp_path)
        step = trainer._step
        monkeypatch.setattr(trainer, "_step", lambda: (step(), os.kill(os.getpid(), signal.SIGTERM)))
        assert not trainer.run(stop=stop)
        assert make.stopper(0.0)()
        assert not make.stopper(60.0)()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert Trainer(TINY, folder=tmp_path).progress.step == 1


def test_a_whole_model_is_written_with_its_card_and_grows(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``make`` makes each model from the one before, leaves out what is whole, and stores half of the bits if asked."""
    grown = replace(TINY, name="grown", hidden=32, layers=2, heads=4, grown_from="tiny", half=True, middle=(1, 1, 2))
    monkeypatch.setitem(RECIPES, "tiny", replace(TINY, name="tiny"))
    monkeypatch.setitem(RECIPES, "grown", replace(grown, steps=2))
    few = train.bank.questions()[::200]
    monkeypatch.setattr(train.bank, "questions", lambda: few)
    monkeypatch.setattr("pocket_world.card.held_out_loss", lambda *_, **__: TextLoss(1.0, 1, 1))
    with pytest.raises(InputError, match="make that model first"):
        make.make(["grown"])
    assert make.with_sources("grown") == ["tiny", "grown"]
    assert make.make(["tiny", "grown"])
    sizes = {}
    for name in ("tiny", "grown"):
        folder = make.work_folder(name) / "model"
        assert f"# {name}" in (folder / "README.md").read_text(encoding="utf-8")
        model = LlamaForCausalLM.from_pretrained(folder, dtype="auto")
        sizes[name] = model.dtype
        assert model.config.vocab_size == len(published_tokenizer(folder))
    assert sizes == {"tiny": torch.float32, "grown": torch.float16}
    monkeypatch.setattr(make, "Trainer", None)
    assert make.make(["tiny", "grown"])


def test_a_grown_model_begins_as_the_smaller_one(tmp_path: Path) -> None:
    small = Trainer(TINY, folder=tmp_path / "small")
    make.write_model(small, tmp_path / "model", "card")
    grown = replace(TINY, hidden=32, layers=3, heads=4, intermediate=24, grown_from="model")
    begun = Trainer(grown, folder=tmp_path / "grown", source=tmp_path / "model")
    assert begun.progress.stage == "everything"
    tokens = torch.tensor([begun.tokenizer.encode("Question: What is it?\nA. red")])
    torch.testing.assert_close(begun.model(tokens).logits, small.model(tokens).logits, rtol=1e-4, atol=1e-5)
    begun.run(stop=after(1))
    shutil.rmtree(tmp_path / "model")  # which is not needed any more
    resumed = Trainer(grown, folder=tmp_path / "grown", source=tmp_path / "model")
    torch.testing.assert_close(resumed.model(tokens).logits, begun.model(tokens).logits, rtol=0, atol=0)
    with pytest.raises(InputError, match="can't grow from hidden_size 32 to 16"):
        train.grow(begun.model, small.model.config)


def test_learning_rates_rise_in_each_stage_and_fall_in_everything() -> None:
    recipe = replace(TINY, letters_steps=2000, steps=5000, rate=0.006, token_rate=0.001)
    assert rates(recipe, "matching", 0) == pytest.approx((LETTERS_RATE / 50, 0.001 / 50))
    assert rates(recipe, "letters", 1000) == (LETTERS_RATE, 0.001)
    assert rates(recipe, "letters", 1500) == pytest.approx(((LETTERS_RATE + 0.006) / 2, 0.001))
    assert rates(recipe, "everything", 0) == pytest.approx((0.006 / 300, 0.001 / 300))
    assert rates(recipe, "everything", 2500) == pytest.approx((0.003, 0.0005))
    assert rates(recipe, "everything", 4999) == pytest.approx((0.0003, 0.00005))


def test_the_loss_is_the_weighted_mean_over_parts(model: LlamaForCausalLM, tokenizer) -> None:
    """Worked out token by token: Σ weight · −log p of each document, parts weighted 4 to 1, whatever the batches."""
    documents = [Document((Piece("Question: a", 0.0), Piece(f" {text}", 1.0))) for text in ("red", "blue " * 60)]
    several = batches([StepPart(documents[:1], 4.0), StepPart(documents[1:], 1.0)], tokenizer)
    assert len(several) == 2
    expected = 0.0
    with torch.no_grad():
        for document, share in zip(documents, (0.8, 0.2), strict=True):
            ids = torch.tensor([tokenizer.encode(document.text)])
            first = len(tokenizer.encode(document.pieces[0].text))
            losses = -model(ids).logits.log_softmax(-1)[0, first - 1 : -1].gather(1, ids[0, first:, None])
            expected += share * float(losses.mean())
        assert float(sum(weighted_loss(model, data) for data in several)) == pytest.approx(expected, rel=1e-4)


def test_middle_layers_learn_what_a_piece_expects(model: LlamaForCausalLM, tokenizer) -> None:
    """The second one is read backwards: its last dimension first."""
    data = batch([Document((Piece("Question: a", 0.0, (" red", " blue")), Piece("\n", 0.0)))], tokenizer)
    with torch.no_grad():
        hidden = model.model(data.tokens[:, :-1], output_hidden_states=True).hidden_states
        place = int(data.expected_weights[0, 0].nonzero())
        expected = 0.0
        for layer, text, backwards in ((2, " red", False), (3, " blue", True)):
            state = model.model.norm(hidden[layer])[0, place]
            logits = model.lm_head(state.flip(-1) if backwards else state).log_softmax(-1)
            expected -= 0.5 * float(logits[tokenizer.encode(text)[0]])
        assert float(weighted_loss(model, data, middle=(2, 3))) == pytest.approx(expected, rel=1e-4)


def test_heads_attend_where_they_are_meant_to_before_any_training(tmp_path: Path) -> None:
    """To the previous token, to the same token, and to what followed the same token before; 1 / 30 is chance."""
    torch.manual_seed(3)
    model = LlamaForCausalLM(Trainer(RECIPES["pocket-1m"], folder=tmp_path).model.config)
    model.set_attn_implementation("eager")
    begin(model)
    twice = torch.cat([torch.randperm(1000, generator=torch.Generator().manual_seed(5))[:20] + 10] * 2)
    with torch.no_grad():
        layers = [layer[0] for layer in model.model(twice[None], output_attentions=True).attentions]
    assert layers[0][2].diagonal(-1).mean() > 0.7
    for layer in layers:
        for head in (0, 1):
            before, same, behind = (layer[head][20:39].diagonal(place).mean() for place in (-1, 0, 1))
            assert same > max(0.05, before, behind)
    assert all(layer[2][20:38].diagonal(1).mean() > 0.05 for layer in layers[1:])


def test_a_conversation_is_written_as_the_template_writes_it() -> None:
    tokenizer = published_tokenizer(MODEL.parent / "pocket-3m-instruct")
    turns = [("user", "Hello."), ("assistant", "Hi."), ("user", "Go on.")]
    messages = [{"role": role, "content": text} for role, text in (("system", "Be kind."), *turns)]
    assert tokenizer.apply_chat_template(messages, tokenize=False) == written("Be kind.", turns).text
    question = train.bank.questions()[0]
    rendered = render(tokenizer, prompt(question, strategy="task").text)
    assert asked_in_chat(question, strategy="task").text == f"{rendered} {question.letter}<|end|>"
