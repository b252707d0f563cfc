"""A machine without a folder for temporary files."""

import gzip
import os
import tempfile
from pathlib import Path

import pytest

from core.processes import temporary
from core.tables import encodings
from hedge.cli import main

pytestmark = pytest.mark.quick


@pytest.fixture
def none_usable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Only the folder that ``TMPDIR`` names is tried, and it is not there."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [os.environ["TMPDIR"]])
    return tmp_path


def test_temporary_files_are_kept_in_the_home(home: Path, none_usable: Path, monkeypatch: pytest.MonkeyPatch):
    assert not temporary.is_usable()
    temporary.choose_folder()
    assert tempfile.gettempdir() == os.environ["TMPDIR"] == str(home / "cache" / "tmp")
    packed = none_usable / "rows.csv.gz"
    packed.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    monkeypatch.setattr(encodings, "IN_MEMORY", 1)
    with encodings.opened(packed) as source:
        assert source.head(3) == b"a,b"


def test_nothing_is_made_where_there_is_a_folder(home: Path):
    temporary.choose_folder()
    assert not home.exists()


def test_a_home_that_can_not_be_written_either_is_said(none_usable: Path, monkeypatch, capsys):
    (none_usable / "file").touch()
    (none_usable / "scores.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    monkeypatch.setenv("HEDGE_HOME", str(none_usable / "file" / "home"))
    assert main(["import", str(none_usable / "scores.csv")]) == 2
    sentence = "hedge: no folder for temporary files can be written; set TMPDIR to one with free space\n"
    assert capsys.readouterr().err == sentence
