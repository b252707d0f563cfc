"""A relation of the pocket world: a table of true pairs, and the wordings that ask for them and state them.

Every pair becomes a :class:`Fact`: its question in every wording, its answer, and answers of the same kind
that are false. A checksum of the fact's name decides how a model sees it (often, rarely, never; with
letters or without; in which wordings), so that maker, trainer and check agree without a list.
"""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Difficulty = Literal["easy", "medium", "hard"]
Rows = Mapping[str, tuple[str, ...]]

DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "medium", "hard")


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is true, and how it can be asked and said.

    ``questions`` holds every wording of its question, in the relation's order; ``wrong`` the false answers,
    the nearest ``near`` of them first; ``twin`` is shared by facts that say the same thing the other way round.
    """

    group: str
    relation: str
    key: str
    questions: tuple[str, ...]
    statements: tuple[str, ...]
    answer: str
    wrong: tuple[str, ...]
    near: int
    difficulty: Difficulty
    twin: str = ""

    @property
    def checksum(self) -> int:
        """A number from 0 to 2³²−1 that stays the same from run to run and from machine to machine."""
        return zlib.crc32(f"{self.relation}|{self.key}".encode())

    @property
    def bank_wording(self) -> int:
        """The wording kept for the bank: training text never asks for this fact in it."""
        return self.checksum % len(self.questions)

    @property
    def training_questions(self) -> tuple[str, ...]:
        """All wordings but the bank's."""
        return self.questions[: self.bank_wording] + self.questions[self.bank_wording + 1 :]


@dataclass(frozen=True, slots=True)
class Relation:
    """A table of true pairs (x, y) with its wordings.

    ``rows`` maps x to y and to whatever else is also true, the best known pairs first. In a wording ``{x}`` and
    ``{y}`` stand for the pair, ``{ax}`` and ``{ay}`` for the same with "a" or "an". ``kin`` maps x to a cluster;
    the values of its cluster are the nearest false answers. ``more_wrong`` adds further false ones; ``twin`` names the
    relation that this one turns round.
    """

    group: str
    name: str
    rows: Rows
    questions: tuple[str, ...]
    statements: tuple[str, ...]
    twin: str = ""
    kin: Mapping[str, str] = field(default_factory=dict)
    more_wrong: tuple[str, ...] = ()

    def facts(self) -> tuple[Fact, ...]:
        """The table as facts; the first third is easy, the second medium, the last hard."""
        return tuple(self._fact(x, place) for place, x in enumerate(self.rows))

    def _fact(self, x: str, place: int) -> Fact:
        answer = self.rows[x][0]
        wrong, near = self._wrong(x)
        pair = f"{x}|{answer}" if not self.twin else f"{answer}|{x}"
        return Fact(
            group=self.group,
            relation=self.name,
            key=x,
            questions=tuple(_say(wording, x, answer) for wording in self.questions),
            statements=tuple(self.state(x, answer, place) for place in range(len(self.statements))),
            answer=answer,
            wrong=wrong,
            near=near,
            difficulty=DIFFICULTIES[place * 3 // len(self.rows)],
            twin=f"{self.twin or self.name}|{pair}",
        )

    def state(self, x: str, answer: str, wording: int) -> str:
        """A statement about x with this answer, true or not."""
        return _say(self.statements[wording], x, answer)

    def _wrong(self, x: str) -> tuple[tuple[str, ...], int]:
        """The false answers for x, nearest first, and how many of them count as near."""
        true = {*self.rows[x]}
        pool = [*dict.fromkeys([*(values[0] for values in self.rows.values()), *self.more_wrong])]
        wrong = [value for value in pool if value not in true]
        answer = self.rows[x][0]
        if answer.isdigit() and all(value.isdigit() for value in wrong):
            return tuple(sorted(wrong, key=lambda value: (abs(int(value) - int(answer)), value))), min(6, len(wrong))
        if x in self.kin:
            cluster = {self.rows[other][0] for other in self.rows if self.kin.get(other) == self.kin[x]}
            kin = [value for value in wrong if value in cluster]
            return (*kin, *(value for value in wrong if value not in cluster)), len(kin)
        return tuple(wrong), 0


def table(text: str) -> Rows:
    """Read ``x = y; x = y | also true`` into a mapping from x to its true values.

    >>> table("Sweden = krona | krone; Japan = yen")
    {'Sweden': ('krona', 'krone'), 'Japan': ('yen',)}
    """
    entries = (entry.partition(" = ") for entry in " ".join(text.split()).split("; ") if entry)
    return {x: tuple(values.split(" | ")) for x, _, values in entries}


def listed(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


def members(classes: Rows, *, best_known: Iterable[str] = ()) -> Rows:
    """The class of each member, the best known members first, or else the first member of each class, and so on.

    >>> members({"fish": ("shark", "eel"), "bird": ("owl",)})
    {'shark': ('fish',), 'owl': ('bird',), 'eel': ('fish',)}
    """
    rank = {member: place for place, member in enumerate(best_known)}
    placed = [
        (rank.get(member, len(rank)) if rank else place, member, name)
        for name, members_of_class in classes.items()
        for place, member in enumerate(members_of_class)
    ]
    return {member: (name,) for _, member, name in sorted(placed, key=lambda entry: entry[0])}


def invert(rows: Rows) -> Rows:
    """The same pairs the other way round.

    >>> invert({"Japan": ("Tokyo",)})
    {'Tokyo': ('Japan',)}
    """
    return {values[0]: (x,) for x, values in rows.items()}


def with_article(noun: str) -> str:
    """The noun with "a" or "an" by its first letter; nothing is added to a name or a noun that has an article.

    >>> with_article("owl"), with_article("dog"), with_article("the Moon"), with_article("Paris")
    ('an owl', 'a dog', 'the Moon', 'Paris')
    """
    if noun.startswith(("the ", "a ", "an ")) or noun[:1].isupper() or noun[:1].isdigit():
        return noun
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def sentence(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def relations(
    text: str, rows: Mapping[str, Rows] | None = None, *, kin: Mapping[str, Mapping[str, str]] | None = None
) -> dict[str, Relation]:
    """The relations of a text by name, parted by empty lines: ``group: name``, and behind ``<`` the one that it turns
    round; ``?`` questions, ``!`` statements, ``~`` further false answers, parted by ``|``; then its table, unless
    ``rows`` holds one of its name or it has that of its twin turned round.
    """
    parsed: dict[str, Relation] = {}
    for block in text.strip().split("\n\n"):
        head, *lines = block.splitlines()
        group, _, name = head.partition(": ")
        name, _, twin = name.partition(" < ")
        questions, statements, more_wrong = (
            tuple(part for line in lines if line[0] == mark for part in line[2:].split(" | ")) for mark in "?!~"
        )
        pairs = (rows or {}).get(name) or (invert(parsed[twin].rows) if twin else {})
        pairs = table("\n".join(line for line in lines if line[0] not in "?!~")) or pairs
        kin_of_name = (kin or {}).get(name, {})
        parsed[name] = Relation(group, name, pairs, questions, statements, twin, kin_of_name, more_wrong)
    return parsed


def _say(wording: str, x: str, y: str) -> str:
    return sentence(wording.format(x=x, y=y, ax=with_article(x), ay=with_article(y)))
