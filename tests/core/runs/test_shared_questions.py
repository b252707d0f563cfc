"""Runs with their own questions and runs that share them are read alike."""

import json
import shutil
from pathlib import Path

import pytest

from core.errors import InputError
from core.exchange import run_folder
from core.exchange.dropped.recognition import kind_of
from core.runs import shared_questions, store
from core.runs.shared_questions import FILE, LINK, questions_file, share
from core.settings import ASSETS, settings

pytestmark = pytest.mark.quick

BUNDLED = min((ASSETS / "runs").glob("*-qa-base-0shot-float32-*"))


def copy_whole(folder: Path, target: Path) -> None:
    """Copy a run's folder with its questions in it, so that it stands by itself."""
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns(LINK))
    shutil.copyfile(questions_file(folder), target / FILE)


def test_sharing_keeps_one_file_of_the_same_questions(tmp_path: Path) -> None:
    for name, content in (("one", b"same"), ("two", b"same"), ("three", b"other")):
        (tmp_path / name).mkdir()
        (tmp_path / name / FILE).write_bytes(content)
        share(tmp_path / name, shared=tmp_path / "shared")
        assert [path.name for path in (tmp_path / name).iterdir()] == [LINK]
    assert len(list((tmp_path / "shared").iterdir())) == 2
    assert questions_file(tmp_path / "one") == questions_file(tmp_path / "two") != questions_file(tmp_path / "three")


def test_a_run_with_questions_of_its_own_is_read_as_before(home: Path) -> None:
    copy_whole(BUNDLED, settings().runs / BUNDLED.name)
    assert not store.is_bundled(BUNDLED.name)
    assert store.questions_path(BUNDLED.name) == settings().runs / BUNDLED.name / FILE
    own = store.read_questions(BUNDLED.name)
    shutil.rmtree(settings().runs / BUNDLED.name)
    assert store.is_bundled(BUNDLED.name)
    assert store.questions_path(BUNDLED.name).parent == shared_questions.FOLDER
    assert store.read_questions(BUNDLED.name).equals(own)


def test_a_bundled_folder_and_its_whole_copy_are_imported_alike(tmp_path: Path) -> None:
    shutil.copytree(BUNDLED, tmp_path / "as it ships" / BUNDLED.name)
    copy_whole(BUNDLED, tmp_path / "whole" / BUNDLED.name)
    shipped = run_folder.read(tmp_path / "as it ships" / BUNDLED.name)
    assert shipped.questions == run_folder.read(tmp_path / "whole" / BUNDLED.name).questions
    assert len(shipped.questions) > 2000


def test_a_link_to_unknown_questions_is_refused_by_the_import(tmp_path: Path) -> None:
    shutil.copytree(BUNDLED, tmp_path / "run")
    (tmp_path / "run" / LINK).write_text(json.dumps({"shared": "0" * 32}))
    with pytest.raises(InputError, match=r"expected questions\.parquet beside it"):
        run_folder.read(tmp_path / "run")


@pytest.mark.parametrize("content", ['{"shared": "../../etc/passwd"}', '{"shared": 5}', "[]", "no JSON", "{}"])
def test_a_link_that_is_no_hash_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / LINK).write_text(content)
    with pytest.raises(InputError, match="32 hexadecimal digits"):
        questions_file(tmp_path)


def test_a_link_alone_is_told_as_part_of_a_run(tmp_path: Path) -> None:
    shutil.copyfile(BUNDLED / LINK, tmp_path / LINK)
    assert kind_of(tmp_path / LINK) == "run parts"
