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
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.models.perplexity.conversations import Conversation
from core.records import Question
from pocket_world.documents import END, Document

RUN = 13

ECHO = 8
"""A run of this many words of a message is no accident."""

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
        question_words = _plain_words(question.question)
        return {question_words, *_windows(question_words + tuple(word for option in options for word in option))}
    long = [option for option in options if len(option) >= RUN]
    return {run for sequence in (words(question.context), *long) for run in _windows(sequence)}


def _plain_words(text: str) -> Words:
    """The words of a text that does not begin with an option letter, though it may with an initial: J. J. Thomson."""
    return words(f"A. {text}")


def _windows(sequence: Words, length: int = RUN) -> list[Words]:
    return [sequence[start : start + length] for start in range(max(1, len(sequence) - length + 1))]


@dataclass(frozen=True, slots=True)
class Guard:
    """Finds in a text what no training text may hold: ``runs`` of words. ``lengths`` says for the first three words of
    a run how long those are that begin so."""

    runs: set[Words]
    lengths: dict[Words, set[int]]

    @classmethod
    def of(cls, questions: Iterable[Question], conversations: Iterable[Conversation] = ()) -> Guard:
        """A guard for these questions, each of three words or more, and these conversations."""
        messages = [words(message.text) for conversation in conversations for message in conversation.messages]
        runs = {run for message in messages for run in _windows(message, ECHO) if len(run) == ECHO}
        runs |= {run for question in questions for run in forbidden(question)}
        lengths: dict[Words, set[int]] = {}
        for run in runs:
            lengths.setdefault(run[:_PREFIX], set()).add(len(run))
        return cls(runs, lengths)

    def find(self, text: str) -> Words | None:
        """The first forbidden run in a text, or None."""
        sequence = words(text)
        for start in range(len(sequence) - _PREFIX + 1):
            for length in self.lengths.get(sequence[start : start + _PREFIX], ()):
                if (run := sequence[start : start + length]) in self.runs:
                    return run
        return None


OVERLAPS = ("bank questions", "runs of the bank", "runs of conversations")
"""What :func:`audit` counts that should not be there."""


def audit(
    documents: Iterable[Document], bank: Sequence[Question], conversations: Sequence[Conversation] = ()
) -> Counter[str]:
    """Count documents, their words, and what of the bank is in them. It looks in another way than the guard does.

    "bank questions" are lines ``Question: ...`` of a bank question without a context; "runs of the bank" are positions
    at which 13 words begin, or a whole shorter text, of a bank question with its options A to D, or, where it has a
    context, of the context or of one option; "runs of conversations" are those at which 8 words of a message begin.
    """
    lines = {f"Question: {question.question}" for question in bank if not question.context}
    runs_by_length: dict[tuple[str, int], set[Words]] = {}
    for sequence in (words(text) for question in bank for text in _texts(question)):
        length = min(RUN, len(sequence))
        runs_by_length.setdefault((OVERLAPS[1], length), set()).update(_windows(sequence, length))
    for message in (message for conversation in conversations for message in conversation.messages):
        runs_by_length.setdefault((OVERLAPS[2], ECHO), set()).update(_windows(words(message.text), ECHO))
    counts = Counter(dict.fromkeys(("documents", "words", *OVERLAPS), 0))
    for document in documents:
        text = document.text.removesuffix(END)
        sequence = words(text)
        counts.update({"documents": 1, "words": len(sequence)})
        counts[OVERLAPS[0]] += sum(line in lines for line in text.splitlines())
        for (name, length), runs in runs_by_length.items():
            counts[name] += sum(sequence[start : start + length] in runs for start in range(len(sequence) - length + 1))
    return counts


def _texts(question: Question) -> list[str]:
    options = question.options[:4]
    if question.context:
        return [question.context, *(option for option in options if len(words(option)) >= RUN)]
    return [" ".join((question.question, *options))]
