"""The frozen records that travel between stages: ``Question → Prompt → OptionLogits → PredictionSets``.

A record checks its shapes and ranges when it is made, so that no later stage has to.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from core.errors import InputError

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""The letters by which a model is asked; a question that is asked so has from 2 to 26 options."""
MOST_OPTIONS = 100
"""The most options of a question in a run; a classifier's classes are options."""
MOST_ASKED = (
    f"a model is asked by letter, and there are {len(LETTERS)}; leave options out, ask a server that answers decisions "
    "(--format), or import a classifier's probabilities as a table"
)
"""What to do about a question with too many options to ask it."""
OPTION_NAMES = tuple(f"{first}{letter}" for first in ("", *LETTERS) for letter in LETTERS)[:MOST_OPTIONS]
"""The names of options as spreadsheets name columns: A to Z, AA to AZ, up to CV."""


DONT_KNOW = "I don't know"
NONE_OF_ABOVE = "None of the above"
NOT_PUBLISHED = "(text not published)"
"""An option's text where a source published results without texts."""

Role = Literal["calibration", "test", "demonstration", "rotation"]
"""What a question is for; a ``rotation`` is a scored question asked again with its options in another order."""

Number = TypeVar("Number", bound=np.generic)
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
LogitArray = npt.NDArray[np.float32] | npt.NDArray[np.float64]


def added_options(options: Sequence[str]) -> int:
    """How many closing options Hedge or Ye et al. added, which are never the truth: 2 where a question ends with both
    "I don't know" and "None of the above", else 0. Many questions of MMLU have one of these as a real answer.

    >>> added_options(["2", "3", DONT_KNOW, NONE_OF_ABOVE]), added_options(["2", "3", NONE_OF_ABOVE])
    (2, 0)
    """
    return 2 if tuple(options[-2:]) == (DONT_KNOW, NONE_OF_ABOVE) else 0


@dataclass(frozen=True, slots=True)
class Question:
    """One multiple-choice question.

    ``group`` is its subject within the task, ``context`` a passage or dialogue it is about (may be empty),
    ``label`` the 0-based index of the true option. Questions of the same ``cluster`` belong together and count as one
    (:mod:`core.conformal.clusters`); an empty one says nothing. The options of an ``ordered`` question are levels, from
    one end of a scale to the other.

    >>> Question(id="1", task="qa", group="capitals", context="", question="What is 1 + 1?",
    ...          options=("2", "3"), label=0).letter
    'A'
    """

    id: str
    task: str
    group: str
    context: str
    question: str
    options: tuple[str, ...]
    label: int
    cluster: str = ""
    ordered: bool = False

    def __post_init__(self) -> None:
        k = len(self.options)
        if not 2 <= k <= MOST_OPTIONS:
            raise InputError(f"question {self.id!r} has {k} options; a question needs from 2 to {MOST_OPTIONS}")
        if not 0 <= self.label < k:
            raise InputError(
                f"question {self.id!r} has label {self.label}, outside its {k} options; labels count from 0 to {k - 1}"
            )
        if self.ordered and (no_levels := {DONT_KNOW, NONE_OF_ABOVE} & set(self.options)):
            raise InputError(
                f"question {self.id!r} has ordered options, and “{min(no_levels)}” is no level of them; leave it out"
            )

    @property
    def letter(self) -> str:
        """The letter of the true option, or the two letters of one beyond Z."""
        return OPTION_NAMES[self.label]


@dataclass(frozen=True, slots=True)
class Prompt:
    """The exact text that a model reads for one question, and what may follow it.

    ``continuations`` are the k texts whose likelihood after ``text`` is asked for, each with its space in front;
    without any, it is the answer's letter. ``demonstrations`` are the spans of characters, oldest first, that may be
    dropped from a text too long for a model, ``context`` the span whose beginning may be cut after that. ``chat``
    asks for the model's chat template around the text, with ``system`` as what the system says, if anything. An empty
    text asks how likely the continuations are at the beginning of a text. A request for a decision about ``ordered``
    options asks for a score.
    """

    question_id: str
    text: str
    k: int
    continuations: tuple[str, ...] = ()
    demonstrations: tuple[tuple[int, int], ...] = ()
    context: tuple[int, int] = (0, 0)
    chat: bool = False
    system: str = ""
    ordered: bool = False

    def __post_init__(self) -> None:
        if self.continuations and len(self.continuations) != self.k:
            raise InputError(
                f"prompt {self.question_id!r} has {len(self.continuations)} continuations for {self.k} options"
            )


@dataclass(frozen=True, slots=True)
class OptionLogits:
    """What a model said about n questions of k options.

    ``logits`` (n, k) are float32 where a model computed them, and float64 where a source gave them; a softmax over a
    row gives the option probabilities. ``probabilities`` (n, k) float64 are those that a source gave, as it gave them;
    if there are any, they count, and the logits are only their logarithms in float32. ``letter_mass`` (n,) is the share
    of the whole next-token probability that fell on the k option letters, from 0 to 1 (NaN if the source does not say).
    Where options were scored as text (cloze), ``logits`` are the unnormalised sums of their tokens' log-probabilities
    and ``option_tokens`` (n, k) says how many tokens each had; else it is None. Questions of fewer than k options have
    -inf, and no tokens, at the places behind. ``top_tokens`` (n) are the most probable next tokens as text, where
    letters were asked for and the source says them. ``bounded`` (n, k) marks the letters for which the source said only
    that they are less probable than what it listed: their logits are upper bounds. None if all are exact. Where the
    probabilities are frequencies of picks, ``samples`` (n,) says how many picks each question has, and each probability
    is a count of picks divided by it.
    """

    ids: tuple[str, ...]
    logits: LogitArray
    letter_mass: npt.NDArray[np.float32]
    option_tokens: npt.NDArray[np.int32] | None = None
    top_tokens: tuple[str, ...] | None = None
    bounded: BoolArray | None = None
    probabilities: FloatArray | None = None
    samples: IntArray | None = None

    def __post_init__(self) -> None:
        n = len(self.ids)
        if self.logits.ndim != 2 or self.logits.shape[0] != n or self.letter_mass.shape != (n,):
            raise InputError(
                f"logits of shape {self.logits.shape} and letter mass of shape {self.letter_mass.shape} "
                f"do not belong to {n} questions; expected ({n}, k) and ({n},)"
            )
        if self.option_tokens is not None and self.option_tokens.shape != self.logits.shape:
            raise InputError(
                f"option tokens of shape {self.option_tokens.shape} do not fit logits of shape {self.logits.shape}"
            )
        if self.bounded is not None and self.bounded.shape != self.logits.shape:
            raise InputError(f"bounds of shape {self.bounded.shape} do not fit logits of shape {self.logits.shape}")
        if self.probabilities is not None:
            _check_given(self.ids, self.probabilities, self.logits.shape)
        if self.samples is not None:
            _check_frequencies(self.ids, self.probabilities, self.samples)
        if self.top_tokens is not None and len(self.top_tokens) != n:
            raise InputError(f"{len(self.top_tokens)} top tokens do not belong to {n} questions")
        if np.isnan(self.logits).any() or np.isposinf(self.logits).any():
            row = int(np.argmax((np.isnan(self.logits) | np.isposinf(self.logits)).any(axis=1)))
            raise InputError(
                f"question {self.ids[row]!r} has logits {self.logits[row].tolist()}; every logit must be a number"
            )


def _check_given(ids: Sequence[str], probabilities: FloatArray, shape: tuple[int, ...]) -> None:
    if probabilities.shape != shape:
        raise InputError(f"probabilities of shape {probabilities.shape} do not fit logits of shape {shape}")
    bad = ~(np.isfinite(probabilities) & (probabilities >= 0)).all(axis=1) | ~(probabilities.sum(axis=1) > 0)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"question {ids[row]!r} has probabilities {probabilities[row].tolist()}; they must be 0 or more, and not "
            "all 0"
        )


def _check_frequencies(ids: Sequence[str], probabilities: FloatArray | None, samples: IntArray) -> None:
    if probabilities is None or samples.shape != (len(ids),):
        raise InputError(f"samples of shape {samples.shape} do not belong to the frequencies of {len(ids)} questions")
    counts = np.rint(probabilities * samples[:, None])
    bad = (samples < 1) | (counts / np.maximum(samples, 1)[:, None] != probabilities).any(axis=1)
    bad |= counts.sum(axis=1) != samples
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"question {ids[row]!r} has the frequencies {probabilities[row].tolist()}, which are not those of "
            f"{samples[row]} samples"
        )


def joined(batches: Sequence[OptionLogits], ids: Sequence[str], *, k: int) -> OptionLogits:
    """Batches of one source as one, in the order of ``ids``, each row with places for ``k`` options.

    Option tokens, top tokens, probabilities and samples are kept if every batch has them, bounds if any has.
    """
    place = {name: i for i, name in enumerate(name for batch in batches for name in batch.ids)}
    order = [place[name] for name in ids]
    counts = [_wide(batch.option_tokens, k, 0) for batch in batches if batch.option_tokens is not None]
    tops = [text for batch in batches for text in batch.top_tokens or ()]
    bounds = [np.zeros(batch.logits.shape, np.bool_) if batch.bounded is None else batch.bounded for batch in batches]
    bounded = np.concatenate([_wide(rows, k, False) for rows in bounds])[order]
    given = [_wide(batch.probabilities, k, 0.0) for batch in batches if batch.probabilities is not None]
    samples = [batch.samples for batch in batches if batch.samples is not None]
    return OptionLogits(
        ids=tuple(ids),
        logits=np.concatenate([_wide(batch.logits, k, -np.inf) for batch in batches])[order],
        letter_mass=np.concatenate([batch.letter_mass for batch in batches])[order],
        option_tokens=np.concatenate(counts)[order] if counts else None,
        top_tokens=tuple(tops[i] for i in order) if len(tops) == len(place) else None,
        bounded=bounded if bounded.any() else None,
        probabilities=np.concatenate(given)[order] if len(given) == len(batches) else None,
        samples=np.concatenate(samples)[order] if len(samples) == len(batches) else None,
    )


def _wide(rows: npt.NDArray[Number], k: int, fill: float) -> npt.NDArray[Number]:
    """Rows (n, few) as (n, k), with ``fill`` behind them."""
    return np.pad(rows, ((0, 0), (0, k - rows.shape[1])), constant_values=fill)


@dataclass(frozen=True, slots=True)
class PredictionSets:
    """Which options are in each question's set: ``members`` (n, k), at one threshold."""

    members: BoolArray
    threshold: float
    sizes: IntArray = field(init=False)

    def __post_init__(self) -> None:
        if self.members.ndim != 2:
            raise InputError(f"members have shape {self.members.shape}; expected (n, k)")
        object.__setattr__(self, "sizes", self.members.sum(axis=1, dtype=np.int64))
