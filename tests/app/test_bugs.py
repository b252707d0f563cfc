"""The panel "Spot the bug" draws splits in which each bug shows, on the runs that ship."""

import re

import numpy as np
import pytest

from charts.bundles import COMPONENTS
from core.conformal.scores import score, true_scores
from core.reports import evaluation, frames
from core.runs import store
from tests.reference.redraw import PROCEDURES, redraw

DRAWS = 300
SHIPPED = [f"pocket-8m-{task}-task-0shot-float32-" for task in ("qa", "rc", "ci", "drs", "ds")]


def conditions() -> tuple[int, list[int]]:
    """The numbers of calibration questions and the alphas that the panel sets."""
    text = (COMPONENTS / "alpha_lab" / "bugs.js").read_text(encoding="utf-8")
    questions = re.search(r"^const BUG_QUESTIONS = (\d+);$", text, re.MULTILINE)
    alphas = re.search(r"^const BUG_ALPHAS = \[([\d, ]+)\];$", text, re.MULTILINE)
    assert questions
    assert alphas
    return int(questions[1]), [int(alpha) for alpha in alphas[1].split(",")]


@pytest.mark.parametrize("prefix", SHIPPED)
def test_each_bug_shows_on_a_run_that_ships(prefix: str):
    (run_id,) = [run_id for run_id in store.run_ids() if run_id.startswith(prefix)]
    run = evaluation.load(run_id)
    rows = frames.lab_tables(run)["rows"]
    places, clusters = rows["place"].to_numpy(), rows["cluster"].to_numpy()
    own = true_scores(score("aps", run.option_probabilities), run.labels)[places]
    probabilities = run.option_probabilities[places, run.labels[places]]
    questions, (common, rare) = conditions()

    def coverages(alpha: int) -> dict[str, np.ndarray]:
        return redraw(
            own,
            probabilities,
            n=questions,
            alpha=alpha,
            draws=DRAWS,
            clusters=clusters,
            seed=run.spec.seed,
            procedures=tuple(PROCEDURES),
        )

    # Points off the target. A split's coverage strays by 6.5 points (Beta(18, 2)), the mean of 300 by 0.4.
    drawn = coverages(common)
    off = {name: 100 * (coverage.mean() - 1) + common / 10 for name, coverage in drawn.items()}
    assert abs(off["exact"]) < 1.2
    assert off["higher"] > off["exact"] + 3
    assert off["summed again"] > off["exact"] + 5
    # Only the bug that looks at the test questions has no spread at all.
    spread = {name: np.ptp(np.quantile(coverage, (0.025, 0.975))) for name, coverage in drawn.items()}
    assert spread["test set"] < 0.005
    assert spread["exact"] > 0.1
    off = {name: 100 * (coverage.mean() - 1) + rare / 10 for name, coverage in coverages(rare).items()}
    assert off["exact"] == pytest.approx(rare / 10)  # too few questions for a threshold: every option stays
    assert off["clamped"] < -2
    assert off["linear"] < -2
