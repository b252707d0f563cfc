"""Coverage under a shift as a live figure. It follows the Alpha lab's alpha in the browser, without the server."""

from pathlib import Path

import pyarrow as pa

from app.components.shared.bundled import component
from core.reports.alpha_lab.covariate_shift import Shifted

_mount = component("shift", Path(__file__).with_name("shift.html"))


def shift_figure(shifted: Shifted, *, alpha: int, pairs: int, key: str) -> None:
    """Show coverage and mean set size under a shift, unweighted and weighted, at the lab's alpha.

    ``alpha``, in thousandths, is the value at the start. ``pairs`` is the number of pairs among which the two sides
    were found by a search; it is 0 if a person chose them.
    """
    _mount(
        key=key,
        data={
            "curves": pa.table(
                {
                    "coverage": shifted.coverage,
                    "size": shifted.mean_set_size,
                    "weighted_coverage": shifted.weighted_coverage,
                    "weighted_size": shifted.weighted_mean_set_size,
                }
            ),
            "n": shifted.n,
            "m": shifted.m,
            "source": shifted.source,
            "target": shifted.target,
            "alpha": alpha,
            "pairs": pairs,
        },
    )
