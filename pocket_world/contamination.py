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
from pocket_world.documents import END, Document

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
        question_words = _plain_words(question.question)
        return {question_words, *_windows(question_words + tuple(word for option in options for word in option))}
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
        all_runs = {run for question in questions for run in forbidden(question)}
        short: dict[Words, list[Words]] = {}
        for run in sorted(run for run in all_runs if len(run) < RUN):
            short.setdefault(run[:_PREFIX], []).append(run)
        return cls(
            frozenset(run for run in all_runs if len(run) == RUN),
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


@dataclass(frozen=True, slots=True)
class Audit:
    """Counts over a training text: documents and words read; bank questions, runs of bank words and runs of words of
    conversations found."""

    documents: int
    words: int
    questions_found: int
    runs_found: int
    echoes_found: int = 0

    @property
    def clean(self) -> bool:
        """Whether nothing of the bank or of a conversation was found."""
        return not self.questions_found and not self.runs_found and not self.echoes_found


def audit(documents: Iterable[Document], bank: Sequence[Question], conversations: Sequence[Conversation] = ()) -> Audit:
    """Look for bank questions in documents.

    ``questions_found`` counts lines ``Question: ...`` that are a bank question's, for those without a context;
    ``runs_found`` counts positions at which 13 words begin, or a whole shorter one, of a bank question with its
    options A to D, or, where it has a context, of the context or of one option; ``echoes_found`` positions at which 8
    words of one message of a conversation begin.
    """
    texts = {question.question for question in bank if not question.context}
    runs = _runs(bank)
    messages = [words(message.text) for conversation in conversations for message in conversation.messages]
    echoes = {tuple(message[start : start + ECHO]) for message in messages for start in range(len(message) - ECHO + 1)}
    read = total = questions_found = overlaps = echoed = 0
    for document in documents:
        text = document.text.removesuffix(END)
        lines = text.splitlines()
        questions_found += sum(
            line.removeprefix("Question: ") in texts for line in lines if line.startswith("Question: ")
        )
        sequence = words(text)
        for length, known in runs.items():
            overlaps += sum(sequence[start : start + length] in known for start in range(len(sequence) - length + 1))
        echoed += sum(sequence[start : start + ECHO] in echoes for start in range(len(sequence) - ECHO + 1))
        read, total = read + 1, total + len(sequence)
    return Audit(read, total, questions_found, overlaps, echoed)


def _runs(bank: Sequence[Question]) -> dict[int, set[Words]]:
    """The bank's runs of words by their length, 13 or that of a whole shorter text."""
    runs: dict[int, set[Words]] = {}
    for question in bank:
        options = question.options[:4]
        if question.context:
            texts = [question.context, *(option for option in options if len(words(option)) >= RUN)]
        else:
            texts = [" ".join((question.question, *options))]
        for sequence in map(words, texts):
            length = min(RUN, len(sequence))
            for start in range(len(sequence) - length + 1):
                runs.setdefault(length, set()).add(sequence[start : start + length])
    return runs
