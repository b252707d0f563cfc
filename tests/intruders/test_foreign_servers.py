"""A file from outside makes Hedge ask no server and read no key, in local mode and where people log in.

The strangers' server records every request. The pages, the worker of own questions and the agent are real.
"""

import json
import shutil
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from app.components.perplexity import measuring
from core import access
from core.access import Actor, UserRole
from core.errors import AccessError, HedgeError, InputError
from core.exchange import run_folder
from core.exchange.imported import save
from core.jury.pipeline import jury_spec
from core.jury.pipeline.jury_spec import JurySpec
from core.models.server import permission
from core.models.server.client import ServerClient
from core.models.server.decisions import DecisionEngine
from core.models.verdicts import judge
from core.models.written import written_answers
from core.questions.prompting.decision import DECISION_FORMATS
from core.runs import actions, engine, store
from core.runs.agent import liveness
from core.runs.answering import client
from core.runs.answering.custom_question import CustomQuestion
from core.runs.answering.token_text import token_text
from core.runs.queue import run_queue
from core.runs.spec import PERPLEXITY, RunSpec
from core.serving import backup
from core.settings import settings
from hedge.cli import main
from tests import openid
from tests.browser.conftest import page_server
from tests.conftest import without_digests
from tests.core.runs.conftest import engine_home as engine_home
from tests.core.runs.conftest import is_in, until
from tests.intruders.client import Client, WidgetState
from tests.parameters import rest_nightly
from tests.processes import end_all
from tests.served import served_run

KEY = "PLANTED_KEY"
LARS = Actor("lars@example.org", UserRole.LAUNCHER)
ANNA = Actor("anna@example.org", UserRole.ADMINISTRATOR)


class Stranger(ThreadingHTTPServer):
    """The strangers' server: what it was asked, with the token that came along."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[tuple[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Stranger)
        self.server.requests.append((self.path, self.headers.get("authorization", "")))
        self.send_error(404)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    with Stranger() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(params=["local", "login"])
def mode(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A home in which the person at this machine works, or Lars on a server that lists no model servers."""
    monkeypatch.setenv(KEY, "planted-key-3c1d")
    if request.param == "login":
        access.serve("login", whose=lambda: LARS)
    yield request.param
    access.serve("local")
    end_all(home)


def planted(stranger: Stranger, **record: object) -> str:
    """A finished run in the store that names the stranger's server and a key, as an older version imported it."""
    run_id = served_run(40, servers=(stranger.url,))
    path = store.folder_of(run_id) / "run.json"
    values = without_digests(path) | record
    values["spec"] |= {"key_variable": KEY, "budget": 1e9, "price_read": 1.0}
    path.write_text(json.dumps(values))
    return run_id


def as_folder(stranger: Stranger, folder: Path, **spec: object) -> Path:
    """A run's folder from a stranger, which asks for the stranger's server."""
    run_id = planted(stranger, provenance={"launched_by": LARS.name, "engine": {"model": "x"}, "imported": False})
    target = folder / "theirs" / run_id
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(store.folder_of(run_id), target)
    path = target / "run.json"
    values = without_digests(path)
    values["spec"] |= spec
    path.write_text(json.dumps(values))
    return target


def question(run_id: str) -> CustomQuestion:
    model = store.read_record(run_id).spec.asked_model
    return CustomQuestion(
        model, run_id, "Which planet is the largest?", ("Mars", "Venus", "Jupiter", "Moon"), extra=False
    )


def import_again(run_id: str) -> str:
    """The sentence with which One question ends."""
    try:
        own = question(run_id)
        now = client.ask(own)
        while not now.ended:
            now = client.progress(own.answer_id, wait_s=1.0)
    except HedgeError as error:
        return str(error)
    return now.message


def test_an_imported_folder_names_no_server(mode: str, stranger: Stranger, tmp_path: Path):
    run = run_folder.read(as_folder(stranger, tmp_path))
    (run_id,) = save([run])
    record = store.read_record(run_id)
    text = (store.folder_of(run_id) / "run.json").read_text()
    assert KEY not in text
    assert stranger.url not in json.dumps(record.spec.to_json())
    assert record.spec.servers == ()
    assert record.launched_by == access.actor().name
    assert "was imported" in import_again(run_id)
    (refused,) = actions.repeat([run_id]).refused.values()
    assert "was imported" in refused
    with pytest.raises(InputError, match="was imported"):
        engine.submit(record.spec)
    assert stranger.requests == []


def test_an_import_of_an_older_version_is_not_asked(mode: str, stranger: Stranger):
    run_id = planted(stranger, provenance={"imported": True, "launched_by": access.actor().name})
    assert "was imported" in import_again(run_id)
    (refused,) = actions.repeat([run_id]).refused.values()
    assert "was imported" in refused
    with pytest.raises((AccessError, InputError), match=r"imported|administrator"):
        engine.submit(store.read_record(run_id).spec)
    assert stranger.requests == []


def test_a_record_of_a_backup_is_not_asked_before_a_person_connects(mode: str, stranger: Stranger, tmp_path: Path):
    """Nor does it bring a permission along."""
    name = access.actor().name
    run_id = planted(stranger, provenance={"launched_by": name})
    waiting = planted_again(run_id, state="paused")
    folder = settings().home / permission.FOLDER
    folder.mkdir()
    permit = permission._file(stranger.url, KEY, name)
    permit.write_text("{}")
    archive = tmp_path / "backup.tar.gz"
    with access.acting_as(ANNA):
        backup.back_up(archive)
        for number, place in enumerate(("home", "home/../home", "home/runs/..", "HOME/../home")):
            crafted = tmp_path / f"crafted-{number}.tar.gz"
            with tarfile.open(archive) as old, tarfile.open(crafted, "w:gz") as new:
                assert not [name for name in old.getnames() if permission.FOLDER in name]
                for member in old.getmembers():
                    new.addfile(member, old.extractfile(member))
                new.add(permit, f"{place}/{permission.FOLDER}/{permit.name}")
            with pytest.raises(InputError, match="nothing was restored"):
                backup.restore(crafted, replace=True)
        backup.restore(archive, replace=True)
    assert not folder.exists()
    assert "not connected to it" in import_again(run_id) or "administrator" in import_again(run_id)
    with pytest.raises(AccessError):
        engine.resume(waiting)
    assert stranger.requests == []


def planted_again(run_id: str, *, state: str) -> str:
    """A copy of a run with another seed and state."""
    record = store.read_record(run_id)
    other = replace(record, spec=replace(record.spec, seed=9), state=state)
    store.create(other)
    return other.run_id


def test_a_worker_asks_nothing_that_nobody_was_allowed(mode: str, stranger: Stranger, monkeypatch: pytest.MonkeyPatch):
    """Whatever stands in the record: the connection itself is refused in every process that executes records."""
    monkeypatch.setattr(access, "_worker", [True])
    with pytest.raises(AccessError, match="not connected"):
        ServerClient([stranger.url], key_variable=KEY)
    assert stranger.requests == []


@pytest.mark.parametrize("form", rest_nightly(["plain", *DECISION_FORMATS], now=["plain"]))
def test_a_real_worker_asks_what_its_launcher_named_and_no_edited_record(
    engine_home: Path, stranger: Stranger, monkeypatch: pytest.MonkeyPatch, form: str
):
    monkeypatch.setenv(KEY, "planted-key-3c1d")
    monkeypatch.setenv("OTHER_KEY", "planted-key-77ee")
    spec = RunSpec("m", "qa", dtype="served", samples=10, servers=(stranger.url,), key_variable=KEY, prompt_format=form)
    run_id = engine.submit(spec)
    until(is_in(run_id, "failed"), "the end of the run")
    until(lambda: run_queue.entries([run_id])[run_id].status not in run_queue.UNFINISHED, "its end in the database")
    assert stranger.requests[0] == ("/v1/models", "Bearer planted-key-3c1d")
    stranger.requests.clear()
    store.update_record(run_id, spec=replace(spec, key_variable="OTHER_KEY"), state="queued", message="", ended=None)
    run_queue.enqueue(run_id, needs_gib=0.0, slot="")
    liveness.wake()
    until(is_in(run_id, "failed"), "the end of the edited run")
    assert "not connected to it here" in store.read_record(run_id).message
    assert stranger.requests == []


def test_a_permission_is_for_one_person_server_and_key(home: Path, stranger: Stranger, monkeypatch: pytest.MonkeyPatch):
    permission.check([stranger.url], launched_by=LARS.name)
    monkeypatch.setattr(access, "_worker", [True])
    permission.check([stranger.url], launched_by=LARS.name)
    for servers, key, name in (
        ([stranger.url], KEY, LARS.name),
        ([stranger.url], "", ANNA.name),
        ([stranger.url], "", ""),
        ([stranger.url, "http://10.0.0.1:1"], "", LARS.name),
        ([f"{stranger.url}/more"], "", LARS.name),
    ):
        with pytest.raises(AccessError):
            permission.check(servers, key, launched_by=name)


def test_a_jury_of_a_stranger_asks_nobody(home: Path, stranger: Stranger, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(access, "_worker", [True])
    with pytest.raises(AccessError, match="not connected"):
        next(written_answers(f"m@{stranger.url}", ["x"], dtype="float32", key_variable=KEY))
    with pytest.raises(AccessError, match="not connected"):
        judge(f"m@{stranger.url}", [("1", "x", "y")], dtype="float32", key_variable=KEY)
    assert stranger.requests == []


def test_a_launcher_names_no_server_that_is_not_listed(home: Path, stranger: Stranger, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(KEY, "planted-key-3c1d")
    access.serve("login", whose=lambda: LARS)
    try:
        for attempt in attempts(stranger):
            with pytest.raises(AccessError, match="administrator of this server lists"):
                attempt()
    finally:
        access.serve("local")
    assert stranger.requests == []
    assert not (home / permission.FOLDER).exists()


def test_a_link_to_perplexity_names_no_server(mode: str, stranger: Stranger):
    """The models of the page stand in its link, with their servers."""
    spec = RunSpec("m", "perplexity@x", form=PERPLEXITY, dtype="served", servers=(stranger.url,))
    with pytest.raises(AccessError, match=r"not connected|administrator"):
        measuring.launch([spec])
    assert stranger.requests == []


def attempts(stranger: Stranger) -> list[Callable[[], object]]:
    """All ways on which a launcher names a server."""
    there = f"m@{stranger.url}"
    specs = [
        RunSpec("m", "qa", dtype="served", servers=(stranger.url,), key_variable=KEY, prompt_format=prompt_format)
        for prompt_format in ("plain", *DECISION_FORMATS)
    ]
    return [
        *(partial(engine.submit, spec) for spec in specs),
        *(partial(DecisionEngine.asking(form).load, "m", servers=[stranger.url]) for form in DECISION_FORMATS),
        lambda: client.ask(token_text(there, "some text", key_variable=KEY)),
        lambda: jury_spec.create(JurySpec(base=there, jurors=(there, there), key_variable=KEY)),
        lambda: ServerClient([stranger.url], key_variable=KEY),
    ]


def test_the_command_line_asks_the_server_that_a_person_names(home: Path, stranger: Stranger, monkeypatch, capsys):
    """Otherwise the tests would only show that no server is ever asked."""
    monkeypatch.setenv(KEY, "planted-key-3c1d")
    main(["run", "--model", "m", "--task", "qa", "--mode", "short", "--server", stranger.url, "--key-variable", KEY])
    assert ("/v1/models", "Bearer planted-key-3c1d") in stranger.requests
    assert permission.is_kept([stranger.url], KEY, "")


@pytest.mark.parametrize("served", ["local", "login"])
def test_the_page_asks_nobody_by_a_strangers_run(
    served: str, tmp_path: Path, stranger: Stranger, monkeypatch: pytest.MonkeyPatch
):
    """Ask your own, on a real server, by a run that a backup brought."""
    home = tmp_path / "home"
    monkeypatch.setenv("HEDGE_HOME", str(home))
    run_id = planted(stranger, provenance={"launched_by": LARS.name if served == "login" else ""})
    file = tmp_path / "server.toml"
    with ExitStack() as stack:
        if served == "login":
            provider = stack.enter_context(openid.running())
            file.write_text(openid.server_file(provider))
            file.chmod(0o600)
        stack.callback(end_all, home)
        options = ["--login", str(file)] if served == "login" else []
        address = stack.enter_context(page_server(home, options=options, **{KEY: "planted-key-3c1d"}))
        lars = stack.enter_context(closing(Client(address)))
        if served == "login":
            lars.log_in("lars")
        with lars.session("one_question", f"ask=own&run={run_id}&calibration={run_id}") as session:
            ids = session.screen.widgets
            options_id = next(widget_id for shown, widget_id in ids.items() if shown.startswith("Options"))
            model = store.read_record(run_id).spec.asked_model
            before = len(session.screen.words)
            session.set(
                WidgetState(id=ids["Model"], string_value=model),
                WidgetState(id=ids["Question"], string_value="Which planet is the largest?"),
                WidgetState(id=options_id, string_value="Mars\nVenus\nJupiter\nMoon"),
                WidgetState(id=ids["**Ask**"], trigger_value=True),
            )
            text = " ".join(session.screen.words[before:])
    assert "administrator of this server lists" in text if served == "login" else "not connected to it here" in text
    assert stranger.requests == []
