"""Every other file that Hedge keeps: a damage gives the same values, a sentence, or the work again; and files of
older versions, which have no digests, are read as before."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from core.checks import report as verification
from core.checks.outcome import CheckResult
from core.checks.report import Verification
from core.errors import InputError
from core.exchange import column_mappings
from core.exchange.dropped import question_files
from core.exchange.table_columns import Columns
from core.jury.pipeline import jury_spec, jury_store
from core.jury.pipeline.jury_spec import JurySpec
from core.models import folders, kept_checks, model_fingerprint
from core.models.devices.slots import Slot
from core.models.engine import SelfCheck
from core.models.perplexity import stored_requests
from core.models.perplexity.conversations import Conversation, Message
from core.models.perplexity.prompts import SystemPrompt
from core.models.perplexity.request import Request
from core.models.server import known_servers
from core.models.server.known_servers import RememberedServers
from core.questions import catalogue
from core.reports import kept, perplexity_results, tokens
from core.reports.compare import kept_rows
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import load
from core.runs import groups, store
from core.runs.agent import host_reports, liveness
from core.runs.answering import custom_question, token_text
from core.runs.answering.custom_question import CustomQuestion, ModelAnswer
from core.runs.answering.token_text import TokenText
from core.settings import ASSETS
from core.shelf import cache
from core.storage import sealed
from hedge.cli import main
from tests.conftest import synthetic_questions, synthetic_run, without_digests
from tests.core.jury.verdicts import seeded_jury
from tests.damage.damages import flipped
from tests.damaged import check_damages

pytestmark = pytest.mark.quick

Read = Callable[[], Any]
Kept = tuple[Path, Read, Any]
"""A file, what reads it, and what the reader gives for a damaged one."""


def _jury() -> tuple[Path, Read]:
    name = jury_store.save(seeded_jury(30), name="bench", origin="a test", notes=["A note."])
    judged = jury_store.read(name)
    assert judged.ids == seeded_jury(30).ids

    def read() -> Any:
        record, judged = jury_store.read_record(name), jury_store.read(name)
        return record, judged.table().to_csv(index=False)

    return jury_store.folder_of(name), read


def jury_record() -> Kept:
    folder, read = _jury()
    return folder / "jury.json", read, InputError


def jury_table() -> Kept:
    folder, read = _jury()
    return folder / "judgements.parquet", read, InputError


def jury_pipeline() -> Kept:
    spec = JurySpec(base="pocket-1m", jurors=("pocket-1m",) * 2, samples=20)
    folder = jury_spec.folder_of(spec.path_id)
    folder.mkdir(parents=True)
    sealed.write_json(folder / "path.json", {name: getattr(spec, name) for name in spec.__dataclass_fields__}, indent=1)
    return folder / "path.json", lambda: jury_spec.read_spec(spec.path_id), InputError


def weights_of_a_server() -> Kept:
    folder = jury_spec.folder_of("a-jury")
    folder.mkdir(parents=True)
    jury_spec.note_served(folder, {"m@http://127.0.0.1:1": {"told": "a", "log_p": -1.5}})
    return folder / jury_spec.SERVED, lambda: jury_spec.read_served(folder).get("m@http://127.0.0.1:1"), InputError


def perplexity_request() -> Kept:
    request = Request(
        (SystemPrompt("none", ""), SystemPrompt("kind", "Be kind.")),
        (Conversation("talk", (Message("user", "Hello"), Message("assistant", "How are you?"))),),
    )
    stored_requests.store(request)
    path = next(Path(store.settings().home / "perplexity").iterdir())
    return path, lambda: stored_requests.read(request.digest), InputError


def perplexity_losses() -> Kept:
    run_id = "pocket-1m-perplexity-float32-1057ef1807"
    folder = store.settings().runs / run_id
    shutil.copytree(ASSETS / "runs" / run_id, folder)

    def read() -> Any:
        run = perplexity_results.read(run_id)
        return run.dropped, [(key, [each.losses.tolist() for each in message]) for key, message in run.messages.items()]

    return folder / "losses.parquet", read, InputError


def token_evaluation() -> Kept:
    values = sealed.read_json(ASSETS / "tokens" / "2-lora.json")
    path = store.settings().home / "tokens" / "mine-0123456789.json"
    path.parent.mkdir(parents=True)
    sealed.write_json(path, values | {"file": path.name}, indent=1)

    def read() -> Any:
        evaluation = tokens.read(path)
        return evaluation.name, tokens.figures_frame((evaluation,)).to_json(), evaluation.values["reliability"]

    return path, read, InputError


def token_view() -> Kept:
    text_request = TokenText("pocket-1m", "A cat.")
    token_text.write_view(text_request, {"model": "pocket-1m", "tokens": [{"text": "A", "p": 0.25}]})

    def read() -> Any:
        view = token_text.read_view(text_request)
        return view and (view["model"], view["tokens"])

    return token_text.view_file(text_request), read, None


def own_answer() -> Kept:
    own = CustomQuestion("pocket-1m", "a-run", "Which?", ("one", "two"))
    k = len(own.all_options)
    answer = ModelAnswer(own, own.all_options, (0.5,) * k, 0.9, 12.0, 0.0, "p", "cpu", "rows", 1e-6, 1e-4, 0, 1e9)
    custom_question.write_answer(answer)
    path = store.settings().home / "answers" / f"{answer.answer_id}.json"
    return path, lambda: custom_question.read_answer(answer.answer_id), InputError


def bank() -> Kept:
    task = _brought_in()
    return Path(task), lambda: _questions(task), InputError


def bank_digest() -> Kept:
    task = _brought_in()
    return catalogue.digest_file(Path(task)), lambda: _questions(task), InputError


def _brought_in() -> str:
    home = store.settings().home
    home.mkdir(parents=True, exist_ok=True)
    path = home.parent / "rivers.jsonl"
    rows = [{"question": f"Which is {i}?", "choices": ["a", "b", "c"], "answer": "ABC"[i % 3]} for i in range(9)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return question_files.keep(path, path.name)


def _questions(task: str) -> Any:
    catalogue._own.cache_clear()
    return catalogue.load(task).questions


def catalogue_cache() -> Kept:
    data = catalogue.TaskData(tuple(synthetic_questions(4)), source="hub", left_out={"too long": 2})
    catalogue._cached("qa", "qa-hub-0", lambda: data)
    built = catalogue.TaskData((), source="built again")

    def read() -> catalogue.TaskData:
        catalogue._read_cache.cache_clear()
        return catalogue._cached("qa", "qa-hub-0", lambda: built)

    return catalogue._cache_file("qa-hub-0"), read, built


def cached_figures() -> Kept:
    run_id = synthetic_run(60)
    rule = SetRule(100, ("lac", "aps"))

    def read() -> str:
        return str(kept_rows.compared_rows([run_id], rule, load).to_json(double_precision=15))

    whole = read()

    def read_once() -> str | None:
        """The figures, and None for a file from which they were not read."""
        known = kept_rows._read(run_id, kept.state_of(run_id))
        assert read() == whole
        return whole if known else None

    return kept_rows._file(run_id), read_once, None


def self_check() -> Kept:
    kept_checks.keep("0" * 32, SelfCheck(8, 1e-6, 1e-4, "rows", ("prefix: no",)), longest=100)
    return kept_checks._file("0" * 32), lambda: kept_checks.find("0" * 32, longest=9), None


def fingerprint() -> Kept:
    path, stamp = store.settings().home / "weights", (8, 1, 2, 3)
    model_fingerprint._cache(path, stamp, "ab" * 32)
    return model_fingerprint._cache_file(path), lambda: model_fingerprint._cached(path, stamp), None


def servers() -> Kept:
    known_servers.remember(["http://127.0.0.1:8000/v1"], key="A_KEY")
    return known_servers._file(), known_servers.remembered, ()


def columns() -> Kept:
    store.settings().home.mkdir(parents=True, exist_ok=True)
    column_mappings.remember(["a", "b", "c"], Columns(label="a", options=("b", "c")))
    return column_mappings._path(), lambda: column_mappings.recall(["a", "b", "c"]), None


def group() -> Kept:
    created = groups.create(["one", "two"], name="both")
    return store.settings().home / "groups" / f"{created.id}.json", lambda: groups.read(created.id), InputError


def slots() -> Kept:
    host_reports.publish_slots([Slot("cpu", ("cpu",), 8.0)])
    return liveness.agent_lock().with_name("slots.json"), host_reports.published_slots, {}


def busy() -> Kept:
    liveness.worker_lock("host:cpu").parent.mkdir(parents=True, exist_ok=True)
    liveness.say_busy("host:cpu", "a-run")
    return liveness._busy_file("host:cpu"), lambda: liveness.busy_with("host:cpu"), ""


def last_verification() -> Kept:
    row = CheckResult("paths/cpu/float32", "agrees", "passed", "It agrees.", {"off by": 1e-6}, 2.5)
    verification.keep(Verification("2026-11-22T21:40:00Z", 3.5, {"host": "h"}, (row,)))
    return verification._latest(), verification.latest, None


def download() -> Kept:
    part = cache.part_path("https://example.org/a")
    part.write_bytes(b"x" * 70)
    cache.keep(part, "https://example.org/a", sha256="", name="a")
    known = cache.folder() / "known" / cache._key("https://example.org/a")
    return known, lambda: cache._known("https://example.org/a"), ""


def adapter_record() -> Kept:
    folder = store.settings().home / "adapter"
    folder.mkdir(parents=True)
    (folder / "adapter_model.safetensors").write_bytes(bytes(range(200)))
    digests = sealed.digests_of(folder.iterdir())
    sealed.write_json(folder / folders.TRAINING, {"base_weights": "a" * 32, "losses": [1.5], "files": digests})

    def read() -> Any:
        folders.check_digests(folder)
        record = folders.training_record(folder)
        return record["base_weights"], record["losses"], (folder / "adapter_model.safetensors").read_bytes()

    return folder / folders.TRAINING, read, InputError


def adapter_weights() -> Kept:
    path, read, missing = adapter_record()
    return path.with_name("adapter_model.safetensors"), read, missing


KINDS = (
    jury_record, jury_table, jury_pipeline, weights_of_a_server, perplexity_request, perplexity_losses,
    token_evaluation, token_view, own_answer, bank, bank_digest, catalogue_cache, cached_figures,
    self_check, fingerprint, servers, columns, group, slots, busy, last_verification, download, adapter_record,
    adapter_weights,
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_damage_gives_no_other_values(home: Path, kind: Callable[[], Kept]):
    path, read, missing = kind()
    check_damages(path, read, missing=missing)


IDENTITY = {
    token_view: {"answer_id"}, own_answer: {"answer_id"}, perplexity_request: {"digest"}, self_check: {"name"},
    fingerprint: {"name"}, group: {"id"}, token_evaluation: {"file"},
}  # fmt: skip
"""The fields that say whose file it is, which older versions did not write."""
WITHOUT = [kind for kind in KINDS if kind not in (jury_table, perplexity_losses, bank, bank_digest, adapter_weights)]


@pytest.mark.parametrize("kind", WITHOUT, ids=lambda kind: kind.__name__)
def test_a_file_without_a_digest_is_read_as_before(home: Path, kind: Callable[[], Kept]):
    path, read, _ = kind()
    before = read()
    values = without_digests(path)
    if isinstance(values, dict):
        values = {name: value for name, value in values.items() if name not in IDENTITY.get(kind, ())}
    path.write_text(json.dumps(values))
    after = read()
    assert after == before if kind is not jury_record else after[1] == before[1]


def test_what_older_versions_wrote_in_other_forms_is_read(home: Path):
    path, read, _ = slots()
    path.write_text(json.dumps(sealed.read_json(path)["slots"]))
    assert [slot.name for slots in read().values() for slot in slots] == ["cpu"]
    path, read, _ = download()
    path.write_text("ab" * 32)
    assert read() == "ab" * 32


@pytest.mark.parametrize(
    ("kind", "older"),
    [
        (servers, {"servers": ["http://127.0.0.1:9000/v1"], "key_variable": ""}),
        (columns, {"options": ["e", "f"], "label": "d"}),
        (weights_of_a_server, {"told": "c", "log_p": -2.5}),
    ],
)
def test_what_an_older_hedge_adds_on_the_same_home_damages_nothing(home: Path, kind: Callable[[], Kept], older: Any):
    """It keeps what it does not know as it is, digests too, and writes its own beside it."""
    path, read, _ = kind()
    before, values = read(), json.loads(path.read_bytes())
    if isinstance(values, list):
        path.write_text(json.dumps([*values, older]))
        assert read() == (*before, RememberedServers(tuple(older["servers"])))
    else:
        path.write_text(json.dumps({**values, '["d", "e", "f"]': older}))
        assert read() == before
        recalled = column_mappings.recall(["d", "e", "f"]) if kind is columns else jury_spec.read_served(path.parent)
        assert recalled == Columns(label="d", options=("e", "f")) if kind is columns else older in recalled.values()


@pytest.mark.parametrize("kind", IDENTITY, ids=lambda kind: kind.__name__)
def test_the_file_of_another_one_is_not_taken_for_it(home: Path, kind: Callable[[], Kept]):
    """A restore that puts a whole file into the wrong place."""
    path, read, missing = kind()
    sealed.write_json(path, sealed.read_json(path) | dict.fromkeys(IDENTITY[kind], "f" * 10))
    if missing is InputError:
        with pytest.raises(InputError, match=r"it is (another|of the group|that of another|the answer to another)"):
            read()
    else:
        assert read() == missing


@pytest.mark.parametrize("kind", [jury_table, perplexity_losses])
def test_a_whole_table_of_another_one_is_not_taken_for_it(home: Path, kind: Callable[[], Kept]):
    path, read, missing = kind()
    if kind is jury_table:
        other = jury_store.folder_of(jury_store.save(seeded_jury(20), name="panel", origin="a test"))
    else:
        (other,) = (ASSETS / "runs").glob("pocket-3m-perplexity-*")
    shutil.copyfile(other / path.name, path)
    sealed._checked.cache_clear()
    with pytest.raises(missing, match=path.name):
        read()


def test_a_damaged_jury_hides_no_other_and_is_written_again(home: Path, capsys: pytest.CaptureFixture[str]):
    path, read, _ = jury_table()
    before = read()
    other = jury_store.save(seeded_jury(20), name="panel", origin="a test")
    path.write_bytes(path.read_bytes()[:-40])
    assert main(["jury", "list", "--json"]) == 0
    rows = {row["jury_id"]: row for row in json.loads(capsys.readouterr().out)}
    assert "judgements.parquet" in rows[path.parent.name]["message"]
    assert rows[other]["answers"] == 20
    jury_store.save(seeded_jury(30), name="bench", origin="a test", notes=["A note."])
    after = read()
    assert (after[1], after[0].files) == (before[1], before[0].files)


def test_a_jury_that_has_lost_its_record_is_named(home: Path, capsys: pytest.CaptureFixture[str]):
    name = jury_store.save(seeded_jury(20), name="panel", origin="a test")
    (home / "juries" / name / "jury.json").unlink()
    assert main(["jury", "list", "--json"]) == 0
    rows = {row["jury_id"]: row for row in json.loads(capsys.readouterr().out)}
    assert "jury.json can't be read (it is missing); import the jury" in rows[name]["message"]
    assert jury_store.save(seeded_jury(20), name="panel", origin="a test") == name
    assert jury_store.checked_record(name).answers == 20


def test_the_juries_that_ship_have_digests_and_one_without_is_read(home: Path):
    for name in jury_store.jury_ids():
        assert jury_store.checked_record(name).files
    folder, read = _jury()
    before = read()
    values = without_digests(folder / "jury.json")
    assert values["schema_version"] == 2  # so that Hedges that know no digests say that a newer one wrote it
    pq.write_table(pq.read_table(folder / "judgements.parquet"), folder / "judgements.parquet")
    (folder / "jury.json").write_text(json.dumps(values | {"schema_version": 1}))
    assert read()[1] == before[1]


def test_a_damaged_bank_is_brought_in_again(home: Path):
    task = _brought_in()
    before = _questions(task)
    content = Path(task).read_bytes()
    Path(task).write_bytes(content.replace(b"Which is 3?", b"Which is 4?"))
    with pytest.raises(InputError, match=r"is damaged .*import the questions again"):
        _questions(task)
    assert _brought_in() == task
    assert _questions(task) == before


def test_a_request_comes_from_its_copy_if_it_is_damaged(home: Path, tmp_path: Path):
    path, read, _ = perplexity_request()
    request = read()
    shutil.copy(path, tmp_path / "request.json")
    path.write_bytes(b"")
    assert stored_requests.read(request.digest, copies=[tmp_path / "request.json"]) == request
    with pytest.raises(InputError, match=r"is damaged .it is empty.; ask for the perplexities again"):
        read()


def test_a_damaged_line_counts_as_missing(tmp_path: Path):
    path = tmp_path / "lines.jsonl"
    rows = [{"id": f"q{i}", "answer": "größer\u2028"} for i in range(5)]
    path.write_text("".join(map(sealed.json_line, rows)), encoding="utf-8")
    assert list(sealed.read_lines(path)) == rows
    content = path.read_bytes()
    for bit in np.random.default_rng(0).choice(8 * len(content), 300, replace=False).tolist():
        path.write_bytes(flipped(content, bit))
        read = [{name: row.get(name) for name in ("id", "answer")} for row in sealed.read_lines(path) if row]
        assert all(row in rows for row in read)
        assert len(read) >= 3
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"id": "q9", "ans')
    assert list(sealed.read_lines(path)) == [*rows, {}]  # of an older version, and cut off
