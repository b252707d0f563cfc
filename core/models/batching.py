"""Groups rows that share a forward pass."""

from collections.abc import Callable, Sequence

MAX_ROWS = 256


def token_batches(
    widths: Sequence[int], fits: Callable[[int, int], bool], *, equal: bool = False, max_rows: int = MAX_ROWS
) -> list[list[int]]:
    """Row numbers in batches of similar width, widest first, each as large as ``fits(rows, width)`` allows.

    A row that does not fit gets a batch of its own. ``equal`` starts a new batch wherever the width changes.

    >>> token_batches([3, 9, 4], lambda rows, width: rows * width <= 10)
    [[1], [2, 0]]
    """
    order = sorted(range(len(widths)), key=lambda row: (-widths[row], row))
    batches: list[list[int]] = []
    for row in order:
        widest = widths[batches[-1][0]] if batches else -1
        joins = batches and len(batches[-1]) < max_rows and fits(len(batches[-1]) + 1, widest)
        if joins and not (equal and widths[row] != widest):
            batches[-1].append(row)
        else:
            batches.append([row])
    return batches
