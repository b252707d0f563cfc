"""What an option is called: the name of a classifier's class, or the letter by which a model is asked.

A run has ``classes`` if all of its questions offer the same options and nothing says that a model was asked for them.
"""

from collections.abc import Iterable, Sequence

from core.records import LETTERS, OPTION_NAMES, Question

OF_CLASSES = "classes"
"""The key in the provenance of a run with classes."""
ORDERED = "ordered"
"""The key in the provenance of a run in which the options of all questions are ordered levels."""
SHOWN = 24
"""The most characters of a name beside a figure."""
BEFORE, AFTER = 14, 9


def class_names(options: Sequence[str]) -> tuple[str, ...]:
    """The names of k classes, (k,): the texts of the options, each on one line.

    They are letters if some texts are alike or stand for a name that the file did not have.

    >>> class_names(["cat", "dog"]), class_names(["option A", "option B"])
    (('cat', 'dog'), ('A', 'B'))
    """
    texts = tuple(" ".join(text.split()) for text in options)
    letters = OPTION_NAMES[: len(texts)]
    unnamed = any(text in ("", f"option {letter}") for text, letter in zip(texts, letters, strict=True))
    return letters if unnamed or len(set(texts)) < len(texts) else texts


def are_classes(questions: Sequence[Question]) -> bool:
    """Whether the options of imported questions are classes: the same in each of them, and named, or more than there
    are letters."""
    first = questions[0].options
    if any(question.options != first for question in questions):
        return False
    return len(first) > len(LETTERS) or class_names(first) != OPTION_NAMES[: len(first)]


def of_order(questions: Iterable[Question]) -> dict[str, bool]:
    """What the provenance of a run says of its questions' options: that all of them are ordered, or nothing."""
    return {ORDERED: True} if all(question.ordered for question in questions) else {}


def set_text(inside: Iterable[str], names: Sequence[str]) -> str:
    """A set of the options ``names`` as one text: letters alone stand without a space.

    >>> set_text("AC", "ABC"), set_text(["A", "B"], OPTION_NAMES), set_text(["ox", "cow"], ["ox", "cow", "ass"])
    ('AC', 'A B', 'ox; cow')
    """
    if all(len(name) == 1 for name in names):
        return "".join(inside)
    return (" " if tuple(names) == OPTION_NAMES[: len(names)] else "; ").join(inside)


def short_names(names: Sequence[str]) -> list[str]:
    """The names as they stand beside figures: the middle of a long one is left out, and no two are alike.

    >>> short_names(["cat", "a very long name of the class of dogs"])
    ['cat', 'a very long na…s of dogs']
    """
    short = [name if len(name) <= SHOWN else f"{name[:BEFORE].rstrip()}…{name[-AFTER:].lstrip()}" for name in names]
    seen = {name: short.count(name) for name in short}
    return [name if seen[name] == 1 else f"{OPTION_NAMES[j]} {name}" for j, name in enumerate(short)]
