"""What the requested number of questions can show, before a run is launched."""

import math

import streamlit as st

from app.caches import forecast_cache
from app.caches.forecast_cache import Plan
from app.formatting import plain
from core.questions.bank_names import bank_name, task_title
from core.reports.file_names import About
from core.reports.forecast import Forecast

ALPHA = 100
OPEN_KEY = "question_counts_open"
EXPLAINED = (
    "A comparison finds a difference of this size in 80% of draws, with a p-value of at most 5%. Half the difference "
    "needs about four times as many questions."
)


def words(plan: Plan) -> None:
    """Say how wide the band of coverage is and which difference in accuracy a comparison finds; nothing where the
    questions are still to be downloaded."""
    run = _fewest(plan)
    if run is None or run.work is None or run.work.sides is None:
        return
    from core.reports import question_plan  # imports pandas, for which the first paint would have to wait

    calibration, test = run.work.sides
    shown = question_plan.figures_of(forecast_cache.pilot(run.spec, ALPHA), calibration, test, ALPHA)
    band = (
        "" if math.isnan(shown.width) else f"put coverage at alpha 0.1 into a band {100 * shown.width:.1f} points wide"
    )
    found = "" if math.isnan(shown.accuracy) else f"show a difference of {100 * shown.accuracy:.1f} points in accuracy"
    if parts := list(filter(None, (band, found))):
        st.caption(plain(f"{calibration:,} calibration and {test:,} test questions {' and '.join(parts)}."))


def curve(plan: Plan) -> None:
    """Show, folded, the figures of fewer and of more questions."""
    run = _fewest(plan)
    if run is None or run.work is None or run.work.sides is None:
        return
    with st.expander("How many questions?", on_change="rerun", key=OPEN_KEY) as folded:
        if not folded.open:
            return
        # What draws with Altair is imported where it is needed: the first paint does not wait for it.
        from app.components.shared import figures
        from charts.question_counts import question_counts
        from core.reports.compare.power import ROUGH

        spec, chosen = run.spec, sum(run.work.sides)
        pilot = forecast_cache.pilot(spec, ALPHA)
        frame = forecast_cache.question_curve(pilot, ALPHA, spec.calibration_share, chosen)
        about = About([spec.model_name], [task_title(spec.task, bank_name(spec))], ALPHA)
        caveats = "".join(f" {name}: {text}" for name, text in pilot.caveats)
        caption, rough = f"{pilot.says}{caveats} {EXPLAINED}", frame["questions"][frame["rough"]]
        if len(rough):
            caption += f" {ROUGH} This holds for up to {rough.max():,} questions."
        figures.show(question_counts(frame, chosen), caption, about)


def _fewest(plan: Plan) -> Forecast | None:
    """Of the runs whose questions are here, the one with the fewest test questions."""
    known = [(run.work.sides[1], i) for i, run in enumerate(plan.to_time) if run.work and run.work.sides]
    return plan.to_time[min(known)[1]] if known else None
