"""APS thresholds so near 1 that rounding decides what stays in a set, and those of RAPS if a rank costs nothing.

An option's APS score is 1 minus the mass of the options ranked after it, so the option stays at a threshold of 1 − d
unless that mass is less than d. If many true options are ranked just before options of almost no probability, such as E
"I don't know" and F "None of the above", d is as small as rounding errors. The browser says the same
(``app/components/shared/saturation.js``).
"""

from collections.abc import Collection

from core.conformal.scores import SCORES, Parameters

NEAR = 1e-6
"""A threshold is saturated if it differs from 1 by at most this."""

STRATA = {"all": "", "group": "subjects", "class": "options"}
OFFER = "E and F are never the truth and have almost no probability here. Leave them out (--drop-extra)."


def saturated(thresholds: Collection[float]) -> bool:
    """Whether some threshold is 1 or within a millionth below it.

    >>> saturated([1 - 1e-11]), saturated([0.99]), saturated([float("inf")])
    (True, False, False)
    """
    return any(1 - NEAR < q <= 1 for q in thresholds)


def decided_by_little(thresholds: Collection[float]) -> bool:
    """Whether negligible differences decide what is in a set. At a threshold of 1, every option is.

    >>> decided_by_little([1 - 1e-11]), decided_by_little([1.0])
    (True, False)
    """
    return any(1 - NEAR < q < 1 for q in thresholds)


def can_saturate(name: str, parameters: Parameters) -> bool:
    """Whether the score is a cumulative probability: APS, and RAPS if its tuned cost of a rank is 0."""
    rule = SCORES[name]
    return rule.saturates and (not rule.tuned or parameters.weight == 0)


def _power_of_ten(value: float) -> str:
    """A small number as text, written as the browser writes it.

    >>> _power_of_ten(9e-7)
    '9.0 × 10⁻⁷'
    """
    digits, power = f"{value:.1e}".split("e-")
    return f"{digits} × 10⁻{str(int(power)).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def saturation_note(thresholds: Collection[float], strata: str = "", *, title: str = "APS") -> str:
    """A note on a score's thresholds near 1, or an empty text. ``strata`` is the plural name of what has thresholds of
    its own (``subjects``); it is empty if there is only one threshold.

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
    distance = _power_of_ten(1 - near[0])
    return (
        f"The {title} threshold is {distance} below 1. An option stays unless the options ranked after it "
        f"have less than {distance} of probability together, so negligible differences decide how large the "
        "sets are."
    )
