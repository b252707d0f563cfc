import json
import shutil

import numpy as np
import pytest
from transformers import AutoTokenizer

from core.questions import bank
from core.runs import store
from core.settings import settings
from hedge.cli import main
from tests.conftest import synthetic_questions

TEMPLATE = (
    "{% for m in messages %}<bos> {{ m['role'] }} : {{ m['content'] }} . {% endfor %}"
    "{% if add_generation_prompt %}assistant : {% endif %}"
)


@pytest.fixture
def chat_model(tiny_model, tmp_path):
    """The tiny model with a chat template."""
    folder = tmp_path / "tiny-chat"
    shutil.copytree(tiny_model, folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def questions(monkeypatch):
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(30))


def dry(capsys, *words):
    assert main(["run", "--task", "qa", "--samples", "20", "--dry-run", "--json", *words]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["previews"]
    return shown


def test_the_exact_prompt_with_its_tokens(home, questions, tiny_model, capsys):
    shown = dry(capsys, "--model", str(tiny_model), "--shots", "1")
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    assert shown["tokens"] == len(tokenizer(shown["text"])["input_ids"])
    assert shown["text"].count("Answer:") == 2
    assert shown["continuations"] == [" A", " B", " C", " D", " E", " F"]
    assert shown["questions"] == 20
    assert shown["shortest"] <= shown["median"] <= shown["longest"]
    assert shown["shared"] > 20
    assert shown["context"] == 128
    assert not settings().runs.exists()


def test_what_does_not_fit_is_counted(home, questions, tiny_model, capsys):
    shown = dry(capsys, "--model", str(tiny_model), "--shots", "8")
    assert shown["truncated"] == 20
    assert shown["dropped"] > 20
    assert shown["longest"] <= 128


def test_texts_follow_a_cloze_prompt(home, questions, tiny_model, capsys):
    shown = dry(capsys, "--model", str(tiny_model), "--form", "cloze")
    assert len(shown["continuations"]) == 4
    assert "A. " not in shown["text"]


def test_the_chat_format_is_the_models_own(home, questions, chat_model, capsys):
    plain = dry(capsys, "--model", str(chat_model))
    chat = dry(capsys, "--model", str(chat_model), "--format", "chat")
    assert chat["text"] == f"<bos> user : {plain['text'].removesuffix('Answer:').rstrip()} . assistant : Answer:"
    assert chat["tokens"] == plain["tokens"] - 2 + 3 + 3 + 2  # "Answer :" goes; a turn, its end and its opening come
    assert chat["run"] != plain["run"]


def test_a_run_in_the_chat_format(home, questions, chat_model, capsys):
    words = [
        "run",
        "--model",
        str(chat_model),
        "--task",
        "qa",
        "--samples",
        "20",
        "--format",
        "plain",
        "chat",
        "--json",
    ]
    assert main(words) == 0
    values = json.loads(capsys.readouterr().out)
    first, second = values["runs"]
    assert first != second
    assert not np.array_equal(store.read_logits(first).logits, store.read_logits(second).logits)
    assert {report["run"] for report in values["reports"]} == {first, second}  # one of them has no answer


def test_a_base_model_has_no_chat_format(home, questions, tiny_model, capsys):
    words = ["run", "--model", str(tiny_model), "--task", "qa", "--samples", "20", "--format", "chat"]
    assert main([*words, "--dry-run"]) == 2
    assert "no chat template" in capsys.readouterr().err


def test_a_text_for_a_person(home, questions, tiny_model, capsys):
    assert main(["run", "--model", str(tiny_model), "--task", "qa", "--samples", "20", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Question: ")
    assert "20 prompts; this one has" in out
