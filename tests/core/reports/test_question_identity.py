"""The digest of a run's test questions stands in the run, or is computed from them."""

from pathlib import Path

import pytest

from core.reports import question_identity
from core.runs import store
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick


def test_the_digests_of_runs_that_ship_are_those_of_their_questions(home: Path):
    answering = [run_id for run_id in store.run_ids() if store.read_record(run_id).spec.answers]
    assert answering
    for run_id in answering:
        digest = question_identity.question_set(run_id)
        assert digest == question_identity._set_digest(
            question_identity._file(run_id), question_identity._source(run_id)
        )


def test_questions_that_ship_are_not_hashed_and_others_are(home: Path, monkeypatch: pytest.MonkeyPatch):
    own = synthetic_run(20)
    digest = question_identity.question_set(own)
    shipped = next(name for name in store.run_ids() if store.is_bundled(name) and store.read_record(name).spec.answers)
    hashed: list[str] = []
    monkeypatch.setattr(question_identity, "_set_digest", lambda file, _: hashed.append(file.content) or "hashed")
    assert question_identity.question_set(shipped) != "hashed"
    assert hashed == []
    assert question_identity.question_set(own) == "hashed"
    assert len(digest) == 24
