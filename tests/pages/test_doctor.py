"""The doctor's page: what it found, in words, without a wait that holds up the page."""

from __future__ import annotations

import threading
from typing import Any

from app import checkup
from core.doctor import Finding
from core.errors import RunError
from tests.pages.conftest import Open, said

FOUND = [
    Finding("disk", "3 GiB free at /home", True, "Runs and logs lie here."),
    Finding("database", "it can't be used", False, "No run can be queued."),
]


def ended(app: Any) -> Any:
    assert checkup.checkup().ended.wait(60)
    return app.run()


def test_findings_come_with_their_meaning_and_what_is_wrong_first(open_page: Open, monkeypatch: Any):
    go = threading.Event()

    def slow() -> list[Finding]:
        assert go.wait(60)
        return FOUND

    monkeypatch.setattr("core.doctor.ask", slow)
    app = open_page("doctor")
    assert "Looking at this machine" in said(app)
    go.set()
    app = ended(app)
    assert not app.exception
    assert "1 finding to look at: database" in said(app)
    text = said(app)
    assert text.index("No run can be queued") < text.index("Runs and logs lie here")
    monkeypatch.setattr("core.doctor.ask", lambda: FOUND[:1])
    app.button[0].click().run()
    assert "Everything is in order" in said(ended(app))


def test_a_doctor_that_dies_is_one_sentence(open_page: Open, monkeypatch: Any):
    def refuse() -> list[Finding]:
        raise RunError("the doctor did not answer within 120 s")

    monkeypatch.setattr("core.doctor.ask", refuse)
    app = ended(open_page("doctor"))
    assert [error.value for error in app.error] == ["The doctor did not answer within 120 s\\."]
