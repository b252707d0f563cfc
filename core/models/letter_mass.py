"""The letter mass: the share of the next token's probability that falls on the letters of a question's options.

Option probabilities are shares of this mass, so they look the same whether the letters have all of it or a
ten-thousandth. A model that begins with its reasoning, or with a sentence, leaves the letters almost nothing, and how
they share that is no answer to the question.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import SelfCheckError, plain
from core.records import IntArray, OptionLogits

LITTLE = 0.5
"""With a smaller mass, a model hardly answers by letter: its figures have a caveat."""
LEAST = 0.01
"""With a smaller mass, the letters are no answer: more than 99 of 100 answers that the model writes would begin with
another token. In each recorded run of the small models the mean is above 0.99, and 1 of 52,482 questions has less than
this."""
FEW = 0.01
"""A smaller share of questions without an answer is not mentioned: every model has such a question now and then."""
RARE = 0.2
"""A token that is the most probable one for a smaller share of the questions is not named."""
LONGEST_TOKEN = 24
NAME = "letter_mass"
"""The key of ``run.json``."""
REASONS = re.compile(r"think|thought|reason|analysis|channel", re.IGNORECASE)
"""In the tokens with which models begin their reasoning, such as ``<think>``, ``[THINK]`` and ``<|channel|>``."""


@dataclass(frozen=True, slots=True)
class LetterMass:
    """The letter mass of some questions.

    ``mean`` and ``median`` are over the ``questions`` whose mass is known; ``is_bound`` says that they are upper
    bounds, because some letters are only known within bounds. ``without_answer`` counts those with less
    than :data:`LEAST`. ``first`` is the token that is most often the most probable one, in a share ``first_share`` of
    the questions without an answer, or of all if each has one; empty if not known.
    """

    questions: int
    mean: float
    median: float
    without_answer: int
    is_bound: bool
    first: str
    first_share: float

    @property
    def is_small(self) -> bool:
        """Whether a reader of the figures must know it."""
        return self.mean < LITTLE or self.without_answer > FEW * self.questions

    @property
    def is_no_answer(self) -> bool:
        """Whether more than half of the questions have no answer."""
        return 2 * self.without_answer > self.questions

    @property
    def reasons_first(self) -> bool:
        """Whether none of the questions has an answer, because the model begins with its reasoning."""
        return self.without_answer == self.questions and bool(REASONS.search(self.first)) and self.first_share > 0.5

    @property
    def instead(self) -> str:
        """What the model would write instead, as the end of a sentence; empty if the source does not say it, or if
        that differs from question to question."""
        if not self.first or self.first_share < RARE:
            return ""
        token = spelled(self.first)
        if self.questions == 1:
            return f"; the most probable token is {token}"
        if self.without_answer == 1:
            return f"; the most probable token there is {token}"
        which = "these" if 0 < self.without_answer < self.questions else "the questions"
        return f"; the most probable token is {token} for {self.first_share:.0%} of {which}"

    def known(self, share: float) -> str:
        """The mean or the median in per cent, with "at most" if it is a bound."""
        text = share_text(share)
        return f"at most {text}" if self.is_bound and not text.startswith("less") else text

    @property
    def without(self) -> str:
        """How little probability the letters have, and for how many questions, as a clause that begins with them."""
        what, median = "of the next token's probability", self.known(self.median)
        if self.questions == 1:
            return f"the letters of the options have {median} {what}{self.instead}"
        half = f" (median: {median})" if self.is_no_answer else ""
        return (
            f"the letters of the options have less than {LEAST:.0%} {what} for {self.without_answer:,} of "
            f"{self.questions:,} questions{half}{self.instead}"
        )

    @classmethod
    def of_one(cls, mass: float, *, is_bound: bool, first: str) -> LetterMass | None:
        """The letter mass of one question; None if it is not known (NaN)."""
        if math.isnan(mass):
            return None
        return cls(1, mass, mass, int(has_no_answer(np.array([mass]))[0]), is_bound, first, float(bool(first)))

    def to_json(self) -> dict[str, Any]:
        """The fields by their names, for ``run.json``."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: object) -> LetterMass | None:
        """What :meth:`to_json` gave; None for anything else, which a file of another person may hold."""
        kinds = {"questions": int, "mean": float, "median": float, "without_answer": int, "is_bound": bool}
        kinds |= {"first": str, "first_share": float}
        if not isinstance(values, Mapping) or set(values) != set(kinds):
            return None
        if not all(type(values[name]) is kind for name, kind in kinds.items()):
            return None
        shares = all(0 <= values[name] <= 1 for name in ("mean", "median", "first_share"))
        return cls(**values) if shares and 0 <= values["without_answer"] <= values["questions"] > 0 else None


def largest_mass(scored: OptionLogits) -> npt.NDArray[np.float32]:
    """The letter mass of each question (n,), or its upper bound; NaN where it is not known."""
    if scored.bounded is None:
        return scored.letter_mass
    most = np.where(scored.bounded, np.exp(scored.logits.astype(np.float64)), 0.0).sum(axis=1)
    return np.asarray(np.minimum(scored.letter_mass + most, 1.0), dtype=np.float32)


def has_no_answer(mass: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether a mass is so small that the letters are no answer; never where it is not known."""
    return np.asarray(mass.astype(np.float32) < np.float32(LEAST))


def letter_mass(scored: OptionLogits, rows: IntArray | None = None) -> LetterMass | None:
    """The letter mass of these rows, or of all; None if no source says it, or if texts were scored."""
    chosen = np.arange(len(scored.ids)) if rows is None else rows
    mass = largest_mass(scored)
    chosen = chosen[~np.isnan(mass[chosen])]
    if not len(chosen):
        return None
    mass = mass[chosen]
    bounded = scored.bounded is not None and bool(scored.bounded[chosen].any())
    without = chosen[has_no_answer(mass)]
    named = without if len(without) else chosen
    tops = scored.top_tokens and [scored.top_tokens[row] for row in named]
    first, times = Counter(tops).most_common(1)[0] if tops else ("", 0)
    return LetterMass(
        len(chosen), float(mass.mean()), float(np.median(mass)), len(without), bounded, first, times / len(named)
    )


def unanswered(scored: OptionLogits) -> dict[str, str]:
    """Why each of the questions without an answer has none, as a clause, by its id."""
    rows = np.flatnonzero(has_no_answer(largest_mass(scored)))
    masses = {scored.ids[row]: letter_mass(scored, rows[[i]]) for i, row in enumerate(rows)}
    return {name: mass.without for name, mass in masses.items() if mass}


def noted(scored: OptionLogits, rows: IntArray) -> dict[str, Any]:
    """The letter mass of these rows for ``run.json``, by its name there; empty where it is not small."""
    mass = letter_mass(scored, rows)
    return {NAME: mass.to_json()} if mass and mass.is_small else {}


def share_text(share: float) -> str:
    """A share in per cent, with digits where it is small.

    >>> share_text(0.2), share_text(0.034), share_text(0.0001234), share_text(1e-9)
    ('20%', '3.4%', '0.012%', 'less than 0.001%')
    """
    if share >= 0.1:
        return f"{share:.0%}"
    if share >= LEAST:
        return f"{share:.1%}"
    return f"{float(f'{100 * share:.2g}')}%" if share >= 1e-5 else "less than 0.001%"


def spelled(token: str) -> str:
    """A token in quotation marks as a sentence can hold it: on one line, and no longer than a word or two.

    >>> spelled("<think>"), spelled("\\n\\n"), spelled("x" * 99)
    ('“<think>”', '“\\\\n\\\\n”', '“xxxxxxxxxxxxxxxxxxxxxxxx…”')
    """
    text = plain(token, one_line=True)
    return f"“{text if len(text) <= LONGEST_TOKEN else text[:LONGEST_TOKEN] + '…'}”"


def check_first(mass: LetterMass | None, *, chat: bool, decides: bool = False) -> None:
    """Raise :class:`SelfCheckError` if none of the first questions of a run has an answer."""
    if mass is not None and mass.without_answer == mass.questions:
        raise SelfCheckError(
            f"{mass.without}, so they are no answers; {way_out(mass.first, chat=chat, decides=decides)}"
        )


def way_out(first: str, *, chat: bool, decides: bool = False) -> str:
    """What to do about letters with little mass, as a clause, if the model begins with the token ``first`` (empty: not
    known), asked in its chat format or not, or for decisions if it ``decides``."""
    if decides:
        return "ask another model, or this one in the plain format if its server gives log-probabilities"
    if REASONS.search(first):
        return (
            "the model begins with its reasoning, so switch that off in its chat template or on its server, or ask "
            f"{'in the plain format or ' if chat else ''}by text"
        )
    return "ask by text, or in the plain format" if chat else "ask by text, or in the model's chat format"
