"""Notices of ended runs: whose end a person waits for, and which runs a page that waits for some looks at."""

from pathlib import Path

import pytest

from app import notices
from app.caches import run_cache
from core import access
from core.access import Actor, UserRole
from core.runs import store
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick


def test_only_the_watched_runs_are_looked_at_and_as_they_are_now(home: Path, monkeypatch: pytest.MonkeyPatch):
    watched, _ = synthetic_run(20, model="watched"), synthetic_run(20, model="other")
    store.update_record(watched, state="running", ended=None)
    monkeypatch.setattr(run_cache, "runs", lambda: pytest.fail("all runs were listed"))
    monkeypatch.setattr(store, "run_stamps", lambda: pytest.fail("all runs were looked at"))
    assert [record.state for record in notices._records([watched])] == ["running"]
    store.end(watched, "failed", "no")
    assert [record.state for record in notices._records([watched])] == ["failed"]


def test_a_deleted_run_is_left_out_although_another_ones_id_begins_with_its_id(home: Path):
    run_id = synthetic_run(20)
    assert notices._records([run_id[:-2], "unknown"]) == []
    assert [record.run_id for record in notices._records([run_id])] == [run_id]


@pytest.mark.parametrize(
    ("mode", "actor", "waits_for"),
    [
        ("local", access.LOCAL, {"mine", "theirs"}),
        ("login", Actor("ann", UserRole.LAUNCHER), {"mine"}),
        ("login", Actor("ann", UserRole.ADMINISTRATOR), {"mine"}),
        ("login", Actor("ann", UserRole.VIEWER), set()),
        ("public", access.VISITOR, set()),
    ],
)
def test_a_person_waits_for_the_runs_that_he_or_she_launched(
    home: Path, mode: access.Mode, actor: Actor, waits_for: set[str], request: pytest.FixtureRequest
):
    models = {}
    for model, name in (("mine", "ann"), ("theirs", "bob")):
        models[synthetic_run(20, model=model)] = model
        store.update_record(list(models)[-1], state="running", ended=None, provenance={"launched_by": name})
    request.addfinalizer(lambda: access.serve("local"))
    access.serve(mode, whose=lambda: actor)
    assert {models[run_id] for run_id in notices._unfinished()} == waits_for
