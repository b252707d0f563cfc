"""The Alpha lab's view for a paper: the figures of its two scores at its alpha."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.caches import alpha_lab_cache
from app.components.shared.paper import Paper, for_paper
from app.state.alpha_lab import AlphaLabView
from core.reports.compare.benchmark import SetRule
from core.reports.figure_names import RUN_FIGURES
from core.runs.store import RunRecord

if TYPE_CHECKING:
    from charts.figure_files import FigureFile
    from charts.figure_style import FigureStyle

FIGURES = ("coverage-by-alpha", "set-size-by-alpha", "sets-by-size", "reliability", "risk-coverage")
ONE_THRESHOLD = "This figure has one threshold for all questions."


def lab_paper(record: RunRecord, view: AlphaLabView) -> None:
    """Show the dialog of the lab's run in the view's split."""

    def make() -> Paper:
        from charts.figure_files import figures
        from core.reports import exports
        from core.reports.paper.runs import of_report

        sets = alpha_lab_cache.sets_of(record.run_id, view)
        rule = SetRule(sets.alpha, sets.scores, "exact", sets.empty)
        run = alpha_lab_cache.evaluation_of_split(record.run_id, sets.split)

        def draw(name: str, style: "FigureStyle") -> "Sequence[FigureFile]":
            drawn = figures([name], [run], rule, style)
            if sets.by == "all":
                return drawn
            return [replace(figure, footnotes=(*figure.footnotes, ONE_THRESHOLD)) for figure in drawn]

        return Paper(
            of_report(alpha_lab_cache.lab_report(record.run_id, sets), run, rule, by=sets.by),
            {name: RUN_FIGURES[name] for name in FIGURES},
            draw,
            lambda: exports.bibtex([run], rule),
        )

    for_paper("alpha_lab", make)
