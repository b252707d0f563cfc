"""The parts of the Jury page around the live one: which jury, agreement, what each juror adds, confidence, sets."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app import juries, navigation, state
from app.components import jury as live
from app.components.shared import controls, figures
from app.formatting import counted, plain
from app.state import View
from charts.juror_gains import juror_gains
from charts.juror_pairs import PAIR_MEASURES, juror_pairs
from charts.juror_reliability import juror_reliability
from core.estimates import Estimate
from core.jury.adjudication import RULES
from core.jury.agreement import Pairwise
from core.jury.confidence import CONFIDENCES
from core.jury.experiment import MEASURES, JuryExperiment, Protocol
from core.runs.juries.jury_store import JuryRecord

JURY_KEY = "jury_picker"
JUDGED_KEY = "judged_choice"
CONFIDENCE_KEY = "confidence_choice"
PAIR_KEY = "pair_measure"
JUDGED_WORDS = {"disputed": "on which jurors disagree", "all": "all"}
CONFIDENCE_HELP = " ".join(f"**{of.title}**: {of.sentence}" for of in CONFIDENCES.values())


def pick(view: View) -> JuryRecord | None:
    """The jury that the view names, with boxes to choose another and how it is looked at; None where there is none."""
    found, problems = juries.records()
    for problem in problems:
        st.warning(plain(problem))
    if not found:
        st.info("Juries would be here: several models that judged the same answers. Bring files of judgements in.")
        navigation.link(navigation.DATA, "Bring a jury in")
        return None
    by_id = {record.jury_id: record for record in found}
    if view.jury not in by_id:
        if view.jury:
            st.warning(plain(f"There is no jury {view.jury[:80]} here (any more). {found[0].name} is shown instead."))
        view = state.change(jury=found[0].jury_id)
    left, middle, right = st.columns([5, 4, 3], vertical_alignment="bottom")
    st.session_state[JURY_KEY] = view.jury
    titles = _titles(found)
    left.selectbox("Jury", list(by_id), format_func=titles.__getitem__, key=JURY_KEY, on_change=_picked)
    st.session_state[JUDGED_KEY] = view.judged
    middle.segmented_control(
        "Answers",
        list(JUDGED_WORDS),
        format_func=JUDGED_WORDS.__getitem__,
        required=True,
        key=JUDGED_KEY,
        on_change=_judged,
        help="Where all jurors agree every rule gives their verdict; rules differ only where jurors disagree.",
    )
    st.session_state[CONFIDENCE_KEY] = view.confidence
    right.selectbox(
        "Confidence",
        list(CONFIDENCES),
        format_func=lambda name: CONFIDENCES[name].title,
        key=CONFIDENCE_KEY,
        on_change=_confidence,
        help=CONFIDENCE_HELP,
    )
    return by_id[view.jury]


def _titles(found: Sequence[JuryRecord]) -> dict[str, str]:
    """By id what a jury is called; its id says more where two would be called the same."""
    titles = {
        of.jury_id: f"{of.name} · {counted(len(of.jurors), 'juror')} · {counted(of.answers, 'answer')}" for of in found
    }
    said = list(titles.values())
    return {
        name: f"{title} · {name.rpartition('-')[2]}" if said.count(title) > 1 else title
        for name, title in titles.items()
    }


def _picked() -> None:
    state.change(jury=st.session_state[JURY_KEY], card="")


def _judged() -> None:
    state.change(judged=st.session_state[JUDGED_KEY], card="")


def _confidence() -> None:
    state.change(confidence=st.session_state[CONFIDENCE_KEY])


def section(record: JuryRecord, view: View) -> None:
    """All figures of a jury."""
    protocol = juries.protocol(record.jury_id, view.judged, view.confidence)
    found = juries.tried(record.jury_id, protocol)
    bench = juries.bench(record.jury_id, protocol)
    key = juries.jury_key(record.jury_id)
    pairwise = juries.judgements(record.jury_id).pairwise
    version = f"{key.jury_id}:{key.stamp}:{view.judged}:{view.confidence}"
    live.jury(bench, found, juries.risk(record.jury_id, protocol), version=version, view=view, pairwise=pairwise)
    st.caption(
        plain(
            f"{counted(found.n, 'answer')} of {found.kept_of:,}; in each of {len(found.protocol.seeds)} splits "
            f"{found.n_calibration:,} calibrate and {found.n_test:,} test. Every figure is a mean over the splits; its "
            "95 % interval takes in which answers calibrated. Intervals of rules that are fitted are approximate: in "
            "simulations with 200 and 1,000 answers they held the truth in 88 to 99 of 100 cases. The answers that can "
            "be opened are those of the first split."
        )
    )
    if pairwise:
        st.caption(
            "Each row is a pair of answers. A verdict says which of the two is better; accuracy is the share of "
            "verdicts that agree with the label."
        )
    for note in (record.origin, *record.notes):
        st.caption(plain(f"{note[:1].upper()}{note[1:]}"))
    _agreement(record, pairwise)
    _adds(record, view, protocol)
    _worth(record, protocol, found, pairwise)
    _sets(record, view, protocol)
    _table(found)


def _agreement(record: JuryRecord, pairwise: bool) -> None:
    found = juries.agreed(record.jury_id)
    then = "and do they agree with the label then?" if pairwise else "and are they right then?"
    st.subheader(f"Do they agree, {then}", anchor=False)
    left, right = st.columns([3, 2], gap="large")
    with right:
        st.markdown(
            plain(
                f"On {_percent(found.unanimous)} of all {found.n:,} {'pairs' if pairwise else 'answers'} the jurors "
                f"are unanimous, and {_percent(found.unanimous_wrong)} of those verdicts are "
                f"{'against the label' if pairwise else 'wrong'} all the same."
            )
            if found.n_unanimous
            else "The jurors are unanimous on no answer."
        )
        st.dataframe(
            pd.DataFrame(
                [
                    _coefficient(*one)
                    for one in (
                        ("Fleiss' kappa", found.fleiss),
                        ("Krippendorff's alpha", found.krippendorff),
                        ("Effective number of votes", found.effective_votes),
                    )
                ]
            ),
            hide_index=True,
            height="content",
            alt="Agreement of the whole jury",
        )
        st.caption(
            "Kappa and alpha are 1 for full agreement and 0 for that of chance. Jurors that err on the same answers "
            "count as fewer votes than they are."
        )
    with left:
        measure = st.segmented_control(
            "Of each two jurors",
            list(PAIR_MEASURES),
            format_func=PAIR_MEASURES.__getitem__,
            default="agreement",
            required=True,
            key=PAIR_KEY,
        )
        one_way = [
            {"first": a, "second": b, **_measured(pair)}
            for pair in found.pairs
            for a, b in ((pair.first, pair.second), (pair.second, pair.first))
        ]
        selves = [{"first": name, "second": name, **dict.fromkeys(PAIR_MEASURES, 1.0)} for name in record.jurors]
        figures.show(
            juror_pairs(pd.DataFrame([*selves, *one_way]), measure),
            "Errors that correlate are what a vote can't mend. Point at two jurors for the 95 % interval.",
        )


def _measured(pair: Pairwise) -> dict[str, float]:
    """Each measure of two jurors, with the ends of its interval."""
    ends: dict[str, float] = {}
    for name in PAIR_MEASURES:
        of: Estimate = getattr(pair, name)
        ends |= {name: of.value, f"{name}_low": of.low, f"{name}_high": of.high}
    return ends


def _coefficient(title: str, of: Estimate) -> dict[str, str]:
    known = of.value == of.value
    return {
        "": title,
        "Figure": f"{of.value:.2f}" if known else "not defined",
        "95 % interval": f"{of.low:.2f} to {of.high:.2f}" if known else "",
    }


def _percent(of: Estimate) -> str:
    return f"{of.value:.1%} ({of.low:.1%} to {of.high:.1%})"


def _adds(record: JuryRecord, view: View, protocol: Protocol) -> None:
    st.subheader("What does each juror add?", anchor=False)
    table = juries.left_out(record.jury_id, protocol)
    mine = table[table["rule"] == view.rule]
    if mine.empty:
        st.caption(
            "Leaving one out needs three jurors or more."
            if table.empty
            else "Always False listens to no juror, so none adds anything."
            if view.rule == "always_false"
            else f"{RULES[view.rule].title} needs three jurors: it can't tell from two which of them is reliable."
        )
        return
    figures.show(
        juror_gains(mine),
        f"Accuracy by {RULES[view.rule].title} with all jurors, less that without this one, on the same answers; "
        "a line is the 95 % interval.",
    )


def _worth(record: JuryRecord, protocol: Protocol, found: JuryExperiment, pairwise: bool) -> None:
    st.subheader("What is their confidence worth?", anchor=False)
    bins = juries.reliability(record.jury_id, protocol)
    title = CONFIDENCES[protocol.confidence].title
    left, right = st.columns(2, gap="large")
    with left:
        figures.show(juror_reliability(bins, "confidence"), f"{title} confidence; a line is the 95 % interval.")
    with right:
        figures.show(juror_reliability(bins, "raw"), "Raw probability; a line is the 95 % interval.")
    errors = juries.calibration_errors(record.jury_id, protocol)
    of_scale = {scale: errors[errors["scale"] == scale] for scale in ("confidence", "raw")}
    columns = {
        "Juror": list(record.jurors),
        f"{'Agrees with the label' if pairwise else 'Right'} (95 % interval)": [
            _percent(of.accuracy) for of in found.jurors
        ],
        **{
            f"{word}: {name}": values
            for scale, word in (("confidence", "Confidence"), ("raw", "Raw"))
            for name, values in (
                ("ECE", [f"{value:.3f}" for value in of_scale[scale]["ece"]]),
                ("luck", [f"{value:.3f}" for value in of_scale[scale]["luck"]]),
                (
                    "without luck",
                    [f"{low:.3f} to {high:.3f}" for low, high in of_scale[scale][["low", "high"]].to_numpy()],
                ),
            )
        },
    }
    st.dataframe(
        pd.DataFrame(columns),
        hide_index=True,
        height="content",
        alt="Each juror's accuracy and calibration error",
    )
    st.caption(
        "ECE is the mean gap between confidence and the share that is right, over 15 bins; 0 is best. Luck is what a "
        "juror without any error would show; without it the error lies in the 95 % interval. Here each answer counts "
        "once: the halves of the first split calibrate each other's confidences."
    )


def _sets(record: JuryRecord, view: View, protocol: Protocol) -> None:
    with st.expander("A jury that may say both, or neither", on_change="rerun", key="jury_sets_open") as folded:
        if not folded.open:
            return
        controls.alpha_slider(view)
        found = juries.pooled_sets(record.jury_id, protocol, view.alpha)
        low, high = found.band
        a, b, c, d, e = st.columns(5)
        a.metric(
            "Hold the truth",
            f"{found.coverage:.1%}",
            help=f"By luck alone {low:.1%} to {high:.1%} where the promise holds.",
        )
        for column, name, count in (
            (b, "{True}", found.only_true),
            (c, "{False}", found.only_false),
            (d, "{True, False}", found.both),
            (e, "{ }", found.empty),
        ):
            column.metric(name, f"{count:,}")
        st.caption(
            "Conformal sets by LAC on the jurors' mean probability, of the first split's test answers: of answers like "
            "those that calibrated, a share of alpha may have a set that misses the truth. It is a promise about many "
            "answers, not about one."
        )


def _table(found: JuryExperiment) -> None:
    with st.expander("All figures of every rule", on_change="rerun", key="jury_table_open") as folded:
        if not folded.open:
            return
        rows = []
        for of in found.outcomes:
            row: dict[str, object] = {"rule": of.rule}
            for name in MEASURES:
                one = getattr(of, name)
                row |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
            for name in ("to_majority", "to_max_probability"):
                one = getattr(of, name)
                row |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
            rows.append(row)
        table = pd.DataFrame(rows)
        st.dataframe(
            table,
            hide_index=True,
            height="content",
            column_config={
                name: st.column_config.NumberColumn(format="%.4f") for name in table.columns if name != "rule"
            },
            alt="Every rule's measures with their intervals",
        )
        figures.download("Download as CSV", table, "jury-rules")
        st.caption("The same from the shell, from files or by a jury's name:")
        st.code("python -m core jury evaluate --judgements FILES --protocol all-rules --json", language="sh")
