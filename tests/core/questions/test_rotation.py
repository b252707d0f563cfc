import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.questions.rotation import (
    ABOUT,
    answers_only,
    asked_order,
    moving,
    order_number,
    order_numbers,
    origin,
    permutation,
    places,
    reorderings,
    rotations,
)
from core.records import DONT_KNOW, NONE_OF_ABOVE, Question

pytestmark = pytest.mark.quick


@given(st.integers(2, 6), st.integers(0, 5), st.integers(0, 2))
def test_every_option_stands_at_every_place_once(m, label, closing):
    options = tuple(f"o{j}" for j in range(m)) + (DONT_KNOW, NONE_OF_ABOVE)[:closing]
    question = Question("q", "qa", "g", "", "?", options, label % m)
    all_orders = [question, *rotations(question)]
    assert len(all_orders) == m == moving(question)
    for j in range(m):
        assert {q.options[j] for q in all_orders} == set(options[:m])
    for q in all_orders:
        assert q.options[q.label] == options[question.label]
        assert q.options[m:] == options[m:]
        name, r = origin(q.id)
        assert name == "q"
        assert all(q.options[j] == options[places(j, r, m)] for j in range(len(options)))


def test_an_id_with_the_mark_of_its_own_is_left_alone():
    assert origin("mail@rome") == ("mail@rome", 0)


@given(st.integers(2, 7), st.integers(0, 6), st.integers(0, 2), st.integers(0, 9))
def test_in_all_orders_every_option_stands_at_every_place_equally_often(m, label, closing, seed):
    options = tuple(f"o{j}" for j in range(m)) + (DONT_KNOW, NONE_OF_ABOVE)[:closing]
    question = Question("q", "qa", "g", "", "?", options, label % m)
    all_orders = [question, *reorderings(question, seed=seed)]
    assert len({q.id for q in all_orders}) == len({q.options for q in all_orders}) == len(all_orders)
    if m <= 4:
        assert {q.options[:m] for q in all_orders} == set(itertools.permutations(options[:m]))
    else:
        assert ABOUT <= len(all_orders) < ABOUT + m
    for j in range(m):
        assert set(Counter(q.options[j] for q in all_orders).values()) == {len(all_orders) // m}
    for q in all_orders:
        assert q.options[q.label] == options[question.label]
        assert q.options[m:] == options[m:]
        name, order = asked_order(q.id, m)
        assert name == "q"
        assert q.options[:m] == tuple(options[i] for i in order)


@given(st.integers(1, 8), st.data())
def test_an_order_and_its_number(m, data):
    order = data.draw(st.permutations(range(m)))
    assert permutation(order_number(order), m) == list(order)


def test_orders_are_numbered_as_they_are_spelled():
    assert [permutation(i, 4) for i in range(24)] == [list(order) for order in itertools.permutations(range(4))]
    assert order_numbers(6, seed=1) != order_numbers(6, seed=2)
    assert order_numbers(6, seed=1) == order_numbers(6, seed=1)


def test_a_rotation_is_an_order_too():
    assert asked_order("q@r2", 4) == ("q", [2, 3, 0, 1])
    assert asked_order("mail@oslo", 4) == ("mail@oslo", [0, 1, 2, 3])
    assert asked_order("q@o24", 4) == ("q@o24", [0, 1, 2, 3])  # four options have orders 0 to 23


def test_an_answer_of_the_question_s_own_stays_where_options_are_asked_as_texts():
    own = Question("q", "qa", "g", "", "?", ("2", "3", NONE_OF_ABOVE), 0)
    added = Question("q", "qa", "g", "", "?", ("2", NONE_OF_ABOVE, DONT_KNOW, NONE_OF_ABOVE), 0)
    assert answers_only(own).options == ("2", "3", NONE_OF_ABOVE)
    assert answers_only(added).options == ("2", NONE_OF_ABOVE)
