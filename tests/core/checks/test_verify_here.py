"""``python -m core verify`` with what is here, in a quick form."""

import json
import os
import subprocess
import sys

import pytest

from core.checks.report import Verification
from core.models.devices.slots import CPU, slots
from core.settings import ROOT, settings
from hedge.cli import main


def test_what_is_here_passes_and_what_is_not_is_said(home, tmp_path):
    file = tmp_path / "made.json"
    words = ["verify", "--only", "paths/cpu/float32", "nvml", "--json", str(file)]
    done = subprocess.run(
        [sys.executable, "-m", "core", *words],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    verification = Verification.from_json(json.loads(file.read_text()))
    rows = {row.name: row for row in verification.rows}
    assert done.returncode == 0, done.stdout + done.stderr
    assert rows["paths/cpu/float32"].state == "passed"
    here = any(slot.name != CPU for slot in slots())
    assert rows["nvml"].state == ("passed" if here else "not here")
    table = done.stdout.splitlines()
    assert [line.split()[0] for line in table[:-1]] == [row.state.split()[0] for row in verification.rows]
    assert table[-1].startswith("2 passed" if here else "1 passed, 1 not here")
    assert not (settings().home / "verify").exists()  # a part of the check is not the last check of this machine


def test_unknown_names_and_times_are_refused_in_a_sentence(home, capsys):
    assert main(["verify", "--only", "patsh"]) == 2
    assert "there is no check 'patsh' here; choose from nvml, paths" in capsys.readouterr().err
    assert main(["verify", "--minutes", "0"]) == 2
    assert "--minutes must be above 0, got 0" in capsys.readouterr().err


def test_json_is_all_that_is_printed_where_no_file_is_named(home, capsys):
    assert main(["verify", "--only", "nvml", "--minutes", "0.05", "--json"]) == 0
    printed = capsys.readouterr()
    assert [row["name"] for row in json.loads(printed.out)["rows"]] == ["nvml"]
    assert "nvml" in printed.err


@pytest.mark.parametrize("state", ["failed", "passed"])
def test_the_exit_status_says_whether_a_row_failed(home, monkeypatch, state):
    from tests.core.checks.test_runner import row

    planted = [row("wrong" if state == "failed" else "absent", absent="" if state == "failed" else "None here.")]
    monkeypatch.setattr("hedge.commands.verify.planned", lambda slots: planted)
    assert main(["verify"]) == (1 if state == "failed" else 0)
    assert (settings().home / "verify" / "latest.json").is_file()
