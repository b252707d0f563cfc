"""Self-checks that are kept: what they hold for, and a second run that takes the verdict of the first."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.models import kept_checks, transformers_engine
from core.models.engine import SelfCheck
from core.models.engine_factory import load_engine
from core.models.model_sources import ModelSource, resolve
from core.questions.prompting.strategies import prompt
from core.records import Prompt
from core.settings import ASSETS
from tests.conftest import synthetic_questions
from tests.core.models.zoo import LLAMA, LONGROPE, bank_words, model

CHECK = SelfCheck(4, 1e-6, 1e-4, "padded rows", ("prefix cache: no",))
MODEL = "pocket-1m"


def test_a_verdict_is_found_again_for_prompts_that_are_no_longer(home):
    name = kept_checks.key(weights="a", dtype="float32")
    assert kept_checks.find(name, longest=10) is None
    kept_checks.keep(name, CHECK, longest=100)
    remembered_checks = kept_checks.find(name, longest=100)
    assert remembered_checks is not None
    assert replace(remembered_checks, kept="") == CHECK
    assert len(remembered_checks.kept) == len("2026-11-22")
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
    before = kept_checks.identity(source)
    assert before == kept_checks.identity(resolve(MODEL))
    weights = tmp_path / "m" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert kept_checks.identity(source) != before


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
    with pytest.raises(AssertionError, match="checked again"):
        checked("bfloat16")  # another precision
    monkeypatch.setattr(transformers_engine, "__version__", "another")
    with pytest.raises(AssertionError, match="checked again"):
        checked()


LIMIT = 48


@pytest.fixture(scope="module")
def longrope(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "longrope"
    rope = LONGROPE["rope_parameters"] | {"original_max_position_embeddings": LIMIT}
    model("phi3", LLAMA | {"rope_parameters": rope, "original_max_position_embeddings": LIMIT})(folder)
    return folder


def prompts_of_lengths(lengths: Sequence[int], *, shared: int = 36, k: int = 4) -> list[Prompt]:
    """Prompts of this many tokens; the first ``shared`` are equal."""
    rng = np.random.default_rng(1)
    words = [word for word in bank_words() if word.isalpha() and len(word) > 1][:50]
    begin = " ".join(words[:shared])
    return [Prompt(f"q{i}", " ".join([begin, *rng.choice(words, n - shared)]), k) for i, n in enumerate(lengths)]


def test_a_verdict_holds_only_on_the_sides_that_were_checked(longrope, home):
    """The first run has the longest prompts, so length alone would let the others pass."""
    above = prompts_of_lengths(range(LIMIT + 20, LIMIT + 30), shared=LIMIT + 2)
    crossing = prompts_of_lengths(range(LIMIT - 6, LIMIT + 6))
    below = prompts_of_lengths(range(LIMIT - 10, LIMIT - 2))
    for texts in (False, True):
        for prompts in (above, crossing, below):
            prompts = [
                replace(prompt, continuations=(" A B", " B A C", " C", " D") if texts else ()) for prompt in prompts
            ]
            for is_kept in (False, True):
                engine = load_engine(str(longrope), dtype="float32")
                engine.prepare(prompts)
                assert bool(engine.self_check(prompts).kept) == is_kept


def test_a_verdict_holds_for_as_many_options(longrope, home):
    for k in (4, 5):
        engine = load_engine(str(longrope), dtype="float32")
        engine.prepare(prompts := prompts_of_lengths(range(40, 46), k=k))
        assert not engine.self_check(prompts).kept


def test_what_was_not_checked_is_scored_one_by_one(longrope, home):
    """A question that a warm engine gets after its check, on the other side of the limit."""
    engine = load_engine(str(longrope), dtype="float32")
    prompts = prompts_of_lengths(range(40, 46))
    engine.prepare(prompts)
    assert engine.self_check(prompts).rung == engine._rung([engine._row(prompts[0])]).name == "prefix cache"
    other = replace(prompts_of_lengths([LIMIT + 20])[0], question_id="other")
    assert engine._rung([engine._row(other)]).name == "one by one"
    warm = load_engine(str(longrope), dtype="float32")
    warm.take_setup(engine.setup())
    assert warm._rung([engine._row(other)]).name == "one by one"
    assert warm._rung([engine._row(prompts[0])]).name == "prefix cache"


def _never(*args: object, **named: object) -> None:
    raise AssertionError("checked again")
