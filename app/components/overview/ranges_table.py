"""The Overview's runs with probabilities that are not known: each figure lies between two ends."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from app.caches import bounded_cache
from app.components.overview import filters
from app.components.shared.caveat_notes import footnote_caption
from app.components.shared.runs import open_run
from app.formatting import PERCENT, counted, plain, sentence
from app.state.overview import OverviewView
from core.conformal.scores import SCORES
from core.errors import HedgeError
from core.reports.bounded import Ends
from core.reports.caveats import in_one, marked
from core.reports.titles import differences, record_task_title
from core.runs.store import RunRecord

SHOWN = 50
OPENED_KEY = "opened_ranges"


def ranges_table(records: Sequence[RunRecord], others: Sequence[RunRecord], view: OverviewView) -> None:
    """Show the runs that the filters keep; ``others`` are the runs with exact figures, which decide the defaults."""
    active = filters.active_filter(view, [*records, *others])
    matching = [record for record in records if active.keeps(record)][:SHOWN]
    rows, shown, caveats = [], [], []
    for record in matching:
        try:
            row, note = _row(record, view.alpha), _caveats(record, view.alpha)
            rows.append(row | {"Run": marked(row["Run"], note)})
            caveats.append((row["Run"], note))
            shown.append(record.run_id)
        except HedgeError as error:
            st.warning(plain(sentence(str(error))))
    if not rows:
        return
    st.subheader("Known as ranges", anchor=False)
    st.caption(
        f"Some probabilities of {counted(len(rows), 'run')} are not known, because a server did not list every letter, "
        "or they were rounded to 0. So some figures are only known as ranges. These are not confidence intervals: each "
        "is sure to hold the figure."
    )
    order = [name for name in rows[0] if name != "Settings" or any(row["Settings"] for row in rows)]
    st.dataframe(
        rows,
        column_order=order,
        hide_index=True,
        column_config={"Run": _open_column(shown), **_COLUMNS},
        alt="Runs with both ends of each figure",
    )
    footnote_caption(caveats)


def _caveats(record: RunRecord, alpha: int) -> str:
    """The caveats of the run besides the bounds, which all of these runs have."""
    caveats = bounded_cache.bounded_report(record.run_id, alpha).caveats
    return in_one(caveat for caveat in caveats if caveat.kind != "bounded")


def _open_column(run_ids: list[str]) -> Any:
    return st.column_config.ButtonColumn(
        "Run",
        width=225,
        pinned=True,
        alignment="left",
        type="tertiary",
        key=OPENED_KEY,
        on_click=_open,
        args=(run_ids,),
    )


def _open(run_ids: list[str]) -> None:
    open_run(run_ids[st.session_state[OPENED_KEY].row])


def _row(record: RunRecord, alpha: int) -> dict[str, Any]:
    report = bounded_cache.bounded_report(record.run_id, alpha)
    row: dict[str, Any] = {"Run": f"{record.spec.model_name} · {record_task_title(record)}"}
    for name, figures in report.scores.items():
        words = SCORES[name].title
        row |= {
            f"{words} size": _sizes(figures.mean_set_size),
            f"{words} coverage": _shares(figures.coverage),
            f"{words} exact": 100 * figures.exact_share,
        }
    settings = " · ".join(differences(record.spec))
    return row | {"Accuracy": _shares(report.accuracy), "Questions": report.n_test, "Settings": settings}


_COLUMNS: dict[str, Any] = {
    **{
        f"{SCORES[name].title} {figure}": st.column_config.TextColumn(width=width)
        for name in ("lac", "aps")
        for figure, width in (("size", 95), ("coverage", 125))
    },
    **{
        f"{SCORES[name].title} exact": st.column_config.NumberColumn(
            format=PERCENT,
            width=82,
            help="The share of test questions whose set is known exactly, because it does not depend on what the "
            "server left out.",
        )
        for name in ("lac", "aps")
    },
    "Accuracy": st.column_config.TextColumn(width=115),
    "Questions": st.column_config.NumberColumn(format="localized", width=85, help="The number of test questions."),
    "Settings": st.column_config.TextColumn(width=220, help="What is not at its default."),
}


def _shares(ends: Ends) -> str:
    low, high = (f"{100 * end:.1f}" for end in ends)
    return f"{low}%" if low == high else f"{low} to {high}%"


def _sizes(ends: Ends) -> str:
    low, high = (f"{end:.2f}" for end in ends)
    return low if low == high else f"{low} to {high}"
