"""A person's own question, put to a model on a server as a finished run put its own."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from core.errors import InputError
from core.models.server import connect
from core.questions.prompting.decision import DECISION_FORMATS
from core.reports.bounded import asked_bounds, bounded_options, bounded_run, probability_ends
from core.runs import store
from core.runs.answering import custom_question, worker
from core.runs.answering.custom_question import CustomQuestion
from core.runs.answering.model_cache import ModelCache
from core.runs.answering.worker import answer
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from tests.core.models.server.loopback import Loopback, loopback_server
from tests.core.runs.answering.conftest import Stages


@pytest.fixture(scope="module")
def loopback() -> Iterator[Loopback]:
    with loopback_server() as server:
        yield server


@pytest.fixture
def server(loopback: Loopback, home, monkeypatch: pytest.MonkeyPatch) -> Loopback:
    loopback.reset()
    soon = connect.Patience(connect_s=1.0, answer_s=10.0, first_s=0.05, gone_s=0.05, tries=2, first_pause_s=0.01)
    monkeypatch.setattr(connect, "SOON", soon)
    return loopback


@pytest.fixture
def models() -> Iterator[ModelCache]:
    """A cache whose connections end with the test."""
    cache = ModelCache(limit=0)
    yield cache
    cache.clear()


def finished(server: Loopback) -> RunSpec:
    spec = RunSpec("pocket-3m", "qa", dtype="served", samples=12, servers=(server.url,))
    execute(spec)
    return spec


def typed_again(spec: RunSpec, **changes: Any) -> tuple[CustomQuestion, str]:
    """A test question of the run as if somebody had typed it, and its id."""
    row = next(row for row in store.read_questions(spec.run_id).to_pylist() if row["role"] == "test")
    fields = {"model": spec.asked_model, "run_id": spec.run_id, "question": row["question"], "context": row["context"]}
    return CustomQuestion(**fields | {"options": tuple(row["options"][:-2])} | changes), row["id"]


def test_a_question_gets_the_log_probabilities_that_the_run_recorded(server: Loopback, models: ModelCache):
    spec = finished(server)
    stages = Stages()
    own, name = typed_again(spec)
    given = answer(own, models, stages)
    recorded = store.read_logits(spec.run_id)
    assert np.abs(np.array(given.logits) - recorded.logits[recorded.ids.index(name)]).max() < 1e-4
    assert given.bounded == ()
    assert given.is_as_recorded
    assert stages == ["loading", "checking", "answering"]
    again = answer(own, models, stages)
    assert again.logits == given.logits
    assert stages[3:] == ["answering"]


def test_letters_that_are_not_listed_stay_bounds(server: Loopback, models: ModelCache):
    server.reset(most=3, echo=False)
    spec = finished(server)
    own, name = typed_again(spec)
    given = answer(own, models, Stages())
    assert any(given.bounded)
    custom_question.write_answer(given)
    assert custom_question.read_answer(given.answer_id).bounded == given.bounded
    recorded_run = bounded_run(spec.run_id)
    row = int(np.flatnonzero(recorded_run.run.ids == name)[0])
    bounds = asked_bounds(recorded_run, given.logits, given.bounded)
    for option, recorded in zip(bounds.options, bounded_options(recorded_run, row), strict=True):
        assert option.surely.tolist() == recorded.surely.tolist()
        assert option.perhaps.tolist() == recorded.perhaps.tolist()
    np.testing.assert_allclose(bounds.probabilities, probability_ends(recorded_run, row), atol=1e-6)


def test_a_model_on_a_server_is_calibrated_by_its_own_runs(server: Loopback, models: ModelCache):
    spec = finished(server)
    for own in (
        typed_again(spec, model="pocket-3m")[0],
        typed_again(spec, model="pocket-3m on http://another:1/v1")[0],
        typed_again(spec, run_id=RunSpec("pocket-1m", "qa").run_id)[0],
    ):
        with pytest.raises(InputError, match="calibrate a model on a server by a run of its own"):
            answer(own, models, Stages())


def test_a_server_that_is_gone_is_one_sentence_without_a_run(server: Loopback, models: ModelCache):
    spec = finished(server)
    own, _ = typed_again(spec)
    answer(own, models, Stages())
    server.reset(fault=lambda number: "503")
    other, _ = typed_again(spec, question="Which planet is the largest?")
    with pytest.raises(InputError) as caught:
        answer(other, models, Stages())
    assert "resume" not in str(caught.value)
    assert server.url in str(caught.value)


def test_a_server_that_was_restarted_with_other_weights_is_found_out(
    server: Loopback, models: ModelCache, monkeypatch: pytest.MonkeyPatch
):
    spec = finished(server)
    own, _ = typed_again(spec)
    assert answer(own, models, Stages()).is_as_recorded
    with server.other_weights():
        monkeypatch.setattr(worker, "SERVED_AGAIN_S", 0.0)
        stages = Stages()
        assert not answer(own, models, stages).is_as_recorded
    assert stages == ["checking", "answering"]


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_a_server_that_decides_is_asked_in_the_run_s_format(server: Loopback, models: ModelCache, form: str):
    server.reset(decisions=tuple(f"/{each}" for each in DECISION_FORMATS))
    spec = RunSpec("pocket-3m", "qa", dtype="served", samples=12, servers=(server.url,), prompt_format=form)
    execute(spec)
    own, name = typed_again(spec)
    given = answer(own, models, Stages())
    recorded = store.read_logits(spec.run_id)
    assert np.abs(np.array(given.logits) - recorded.logits[recorded.ids.index(name)]).max() < 1e-6
    assert given.is_as_recorded
    sent = json.loads(server.bodies[-1])
    assert sent.pop("model") == "pocket-3m"
    assert given.prompt == json.dumps(sent, ensure_ascii=False, indent=2)
    assert own.question in given.prompt


@pytest.mark.parametrize("share", [0.001, 0.1])
def test_decisions_that_vary_as_they_did_in_the_run_are_as_recorded(server: Loopback, models: ModelCache, share: float):
    """A probability of 0.001 instead of 0.000001 is another logarithm, and no other decision."""
    turns = itertools.count()

    def varied(number: int, answer: dict[str, Any]) -> dict[str, Any]:
        lifted = [*answer["probabilities"]][-1 - next(turns) % 2]
        shares = {name: (1 - share) * p + share * (name == lifted) for name, p in answer["probabilities"].items()}
        return {**answer, "probabilities": shares}

    server.reset(decisions=("/systemone",), decided=varied)
    spec = RunSpec("pocket-3m", "qa", dtype="served", samples=60, servers=(server.url,), prompt_format="systemone")
    execute(spec)
    own, _ = typed_again(spec)
    given = answer(own, models, Stages())
    assert given.recorded_difference <= 1.5 * share
    assert given.is_as_recorded

    def turned(number: int, answer: dict[str, Any]) -> dict[str, Any]:
        names, shares = [*answer["probabilities"]], answer["probabilities"].values()
        return {**answer, "probabilities": dict(zip(reversed(names), shares, strict=True))}

    server.reset(decisions=("/systemone",), decided=turned)
    models.clear()
    assert not answer(own, models, Stages()).is_as_recorded
