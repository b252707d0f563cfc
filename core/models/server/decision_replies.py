"""What servers reply to requests for decisions, read and checked (:mod:`core.questions.prompting.decision`).

Probabilities are kept as they came. An answer that can't be one of the question's options, each with its probability,
is a :class:`Fault` with a sentence; only a reply that holds no answers at all raises
:class:`~core.models.server.client.MissingAnswerError`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from core.conformal.probabilities import ROW_SUM_TOLERANCE, sum_within
from core.models.server.left_out import REFUSED, UNANSWERED
from core.models.server.reply_body import clean, mapping, number
from core.questions.prompting.decision import name_of
from core.records import OPTION_NAMES

MOST_DECIMALS = 17
UNROUNDED = 12
"""Probabilities with this many decimals were not rounded, or were divided after that."""
LEAST_SUM, MOST_SUM = 0.95, 1.05
"""The sum of rounded probabilities."""
MOST_PARTS = 10_500
"""The parts of probabilities with 4 decimals, at most. By chance, hardly any are whole numbers of so few parts."""
SCORE_ROUNDED = 0.05
"""A score or a probability of yes may be this far from what the probabilities say, because it has one decimal."""
SHOWN = 60


@dataclass(frozen=True, slots=True)
class Decided:
    """The probability (k) of each option, as the server gave it; the most ``decimals`` that it wrote one with, the
    share of the next token's probability that falls on all labels (NaN: not told), and whether the answer contradicts
    itself (:func:`is_contradiction`)."""

    probabilities: tuple[float, ...]
    decimals: int
    label_mass: float
    contradiction: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a question has no answer: the ``kind`` (:mod:`core.models.server.left_out`), and a clause about it."""

    kind: str
    reason: str


def decided(reply: Mapping[str, Any], options: Sequence[int], *, types: Sequence[str] = ()) -> list[Decided | Fault]:
    """The answers to a request's questions, which have these numbers of ``options`` and these ``types`` (all are a
    ``choice`` if it is empty), in their order.

    A reply of the format ``systemone`` has its answers by the questions' names, one of ``decisions`` in their order, or
    with their names in any order. Raises :class:`~core.models.server.client.MissingAnswerError` if there are no
    answers, or if it is not clear whose they are.
    """
    from core.models.server.client import MissingAnswerError  # importers check answers without a client

    answers = reply.get("answers")
    names = [name_of(i) for i in range(len(options))]
    if isinstance(answers, list) and answers:
        given = [str(mapping(answer).get("name") or "") for answer in answers]
        if len({*given} & {*names}) == len(answers):
            answers = dict(zip(given, answers, strict=True))
        elif len(answers) == len(names) and all(name in ("", own) for name, own in zip(given, names, strict=True)):
            answers = dict(zip(names, answers, strict=True))
        elif len(answers) == len(names):
            raise MissingAnswerError("the server's answers have other names than the questions")
    if not isinstance(answers, Mapping):
        has = f"{len(answers)} answers" if isinstance(answers, list) else "no answers"
        raise MissingAnswerError(f"the server's reply to {len(options)} questions has {has}")
    diagnostics = mapping(reply.get("diagnostics"))
    rows = [(answers.get(name), mapping(diagnostics.get(name)).get("label_mass")) for name in names]
    kinds = types or ["choice"] * len(options)
    return [_answer(answer, k, mass, kind) for (answer, mass), k, kind in zip(rows, options, kinds, strict=True)]


def _answer(answer: object, k: int, label_mass: object, kind: str) -> Decided | Fault:
    if answer is None:
        return Fault(UNANSWERED, "the reply has no answer to it")
    values = mapping(answer)
    if values.get("type") == "refusal" or values.get("refusal"):
        words = values.get("refusal")
        says = f', "{clean(words, SHOWN)}"' if isinstance(words, str) and words else ""
        return Fault(REFUSED, f"the model declined to answer{says}")
    mass = number(values.get("label_mass", values.get("x_label_mass", label_mass)))  # x_: SGLang
    mass = mass if 0 <= mass <= 1 else math.nan
    options = OPTION_NAMES[:k]
    if kind == "score":
        return _checked(level_probabilities(values, k, label_mass=mass), values, options, kind)
    given = values.get("probabilities")
    yes = values.get("noul")  # vLLM gives the probabilities of yes and no beside it
    if yes is None and given is None:
        yes = values.get("probability")
    if kind != "choice" and values.get("type") != "choice" and yes is not None:
        return _checked(_yes_or_no(yes, mass), values, options, "noul")
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif isinstance(given, list):
        pairs = [(mapping(entry).get("value"), mapping(entry).get("probability")) for entry in given]
    else:
        return Fault(UNANSWERED, "the answer has no probabilities")
    return _checked(option_probabilities(pairs, options, label_mass=mass), values, options, "choice")


def _checked(read: Decided | Fault, answer: Mapping[str, Any], options: Sequence[str], kind: str) -> Decided | Fault:
    if isinstance(read, Fault):
        return read
    return replace(read, contradiction=is_contradiction(answer, options, read, kind=kind))


def is_contradiction(answer: Mapping[str, Any], options: Sequence[str], read: Decided, *, kind: str) -> bool:
    """Whether an ``answer`` of this kind, ``read`` with these options, names a choice that is not its most probable
    option, a score that is not the mean of its levels, or a probability of yes that is not the one in its
    probabilities, by more than :data:`SCORE_ROUNDED`."""
    given, shares = answer.get("probabilities"), read.probabilities
    if kind == "score":  # each probability may be rounded
        mean, k = math.fsum(level * p for level, p in enumerate(shares)), len(shares)
        rounded = SCORE_ROUNDED + half_of_last(read.decimals) * k * (k - 1) / 2
        return abs(number(answer.get("score")) - mean) > rounded
    if kind == "noul":
        beside = [number(p) for name, p in mapping(given).items() if str(name).strip().lower() in ("yes", "true")]
        return any(abs(p - shares[0]) > SCORE_ROUNDED for p in beside)
    chosen = answer.get("choice")
    if not isinstance(chosen, str) or chosen.strip() not in options:
        return False
    return shares[options.index(chosen.strip())] < max(shares)


def probability_of(given: object) -> float:
    """A probability, 1 if a sum in floats is a little more; NaN for anything else.

    >>> probability_of(1.0000000000000002), probability_of(1.01)
    (1.0, nan)
    """
    p = number(given)
    return min(p, 1.0) if 0 <= p <= 1 + ROW_SUM_TOLERANCE else math.nan


def _yes_or_no(yes: object, label_mass: float) -> Decided | Fault:
    """The answer to a question whose two options are yes and no."""
    probability = probability_of(yes)
    if math.isnan(probability):
        return Fault(UNANSWERED, f"the probability of yes is {clean(str(yes), SHOWN)}")
    decimals = decimals_of(probability)
    return Decided((probability, round(1 - probability, MOST_DECIMALS)), decimals, label_mass)


def option_probabilities(
    pairs: Sequence[tuple[object, object]], options: Sequence[str], *, label_mass: float = math.nan
) -> Decided | Fault:
    """The options' probabilities from pairs of an option and its probability, in any order.

    They must be numbers from 0 to 1 that sum to 1 (:func:`~core.conformal.probabilities.sum_within`), one for each
    option. An option is its text: a boolean is another one than the text that spells it.

    >>> option_probabilities([("B", 0.25), ("A", 0.75)], "AB").probabilities
    (0.75, 0.25)
    >>> option_probabilities([("A", 0.5), ("B", 0.2)], "AB").reason
    'the probabilities sum to 0.7'
    """
    by_option: dict[str, float] = {}
    known = frozenset(options)
    for option, given in pairs:
        shown = clean(str(option), SHOWN)
        if not isinstance(option, str):
            return Fault(UNANSWERED, f"the answer names {shown}, which is no text, as an option")
        if option.strip() not in known:
            return Fault(UNANSWERED, f"the answer names the option {shown!r}, which was not asked for")
        if option.strip() in by_option:
            return Fault(UNANSWERED, f"the answer names the option {option.strip()!r} twice")
        probability = probability_of(given)
        if math.isnan(probability):
            says = clean(repr(given), SHOWN)  # a number written as a text is none
            return Fault(UNANSWERED, f"the probability of {option.strip()!r} is {says}")
        by_option[option.strip()] = probability
    if lacking := [option for option in options if option not in by_option]:
        return Fault(UNANSWERED, f"the answer lacks the option {lacking[0]!r}" + ", and others" * (len(lacking) > 1))
    probabilities = tuple(by_option[option] for option in options)
    decimals = decimals_together(probabilities)
    total = math.fsum(probabilities)
    if abs(total - 1) > sum_within(np.array([probabilities])):
        return Fault(UNANSWERED, f"the probabilities sum to {total:.4g}")
    return Decided(probabilities, decimals, label_mass)


def log_bound(answer: Decided, *, decimals: int = 0) -> tuple[float, ...]:
    """The log-probability (k) of each option, and of a rounded 0 the upper bound: half a unit of the last decimal with
    which the server writes, here or elsewhere (``decimals``)."""
    bound = half_of_last(max(answer.decimals, decimals))
    return tuple(math.log(p or math.nextafter(bound, math.inf)) for p in answer.probabilities)


def decimals_of(value: float) -> int:
    """The decimals with which a number is written.

    >>> decimals_of(0.25), decimals_of(1.0), decimals_of(3e-5)
    (2, 0, 5)
    """
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return min(MOST_DECIMALS, max(0, -exponent)) if isinstance(exponent, int) else MOST_DECIMALS


def decimals_together(probabilities: Sequence[float]) -> int:
    """The decimals to which the probabilities of an answer were rounded, at most.

    If they were divided by their sum after that, they have all decimals of a float. They are whole numbers of parts
    then, and only the number of parts tells how small a 0 may have been: with 2 decimals, there are about 100.

    >>> decimals_together([0.0, 0.25, 0.75]), decimals_together([0.0, 0.01 / 0.98, 0.97 / 0.98])
    (2, 2)
    """
    decimals = max(map(decimals_of, probabilities))
    if decimals < UNROUNDED:
        return decimals
    parts = 1
    for p in probabilities:
        parts = math.lcm(parts, _denominator(p))
        if not 0 < parts <= MOST_PARTS:
            return decimals
    return next(d for d in range(1, UNROUNDED) if MOST_SUM * 10**d // parts * parts >= LEAST_SUM * 10**d)


def _denominator(p: float) -> int:
    """The smallest m up to :data:`MOST_PARTS` such that m times a probability is a whole number; 0 if there is none. It
    is the denominator of a convergent of the continued fraction."""
    if 0 < p < 1 / MOST_PARTS:
        return 0
    rest, before, parts = p, 0, 1
    while abs(p * parts - round(p * parts)) > parts * 10.0**-UNROUNDED:
        rest = 1 / (rest - math.floor(rest))
        before, parts = parts, parts * math.floor(rest) + before
        if parts > MOST_PARTS:
            return 0
    return parts


def half_of_last(decimals: int) -> float:
    """Half a unit of the last decimal: what rounding may have changed, and the bound of a 0 that was rounded."""
    return 0.5 * 10.0**-decimals


ROUNDED = 1e-6
"""How far a score may be beyond the first or the last level, because it is a sum of rounded numbers."""


def level_probabilities(answer: Mapping[str, Any], k: int, *, label_mass: float = math.nan) -> Decided | Fault:
    """The probabilities of k levels, in their order, from the answer to a ``score``, whose levels count from 0.

    They are checked as those of options are, and the ``score``, if there is one, must lie from 0 to k − 1.

    >>> level_probabilities({"score": 0.25, "probabilities": {"0": 0.75, "1": 0.25}}, 2).probabilities
    (0.75, 0.25)
    >>> level_probabilities({"score": 7, "probabilities": {"0": 0.75, "1": 0.25}}, 2).reason
    'the score is 7, and the levels count from 0 to 1'
    """
    given, score = answer.get("probabilities"), answer.get("score")
    if answer.get("type") not in (None, "score"):
        return Fault(UNANSWERED, f"the answer is a {clean(str(answer['type']), SHOWN)!r}, and a score was asked for")
    if score is not None and not -ROUNDED <= number(score) <= k - 1 + ROUNDED:  # also NaN
        return Fault(UNANSWERED, f"the score is {clean(str(score), SHOWN)}, and the levels count from 0 to {k - 1}")
    if isinstance(given, Mapping):
        return option_probabilities(list(given.items()), [str(level) for level in range(k)], label_mass=label_mass)
    if not isinstance(given, list):
        return Fault(UNANSWERED, "the answer has no probabilities")
    pairs: list[tuple[object, object]] = []
    for entry in map(mapping, given):
        level, label = entry.get("value"), entry.get("label")
        if type(level) is not int or not 0 <= level < k:
            shown = clean(repr(level), SHOWN)  # a number written as a text is none
            return Fault(UNANSWERED, f"the answer names the level {shown}, and the levels count from 0 to {k - 1}")
        if label is not None and str(label).strip() != OPTION_NAMES[level]:
            called = clean(str(label), SHOWN)
            return Fault(UNANSWERED, f"the answer calls level {level} {called!r}, and it was {OPTION_NAMES[level]!r}")
        pairs.append((str(level), entry.get("probability")))
    return option_probabilities(pairs, [str(level) for level in range(k)], label_mass=label_mass)
