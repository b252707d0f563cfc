"""The questions that ship: whole, or refused with a sentence."""

import random
import re
import shutil
from pathlib import Path

import pytest

from core.errors import InputError
from core.questions import bank, shipped, trivia
from core.settings import ASSETS

TRIES = 50


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the questions that ship."""
    for name in ("bank", "trivia"):
        shutil.copytree(ASSETS / name, tmp_path / name)
    for module in (bank, shipped, trivia):
        monkeypatch.setattr(module, "ASSETS", tmp_path)
    return tmp_path


def test_one_random_bit_of_the_bank_is_noticed(assets: Path):
    generator, path = random.Random(3), assets / "bank" / "qa.jsonl"
    whole = path.read_bytes()
    sentence = re.escape(f"{path} is missing or damaged (") + r".+\); install Hedge again"
    for _ in range(TRIES):
        content = bytearray(whole)
        content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
        path.write_bytes(content)
        bank._read.cache_clear()
        with pytest.raises(InputError, match=sentence):
            bank.load("qa")
    path.write_bytes(whole)
    bank._read.cache_clear()
    assert len(bank.load("qa")) == 2129


def test_a_line_that_is_lost_from_the_trivia_is_noticed(assets: Path):
    texts = pytest.importorskip("core.models.adapters.texts", exc_type=ModuleNotFoundError)
    path = assets / "trivia" / "questions.jsonl"
    path.write_bytes(path.read_bytes().partition(b"\n")[2])
    for read in (lambda: trivia.read("trivia"), texts._trivia):
        with pytest.raises(InputError, match=r"questions\.jsonl is missing or damaged .*; install Hedge again"):
            read()


def test_other_line_ends_are_no_damage(assets: Path):
    expected = trivia.read("trivia")
    path = assets / "trivia" / "questions.jsonl"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert trivia.read("trivia") == expected
