"""The digests of question sets that ship are those of the questions that ship."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.reports import question_identity
from core.runs import store
from tests.conftest import synthetic_run


def test_the_shipped_digests_are_those_of_the_shipped_questions(home: Path):
    expected = {}
    for run_id in store.run_ids():
        record = store.read_record(run_id)
        if record.spec.answers and "bank" not in record.provenance:
            file, source = question_identity._file(run_id), question_identity._source(run_id)
            digest = question_identity._set_digest(file, source)
            expected[question_identity.shipped_key(file.content, source)] = digest
            assert question_identity.question_set(run_id) == digest
    kept = json.loads(question_identity.SHIPPED.read_text(encoding="utf-8"))
    assert kept == expected, f"write this into {question_identity.SHIPPED}: {json.dumps(expected, indent=2)}"


def test_shipped_questions_are_not_hashed_again_and_others_are(home: Path, monkeypatch: pytest.MonkeyPatch):
    own = synthetic_run(20)
    digest = question_identity.question_set(own)
    shipped = next(name for name in store.run_ids() if store.is_bundled(name) and store.read_record(name).spec.answers)
    hashed: list[str] = []
    monkeypatch.setattr(question_identity, "_set_digest", lambda file, _: hashed.append(file.content) or "hashed")
    assert question_identity.question_set(shipped) != "hashed"
    assert hashed == []
    assert question_identity.question_set(own) == "hashed"
    assert len(digest) == 24
