"""Answer or pass, live: a person moves alpha and delta, and the browser finds the thresholds.

``selective.js`` contains the arithmetic of :mod:`core.conformal.selective`, and ``panel.js`` draws. As in the Alpha
lab, data stays the same between reruns, and the released values go into the view.
"""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from app import state
from app.components.shared.bundled import component
from app.components.shared.messages import message_texts
from app.components.shared.seed import browser_shows, seed
from app.state.selective import SELECTIVE_NAMES, SelectiveView
from core.conformal.selective import SelectiveAnswers
from core.records import FloatArray

_mount = component("selective", Path(__file__).with_name("selective.html"))


def selective_panel(
    judges: Sequence[str],
    calibration: SelectiveAnswers,
    judged: SelectiveAnswers,
    *,
    key: str,
    version: str,
    view: SelectiveView,
    what: str,
    verdicts: bool = False,
    k: int = 0,
) -> None:
    """Mount the panel of these ``judges``, who are asked in this order.

    ``version`` identifies the answers. ``what`` are the questions called, such as pairs. ``verdicts`` agree with the
    label or not, instead of being right or wrong. With ``k``, the confidences are k + 1 minus the size of a set.
    """
    start = seed(key, version, {name: getattr(view, name) for name in SELECTIVE_NAMES})
    _mount(
        key=key,
        data={
            "version": version,
            "judges": list(judges),
            "calibration": _table(calibration),
            "judged": _table(judged),
            "what": what,
            "verdicts": verdicts,
            "k": k,
            "view": start.start,
            "revision": start.revision,
        },
        on_view_change=lambda: _take_view(key, type(view)),
    )


def _table(answers: SelectiveAnswers) -> pa.Table:
    """The columns ``c0``, ``w0``, ``c1`` … of the judges' confidences and errors."""
    columns: dict[str, FloatArray] = {}
    for j in range(answers.wrong.shape[1]):
        columns |= {f"c{j}": answers.confidence[:, j], f"w{j}": answers.wrong[:, j]}
    return pa.table(columns)


def _take_view(key: str, page: type[SelectiveView]) -> None:
    reported = message_texts(key, "view")
    view = state.read_changes(page, {name: reported[name] for name in SELECTIVE_NAMES if name in reported})
    browser_shows(key, {name: getattr(view, name) for name in SELECTIVE_NAMES})
