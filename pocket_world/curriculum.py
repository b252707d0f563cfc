"""What each step of a training reads. It follows from the seed, the stage and the step alone.

So a resumed training reads the same text as one that never stopped, and the check reads what training read.
"""

import random
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from core.errors import RunError
from core.models.perplexity import conversations
from core.settings import ASSETS
from pocket_world import bank
from pocket_world.contamination import OVERLAPS, Guard, audit
from pocket_world.documents import Document, StepPart
from pocket_world.matching import matching_documents, phrases_document
from pocket_world.recipes import RECIPES, Recipe, Stage, work_folder
from pocket_world.stream import Form, Stream
from pocket_world.tokens import one_token_words, published_tokenizer

Table = Mapping[Form, tuple[int, float]]
"""From a form to how many of its documents fill a step, and its share of the text."""

LETTERS: Table = {
    "matching": (64, 0.08),
    "binding": (64, 0.10),
    "phrases": (48, 0.12),
    "several found": (24, 0.14),
    "several retold": (14, 0.04),
    "several rc": (28, 0.20),
    "several rc said": (64, 0.32),
}
"""The text of the second stage.

What lies between a bare list and a task is half of it: phrases with one listed value, sentences that hold one value.
The other half is questions about a passage, most of them answered in words. That teaches a model to read what a passage
says about each person and thing, and letters follow. From letters alone it only learns to find what is in the passage.
Tasks that can't be learned yet are left out: their gradients are noise, and what was learned is lost (with a third of
such steps it went in a few hundred).
"""

EVERYTHING: Table = {
    "phrases": (48, 0.02),
    "several found": (24, 0.01),
    "several retold": (14, 0.02),
    "short": (96, 0.32),
    "answered": (128, 0.12),
    "rc": (40, 0.05),
    "several rc": (24, 0.09),
    "several rc said": (48, 0.06),
    "ci": (32, 0.08),
    "gone through": (40, 0.03),
    "drs": (26, 0.05),
    "several drs": (11, 0.03),
    "ds": (20, 0.03),
    "several ds": (9, 0.04),
    "said": (32, 0.02),
    "instructed": (24, 0.015),
    "demonstrated": (12, 0.015),
}
"""The text of the third stage that is neither prose nor repeated letters.

Answers in words are among the letters from the beginning: as a stage of their own at the end they cost letters 2.5
points of pocket-1m.
"""

PROSE: Table = {
    "short passage": (24, 0.5),
    "passage": (14, 0.3),
    "long passage": (8, 0.2),
}
"""The prose of letters and everything, whose share the recipe says; each form fills a step with about 3,500 tokens."""

CHAT: Table = {
    "prose chat": (12, 0.25),
    "answered by another": (24, 0.20),
    "conversation": (12, 0.05),
    "asked in chat": (24, 0.30),
    "short": (64, 0.08),
    "rc": (40, 0.04),
    "ci": (32, 0.03),
    "drs": (24, 0.03),
    "ds": (20, 0.02),
}
"""The same for a model that is tuned for chat: talks in prose, what others than counselors say,
letters in chat format, and some of the rest."""

REPLAY = 0.8
"""The share of repeated letters in what is not prose, at the first step of everything."""

BARE_ROWS = 64

ROWS_DIVISOR = 4
"""A part of a step has a quarter of the rows that the tables name."""

PROSE_WEIGHT = 4.0
"""How much a part of prose counts in a step of everything beside the others.

The few letters of a part leave its gradient noisy, and Muon gives noise and words the same room: counted like the
others, prose had a perplexity of about 100 a token after 1,000 steps of pocket-1m, and counted so 79.
"""


def step_documents(stream: Stream, recipe: Recipe, stage: Stage, step: int, words: Sequence[str]) -> list[StepPart]:
    """The documents of one step of a recipe, a part for each form; ``values`` are words of one token for bare lists.

    The recipe's share of prose is read from the letters on: a model that has read words from the beginning learns them
    faster, and keeps what it knows of letters. Letters are repeated in everything too, with the share :data:`REPLAY` of
    what is not prose at first, less and less until the step ``replay``, and the share ``letters`` from there on:
    without them binding is lost.
    """
    rng = random.Random(f"{recipe.seed}|{stage}|{step}")
    if stage == "matching":
        return [StepPart(matching_documents(words, rng, rows=BARE_ROWS))]
    falling = max(0.0, 1 - step / recipe.replay) if recipe.replay else 0.0
    repeated = 1.0 if stage == "letters" else recipe.letters + (REPLAY - recipe.letters) * falling
    tasks = CHAT if stream.chat else EVERYTHING
    rest = 1 - recipe.prose
    tables = [(PROSE, recipe.prose), (LETTERS, rest * repeated), (tasks, rest * (1 - repeated))]
    weight = PROSE_WEIGHT if stage == "everything" else 1.0
    return [
        StepPart(_documents(form, rows, stream, words, rng), weight if form in PROSE else 1.0)
        for form, rows in _drawn(tables, recipe.forms, rng)
    ]


def _drawn(tables: Sequence[tuple[Table, float]], parts: int, rng: random.Random) -> list[tuple[Form, int]]:
    """Forms and rows of this many parts of a step. Each form is drawn as often as its share says, at even distances, so
    that the parts of a step are rarely alike."""
    forms = [(form, rows) for table, _ in tables for form, (rows, _) in table.items()]
    weights = list(accumulate(share * table_share for table, table_share in tables for _, share in table.values()))
    start = rng.random()
    places = [bisect(weights, (start + part) / parts * weights[-1]) for part in range(parts)]
    return [
        (form, max(1, rows // ROWS_DIVISOR)) for form, rows in (forms[min(place, len(forms) - 1)] for place in places)
    ]


def _documents(form: Form, rows: int, stream: Stream, words: Sequence[str], rng: random.Random) -> list[Document]:
    if form == "matching":
        return matching_documents(words, rng, rows=rows)
    if form == "phrases":
        return [phrases_document(words, rng) for _ in range(rows)]
    return [stream.document(form, rng) for _ in range(rows)]


def all_documents(stream: Stream, recipe: Recipe, words: Sequence[str], *, every: int = 1) -> Iterator[Document]:
    """The documents of every ``every``-th step of each stage of a recipe."""
    for stage, count in recipe.stage_steps.items():
        for step in range(0, count, every):
            for part in step_documents(stream, recipe, stage, step, words):
                yield from part.documents


def check(name: str, *, every: int = 1) -> str:
    """Count what of the bank is in every ``every``-th step of a model's training text.

    Raises :class:`RunError` with the counts if there is any.
    """
    questions, talks = bank.questions(), conversations.bundled()
    stream = Stream(Guard.of(questions, talks), chat=RECIPES[name].chat)
    folders = (work_folder(name) / "tokenizer", ASSETS / "models" / name)
    words = one_token_words(published_tokenizer(next(folder for folder in folders if folder.is_dir())))
    counts = audit(all_documents(stream, RECIPES[name], words, every=every), questions, talks)
    line = f"{name}: " + ", ".join(f"{count:,} {counted}" for counted, count in counts.items())
    if any(counts[counted] for counted in OVERLAPS):
        raise RunError(line)
    return line
