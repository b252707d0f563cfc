"""The Alpha lab as a widget: the scripts of the app's own page, with the data of a run or of arrays."""

from collections.abc import Sequence, Sized
from typing import Any

from charts import lab_outside
from core import extras
from core.conformal.alpha import THOUSAND, thousandths
from core.conformal.sets import check_empty
from core.errors import InputError, shown_value
from core.records import MOST_OPTIONS
from core.reports import frames
from core.reports.array_inputs import MOST_CLASSES
from core.reports.caveats import lab_footnote_of
from core.reports.scored_sets import check_score
from hedge.figures import Split, evaluation, score_names, title_of


def lab(
    run: Any,
    labels: Any = None,
    *,
    alpha: float = 0.1,
    scores: Sequence[str] = ("lac", "aps"),
    calibration: Split = 0.5,
    classes: Any = None,
    values: str = "probabilities",
    seed: int = 0,
    empty: str = "allow",
    questions: Sequence[str] = (),
    name: str = "",
) -> Any:
    """The Alpha lab on a run, named by its id, or on probabilities (n, k) with labels (n,).

    Alpha is dragged in the notebook, without a server. ``widget.alpha`` is the alpha that was last released, and the
    lab follows when it is set. ``scores`` are the two that stand side by side, ``questions`` the texts of arrays'
    questions. The lab shows up to 100 classes; ``classes`` and ``values`` are as for :func:`hedge.sets`. Raises
    :class:`~core.errors.InputError` as :func:`hedge.report` does, and where anywidget is missing.
    """
    at = thousandths(alpha)
    names = score_names(scores)
    if len(names) != 2:
        raise InputError(f"the lab shows two scores side by side, got {len(names)}: {', '.join(names)}")
    left, right = names
    if not isinstance(name, str):
        raise InputError(f"the name must be a text, got {shown_value(name)} ({type(name).__name__})")
    if isinstance(questions, str) or not isinstance(questions, Sized):
        raise InputError(f"questions must be a list of texts, got {shown_value(questions)}")
    shown_run = evaluation(run, labels, calibration=calibration, seed=seed, classes=classes, values=values)
    for score in names:
        check_score(shown_run, score)
    if shown_run.k > MOST_OPTIONS:
        raise InputError(
            f"the lab shows up to {MOST_OPTIONS} classes, got {shown_run.k:,}; hedge.sets and hedge.report take up to "
            f"{MOST_CLASSES:,}"
        )
    tables = frames.lab_tables(shown_run) if isinstance(run, str) else frames.lab_tables_of_arrays(shown_run, questions)
    title = name or title_of(shown_run)
    data = lab_outside.data(
        tables,
        version=shown_run.run_id,
        name=title,
        caveats=lab_footnote_of(shown_run),
        alpha=at,
        empty=check_empty(empty),
        left=left,
        right=right,
    )
    extras.need("notebook")
    from hedge.lab_widget import LabWidget

    return LabWidget(
        data=data,
        alpha=at / THOUSAND,
        page={"html": lab_outside.page(), "css": lab_outside.css()},
        themes={theme: lab_outside.theme(theme) for theme in ("light", "dark")},
    )
