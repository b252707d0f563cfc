"""Prose written for Hedge: the two corpora, what of them is held out, and passages as training text.

A corpus is a folder with a folder a kind; a file holds separate pieces between lines of ``***``. In a counselling talk
every line is one message; a counselor is read as ``assistant`` and the person as ``user``, as the perplexity page
writes them. Of each kind of each corpus one file is held out, which no model reads.
"""

import random
import re
import zlib
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path

from core.settings import ASSETS, ROOT
from pocket_world.chat.counsel import Turns
from pocket_world.documents import END, Document, Piece
from pocket_world.weighted import Weighted

CORPORA = (ROOT / "pocket_world" / "corpus", ASSETS / "prose")

KINDS = ("counselling", "explanations", "letters", "stories", "talk")

HELD_OUT_SEED = 26

_EXCHANGES = (1, 2, 3, 3, 3)
"""How many exchanges a chat has: the perplexity page shows a message with up to three, its own among them. With more,
some would be longer than the context."""

_BREAK = "\n\n***\n\n"
_ROLES = {"Counselor": "assistant", "Client": "user"}
_SPEAKER = re.compile(r"^(Counselor|Client)(?=: )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ProseFile:
    """A file of a corpus; ``name`` is its path in the project."""

    name: str
    kind: str
    pieces: tuple[str, ...]


@cache
def files() -> tuple[ProseFile, ...]:
    """All files of both corpora, by name."""
    folders = [(corpus / kind, kind) for corpus in CORPORA for kind in KINDS]
    return tuple(_read(path, kind) for folder, kind in folders for path in sorted(folder.glob("*.txt")))


def _read(path: Path, kind: str) -> ProseFile:
    text = _SPEAKER.sub(lambda found: _ROLES[found[0]], path.read_text(encoding="utf-8"))
    return ProseFile(path.relative_to(ROOT).as_posix(), kind, tuple(text.strip().split(_BREAK)))


@cache
def held_out() -> tuple[ProseFile, ...]:
    """One file of each kind of each corpus, drawn by a checksum of its name."""
    folders: dict[str, list[ProseFile]] = {}
    for file in files():
        folders.setdefault(file.name.rpartition("/")[0], []).append(file)
    return tuple(
        min(folder_files, key=lambda file: zlib.crc32(f"{HELD_OUT_SEED}|{file.name}".encode()))
        for folder_files in folders.values()
    )


@cache
def training() -> tuple[ProseFile, ...]:
    """The files that models read."""
    return tuple(file for file in files() if file not in held_out())


class Prose:
    """Passages and chats of the training files; a piece is drawn as often as it has words."""

    def __init__(self) -> None:
        self._pieces = Weighted(
            [piece for file in training() for piece in file.pieces], lambda piece: len(piece.split())
        )
        self._talks = {
            kind: [turns for file in training() if file.kind == kind for turns in map(turns_of, file.pieces) if turns]
            for kind in ("counselling", "talk")
        }

    def passage(self, rng: random.Random, *, words: int) -> Document:
        """About ``words`` words of one piece, from the beginning of a line."""
        text, whole = _window(self._pieces.draw(rng), rng, words)
        return Document((Piece(text, 1.0), *([Piece(END, 1.0)] if whole else [])))

    def talk(self, rng: random.Random, *, counselling: bool) -> Turns:
        """Some turns of a talk with a counselor or with another assistant, the assistant speaking last."""
        talk = rng.choice(self._talks["counselling" if counselling else "talk"])
        start = rng.choice([place for place, (role, _) in enumerate(talk[:-1]) if role == "user" or place == 0])
        turns = talk[start : start + 2 * rng.choice(_EXCHANGES)]
        return turns[:-1] if turns[-1][0] == "user" else turns


def turns_of(piece: str) -> Turns | None:
    """The messages of a talk between ``assistant`` and ``user`` who speak in turn; None for any other piece."""
    turns = [(role, text) for role, mark, text in (line.partition(": ") for line in piece.splitlines()) if mark]
    roles = [role for role, _ in turns]
    in_turn = all(role != next_role for role, next_role in pairwise(roles))
    return turns if in_turn and set(roles) == {"assistant", "user"} and len(turns) == piece.count("\n") + 1 else None


def _window(piece: str, rng: random.Random, words: int) -> tuple[str, bool]:
    """Lines of a piece, about ``words`` words of them, and whether they go to its end."""
    lines = piece.split("\n")
    left = list(accumulate(len(line.split()) for line in reversed(lines)))[::-1]
    starts = [place for place, count in enumerate(left) if lines[place] and count >= min(words, left[0]) // 2]
    passage: list[str] = []
    for line in lines[rng.choice(starts) :]:
        if len(line.split()) > words:
            # A long paragraph is cut between two words, behind which nothing follows.
            return "\n".join((*passage, " ".join(line.split()[:words]))).rstrip(), False
        passage.append(line)
        words -= len(line.split())
    return "\n".join(passage), True
