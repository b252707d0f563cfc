"""A document of training text: pieces of text, each with the weight of its tokens in the loss."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.questions.prompting.cloze import cloze_text
from core.questions.prompting.strategies import BETWEEN, prompt, question_text
from core.records import LETTERS, Question

END = "<|end|>"
"""Closes a document; the tokenizer's only special token besides the padding."""

END_WEIGHT = 0.05

EXPECTED_TASKS = ("qa", "rc")
"""Tasks whose answers are a few words, so that their first token says which one it is."""

RIGHT, WRONG = " yes", " no"
"""What the third middle layer says of an option."""

MIDDLE = 3
"""How many middle layers a recipe may have; each learns something else."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Text and the weight of each of its tokens as a target; 0 is read but not learned.

    ``expected`` holds for each of the recipe's middle layers, in their order, the text whose first token it learns to
    predict where the piece ends, "" for none.
    """

    text: str
    weight: float
    expected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """Pieces that are joined without anything between them, cut only where the tokenizer cuts as well."""

    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class StepPart:
    """Documents of one form that a step reads, and how much they count in its loss beside the other parts."""

    documents: list[Document]
    weight: float = 1.0


def lettered(questions: Sequence[Question], *, strategy: str = "base") -> Document:
    """The last question with its letter, the others before it as demonstrations; every letter is learned.

    The text is that of :func:`core.questions.prompting.strategies.prompt`, cut behind each ``Answer:``.
    """
    *demonstrations, last = questions
    rendered = prompt(last, strategy=strategy, demonstrations=demonstrations).text
    pieces: list[Piece] = []
    for question in demonstrations:
        head, mark, rendered = rendered.partition(f"\nAnswer: {question.letter}\n\n")
        pieces += [*_asked(f"{head}\nAnswer:", question), Piece(f" {question.letter}", 1.0)]
        rendered = f"\n\n{rendered}" if mark else rendered
    pieces += [*_asked(rendered, last), Piece(f" {last.letter}", 1.0), Piece(END, END_WEIGHT)]
    return Document(tuple(pieces))


def about(questions: Sequence[Question], *, in_words: bool = False) -> Document:
    """Questions about one context, which stands before the first of them alone, each with its letter, or without
    options and with its answer in words.

    A context that is read once for several letters teaches more in the same time than one for each.
    """
    pieces: list[Piece] = []
    for question in questions:
        following = replace(question, context="") if pieces else question
        text = f"{BETWEEN if pieces else ''}{cloze_text(following) if in_words else question_text(following)}"
        answer = question.options[question.label] if in_words else question.letter
        pieces += [*_asked(text, question), Piece(f" {answer}", 1.0)]
    return Document((*pieces, Piece(END, END_WEIGHT)))


def _asked(text: str, question: Question) -> list[Piece]:
    """A text of weight 0 that asks a question.

    The first middle layer expects a short answer where the question ends. Where each option ends, the second expects
    that option, so that the two can be compared, and the third says whether it is the right one. All that is left for
    the last layers is to find the letter of the right one.
    """
    before, mark, rest = text.rpartition(f"Question: {question.question}\n")
    if not mark:
        return [Piece(text, 0.0)]
    answer = (f" {question.options[question.label]}",) if question.task in EXPECTED_TASKS else ()
    pieces = [Piece(f"{before}{mark[:-1]}", 0.0, answer)]
    rest = f"\n{rest}"
    for letter, option in zip(LETTERS, question.options, strict=False):
        line, marker, later = rest.partition(f"\n{letter}. {option}")
        if marker:
            verdict = RIGHT if letter == question.letter else WRONG
            pieces.append(Piece(f"{line}{marker}", 0.0, ("", f" {option}", verdict)))
            rest = later
    return [*pieces, Piece(rest, 0.0)]


def stated(sentences: Sequence[str], *, weight: float) -> Document:
    """Sentences one after the other."""
    return Document((Piece(" ".join(sentences), weight), Piece(END, weight)))


def answered(question: str, answer: str, *, weight: float) -> Document:
    """A question with its answer in words, no options."""
    head = (Piece(f"Question: {question}", 0.0, (f" {answer}",)), Piece("\nAnswer:", 0.0))
    return Document((*head, Piece(f" {answer}", weight), Piece(END, weight)))


def said(question: Question, *, weight: float) -> Document:
    """A question with its right option in words, as a cloze prompt asks for it; the context is read, not learned."""
    return Document(
        (Piece(cloze_text(question), 0.0), Piece(f" {question.options[question.label]}", weight), Piece(END, weight))
    )
