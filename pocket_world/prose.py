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

from core.errors import InputError
from core.settings import ASSETS, ROOT
from pocket_world.chat.counsel import Turns
from pocket_world.documents import END, Document, Piece

CORPORA = (ROOT / "pocket_world" / "corpus", ASSETS / "prose")

KINDS = ("counselling", "explanations", "letters", "stories", "talk")

HELD_OUT_SEED = 26

_BREAK = "\n\n***\n\n"
_ROLES = {"Counselor": "assistant", "Client": "user"}
_SPEAKER = re.compile(r"^(Counselor|Client)(?=: )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ProseFile:
    """A file of a corpus; ``name`` is its path in the project."""

    name: str
    kind: str
    pieces: tuple[str, ...]

    @property
    def words(self) -> int:
        """How many words it holds, as ``wc -w`` counts them without the lines between pieces."""
        return sum(len(piece.split()) for piece in self.pieces)


@cache
def files() -> tuple[ProseFile, ...]:
    """All files of both corpora, by name. Raises :class:`InputError` if a corpus lacks a kind."""
    prose_files = []
    for corpus in CORPORA:
        for kind in KINDS:
            paths = sorted((corpus / kind).glob("*.txt"))
            if not paths:
                raise InputError(f"{corpus / kind} holds no text; take it from the repository again")
            prose_files += [_read(path, kind) for path in paths]
    return tuple(prose_files)


def _read(path: Path, kind: str) -> ProseFile:
    text = _SPEAKER.sub(lambda match: _ROLES[match[0]], path.read_text(encoding="utf-8"))
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
        self._pieces = [piece for file in training() for piece in file.pieces]
        self._weights = list(accumulate(len(piece.split()) for piece in self._pieces))
        talks = [turns for file in training() if file.kind == "counselling" for turns in map(turns_of, file.pieces)]
        self._talks = [turns for turns in talks if turns]
        others = [turns for file in training() if file.kind == "talk" for turns in map(turns_of, file.pieces)]
        self._others = [turns for turns in others if turns]

    def passage(self, rng: random.Random, *, words: int) -> Document:
        """About ``words`` words of one piece, from the beginning of a line."""
        piece = rng.choices(self._pieces, cum_weights=self._weights)[0]
        text, whole = _window(piece, rng, words)
        return Document((Piece(text, 1.0), *([Piece(END, 1.0)] if whole else [])))

    def talk(self, rng: random.Random, *, counselling: bool) -> Turns:
        """Some turns of a talk with a counselor or with another assistant, the assistant speaking last."""
        return _turns(rng.choice(self._talks if counselling else self._others), rng)


def turns_of(piece: str) -> Turns | None:
    """The messages of a talk between ``assistant`` and ``user`` who speak in turn; None for any other piece."""
    turns = [(role, text) for role, mark, text in (line.partition(": ") for line in piece.splitlines()) if mark]
    roles = [role for role, _ in turns]
    in_turn = all(role != next_role for role, next_role in pairwise(roles))
    return turns if in_turn and set(roles) == {"assistant", "user"} and len(turns) == piece.count("\n") + 1 else None


_EXCHANGES = (1, 2, 3, 3, 3)
"""How many exchanges a chat has: the perplexity page shows a message with up to three, its own among them. With more,
some would be longer than the context."""


def _turns(talk: Turns, rng: random.Random) -> Turns:
    """Some exchanges in a row; a message of the user begins them, or the talk's own beginning."""
    starts = [place for place, (role, _) in enumerate(talk[:-1]) if role == "user" or place == 0]
    start = rng.choice(starts)
    end = start + 2 * rng.choice(_EXCHANGES)
    chosen = talk[start:end]
    return chosen[:-1] if chosen[-1][0] == "user" else chosen


def _window(piece: str, rng: random.Random, words: int) -> tuple[str, bool]:
    """Lines of a piece, about ``words`` words of them, and whether they go to its end."""
    lines = piece.split("\n")
    left = list(accumulate(len(line.split()) for line in reversed(lines)))[::-1]
    starts = [place for place, count in enumerate(left) if lines[place] and count >= min(words, left[0]) // 2]
    start = rng.choice(starts)
    chosen: list[str] = []
    room = words
    for line in lines[start:]:
        if len(line.split()) > room:
            # A long paragraph is cut between two words, behind which nothing follows.
            chosen.append(" ".join(line.split()[:room]))
            return "\n".join(chosen).rstrip(), False
        chosen.append(line)
        room -= len(line.split())
    return "\n".join(chosen), True
