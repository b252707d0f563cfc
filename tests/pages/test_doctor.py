"""The doctor's page: what it found, in words, without a wait that holds up the page."""

import threading
from typing import Any

import pytest

from app import background
from app.components.doctor import doctor_cache, verification
from core.checks import report
from core.checks.doctor import Finding
from core.checks.machine import described
from core.checks.outcome import CheckResult
from core.checks.report import Verification
from core.errors import AccessError, RunError
from core.models.devices.slots import Slot
from tests.core.checks.test_runner import row
from tests.pages.conftest import Open, click, page_text

FOUND = [
    Finding("disk", "3 GiB free at /home", True, "Runs and logs are stored here."),
    Finding("database", "it can't be used", False, "No run can be queued."),
]


@pytest.fixture
def found_already(monkeypatch: Any) -> None:
    """The findings need no process of their own."""
    monkeypatch.setattr("core.checks.doctor.ask", lambda: FOUND[:1])


def ended(app: Any) -> Any:
    assert doctor_cache.checkup().ended.wait(60)
    return app.run()


def test_findings_come_with_their_meaning_and_what_is_wrong_first(open_page: Open, monkeypatch: Any):
    go = threading.Event()

    def slow() -> list[Finding]:
        assert go.wait(60)
        return FOUND

    monkeypatch.setattr("core.checks.doctor.ask", slow)
    app = open_page("doctor")
    assert any("Checking this machine" in html.proto.body for html in app.get("html"))
    assert app.session_state[background.TICKET_KEY].conditions, "the browser asks for the findings, and no script polls"
    go.set()
    app = ended(app)
    text = page_text(app).replace("*", "")
    assert "1 finding needs attention: - Database: it can't be used. No run can be queued." in " ".join(text.split())
    (folded,) = app.expander
    assert (folded.label, folded.proto.expanded) == ("All checks", False)
    assert "Runs and logs are stored here" in "".join(each.value for each in folded.markdown)
    assert text.index("No run can be queued") < text.index("Runs and logs are stored here")
    monkeypatch.setattr("core.checks.doctor.ask", lambda: FOUND[:1])
    (again,) = [button for button in app.button if button.label == "Check again"]
    again.click().run()
    assert "Everything that could be checked is in order" in page_text(ended(app))


def test_the_answer_comes_first_and_at_once(open_page: Open, found_already: None, monkeypatch: Any):
    monkeypatch.setattr("core.models.devices.slots.slots", lambda: (Slot("cpu", "", 16.5, "CPU"),))
    # (16.5 - 0.5) GiB / 1.2 / 4 bytes = 3.6 B
    answer = "This machine can run models up to 3.6 B parameters on its CPU, in 32-bit precision. There is no GPU"
    assert open_page("doctor").subheader[0].value.replace("\\", "").startswith(answer)


def test_a_database_that_answers_again_is_seen_without_a_click(open_page: Open, monkeypatch: Any):
    monkeypatch.setattr("core.checks.doctor.ask", lambda: FOUND)
    app = open_page("doctor")
    app = ended(app)
    assert "No run can be queued" in page_text(app)
    assert "Checked" in page_text(app)
    monkeypatch.setattr(
        "core.checks.doctor.changing", lambda: [Finding("database", "it answers", True, "Runs are kept here.")]
    )
    app.run()
    assert "No run can be queued" in page_text(app)  # the last look is not old enough
    monkeypatch.setattr("app.components.doctor.doctor_cache.REFRESH_S", 0.0)
    app.run()
    checkup = doctor_cache.checkup()
    assert checkup.refreshing.acquire(timeout=60)  # the look beside the page has ended
    checkup.refreshing.release()
    monkeypatch.setattr("app.components.doctor.doctor_cache.REFRESH_S", 30.0)
    text = page_text(app.run())
    assert "No run can be queued" not in text
    assert "Everything that could be checked is in order" in text
    assert "values that can change" in text


def test_a_doctor_that_died_is_asked_again_without_a_click(open_page: Open, monkeypatch: Any):
    def refuse() -> list[Finding]:
        raise RunError("the check did not finish within 120 s")

    monkeypatch.setattr("core.checks.doctor.ask", refuse)
    app = ended(open_page("doctor"))
    assert [error.value for error in app.error] == ["The check did not finish within 120 s\\."]
    monkeypatch.setattr("core.checks.doctor.ask", lambda: FOUND[:1])
    doctor_cache.checkup().looked_again -= doctor_cache.REFRESH_S
    app = ended(app.run())
    assert not app.error
    assert "Everything that could be checked is in order" in page_text(app)


def test_what_is_not_there_is_neither_good_nor_bad(open_page: Open, monkeypatch: Any):
    absent = Finding("driver", "no NVIDIA driver", None, "Runs use the CPU.")
    monkeypatch.setattr("core.checks.doctor.ask", lambda: [FOUND[0], absent])
    text = page_text(ended(open_page("doctor"))).replace("*", "")
    assert "Driver no NVIDIA driver" in text
    assert "Driver:" not in text
    assert "Disk: good" in text
    assert "Everything that could be checked is in order." in text


def test_a_machine_that_was_never_checked_says_what_the_check_does(open_page: Open, found_already: None):
    app = ended(open_page("doctor"))
    assert "This machine has not been checked in full" in page_text(app)
    assert "up to ten minutes" in page_text(app)
    assert "Check this machine" in [button.label for button in app.button]


def test_a_visitor_of_a_public_server_can_t_check_the_machine(open_page: Open, monkeypatch: Any):
    monkeypatch.setattr("core.access._served", ["public"])
    monkeypatch.setattr("core.access._whose", [lambda: None])
    for forbidden in (verification.start, verification.stop):
        with pytest.raises(AccessError, match="nobody can"):
            forbidden()
    assert verification.current() is None


def test_the_last_check_is_shown_with_its_date_and_what_failed_first(open_page: Open, found_already: None):
    rows = (
        CheckResult("nvml", "readings", "not here", "There is no NVIDIA GPU here."),
        CheckResult("kill/cpu", "kill -9", "passed", "It ended after 0.1 s.", {}, 20.0),
        CheckResult("paths/cpu/bfloat16", "paths", "failed", "Padded rows are off by 3.", {"off": 3.0}, 7.0),
    )
    report.keep(Verification("2026-11-22T21:40:00Z", 87.0, described(), rows))
    text = page_text(ended(open_page("doctor"))).replace("*", "")
    assert "Full check of 22 November 2026, 21:40 UTC: 1 passed, 1 failed. It took 1 min 27 s." in text
    assert text.index("Scoring paths, CPU, 16-bit (bf16): failed") < text.index("A killed run, CPU: passed")
    assert "Padded rows are off by 3." in text
    assert "Not present on this machine: GPU readings." in text


def test_a_check_is_started_followed_and_kept_unless_it_is_stopped(
    open_page: Open, found_already: None, monkeypatch: Any, tmp_path: Any
):
    """Real rows in processes of their own; the second one hangs until it is stopped."""
    monkeypatch.setenv("PLANTED_CHILD", str(tmp_path / "child"))
    monkeypatch.setattr("app.components.doctor.verification.planned", lambda slots: [row("well"), row("hangs")])
    app = click(ended(open_page("doctor")), "Check this machine")
    job = verification.current()
    assert job is not None
    verification.start()  # as a second person may press it: the same one continues
    assert verification.current() is job
    never = threading.Event()
    while not (tmp_path / "child").exists():  # the second row is running
        assert not never.wait(0.05)
        assert job.seconds < 120
    assert "All is well on cpu" in page_text(app.run())
    click(app, "Stop")
    assert job.ended.wait(60)
    assert [row.state for row in job.results] == ["passed", "not tried"]
    assert "This machine has not been checked in full" in page_text(app.run())
    monkeypatch.setattr("app.components.doctor.verification.planned", lambda slots: [row("wrong")])
    click(app, "Check this machine")
    job = verification.current()
    assert job is not None
    assert job.ended.wait(60)
    assert "0 passed, 1 failed" in page_text(app.run())
    latest = report.latest()
    assert latest is not None
    assert [row.says for row in latest.rows] == ["It is off by 3."]
