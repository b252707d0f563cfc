"""The examples of a person's own question: what the bundled model really makes of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.components.one_question.own_examples import EXAMPLES, MODEL, what_to_see
from app.components.shared.runs import SHOWCASE
from core.records import LETTERS
from core.reports import evaluation
from core.reports.one_question import CalibratedRun, asked, bench
from core.runs import store
from core.runs.answering.custom_question import CustomQuestion, ModelAnswer
from core.runs.answering.model_cache import ModelCache
from core.runs.answering.question_kind import best_run, kind_of_run
from core.runs.answering.worker import answer
from core.settings import ASSETS


@pytest.fixture(scope="module")
def answers() -> Iterator[dict[str, ModelAnswer]]:
    """Every example, answered by the bundled model in the way of the run that is chosen for it."""
    cache = ModelCache()
    yield {name: answer(own(name), cache, lambda *_, **__: None) for name in EXAMPLES}
    cache.clear()


def own(name: str) -> CustomQuestion:
    example = EXAMPLES[name]
    return CustomQuestion(MODEL, SHOWCASE, example.question, example.options)


@pytest.fixture(scope="module")
def by() -> CalibratedRun:
    return bench(evaluation.load(SHOWCASE))


def test_the_examples_are_answered_by_the_showcase_run():
    records = [store.read_record(path.name) for path in (ASSETS / "runs").iterdir()]
    answering = [record for record in records if record.spec.answers and record.spec.model == MODEL]
    for example in EXAMPLES.values():
        options = len(example.options) + 2
        chosen = best_run(answering, kind_of_run, model=MODEL, options=options, has_context=False)
        assert chosen.run_id == SHOWCASE


@pytest.mark.parametrize(
    ("name", "kept", "likely", "probabilities"),
    [
        ("sure", "B", "B", (0.009, 0.940, 0.006, 0.045)),
        ("unsure", "ABC", "B", (0.263, 0.529, 0.159, 0.050)),
        ("unknown", "ABCD", "C", (0.215, 0.239, 0.275, 0.271)),
        ("own", "D", "D", (0.053, 0.014, 0.033, 0.900, 0.000)),
    ],
)
def test_an_example_shows_what_it_says(
    answers: dict[str, ModelAnswer],
    by: CalibratedRun,
    name: str,
    kept: str,
    likely: str,
    probabilities: tuple[float, ...],
):
    """The probabilities are those measured on 2026-11-22; another processor may round differently."""
    found = answers[name]
    shown, standings = asked(by, found.logits)
    lac = standings[0]
    assert lac.name == "lac"
    assert "".join(LETTERS[j] for j, inside in enumerate(lac.members(100)) if inside) == kept
    assert LETTERS[lac.top] == likely
    assert shown[: len(probabilities)] == pytest.approx(probabilities, abs=2e-3)
    assert found.is_as_recorded
    assert found.letter_mass > 0.9
    assert what_to_see(found.own) == EXAMPLES[name].says


def test_the_examples_show_four_different_things(answers: dict[str, ModelAnswer], by: CalibratedRun):
    sizes = {name: int(asked(by, found.logits)[1][0].members(100).sum()) for name, found in answers.items()}
    assert sizes["sure"] == 1
    assert sizes["unsure"] >= 3
    assert sizes["unknown"] == 4
    assert len(answers["own"].options) != by.k
    texts = [path.read_text(errors="replace") for path in (ASSETS / "prose").rglob("*.txt")]
    assert texts
    assert not any("microsoft" in text.lower() for text in texts)
