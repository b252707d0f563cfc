"""Runs of models of this machine that begin with something else than a letter."""

import json
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from core.errors import SelfCheckError
from core.questions import bank
from core.runs import store
from core.runs.execution.execute import execute
from core.runs.model_files import identified
from core.runs.spec import RunSpec
from hedge.cli import main
from tests.conftest import synthetic_questions
from tests.core.models.conftest import WORDS, save_tokenizer

TEMPLATE = "{% for m in messages %}{{ m['content'] }}{% endfor %}<think>"


def opening_with(first: str, folder: Path) -> str:
    """The folder of a model whose next token is the word ``first``, whatever it reads; its letters have 0.03%."""
    words = [first, *WORDS]
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        max_position_embeddings=256,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        model.model.layers[0].self_attn.o_proj.weight.zero_()
        model.model.layers[0].mlp.down_proj.weight.zero_()
        model.model.embed_tokens.weight.fill_(1.0)  # the last state is (1, …, 1) after every token
        model.lm_head.weight.zero_()
        model.lm_head.weight[0] = 10.0 / 8
    model.save_pretrained(folder)
    save_tokenizer(folder, words)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(autouse=True)
def questions(home, monkeypatch):
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(40))


def test_a_model_that_begins_with_its_reasoning_is_stopped_at_its_first_questions(tmp_path):
    (spec,) = identified([RunSpec(model=opening_with("[THINK]", tmp_path), task="qa", batch_size=4)])
    with pytest.raises(SelfCheckError, match=r"for 4 of 4 questions.*“\[THINK\]” for 100% .*switch that off"):
        execute(spec)
    assert store.read_record(spec.run_id).state == "failed"


def test_a_model_that_begins_with_a_word_ends_without_figures(tmp_path, capsys):
    folder = opening_with("Sure", tmp_path)
    arguments = ["run", "--model", folder, "--task", "qa", "--format", "plain", "chat", "--dtype", "float32", "--json"]
    assert main(arguments) == 0
    values = json.loads(capsys.readouterr().out)
    sentence = (
        "No answer: the letters of the options have less than 1% of the next token's probability for 20 of 20 "
        "questions (median: 0.027%); the most probable token is “Sure” for 100% of the questions."
    )
    plain, chat = values["runs"]
    note = (
        "The chat template leaves the model's reasoning open (<think>), so the options are read inside the reasoning "
        "and not in the answer. Ask in the plain format."
    )
    rates = pytest.approx(dict.fromkeys("ABCDEF", 1 / 6))  # every letter has the same logit
    mass = {"questions": 20, "without_answer": 20, "is_bound": False, "first": "Sure", "first_share": 1.0}
    for report, run, format_, notes in zip(
        values["reports"], (plain, chat), ("the model's chat", "the plain"), ([], [note]), strict=True
    ):
        share = report["letter_mass"].pop("mean"), report["letter_mass"].pop("median")
        assert share == pytest.approx((0.00027, 0.00027), rel=0.02)
        no_answer = f"{sentence} Ask by text, or in {format_} format."
        assert report == {
            "run": run,
            "no_answer": no_answer,
            "letter_mass": mass,
            "letter_rates": rates,
            "notes": [no_answer, *notes],
        }
    assert any("the run will have no figures" in line for line in store.read_log(plain))
    assert store.read_record(chat).provenance["engine"]["template_notes"] == [note]
    assert "template_notes" not in store.read_record(plain).provenance["engine"]
    assert main(["runs"]) == 0
    listed = capsys.readouterr().out
    assert sentence in listed
    assert "leaves the model's reasoning open (<think>)" in listed


def test_the_preview_names_the_open_reasoning(tmp_path, capsys):
    folder = opening_with("Sure", tmp_path)
    assert main(["run", "--model", folder, "--task", "qa", "--format", "chat", "--dry-run"]) == 0
    assert "The chat template leaves the model's reasoning open (<think>)" in capsys.readouterr().out
