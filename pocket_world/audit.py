"""The contamination check: reads a training's text again and counts what of the bank and of conversations is in it.

It does not use the guard that kept the text clean, but looks for the same things in its own way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.models.perplexity.conversations import Conversation
from core.records import Question
from pocket_world.contamination import ECHO, RUN, Words, words
from pocket_world.documents import END, Document


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
    said = {tuple(message[start : start + ECHO]) for message in messages for start in range(len(message) - ECHO + 1)}
    read = total = found = overlaps = echoed = 0
    for document in documents:
        text = document.text.removesuffix(END)
        lines = text.splitlines()
        found += sum(line.removeprefix("Question: ") in texts for line in lines if line.startswith("Question: "))
        sequence = words(text)
        for length, known in runs.items():
            overlaps += sum(sequence[start : start + length] in known for start in range(len(sequence) - length + 1))
        echoed += sum(sequence[start : start + ECHO] in said for start in range(len(sequence) - ECHO + 1))
        read, total = read + 1, total + len(sequence)
    return Audit(read, total, found, overlaps, echoed)


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
