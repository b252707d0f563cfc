"""A viewer launches nothing, reads no file and takes over nobody, whatever is sent to a served app."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import aiohttp
import pytest

from core.runs import store
from core.serving.classroom import lecture, quiz
from core.settings import ROOT
from tests import openid
from tests.browser.conftest import held_by_tests, page_server
from tests.conftest import synthetic_run
from tests.intruders.attempts import ATTEMPTS, PLANTED, SEAT_TOKEN, Attempt, Scene
from tests.intruders.client import XSRF, Client

Served = tuple[str, Path, openid.Provider, str, Path]
"""A served app: its address, home, provider, a run of Lars's and a file with a secret."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A served app with a provider: its address, home, provider, a run of Lars's and a file with a secret."""
    folder = tmp_path_factory.mktemp("served")
    home = folder / "home"
    secret = folder / "secret" / "questions.csv"
    secret.parent.mkdir()
    secret.write_text("planted-file-content-77a1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGE_HOME", str(home))
        run_id = synthetic_run(40)
        lecture.open_class(quiz.draw("qa", n=4, calibration=2)).join(SEAT_TOKEN)
        lecture.open_class(quiz.draw("qa", n=4, calibration=2))
        store.update_record(run_id, provenance={"launched_by": "lars@example.org"})
    with openid.running() as provider:
        file = folder / "server.toml"
        file.write_text(openid.server_file(provider, limits="sessions_per_address = 30"))
        file.chmod(0o600)
        options = ["--login", str(file)]
        with held_by_tests(home) as nothing_warm, page_server(home, options=options, **nothing_warm) as address:
            yield address, home, provider, run_id, secret


@pytest.fixture(scope="module")
def scene(served: Served) -> Iterator[Scene]:
    address, home, _, run_id, secret = served
    with closing(sqlite3.connect(home / "classes.sqlite")) as stored:
        first, second = (code for (code,) in stored.execute("SELECT code FROM classes ORDER BY opened"))
    vera, lars = Client(address), Client(address)
    vera.log_in("vera")
    lars.log_in("lars")
    with lars.session("new_run") as opened:
        yield Scene(address, vera, lars, run_id, secret, opened, (first, second))
    vera.close()
    lars.close()


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: f"{attempt.way}: {attempt.what}")
def test_an_attempt_gets_what_the_table_says(scene: Scene, served: Served, attempt: Attempt):
    home = served[1]
    before = sorted((home / "runs").iterdir())
    assert attempt.do(scene) == attempt.got
    assert sorted((home / "runs").iterdir()) == before
    done = [json.loads(line) for line in _audit(home) if json.loads(line)["actor"] == "vera@example.org"]
    assert [entry for entry in done if entry["allowed"]] == []


def _audit(home: Path) -> list[str]:
    path = home / "audit.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def test_the_same_ways_work_for_a_launcher(scene: Scene):
    """Otherwise the attempts would show only that nothing works."""
    assert "Launch" in " ".join(scene.lars_session.screen.widgets)
    with scene.lars.session("data") as lars:
        form = aiohttp.FormData()
        form.add_field("file", b"question,A,B\n", filename="questions.csv")
        headers = {"X-Xsrftoken": scene.lars.cookie(XSRF)}
        path = f"/_stcore/upload_file/{lars.screen.session}/1"
        assert scene.lars.ask("PUT", path, headers={"X-Xsrftoken": "forged"}).status == 403
        assert scene.lars.ask("PUT", path, headers=headers, data=form).status == 204


def test_no_secret_is_in_a_log_a_record_or_a_page(served: Served, scene: Scene, tmp_path: Path):
    """Byte by byte: the client's secret, the cookies' secret, and every token that the provider gave out."""
    _, home, provider, _, _ = served
    assert provider.tokens
    planted = [secret.encode() for secret in (*PLANTED, *provider.tokens)]
    for path in [home.parent / "server.log", *home.rglob("*")]:
        if path.is_file():
            content = path.read_bytes()
            assert not [secret for secret in planted if secret in content], path
    for client in (scene.vera, scene.lars):
        for page in ("", "account", "data", "new_run"):
            with client.session(page) as session:
                sent = b"".join(message.SerializeToString() for message in session.screen.messages)
                assert not [secret for secret in planted if secret in sent], page


def test_the_manual_lists_the_attempts():
    page_text = (ROOT / "docs" / "text" / "intruders.md").read_text(encoding="utf-8")
    rows = [f"| {n} | {attempt.way} | {attempt.what} | {attempt.got} |" for n, attempt in enumerate(ATTEMPTS, 1)]
    assert [row for row in rows if row not in page_text] == []
    assert len(ATTEMPTS) >= 40
    assert f"{len(ATTEMPTS)} attempts" in page_text


@pytest.fixture
def lena(served: Served) -> Iterator[Client]:
    """A launcher who has just logged in."""
    client = Client(served[0])
    client.log_in("lena")
    yield client
    client.close()


def test_a_cookie_that_was_copied_before_a_logout_is_worth_nothing_after_it(served: Served, lena: Client):
    """Neither for a page, nor for a file, nor in a page that was open before."""
    copied = {cookie.key: cookie.value for cookie in lena.http.cookie_jar if cookie.key.startswith("_streamlit_user")}
    thief = Client(served[0])
    try:
        for name, value in copied.items():
            thief.set_cookie(name, value)
        assert "Your role is launcher" in thief.screen().text.replace("*", "")
        with thief.session("new_run") as before:
            assert "Launch" in " ".join(before.screen.widgets)
            with lena.session() as leaving:
                leaving.press("Log out")
                assert leaving.screen.goes_to.endswith("/auth/logout")
            words = len(before.screen.words)
            before.visit("new_run")
            assert "you logged out" in " ".join(before.screen.words[words:])
        assert "you logged out" in thief.screen().text
        assert thief.ask("GET", "/media/1.csv").status == 403
        lena.log_in("lena")
        assert "Your role is launcher" in lena.screen().text.replace("*", "")
        assert "you logged out" in thief.screen().text
    finally:
        thief.close()


def test_another_site_logs_nobody_out(lena: Client):
    """A link or an image of another site is enough to send a browser there."""
    for headers in ({}, {"Sec-Fetch-Site": "cross-site", "Referer": "http://evil.example/"}):
        for path in ("/auth/logout", "/auth/logout/", "/auth/logout?x=1"):
            answer = lena.ask("GET", path, headers=headers)
            assert (answer.status, answer.body) == (403, b"Log out with the button on Your account."), path
    assert "Your role is launcher" in lena.screen().text.replace("*", "")
    with lena.session() as leaving:
        leaving.press("Log out")
    assert lena.ask("GET", "/auth/logout").status == 302
    assert lena.cookie("_streamlit_user") == ""


def test_logins_that_fail_fill_no_log(served: Served, scene: Scene):
    log = served[1].parent / "server.log"
    before = log.stat().st_size
    for i in range(100):
        scene.vera.ask("GET", f"/oauth2callback?state={i}&error=x&error_description={'y' * 5000}")
        scene.vera.ask("GET", f"/oauth2callback?state={i}&code=x")
    assert log.stat().st_size - before < 150_000
