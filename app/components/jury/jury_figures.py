"""All figures of a jury, one section after another."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from app import style
from app.background import arrived, computing, in_place, waits_for_paint
from app.caches import jury_cache
from app.components import jury as live
from app.components.jury.agreement import agreement_figures, percent
from app.components.jury.judge_selection import judge_selection
from app.components.jury.jury_choice import switches
from app.components.jury.label_budget import label_budget
from app.components.shared import controls, figures
from app.components.shared.paper import Paper, button, for_paper
from app.components.shared.static_table import static_table
from app.formatting import counted, plain, sentence
from app.state.fields import split
from app.state.jury import JuryView
from charts.juror_gains import juror_gains
from charts.juror_reliability import juror_reliability
from core.errors import InputError
from core.jury.adjudication import CONSTANT, rules_in_words
from core.jury.confidence import CONFIDENCES
from core.jury.experiment import JuryExperiment, Protocol
from core.jury.judgements import in_words
from core.jury.pipeline.jury_store import JuryRecord
from core.reports.figure_names import JURY_FIGURES
from core.reports.file_names import About
from core.reports.jury_answer import rule_table
from core.reports.repeated import counted as counted_rows

BELOW_HEIGHT, GAINS_HEIGHT, CONFIDENCES_HEIGHT = 1200, 300, 520
"""About the height of what is further down, and of two sections of it, in pixels."""


def section(record: JuryRecord, view: JuryView) -> None:
    """Show all figures of a jury, and below the first one what selects the jury and its answers."""
    first = st.container()
    switches(record, view)  # before the figures, whose error may say to choose other answers
    protocol = jury_cache.protocol(record.jury_id, view.judged, view.confidence)
    pairwise = jury_cache.judgements(record.jury_id).pairwise
    try:
        whole = arrived(jury_cache.rules(record.jury_id, protocol))
        rules = whole or jury_cache.rules_without_intervals(record.jury_id, protocol)
    except InputError as error:  # such as labels of one side; the judges' promise and the label budget need no rules
        first.error(plain(sentence(str(error))))
        judge_selection(record, view, pairwise)
        label_budget(record, view, pairwise)
        why = f"No rule can be judged: {error}."
        _report_button(record, view, lambda: why)
        return
    experiment = rules.experiment
    bench = jury_cache.first_split(record.jury_id, protocol)
    key = jury_cache.jury_key(record.jury_id)
    version = f"{key.jury_id}:{key.stamp}:{view.judged}:{view.confidence}"
    with first:
        live.jury(bench, rules, complete=whole is not None, version=version, view=view, pairwise=pairwise)
    with st.expander("How these figures are computed"):
        _how(record, experiment, pairwise)
    judge_selection(record, view, pairwise)
    _below(record, view, protocol, whole.experiment if whole else None, pairwise)


@in_place
def _below(
    record: JuryRecord, view: JuryView, protocol: Protocol, experiment: JuryExperiment | None, pairwise: bool
) -> None:
    """Show the figures further down, and what the jury can be saved as."""
    if waits_for_paint():
        computing("how much the jurors agree", height=BELOW_HEIGHT)
        return
    agreement_figures(record, pairwise)
    gains(record, view, protocol, pairwise)
    confidences(record, protocol, experiment, pairwise)
    sets(record, view, protocol, pairwise)
    label_budget(record, view, pairwise)
    rules_table(record, experiment, pairwise)
    _report_button(record, view, lambda: _evaluated(record, protocol))
    for_paper("jury", lambda: _paper(record, protocol, pairwise))


def _how(record: JuryRecord, experiment: JuryExperiment, pairwise: bool) -> None:
    """Show what the figures are computed from, and what is to know about the jury."""
    st.caption(
        plain(
            f"{counted(experiment.n, 'answer')} of {experiment.kept_of:,} {'is' if experiment.n == 1 else 'are'} used. "
            f"In each of {len(experiment.protocol.seeds)} splits, {experiment.n_calibration:,} calibrate and "
            f"{experiment.n_test:,} test. "
            "Every figure is a mean over the splits, and its 95% interval covers the random draw of calibration "
            "answers. Intervals of fitted rules are approximate: in simulations with 200 and 1,000 answers, they "
            "held the true value in 88 to 99 of 100 cases. With few errors or repeated questions, intervals are wider "
            "than necessary, and hold the true value in 93 to 100 of 100 cases. The answers that can be opened are "
            "those of the first split."
        )
    )
    if pairwise:
        st.caption(
            "Each row is a pair of answers. A verdict says which of the two is better, First or Second. Accuracy is "
            "the share of verdicts that agree with the label."
        )
    for note in filter(None, (record.origin, *record.sentences, *experiment.notes)):
        st.caption(plain(sentence(note)))


def _report_button(record: JuryRecord, view: JuryView, evaluated: Callable[[], JuryExperiment | str]) -> None:
    """Show the button that saves the static report with the choices of the view."""
    name = About([record.name], alpha=view.error).file_name("report", "html")
    button("Report (works offline)", name, lambda: _report(record, evaluated(), view), key="jury_report")


def _evaluated(record: JuryRecord, protocol: Protocol) -> JuryExperiment:
    computation = jury_cache.rules(record.jury_id, protocol)
    computation.run()
    return computation.value().experiment


def _report(record: JuryRecord, experiment: JuryExperiment | str, view: JuryView) -> bytes:
    """The static report with the choices of the view."""
    from charts.jury_report import jury_report_html  # imports the chart libraries

    return jury_report_html(
        jury_cache.judgements(record.jury_id),
        experiment,
        record.name,
        origin=record.origin,
        notes=record.sentences,
        judges=[name for name in split(view.judges) if name in record.jurors],
        alpha=view.error,
        delta=view.delta,
        labels=view.labels,
    )


def _paper(record: JuryRecord, protocol: Protocol, pairwise: bool) -> Paper:
    """The rules of a jury for a paper."""
    from app.caches import export_cache  # imports the chart libraries, which the page itself does not need
    from core.reports.paper.measurements import of_jury

    computation = jury_cache.rules(record.jury_id, protocol)
    with st.spinner("Computing the intervals of every rule …"):
        computation.run()
    experiment = computation.value().experiment
    notes = [sentence(note) for note in (*record.sentences, *experiment.notes)]
    return Paper(
        of_jury(experiment, record.jury_id, record.name, pairwise=pairwise, notes=notes),
        JURY_FIGURES,
        lambda name, style: (
            export_cache.figure_of_jury(name, record.jury_id, protocol, experiment, record.name, style),
        ),
    )


def sets(record: JuryRecord, view: JuryView, protocol: Protocol, pairwise: bool) -> None:
    """Show the sets of verdicts at the view's alpha. Computes nothing while folded."""
    title = in_words("Prediction sets of the jury: True, False, both or neither", pairwise=pairwise)
    with st.expander(title, on_change="rerun", key="jury_sets_open") as folded:
        if not folded.open:
            return
        controls.alpha_slider(view)
        figures = jury_cache.pooled_sets(record.jury_id, protocol, view.alpha)
        low, high = figures.band
        with st.container(horizontal=True, gap="large"):
            st.metric(
                "Hold the truth",
                f"{figures.coverage:.1%}",
                help=f"If the promise holds, this lies between {low:.1%} and {high:.1%} for 95% of draws.",
                width="content",
            )
            for name, count in (
                ("{True}", figures.only_true),
                ("{False}", figures.only_false),
                ("{True, False}", figures.both),
                ("{}", figures.empty),
            ):
                st.metric(in_words(name, pairwise=pairwise), f"{count:,}", width="content")
        st.caption(
            "These are conformal sets of the first split's test answers, by LAC on the jurors' mean probability. "
            "For answers like the calibration answers, a share of up to alpha of the sets may miss the truth. "
            "This is a promise about many answers, not about a single one."
        )
        if not figures.n_calibration:
            st.caption("The source's own split has answers of each question on both sides, so none calibrates.")
        elif figures.test_questions < figures.n_test or figures.n_calibration < figures.of_calibration:
            st.caption(
                f"{figures.n_calibration:,} of {figures.of_calibration:,} answers calibrate, one of each question that "
                f"is not tested. The test side has {counted_rows(figures.n_test, figures.test_questions)}."
            )


def rules_table(record: JuryRecord, experiment: JuryExperiment | None, pairwise: bool) -> None:
    """Show one row per rule. The table is folded away, and empty while ``experiment`` is computed."""
    with st.expander("All figures of every rule", on_change="rerun", key="jury_table_open") as folded:
        if not folded.open:
            return
        if experiment is None:
            computing("the intervals of every rule")
            return
        shown = rule_table(experiment, pairwise=pairwise)
        static_table(shown, alt="Every rule's measures with their intervals")
        st.caption("The same on the command line, with FILES replaced by files of judgements or a jury's name:")
        st.code("hedge jury evaluate --judgements FILES --protocol all-rules --json", language="sh")


@in_place
def gains(record: JuryRecord, view: JuryView, protocol: Protocol, pairwise: bool) -> None:
    """Show how much each juror adds to the accuracy of the selected rule."""
    st.subheader("What does each juror add?", anchor=False)
    table = arrived(jury_cache.left_out(record.jury_id, protocol), "what each juror adds", height=GAINS_HEIGHT)
    if table is None:
        return
    mine = table[table["rule"] == view.rule]
    title = rules_in_words(pairwise=pairwise)[view.rule].title
    if mine.empty:
        st.caption(
            "This needs at least three jurors, because each one is left out in turn."
            if table.empty
            else f"The rule {title} ignores the jurors, so none of them adds anything."
            if view.rule in CONSTANT
            else f"{title} needs at least three jurors. With two, it can't tell which one is reliable."
        )
        return
    figures.show(
        juror_gains(mine),
        f"The accuracy of {title} with all jurors, minus its accuracy without this juror, on "
        "the same answers. A line is the 95% interval.",
        About([record.name]),
    )


@in_place
def confidences(record: JuryRecord, protocol: Protocol, experiment: JuryExperiment | None, pairwise: bool) -> None:
    """Show the reliability of the jurors' confidence, and each juror's calibration error.

    ``experiment`` is None while its intervals are computed.
    """
    st.subheader("Can the jurors' confidence be trusted?", anchor=False)
    what = "how often each juror is right at each confidence"
    tables = arrived(jury_cache.confidences(record.jury_id, protocol), what, height=CONFIDENCES_HEIGHT)
    if tables is None or experiment is None:
        return
    bins, errors = tables.bins, tables.errors
    title = CONFIDENCES[protocol.confidence].title
    with style.stacked_when_narrow("confidences"):
        left, right = st.columns(2, gap="large")
    with left:
        shown = f"{title} confidence. A line is the 95% interval."
        figures.show(juror_reliability(bins, "confidence"), shown, About([record.name]))
    with right:
        shown = "Raw probability. A line is the 95% interval."
        figures.show(juror_reliability(bins, "raw"), shown, About([record.name]))
    of_scale = {scale: errors[errors["scale"] == scale] for scale in ("confidence", "raw")}
    rows = [
        {
            "Juror": name,
            "Confidence": scale_title,
            "Agrees with the label" if pairwise else "Right": percent(experiment.jurors[i].accuracy),
            "ECE": f"{row.ece:.3f}",
            "By chance": f"{row.luck:.3f}" if row.low == row.low else "–",
            "Beyond chance (95% interval)": f"{row.low:.3f} to {row.high:.3f}" if row.low == row.low else "–",
        }
        for i, name in enumerate(record.jurors)
        for scale, scale_title in (("confidence", title), ("raw", "Raw probability"))
        for row in [of_scale[scale].iloc[i]]
    ]
    static_table(pd.DataFrame(rows), alt="Each juror's accuracy and calibration error", texts=2)
    st.caption(
        "ECE is the mean gap between confidence and the share of right verdicts, over 15 bins. 0 is best. "
        "“By chance” is what a perfectly calibrated juror would show, and “beyond chance” is the error that remains. "
        "Each answer counts once here: the halves of the first split calibrate each other's confidences. Answers of "
        "one question count as one unit, and fewer than 10 units have no interval."
    )
