"""The diagrams of the Calibration page for a paper."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.caches import run_cache
from app.components.calibration import calibration_cache
from app.components.calibration.diagrams import Named
from app.components.shared.paper import Paper, for_paper
from app.components.shared.run_paper import paper_of
from app.state.calibration import CalibrationView
from core.reports.calibration.calibrated import CalibrationFigures
from core.reports.compare.benchmark import SetRule
from core.reports.report import shown_with
from core.reports.titles import record_task_title

if TYPE_CHECKING:
    from charts.figure_files import FigureFile
    from charts.figure_style import FigureStyle

FIGURES = ("reliability", "coverage-by-alpha", "bars-ece-excess", "forest")


def calibration_paper(named: Sequence[Named], view: CalibrationView) -> None:
    """Show the dialog of the diagrams."""

    def make() -> Paper:
        from charts.paper_figures import reliability_diagrams
        from core.reports.paper.runs import of_calibration

        rule = SetRule(view.alpha, shown_with(view.score), "exact", view.empty)
        run_ids = list(dict.fromkeys(entry.diagram.run for entry in named))
        figures: dict[tuple[str, str], CalibrationFigures] = {}
        for run_id in run_ids:
            computation = calibration_cache.calibrated(run_id, view.within, view.bins, view.edges)
            computation.run()
            figures |= {(run_id, entry.stratum): entry for entry in computation.value()}
        shown = [(entry.name, figures[entry.diagram.run, entry.diagram.stratum]) for entry in named]
        tasks = [record_task_title(run_cache.record(entry.diagram.run)) for entry in named]
        paper = paper_of(run_ids, rule, FIGURES, lambda runs: of_calibration(shown, runs, rule, tasks))

        def draw(name: str, style: "FigureStyle") -> "Sequence[FigureFile]":
            if name == "reliability":
                return (reliability_diagrams(shown, paper.results, style),)
            return paper.draw(name, style)

        return replace(paper, draw=draw)

    for_paper("calibration", make)
