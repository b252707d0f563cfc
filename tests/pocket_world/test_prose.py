"""The prose of assets/prose: enough of it, in the agreed shares, well formed, and nothing of what models are tested on.

Words are those of ``wc -w``. Runs of words are compared in lower case without punctuation, paragraph by paragraph and
without the speakers' names. A run of eight words is long enough to be an echo of a conversation and not an accident;
of the question bank, the guard of the training text is asked, which knows runs of 13 words and shorter questions.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.models.perplexity import choices, conversations
from core.settings import ASSETS
from pocket_world import bank
from pocket_world.contamination import Guard

pytestmark = pytest.mark.nightly

FOLDER = ASSETS / "prose"
LEAST = 150_000
SHARES = {"counselling": 0.30, "talk": 0.20, "stories": 0.233, "explanations": 0.167, "letters": 0.10}
TOLERANCE = 0.02
DIALOGUE = ("counselling", "talk")
BREAK = "\n\n***\n\n"
ECHO = 8
REPEATS = 5

SPEAKER = re.compile(r"^(user|assistant|[A-Z][A-Za-z.' -]{0,24}): (?=\S)")
SENTENCE = re.compile(r"(?<=[.!?])[\"')]*\s+|\n")

FILES = sorted(FOLDER.glob("*/*.txt"))


def pieces(path: Path) -> list[str]:
    """The separate pieces of a file."""
    return path.read_text(encoding="ascii").rstrip("\n").split(BREAK)


def paragraphs(path: Path) -> Iterator[str]:
    """The lines of a file that hold words, without the speakers of a dialogue."""
    for piece in pieces(path):
        for line in piece.splitlines():
            if line.strip():
                yield SPEAKER.sub("", line) if path.parent.name in DIALOGUE else line


def plain(text: str) -> tuple[str, ...]:
    """Words in lower case, punctuation dropped."""
    return tuple(re.findall(r"[^\W_]+", re.sub(r"['’]", "", text.lower())))


def runs(text: str) -> set[tuple[str, ...]]:
    """The runs of :data:`ECHO` words."""
    found = plain(text)
    return {found[start : start + ECHO] for start in range(len(found) - ECHO + 1)}


def count(path: Path) -> int:
    return len(path.read_text(encoding="ascii").split())


@pytest.fixture(scope="module")
def by_kind() -> Counter[str]:
    words: Counter[str] = Counter()
    for path in FILES:
        words[path.parent.name] += count(path)
    return words


def test_there_is_enough_of_it(by_kind: Counter[str]) -> None:
    assert by_kind.total() >= LEAST


def test_the_kinds_have_their_shares(by_kind: Counter[str]) -> None:
    assert set(by_kind) == set(SHARES)
    for kind, share in SHARES.items():
        assert abs(by_kind[kind] / by_kind.total() - share) <= TOLERANCE, kind


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_file_is_well_formed(path: Path) -> None:
    assert re.fullmatch(r"\d\d-[a-z0-9-]+", path.stem)
    content = path.read_bytes()
    assert content.isascii()
    text = content.decode("ascii")
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert not re.search(r"[^\n\x20-\x7e]|  | \n|\n\n\n", text)
    assert len(pieces(path)) >= 3
    for piece in pieces(path):
        assert piece == piece.strip()
        assert "***" not in piece
        assert len(piece.split()) >= 15


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.parent.name in DIALOGUE], ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_a_line_of_a_dialogue_begins_with_its_speaker(path: Path) -> None:
    for piece in pieces(path):
        speakers = []
        for line in piece.splitlines():
            found = SPEAKER.match(line)
            assert found, f"no speaker: {line!r}"
            speakers.append(found[1])
        roles = {"user", "assistant"}
        assert set(speakers) == roles or not set(speakers) & roles
        assert 2 <= len(set(speakers)) <= 5
        assert all(one != other for one, other in itertools.pairwise(speakers))
        if path.parent.name == "counselling":
            assert speakers[0] == "assistant"
            assert 8 <= len(speakers) <= 21


def test_nothing_of_a_conversation_or_a_choice_is_in_it() -> None:
    held = {
        run
        for conversation in conversations.bundled()
        for message in conversation.messages
        for run in runs(message.text)
    }
    assert len(held) > 1000
    # The other endings are a pocket model's own, which has read this prose and may say what is in it.
    held |= {run for choice in choices.read(choices.BUNDLED) for run in runs(choice.endings[choice.label])}
    found = [
        (str(path.relative_to(FOLDER)), " ".join(run))
        for path in FILES
        for paragraph in paragraphs(path)
        for run in sorted(runs(paragraph) & held)
    ]
    assert found == []


def test_nothing_of_a_bank_question_is_in_it() -> None:
    guard = Guard.of(bank.questions())
    found = [
        (str(path.relative_to(FOLDER)), " ".join(run))
        for path in FILES
        for paragraph in paragraphs(path)
        if (run := guard.find(paragraph))
    ]
    assert found == []


def test_no_long_sentence_comes_again_and_again() -> None:
    sentences = Counter(
        words
        for path in FILES
        for paragraph in paragraphs(path)
        for sentence in SENTENCE.split(paragraph)
        if len(words := plain(sentence)) >= 8
    )
    assert len(sentences) > 5000
    assert [(" ".join(words), times) for words, times in sentences.items() if times > REPEATS] == []


def test_the_table_of_files_is_true(by_kind: Counter[str]) -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z]+/[^`]+)` \| ([a-z]+) \| ([\d,]+) \|", readme, re.MULTILINE)
    stated = {name: (kind, int(words.replace(",", ""))) for name, kind, words in rows}
    assert stated == {f"{path.parent.name}/{path.name}": (path.parent.name, count(path)) for path in FILES}
    assert f"{by_kind.total():,} words" in readme
