"""The parts of the Compare page: which runs, their figures, two of them question by question, claims, abstaining."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app import data, state
from app.components.shared import figures
from app.components.shared.runs import no_runs_yet, titles
from app.formatting import counted, plain, shortened
from app.state import MOST_COMPARED, NO_RUNS, View
from charts.abstention_cost import abstention_cost
from charts.bars import bars
from charts.claim import claim
from charts.figure_files import risk_frame
from charts.heat_map import heat_map, set_sizes
from charts.measures import MEASURES
from charts.parallel_coordinates import parallel_coordinates
from charts.radar import radar
from charts.risk_curves import risk_curves
from charts.run_names import full_names, task_labels
from charts.sizes_when_right import sizes_when_right
from core.errors import InputError
from core.reports.compare import claims, paired, selective, side_by_side
from core.reports.compare.benchmark import SetRule
from core.reports.compare.claims import PublishedClaim
from core.reports.overview import published
from core.reports.report import shown_with
from core.runs.banks import question_set, task_label

RUNS_KEY = "compared_runs"
LATEST_KEY = "compare_the_latest"
FIRST_SHOWN = 6
MEASURE_KEY = "compared_measure"
SHOWN_QUESTIONS = 200
FEW_FOR_RADAR = 9
TESTS_HELP = "Corrected for the three hypotheses of this table (Holm); below 0.05 a difference is more than luck."
TEST_HELP = (
    "One test for each hypothesis. The permutation test swaps the two runs question by question on the calibration and "
    "the test side and forms both thresholds again: all sets share the luck of the calibration questions."
)
INTERVAL_HELP = (
    "Bootstrap over questions; for set size and UAcc the calibration questions are redrawn too. For two runs that are "
    "nearly alike those two are wider than they need to be: they hold the expected difference for 98 of 100 pairs or "
    "more."
)
OF_SETS = "A rule is the 95 % interval, which counts the luck of the calibration questions and of the test questions."
RULES = {
    "accuracy": "A rule is the 95 % Clopper–Pearson interval. Accuracy does not depend on alpha.",
    "coverage": "A rule is the Beta-Binomial band: coverage lies in it for 95 % of draws where the guarantee holds.",
    "mean_set_size": OF_SETS,
    "uacc": OF_SETS,
    "ece_excess": "A rule is the 95 % interval of the error beyond luck. It does not depend on alpha.",
}
"""From a figure to what its chart's caption says."""
CONTRAST_TITLES = {"dtype": "Precision", "strategy": "Strategy", "shots": "Shots", "form": "Letters or texts"}


def choose(view: View, what: str = "Runs side by side", *, first: int = FIRST_SHOWN) -> tuple[str, ...]:
    """The runs that are compared, the ``first`` latest where the view names none.

    Empty where there are no runs or where a person cleared them all; then it says that ``what`` would be shown.
    """
    found = titles(data.runs().finished)
    if not found:
        no_runs_yet(what)
        return ()
    cleared = view.runs == NO_RUNS
    asked = [] if cleared else [name for name in view.runs.split(",") if name]
    gone = [name for name in asked if name not in found]
    for name in gone:
        st.warning(plain(f"There is no finished run {shortened(name)} here (any more)."))
    chosen = [name for name in asked if name in found] or ([] if cleared else list(found)[:first])
    st.session_state[RUNS_KEY] = chosen
    st.multiselect(
        "Runs",
        list(found),
        format_func=found.__getitem__,
        key=RUNS_KEY,
        on_change=_chosen,
        max_selections=MOST_COMPARED,
        # Streamlit highlights "Select all" when the list opens, and Enter would take every run.
        select_all=False,
        help="What is chosen stands in the page's address.",
    )
    if cleared:
        _none_chosen(what, min(first, len(found)))
    return tuple(chosen)


def _chosen() -> None:
    state.change(runs=",".join(st.session_state[RUNS_KEY]) or NO_RUNS)


def _choose_latest() -> None:
    state.change(runs="")


def _none_chosen(what: str, latest: int) -> None:
    """What an emptied choice says, with the one click that fills it again."""
    st.info(f"No run is chosen. {what} would be here: choose at least one run above.")
    said = "Show the latest run" if latest == 1 else f"Show the latest {latest} runs"
    st.button(said, key=LATEST_KEY, on_click=_choose_latest)


def asked_of(view: View) -> SetRule:
    """How sets are formed here: the view's score first."""
    return SetRule(view.alpha, shown_with(view.score), "exact", view.empty)


def overview(rows: pd.DataFrame, score: str) -> None:
    """One figure of all runs: a heat map over tasks, or bars with intervals."""
    titles_of = {name: title for name, (title, _) in MEASURES.items()}
    measure = st.segmented_control(
        "Figure",
        list(titles_of),
        format_func=titles_of.__getitem__,
        default="mean_set_size",
        required=True,
        key=MEASURE_KEY,
    )
    of_score = rows[rows["score"] == score]
    figures.show(
        bars(rows, measure),
        RULES[measure],
    )
    if len(set(task_labels(of_score))) > 1 and measure in ("accuracy", "coverage", "mean_set_size"):
        figures.show(
            heat_map(of_score, measure),
            "The stronger the blue of a cell, the larger the figure; a cell at 0 has the colour of the page.",
        )


def shapes(rows: pd.DataFrame, run_ids: Sequence[str], view: View) -> None:
    """How large sets are, when they are, and five figures at once."""
    of_score = rows[rows["score"] == view.score]
    names = full_names(of_score)
    runs = [data.compared_evaluation(name) for name in run_ids]
    figures.show(
        set_sizes(side_by_side.size_shares(runs, names, view.alpha, view.score)),
        "A sure model has many sets of one option; a set of none says that no option fits.",
    )
    figures.show(
        sizes_when_right(side_by_side.sizes_when_right(runs, names, view.alpha, view.score)),
        "Where a model knows what it does not know, its sets are larger where its top option is wrong.",
    )
    if len(of_score) <= FEW_FOR_RADAR:
        figures.show(
            radar(of_score),
            "Each axis runs from 0 at the centre to the best there can be; the area means nothing. A click on a name "
            "hides its run or shows it again.",
        )
    figures.show(
        parallel_coordinates(of_score),
        "A line is a run, from its name over its five figures. Drag along an axis to keep the runs that pass there.",
    )


def contrasts(rows: pd.DataFrame, score: str) -> None:
    """Tables of runs that differ in one setting alone."""
    of_score = rows[rows["score"] == score]
    shown = False
    for setting, title in CONTRAST_TITLES.items():
        table = side_by_side.contrast(of_score, setting)
        if table.empty:
            continue
        shown = True
        st.markdown(f"**{title}**")
        st.dataframe(
            table.drop(columns="score"),
            hide_index=True,
            column_config={
                "accuracy": st.column_config.NumberColumn("accuracy", format="%.3f"),
                "coverage": st.column_config.NumberColumn("coverage", format="%.3f"),
                "mean_set_size": st.column_config.NumberColumn("mean set size", format="%.3f"),
                "uacc": st.column_config.NumberColumn("UAcc", format="%.3f"),
                "ece_excess": st.column_config.NumberColumn("ECE beyond luck", format="%.3f"),
                "ece_low": st.column_config.NumberColumn("95 % from", format="%.3f"),
                "ece_high": st.column_config.NumberColumn("95 % to", format="%.3f"),
                "ece": st.column_config.NumberColumn("ECE seen", format="%.3f"),
                "ece_luck": st.column_config.NumberColumn("ECE by luck", format="%.3f"),
                "prompts_a_second": st.column_config.NumberColumn("prompts a second", format="%.1f"),
                "model_gb": st.column_config.NumberColumn(
                    "weights, GB", format="%.3f", help="Parameters times the bytes of their precision."
                ),
            },
            alt=f"Runs that differ in {setting} alone",
        )
        figures.download(f"{title} as CSV", table, f"contrast-{setting}")
    if not shown:
        st.caption("No two of these runs are alike but for their precision, strategy, shots or form.")


def _asked_together(run_id: str) -> tuple[str, str]:
    """What a run's partner should have been asked too: the task with its bank, and the very questions."""
    record = data.record(run_id)
    return task_label(record.spec, record.provenance), question_set(run_id)


def two_runs(run_ids: Sequence[str], view: View) -> None:
    """Two runs question by question, with paired tests."""
    found = titles([data.record(name) for name in run_ids])
    left, right = st.columns(2)
    first = left.selectbox("First run", list(found), 0, format_func=found.__getitem__, key="pair_first")
    asked = _asked_together(first)
    others = sorted((name for name in found if name != first), key=lambda name: _asked_together(name) != asked)
    if not others:
        st.info("This part compares two runs and one is chosen. Choose a second run at the top of the page.")
        return
    second = right.selectbox("Second run", others, 0, format_func=found.__getitem__, key="pair_second")
    try:
        pair, questions = data.pair(first, second, view.alpha, view.score)
    except InputError as error:
        st.info(plain(f"{error}."))
        return
    a, b, c, d = st.columns(4)
    a.metric("Both right", f"{pair.both_right:,}")
    b.metric("Only the first right", f"{pair.only_first:,}")
    c.metric("Only the second right", f"{pair.only_second:,}")
    d.metric("Both wrong", f"{pair.both_wrong:,}")
    st.caption(
        f"On {counted(pair.n, 'shared test question')} the second run's sets grew {pair.grew:,} times, shrank "
        f"{pair.shrank:,} times and stayed as large {pair.same:,} times."
    )
    rows = [
        ("Accuracy", pair.accuracy, "accuracy"),
        ("Mean set size", pair.set_size, "set_size"),
        ("UAcc", pair.uacc, "uacc"),
    ]
    table = pd.DataFrame(
        [
            {
                "Figure": name,
                "Difference": of.mean,
                "95 % interval": f"{of.low:+.3f} to {of.high:+.3f}",
                "Cohen's d": "–" if math.isnan(of.cohens_d) else f"{of.cohens_d:.2f}",
                "Test": paired.TESTS[key],
                "p": pair.p_values[key],
                "p, Holm": pair.holm[key],
            }
            for name, of, key in rows
        ]
    )
    st.dataframe(
        table,
        hide_index=True,
        column_config={
            "Difference": st.column_config.NumberColumn(format="%+.3f", help="Second less first."),
            "95 % interval": st.column_config.TextColumn(help=INTERVAL_HELP),
            "Cohen's d": st.column_config.TextColumn(
                help="The difference in standard deviations over questions, at these two thresholds."
            ),
            "Test": st.column_config.TextColumn(help=TEST_HELP),
            "p": st.column_config.NumberColumn(format="%.3g"),
            "p, Holm": st.column_config.NumberColumn(format="%.3g", help=TESTS_HELP),
        },
        alt="Differences of the two runs with paired tests",
    )
    if any(pair.alone):
        st.caption(
            f"{counted(pair.n_calibration, 'calibration question')} of both runs are swapped by the permutation test; "
            f"{pair.alone[0]:,} and {pair.alone[1]:,} calibrate one run only and stay with it."
        )
    st.dataframe(
        questions.head(SHOWN_QUESTIONS),
        hide_index=True,
        height=260,
        column_config={
            "first_right": st.column_config.CheckboxColumn("first right"),
            "second_right": st.column_config.CheckboxColumn("second right"),
            "first_size": "first set",
            "second_size": "second set",
            "change": st.column_config.NumberColumn("grew by", format="%+d"),
        },
        alt="Questions whose sets grew most come first",
    )
    figures.download("All shared questions as CSV", questions, "two-runs")


def published_claims(rows: pd.DataFrame, score: str) -> None:
    """The three claims on the chosen runs, or on a published table."""
    tables = {"runs": "The chosen runs", "ye-2024": "Figures of Ye et al. 2024, as published"}
    which = st.segmented_control(
        "Tested on", list(tables), format_func=tables.__getitem__, default="runs", required=True, key="claims_on"
    )
    table = rows[rows["score"] == score] if which == "runs" else published.published(which)
    st.caption(
        "Certainty is the mean set size. A model counts once, with its mean over the sets of questions on which all of "
        "these models were tested. A verdict needs a 95 % interval that leaves 0 out and a p below 0.05. A correlation "
        "does not contradict what only “may” be: there can be no general tendency and yet an instance. The intervals "
        "treat the models as independent draws, which models of one family are not quite. "
        "With eight models or fewer they are a little wide: they hold the truth in 95 to 98 of 100 draws."
    )
    columns = st.columns(3)
    for column, made in zip(columns, claims.claims(table), strict=True):
        with column:
            _claim(made, which)


def _claim(made: PublishedClaim, which: str) -> None:
    st.markdown(f"“{made.statement}”")
    st.markdown(f"**{plain(made.verdict[:1].upper() + made.verdict[1:])}**")
    if math.isnan(made.figure):
        st.caption(plain(f"{made.measure}: nothing to compute it from."))
        return
    interval = f" ({made.low:+.2f} to {made.high:+.2f})" if math.isfinite(made.low) else ""
    p = "" if math.isnan(made.p_value) else f", p {made.p_value:.2g}"
    st.caption(plain(f"{made.measure}: {made.figure:+.2f}{interval}{p}, n = {made.n}."))
    if made.instance:
        st.caption(plain(made.instance))
    x_title = {"accuracy": "Accuracy", "scale": "Parameters", "tuning": "Mean set size of the base model"}[made.name]
    figure = claim(
        made.points, f"{made.name}-{which}", x_title, log=made.name == "scale", diagonal=made.name == "tuning"
    )
    figures.show(
        figure,
        {"tuning": "Above the line tuning made sets larger."}.get(made.name, "A mark is a model; a hover names it."),
    )


def abstaining(run_ids: Sequence[str], rows: pd.DataFrame, view: View) -> None:
    """What is right where the model may say nothing: by share of the surest, and by sets of one option."""
    names = full_names(rows[rows["score"] == view.score])
    runs = [data.compared_evaluation(name) for name in run_ids]
    curves = pd.concat([risk_frame(run, name) for run, name in zip(runs, names, strict=True)], ignore_index=True)
    figures.show(
        risk_curves(curves),
        "A curve that starts low and rises late belongs to a model that knows when it is right.",
    )
    st.markdown("**Answer only where the set holds one option**")
    left, right = st.columns([2, 1])
    name = left.selectbox("Run", names, 0, key="abstaining_run")
    price = right.slider(
        "Cost of saying nothing",
        0.0,
        1.0,
        0.3,
        0.05,
        key="abstaining_cost",
        help="A wrong answer costs 1, a right one 0.",
    )
    made = selective.abstention(runs[names.index(name)], view.score)
    frame = pd.DataFrame(
        {
            "alpha": made.alphas / 1000,
            "answered": made.answered,
            "accuracy": made.accuracy,
            "cost": made.cost(price),
        }
    )
    best = frame.iloc[int(frame["cost"].argmin())]
    here = frame.iloc[view.alpha - 1]
    figures.show(
        abstention_cost(frame),
        f"At alpha {here['alpha']:.3f} it answers {here['answered']:.0%}"
        + ("" if math.isnan(here["accuracy"]) else f" and is right on {here['accuracy']:.0%} of those")
        + f"; the cost is least at alpha {best['alpha']:.3f}, {best['cost']:.3f} a question. Alpha chosen so is chosen "
        "on these test questions.",
    )
