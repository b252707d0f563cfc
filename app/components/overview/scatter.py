"""Accuracy against set size: small panels by task, colours by model, and a click that opens a run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st

from app import style
from app.components.overview.first_page import mount
from app.components.shared import figures
from app.components.shared.published_switch import source_lines
from app.components.shared.runs import open_run
from app.formatting import counted, plain
from app.state.overview import OverviewView
from charts import theme
from charts.accuracy_and_set_size import OPENED, Panel, accuracy_against_size, model_styles
from core.questions.bank_names import task_title
from core.reports.overview.published import ALPHA, PublishedResult
from core.reports.overview.similar_accuracy import alike
from core.reports.run_filter import task_key
from core.reports.toy_models import marked_toy

PUBLISHED_SAID = (
    "A hollow diamond is a figure that a paper prints, at alpha 0.1 and as a mean of several prompts and scores. It "
    "has no interval, the score does not move it, and it stands beside runs at this alpha alone. Hover over it to see "
    "the model and the source. Where no set size is printed for a task, there is no diamond."
)
SHOWN_PAIRS = 3
SEARCHED = (
    "These pairs were found by a search among all runs shown, and those that differ most come first. On new questions "
    "they may differ less."
)
UNBROKEN = "\u00a0"
COLORS = {theme.LAC: "lac", theme.APS: "aps", theme.TRUTH: "truth"} | {
    meaning: f"run-{place}" for place, meaning in enumerate(theme.MORE_RUNS, start=4)
}
"""What a colour means → its name in the component's style."""


@dataclass(frozen=True, slots=True)
class ScatterPanels:
    """What is drawn of the runs of a view: the models of the legend, and the panels with their specifications."""

    models: tuple[dict[str, str], ...]
    has_published: bool
    panels: tuple[tuple[Panel, dict[str, Any]], ...]


def scatter_panels(table: pd.DataFrame, view: OverviewView, printed: Sequence[PublishedResult]) -> ScatterPanels:
    """The panels of an overview frame. The ``printed`` results are in the panels of runs with the same bank's
    questions, otherwise in panels of their own."""
    frame = published_frame(comparable(table, view.alpha, printed))
    styles = [] if table.empty else model_styles(table["model"].tolist())
    panels = accuracy_against_size(table, view.score, frame)
    return ScatterPanels(
        tuple(
            {"name": marked_toy(run_style.name), "meaning": COLORS[run_style.meaning], "path": run_style.shape}
            for run_style in styles
        ),
        not frame.empty,
        tuple((panel, panel.figure.page_spec()) for panel in panels),
    )


def scatter(table: pd.DataFrame, view: OverviewView, panels: ScatterPanels) -> None:
    """Show the panels with their legend, and pairs of models that differ only in certainty."""
    mount("legend", models=panels.models, published="published, not computed here" if panels.has_published else "")
    st.html(style.PANELS)
    with st.container(key=style.PANELS_KEY):
        for panel, spec in panels.panels:
            key = f"scatter-{panel.key}"
            with st.container():
                options = counted(panel.options, "option").replace(" ", UNBROKEN)
                st.markdown(f"**{plain(panel.title)}**{UNBROKEN}· {options}")  # no line begins with the dot
                chosen: Callable[[], None] | Literal["ignore"] = partial(_clicked, key) if panel.opens else "ignore"
                figures.draw(panel.figure, key=key, on_select=chosen, spec=spec)
    with st.container(horizontal=True, gap="medium"):
        st.caption(
            "Each mark is a run, with the 95% intervals of its accuracy and its mean set size. Of two models that are "
            "right equally often on the same questions, the one further down keeps the same promise with fewer "
            "options. A click on a mark opens the run in the Alpha lab."
            + (" " + PUBLISHED_SAID if panels.has_published else ""),
            width="stretch",
        )
        if table.empty:
            return
        about = figures.about(table["run"].tolist(), view.alpha)
        figures.download("Data of these figures", table, f"accuracy-and-{view.score}-set-size", about)
    _alike_models(table, view.score)


def _alike_models(table: pd.DataFrame, score: str) -> None:
    """Show pairs of similar accuracy whose certainty differs most, one sentence per pair."""
    pairs = alike(table, score)
    for pair in pairs[:SHOWN_PAIRS]:
        st.markdown(
            plain(
                f"On {task_title(pair.task, pair.bank)}, {pair.surer_model} and {pair.other_model} are right about "
                f"equally often ({_percent(pair.accuracies[0])} and {_percent(pair.accuracies[1])}), but "
                f"{pair.surer_model} needs {pair.sizes[0]:.2f} options per question and {pair.other_model} "
                f"{pair.sizes[1]:.2f}."
            )
        )
    if pairs:
        st.caption(SEARCHED)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def comparable(table: pd.DataFrame, alpha: int, printed: Sequence[PublishedResult]) -> list[PublishedResult]:
    """The results without those that would stand beside runs at another ``alpha`` (thousandths) than their own."""
    keys = {task_key(*row) for row in table[["task", "bank"]].itertuples(index=False)} if len(table) else set()
    return [result for result in printed if alpha == ALPHA or result.key not in keys]


def published_frame(printed: Sequence[PublishedResult]) -> pd.DataFrame:
    """The results whose set size is printed, as the panels draw them."""
    shown = [result for result in printed if result.set_size is not None]
    columns = ("model", "task", "bank", "accuracy", "set_size", "k")
    rows = [
        [*(getattr(result, name) for name in columns), result.key, *source_lines(result.source)] for result in shown
    ]
    return pd.DataFrame(rows, columns=[*columns, "task_key", "source", "note"])


def _clicked(key: str) -> None:
    chosen = st.session_state[key].selection.get(OPENED) or []
    if chosen:
        open_run(str(chosen[0]["run"]))
