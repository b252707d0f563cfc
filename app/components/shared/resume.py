"""Resume a run that stopped; a run that reached its budget needs a larger one."""

from typing import Any

import streamlit as st

from app.caches import forecast_cache
from core.models.price import MILLION
from core.reports import forecast as forecasts
from core.runs import engine
from core.runs.store import RunRecord

HELP = "Continues where the run stopped. Finished questions are kept."
BUDGET_HELP = "The most that the run may cost, all its tries together. Finished questions are kept."


def resume_button(record: RunRecord, *, key: str, label: str = "Resume") -> bool:
    """Show the button, with a field for the new budget if the run needs one. Returns whether the run was resumed.

    Raises :class:`~core.errors.HedgeError` if it can't be.
    """
    if not record.at_budget:
        if pressed := st.button(label, key=key, help=HELP):
            engine.resume(record.run_id)
        return pressed
    price = record.spec.price
    offered = forecasts.larger_budget(record, worked=forecast_cache.work)
    help_text = f"{BUDGET_HELP} It has cost {price.in_words(price.cost(*record.spent))} so far."
    where: dict[str, Any] = {"key": f"{key}-budget", "width": 190, "help": help_text}
    if price.is_known:
        larger = st.number_input("New budget, in the prices' currency", 0.0, None, offered, format="%g", **where)
    else:
        larger = st.number_input("New budget, in tokens", 0, None, round(offered * MILLION), 1000, **where) / MILLION
    if pressed := st.button("Resume with a larger budget", key=key):
        engine.resume(record.run_id, budget=float(larger))
    return pressed
