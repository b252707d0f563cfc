"""Text that teaches matching only: find what was said before, and the letter that stood with it.

A model of this size does not learn to answer by letter while it also learns facts. It first has to see that a word
stands in the text twice (verdicts on words of a list, many to a document), then to give the letter before such a word:
in pairs, where the question names it, and in lists, where one of four options is in the passage. Some
documents ask what followed a word before (:func:`followed_document`), which reading is built on. Binding proper, with
options E and F, longer values and many wordings, follows among the tasks.
"""

import random
from collections.abc import Sequence

from core.questions.prompting.verdict import FALSE, TRUE
from core.records import DONT_KNOW, LETTERS, NONE_OF_ABOVE, Question
from pocket_world.documents import Document, Piece, lettered
from pocket_world.relations import Fact

_VERDICTS = 8
_LONGEST = 6

_FOLLOWED = 8


def matching_documents(values: Sequence[str], rng: random.Random, *, rows: int) -> list[Document]:
    """``rows`` documents of one form over ``values``, each of them one token."""
    make = rng.choices(list(_FORMS), weights=list(_FORMS.values()))[0]
    return [make(values, rng) for _ in range(rows)]


def verdicts_document(values: Sequence[str], rng: random.Random) -> Document:
    """A list of values, then whether it holds each of some others and of its own."""
    listed = rng.sample(values, rng.randint(1, _LONGEST))
    pieces = [Piece(f"{' '.join(listed)}\n", 0.0)]
    for _ in range(_VERDICTS):
        value = rng.choice(listed if rng.random() < 0.5 else values)
        pieces += [Piece(f"Question: {value}", 0.0), Piece(f" {TRUE if value in listed else FALSE}", 1.0)]
    return Document(tuple(pieces))


def followed_document(values: Sequence[str], rng: random.Random) -> Document:
    """A passage of two to six pairs of values, then what followed the first value of each pair that is named."""
    count = rng.randint(2, _LONGEST)
    words = rng.sample(values, 2 * count)
    pairs = list(zip(words[:count], words[count:], strict=True))
    pieces = [Piece("Passage: " + " ".join(f"{first} {second}." for first, second in pairs), 0.0)]
    for first, second in rng.choices(pairs, k=_FOLLOWED):
        pieces += [Piece(f"\nQuestion: {first}", 0.0), Piece(f" {second}", 1.0)]
    return Document(tuple(pieces))


def listed_document(values: Sequence[str], rng: random.Random) -> Document:
    """A passage that is a list of values, four options with one that is among them, and its letter."""
    count = rng.randint(1, _LONGEST - 1)
    listed, wrong = (words := rng.sample(values, count + 3))[:count], words[count:]
    right = rng.choice(listed)
    options = [*wrong, right]
    rng.shuffle(options)
    return _listed(listed, options, right)


def phrases_document(values: Sequence[str], rng: random.Random) -> Document:
    """A list of values and four options of several values each; all of the right one's are listed, of each false one at
    least one is not."""
    width = rng.randint(1, 6)
    count = rng.randint(width, 2 * width + 3)
    words = rng.sample(values, count + 3 * width)
    listed, unlisted = words[:count], words[count:]
    options = [rng.sample(listed, width)]
    for _ in range(3):
        phrase = rng.sample(listed, width)
        for place in rng.sample(range(width), rng.randint(1, width)):
            phrase[place] = unlisted.pop()
        options.append(phrase)
    right = " ".join(options[0])
    texts = [" ".join(phrase) for phrase in options]
    rng.shuffle(texts)
    return _listed(listed, texts, right)


def _listed(listed: Sequence[str], options: Sequence[str], right: str) -> Document:
    return _lettered(f"Passage: {' '.join(listed)}\nQuestion: Which is there?", options, right)


def _lettered(text: str, options: Sequence[str], right: str) -> Document:
    lines = "".join(f"\n{letter}. {option}" for letter, option in zip(LETTERS, options, strict=False))
    return Document((Piece(f"{text}{lines}\nAnswer:", 0.0), Piece(f" {LETTERS[options.index(right)]}", 1.0)))


def pair_document(values: Sequence[str], rng: random.Random) -> Document:
    """The barest form: four values, and which letter stands before one of them; at times with options E and F."""
    options = rng.sample(values, 4)
    shown = [*options, DONT_KNOW, NONE_OF_ABOVE] if rng.random() < 0.3 else options
    right = rng.choice(options)
    return _lettered(f"Which option says {right}?", shown, right)


_FORMS = {pair_document: 0.34, listed_document: 0.3, verdicts_document: 0.21, followed_document: 0.15}

_WORDINGS = (
    "Which option says {x}?",
    "Which letter stands before {x}?",
    "Where in the options is {x}?",
    "Find {x} among these options.",
)


def binding_document(facts: Sequence[Fact], rng: random.Random) -> Document:
    """A lettered question that asks for one of its own options, drawn from the answers of one fact or of four."""
    options: list[str] = []
    if rng.random() < 0.5:
        fact = rng.choice(facts)
        options = rng.sample([fact.answer, *fact.wrong], 4)
    while len(options) < 4:
        option = rng.choice(facts).answer if rng.random() < 0.8 else str(rng.randint(0, 200))
        if option not in options:
            options.append(option)
    label = rng.randrange(4)
    text = rng.choice(_WORDINGS).format(x=options[label])
    return lettered([Question("", "qa", "binding", "", text, (*options, DONT_KNOW, NONE_OF_ABOVE), label)])
