"""Rotations: the same question with its options in another order.

A model's preference for a letter, or for the first option, shows when the options move. Rotation by r puts at place j
what stood at place (j + r) mod m, so that over all rotations every option stands at every place once. Closing options
that are no answers ("I don't know", "None of the above") keep their places. Ordered options are asked in their order.

All orders are the m! permutations where m ≤ 4; beyond, all rotations of a few seeded ones, so that there too every
option stands at every place equally often. An order is known by its place among the permutations in lexical order.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.records import DONT_KNOW, NONE_OF_ABOVE, Question, added_options

MARK = "@r"
ORDER_MARK = "@o"

ALL_ORDERS_TO = 4
"""With this many options, all orders are asked; with more, a sample of about as many orders."""
ABOUT = 24


def moving(question: Question) -> int:
    """The number of options that move: all except closing ones such as "I don't know"."""
    m = len(question.options)
    while m > 2 and question.options[m - 1] in (DONT_KNOW, NONE_OF_ABOVE) and m - 1 > question.label:
        m -= 1
    return m


def answers_only(question: Question) -> Question:
    """The question without the closing options that were added to it.

    As texts after the question, "I don't know" and "None of the above" are more likely than most answers, so asking
    for their likelihood would ask how common they are. One that stands there alone is an answer of the question's own:
    it stays, because dropping it only where it is wrong would give away where it is right.
    """
    m = len(question.options) - added_options(question.options)
    return replace(question, options=question.options[:m]) if m >= 2 and question.label < m else question


def rotations(question: Question) -> list[Question]:
    """All other rotations of a question; their ids name the original and the shift.

    >>> [(q.id, q.options, q.label) for q in rotations(Question("a", "qa", "", "", "?", ("x", "y"), 0))]
    [('a@r1', ('y', 'x'), 1)]
    """
    m = moving(question)
    turned_questions = []
    for r in range(1, m):
        turned = tuple(question.options[places(j, r, m)] for j in range(len(question.options)))
        turned_questions.append(
            replace(question, id=f"{question.id}{MARK}{r}", options=turned, label=(question.label - r) % m)
        )
    return turned_questions


def reorderings(question: Question, *, seed: int) -> list[Question]:
    """The question in all other orders of its options, or in a seeded sample of them where there are more than four.

    >>> [q.options for q in reorderings(Question("a", "qa", "", "", "?", ("x", "y"), 0), seed=0)]
    [('y', 'x')]
    """
    m = moving(question)
    reordered = []
    for number in order_numbers(m, seed=seed):
        order = permutation(number, m)
        if number:
            options = (*(question.options[i] for i in order), *question.options[m:])
            label = order.index(question.label)
            reordered.append(replace(question, id=f"{question.id}{ORDER_MARK}{number}", options=options, label=label))
    return reordered


def asked_again(questions: Sequence[Question]) -> list[bool]:
    """Which questions ask what an earlier one asks, with the same options in another order: these are no new questions,
    and no count of questions may hold them.

    >>> one = Question("a", "qa", "", "", "?", ("x", "y"), 0)
    >>> asked_again([one, *rotations(one), replace(one, id="b", question="!")])
    [False, True, False]
    """
    first: dict[tuple[str, str, tuple[str, ...]], tuple[str, ...]] = {}
    again = []
    for question in questions:
        key = (question.context, question.question, tuple(sorted(question.options)))
        again.append(first.setdefault(key, question.options) != question.options)
    return again


def order_numbers(m: int, *, seed: int) -> list[int]:
    """The numbers of the orders of m options that are asked, 0 (as written) first.

    >>> order_numbers(3, seed=0), len(order_numbers(5, seed=0))
    ([0, 1, 2, 3, 4, 5], 25)
    """
    if m <= ALL_ORDERS_TO:
        return list(range(math.factorial(m)))
    rng = np.random.default_rng([seed, 0x0DE5])
    numbers: list[int] = []
    order = list(range(m))
    while len(numbers) < ABOUT:
        turns = [order_number([*order[r:], *order[:r]]) for r in range(m)]
        numbers += [] if turns[0] in numbers else turns
        order = rng.permutation(m).tolist()
    return numbers


def permutation(number: int, m: int) -> list[int]:
    """The order of m options with this number: at place j stands the option that stood at its j-th entry.

    >>> permutation(0, 3), permutation(5, 3)
    ([0, 1, 2], [2, 1, 0])
    """
    left = list(range(m))
    order = []
    for j in range(m, 0, -1):
        at, number = divmod(number, math.factorial(j - 1))
        order.append(left.pop(at))
    return order


def order_number(order: Sequence[int]) -> int:
    """The number of an order, as :func:`permutation` takes it.

    >>> order_number([2, 1, 0])
    5
    """
    left = sorted(order)
    number = 0
    for place, option in enumerate(order):
        number += left.index(option) * math.factorial(len(order) - 1 - place)
        left.remove(option)
    return number


def asked_order(question_id: str, m: int) -> tuple[str, list[int]]:
    """The id of the question that was asked in another order, and that order of its m moving options.

    >>> asked_order("a@o5", 3), asked_order("a@r1", 3), asked_order("a", 2)
    (('a', [2, 1, 0]), ('a', [1, 2, 0]), ('a', [0, 1]))
    """
    name, mark, number = question_id.rpartition(ORDER_MARK)
    if mark and number.isdecimal() and int(number) < math.factorial(m):
        return name, permutation(int(number), m)
    name, turn = origin(question_id)
    return name, [places(j, turn, m) for j in range(m)]


def first_order(question_id: str) -> str:
    """The id of the question that was asked in another order; its own for one that was not.

    >>> first_order("a@o5"), first_order("a@r1"), first_order("a")
    ('a', 'a', 'a')
    """
    name, mark, number = question_id.rpartition(ORDER_MARK)
    return name if mark and number.isdecimal() else origin(question_id)[0]


def places(j: int, r: int, m: int) -> int:
    """Where the option at place ``j`` of a rotation by ``r`` of ``m`` options stood at first."""
    return (j + r) % m if j < m else j


def origin(question_id: str) -> tuple[str, int]:
    """The id of the question that was rotated, and by how much; 0 for one that was not.

    >>> origin("a@r3"), origin("a")
    (('a', 3), ('a', 0))
    """
    name, mark, turned = question_id.rpartition(MARK)
    return (name, int(turned)) if mark and turned.isdecimal() else (question_id, 0)
