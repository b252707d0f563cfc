"""Perplexities as tables: conversations × prompts, two prompts message by message, choices with sets.

Frames come from the messages of :class:`core.reports.perplexity_results.PerplexityRun`. If several runs of one model
measured the same prompt and conversation in the same way, the latest run counts; such figures are equal up to rounding.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.conformal.coverage import share_interval
from core.conformal.probabilities import softmax, top_options
from core.conformal.scores import score, true_scores
from core.conformal.set_sizes.by_rank import size_curve, thresholds_by_rank
from core.conformal.set_sizes.intervals import intervals
from core.conformal.sets import prediction_sets
from core.conformal.threshold import full_set_message, threshold
from core.errors import InputError
from core.models.perplexity.figures import (
    Paired,
    ScoredMessage,
    bits_per_byte,
    message_mean,
    paired,
    token_weighted,
    uniform_bits_per_byte,
)
from core.records import BoolArray, FloatArray, IntArray
from core.settings import ASSETS

Messages = tuple[ScoredMessage, ...]

SEED = 0
ALL = "all conversations"
POSITIONS = 12
"""Messages are shown by position up to this one; later ones are pooled."""


def rng() -> np.random.Generator:
    """The random generator of intervals and tests, seeded, so that a figure is the same each time it is shown."""
    return np.random.default_rng([SEED, 0x9E7])


def called(names: Mapping[str, str]) -> dict[str, str]:
    """A unique name for each hash. If several have the same name, the beginning of the hash is added.

    >>> called({"12345": "talk", "67890": "talk", "abcde": "other"})
    {'12345': 'talk 1234', '67890': 'talk 6789', 'abcde': 'other'}
    """
    often = Counter(names.values())
    return {digest: f"{name} {digest[:4]}" if often[name] > 1 else name for digest, name in names.items()}


def by_conversation(measured: Mapping[str, Mapping[str, Messages]], *, vocabulary: int | None = None) -> pd.DataFrame:
    """One row per conversation and prompt: ``conversation``, ``prompt``, ``messages``, ``tokens``, ``perplexity``
    (token-weighted), ``message_mean`` and ``bits_per_byte``; those of all conversations together come last.

    ``measured`` maps a prompt's name and then a conversation's name to messages. If the size of the model's
    ``vocabulary`` is known, ``uniform`` and ``uniform_bits_per_byte`` are the figures of a guess that gives all tokens
    the same probability; its perplexity is the size of the vocabulary.
    """
    rows = []
    for prompt, conversations in measured.items():
        whole = tuple(message for messages in conversations.values() for message in messages)
        named = {**conversations, ALL: whole} if len(conversations) > 1 else conversations
        rows += [_row(name, prompt, messages, vocabulary) for name, messages in named.items()]
    table = pd.DataFrame(rows)
    order = {
        name: i
        for i, name in enumerate(dict.fromkeys(name for conversations in measured.values() for name in conversations))
    }
    place = table["conversation"].map(lambda name: order.get(name, len(order)))
    return table.assign(place=place).sort_values("place", kind="stable").drop(columns="place").reset_index(drop=True)


def _row(conversation: str, prompt: str, messages: Messages, vocabulary: int | None) -> dict[str, object]:
    row: dict[str, object] = {
        "conversation": conversation,
        "prompt": prompt,
        "messages": len(messages),
        "tokens": sum(message.tokens for message in messages),
        "perplexity": token_weighted(messages),
        "message_mean": message_mean(messages),
        "bits_per_byte": bits_per_byte(messages),
    }
    if vocabulary is not None:
        row |= {"uniform": float(vocabulary), "uniform_bits_per_byte": uniform_bits_per_byte(messages, vocabulary)}
    return row


def uniform_sentence(vocabulary: int | None, *, served: bool = False) -> str:
    """The perplexity of a uniform guess over all tokens, as a reference level. ``served`` says that the model is on a
    server.

    >>> uniform_sentence(5120)
    'A model that finds each of its 5,120 tokens equally likely has a perplexity of 5,120 (12.3 bits per token).'
    """
    if vocabulary is None and served:
        return (
            "The server does not tell how many tokens the model has, so its perplexity can't be compared with uniform "
            "guessing."
        )
    if vocabulary is None:
        return (
            "The run did not record how many tokens the model has, so its perplexity can't be compared with "
            "uniform guessing. Measure again to get this."
        )
    return (
        f"A model that finds each of its {vocabulary:,} tokens equally likely has a perplexity of "
        f"{vocabulary:,} ({math.log2(vocabulary):.1f} bits per token)."
    )


def worse_than_uniform(messages: Messages, vocabulary: int | None) -> bool:
    """Whether the messages' perplexity is above the size of the vocabulary, if that is known."""
    return vocabulary is not None and token_weighted(messages) > vocabulary


def differences(a: Mapping[str, Messages], b: Mapping[str, Messages]) -> pd.DataFrame:
    """One row per conversation and one for all: ``conversation``, ``n`` messages, ``difference`` (A − B, nats per
    token), ``low``, ``high`` and ``p``; ``a`` and ``b`` map a conversation's name to messages."""
    named = [name for name in a if name in b]
    rows = [_difference(name, paired(a[name], b[name], rng=rng())) for name in named if len(a[name]) > 1]
    return pd.DataFrame([*rows, _difference(ALL, overall(a, b))] if len(named) > 1 else rows)


def overall(a: Mapping[str, Messages], b: Mapping[str, Messages]) -> Paired:
    """Two prompts on the messages of all conversations that both were measured on."""
    named = [name for name in a if name in b]
    return paired(
        [m for name in named for m in a[name]],
        [m for name in named for m in b[name]],
        rng=rng(),
        conversations=[code for code, name in enumerate(named) for _ in a[name]],
    )


def _difference(name: str, difference: Paired) -> dict[str, object]:
    return {
        "conversation": name,
        "n": difference.n,
        "difference": difference.mean,
        "low": difference.low,
        "high": difference.high,
        "p": difference.p_value,
    }


def along_conversation(measured: Mapping[str, Mapping[str, Messages]]) -> pd.DataFrame:
    """Mean loss by the place of the counselor's message in its conversation, over conversations: ``prompt``, ``place``
    (1 is the first that was scored), ``loss`` (nats per token, token-weighted) and ``messages``."""
    rows = []
    for prompt, conversations in measured.items():
        for place in range(POSITIONS):
            here = [messages[place] for messages in conversations.values() if len(messages) > place]
            if here:
                loss = sum(m.total for m in here) / sum(m.tokens for m in here)
                rows.append({"prompt": prompt, "place": place + 1, "loss": loss, "messages": len(here)})
    return pd.DataFrame(rows)


def published() -> pd.DataFrame:
    """The published perplexities: ``model``, ``conversation``, ``prompt`` (A or B) and ``perplexity``."""
    return pd.read_csv(ASSETS / "published" / "counselor-2024.csv")


# ---------------------------------------------------------------- choices

RULES = {"mean": "mean loss", "sum": "summed loss", "bytes": "bits per byte"}
"""The losses by which the best ending can be chosen."""
WEIGH: dict[str, Callable[[ScoredMessage], float]] = {
    "mean": lambda message: message.mean_loss,
    "sum": lambda message: message.total,
    "bytes": lambda message: bits_per_byte([message]),
}


@dataclass(frozen=True, slots=True)
class ChoiceScores:
    """n choices of k endings: ``logits`` (n, k), where higher means more likely, and the real endings ``labels``
    (n,)."""

    logits: FloatArray
    labels: IntArray

    @property
    def right(self) -> int:
        """The number of choices that the model gets right. Of equally likely endings the later one counts."""
        return int((top_options(self.logits) == self.labels).sum())

    @property
    def accuracy(self) -> float:
        """The share of choices that the model gets right."""
        return self.right / len(self.labels)

    @property
    def interval(self) -> tuple[float, float]:
        """Its exact 95% interval."""
        return share_interval(self.right, len(self.labels))


def chosen(messages: Messages, labels: Sequence[int], *, rule: str = "mean") -> ChoiceScores:
    """The losses of the endings' messages by a rule of :data:`RULES`, choice by choice."""
    if rule not in RULES:
        raise InputError(f"unknown rule {rule!r}; choose from {', '.join(RULES)}")
    losses = np.array([WEIGH[rule](message) for message in messages], dtype=np.float64)
    return ChoiceScores(-losses.reshape(len(labels), -1), np.array(labels, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class ChoiceSets:
    """Conformal sets over endings: ``members`` (m, k) of the choices ``test`` (m,). The threshold comes from the other
    choices.

    ``size_interval`` is the 95% interval of the mean size, over draws of both halves."""

    score: str
    test: IntArray
    members: BoolArray
    threshold: float
    covered: int
    size_interval: tuple[float, float]
    note: str

    @property
    def coverage(self) -> float:
        """The share of test choices whose set holds the real ending."""
        return self.covered / len(self.test)

    @property
    def interval(self) -> tuple[float, float]:
        """Its exact 95% interval, for this threshold."""
        return share_interval(self.covered, len(self.test))

    @property
    def mean_size(self) -> float:
        """The mean number of endings in a set."""
        return float(self.members.sum(axis=1).mean())


FEWEST = 4
"""The fewest choices that can be split: two to calibrate and two to test."""


def choice_sets(choices: ChoiceScores, alpha: int, *, name: str = "lac", seed: int = 0) -> ChoiceSets:
    """Sets at ``alpha`` thousandths: a seeded half of the choices calibrates, the other is tested.

    The probabilities are the softmax of the rule's losses over the endings; they need not be calibrated for coverage
    to hold. Raises :class:`InputError` for fewer than 4 choices.
    """
    n = len(choices.labels)
    if n < FEWEST:
        raise InputError(f"sets of endings need at least {FEWEST} choices, half of them to calibrate; there are {n}")
    order = np.random.default_rng(seed).permutation(n)
    calibration, test = np.sort(order[: n // 2]), np.sort(order[n // 2 :])
    scores = score(name, softmax(choices.logits), seed=seed)
    own = true_scores(scores[calibration], choices.labels[calibration])
    level = threshold(own, alpha)
    members = prediction_sets(scores[test], level).members
    covered = int(members[np.arange(len(test)), choices.labels[test]].sum())
    right = (choices.logits[test].argmax(axis=1) == choices.labels[test]).astype(np.float64)
    curve = size_curve(thresholds_by_rank(own, alpha), scores[test], right, options=scores.shape[1])
    size = intervals(curve, alpha).mean_set_size
    return ChoiceSets(name, test, members, level, covered, size.ends, full_set_message(len(calibration), alpha))
