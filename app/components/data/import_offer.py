"""Show what was read from an upload, and the button that stores it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from app import navigation
from app.caches import run_cache
from app.components.shared.runs import titles
from app.formatting import counted, plain
from app.state.fields import MOST_COMPARED
from core.exchange.imported import ImportedRun, save
from core.reports.titles import setting_title
from core.runs.banks import bank_name, task_title
from core.tasks.identity import unpublished

LINKS_SHOWN = 8
LINKS_HEIGHT = 300
"""Height in pixels of a list of more than :data:`LINKS_SHOWN` links to imported runs. Such a list scrolls."""


def offer(key: str, read: Callable[[], list[ImportedRun]]) -> None:
    """Show what was read, and the button that stores it."""
    runs = read()
    frame = pd.DataFrame(
        {
            "Model": [run.spec.model for run in runs],
            "Task": [task_title(run.spec.task, bank_name(run.spec, run.provenance)) for run in runs],
            "Strategy": [setting_title("strategy", run.spec.strategy) for run in runs],
            "Shots": [run.spec.shots for run in runs],
            "Precision": [setting_title("dtype", run.spec.dtype) for run in runs],
            "Questions": [len(run.scored.ids) - run.roles.count("rotation") for run in runs],
            "Options": [run.scored.logits.shape[1] for run in runs],
            "Calibration": [run.roles.count("calibration") for run in runs],
            "Test": [run.roles.count("test") for run in runs],
            "First question": [run.questions[0].question for run in runs],
        }
    )
    st.dataframe(frame, hide_index=True, alt="What was read from the files")
    for run in runs:
        for note in _notes(run):
            st.caption(plain(note))
    if any(run.provenance.get("texts") is False or unpublished(run.questions[0].options) for run in runs):
        st.caption(
            "These questions come without their texts. Their runs can only be compared with runs from the same "
            "source and task that have the same right answers throughout."
        )
    if st.button(f"Import {counted(len(runs), 'run')}", key=f"import-{key}"):
        names = save(runs)
        st.success(f"{counted(len(names), 'run')} imported.")
        _links(list(dict.fromkeys(names)))


def _links(names: Sequence[str]) -> None:
    """Show a link to each run in the Alpha lab, and one to Compare with as many runs as it can show at once."""
    if len(names) == 1:
        navigation.link(navigation.ALPHA_LAB, "Open in the Alpha lab", run=names[0])
        return
    for start in range(0, len(names), MOST_COMPARED):
        some = names[start : start + MOST_COMPARED]
        which = "all" if len(some) == len(names) else f"runs {start + 1} to {start + len(some)} of"
        if len(some) > 1:
            navigation.link(navigation.COMPARE, f"Compare {which} {len(names)}", runs=",".join(some))
    st.markdown("Open a run in the Alpha lab:")
    found = titles([run_cache.record(name) for name in names])
    with st.container(height=LINKS_HEIGHT if len(names) > LINKS_SHOWN else "content", gap=None):
        for number, name in enumerate(names, start=1):
            navigation.link(navigation.ALPHA_LAB, plain(f"{number}. {found[name]}"), run=name)


def _notes(run: ImportedRun) -> list[str]:
    """What a person should know of how a run was read."""
    about = run.provenance
    notes = []
    if claims := about.get("claims"):
        said = ", ".join(f"{name} {value:.4f}" for name, value in claims.items())
        notes.append(f"{run.spec.task}: computed again row by row, with the same result: {said}.")
    if counts := about.get("counts"):
        notes.append(f"{run.spec.task}: " + ", ".join(f"{n} {name}" for name, n in counts.items()) + ".")
    if about.get("bounded_questions"):
        notes.append(
            f"{about['bounded_questions']} questions lack the log-probability of a letter, so its upper bound is used."
        )
    if about.get("repeated_lines"):
        notes.append(f"{about['repeated_lines']} lines are repeated and count once.")
    return notes
