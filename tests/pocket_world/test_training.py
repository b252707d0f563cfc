"""A training that stops and continues ends like any other; a model begins, grows and learns as it should."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerBase

from core.errors import InputError
from core.questions.prompting.chat import render
from core.questions.prompting.strategies import prompt
from core.settings import ASSETS
from pocket_world import bank, train
from pocket_world.batches import batches, weighted_loss
from pocket_world.begin import begin
from pocket_world.chat.template import asked_in_chat, written
from pocket_world.documents import Document, Piece, StepPart
from pocket_world.recipes import RECIPES, work_folder
from pocket_world.tokens import published_tokenizer
from pocket_world.train import Trainer
from tests.parameters import rest_nightly

MODEL = ASSETS / "models" / "pocket-1m"

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
    """The shipped tokenizer, and a checkpoint after every step."""
    monkeypatch.setattr(train, "train_tokenizer", lambda stream: published_tokenizer(MODEL))
    monkeypatch.setattr(train, "SAVE_SECONDS", 0.0)


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerBase:
    return published_tokenizer(MODEL)


@pytest.fixture(scope="module")
def model() -> LlamaForCausalLM:
    return LlamaForCausalLM.from_pretrained(MODEL, dtype=torch.float32).eval()


def same_weights(trainer: Trainer, other: Trainer) -> bool:
    weights = other.model.state_dict()
    return all(torch.equal(values, weights[name]) for name, values in trainer.model.state_dict().items())


def interrupt(trainer: Trainer, steps: int) -> None:
    """Train this many steps, and end within the next one."""
    step = trainer._step

    def stopping(*position) -> float:
        loss = step(*position)
        if trainer.steps_done > steps:
            raise KeyboardInterrupt
        return loss

    trainer._step = stopping
    with pytest.raises(KeyboardInterrupt):
        trainer.run()


@pytest.mark.parametrize("steps", rest_nightly([1, 3, 7], now=[3]))
def test_resuming_ends_in_the_same_weights_bit_by_bit(tmp_path: Path, steps: int) -> None:
    whole = Trainer(TINY, folder=tmp_path / "whole")
    whole.run()
    assert whole.steps_done == 10
    interrupt(Trainer(TINY, folder=tmp_path / "again"), steps)
    with pytest.raises(InputError, match="another recipe"):
        Trainer(replace(TINY, rate=0.5), folder=tmp_path / "again")
    resumed = Trainer(TINY, folder=tmp_path / "again")
    assert resumed.steps_done == steps
    assert not same_weights(resumed, whole)
    resumed.run()
    assert same_weights(resumed, whole)


def test_a_model_is_made_after_the_one_that_it_grows_from(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is finished is left out, and half of the bits are stored if asked."""
    grown = replace(TINY, name="grown", hidden=32, layers=2, heads=4, grown_from="tiny", half=True, middle=(1, 1, 2))
    monkeypatch.setitem(RECIPES, "tiny", replace(TINY, name="tiny"))
    monkeypatch.setitem(RECIPES, "grown", replace(grown, steps=2))
    folder = train.make("grown")
    models = {name: LlamaForCausalLM.from_pretrained(work_folder(name) / "model") for name in ("tiny", "grown")}
    assert {name: model.dtype for name, model in models.items()} == {"tiny": torch.float32, "grown": torch.float16}
    assert models["grown"].config.vocab_size == len(published_tokenizer(folder))
    monkeypatch.setattr(train, "Trainer", None)
    assert train.make("grown") == folder


def test_a_grown_model_begins_as_the_smaller_one(tmp_path: Path) -> None:
    source = tmp_path / "model"
    small = Trainer(TINY, folder=tmp_path / "small")
    small.model.save_pretrained(source)
    small.tokenizer.save_pretrained(source)
    grown = replace(TINY, hidden=32, layers=3, heads=4, intermediate=24, grown_from="model")
    begun = Trainer(grown, folder=tmp_path / "grown", source=source)
    tokens = torch.tensor([begun.tokenizer.encode("Question: What is it?\nA. red")])
    torch.testing.assert_close(begun.model(tokens).logits, small.model(tokens).logits, rtol=1e-4, atol=1e-5)
    interrupt(begun, 1)
    with pytest.raises(AssertionError):
        torch.testing.assert_close(begun.model(tokens).logits, small.model(tokens).logits)
    resumed, whole = (Trainer(grown, folder=tmp_path / name, source=source) for name in ("grown", "whole"))
    assert (resumed.steps_done, whole.steps_done) == (1, 0)
    resumed.run()
    whole.run()
    torch.testing.assert_close(resumed.model(tokens).logits, whole.model(tokens).logits, rtol=0, atol=0)


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
        assert float(sum(weighted_loss(model, rows) for rows in several)) == pytest.approx(expected, rel=1e-4)


def test_middle_layers_learn_what_a_piece_expects(model: LlamaForCausalLM, tokenizer) -> None:
    """The second one is read backwards: its last dimension first."""
    document = Document((Piece("Question: a", 0.0, (" red", " blue")), Piece("\n", 1.0)))
    (rows,) = batches([StepPart([document])], tokenizer)
    rows = replace(rows, weights=torch.zeros_like(rows.weights))
    with torch.no_grad():
        hidden = model.model(rows.tokens[:, :-1], output_hidden_states=True).hidden_states
        place = int(rows.expected_weights[0, 0].nonzero())
        expected = 0.0
        for layer, text, backwards in ((2, " red", False), (3, " blue", True)):
            state = model.model.norm(hidden[layer])[0, place]
            logits = model.lm_head(state.flip(-1) if backwards else state).log_softmax(-1)
            expected -= 0.5 * float(logits[tokenizer.encode(text)[0]])
        assert float(weighted_loss(model, rows, middle=(2, 3))) == pytest.approx(expected, rel=1e-4)


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
    question = bank.questions()[0]
    rendered = render(tokenizer, prompt(question, strategy="task").text)
    assert asked_in_chat(question, strategy="task").text == f"{rendered} {question.letter}<|end|>"
