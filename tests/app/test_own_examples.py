"""The examples of a person's own question: what the bundled model really makes of them."""

from collections.abc import Iterator

import pytest

from app.components.one_question.own_examples import EXAMPLES, MODEL, RUN, what_to_see
from app.showcase import showcase
from core.records import LETTERS
from core.reports import evaluation
from core.reports.one_question import CalibratedRun, asked, bench
from core.reports.question_kind import best_run, kind_of_run
from core.runs import store
from core.runs.answering.custom_question import CustomQuestion, ModelAnswer
from core.runs.answering.model_cache import ModelCache
from core.runs.answering.worker import answer
from core.settings import ASSETS, ROOT


@pytest.fixture(scope="module")
def answers() -> Iterator[dict[str, ModelAnswer]]:
    """Every example, answered by the bundled model in the way of the run that is chosen for it."""
    cache = ModelCache()
    yield {name: answer(own(name), cache, lambda *_, **__: None) for name in EXAMPLES}
    cache.clear()


def own(name: str) -> CustomQuestion:
    example = EXAMPLES[name]
    return CustomQuestion(MODEL, RUN.run_id, example.question, example.options)


@pytest.fixture(scope="module")
def by() -> CalibratedRun:
    return bench(evaluation.load(RUN.run_id))


def test_the_examples_are_calibrated_by_the_run_that_fits_them():
    records = [store.read_record(path.name) for path in (ASSETS / "runs").glob(f"{MODEL}-*")]
    answering = [record for record in records if record.spec.answers]
    for example in EXAMPLES.values():
        question = {"model": MODEL, "typed": len(example.options), "extra": True, "has_context": False}
        assert best_run(answering, kind_of_run, **question, prefer=showcase().run).run_id == RUN.run_id


@pytest.mark.parametrize(
    ("name", "expected", "likely", "probabilities"),
    [
        ("sure", "B", "B", (0.014, 0.973, 0.006, 0.006, 0.001, 0.000)),
        ("unsure", "AB", "A", (0.395, 0.330, 0.195, 0.079, 0.000, 0.001)),
        ("unknown", "D", "D", (0.033, 0.019, 0.023, 0.924, 0.000, 0.000)),
        ("own", "ABC", "A", (0.385, 0.307, 0.251, 0.058, 0.000, 0.000, 0.000)),
    ],
)
def test_an_example_shows_what_it_says(
    answers: dict[str, ModelAnswer],
    by: CalibratedRun,
    name: str,
    expected: str,
    likely: str,
    probabilities: tuple[float, ...],
):
    """The probabilities are those measured on 2026-11-29; another processor may round differently."""
    answer = answers[name]
    shown, standings = asked(by, answer.logits)
    lac = standings[0]
    assert lac.name == "lac"
    assert "".join(LETTERS[j] for j, inside in enumerate(lac.members(100)) if inside) == expected
    assert LETTERS[lac.top] == likely
    assert shown == pytest.approx(probabilities, abs=2e-3)
    assert answer.is_as_recorded
    assert what_to_see(answer.own) == EXAMPLES[name].says


def test_the_examples_show_four_different_things(answers: dict[str, ModelAnswer], by: CalibratedRun):
    sizes = {name: int(asked(by, answer.logits)[1][0].members(100).sum()) for name, answer in answers.items()}
    assert sizes["sure"] == 1
    assert sizes["unsure"] == 2
    assert sizes["unknown"] == 1
    assert len(answers["own"].options) != by.k
    folders = (ASSETS / "prose", ROOT / "pocket_world")
    written = [path for folder in folders for ending in ("*.txt", "*.py") for path in folder.rglob(ending)]
    read = [path.read_text(errors="replace").lower() for path in written]
    assert read
    assert not any("world cup" in text for text in read)
