"""A model that stays loaded, and what is kept of it, after the weights in its folder were replaced."""

from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError
from core.models.adapters.token_evaluation import load
from core.models.adapters.token_view import view_tokens
from core.models.fake import FakeEngine
from core.models.model_fingerprint import fingerprint
from core.runs.answering import token_text
from core.runs.answering.custom_question import CustomQuestion, read_answer, write_answer
from core.runs.answering.model_cache import ModelCache
from core.runs.answering.worker import _read, answer
from core.runs.execution.execute import execute
from core.runs.prompts import Combination
from tests.core.runs.answering.conftest import OPTIONS, Stages
from tests.replaced import own_model, replace_weights

TEXT = "Rome is in Italy."


def test_a_warm_model_is_loaded_anew_and_the_answer_names_its_weights(home: Path, tmp_path: Path):
    model = str(own_model(tmp_path / "mine"))
    (spec,) = Combination(models=(model,), tasks=("qa",), samples=30).specs()
    own = CustomQuestion(model, execute(spec), "What is the capital of France?", OPTIONS)
    models = ModelCache()
    before = answer(own, models, Stages())
    assert before.weights == fingerprint(model)
    assert before.is_as_recorded
    replace_weights(tmp_path / "mine")
    stages = Stages()
    after = answer(own, models, stages)
    assert stages == ["loading", "checking", "answering"]
    np.testing.assert_array_equal(after.logits, answer(own, ModelCache(), Stages()).logits)
    assert np.abs(np.subtract(after.logits, before.logits)).max() > 0.5
    assert after.weights == fingerprint(model) != before.weights
    assert not after.is_as_recorded
    write_answer(after)
    assert read_answer(own.answer_id).weights == after.weights
    stages = Stages()
    answer(own, models, stages)
    assert stages == ["answering"]


def test_a_text_is_read_anew_by_the_weights_that_are_there(home: Path, tmp_path: Path):
    model = str(own_model(tmp_path / "mine"))
    models = ModelCache()
    before = token_text.token_text(model, TEXT)
    _read(before, models, Stages())
    replace_weights(tmp_path / "mine")
    after = token_text.token_text(model, TEXT)
    assert token_text.read_view(after) is None
    _read(after, models, Stages())
    view = token_text.read_view(after)
    assert view == view_tokens(load(model), TEXT)
    assert view["weights"] == fingerprint(model)
    assert view["tokens"][1]["loss"] != pytest.approx(token_text.read_view(before)["tokens"][1]["loss"], abs=0.1)
    with pytest.raises(InputError, match="were changed while it was loaded or asked"):
        _read(before, models, Stages())


def test_a_model_that_changes_while_it_is_loaded_is_not_kept(fake_home: Path, tmp_path: Path):
    folder = own_model(tmp_path / "mine")

    def load_slowly(model: str, *, dtype: str) -> FakeEngine:
        replace_weights(folder)
        return FakeEngine()

    models = ModelCache(load=load_slowly)
    with pytest.raises(InputError, match="were changed while it was loaded or asked"):
        models.get((str(folder), "float32"))
    assert len(models) == 0
