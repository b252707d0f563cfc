"""The Alpha lab of a run in which every letter's probability is known."""

from dataclasses import replace

import streamlit as st

from app import state
from app.caches import alpha_lab_cache, run_cache
from app.components.alpha_lab import alpha_lab, covariate_shift, lab_view, numpy_code
from app.components.shared import figures
from app.components.shared.caveat_notes import caveat_line
from app.components.shared.downloads import about
from app.components.shared.embed import embed
from app.components.shared.runs import open_question, title
from app.errors import spoken
from app.state.alpha_lab import AlphaLabView
from charts.embed import lab_embed, run_source
from core.runs.store import RunRecord

HEIGHT = 720


@st.fragment
def exact_lab(record: RunRecord) -> None:
    """Show the lab, notes on its figures, the shift, the NumPy code, and a table of all figures.

    It is a fragment: when a person lets go of alpha, the rest of the page and the frame around it do not run again.
    That would be more than half of what the server has to do.
    """
    with spoken():
        view = state.remembered(AlphaLabView)
        run = record.run_id
        sets = alpha_lab_cache.sets_of(run, view)
        alpha_lab(
            alpha_lab_cache.lab_tables(run),
            version=run_cache.version(run),
            name=title(record),
            caveats=caveat_line(record),
            view=view,
            on_open=open_question,
        )
        for note in alpha_lab_cache.lab_notes(run):
            st.caption(note)
        covariate_shift.section(record, view)
        numpy_code.section(record, sets)
        figures.report_table(lambda: alpha_lab_cache.lab_report(run, sets))


def embed_lab(record: RunRecord) -> None:
    """Show the button that embeds the lab as it is when it is pressed; alpha moves without a run of the page."""
    run = record.run_id

    def name() -> str:
        return about([run], state.remembered(AlphaLabView).alpha).file_name("alpha-lab", "html")

    def html_file(theme: str, texts: bool) -> bytes:
        return lab_embed(
            alpha_lab_cache.lab_tables(run),
            title=title(record),
            source=" ".join([run_source(run_cache.evaluation(run)), *alpha_lab_cache.lab_notes(run)]),
            theme=theme,
            texts=texts,
            **lab_view(replace(state.remembered(AlphaLabView), present="0", shown="page")),
        )

    embed(html_file, name, f"Alpha lab: {title(record)}", height=HEIGHT, key="alpha_lab", texts=True)
