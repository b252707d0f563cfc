"""The compared runs side by side, all pairs of them, and the inspector of one pair."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
import streamlit as st

from app.background import Computation, after_paint, arrived, computing
from app.caches import run_cache
from app.components.compare import compare_cache, switches
from app.components.compare.compare_cache import InspectorTables
from app.components.compare.comparison import comparison
from app.components.compare.inspector import inspector
from app.components.compare.pair_state import INSPECTOR_KEY
from app.components.compare.published_filter import active_filter
from app.components.shared.caveat_notes import footnote_caption
from app.components.shared.runs import titles
from app.components.shared.seed import was_shown
from app.formatting import counted, plain, sentence
from app.state.compare import CompareView
from charts.run_names import unique
from core.conformal.scores import SCORES
from core.errors import InputError, UnreadableRunError
from core.reports.caveats import marked
from core.reports.compare import paired
from core.reports.compare.common_options import options_words
from core.reports.compare.pair_in_words import pair_in_words
from core.reports.compare.run_matrix import MOST_RUNS, RunMatrix
from core.reports.compare.shared_questions import few_shared, shared_words
from core.reports.compare.what_differs import what_differs
from core.reports.overview import published
from core.reports.overview.published import PublishedResult
from core.reports.p_values import p_text
from core.reports.run_filter import RunFilter
from core.reports.titles import record_task_title, row_names
from core.runs.caveats import COLUMN
from core.runs.model_files import served_weights

ONE_RUN = "A comparison needs two runs, and only one is chosen. Choose a second run at the top of the page."
NONE_SHARED = "No two of the chosen runs were tested on the same questions."
ANSWER_HEIGHT = 72
"""About the height of the answer in a wide window, in pixels."""
OF_FEW = "Where few questions differ, they hold the true difference in 95% of draws or more."
TOGETHER = "all of them hold the true differences in at least 95% of draws"


def pairs(run_ids: Sequence[str], rows: pd.DataFrame, view: CompareView) -> bool:
    """Show which run of a pair is better, the dot plots of all runs, the matrix of those that share questions, the
    page's switches, and the questions of the pair.

    Returns whether to draw the rest of the page now. In a session's first run it comes with the questions, in
    the next run, because the browser paints the dot plots only when it has drawn everything that was sent with them.
    """
    records = {name: run_cache.record(name) for name in run_ids}
    caveats = dict(rows[["run", COLUMN]].itertuples(index=False, name=None))
    plain_titles = titles(list(records.values()))
    marked_titles = {name: marked(title, caveats[name]) for name, title in plain_titles.items()}
    heading, row_titles = row_names(list(records.values()))
    names = {name: marked(title, caveats[name]) for name, title in row_titles.items()}
    tasks = {record_task_title(record) for record in records.values()}
    groups = compare_cache.groups(run_ids)
    group = group_of(groups, view)
    tables, matrix, problem = _tested(group, marked_titles, view)
    printed = _published(rows, view) if view.published == "on" else []
    with st.container():
        if not problem:
            _answer(matrix, group, caveats, view, several_tasks=len(tasks) > 1)
    comparison(
        rows,
        marked_titles,
        names=names,
        heading="" if heading in tasks else heading,  # the line of the chosen runs says the task
        group=group,
        groups=_named(names for names in groups if len(names) > 1),
        matrix=matrix,
        problem=problem,
        published=printed,
        view=view,
    )
    footnote_caption((title, caveats[name]) for name, title in plain_titles.items())
    with st.container():
        untested = [] if problem else _untested(run_ids, group, groups, names)
        for note in filter(None, [_published_said(printed, view), *untested, _notes(rows, group, matrix)]):
            st.caption(plain(note))
    switches.show(view, rows, matrix)
    if problem:
        return True
    with st.expander("How the differences are tested", key="pairs_said"):
        st.markdown(_said(matrix, view.score) if matrix else "The tests are being computed.")
    st.subheader("Two runs, question by question", anchor=False)
    stamps = ",".join(run_cache.version(name) for name in group)
    inspector(
        group,
        [marked_titles[name] for name in group],
        tables,
        names=[names[name] for name in group],
        others=[(name, marked_titles[name]) for name in run_ids if name not in group],
        version=f"{stamps}|{view.alpha}|{view.score}|{view.empty}",
        view=view,
    )
    return tables is not None


def _tested(
    group: tuple[str, ...], marked_titles: Mapping[str, str], view: CompareView
) -> tuple[InspectorTables | None, RunMatrix | None, str]:
    """The questions and the matrix of the group, as far as they are there, and why there can be none."""
    if len(group) < 2:
        few = few_shared(list(marked_titles), marked_titles) or NONE_SHARED
        return None, None, ONE_RUN if len(marked_titles) == 1 else few
    try:
        tables = _tables(group, view)
        return tables, arrived(compare_cache.matrix(group, view.alpha, view.score, view.empty)), ""
    except UnreadableRunError:
        raise
    except InputError as error:
        return None, None, sentence(str(error))


def matrix_of(run_ids: Sequence[str], view: CompareView) -> Computation[RunMatrix] | None:
    """All pairs of the runs that are tested on the page; None if no two of them share their questions."""
    group = group_of(compare_cache.groups(run_ids), view)
    return compare_cache.matrix(group, view.alpha, view.score, view.empty) if len(group) > 1 else None


def _tables(group: tuple[str, ...], view: CompareView) -> InspectorTables | None:
    """The inspector's questions. None at its first paint, so that nobody waits for them to see the dot plots above.

    Raises :class:`InputError` if the runs share fewer than 10 test questions.
    """
    computation = compare_cache.inspector_tables(group, view.alpha, view.score, view.empty)
    if not was_shown(INSPECTOR_KEY):
        after_paint(computation)
        return None
    computation.run()  # they replace those on the page in one step
    return computation.value()


def _answer(
    matrix: RunMatrix | None,
    group: Sequence[str],
    caveats: Mapping[str, object],
    view: CompareView,
    *,
    several_tasks: bool,
) -> None:
    """Say which run of the pair is right more often and which is more certain, or that nobody can tell."""
    if matrix is None:
        computing("which run is more certain, and whether this can be chance", height=ANSWER_HEIGHT)
        return
    records = [run_cache.record(name) for name in group]
    _, names = row_names(records)
    marked_names = [marked(names[name], caveats[name]) for name in group]
    words, figures = pair_in_words(matrix, marked_names, *_chosen_pair(group, view), score=view.score)
    st.subheader(plain(f"{record_task_title(records[0])}: {words}" if several_tasks else words), anchor=False)
    st.caption(plain(figures))


def _chosen_pair(group: Sequence[str], view: CompareView) -> tuple[int, int]:
    """The places of the pair that the matrix and the inspector show: the first two, unless the view names others."""
    first, second = (group.index(name) if name in group else -1 for name in (view.first, view.second))
    first = first if first >= 0 else int(second == 0)
    return first, second if second not in (-1, first) else int(first == 0)


def _untested(
    run_ids: Sequence[str], group: Sequence[str], groups: Sequence[tuple[str, ...]], names: Mapping[str, str]
) -> list[str]:
    """A sentence for each reason for which some of the runs take part in no test with those of ``group``."""
    reasons: dict[str, list[str]] = {}
    for name in run_ids:
        if name not in group:
            own = next(members for members in groups if name in members)
            reasons.setdefault(_why_untested(own, group), []).append(names[name])
    return [
        f"{', '.join(left)} {'takes' if len(left) == 1 else 'take'} part in no test here, because {reason}."
        for reason, left in reasons.items()
    ]


def _why_untested(own: Sequence[str], group: Sequence[str]) -> str:
    if len(own) == 1:
        return "no other chosen run was tested on the same questions"
    if set(own) > set(group):
        return (
            f"at most {MOST_RUNS} runs are tested together"
            if len(group) == MOST_RUNS
            else "the two runs of the link share too few questions with others"
        )
    return "runs are tested on the questions that they share; choose other questions beside “All pairs”"


def group_of(groups: Sequence[tuple[str, ...]], view: CompareView) -> tuple[str, ...]:
    """The runs of the matrix: those that share questions with the inspector's two runs, or these two alone."""
    linked = [name for name in (view.first, view.second) if any(name in group for group in groups)]
    for group in groups:
        if linked and all(name in group for name in linked) and len(group) > 1:
            first = [name for name in group if name not in linked][: MOST_RUNS - len(linked)]
            return tuple(name for name in group if name in first or name in linked)
    if len(set(linked)) == 2:
        return linked[0], linked[1]
    largest = max(groups, key=len)
    return largest[:MOST_RUNS]


def _published(rows: pd.DataFrame, view: CompareView) -> list[list[PublishedResult]]:
    """The published figures on the tasks of the runs that the filter keeps, a group for each table and task."""
    return published.of_tasks(rows["task"].drop_duplicates().tolist(), active_filter(view))


def _published_said(printed: Sequence[Sequence[PublishedResult]], view: CompareView) -> str:
    """A note on how the published rows differ, or that the filter leaves none."""
    if not printed:
        filtered = view.published == "on" and active_filter(view) != RunFilter()
        return "The filter leaves no published figures of these tasks." if filtered else ""
    return (
        "Hollow diamonds are published figures of models up to 72 B parameters, as their authors averaged them. Their "
        "set sizes are at alpha 0.1 and are drawn at this alpha alone. They have no intervals, and no test compares "
        "them with a run. A number at the end of a row counts the models beyond the axis."
    )


def _named(groups: Iterable[tuple[str, ...]]) -> list[tuple[str, tuple[str, ...]]]:
    """Each group with the title of its questions; no two titles are alike."""
    remaining = list(groups)
    return list(
        zip(unique(record_task_title(run_cache.record(names[0])) for names in remaining), remaining, strict=True)
    )


def _notes(rows: pd.DataFrame, group: Sequence[str], matrix: RunMatrix | None) -> str:
    """What a reader would overlook: other options, questions that are left out, and settings that differ."""
    own = rows.drop_duplicates("run").set_index("run").loc[list(group)]
    records = [run_cache.record(name) for name in group]
    differs = what_differs(
        [record.spec for record in records],
        calibrate=own["n_calibration"].tolist(),
        served=list(served_weights(records).values()),
    )
    shared = shared_words(matrix.tested, matrix.n_test, matrix.units, repeats=matrix.repeats) if matrix else []
    return " ".join(filter(None, (options_words(rows), *shared, differs if len(group) > 1 else "")))


def _said(matrix: RunMatrix, score: str) -> str:
    """How to read the tests and intervals of the matrix, as a list."""
    many = len(matrix.pairs["accuracy"])
    sentences = [
        f"All of these runs share the same {counted(matrix.n_test, 'test question')}.",
        "Accuracy has the exact McNemar test and Tango's interval.",
        "Mean set size and UAcc have a paired permutation test. It swaps the two runs' answers to calibration and test "
        "questions and computes both thresholds again, because all sets of a run depend on the same calibration "
        "questions.",
    ]
    if matrix.units < matrix.n_test:
        sentences.append("All rows of a question are swapped at once, and an interval counts them as one.")
    if many > 1:
        sentences += [
            f"P-values are corrected for all {many} pairs of a figure (Holm): the chance of any false difference is at "
            "most 5%.",
            f"The intervals of a figure belong together: {TOGETHER} (Bonferroni).",
        ]
    else:
        sentences.append(f"The intervals are 95% intervals that cover the draw of calibration questions. {OF_FEW}")
    if SCORES[score].tuned:
        sentences.append(paired.CHOSEN)
    if matrix.smallest_p > 0.001:
        sentences.append(f"This many swaps and pairs give at least a p-value of {p_text(matrix.smallest_p)}.")
    if any(matrix.alone):
        sentences.append(
            f"{counted(matrix.n_calibration, 'calibration question')} of all runs are swapped. Up to "
            f"{max(matrix.alone):,} that calibrate only some runs are not."
        )
    return "\n".join(f"- {plain(sentence)}" for sentence in sentences)
