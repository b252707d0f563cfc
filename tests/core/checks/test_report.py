"""The document, and the last one of a home."""

import json

import pytest

from core.checks import report, table
from core.checks.machine import described
from core.checks.outcome import CheckResult
from core.checks.report import Verification
from core.errors import InputError
from core.settings import settings

ROWS = (
    CheckResult("nvml", "readings", "not here", "There is no NVIDIA GPU here."),
    CheckResult("paths/cpu/float32", "paths", "failed", "Padded rows are off by 3.", {"off": 3.0, "path": "a"}, 7.25),
    CheckResult("kill/cpu", "kill -9", "passed", "It ended after 0.1 s.", {}, 20.0),
)


def made(rows=ROWS, *, stopped=False) -> Verification:
    return Verification("2026-11-22T21:40:00Z", 27.3, described(), rows, stopped)


def test_the_document_is_read_as_it_was_written(home, tmp_path):
    written = made()
    report.write(written, tmp_path / "made.json")
    values = json.loads((tmp_path / "made.json").read_text())
    assert Verification.from_json(values) == written
    assert (values["schema"], values["failed"], values["stopped"]) == (1, 1, False)
    assert set(values["machine"]) >= {"host", "processor", "cores", "memory_gib", "gpus", "driver", "packages"}
    with pytest.raises(InputError, match=r"can't be written \(No such file or directory\); give another file"):
        report.write(written, tmp_path / "no" / "made.json")


def test_the_last_one_of_a_home_and_none(home):
    assert report.latest() is None
    report.keep(made())
    report.keep(made(ROWS[:1]))
    assert report.latest() == made(ROWS[:1])
    path = settings().home / "verify" / "latest.json"
    for damage in ("", "[]", path.read_text().replace('"schema": 1', '"schema": 2'), '{"schema": 1}'):
        path.write_text(damage)
        assert report.latest() is None


def test_the_table_has_a_line_for_each_row_and_counts(home):
    lines = [table.line(row, width=17) for row in ROWS]
    assert lines[1] == "failed     paths/cpu/float32     7.2 s  Padded rows are off by 3."
    assert lines[0].startswith("not here   nvml ")
    assert table.summary(made()).startswith("1 passed, 1 failed, 1 not here in 27 s on ")
