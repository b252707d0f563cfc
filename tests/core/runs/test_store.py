import json
import time

import pytest

from core.errors import InputError
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.store import Progress, RunRecord
from core.storage import tables
from tests.conftest import synthetic_run, without_digests

pytestmark = pytest.mark.quick


@pytest.fixture
def folder(home):
    return store.create(RunRecord(spec=RunSpec(model="m", task="qa"), state="queued", created=time.time()))


def test_a_record_comes_back(folder):
    record = store.read_record(folder.name)
    assert (record.state, record.spec.model, record.run_id) == ("queued", "m", folder.name)
    store.update_record(folder.name, state="failed", message="out of memory", provenance={"a": 1})
    assert store.read_record(folder.name).message == "out of memory"
    assert store.run_ids() == sorted({*store.run_ids(), folder.name})


def test_progress_and_log(folder):
    assert store.read_progress(folder.name) is None
    store.write_progress(folder, Progress(3, 10, "scoring", 1.5, 4.7, "w"))
    progress = store.read_progress(folder.name)
    assert (progress.done, progress.total, progress.rate) == (3, 10, 1.5)
    assert progress.updated == pytest.approx(time.time(), abs=60)
    store.clear_progress(folder)
    assert store.read_progress(folder.name) is None
    for i in range(5):
        store.log(folder, f"line {i}")
    assert [line.split(" ", 2)[2] for line in store.read_log(folder.name, lines=2)] == ["line 3", "line 4"]


def test_a_beginning_is_enough_if_it_is_one_runs(home):
    alpha_run, other = synthetic_run(seed=0, model="alpha"), synthetic_run(seed=1, model="alpha")
    assert store.folder_of(alpha_run[:-1]).name == alpha_run
    with pytest.raises(InputError, match="begins 2 run ids"):
        store.folder_of("alpha")
    for nonsense in ("\ud800", "nonesuch", "", "../x", ".hidden"):
        with pytest.raises(InputError, match="run"):
            store.folder_of(nonsense)
    assert other != alpha_run


def test_settings_that_a_beginning_leaves_out_have_their_defaults(home):
    plain, *_ = [synthetic_run(model="alpha", shots=shots) for shots in (0, 1, 10)]
    for end in ("", "-base", "-base-0shot", "-base-0shot-float32"):
        assert store.folder_of(f"alpha-qa{end}").name == plain
    for part in ("alpha", "alpha-q", "alpha-qa-base-", "alpha-qa-base-1"):
        with pytest.raises(InputError, match="run ids"):
            store.folder_of(part)
    assert store.folder_of("alpha-qa-base-10").name == synthetic_run(model="alpha", shots=10)
    synthetic_run(model="alpha", seed=1)
    assert store.folder_of("alpha-qa").name == plain  # whose seed is the default one
    synthetic_run(model="alpha", model_fingerprint="0" * 32)  # the same settings with other weights
    with pytest.raises(InputError, match="begins 5 run ids"):
        store.folder_of("alpha-qa")


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"schema": 1}', b"\xff"])
def test_a_damaged_record_says_what_to_do(folder, content):
    (folder / "run.json").write_bytes(content)
    with pytest.raises(InputError, match="delete the run and repeat it"):
        store.read_record(folder.name)


def test_newer_schemas_and_unknown_states_are_refused(folder):
    path = folder / "run.json"
    values = without_digests(path)
    path.write_text(json.dumps(values | {"schema": store.SCHEMA_VERSION + 1}))
    with pytest.raises(InputError, match="update Hedge"):
        store.read_record(folder.name)
    path.write_text(json.dumps(values | {"state": "asleep"}))
    with pytest.raises(InputError, match="unknown state"):
        store.read_record(folder.name)


def test_older_schemas_are_migrated_step_by_step(folder, monkeypatch):
    path = folder / "run.json"
    values = without_digests(path)
    values["schema"], values["condition"] = 0, values.pop("state")

    def lift(old):
        return {key: value for key, value in old.items() if key != "condition"} | {
            "schema": 1,
            "state": old["condition"],
        }

    monkeypatch.setitem(store.MIGRATIONS, 0, lift)
    path.write_text(json.dumps(values))
    assert store.read_record(folder.name).state == "queued"


def test_the_record_is_read_once_for_all_tables_of_a_run_until_it_changes(folder, monkeypatch):
    run_id = synthetic_run(20)
    monkeypatch.setattr(store, "SETTLED_NS", -(10**12))  # as if it had been written long ago
    times = []
    monkeypatch.setattr(store, "read_json", lambda path, read=store.read_json: times.append(path) or read(path))
    store.read_record(run_id)
    for _ in range(2):
        store.read_questions(run_id)
        store.read_logits(run_id)
    assert len(times) == 1
    record = store.update_record(run_id, message="again", files={store.LOGITS: "0" * 32})
    with pytest.raises(InputError, match=r"logits.parquet is not the file that was written"):
        store.read_logits(run_id)
    assert record.files != {}


def test_a_large_file_is_checked_when_it_is_read_and_not_when_all_runs_are_listed(folder, monkeypatch):
    run_id = synthetic_run(20)
    record = store.read_record(run_id)
    path = store.folder_of(run_id) / store.LOGITS
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"logits.parquet is not what was written"):
        store.check_files(record, whole=False)  # small
    monkeypatch.setattr(tables, "SMALL", len(content) - 1)
    assert str(path) in store.check_files(record, whole=False)
    for look in (lambda: store.check_files(record), lambda: store.read_logits(run_id)):
        with pytest.raises(InputError, match=r"logits.parquet is not what was written"):
            look()
    path.write_bytes(content[:-30])
    with pytest.raises(InputError, match=r"logits.parquet"):
        store.check_files(record, whole=False)
