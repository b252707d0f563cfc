"""Text that teaches matching only: find what was said before, and the letter that stood with it.

A model of this size does not learn to answer by letter while it also learns facts. It first has to see that a word
stands in the text twice (verdicts on words of a list, many to a document), then to give the letter before such a word:
in pairs, where the question names it, and in lists, where one of four options is in the passage. Some
documents ask what followed a word before (:func:`followed_document`), which reading is built on. Binding proper, with
options E and F, longer values and many wordings, follows among the tasks.
"""

import random
import re
from collections.abc import Sequence

from core.questions.prompting.verdict import FALSE, TRUE
from core.records import DONT_KNOW, LETTERS, NONE_OF_ABOVE, Question
from pocket_world.documents import Document, Piece, lettered
from pocket_world.questions import six
from pocket_world.relations import Fact
from pocket_world.scenes.frame import Frame, Scene, changed, false_values, slots_of
from pocket_world.scenes.shown import Plans
from pocket_world.scenes.stories import STORIES

_VERDICTS = 8
_LONGEST = 6

_FOLLOWED = 8

SHARES = {"pair": 0.34, "listed": 0.3, "verdicts": 0.21, "followed": 0.15}

_FOUND = ("Which of these is in the passage?", "Which one does the passage name?", "What is there in the passage?")
_RETOLD = ("Which sentence is in the passage?", "What does the passage say?", "Which of these does the passage say?")
_CHANGED = 0.5
"""How often one of the false sentences is a true one with one thing changed."""

_SCENES: Plans[Frame] = Plans(STORIES, lambda frame: frame.name)


def matching_documents(values: Sequence[str], rng: random.Random, *, rows: int) -> list[Document]:
    """``rows`` documents of one form over ``values``, each of them one token."""
    form = rng.choices(list(SHARES), weights=list(SHARES.values()))[0]
    make = {
        "pair": pair_document,
        "listed": listed_document,
        "verdicts": verdicts_document,
        "followed": followed_document,
    }[form]
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
    drawn = rng.sample(values, 2 * count)
    pairs = list(zip(drawn[:count], drawn[count:], strict=True))
    pieces = [Piece("Passage: " + " ".join(f"{first} {second}." for first, second in pairs), 0.0)]
    for first, second in rng.choices(pairs, k=_FOLLOWED):
        pieces += [Piece(f"\nQuestion: {first}", 0.0), Piece(f" {second}", 1.0)]
    return Document(tuple(pieces))


def listed_document(values: Sequence[str], rng: random.Random) -> Document:
    """A passage that is a list of values, four options of which one is among them, and its letter."""
    count = rng.randint(1, _LONGEST - 1)
    listed, wrong = (drawn := rng.sample(values, count + 3))[:count], drawn[count:]
    right = rng.choice(listed)
    options = [*wrong, right]
    rng.shuffle(options)
    return _listed(listed, options, right)


def phrases_document(values: Sequence[str], rng: random.Random) -> Document:
    """A list of values and four options of several values each; all of the right one's are listed, of each false one at
    least one is not."""
    width = rng.randint(1, 6)
    count = rng.randint(width, 2 * width + 3)
    drawn = rng.sample(values, count + 3 * width)
    listed, unlisted = drawn[:count], drawn[count:]
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


def found_questions(rng: random.Random, *, count: int = 1) -> list[Question]:
    """One to five sentences of a scene and four values of a kind, of which one is in them; up to ``count`` kinds."""
    while True:
        scene = _SCENES.draw(rng, training=True).draw(rng)
        sentences = scene.frame.sentences
        places = sorted(rng.sample(range(len(sentences)), rng.randint(1, min(5, len(sentences)))))
        text = " ".join(scene.say(rng.choice(sentences[place])) for place in places)
        whole = re.sub(r"[ .,?]+", " ", f" {text} ")
        if slots := [slot for slot in scene.frame.kinds if f" {scene.values[slot]} " in whole]:
            break
    questions = []
    for slot in rng.sample(slots, min(count, len(slots))):
        wrong = false_values(scene, slot, rng, count=3, inside=False, excluded=())
        right, wording = scene.values[slot], rng.choice(_FOUND)
        questions.append(six("rc", scene.frame.name, text, wording, right=right, wrong=wrong, rng=rng))
    return questions


def retold_questions(rng: random.Random, *, count: int = 1) -> list[Question]:
    """One to five sentences of a scene; which of four is among them? The others are from elsewhere or changed. Up to
    ``count`` of the sentences are asked for."""
    scene = _SCENES.draw(rng, training=True).draw(rng)
    sentences = scene.frame.sentences
    places = sorted(rng.sample(range(len(sentences)), rng.randint(1, min(5, len(sentences)))))
    chosen = [rng.choice(sentences[place]) for place in places]
    text = " ".join(map(scene.say, chosen))
    return [_retold(scene, text, wording, rng) for wording in rng.sample(chosen, min(count, len(chosen)))]


def _retold(scene: Scene, text: str, wording: str, rng: random.Random) -> Question:
    right, wrong = scene.say(wording), set[str]()
    if rng.random() < _CHANGED and slots_of(wording) & {*scene.frame.kinds}:
        # A pronoun may stay as it was.
        wrong = {changed(scene, wording, set(), "easy", rng)} - {right}
    while len(wrong) < 3:
        other = _SCENES.draw(rng, training=True)
        if other is not scene.frame:
            wrong.add(other.draw(rng).say(rng.choice(rng.choice(other.sentences))))
    return six("rc", scene.frame.name, text, rng.choice(_RETOLD), right=right, wrong=sorted(wrong), rng=rng)


def _listed(listed: Sequence[str], options: Sequence[str], right: str) -> Document:
    lines = "".join(f"\n{letter}. {value}" for letter, value in zip(LETTERS, options, strict=False))
    text = f"Passage: {' '.join(listed)}\nQuestion: Which is there?{lines}\nAnswer:"
    return Document((Piece(text, 0.0), Piece(f" {LETTERS[options.index(right)]}", 1.0)))


_WORDINGS = (
    "Which option says {x}?",
    "Which letter stands before {x}?",
    "Where in the options is {x}?",
    "Find {x} among these options.",
)


def pair_document(values: Sequence[str], rng: random.Random) -> Document:
    """The barest form: four values, and which letter stands before one of them; at times with options E and F."""
    options = rng.sample(values, 4)
    return pair_find(options, [*options, DONT_KNOW, NONE_OF_ABOVE] if rng.random() < 0.3 else options, rng)


def pair_find(options: Sequence[str], shown: Sequence[str], rng: random.Random) -> Document:
    """Which letter stands before one of ``options``, the first of the lines ``shown``; the letter is learned alone."""
    place = rng.randrange(len(options))
    lines = "".join(f"\n{letter}. {value}" for letter, value in zip(LETTERS, shown, strict=False))
    return Document(
        (Piece(f"Which option says {options[place]}?{lines}\nAnswer:", 0.0), Piece(f" {LETTERS[place]}", 1.0))
    )


def binding_document(facts: Sequence[Fact], rng: random.Random) -> Document:
    """A lettered question that asks for one of its own options, drawn from the answers of one fact or of four."""
    return lettered([binding_question(facts, rng)])


def binding_question(facts: Sequence[Fact], rng: random.Random) -> Question:
    """A question that asks for one of its own options."""
    return _question(_options(facts, rng), rng)


def _options(facts: Sequence[Fact], rng: random.Random) -> list[str]:
    if rng.random() < 0.5:
        fact = rng.choice(facts)
        return rng.sample([fact.answer, *fact.wrong], 4)
    options: list[str] = []
    while len(options) < 4:
        value = rng.choice(facts).answer if rng.random() < 0.8 else str(rng.randint(0, 200))
        if value not in options:
            options.append(value)
    return options


def _question(options: list[str], rng: random.Random) -> Question:
    label = rng.randrange(4)
    text = rng.choice(_WORDINGS).format(x=options[label])
    return Question("", "qa", "binding", "", text, (*options, DONT_KNOW, NONE_OF_ABOVE), label)
