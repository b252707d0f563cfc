"""All figures of a jury, one section after another."""

from __future__ import annotations

import streamlit as st

from app.background import arrived
from app.caches import jury_cache
from app.components import jury as live
from app.components.jury.agreement import agreement_figures
from app.components.jury.each_juror import confidences, gains
from app.components.jury.jury_sets import sets
from app.components.jury.rules_table import rules_table
from app.formatting import counted, plain, sentence
from app.state.jury import JuryView
from core.jury.experiment import JuryExperiment, Protocol
from core.jury.pipeline.jury_store import JuryRecord
from core.reports.figure_names import JURY_FIGURES
from core.reports.file_names import About


def section(record: JuryRecord, view: JuryView) -> None:
    """Show all figures of a jury."""
    protocol = jury_cache.protocol(record.jury_id, view.judged, view.confidence)
    whole = arrived(jury_cache.rules(record.jury_id, protocol))
    rules = whole or jury_cache.rules_without_intervals(record.jury_id, protocol)
    found = rules.experiment
    bench = jury_cache.first_split(record.jury_id, protocol)
    key = jury_cache.jury_key(record.jury_id)
    pairwise = jury_cache.judgements(record.jury_id).pairwise
    version = f"{key.jury_id}:{key.stamp}:{view.judged}:{view.confidence}"
    live.jury(bench, rules, complete=whole is not None, version=version, view=view, pairwise=pairwise)
    st.caption(
        plain(
            f"{counted(found.n, 'answer')} of {found.kept_of:,} {'is' if found.n == 1 else 'are'} used. In each "
            f"of {len(found.protocol.seeds)} splits, {found.n_calibration:,} calibrate and {found.n_test:,} test. "
            "Every figure is a mean over the splits, and its 95% interval includes the luck of the calibration "
            "answers. Intervals of fitted rules are approximate: in simulations with 200 and 1,000 answers, they "
            "held the true value in 88 to 99 of 100 cases. With few errors or repeated questions, intervals are wider "
            "than necessary, and hold the true value in 93 to 100 of 100 cases. The answers that can be opened are "
            "those of the first split."
        )
    )
    if pairwise:
        st.caption(
            "Each row is a pair of answers. A verdict says which of the two is better. Accuracy is the share of "
            "verdicts that agree with the label."
        )
    for note in filter(None, (record.origin, *record.notes, record.weights_note, *found.notes)):
        st.caption(plain(sentence(note)))
    agreement_figures(record, pairwise)
    gains(record, view, protocol)
    confidences(record, protocol, whole.experiment if whole else None, pairwise)
    sets(record, view, protocol)
    rules_table(record, whole.experiment if whole else None)
    if whole:
        with st.expander("Export: figures", on_change="rerun", key="jury_export_open") as folded:
            if folded.open:
                _export(record, protocol, whole.experiment)


def _export(record: JuryRecord, protocol: Protocol, found: JuryExperiment) -> None:
    """The figures of a jury for a paper."""
    from app.caches import export_cache  # imports the chart libraries, which the page itself does not need
    from app.components.shared import export_forms

    export_forms.figure_part(
        JURY_FIGURES,
        lambda name, style: (export_cache.figure_of_jury(name, record.jury_id, protocol, found, record.name, style),),
        About([record.name]).file_name,
        key="jury",
    )
