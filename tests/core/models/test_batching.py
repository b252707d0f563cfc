from hypothesis import given
from hypothesis import strategies as st

from core.models.batching import token_batches


@given(st.lists(st.integers(1, 50), max_size=60), st.integers(1, 200), st.integers(1, 8), st.booleans())
def test_every_row_once_within_the_budget(widths, budget, max_rows, equal):
    batches = token_batches(widths, lambda rows, width: rows * width <= budget, equal=equal, max_rows=max_rows)
    assert sorted(row for batch in batches for row in batch) == list(range(len(widths)))
    for batch in batches:
        widest = max(widths[row] for row in batch)
        assert widths[batch[0]] == widest
        assert len(batch) <= max_rows
        assert len(batch) == 1 or widest * len(batch) <= budget
        assert not equal or len({widths[row] for row in batch}) == 1


def test_rows_of_like_width_share_a_batch():
    assert token_batches([5, 1, 5, 1], lambda rows, width: rows <= 2) == [[0, 2], [1, 3]]
