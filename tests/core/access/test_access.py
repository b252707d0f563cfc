"""Roles: what a viewer, a launcher and an administrator may do, and what the audit log says of it."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from core import access
from core.access import LOCAL, VISITOR, Actor, UserRole
from core.errors import AccessError, InputError
from core.exchange import column_mappings, imported
from core.exchange.dropped import question_files
from core.exchange.table_columns import Columns
from core.jury.pipeline import jury_spec, jury_store
from core.models import model_sources
from core.models.folders import BASE_KEYS
from core.models.server import connect
from core.questions import catalogue, trivia
from core.runs import actions, engine, groups, store, trash
from core.runs.answering import client
from core.runs.answering.custom_question import CustomQuestion, read_answer
from core.runs.answering.token_text import TokenText, token_text
from core.runs.spec import RunSpec
from core.settings import ROOT, settings
from core.shelf.bring import bring
from core.shelf.entries import entries
from tests.conftest import synthetic_run
from tests.light_environment import needs_models

ANN, BEN = Actor("ann@example.org", UserRole.LAUNCHER), Actor("ben@example.org", UserRole.LAUNCHER)
CHIEF = Actor("chief@example.org", UserRole.ADMINISTRATOR)


@pytest.fixture
def public(home: Path):
    """A process that serves everyone."""
    access.serve("public")
    yield home
    access.serve("local")


@pytest.fixture
def no_agent(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "ensure_agent", lambda: None)


def audit() -> list[dict[str, object]]:
    """What was done, and then what was refused."""
    logs = [path.read_text() for path in (access.audit_log(), access.refusal_log()) if path.exists()]
    return [json.loads(line) for line in "".join(logs).splitlines()]


@pytest.mark.quick
def test_the_person_at_this_machine_may_do_everything_and_nothing_is_logged(home: Path):
    assert access.actor() == LOCAL
    access.check(UserRole.ADMINISTRATOR, "do this")
    access.check_path("/etc/passwd")
    assert not access.audit_log().exists()


CHANGES = {
    "submit": lambda run: engine.submit(RunSpec("fake", "qa")),
    "launch": lambda run: actions.launch([RunSpec("fake", "qa")]),
    "cancel": engine.cancel,
    "resume": engine.resume,
    "put first": lambda run: engine.put_first([run]),
    "reorder": lambda run: engine.reorder([run]),
    "delete": actions.delete,
    "restore": trash.restore,
    "empty the bin": lambda run: trash.empty_bin(),
    "import": lambda run: imported.save([]),
    "remember columns": lambda run: column_mappings.remember(["a"], Columns(options=("A", "B"), label="c")),
    "keep questions": lambda run: question_files.keep(Path("questions.csv"), "questions.csv"),
    "save a jury": lambda run: jury_store.save(None, name="x", origin="y"),
    "delete a jury": jury_store.delete,
    "make a jury": lambda run: jury_spec.create(None),
    "import an entry": lambda run: bring(next(iter(entries()[0].values()))),
    "connect to a server": lambda run: connect.models_on(["http://127.0.0.1:9/v1"]),
    "ask a server what it can do": lambda run: connect.abilities_of("llama-70b", ["http://127.0.0.1:9/v1"]),
    "ask another model": lambda run: client.ask(
        CustomQuestion(model="/etc", run_id=run, question="Which?", options=("a", "b"))
    ),
}


@pytest.mark.quick
@pytest.mark.parametrize("name", CHANGES)
def test_a_visitor_of_a_public_server_changes_nothing(public: Path, name: str):
    run_id = synthetic_run(30)
    before = sorted(path for path in public.rglob("*"))
    with pytest.raises(AccessError, match=r"this server is public: everyone can look, and nobody can .*; run Hedge on"):
        CHANGES[name](run_id)
    assert sorted(path for path in public.rglob("*") if path != access.refusal_log()) == before
    (audit_lines,) = audit()
    assert (audit_lines["actor"], audit_lines["role"], audit_lines["allowed"]) == ("visitor", "viewer", False)


@pytest.mark.quick
def test_several_runs_are_refused_one_by_one(public: Path):
    run_id = synthetic_run(30)
    assert "nobody can resume runs" in actions.resume([run_id]).refused[run_id]
    assert "nobody can repeat runs" in actions.repeat([run_id]).refused[run_id]


@pytest.mark.quick
def test_a_thread_that_nobody_named_an_actor_for_is_a_visitor(public: Path):
    seen: list[Actor] = []
    with access.acting_as(CHIEF):
        thread = threading.Thread(target=lambda: seen.append(access.actor()))
        thread.start()
        thread.join()
        assert access.actor() == CHIEF
    assert seen == [VISITOR] == [access.actor()]


@pytest.mark.quick
@pytest.mark.parametrize(
    "ask",
    [
        lambda path: model_sources.resolve(str(path)),
        lambda path: catalogue.load(f"{path}/questions.csv"),
        lambda path: catalogue.load(f"qa@{path}/questions.csv"),
        lambda path: trivia.read(f"{path}/questions.csv"),
    ],
)
def test_a_page_names_no_file_of_the_server(public: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "questions.csv").write_text("planted")
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "link").symlink_to(secret)
    monkeypatch.setenv("HEDGE_ROOTS", str(allowed))
    for path in (secret, tmp_path / "not there", allowed / "link", allowed / ".." / "secret"):
        with pytest.raises(AccessError, match="a page can't name files of this server") as error:
            ask(path)
        assert str(tmp_path) not in str(error.value)
        assert "planted" not in str(error.value)


@pytest.mark.quick
@pytest.mark.parametrize("file", BASE_KEYS)
@pytest.mark.parametrize(
    "base", ["{secret}", "{allowed}/link", "{allowed}/../secret", "{up}{secret}", "~root", "{allowed}/second", "a\0b"]
)
def test_an_adapter_leads_to_no_folder_of_the_server(public: Path, tmp_path: Path, monkeypatch, file: str, base: str):
    """Neither itself, nor by a link, a relative path, or another adapter."""
    secret, allowed = tmp_path / "secret", tmp_path / "allowed"
    secret.mkdir()
    for name in ("adapter", "second", "good"):
        (allowed / name).mkdir(parents=True)
    (allowed / "link").symlink_to(secret)
    monkeypatch.setenv("HEDGE_ROOTS", str(allowed))
    places = {"secret": secret, "allowed": allowed, "up": "../" * 20}
    (allowed / "adapter" / file).write_text(json.dumps({BASE_KEYS[file]: base.format(**places)}))
    (allowed / "second" / file).write_text(json.dumps({BASE_KEYS[file]: str(secret)}))
    (allowed / "good" / file).write_text(json.dumps({BASE_KEYS[file]: str(allowed / "adapter" / "..")}))
    model_sources.check_named(str(allowed / "good"))
    for ask in (model_sources.check_named, model_sources.resolve, lambda place: token_text(place, "text")):
        with pytest.raises(AccessError, match="a page can't name files of this server") as error:
            ask(str(allowed / "adapter"))
        assert str(tmp_path) not in str(error.value)


@pytest.mark.quick
def test_adapters_of_adapters_end(public: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("HEDGE_ROOTS", str(tmp_path))
    (tmp_path / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(tmp_path)}))
    with pytest.raises(InputError, match="too many other adapters"):
        model_sources.check_named(str(tmp_path))


@pytest.mark.quick
def test_a_folder_that_the_administrator_lists_can_be_named(public: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("HEDGE_ROOTS", f"{tmp_path}:{tmp_path / 'other'}")
    (tmp_path / "questions.csv").write_text("question,A,B,answer\nWhich?,one,two,A\n" * 1)
    assert len(catalogue.load(str(tmp_path / "questions.csv")).questions) == 1


@pytest.mark.quick
@needs_models
def test_a_launcher_cancels_and_deletes_her_own_runs_and_an_administrator_all(public: Path, no_agent: None):
    with access.acting_as(ANN):
        run_id = engine.submit(RunSpec("pocket-1m", "qa", samples=10))
    assert store.read_record(run_id).launched_by == ANN.name
    with access.acting_as(BEN):
        for action in (engine.cancel, actions.delete):
            with pytest.raises(AccessError, match="only the person who launched this and an administrator can"):
                action(run_id)
    assert engine.status(run_id).state == "queued"
    with access.acting_as(ANN):
        engine.cancel(run_id)
    with access.acting_as(CHIEF):
        actions.delete(run_id)
    assert run_id not in store.run_ids()
    did = [(entry["actor"], entry["what"], entry["allowed"]) for entry in audit()]
    assert (ANN.name, "launch runs", True) in did
    assert (BEN.name, "cancel this run", False) in did
    assert (CHIEF.name, "delete runs", True) in did
    assert {entry["subject"] for entry in audit()} == {run_id}


@pytest.mark.quick
def test_the_audit_log_is_put_aside_when_it_is_large(public: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(access, "LARGEST_AUDIT", 200)
    with access.acting_as(ANN):
        for _ in range(5):
            access.check(UserRole.LAUNCHER, "launch runs")
    assert access.audit_log().stat().st_size < 600
    assert access.audit_log().with_suffix(".old.jsonl").exists()


@pytest.mark.quick
def test_refusals_push_nothing_out_of_the_audit_log_and_are_summed_up(public: Path, monkeypatch: pytest.MonkeyPatch):
    """Ten thousand refusals of one visitor, and one each of a thousand addresses, after something that Ann did."""
    monkeypatch.setattr(access, "LARGEST_AUDIT", 20_000)
    monkeypatch.setattr(access.time, "time", lambda: 1_800_000_000.0)  # the hour does not change
    with access.acting_as(ANN):
        access.check(UserRole.LAUNCHER, "launch runs", subject="a-run")
    for _ in range(10_000):
        with pytest.raises(AccessError):
            access.check(UserRole.LAUNCHER, "launch runs")
    times = [entry["times"] for entry in audit() if not entry["allowed"]]
    assert times == [2**i for i in range(14)]  # 2^13 = 8192 is the last one below 10,000
    before = len(audit())
    for place in range(100):  # one line of the internet
        visitor = Actor("visitor", UserRole.VIEWER, f"2001:db8::{place}")
        with access.acting_as(visitor), pytest.raises(AccessError):
            access.check(UserRole.LAUNCHER, "launch runs")
    assert len(audit()) - before == 7
    for place in range(1000):
        visitor = Actor("visitor", UserRole.VIEWER, f"10.0.{place // 256}.{place % 256}")
        with access.acting_as(visitor), pytest.raises(AccessError):
            access.check(UserRole.LAUNCHER, "launch runs")
    assert [entry["subject"] for entry in audit() if entry["allowed"]] == ["a-run"]
    logs = [access.refusal_log(), access.refusal_log().with_suffix(".old.jsonl")]
    assert all(path.stat().st_size < 2 * 20_000 for path in logs)


@pytest.fixture
def login(home: Path):
    """A process where people log in; the thread's person is the last one of the list."""
    people: list[Actor] = []
    access.serve(
        "login", whose=lambda: people[-1] if people else None, servers=["http://gpu:8000/v1"], keys=["LAB_KEY"]
    )
    yield people
    access.serve("local")


@pytest.mark.quick
def test_where_people_log_in_a_thread_of_nobody_does_nothing(login: list[Actor]):
    assert access.actor() == access.OUTSIDER
    assert not access.may(UserRole.VIEWER)
    with pytest.raises(
        AccessError, match="only people who are logged in and have a role can launch runs; log in first"
    ):
        access.check(UserRole.LAUNCHER, "launch runs")
    login.append(ANN)
    assert access.actor() == ANN
    with access.acting_as(BEN):
        assert access.actor() == BEN
    login.append(Actor("vera@example.org", UserRole.VIEWER, "10.0.0.1"))
    with pytest.raises(AccessError, match="a viewer can't launch runs; ask the administrator of this server"):
        access.check(UserRole.LAUNCHER, "launch runs")
    assert [(entry["actor"], entry["address"]) for entry in audit()] == [
        ("outsider", ""),
        ("vera@example.org", "10.0.0.1"),
    ]


@pytest.mark.quick
def test_the_actor_goes_along_into_a_thread(login: list[Actor]):
    seen: list[Actor] = []
    login.append(ANN)
    work = access.carried(lambda: seen.append(access.actor()))
    login.clear()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [ANN]
    assert access.actor() == access.OUTSIDER


def test_the_actor_goes_along_into_a_process(login: list[Actor], tmp_path: Path):
    """A page's process may name no file that the page may not."""
    (tmp_path / "secret.csv").write_text("planted")
    code = (
        "from core import access; from core.questions import catalogue; print(access.mode(), access.actor().name)\n"
        f"try: catalogue.load({str(tmp_path / 'secret.csv')!r})\n"
        "except access.AccessError as error: print(error)"
    )
    login.append(ANN)
    completed = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=access.environment(), capture_output=True, text=True, check=True
    )
    assert completed.stdout.splitlines() == [
        "login ann@example.org",
        "a page can't name files of this server; upload a file, or choose from the list",
    ]


@pytest.mark.quick
def test_a_launcher_connects_to_the_listed_servers_with_the_listed_keys(login: list[Actor]):
    login.append(ANN)
    access.check_servers(["http://gpu:8000/v1"], "LAB_KEY")
    access.check_servers([], "HF_TOKEN")
    for servers, key in ((["http://127.0.0.1:9/v1"], ""), (["http://gpu:8000/v1"], "HF_TOKEN")):
        for attempt in (
            lambda: connect.models_on(servers, key=key),  # noqa: B023
            lambda: engine.submit(RunSpec("m", "qa", dtype="served", servers=tuple(servers), key_variable=key)),  # noqa: B023
        ):
            with pytest.raises(AccessError, match="only connect to the model servers and keys that the administrator"):
                attempt()
    with pytest.raises(AccessError, match="only connect to the model servers"):
        client.ask(TokenText("m@http://127.0.0.1:9/v1", "text"))
    login.append(CHIEF)
    access.check_servers(["http://127.0.0.1:9/v1"], "HF_TOKEN")


@pytest.mark.quick
@pytest.mark.parametrize("model", ["/etc", "../x", "~/x", "./x", "a\0b", "tests"])
def test_a_launcher_has_no_model_read_from_a_folder_of_the_server(
    login: list[Actor], model: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(ROOT)
    login.append(ANN)
    for attempt in (lambda: client.ask(TokenText(model, "text")), lambda: model_sources.resolve(model)):
        with pytest.raises(AccessError, match="can't name files of this server"):
            attempt()


@pytest.mark.quick
def test_models_and_files_of_the_listed_folders_are_offered(login: list[Actor], tmp_path: Path, monkeypatch):
    for place in (
        "one/config.json",
        "more/two/adapter_config.json",
        "q.csv",
        "more/r.parquet",
        "notes.txt",
        ".x/h.csv",
    ):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    monkeypatch.setenv("HEDGE_ROOTS", str(tmp_path))
    assert model_sources.listed_models() == [str(tmp_path / "more" / "two"), str(tmp_path / "one")]
    assert set(catalogue.listed_files().values()) == {"q.csv", "r.parquet", "h.csv"}
    access.serve("local")
    assert model_sources.listed_models() == []
    assert catalogue.listed_files() == {}


@pytest.mark.quick
def test_an_error_names_no_place_of_the_server_to_who_is_no_administrator(login: list[Actor]):
    text = "/srv/hedge/runs/a-1/run.json can't be read (see '/tmp/x y' or ~/b): 1/2 of https://a.org/b/c, http://gpu:8000/v1"
    login.append(ANN)
    assert access.without_places(text) == (
        "a file of this server can't be read (see 'a file of this server y' or a file of this server): 1/2 of "
        "https://a.org/b/c, http://gpu:8000/v1"
    )
    login.append(CHIEF)
    assert access.without_places(text) == text


@pytest.mark.quick
def test_a_home_with_spaces_and_brackets_in_its_name_is_hidden_as_a_whole(login: list[Actor], monkeypatch):
    monkeypatch.setenv("HEDGE_HOME", "/srv/my (own) class, 'Hedge'")
    login.append(ANN)
    text = "/srv/my (own) class, 'Hedge'/runs/a-1/run.json can't be read, in /srv/my (own) class, 'Hedge'"
    assert access.without_places(text) == "a file of this server can't be read, in a file of this server"


@pytest.mark.quick
def test_a_jury_is_deleted_by_who_brought_it_in(login: list[Actor]):
    judgements = jury_store.read(next(iter(jury_store.jury_ids())))
    login.append(ANN)
    jury_id = jury_store.save(judgements, name="../../Ann's", origin="test")
    assert jury_store.folder_of(jury_id).parent == jury_store.folders()[0]
    assert jury_store.read_record(jury_id).launched_by == ANN.name
    login.append(BEN)
    with pytest.raises(AccessError, match="only the person who launched this and an administrator can delete this"):
        jury_store.delete(jury_id)
    login.append(ANN)
    jury_store.delete(jury_id)


HOSTILE = (
    "../../etc",
    "/etc/passwd",
    "a/../../b",
    "..",
    ".hidden",
    "a\0b",
    "a" * 5000,
    "con\n",
    "",
    "ü" * 300,
    "\\\\host\\x",
)


@pytest.mark.quick
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_no_run_jury_group_answer_or_path(login: list[Actor], name: str):
    login.append(CHIEF)
    for read in (store.read_record, jury_store.read_record, groups.read, read_answer, jury_spec.read_spec):
        with pytest.raises(InputError):
            read(name)


@pytest.mark.quick
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_name_stays_in_its_folder(login: list[Actor], name: str, tmp_path: Path):
    source = tmp_path / "x"
    source.write_text("question,A,B,answer\nWhich?,one,two,A\n")
    login.append(ANN)
    kept_path = Path(question_files.keep(source, name)).resolve()
    assert kept_path.is_relative_to(settings().home / "questions")
    assert len(kept_path.name.encode()) < 255
