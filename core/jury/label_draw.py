"""Which answers people label, and whether they were drawn at random.

An estimate from labels has an interval only if the labelled answers are a random sample. Hedge draws it in an order
that anybody can repeat: answers are sorted by the SHA-256 of the seed and their texts. A draw of n answers is the first
n in this order. The file of a draw records its seed and the digest of all answers (:attr:`LabelDraw.text`), so that
labels can be checked against the order when they come back. If somebody stops after k of n drawn answers, the first k
are a random sample too. If somebody skips answers, the labels are not: these answers may be the difficult ones.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.errors import InputError
from core.jury.judgements import Judgements
from core.records import BoolArray, FloatArray, IntArray

MOST_SEED = 10**18
RECORD = re.compile(r"seed (\d{1,18}), (\d{1,12}) answers, digest ([0-9a-f]{16}), drawn on (\d{4}-\d{2}-\d{2})")


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """M answers with the verdicts of judges, and labels for as many as people labelled.

    ``labels`` (M,) are 1 for right (or for the first answer of a pair), 0 for wrong and ½ for a tie; NaN if there is
    none. ``judges`` are the first jurors of ``judgements``, whose own labels are ignored. ``notes`` are sentences about
    how they were read.
    """

    judgements: Judgements
    labels: FloatArray
    judges: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, judgements: Judgements, notes: tuple[str, ...] = ()) -> JudgedAnswers:
        """The answers of a jury, which are all labelled."""
        return cls(judgements, judgements.labels.astype(np.float64), judgements.jurors, notes)

    def __len__(self) -> int:
        return len(self.judgements)

    @property
    def labelled(self) -> BoolArray:
        """Whether each answer has a label, (M,)."""
        return ~np.isnan(self.labels)

    @property
    def _keys(self) -> list[str]:
        each = zip(self.judgements.ids, self.judgements.questions, self.judgements.answers, strict=True)
        return [json.dumps(key, ensure_ascii=True) for key in each]

    @property
    def digest(self) -> str:
        """A digest of all answers, which does not depend on their order."""
        return hashlib.sha256("\n".join(sorted(self._keys)).encode()).hexdigest()[:16]

    def order(self, seed: int) -> IntArray:
        """The places of all answers in the random order of a seed, (M,). Raises :class:`InputError` for a seed that the
        record of a draw can't have."""
        if not 0 <= seed < MOST_SEED:
            raise InputError(f"the seed must be from 0 to {MOST_SEED - 1:,}, got {seed:,}")
        hashes = [hashlib.sha256(f"{seed} {key}".encode()).digest() for key in self._keys]
        return np.array(sorted(range(len(self)), key=hashes.__getitem__), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class LabelDraw:
    """A draw of answers to label: its seed, how many answers it is from, their digest, and its date."""

    seed: int
    answers: int
    digest: str
    date: str

    @property
    def text(self) -> str:
        """The record of the draw, as each row of its file has it."""
        return f"seed {self.seed}, {self.answers} answers, digest {self.digest}, drawn on {self.date}"

    @classmethod
    def parse(cls, text: str) -> LabelDraw:
        """The draw of a record. Raises :class:`InputError` for another text."""
        parts = RECORD.fullmatch(text.strip())
        if parts is None:
            raise InputError(
                "expected the record of a draw, such as 'seed 0, 500 answers, digest 0123456789abcdef, drawn on "
                f"2026-01-31', found {text.strip()[:80]!r}"
            )
        return cls(int(parts[1]), int(parts[2]), parts[3], parts[4])

    def check(self, judged: JudgedAnswers) -> None:
        """Raises :class:`InputError` if the draw is of other answers."""
        if (self.answers, self.digest) != (len(judged), judged.digest):
            raise InputError(
                f"the labels were drawn from {self.answers:,} answers with the digest {self.digest}, but these are "
                f"{len(judged):,} with the digest {judged.digest}; give the same judgements as for the draw"
            )


@dataclass(frozen=True, slots=True)
class LabelSample:
    """The labels that count, in an ``order`` (M,) of all answers in which the labelled ones come first.

    ``labels`` (n,) are theirs. ``random`` says whether they are a random sample; if not, they have no interval.
    ``origin`` says in a clause how they were chosen, and ``notes`` are sentences that a person should know.
    """

    order: IntArray
    labels: FloatArray
    random: bool
    origin: str
    notes: tuple[str, ...] = ()


def sample_of(judged: JudgedAnswers, *, seed: int, declared: bool = False) -> LabelSample:
    """The labels that the answers have themselves, in the random order of a seed.

    They are a random sample if all answers have one, or if the person ``declared`` it. Raises :class:`InputError` if no
    answer has a label.
    """
    n = int(judged.labelled.sum())
    if n == 0:
        raise InputError(
            f"none of the {len(judged):,} answers has a label; `hedge jury draw` draws answers to label at random"
        )
    order = judged.order(seed)
    order = np.concatenate([order[judged.labelled[order]], order[~judged.labelled[order]]])
    notes: tuple[str, ...] = ()
    if n == len(judged):
        origin = f"all answers are labelled, and the labels are taken in a random order (seed {seed})"
    elif declared:
        origin = "declared to be a random sample"
    else:
        origin, notes = "not known to be a random sample", (not_drawn(n, len(judged)),)
    return LabelSample(order, judged.labels[order[:n]], not notes, origin, notes)


def not_drawn(n: int, answers: int) -> str:
    """The sentence about labels that are not known to be a random sample."""
    return (
        f"{n:,} of {answers:,} answers have a label, and nothing says that they were drawn at random. They describe "
        "only themselves, so there is no interval. Let `hedge jury draw` draw a random sample; give --random if this "
        "is one."
    )


def drawn_sample(
    judged: JudgedAnswers, draw: LabelDraw, labels: Mapping[int, float], *, declared: bool = False
) -> LabelSample:
    """The labels of a recorded draw, by the place of the answer in it, from 1; NaN for none.

    They are a random sample if they are those of the first drawn answers, or if the person ``declared`` that
    others are missing by chance. Raises :class:`InputError` if the draw is of other answers, or if there is no label.
    """
    draw.check(judged)
    known = sorted(place for place, label in labels.items() if label == label)
    if not known:
        raise InputError("none of the drawn answers has a label; fill in the column label")
    order = judged.order(draw.seed)
    chosen = np.array(known) - 1
    values = np.array([labels[place] for place in known], dtype=np.float64)
    missing = next((place for place, found in enumerate(known, start=1) if place != found), None)
    origin, notes = f"drawn by Hedge ({draw.text})", tuple[str, ...]()
    if missing and declared:
        origin = f"{origin}; some are missing, which was declared to be by chance"
    elif missing:
        notes = (
            f"The drawn answer {missing} has no label, but later ones have. If somebody skipped it, for example "
            "because it is difficult, the labels are not a random sample, so there is no interval. Label it, or give "
            "--random if it is missing by chance.",
        )
    return LabelSample(np.concatenate([order[chosen], np.delete(order, chosen)]), values, not notes, origin, notes)
