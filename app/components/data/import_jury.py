"""Import uploaded judgements of jurors: they are read, shown, and stored as a jury when a person confirms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import streamlit as st

from app import navigation
from app.formatting import counted, plain
from core.exchange import juries as files
from core.jury_pipeline import jury_store


def offer(paths: Sequence[Path], folder: Path, *, key: str) -> None:
    """Show what was read from ``paths`` in ``folder``, and the button that stores it.

    Raises :class:`core.errors.InputError` if the files do not make a jury.
    """
    found = files.read(paths)
    pairwise = st.checkbox(
        "Each row is a pair of answers, and True means that the first one is better",
        found.judgements.pairwise,
        key=f"pairwise-{key}",
    )
    judged = replace(found.judgements, pairwise=pairwise)
    agrees = "Agrees with the label" if pairwise else "Verdicts that are right"
    says = "Says first is better" if pairwise else "Says True"
    frame = pd.DataFrame(
        {
            "Juror": judged.jurors,
            "Pairs" if pairwise else "Answers": len(judged),
            says: judged.verdicts.mean(axis=0),
            agrees: judged.right.mean(axis=0),
        }
    )
    st.dataframe(
        frame,
        hide_index=True,
        height="content",
        column_config={name: st.column_config.NumberColumn(format="percent") for name in (says, agrees)},
        alt="What was read for each juror",
    )
    notes = [note.replace(f"{folder}/", "") for note in found.notes]
    for note in notes:
        st.caption(plain(note))
    share, what = f"{judged.labels.mean():.1%} of the", "pairs" if pairwise else "answers"
    st.caption(
        f"The jurors disagree on {int(judged.disagreed.sum()):,} of {len(judged):,} {what}; "
        + (f"in {share} pairs, the first answer is better." if pairwise else f"{share} answers are right.")
    )
    default = ", ".join(judged.jurors)[:60]
    name = st.text_input("Name of the jury", placeholder=default, key=f"jury-name-{key}").strip() or default
    if st.button(f"Import this jury of {counted(len(judged.jurors), 'juror')}", key=f"keep-{key}"):
        origin = f"imported from {', '.join(path.name for path in paths)}"
        jury_id = jury_store.save(judged, name=name, origin=origin, notes=notes)
        st.success(plain(f"{name} was imported."))
        navigation.link(navigation.JURY, "Open on the Jury page", jury=jury_id)
