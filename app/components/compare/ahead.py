"""What the Compare page computes before its first paint, for :mod:`app.link_ahead`."""

from __future__ import annotations

from collections.abc import Mapping

from app.caches import compare_cache, run_cache
from app.components.compare.all_runs import set_rule
from app.components.shared.run_picker import chosen_runs
from app.state.address import opened
from app.state.compare import CompareView
from core.reports.compare import run_matrix


def read_ahead(address: Mapping[str, str]) -> None:
    """Fill the page's caches for a link with these names and values. Raises :class:`HedgeError` as the page does."""
    view, _ = opened(address, CompareView())
    chosen = chosen_runs(view, run_cache.runs().finished)
    if not chosen:
        return
    # The inspector's questions are left to the background: beside the page's script, they would delay the dot plots.
    compare_cache.compared(chosen, set_rule(view))
    run_matrix.groups(chosen)
