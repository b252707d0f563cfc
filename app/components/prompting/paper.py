"""The ways of asking for a paper."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from app.caches import prompting_cache
from app.components.prompting.by_shots import EXPLANATIONS, MEASURES
from app.components.prompting.experiment import set_rule
from app.components.shared.paper import Paper, for_paper
from app.state.prompting import PromptingView
from charts.measures import MEASURES as MEASURE_TITLES
from core.reports.prompting.experiments import PromptingMethod

if TYPE_CHECKING:
    from charts.figure_files import FigureFile
    from charts.figure_style import FigureStyle


def prompting_paper(shown: tuple[PromptingMethod, ...], view: PromptingView) -> None:
    """Show the dialog of the ways of asking that are ``shown``."""

    def make() -> Paper:
        from charts.paper_figures import ways_of_asking
        from core.reports import exports
        from core.reports.paper.runs import of_prompting

        rule = set_rule(view)
        rows = prompting_cache.figures(shown, rule)
        runs = list({method.run_id: prompting_cache.evaluation(method) for method in shown}.values())

        def tests(base: PromptingMethod, others: tuple[PromptingMethod, ...]) -> pd.DataFrame:
            computation = prompting_cache.against(base, others, view.alpha, view.score)
            with st.spinner("Computing the paired tests …"):
                computation.run()
            return computation.value()

        results = of_prompting(shown, rows, runs, rule, tests)

        def draw(name: str, style: "FigureStyle") -> "Sequence[FigureFile]":
            return (ways_of_asking(rows, name, EXPLANATIONS[name], results, style),)

        titles = {name: MEASURE_TITLES[name][0] for name in MEASURES}
        return Paper(results, titles, draw, lambda: exports.bibtex(runs, rule))

    for_paper("prompting", make)
