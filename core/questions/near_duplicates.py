"""Which questions say the same thing, or nearly the same.

Two texts are near duplicates where the sets of their word triples overlap by at least :data:`NEAR` (Jaccard). Pairs
are found by MinHash (Broder 1997): for each set, the smallest value under each of :data:`HASHES` hash functions is
kept. Sets that agree in all values of one band are compared exactly.

A long list of options that many questions share, such as the labels of a classification, says nothing about which
questions are alike, and it would outweigh their texts. So it does not count.

The hash functions are ours and not datasketch's, because splits depend on them. Of 22 questions of the bundled bank
that are near an earlier one, ours find 19, and the splits of recorded runs and of links stand on those. With 80 seeds
datasketch found 17 to 22 of them, and never the same 19.
"""

import functools
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from core.conformal.clusters import join, root
from core.records import Question

NEAR = 0.8
HASHES = 24
BAND = 4
WORDS = 3
SHARED_BY, SHARED_WORDS = 10, 24
"""Options that this many questions share, and that have this many words in all, are labels. Fewer words make no two
questions near duplicates that have three or more words of their own."""
UNSPOKEN = re.compile(r"[^\w\s]|_")
"""What is neither a letter, nor a digit, nor space."""
UNSPOKEN_OR_SPACE = re.compile(r"[\W_]")


def likeness(question: Question) -> str:
    """A key that questions share which differ in case, spacing, punctuation or the order of options alone."""
    words = [question.context, question.question, *sorted(question.options)]
    return " ".join(UNSPOKEN_OR_SPACE.sub("", word.lower()) for word in words)


def clusters(questions: Sequence[Question]) -> list[int]:
    """A number a question; alike and nearly alike questions have the same one, and so have those of one
    :attr:`~core.records.Question.cluster`. Numbers count up as they first occur."""
    return list(_clusters(tuple(questions)))


@functools.lru_cache(maxsize=8)
def _clusters(questions: tuple[Question, ...]) -> tuple[int, ...]:
    """Kept, because the runs of a matrix share their questions."""
    parents = list(range(len(questions)))
    first: dict[str, int] = {}
    for i, question in enumerate(questions):
        join(parents, i, first.setdefault(likeness(question), i))
        if question.cluster:
            join(parents, i, first.setdefault(f"\0{question.cluster}", i))
    shingles = _shingles(questions)
    for i, j in _candidates(shingles):
        if root(parents, i) != root(parents, j) and _overlap(shingles[i], shingles[j]) >= NEAR:
            join(parents, i, j)
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(root(parents, i), len(numbers)) for i in range(len(questions)))


def _shingles(questions: Sequence[Question]) -> list[npt.NDArray[np.int64]]:
    """The set of each question's word triples, as sorted numbers."""
    known: dict[str, int] = {}
    numbers: list[int] = []  # of all questions' words, one question after the other
    lengths = []
    options = [tuple(sorted(question.options)) for question in questions]
    labels = {
        shared
        for shared, number in Counter(options).items()
        if number >= SHARED_BY and len(" ".join(shared).split()) >= SHARED_WORDS
    }
    for question, shown in zip(questions, options, strict=True):
        text = " ".join([question.context, question.question, *(() if shown in labels else shown)]).lower()
        words = UNSPOKEN.sub("", text).split()
        numbers += [known.setdefault(word, len(known) + 1) for word in words]
        numbers += [0] * (WORDS - len(words))
        lengths.append(max(len(words), WORDS))
    ids = np.array(numbers, dtype=np.int64)
    triples = (ids[:-2] * 1_000_003 + ids[1:-1]) * 1_000_003 + ids[2:]
    owners = np.repeat(np.arange(len(lengths)), lengths)
    within = owners[:-2] == owners[2:]  # the others reach from one question into the next
    triples, owners = triples[within], owners[:-2][within]
    order = np.lexsort((triples, owners))
    triples, owners = triples[order], owners[order]
    new = np.ones(len(triples), dtype=np.bool_)
    new[1:] = (triples[1:] != triples[:-1]) | (owners[1:] != owners[:-1])
    triples, owners = triples[new], owners[new]
    return np.split(triples, np.searchsorted(owners, np.arange(1, len(lengths))))[: len(lengths)]


def _candidates(sets: Sequence[npt.NDArray[np.int64]]) -> set[tuple[int, int]]:
    """Pairs that may overlap: each question with the last one before it that has the same band. One pair a question and
    band, not all of them, keeps this linear where thousands of questions share a template."""
    if not sets:
        return set()
    factors = np.random.default_rng(0).integers(1, 1 << 62, HASHES, dtype=np.uint64) * 2 + 1
    lengths = np.array([len(triples_of_question) for triples_of_question in sets])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    flat = np.concatenate(sets).astype(np.uint64)
    pairs: set[tuple[int, int]] = set()
    least = [np.minimum.reduceat(_mixed(flat * factor), starts) for factor in factors]
    for begin in range(0, HASHES, BAND):
        seen: dict[tuple[int, ...], int] = {}
        for i, key in enumerate(zip(*(column.tolist() for column in least[begin : begin + BAND]), strict=True)):
            if key in seen:
                pairs.add((seen[key], i))
            seen[key] = i
    return pairs


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Mix the high bits of a product, which depend on all bits of its factor, into the low ones."""
    return numbers ^ (numbers >> np.uint64(29))


def _overlap(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> float:
    shared = len(np.intersect1d(first, second, assume_unique=True))
    return shared / (len(first) + len(second) - shared)
