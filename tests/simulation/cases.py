"""Every simulation there is, by the page that it is about."""

from tests.simulation import (
    calibration,
    claims,
    classroom,
    coverage,
    jury,
    label_budget,
    perplexity,
    power,
    rotations,
    run_matrix,
    search,
    selective,
    set_sizes,
    streams,
)
from tests.simulation.case import Case

CASES: tuple[Case, ...] = (
    *coverage.CASES,
    *set_sizes.CASES,
    *run_matrix.CASES,
    *power.CASES,
    *search.CASES,
    *calibration.CASES,
    *rotations.CASES,
    *jury.CASES,
    *selective.CASES,
    *label_budget.CASES,
    *perplexity.CASES,
    *claims.CASES,
    *streams.CASES,
    *classroom.CASES,
)
"""In the order of the table that the command prints."""
