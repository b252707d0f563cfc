"""A text read token by token by the answering worker, as `python -m core tokens view` reads it."""

import os
from pathlib import Path

import pytest

from core.errors import InputError
from core.models.adapters.token_evaluation import load
from core.models.adapters.token_view import view_tokens
from core.runs.answering import client, token_text
from core.runs.answering.model_cache import ModelCache
from core.runs.answering.token_text import BY_TOKEN, TokenText
from core.runs.answering.worker import _read
from core.settings import ASSETS
from tests.core.runs.answering.conftest import Stages, answered

TEXT = "--json is no option here\n<b>Rome is in Italy.</b>"
ADAPTER = str(ASSETS / "adapters" / "trivia-ard-lora")


def test_a_text_comes_back_token_by_token_and_the_next_finds_the_model_warm(fake_home: Path):
    client.warm("pocket-1m", BY_TOKEN)
    for text in (TEXT, "Another text."):
        text_request = token_text.token_text("pocket-1m", text)
        progress = answered(text_request)
        assert progress.stage == "answered"
        view = token_text.read_view(text_request)
        assert "".join(row["text"] for row in view["tokens"]) == text
    assert progress.seconds == 0  # loading took no time


def test_what_the_model_refuses_is_its_sentence(home: Path):
    with pytest.raises(InputError, match=r"no folder '\./gone'"):
        _read(TokenText("./gone", "a text"), ModelCache(), Stages())


@pytest.mark.parametrize("model", ["pocket-1m", ADAPTER])
def test_the_worker_reads_as_the_command_does(home: Path, model: str):
    models, stages, text_request = ModelCache(), Stages(), token_text.token_text(model, TEXT)
    assert _read(text_request, models, stages) > 0
    assert stages == ["loading", "answering"]
    assert token_text.read_view(text_request) == view_tokens(load(model), TEXT)
    assert (model, BY_TOKEN) in models
    assert models.by_token(model).size > 4 * 1_000_000
    stages = Stages()
    assert _read(text_request, models, stages) == 0
    assert stages == ["answering"]


def test_models_that_read_and_models_that_answer_share_the_room(home: Path):
    models = ModelCache(limit=10)
    models.by_token("pocket-1m")
    models.get(("pocket-1m", "float32"))
    assert ("pocket-1m", BY_TOKEN) not in models
    assert len(models) == 1


def test_a_model_that_was_trained_again_is_asked_again(home: Path, tmp_path: Path):
    (tmp_path / "adapter.json").write_text('{"base": "pocket-1m"}')
    before = token_text.token_text(str(tmp_path), "a text")
    assert token_text.token_text(str(tmp_path), "a text") == before
    (tmp_path / "adapter.json").touch()
    assert token_text.token_text(str(tmp_path), "a text") == before
    (tmp_path / "adapter.safetensors").write_bytes(b"trained again")
    assert token_text.token_text(str(tmp_path), "a text").answer_id != before.answer_id


def test_only_the_latest_views_are_kept(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(token_text, "KEPT", 2)
    texts = [TokenText("m", f"text {i}") for i in range(4)]
    for i, text in enumerate(texts):
        token_text.write_view(text, {"text": text.text})
        os.utime(token_text.view_file(text), (i - 100, i - 100))  # older than what is written next
    assert [token_text.read_view(prompt) for prompt in texts] == [None, None, {"text": "text 2"}, {"text": "text 3"}]


def test_what_can_not_be_asked_is_said():
    with pytest.raises(InputError, match="choose a model"):
        TokenText(" ", "a text")
    with pytest.raises(InputError, match="broken character at position 3"):
        TokenText("m", "ab\ud800")
