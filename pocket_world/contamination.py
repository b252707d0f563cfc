"""The contamination guard, which keeps the question bank out of training text.

A bank question without a context counts as shown when its question text occurs in a document word by word, or when a
document shares a run of 13 words with its question and options A to D (all of them where they are fewer). Of a
question about a context, the runs are those of the context and of each option, for its question may be asked of
other contexts as well: a run of 13 words of the context (all of it where it is shorter) or of an option that long.
Words are lower-cased runs of letters and digits; option letters are not words here, and neither are options E and F,
which every question has. GPT-3 (Brown et al. 2020, appendix C) set the custom of 13.

Of the bundled conversations, on which perplexity is measured, no run of eight words of a message may be shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.models.perplexity.conversations import Conversation
from core.records import Question

RUN = 13

ECHO = 8
"""A run of so many words of a message is no accident."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_LETTER = re.compile(r"^[A-Z]\. ", re.MULTILINE)
_FIXED = re.compile(r"^[A-Z]\. (?:I don't know|None of the above)$", re.MULTILINE)
_PREFIX = 3

Words = tuple[str, ...]


def words(text: str) -> Words:
    """The words of a text, option letters and the fixed options E and F left out.

    >>> words("Question: Is it so?\\nA. Yes\\nE. I don't know")
    ('question', 'is', 'it', 'so', 'yes')
    """
    return tuple(_WORD.findall(_LETTER.sub("", _FIXED.sub("", text)).lower()))


def forbidden(question: Question) -> set[Words]:
    """The runs of words of a bank question that no training text may hold."""
    options = [_plain_words(option) for option in question.options[:4]]
    if not question.context:
        asked = _plain_words(question.question)
        return {asked, *_windows(asked + tuple(word for option in options for word in option))}
    long = [option for option in options if len(option) >= RUN]
    return {run for sequence in (words(question.context), *long) for run in _windows(sequence)}


def _plain_words(text: str) -> Words:
    """The words of a text that does not begin with an option letter, though it may with an initial: J. J. Thomson."""
    return words(f"A. {text}")


def echoes(conversations: Iterable[Conversation]) -> frozenset[Words]:
    """The runs of :data:`ECHO` words of every message."""
    return frozenset(
        run
        for conversation in conversations
        for message in conversation.messages
        for run in _windows(words(message.text), ECHO)
        if len(run) == ECHO
    )


def _windows(sequence: Words, length: int = RUN) -> list[Words]:
    return [sequence[start : start + length] for start in range(max(1, len(sequence) - length + 1))]


@dataclass(frozen=True, slots=True)
class Guard:
    """Finds bank questions in text: whole runs of 13 words, and shorter ones by their first three words; and runs of
    eight words of conversations."""

    runs: frozenset[Words]
    short: dict[Words, tuple[Words, ...]]
    echoes: frozenset[Words] = frozenset()

    @classmethod
    def of(cls, questions: Iterable[Question], conversations: Iterable[Conversation] = ()) -> Guard:
        """A guard for these questions, each of three words or more, and these conversations."""
        found = {run for question in questions for run in forbidden(question)}
        short: dict[Words, list[Words]] = {}
        for run in sorted(run for run in found if len(run) < RUN):
            short.setdefault(run[:_PREFIX], []).append(run)
        return cls(
            frozenset(run for run in found if len(run) == RUN),
            {start: tuple(runs) for start, runs in short.items()},
            echoes(conversations),
        )

    def find(self, text: str) -> Words | None:
        """The first forbidden run in a text, or None."""
        return self.find_words(words(text))

    def find_words(self, sequence: Sequence[str]) -> Words | None:
        """The first forbidden run in a sequence of words, or None."""
        sequence = tuple(sequence)
        for start in range(len(sequence) - _PREFIX + 1):
            if (run := sequence[start : start + RUN]) in self.runs:
                return run
            if (run := sequence[start : start + ECHO]) in self.echoes:
                return run
            for run in self.short.get(sequence[start : start + _PREFIX], ()):
                if sequence[start : start + len(run)] == run:
                    return run
        return None
