"""Evaluations of token predictions side by side: reliability, figures, ranks."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import state
from app.components.shared import figures
from app.components.shared.page_head import answer
from app.components.shared.paper import Paper, for_paper
from app.components.shared.static_table import static_table
from app.components.tokens.text_by_token import EVALUATIONS_KEY
from app.formatting import plain, sentence
from charts.rank_variances import rank_variances
from charts.token_reliability import MOST, token_reliability
from core.calibration.estimate import CalibrationEstimate
from core.models.model_fingerprint import short
from core.reports import tokens as reports
from core.reports.file_names import About
from core.reports.p_values import p_text
from core.reports.token_pairs import TokenPair, token_pairs, tokens_answer
from core.reports.tokens import TokenResult

if TYPE_CHECKING:
    from charts.figure_files import FigureFile
    from charts.figure_style import FigureStyle


def evaluations(first: DeltaGenerator) -> None:
    """Show the reliability and figures of the chosen evaluations, and in ``first`` which model is surprised less."""
    st.subheader("How far can a model's confidence be trusted?", anchor=False)
    results, problems = reports.results()
    for problem in problems:
        st.warning(plain(sentence(problem)))
    if not results:
        st.info("There is no evaluation yet. `hedge tokens evaluate` makes one.")
        return
    names = list(range(len(results)))
    state.name_unknown(EVALUATIONS_KEY, [result.name for result in results])
    chosen = st.multiselect(
        "Evaluations", names, names[:3], format_func=lambda i: results[i].name, key=EVALUATIONS_KEY,
        bind="query-params",
        max_selections=MOST, help="`hedge tokens evaluate` makes evaluations. Some ship with Hedge.",
    )  # fmt: skip
    if not chosen:
        st.info("Choose an evaluation above.")
        return
    picked = tuple(results[i] for i in chosen)
    names_here = _told_apart(picked)
    pairs = _pairs(picked, names_here, first)
    frame = reports.reliability_frame(picked)
    figures.show(
        token_reliability(frame.assign(name=frame["name"].map(names_here))),
        "Each mark is a bin of tokens. On the dashed line, a model's top token is right as often as the model is "
        "confident. The vertical lines are Clopper–Pearson 95% intervals of the accuracy.",
        _about(picked),
    )
    _table(picked, names_here)
    for result in picked:
        _ranks(result)
    for_paper("tokens", lambda: _paper(picked, names_here, pairs))


def _paper(picked: tuple[TokenResult, ...], names: Mapping[str, str], pairs: tuple[TokenPair, ...]) -> Paper:
    """The evaluations for a paper."""
    from charts import paper_figures
    from core.reports.paper.measurements import of_tokens

    results = of_tokens(picked, names, pairs)
    variances = {result.name: reports.variances_frame(result) for result in picked}

    def draw(name: str, style: "FigureStyle") -> "Sequence[FigureFile]":
        if name in variances:
            return (paper_figures.ranks(variances[name], names[name], results, style),)
        frame = reports.reliability_frame(picked)
        return (paper_figures.tokens(frame.assign(name=frame["name"].map(names)), results, style),)

    titles = {name: f"Ranks of {names[name]}" for name, frame in variances.items() if not frame.empty}
    return Paper(results, {"reliability": "Reliability diagram"} | titles, draw)


def _pairs(picked: tuple[TokenResult, ...], names: Mapping[str, str], first: DeltaGenerator) -> tuple[TokenPair, ...]:
    """Show which model is surprised less, in ``first``, and here the paired difference of every two. Returns them."""
    if len(picked) < 2:
        return ()
    stamps = tuple((str(result.path), result.path.stat().st_mtime_ns, names[result.name]) for result in picked)
    pairs = _token_pairs(stamps, picked)
    with first:
        answer(*tokens_answer(pairs))
    if not pairs:
        return ()
    static_table(
        pd.DataFrame(
            {
                "More surprised": [pair.first for pair in pairs],
                "Less surprised": [pair.second for pair in pairs],
                "Difference of the mean surprisal, nats per token": [pair.difference_text() for pair in pairs],
                "p": [p_text(pair.p) for pair in pairs],
            }
        ),
        alt="Differences of the mean surprisal of every two models",
        texts=2,
    )
    st.caption(
        "Brackets hold 95% intervals over texts. p is of a sign-flip test over texts; all p-values are corrected "
        "together (Holm)."
    )
    return pairs


# 1 kB per entry. A view needs one.
@st.cache_resource(max_entries=64, show_spinner="Comparing the models …")
def _token_pairs(stamps: tuple[tuple[str, int, str], ...], _picked: tuple[TokenResult, ...]) -> tuple[TokenPair, ...]:
    """The pairs of the evaluations ``_picked``, whose files, times of writing and names are ``stamps``."""
    return token_pairs(_picked, [name for _, _, name in stamps])


def _told_apart(picked: Sequence[TokenResult]) -> dict[str, str]:
    """A short name for each evaluation: its model where that tells the evaluations apart, else its whole name."""
    models = [str(result.values["model"]) for result in picked]
    distinct = len(set(models)) == len(models)
    return {result.name: model if distinct else result.name for result, model in zip(picked, models, strict=True)}


def _table(picked: tuple[TokenResult, ...], names: Mapping[str, str]) -> None:
    frame = reports.figures_frame(picked)
    shown = pd.DataFrame(
        [
            {
                "Model": names[row["name"]],
                "Accuracy": _share(reports.estimate_of(result, "accuracy")),
                "NLL": reports.estimate_of(result, "nll").text(),
                "ECE beyond chance": _beyond_luck(reports.estimate_of(result, "ece")),
                "Smooth ECE beyond chance": _beyond_luck(reports.estimate_of(result, "smooth_ece")),
                "ECE seen": _decimals(row["ece"]),
                "ECE by chance": _decimals(row.get("ece_luck")),
                "Active ranks": f"{row['active_ranks']} of {row['ranks']}" if row["ranks"] else "–",
                "Adapter": row["kind"],
                "Weights": short(result.weights) or "not recorded",
                "Tokens": f"{row['tokens']:,}",
            }
            for result, row in zip(picked, frame.to_dict("records"), strict=True)
        ]
    )
    if all(result.ships for result in picked):
        shown = shown.drop(columns="Weights")
    for note in dict.fromkeys(note for result in picked for note in result.values.get("notes", ())):
        st.warning(plain(note))
    static_table(shown, alt="Accuracy, NLL and ECE of the chosen evaluations")
    st.caption(
        "Accuracy is how often the top token is right. NLL is −log of the true token's probability, on average, in "
        "nats; compare it only within one tokenizer. The ECE has 15 bins, the smooth ECE none. “Beyond chance” is the "
        "error that was seen, less what a calibrated model with these confidences shows on average; a dash means that "
        "an older version evaluated this and did not take chance away. Brackets hold 95% intervals, which treat tokens "
        "as independent of each other. Active ranks add at least 1% of the variance that the largest rank of their "
        "layer adds."
    )


def _decimals(error: float | None) -> str:
    return "–" if error is None or error != error else f"{error:.3f}"


def _share(estimate: CalibrationEstimate) -> str:
    return f"{estimate.value:.1%} ({100 * estimate.low:.1f} to {estimate.high:.1%})"


def _beyond_luck(estimate: CalibrationEstimate) -> str:
    if estimate.reason:
        return estimate.interval_text()
    return "–" if estimate.excess is None else f"{estimate.excess:.3f} ({estimate.interval_text()})"


def _about(picked: Sequence[TokenResult]) -> About:
    return About([result.name for result in picked])


def _ranks(result: TokenResult) -> None:
    frame = reports.variances_frame(result)
    if frame.empty:
        return
    with st.expander(plain(f"The ranks of {result.name}")):
        figures.show(
            rank_variances(frame),
            "The variance that each rank adds to its layer, in per cent of the layer's largest. Automatic "
            "relevance determination switches off ranks that contribute nothing: they fall to 0.",
            _about([result]),
        )
