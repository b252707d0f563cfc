"""The questions that several runs share, matched by their identity (:mod:`core.questions.identity`).

The same question may have another id, another row and another order of options in another run.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.conformal.clusters import count, within
from core.records import FloatArray, IntArray
from core.reports import question_identity
from core.reports.evaluation import Evaluation
from core.runs import store

FEWEST = 10
"""The fewest questions that runs must share to be compared."""
NEARLY = 0.9
"""Runs belong to one group if each shares this part of its test questions with the others."""


@dataclass(frozen=True, slots=True)
class OptionsKey:
    """The key from which the order of a run's options follows: equal for two runs that show the same options alike."""

    questions: tuple[str, ...]
    rows: bytes
    letters: tuple[str, ...]


def shared_rows(runs: Sequence[Evaluation], rows: Sequence[IntArray]) -> list[IntArray]:
    """For each run, those of its ``rows`` whose question all runs have among theirs, in the first run's order."""
    keys_of = [options_key(run, own) for run, own in zip(runs, rows, strict=True)]
    if len(set(keys_of)) == 1:  # the same questions in the same order, so no identities are needed
        return [np.array(own, dtype=np.int64) for own in rows]
    places: list[dict[tuple[str, int], int]] = []
    known: dict[OptionsKey, list[tuple[str, int]]] = {}
    for run, own, key in zip(runs, rows, keys_of, strict=True):
        keys = known.setdefault(key, question_keys(run, own) if key not in known else [])
        places.append(dict(zip(keys, own.tolist(), strict=True)))
    common = [key for key in places[0] if all(key in by_key for by_key in places[1:])]
    return [np.array([by_key[key] for key in common], dtype=np.int64) for by_key in places]


def shared_clusters(runs: Sequence[Evaluation], rows: Sequence[IntArray]) -> IntArray | None:
    """The clusters of shared questions, whose ``rows`` (m,) each run has: two belong together if some run says so.

    None if every question is a cluster of its own.
    """
    different: dict[bytes, IntArray] = {}
    for run, own in zip(runs, rows, strict=True):
        clusters = within(run.clusters, own)
        if clusters is not None:
            different[clusters.tobytes()] = clusters
    if len(different) < 2:
        return next(iter(different.values()), None)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # A graph of the m questions, and behind them the clusters of each run, which link their questions.
    m = len(rows[0])
    starts = np.cumsum([m, *(count(clusters, m) for clusters in different.values())])
    links = np.concatenate([start + clusters for start, clusters in zip(starts, different.values(), strict=False)])
    questions = np.tile(np.arange(m), len(different))
    graph = coo_array((np.ones(len(links), dtype=np.int8), (questions, links)), (starts[-1], starts[-1]))
    return within(connected_components(graph, directed=False)[1].astype(np.int64), np.arange(m))


def groups(run_ids: Sequence[str]) -> list[tuple[str, ...]]:
    """The runs that are compared with each other, in the given order; the first run's group comes first.

    Runs of a group were tested on nearly the same questions. Two runs without such a group form one if they share ten.
    """
    sets: dict[str, list[str]] = {}
    for name in run_ids:
        sets.setdefault(question_identity.question_set(name), []).append(name)
    parts = [list(names) for names in sets.values()]
    if len(parts) > 1:
        # Every part holds one set of questions; its first run stands for it.
        parts = _joined(parts, nearly_alike)
        single = [part for part in parts if len(part) == 1]
        pairs = _joined(single, lambda a, b: question_identity.shared_tests(a, b) >= FEWEST, most=2)
        parts = [part for part in parts if len(part) > 1] + pairs
    place = {name: i for i, name in enumerate(run_ids)}
    return sorted((tuple(sorted(part, key=place.__getitem__)) for part in parts), key=lambda part: place[part[0]])


def _joined(parts: list[list[str]], alike: Callable[[str, str], bool], most: int | None = None) -> list[list[str]]:
    """The parts, each joined to the first ones that are all like it; at most ``most`` of them."""
    joined: list[list[list[str]]] = []
    for part in parts:
        for group in joined:
            if (most is None or len(group) < most) and all(alike(part[0], other[0]) for other in group):
                group.append(part)
                break
        else:
            joined.append([part])
    return [[name for part in group for name in part] for group in joined]


def nearly_alike(first: str, second: str) -> bool:
    """Whether two runs share nearly all of their test questions, and ten or more."""
    shared = question_identity.shared_tests(first, second)
    return shared >= max(FEWEST, NEARLY * max(map(question_identity.tests, (first, second))))


def shared_words(tested: Sequence[int], n: int, units: int, *, repeats: bool) -> list[str]:
    """Sentences about n shared questions, if runs were ``tested`` on more: how many are left out, and how many
    units they are. With ``repeats``, rows of a run repeat its questions.

    >>> shared_words([1065, 1062], 1062, 1062, repeats=False)
    ['3 of 1,065 questions are in one run only and are left out.']
    >>> shared_words([250, 250], 250, 50, repeats=True)
    ['250 rows of 50 questions; each of these counts once.']
    >>> shared_words([250, 245], 245, 49, repeats=True)[0]
    '5 of 250 rows are in one run only and are left out.'
    """
    sentences = []
    two = len(tested) == 2
    every = sum(tested) - n if two else max(tested)
    if left := every - n:
        be = "is" if left == 1 else "are"
        where = "in one run only" if two else "not in all of these runs"
        what = "rows" if repeats else "questions"
        sentences.append(f"{left:,} of {every:,} {what} {be} {where} and {be} left out.")
    if units < n:
        sentences.append(f"{n:,} rows of {units:,} questions; each of these counts once.")
    return sentences


def few_shared(run_ids: Sequence[str], names: Mapping[str, str] | None = None) -> str:
    """A sentence on runs that can't be compared although two of them share a few questions; "" if they share none.
    ``names`` maps the runs' ids to what they are called."""
    most, pair = 0, ("", "")
    for first, second in itertools.combinations(run_ids, 2):
        shared = question_identity.shared_tests(first, second)
        if shared > most:
            most, pair = shared, (first, second)
    if not most:
        return ""
    first, second = (names[name] for name in pair) if names else pair
    return (
        f"{first} and {second} share {most} test question{'' if most == 1 else 's'}; runs that share fewer than "
        f"{FEWEST} different ones are not compared."
    )


def options_key(run: Evaluation, rows: IntArray) -> OptionsKey:
    """The key of the options of a run's rows."""
    return OptionsKey(question_identity.questions_key(run.run_id), run.ids[rows].tobytes(), tuple(run.letters))


def aligned(values: FloatArray, order: IntArray | None) -> FloatArray:
    """Values (n, k) with the options of each row in another order (n, k); None leaves them as they are."""
    return values if order is None else np.take_along_axis(values, order, axis=1)


def orders(run: Evaluation, rows: IntArray, other: Evaluation, theirs: IntArray, k: int) -> IntArray | None:
    """The places that the options of ``run`` have in the same questions of ``other``, (n, k); None if the order is the
    same."""
    same_classes = run.classes and other.classes and tuple(run.letters) == tuple(other.letters)
    if same_classes or options_key(run, rows) == options_key(other, theirs):
        return None
    pairs = list(zip(option_texts(run, rows), option_texts(other, theirs), strict=True))
    if all(own == other_texts for own, other_texts in pairs):
        return None
    return np.array(
        [list(range(k)) if own == other_texts else option_order(own, other_texts, k) for own, other_texts in pairs]
    )


def question_keys(run: Evaluation, rows: IntArray) -> list[tuple[str, int]]:
    """A key for each row's question: its identity, and a number by id that tells identical questions apart."""
    named = question_identity.identities(run.run_id)
    ids = run.ids[rows].tolist()
    seen: Counter[str] = Counter()
    keys: dict[str, tuple[str, int]] = {}
    for name in sorted(ids):
        keys[name] = (named[name], seen[named[name]])
        seen[named[name]] += 1
    return [keys[name] for name in ids]


def option_texts(run: Evaluation, rows: IntArray) -> list[list[str]]:
    """The texts of the options that are left in the run, in its order."""
    texts = store.read_questions(run.run_id)
    at = {name: i for i, name in enumerate(texts["id"].to_pylist())}
    offered = texts["options"].take([at[name] for name in run.ids[rows].tolist()]).to_pylist()
    return [[options[place] for place in run.option_places if place < len(options)] for options in offered]


def option_order(own: list[str], other: list[str], k: int) -> list[int]:
    """For each of the k places of a question, the place of its option in the same question with other options or in
    another order.

    Options that ``own`` lacks come last.

    >>> option_order(["red", "green"], ["green", "red"], 3)
    [1, 0, 2]
    """
    left = list(range(k))
    order = []
    for option in own:
        same = next((j for j in left if j < len(other) and other[j].strip() == option.strip()), None)
        if same is None:  # the other question lacks it: the last place left, behind its options if there is one
            same = left[-1]
        left.remove(same)
        order.append(same)
    return [*order, *left]


def widened(run: Evaluation, k: int) -> FloatArray:
    """The probabilities with NaN for options that only the other run's questions have, (N, k)."""
    p = run.option_probabilities
    return np.concatenate([p, np.full((len(p), k - run.k), np.nan)], axis=1)
