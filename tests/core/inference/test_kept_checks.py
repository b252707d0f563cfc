"""Self-checks that are kept: what they hold for, and a second run that takes the verdict of the first."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from core.inference import kept_checks, transformers_engine
from core.inference.engine import SelfCheck
from core.inference.engine_factory import load_engine
from core.inference.models import ModelSource, resolve
from core.prompting.strategies import prompt
from core.settings import ASSETS
from tests.conftest import synthetic_questions

CHECK = SelfCheck(4, 1e-6, 1e-4, "padded rows", ("prefix cache: no",))
MODEL = "pocket-1m"


def test_a_verdict_is_found_again_for_prompts_that_are_no_longer(home):
    name = kept_checks.key(weights="a", dtype="float32")
    assert kept_checks.find(name, longest=10) is None
    kept_checks.keep(name, CHECK, longest=100)
    found = kept_checks.find(name, longest=100)
    assert found is not None
    assert replace(found, kept="") == CHECK
    assert len(found.kept) == len("2026-11-22")
    assert kept_checks.find(name, longest=101) is None
    assert kept_checks.find(kept_checks.key(weights="b", dtype="float32"), longest=10) is None


def test_a_verdict_that_did_not_pass_is_not_kept(home):
    kept_checks.keep("x", replace(CHECK, largest_difference=1.0), longest=100)
    assert kept_checks.find("x", longest=1) is None


def test_a_file_that_is_not_whole_is_no_verdict(home):
    kept_checks.keep("x", CHECK, longest=100)
    kept_checks._file("x").write_text("{")
    assert kept_checks.find("x", longest=1) is None


def test_one_changed_byte_of_the_weights_is_another_model(home, tmp_path):
    shutil.copytree(ASSETS / "models" / MODEL, tmp_path / "m")
    source = ModelSource("m", str(tmp_path / "m"), is_hub=False)
    before = kept_checks.identity([source])
    assert before == kept_checks.identity([resolve(MODEL)])
    weights = tmp_path / "m" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert kept_checks.identity([source]) != before


def test_the_second_run_takes_the_verdict_of_the_first(home, monkeypatch: pytest.MonkeyPatch):
    prompts = [prompt(question, strategy="base", demonstrations=()) for question in synthetic_questions(8)]

    def checked(dtype: str = "float32") -> tuple[SelfCheck, list[str]]:
        engine = load_engine(MODEL, dtype=dtype)
        engine.prepare(prompts)
        check = engine.self_check(prompts)
        return check, [engine.description["rung"], str(sum(len(batch.ids) for batch in engine.score(prompts)))]

    first, scored = checked()
    assert first.kept == ""
    monkeypatch.setattr(transformers_engine, "climb_down", _never)
    second, again = checked()
    assert second.kept != ""
    assert replace(second, kept="") == first
    assert again == scored == [first.rung, "8"]
    with pytest.raises(AssertionError, match="checked anew"):
        checked("bfloat16")  # another precision
    monkeypatch.setattr(transformers_engine, "__version__", "another")
    with pytest.raises(AssertionError, match="checked anew"):
        checked()


def _never(*args: object, **named: object) -> None:
    raise AssertionError("checked anew")
