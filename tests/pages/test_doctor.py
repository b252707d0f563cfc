"""The doctor's page: what it found, in words, without a wait that holds up the page."""

from __future__ import annotations

import threading
from typing import Any

from app.caches import doctor_cache
from core.doctor import Finding
from core.errors import RunError
from tests.pages.conftest import Open, said

FOUND = [
    Finding("disk", "3 GiB free at /home", True, "Runs and logs are stored here."),
    Finding("database", "it can't be used", False, "No run can be queued."),
]


def ended(app: Any) -> Any:
    assert doctor_cache.checkup().ended.wait(60)
    return app.run()


def test_findings_come_with_their_meaning_and_what_is_wrong_first(open_page: Open, monkeypatch: Any):
    go = threading.Event()

    def slow() -> list[Finding]:
        assert go.wait(60)
        return FOUND

    monkeypatch.setattr("core.doctor.ask", slow)
    app = open_page("doctor")
    assert "Checking this machine" in said(app)
    go.set()
    app = ended(app)
    assert not app.exception
    assert "1 finding needs attention: database" in said(app)
    text = said(app)
    assert text.index("No run can be queued") < text.index("Runs and logs are stored here")
    monkeypatch.setattr("core.doctor.ask", lambda: FOUND[:1])
    app.button[0].click().run()
    assert "Everything is in order" in said(ended(app))


def test_a_doctor_that_dies_is_one_sentence(open_page: Open, monkeypatch: Any):
    def refuse() -> list[Finding]:
        raise RunError("the check did not finish within 120 s")

    monkeypatch.setattr("core.doctor.ask", refuse)
    app = ended(open_page("doctor"))
    assert [error.value for error in app.error] == ["The check did not finish within 120 s\\."]


def test_a_database_that_answers_again_is_seen_without_a_click(open_page: Open, monkeypatch: Any):
    monkeypatch.setattr("core.doctor.ask", lambda: FOUND)
    app = open_page("doctor")
    app = ended(app)
    assert "No run can be queued" in said(app)
    assert "Checked" in said(app)
    monkeypatch.setattr(
        "core.doctor.changing", lambda: [Finding("database", "it answers", True, "Runs are kept here.")]
    )
    app.run()
    assert "No run can be queued" in said(app)  # the last look is not old enough
    monkeypatch.setattr("app.caches.doctor_cache.REFRESH_S", 0.0)
    app.run()
    made = doctor_cache.checkup()
    assert made.refreshing.acquire(timeout=60)  # the look beside the page has ended
    made.refreshing.release()
    monkeypatch.setattr("app.caches.doctor_cache.REFRESH_S", 30.0)
    text = said(app.run())
    assert "No run can be queued" not in text
    assert "Everything is in order" in text
    assert "values that can change" in text


def test_a_doctor_that_died_is_asked_again_without_a_click(open_page: Open, monkeypatch: Any):
    def refuse() -> list[Finding]:
        raise RunError("the check did not finish within 120 s")

    monkeypatch.setattr("core.doctor.ask", refuse)
    app = ended(open_page("doctor"))
    assert app.error
    monkeypatch.setattr("core.doctor.ask", lambda: FOUND[:1])
    doctor_cache.checkup().looked_again -= doctor_cache.REFRESH_S
    app = ended(app.run())
    assert not app.error
    assert "Everything is in order" in said(app)


def test_what_is_not_there_is_neither_good_nor_bad(open_page: Open, monkeypatch: Any):
    absent = Finding("driver", "no NVIDIA driver", None, "Runs use the CPU.")
    monkeypatch.setattr("core.doctor.ask", lambda: [FOUND[0], absent])
    text = said(ended(open_page("doctor"))).replace("*", "")
    assert "Driver: not present" in text
    assert "Disk: good" in text
    assert "Everything that was checked is in order. Not present on this machine: driver." in text
