"""APS thresholds so near 1 that almost nothing decides what stays in a set, and RAPS ones where a rank costs nothing.

An option's APS score is 1 less the mass of the options ranked after it, so it stays at a threshold of 1 − d unless that
mass is less than d. Where many true options are ranked last but for options of almost no probability, such as E
"I don't know" and F "None of the above", d is of the order of rounding errors. The browser says the same
(``app/components/shared/saturation.js``).
"""

from __future__ import annotations

import re
from collections.abc import Collection

from core.conformal.scores import SCORES, Parameters

NEAR = 1e-6
"""A threshold is saturated if it differs from 1 by at most this."""

STRATA = {"all": "", "group": "subjects", "class": "letters"}
OFFER = "E and F are never the truth and have almost no probability here. Leave them out (--drop-extra)."


def saturated(thresholds: Collection[float]) -> bool:
    """Whether some threshold is 1 or within a millionth below it.

    >>> saturated([1 - 1e-11]), saturated([0.99]), saturated([float("inf")])
    (True, False, False)
    """
    return any(1 - NEAR < q <= 1 for q in thresholds)


def can_saturate(name: str, parameters: Parameters) -> bool:
    """Whether the score is a cumulative probability: APS, and RAPS where tuning leaves it no cost of a rank."""
    of = SCORES[name]
    return of.saturates and (not of.tuned or parameters.weight == 0)


def saturation_note(thresholds: Collection[float], strata: str = "", *, title: str = "APS") -> str:
    """What has to be known about a score's thresholds near 1, or an empty text.

    ``strata`` names what has a threshold each (``subjects``); it is empty for one threshold.

    >>> saturation_note([1 - 2**-30]).split(".")[0]
    'The APS threshold is 9'
    >>> saturation_note([0.99])
    ''
    """
    near = [q for q in thresholds if 1 - NEAR < q <= 1]
    if not near:
        return ""
    if strata:
        return (
            f"The {title} thresholds of {len(near)} of {len(thresholds)} {strata} are within 0.000001 of 1. "
            "There, an option stays unless the options ranked after it have almost no probability together, so "
            "negligible differences decide how large the sets are."
        )
    if near[0] == 1:
        return f"The {title} threshold is 1, so every option stays in every set."
    distance = re.sub(r"e-0", "e-", f"{1 - near[0]:.1e}")  # as the browser writes it
    return (
        f"The {title} threshold is {distance} below 1. An option stays unless the options ranked after it "
        f"have less than {distance} of probability together, so negligible differences decide how large the "
        "sets are."
    )
