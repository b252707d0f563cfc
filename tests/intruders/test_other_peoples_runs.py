"""A launcher changes nothing of what another one launched, and no import takes the place of a run."""

import itertools
import json
import math
import shutil
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core import access
from core.access import Actor, UserRole
from core.errors import AccessError, InputError
from core.exchange import run_folder
from core.exchange.imported import save
from core.jury.pipeline import jury_spec
from core.jury.pipeline.jury_spec import JurySpec
from core.reports import evaluation
from core.reports.compare import side_by_side
from core.reports.report import report
from core.runs import actions, engine, jury_job, store
from core.runs.execution.execute import execute
from core.runs.queue import run_queue
from core.runs.spec import FOLDER_DATA, INSTRUCTIONS, RunSpec
from core.storage.record_tables import logits_table, questions_table
from core.storage.tables import write_table
from tests.conftest import synthetic_run, without_digests

ANN, BEN = Actor("ann@example.org", UserRole.LAUNCHER), Actor("ben@example.org", UserRole.LAUNCHER)
CHIEF = Actor("chief@example.org", UserRole.ADMINISTRATOR)
SERVERS, KEYS = ("http://gpu:8000/v1",), ("LAB_KEY", "BENS_KEY")
SERVED = RunSpec("llama", "qa", dtype="served", samples=10, servers=SERVERS, key_variable="LAB_KEY", budget=1.0)
RULE = "only the person who launched this and an administrator can"


@pytest.fixture
def login(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A server where people log in, with a queue that nobody works off."""
    monkeypatch.setattr(engine, "ensure_agent", lambda: None)
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    for key in KEYS:
        monkeypatch.setenv(key, "a-key")
    access.serve("login", servers=SERVERS, keys=KEYS)
    yield home
    access.serve("local")


def content(run_id: str) -> bytes:
    return (store.folder_of(run_id) / "run.json").read_bytes()


@pytest.mark.parametrize("state", ["queued", "cancelled", "paused", "failed"])
def test_an_equal_spec_with_another_budget_and_key_changes_nothing(login: Path, state: str):
    with access.acting_as(ANN):
        run_id = engine.submit(SERVED)
        if state != "queued":
            engine.cancel(run_id)
            store.update_record(run_id, state=state)
    before = content(run_id)
    theirs = replace(SERVED, key_variable="BENS_KEY", budget=1e6, price_read=0.0, timeout_s=9.0)
    with access.acting_as(BEN):
        if state == "queued":
            assert engine.submit(theirs) == run_id
        else:
            with pytest.raises(AccessError, match=RULE):
                engine.submit(theirs)
            assert list(actions.launch([theirs])[1].refused) == [run_id]
        for action in (engine.resume, lambda name: engine.resume(name, budget=1e6)):
            with pytest.raises(AccessError, match=RULE):
                action(run_id)
        assert RULE in actions.repeat([run_id]).refused[run_id]
    assert content(run_id) == before
    with access.acting_as(ANN):
        assert engine.submit(replace(SERVED, budget=2.0)) == run_id
    assert store.read_record(run_id).spec.budget == (1.0 if state == "queued" else 2.0)


def test_an_administrator_resumes_the_run_for_its_owner(login: Path):
    with access.acting_as(ANN):
        run_id = engine.submit(SERVED)
        engine.cancel(run_id)
    with access.acting_as(CHIEF):
        engine.resume(run_id, budget=3.0)
    assert store.read_record(run_id).launched_by == ANN.name


def order() -> list[str]:
    return [name for name, entry in run_queue.unfinished().items() if entry.status in run_queue.QUEUED]


def test_nobody_moves_the_runs_of_others(login: Path):
    with access.acting_as(ANN):
        first, second = (engine.submit(RunSpec("fake", "qa", samples=10, seed=seed)) for seed in (1, 2))
    with access.acting_as(BEN):
        third, fourth = (engine.submit(RunSpec("fake", "qa", samples=10, seed=seed)) for seed in (3, 4))
        before = order()
        for moved in ([second], [third, second], [first]):
            with pytest.raises(AccessError, match="only the person who launched this"):
                engine.put_first(moved)
        for wanted in ([second, first, third, fourth], [third, second, fourth, first], [second]):
            with pytest.raises(AccessError, match="only the person who launched this"):
                engine.reorder(wanted)
        assert order() == before == [first, second, third, fourth]
        engine.reorder([first, fourth, second, third])
        assert order() == [first, fourth, second, third]
        engine.put_first([third])
        assert order() == [third, first, fourth, second]
    with access.acting_as(CHIEF):
        engine.reorder([second, first, third, fourth])
        assert order() == [second, first, third, fourth]


def test_another_persons_jury_keeps_its_key(login: Path):
    there = f"llama@{SERVERS[0]}"
    spec = JurySpec(base=there, jurors=(there, there), samples=40, key_variable="LAB_KEY")
    with access.acting_as(ANN):
        path_id = jury_job.launch(spec)
    path = jury_spec.folder_of(path_id) / "path.json"
    before = path.read_bytes()
    with access.acting_as(BEN):
        assert jury_job.launch(replace(spec, key_variable="BENS_KEY")) == path_id
        with pytest.raises(AccessError, match=RULE):
            jury_job.cancel(path_id)
    with access.acting_as(ANN):
        jury_job.cancel(path_id)
    with access.acting_as(BEN):
        with pytest.raises(AccessError, match=RULE):
            jury_job.launch(replace(spec, key_variable="BENS_KEY"))
        with pytest.raises(AccessError, match=RULE):
            jury_job.resume(path_id)
    assert path.read_bytes() == before


# ---------------------------------------------------------------- forged results


def forged(folder: Path, **changes: object) -> Path:
    """A run's folder that claims to be of ``RunSpec("fake", "qa", samples=40)``, with accuracy 1.0."""
    spec = RunSpec(**({"model": "fake", "task": "qa", "samples": 40} | changes))
    name = synthetic_run(40, signal=50.0)
    target = folder / name
    shutil.move(store.folder_of(name), target)
    path = target / "run.json"
    values = without_digests(path)
    values |= {"spec": spec.to_json(), "id": spec.run_id}
    values["provenance"] |= {"launched_by": ANN.name, "imported": False, "host": "here", "scoring_seconds": 1e-9}
    path.write_text(json.dumps(values))
    return target


@pytest.mark.parametrize("mode", ["local", "login"])
def test_a_forged_run_is_not_the_one_that_somebody_launches(login: Path, tmp_path: Path, mode: str):
    if mode == "local":
        access.serve("local")
    spec = RunSpec("fake", "qa", samples=40)
    with access.acting_as(BEN):
        folder = forged(tmp_path)
        (run_id,) = save([run_folder.read(folder)])
        assert save([run_folder.read(folder)]) == [run_id]
    assert report(evaluation.load(run_id), 100).accuracy == 1.0
    assert run_id != spec.run_id
    assert "-imported-" in run_id
    assert store.read_record(run_id).launched_by == BEN.name
    assert not store.read_record(run_id).is_computed
    assert actions.existing([spec]) == {}
    with access.acting_as(ANN):
        assert engine.submit(spec) == spec.run_id
    assert store.read_record(spec.run_id).state == "queued"
    with pytest.raises(InputError, match="there is no run"):
        store.folder_of("fake-qa-base-0shot-float32-0123456789")


def test_a_forged_run_can_not_lie_in_wait_behind_the_beginning_of_an_id(login: Path, tmp_path: Path):
    spec = RunSpec("fake", "qa", samples=40)
    with access.acting_as(BEN):
        (run_id,) = save([run_folder.read(forged(tmp_path, model=spec.run_id))])
    assert run_id.startswith(spec.run_id)
    with pytest.raises(InputError, match="there is no run"):
        store.read_record(spec.run_id)


def test_the_place_of_a_run_that_an_older_version_imported_is_said(login: Path, tmp_path: Path):
    """Older versions gave an imported run the id of a computed one. It stays readable, and does not pass for it."""
    spec = RunSpec("fake", "qa", samples=40)
    folder = forged(tmp_path)
    values = without_digests(folder / "run.json")
    values["provenance"] |= {"imported": True}
    (folder / "run.json").write_text(json.dumps(values))
    shutil.copytree(folder, login / "runs" / spec.run_id)
    assert report(evaluation.load(spec.run_id), 100).accuracy == 1.0
    assert actions.existing([spec]) == {}
    with access.acting_as(BEN), pytest.raises(InputError, match="an imported run is stored as"):
        engine.submit(spec)
    with pytest.raises(InputError, match="an imported run is stored as"):
        execute(spec)


def test_every_part_of_an_import_belongs_to_its_identity(login: Path, tmp_path: Path):
    source = forged(tmp_path)
    run = run_folder.read(source)
    seen = {run.spec.run_id}
    numbers = itertools.count()

    def again(change: dict[str, object]) -> str:
        target = tmp_path / f"again-{next(numbers)}"
        shutil.copytree(source, target)
        path = target / "run.json"
        values = without_digests(path)
        for place, value in change.items():
            at, _, name = place.partition(".")
            values[at][name] = value
        path.write_text(json.dumps(values))
        return run_folder.read(target).spec.run_id

    assert again({"provenance.launched_by": "me", "spec.budget": 5.0, "spec.device": "cuda:7"}) in seen
    others = {"spec.seed": 5, "spec.system": "x", "provenance.engine": {"model": "y"}, "spec.origin": "helm"}
    for place, value in others.items():
        name = again({place: value})
        assert name not in seen
        seen.add(name)
    questions = [replace(question, label=(question.label + 1) % 4) for question in run.questions]
    write_table(source / "questions.parquet", questions_table(questions, run.roles))
    assert again({}) not in seen
    write_table(source / "questions.parquet", questions_table(run.questions, run.roles))
    turned = replace(run.scored, logits=run.scored.logits + np.float32(1))
    write_table(source / "logits.parquet", logits_table(turned))
    assert again({}) not in seen


@pytest.mark.parametrize(
    ("spec", "model", "task"),
    [
        ({"model": "/etc", "task": "qa@/etc/passwd"}, "etc", "qa"),
        ({"model": "../../secret/model", "task": "/data/mine.csv"}, "model", "mine"),
        ({"model": "C:\\models\\mine", "task": "qa@hub"}, "mine", "qa@hub"),
        ({"model": "llama@http://10.0.0.1:1/v1"}, "llama", "qa"),
        ({"model": "llama on http://10.0.0.1:1/v1"}, "llama", "qa"),
        ({"model": "~/.ssh"}, ".ssh", "qa"),
        ({"model": "org/name"}, "org/name", "qa"),
        ({"model": "x" * 5000, "task": "y" * 5000}, "x" * 100, "y" * 100),
    ],
)
def test_an_import_keeps_no_place_of_a_disk_and_no_server(login: Path, tmp_path: Path, spec, model, task):
    run = run_folder.read(forged(tmp_path, **spec))
    assert (run.spec.model, run.spec.task) == (model, task)
    with access.acting_as(BEN):
        (run_id,) = save([run])
    assert store.read_record(run_id).spec == run.spec


@pytest.mark.parametrize(
    "provenance",
    [
        {"engine": "x", "scored": 5, "scoring_seconds": "1", "bank": [], "texts": 3, "self_check": None},
        {"engine": {"parameters": "x"}, "scored": {"questions": 1}, "scoring_seconds": -1.0},
        {"engine": {"parameters": 1e300}, "scored": {"questions": True, "characters": 0}, "scoring_seconds": 1e999},
        {"engine": {"parameters": 10**400, "deep": [[[[[[1]]]]]]}, "launched_by": 5, "bounded_questions": "x"},
    ],
)
def test_pages_compute_with_no_figure_that_is_none(login: Path, tmp_path: Path, provenance: dict[str, object]):
    folder = forged(tmp_path)
    values = without_digests(folder / "run.json")
    (folder / "run.json").write_text(json.dumps(values | {"provenance": provenance}))
    with access.acting_as(BEN):
        (run_id,) = save([run_folder.read(folder)])
    costs = side_by_side._costs(run_id)
    assert all(math.isnan(cost) for cost in costs.values())


ODD = [
    None,
    True,
    -1,
    1e308,
    10**30,
    "",
    "x" * 300,
    [],
    {},
    ["http://10.0.0.1/v1"],
    "cuda:0",
    "A_KEY",
    "/etc",
    "m@http://a/v1",
]
ODD += ["m on http://a/v1", "\ud800", "\x00\x1b[2J", {"a": [[[[1]]]]}, float("nan"), "hedge", "lm-eval", "folder-x"]
PLACES = [
    *(("spec", each.name) for each in fields(RunSpec)),
    ("", "id"),
    ("", "schema"),
    ("", "spec"),
    ("", "provenance"),
]
PLACES += [("provenance", name) for name in ("launched_by", "imported", "bank", "engine", "scored", "texts", "host")]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(ODD)), min_size=1, max_size=4))
def test_whatever_a_folder_says_its_run_only_describes(login: Path, tmp_path: Path, changes: list):
    folder = tmp_path / "theirs"
    if not folder.exists():
        forged(tmp_path).rename(folder)
        shutil.copy(folder / "run.json", tmp_path / "run.json")
    values = without_digests(tmp_path / "run.json")
    for (part, name), value in changes:
        place = values[part] if part else values
        if isinstance(place, dict):
            place[name] = deepcopy(value)  # ODD is shared, and a later change may be made in it
    (folder / "run.json").write_text(json.dumps(values))
    with access.acting_as(BEN), suppress(InputError):
        run = run_folder.read(folder)
        assert "http" not in run.spec.model
        assert {name: getattr(run.spec, name) for name in INSTRUCTIONS} == INSTRUCTIONS
        record = store.read_record(*save([run]))
        assert not record.is_computed
        assert record.launched_by == BEN.name
        assert run.spec.fingerprint.startswith(FOLDER_DATA)


def test_a_folder_says_little_of_where_it_comes_from(login: Path, tmp_path: Path):
    """A zip of 68 kB held 63 MB of it, which every page then read."""
    folder = forged(tmp_path)
    values = without_digests(folder / "run.json")
    values["provenance"]["engine"] = {"claims": [[1] * 1000] * 1000}
    (folder / "run.json").write_text(json.dumps(values))
    with pytest.raises(InputError, match="expected at most 200,000 characters on where the run comes from"):
        run_folder.read(folder)


def test_a_folder_has_a_logit_for_each_option(login: Path, tmp_path: Path):
    """Else it is imported, and no page can show it."""
    folder = forged(tmp_path)
    logits = pq.read_table(folder / "logits.parquet")
    fewer = pa.array([row[:-1] for row in logits["logits"].to_pylist()], pa.list_(pa.float32()))
    pq.write_table(logits.set_column(logits.column_names.index("logits"), "logits", fewer), folder / "logits.parquet")
    with pytest.raises(InputError, match="expected as many logits as a question has options"):
        run_folder.read(folder)


def test_only_what_is_marked_as_imported_is_saved(login: Path, tmp_path: Path):
    run = run_folder.read(forged(tmp_path))
    with access.acting_as(BEN), pytest.raises(InputError, match="is not marked as imported"):
        save([replace(run, spec=RunSpec("fake", "qa", samples=40))])
    with pytest.raises(InputError, match="names no server"):
        replace(run.spec, servers=("http://10.0.0.1:1/v1",))
    with pytest.raises(InputError, match="only an imported run"):
        RunSpec("fake", "qa", fingerprint=run.spec.fingerprint)


def test_other_data_under_an_id_are_not_passed_off_as_the_same(login: Path, tmp_path: Path):
    run = run_folder.read(forged(tmp_path))
    with access.acting_as(BEN):
        save([run])
        with pytest.raises(InputError, match="other data are stored"):
            save([replace(run, scored=replace(run.scored, logits=-run.scored.logits))])
