"""The prose that models read: well formed, described as it is, and with nothing of what models are tested on."""

import random
import re

import pytest

from core.models.perplexity import choices, conversations
from core.settings import ASSETS, ROOT
from pocket_world import bank
from pocket_world.contamination import ECHO, Guard, words
from pocket_world.prose import KINDS, Prose, files, held_out, training, turns_of

pytestmark = pytest.mark.nightly

SPEAKER = re.compile(r"^[A-Za-z.' -]{1,24}: (?=\S)", re.MULTILINE)
PIECES = [(file.name, SPEAKER.sub("", piece)) for file in files() for piece in file.pieces]


def test_files_are_well_formed_and_the_table_of_those_that_ship_is_true() -> None:
    for file in files():
        text = (ROOT / file.name).read_bytes().decode("ascii")
        assert not re.search(r"[^\n\x20-\x7e]|  | \n|\n\n\n|\n\n\Z|[^\n]\Z", text), file.name
        if file.kind == "counselling":
            assert all(map(turns_of, file.pieces)), file.name
    readme = (ASSETS / "prose" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z]+/[^`]+)` \| [a-z]+ \| ([\d,]+) \|", readme, re.MULTILINE)
    shipped = {path.relative_to(ASSETS / "prose").as_posix(): path for path in (ASSETS / "prose").glob("*/*.txt")}
    assert {name: int(count.replace(",", "")) for name, count in rows} == {
        name: len(path.read_text(encoding="ascii").split()) for name, path in shipped.items()
    }


def test_one_file_of_each_kind_of_each_corpus_is_held_out() -> None:
    assert sorted(file.kind for file in held_out()) == sorted(KINDS * 2)
    assert {*training()} | {*held_out()} == {*files()}
    read = {piece for file in training() for piece in file.pieces}
    prose, rng = Prose(), random.Random(3)
    for _ in range(200):
        passage = prose.passage(rng, words=110).pieces[0].text
        assert 20 < len(passage.split()) <= 110
        assert any(passage.split("\n")[0] in piece for piece in read)
        assert prose.talk(rng, counselling=True)[-1][0] == "assistant"


def test_nothing_that_models_are_tested_on_is_in_it() -> None:
    """No run of eight words of a conversation or of the right ending of a choice, and nothing of the bank."""
    guard = Guard.of(bank.questions(), conversations.bundled())
    endings = [words(choice.endings[choice.label]) for choice in choices.read(choices.BUNDLED)]
    runs = {ending[start : start + ECHO] for ending in endings for start in range(len(ending) - ECHO + 1)}
    assert len(guard.runs) > 1000
    for name, piece in PIECES:
        text = words(piece)
        assert not guard.find(piece), name
        assert not runs & {text[start : start + ECHO] for start in range(len(text) - ECHO + 1)}, name
