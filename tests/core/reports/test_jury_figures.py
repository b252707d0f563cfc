"""The figures that ship with juries are what the code computes, and are read for nothing else."""

import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from core.jury.pipeline import jury_store
from core.reports import jury_figures
from core.storage.sealed import read_json, write_json
from tests.parameters import rest_nightly

SHIPPED = sorted(folder.name for folder in jury_store.folders()[1].iterdir())


@pytest.mark.parametrize("jury_id", rest_nightly(SHIPPED, now=SHIPPED[:1]))
def test_the_kept_figures_are_what_the_code_computes_to_the_last_bit(jury_id: str):
    judgements = jury_store.read(jury_id)
    protocol = jury_figures.protocol_of(judgements)
    kept, fresh = jury_figures.read(jury_id, protocol), jury_figures.computed(judgements, protocol)
    again = "write them again: python -m pocket_world figures"
    assert kept is not None, again
    assert repr(kept.rules.experiment) == repr(fresh.rules.experiment), again  # repr, because NaN is not NaN
    for name, mine, theirs in (
        ("risk", kept.rules.risk, fresh.rules.risk),
        ("left_out", kept.left_out, fresh.left_out),
        ("bins", kept.confidences.bins, fresh.confidences.bins),
        ("errors", kept.confidences.errors, fresh.confidences.errors),
    ):
        pd.testing.assert_frame_equal(mine, theirs, check_exact=True, obj=f"{name}; {again}")


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> Path:
    """A copy of a jury's folder, in place of those that ship."""
    folder = tmp_path / "assets" / "juries" / SHIPPED[0]
    shutil.copytree(jury_store.folders()[1] / SHIPPED[0], folder)
    monkeypatch.setattr(jury_store, "ASSETS", tmp_path / "assets")
    return folder


@pytest.mark.quick
def test_figures_of_another_table_or_protocol_or_a_damaged_file_are_not_read(shipped: Path):
    protocol = jury_figures.protocol_of(jury_store.read(shipped.name))
    assert jury_figures.read(shipped.name, protocol) is not None
    assert jury_figures.read(shipped.name, replace(protocol, confidence="platt")) is None
    file = shipped / jury_figures.FILE
    content = file.read_bytes()
    for damaged in (content[:-9], content.replace(b"0.5", b"0.6", 1), b"{}", b"[]", b""):
        file.write_bytes(damaged)
        assert jury_figures.read(shipped.name, protocol) is None
    file.write_bytes(content)
    other = read_json(file)
    other["of"]["files"] = {"judgements.parquet": "of another table"}
    write_json(file, other)
    assert jury_figures.read(shipped.name, protocol) is None
    file.unlink()
    assert jury_figures.read(shipped.name, protocol) is None


@pytest.mark.quick
def test_a_person_s_own_jury_has_no_kept_figures(shipped: Path, home: Path):
    protocol = jury_figures.protocol_of(jury_store.read(shipped.name))
    shutil.copytree(shipped, home / "juries" / shipped.name)
    assert read_json(home / "juries" / shipped.name / jury_figures.FILE)
    assert jury_figures.read(shipped.name, protocol) is None
