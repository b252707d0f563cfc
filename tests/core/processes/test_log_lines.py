"""Log lines for a person and for a machine."""

import json
import os
import subprocess
import sys

import pytest

from core.errors import InputError
from core.processes import log_lines
from core.processes.log_lines import complain, say
from core.settings import ROOT, settings

WRITES = """
import logging
from core.processes import log_lines
log_lines.begin("worker")
log_lines.say("ready", worker="vm:cpu")
logging.getLogger("dbos").warning("slow %s", "database")
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("dbos").exception("it failed")
"""


@pytest.mark.quick
def test_a_line_for_a_person_has_its_time(capsys: pytest.CaptureFixture[str]):
    say("agent of vm: cpu")
    date, clock, *rest = capsys.readouterr().err.split(" ")
    assert (len(date), len(clock), " ".join(rest)) == (10, 8, "agent of vm: cpu\n")


@pytest.mark.quick
def test_what_lasts_is_written_once_in_ten_minutes(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    for _ in range(3):
        complain("the database is gone")
        complain("the disk is full")
    assert len(capsys.readouterr().err.splitlines()) == 2
    monkeypatch.setattr(log_lines, "AGAIN_S", 0.0)
    complain("the database is gone")
    assert capsys.readouterr().err.endswith("the database is gone\n")


def test_every_line_is_an_object_where_a_machine_reads_them():
    """What a library logs as well, with its traceback in one line."""
    done = subprocess.run(
        [sys.executable, "-c", WRITES],
        env=os.environ | {"HEDGE_LOG_FORMAT": "json"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["message"].splitlines()[0] for line in lines] == ["ready", "slow database", "it failed"]
    assert all(line["process"] == "worker" and line["pid"] for line in lines)
    assert lines[0]["worker"] == "vm:cpu"
    assert (lines[1]["level"], lines[1]["logger"]) == ("warning", "dbos")
    assert "ZeroDivisionError" in lines[2]["message"]


@pytest.mark.quick
def test_another_format_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HEDGE_LOG_FORMAT", "xml")
    with pytest.raises(InputError, match="HEDGE_LOG_FORMAT can't be 'xml'"):
        settings()


@pytest.mark.quick
def test_a_log_is_put_aside_when_it_grows(home, monkeypatch):
    monkeypatch.setattr(log_lines, "LARGEST_LOG", 10)
    with log_lines.open_log("a.log") as log:
        log.write(b"0123456789abc")
    with log_lines.open_log("a.log") as log:
        log.write(b"new")
    folder = home / "logs"
    assert (folder / "a.log").read_bytes() == b"new"
    assert (folder / "a.old").read_bytes() == b"0123456789abc"
