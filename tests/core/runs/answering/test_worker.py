"""A question put to the real pocket model as a run puts its own, in this process."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import InputError
from core.models.engine_factory import load_engine
from core.questions.prompting.strategies import prompt
from core.reports import evaluation
from core.reports.one_question import asked, bench, standings
from core.runs import store
from core.runs.answering.custom_question import CustomQuestion
from core.runs.answering.model_cache import ModelCache
from core.runs.answering.worker import answer, setup_of
from core.runs.execution.execute import execute
from core.runs.prompts import make_prompt
from core.runs.spec import RunSpec
from tests.conftest import synthetic_questions, synthetic_run
from tests.core.runs.answering.conftest import Stages

BUNDLED = RunSpec(model="pocket-1m", task="qa").run_id


@pytest.fixture(scope="module")
def models() -> ModelCache:
    """The pocket model, loaded once."""
    return ModelCache()


def question_of(run_id: str, place: int, role: str = "test") -> dict[str, Any]:
    rows = [row for row in store.read_questions(run_id).to_pylist() if row["role"] == role]
    return rows[place]


def own_of(run_id: str, row: dict[str, Any], **changes: Any) -> CustomQuestion:
    """One of the run's questions as if somebody had typed it."""
    options = tuple(row["options"][:-2])
    return replace(CustomQuestion("pocket-1m", run_id, row["question"], options, row["context"]), **changes)


@pytest.mark.parametrize("strategy", ["base", "shared", "task"])
def test_a_test_question_typed_again_gets_the_logits_and_the_set_that_the_run_recorded(
    home: Path, models: ModelCache, strategy: str
):
    run_id = RunSpec(model="pocket-8m", task="qa", strategy=strategy).run_id
    run = evaluation.load(run_id)
    by = bench(run)
    recorded = store.read_logits(run_id)
    for place in (0, 400):
        row = question_of(run_id, place)
        stages = Stages()
        given = answer(own_of(run_id, row, model="pocket-8m"), models, stages)
        at = recorded.ids.index(row["id"])
        np.testing.assert_allclose(given.logits, recorded.logits[at], atol=1e-3)
        assert given.options == tuple(row["options"])
        assert given.recorded_difference < 1e-3
        assert given.is_as_recorded
        assert given.letter_mass == pytest.approx(recorded.letter_mass[at], abs=1e-3)
        assert stages[-1] == "answering"
        _, option_rows = asked(by, np.array(given.logits))
        place = run.ids.tolist().index(row["id"])
        expected = standings(by, run.probabilities[place], place=place)
        for option_row, other in zip(option_rows, expected, strict=True):
            if option_row.name != "aps-randomised":  # a typed question has a random number of its own
                assert abs(option_row.counts - other.counts).max() <= 2


def test_the_second_question_finds_all_ready(home: Path, models: ModelCache):
    answer(own_of(BUNDLED, question_of(BUNDLED, 1)), models, Stages())
    stages = Stages()
    given = answer(own_of(BUNDLED, question_of(BUNDLED, 2)), models, stages)
    assert stages == ["answering"]
    assert given.loading_s == 0
    assert given.rung == "padded rows"


def test_demonstrations_and_precision_are_the_runs(home: Path, models: ModelCache):
    run_id = execute(RunSpec(model="pocket-1m", task="qa", shots=2, samples=30, strategy="shared", dtype="bfloat16"))
    row = question_of(run_id, 0)
    given = answer(own_of(run_id, row), models, Stages())
    assert ("pocket-1m", "bfloat16") in models
    for shown in range(2):
        assert question_of(run_id, shown, "demonstration")["question"] in given.prompt
    recorded = store.read_logits(run_id)
    np.testing.assert_allclose(given.logits, recorded.logits[recorded.ids.index(row["id"])], atol=0.3)
    assert given.dropped == 0


def test_a_cloze_run_scores_texts_and_offers_no_letters(home: Path, models: ModelCache):
    run_id = execute(RunSpec(model="pocket-1m", task="qa", samples=30, form="cloze"))
    row = question_of(run_id, 0)
    own = CustomQuestion("pocket-1m", run_id, row["question"], tuple(row["options"]), extra=True)
    given = answer(own, models, Stages())
    assert given.options == tuple(row["options"])
    assert math.isnan(given.letter_mass)
    recorded = store.read_logits(run_id)
    np.testing.assert_allclose(given.logits, recorded.logits[recorded.ids.index(row["id"])], atol=1e-3)


def test_the_kept_verdict_of_a_run_by_letter_is_not_taken_for_texts(home: Path):
    """The first compared question of this run has options of one token each, the others have longer ones."""
    by_letter = [prompt(question, strategy="base", demonstrations=()) for question in synthetic_questions(8)]
    engine = load_engine("pocket-8m", dtype="float32")
    engine.prepare(by_letter)
    assert engine.self_check(by_letter).rung == "padded rows"
    models = ModelCache()
    by_text = RunSpec(model="pocket-8m", task="qa", form="cloze").run_id
    own = CustomQuestion("pocket-8m", by_text, "What is the capital of Australia?", ("Sydney", "Canberra"))
    given = answer(own, models, Stages())
    models.clear()
    assert given.recorded_difference < 1e-3
    assert "cache" in given.rung or "tree" in given.rung  # as fast as a run's own questions


def test_other_numbers_of_options_are_scored_each_right(home: Path, models: ModelCache):
    """The rung was chosen for six letters; two and twelve must equal the model's own call as well."""
    plain = load_engine("pocket-1m", dtype="float32")  # without a self-check it scores one by one
    for options in (("yes", "no"), tuple(f"number {i}" for i in range(10))):
        given = answer(CustomQuestion("pocket-1m", BUNDLED, "Which one?", options), models, Stages())
        question = CustomQuestion("pocket-1m", BUNDLED, "Which one?", options).as_question("qa")
        alone = next(iter(plain.score([make_prompt(RunSpec(model="m", task="qa"), question, ())])))
        assert len(given.logits) == len(options) + 2
        np.testing.assert_allclose(given.logits, alone.logits[0], atol=1e-4)


def test_a_question_too_long_for_the_model_is_refused_at_first_and_later(home: Path):
    models = ModelCache()
    long = CustomQuestion("pocket-1m", BUNDLED, "What?", ("x", "y"), context="word " * 3000)
    short = replace(long, context="")
    for _ in range(2):
        with pytest.raises(InputError, match="longer than the 512 tokens that pocket-1m reads at once; shorten it"):
            answer(long, models, Stages())
        assert len(answer(short, models, Stages()).logits) == 4


def test_demonstrations_go_before_a_question_does(home: Path, models: ModelCache):
    run_id = execute(RunSpec(model="pocket-1m", task="qa", shots=4, samples=30))
    context = "word " * 400
    given = answer(CustomQuestion("pocket-1m", run_id, "What?", ("x", "y"), context=context), models, Stages())
    assert 0 < given.dropped <= 4
    assert context.strip() in given.prompt
    shown = [question_of(run_id, i, "demonstration")["question"] in given.prompt for i in range(4)]
    assert shown == [i >= given.dropped for i in range(4)]
    with pytest.raises(InputError, match="shorten it"):
        answer(CustomQuestion("pocket-1m", run_id, "What?", ("x", "y"), context="word " * 600), models, Stages())


def test_a_model_that_no_longer_answers_as_recorded_is_found_out(home: Path, models: ModelCache):
    run_id = execute(RunSpec(model="pocket-1m", task="qa", samples=30, seed=3))
    scored = store.read_logits(run_id)
    store.write_logits(store.folder_of(run_id), replace(scored, logits=scored.logits + np.float32(0.25)))
    given = answer(own_of(run_id, question_of(run_id, 0)), models, Stages())
    assert given.recorded_difference == pytest.approx(0.25, abs=1e-3)
    assert not given.is_as_recorded


def test_another_models_calibration_is_used_but_not_compared(
    home: Path, models: ModelCache, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    run_id = execute(RunSpec(model="fake", task="qa", samples=30))
    given = answer(own_of(run_id, question_of(run_id, 0)), models, Stages())
    assert math.isnan(given.recorded_difference)
    assert given.is_as_recorded


def test_runs_that_can_not_lend_their_setup_of(home: Path):
    run_id = synthetic_run(20)
    store.update_record(run_id, state="running", ended=None)
    with pytest.raises(InputError, match="is running; a set needs the calibration of a finished run"):
        setup_of(run_id)
    store.update_record(run_id, state="done", ended=1.0)
    record = store.read_record(run_id)
    imported = replace(record, spec=replace(record.spec, origin="bluq"))
    folder = store.create(imported)
    store.write_record(folder, imported)
    with pytest.raises(InputError, match=r"was imported.*choose a run of Hedge's own"):
        setup_of(imported.run_id)
