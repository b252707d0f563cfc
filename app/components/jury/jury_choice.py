"""Choose a jury and how its answers are judged.

A jury is not a run: it consists of the verdicts of several models on the same answers, and has no sets, alpha or
settings to filter by. So it is chosen from a separate list and not in the run picker
(:mod:`app.components.shared.run_picker`).
"""

from collections.abc import Sequence

import streamlit as st

from app import navigation, state, style
from app.caches import jury_cache
from app.components.shared import controls
from app.formatting import counted, plain, sentence
from app.state.jury import JuryView
from app.tab_title import name_tab
from core.jury.confidence import CONFIDENCES
from core.jury.pipeline.jury_store import JuryRecord

JURY_KEY = "jury_picker"
JUDGED_KEY = "judged_choice"
CONFIDENCE_KEY = "confidence_choice"
JUDGED_WORDS = {"disputed": "jurors disagree", "all": "all"}
JUDGED_HELP = (
    "Rules differ only on answers on which jurors disagree. If all jurors agree, every rule gives their verdict."
)
JURY_HELP = "A jury is several models' verdicts on the same answers. It is not a run, so it is chosen here."
CONFIDENCE_HELP = " ".join(f"**{confidence.title}**: {confidence.sentence}" for confidence in CONFIDENCES.values())


def linked_jury(view: JuryView) -> JuryRecord | None:
    """The jury of the view, or the latest one. None if there is no jury, which is then explained."""
    juries, problems = jury_cache.records()
    for problem in problems:
        st.warning(plain(sentence(problem)))
    if not juries:
        st.info(
            "There is no jury yet. A jury is several models that judged the same answers. Make one below, or import "
            "files of judgements to see one."
        )
        navigation.link(navigation.DATA, "Import a jury")
        return None
    by_id = {record.jury_id: record for record in juries}
    gone = view.jury if view.jury not in by_id else ""
    sentences = (
        [f"There is no jury {gone[:80]} here (it may have been deleted). {juries[0].name} is shown."] if gone else []
    )
    for message in state.until_next_action("jury", *sentences):
        st.warning(plain(message))
    if view.jury not in by_id:
        view = state.change(JuryView, jury=juries[0].jury_id)
    name_tab(by_id[view.jury].name)
    return by_id[view.jury]


def switches(record: JuryRecord, view: JuryView) -> None:
    """Show the controls that select a jury and how its answers are judged."""
    titles = _titles(jury_cache.records()[0])
    with style.stacked_when_narrow("jury"):
        left, middle, right = st.columns([5, 3, 3], gap="medium")
    st.session_state[JURY_KEY] = record.jury_id
    left.selectbox(
        "Jury", list(titles), format_func=titles.__getitem__, key=JURY_KEY, on_change=_take_jury, help=JURY_HELP
    )
    with middle:
        controls.switch(view, "judged", "Answers", JUDGED_WORDS, key=JUDGED_KEY, help=JUDGED_HELP, card="")
    st.session_state[CONFIDENCE_KEY] = view.confidence
    right.selectbox(
        "Confidence",
        list(CONFIDENCES),
        format_func=lambda name: CONFIDENCES[name].title,
        key=CONFIDENCE_KEY,
        on_change=_take_confidence,
        help=CONFIDENCE_HELP,
    )


def _titles(juries: Sequence[JuryRecord]) -> dict[str, str]:
    """The name of each jury by its id. Juries with the same name also show a part of their id."""
    titles = {
        jury.jury_id: f"{jury.name} · {counted(len(jury.jurors), 'juror')} · {counted(jury.answers, 'answer')}"
        for jury in juries
    }
    names = list(titles.values())
    return {
        name: f"{title} · {name.rpartition('-')[2]}" if names.count(title) > 1 else title
        for name, title in titles.items()
    }


def _take_jury() -> None:
    state.change(JuryView, jury=st.session_state[JURY_KEY], judges="", card="")


def _take_confidence() -> None:
    state.change(JuryView, confidence=st.session_state[CONFIDENCE_KEY])
