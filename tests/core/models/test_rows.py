from hypothesis import given
from hypothesis import strategies as st

from core.models.rows import common_prefix, split_options

tokens = st.lists(st.integers(0, 2), min_size=1, max_size=8).map(tuple)


@given(st.lists(tokens, min_size=1, max_size=6))
def test_the_common_prefix_is_shared_longest_and_leaves_a_token(rows):
    shared = common_prefix(rows)
    assert len({row[:shared] for row in rows}) == 1
    assert all(len(row) > shared for row in rows)
    longer = shared + 1
    assert any(len(row) <= longer for row in rows) or len({row[:longer] for row in rows}) > 1


@given(tokens, st.lists(tokens, min_size=2, max_size=4))
def test_options_begin_where_the_context_ends(context, options):
    row = split_options(context, [context + option for option in options])
    assert row.context == context
    assert row.options == tuple(options)


def test_a_merged_seam_moves_into_the_options():
    # "Answer: x" where the tokenizer merges ":" and " x" into one token 9.
    row = split_options((1, 2, 3), [(1, 2, 9), (1, 2, 3, 7)])
    assert row.context == (1, 2)
    assert row.options == ((9,), (3, 7))


def test_what_equals_its_context_still_has_a_token():
    assert split_options((1, 2, 3), [(1, 2, 3)]).options == ((3,),)
