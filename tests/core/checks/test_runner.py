"""Rows in real processes: each verdict, and what dies, hangs or is stopped."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from core.checks.outcome import Place
from core.checks.plan import Check, PlannedCheck
from core.checks.runner import run_row, verify
from core.settings import ROOT
from tests.processes import gone

SHOWS = "what is planted"


def row(function: str, *, limit_s: float = 60.0, absent: str = "") -> PlannedCheck:
    check = Check("Planted", SHOWS, f"tests.core.checks.planted:{function}", limit_s)
    return PlannedCheck(f"{function}/cpu", check, Place("cpu", "float32"), absent=absent)


def awaited(path: Path) -> int:
    """The number in a file, once it is there."""
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    return int(path.read_text())


@pytest.mark.parametrize(
    ("function", "state", "says"),
    [
        ("well", "passed", "All is well on cpu in float32."),
        ("wrong", "failed", "It is off by 3."),
        ("raises", "failed", "It stopped with ValueError: no such device."),
        ("refuses", "failed", "There is no model."),
        ("absent", "not here", "There is no such device here."),
        ("dies", "failed", "Its process was killed by signal 11 (SIGSEGV). Its last line: the last words"),
        ("ends_without_result", "failed", "Its process was ended by an error of its own (exit status 4)."),
    ],
)
def test_what_a_check_comes_to_is_the_row(home, function, state, says):
    row_result = run_row(row(function), limit_s=60)
    assert (row_result.name, row_result.shows, row_result.state, row_result.says) == (
        f"{function}/cpu",
        SHOWS,
        state,
        says,
    )
    assert row_result.seconds > 0
    if function == "well":  # its home is its own, and gone with it
        assert row_result.figures["home"] != str(home)
        assert not Path(str(row_result.figures["home"])).parent.exists()


def test_a_check_that_hangs_fails_and_leaves_no_process(home, monkeypatch, tmp_path):
    monkeypatch.setenv("PLANTED_CHILD", str(tmp_path / "child"))
    # How busy the machine is is looked at once the process has been started; its time begins when it hangs.
    monkeypatch.setattr("core.checks.runner._busy", lambda: 1.5 * bool(awaited(tmp_path / "child")))
    row_result = run_row(row("hangs", limit_s=2.0), limit_s=60)
    assert (row_result.state, row_result.says) == ("failed", "It did not end within 3 s.")
    assert gone(awaited(tmp_path / "child"))
    row_result = run_row(row("hangs", limit_s=60.0), limit_s=0.5)  # the time of all was up, which is no fault
    assert row_result.state == "not tried"


def test_a_stop_ends_the_present_row_and_tries_no_other(home, monkeypatch, tmp_path):
    monkeypatch.setenv("PLANTED_CHILD", str(tmp_path / "child"))
    stop = threading.Event()

    def end() -> None:
        awaited(tmp_path / "child")
        stop.set()

    threading.Thread(target=end, daemon=True).start()
    seen: list[str] = []
    rows = [row("well", absent="There is no GPU."), row("hangs"), row("well")]
    report = verify(rows, on_begin=lambda planned: seen.append(planned.name), on_row=lambda _: None, stop=stop.is_set)
    assert [row.state for row in report.rows] == ["not here", "not tried", "not tried"]
    assert seen == ["hangs/cpu"]
    assert report.stopped
    assert gone(awaited(tmp_path / "child"))


def test_no_row_begins_when_the_time_is_up(home):
    report = verify([row("well"), row("absent", absent="No.")], minutes=0.01)
    assert [row.state for row in report.rows] == ["not tried", "not here"]
    assert "--minutes" in report.rows[0].says
    assert not report.stopped


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_end_a_verification_with_its_processes(home, monkeypatch, tmp_path, number):
    """The command with a planted row: its rows are written, and nothing of it is left."""
    file = tmp_path / "made.json"
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "  # a shell's & ignores it
        "from hedge.commands import verify as command; from hedge.cli import main; "
        "from tests.core.checks.test_runner import row; "
        "command.planned = lambda slots: [row('hangs'), row('well')]; "
        f"sys.exit(main(['verify', '--json', {str(file)!r}]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PLANTED_CHILD": str(tmp_path / "child")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    child = awaited(tmp_path / "child")
    process.send_signal(number)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 1
    assert err.endswith("hedge: stopped\n")
    assert "Traceback" not in err
    assert out.count("not tried") == 2
    assert '"stopped": true' in file.read_text()
    assert gone(child)
