"""The parts of the Token uncertainty page: a text by token, evaluations side by side, ranks."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from app import data
from app.components.shared import figures
from app.components.tokens import token_text
from app.errors import spoken
from app.formatting import counted, plain
from charts.rank_variances import rank_variances
from charts.token_reliability import MOST, token_reliability
from core.reports import tokens as reports
from core.reports.tokens import TokenResult
from core.settings import ASSETS

MODEL_KEY, TEXT_KEY, CHOSEN_KEY = "token_model", "token_text", "token_results"
LONGEST = 20_000
"""Characters of a text, as many as :mod:`core.adapters.token_view` reads."""
TEXT_HELP = f"At most {LONGEST:,} characters."
WINDOWS_SAID = (
    " This model reads {0:,} tokens at once, fewer than the text has. It reads the text in windows that overlap, so "
    "each later token is predicted from at least half as many tokens before it, not from the whole text."
)
ERROR_HELP = (
    "{}the error beyond luck with its 95 % interval, then the error that is seen and what a calibrated model shows by "
    "luck. Tokens count as independent of each other."
)
TITLES = {"accuracy": "ACC", "nll": "NLL", "ece": "ECE", "smooth_ece": "Smooth ECE"}


def text_by_token() -> None:
    """A recorded text by the shipped models, or a person's own by any model."""
    views = reports.recorded_views()
    own = "another model"
    chosen = st.segmented_control(
        "Model", [*views, own], default=next(iter(views), own), required=True, key=MODEL_KEY,
        help="Adapters are small additions to the first model, tuned on trivia questions.",
    )  # fmt: skip
    model = st.text_input("Folder or name", key="token_own", placeholder="./my-adapter") if chosen == own else chosen
    recorded = views.get(chosen or "", {})
    text = st.text_area("Text", recorded.get("text", ""), height=90, key=f"{TEXT_KEY}-{chosen}", help=TEXT_HELP)
    view: dict[str, Any] | None = recorded
    if text != recorded.get("text"):
        view = None
        if len(text) > LONGEST:
            st.error(
                f"The text has {len(text):,} characters, and at most {LONGEST:,} can be read: "
                f"leave out {counted(len(text) - LONGEST, 'character')}."
            )
        elif model and text.strip():
            with spoken():
                view = data.token_view(_location(model), text)
        else:
            st.info("Give a model and a text, and its tokens are shaded by surprise.")
    if view:
        token_text(view, key="token_text_view")
        rows = pd.DataFrame([{k: v for k, v in row.items() if k != "alternatives"} for row in view["tokens"]])
        st.caption(
            "The stronger the orange of a token, the less the model expected it. Point at one to see what it expected "
            "instead." + (WINDOWS_SAID.format(view["window"]) if view.get("window") else "")
        )
        figures.download("These tokens as CSV", rows, "tokens")


def _location(model: str) -> str:
    shipped = ASSETS / "adapters" / model
    return str(shipped) if shipped.is_dir() else model


def evaluations() -> None:
    """Reliability and figures of the chosen evaluations."""
    st.subheader("How far can their confidence be trusted?", anchor=False)
    found, problems = reports.results()
    for problem in problems:
        st.warning(plain(problem))
    if not found:
        st.info("Evaluations would be here; `python -m core tokens evaluate` makes one.")
        return
    names = list(range(len(found)))
    chosen = st.multiselect(
        "Evaluations", names, names[:3], format_func=lambda i: found[i].name, key=CHOSEN_KEY,
        max_selections=MOST, help="Made by `python -m core tokens evaluate`, the latest of yours among them.",
    )  # fmt: skip
    if not chosen:
        st.info("Choose an evaluation above.")
        return
    picked = tuple(found[i] for i in chosen)
    figures.show(
        token_reliability(reports.reliability_frame(picked)),
        "On the dashed line a model's top token is right as often as it is sure; a rule is the "
        "Clopper–Pearson 95 % interval of a bin's accuracy.",
    )
    _table(picked)
    for one in picked:
        _ranks(one)


def _table(picked: tuple[TokenResult, ...]) -> None:
    frame = reports.figures_frame(picked)
    shown = pd.DataFrame(
        [
            {
                "Model": row["name"],
                "Adapter": row["kind"],
                "Tokens": row["tokens"],
                **{title: reports.estimate_of(one, name).text() for name, title in TITLES.items()},
                "Active ranks": f"{row['active_ranks']} of {row['ranks']}" if row["ranks"] else "–",
            }
            for one, row in zip(picked, frame.to_dict("records"), strict=True)
        ]
    )
    st.dataframe(
        shown,
        hide_index=True,
        column_config={
            "ECE": st.column_config.TextColumn(help=ERROR_HELP.format("15 bins; ")),
            "Smooth ECE": st.column_config.TextColumn(help=ERROR_HELP.format("No bins; ")),
            "Active ranks": st.column_config.TextColumn(
                help="Those that add at least 1 % of the variance that their layer's largest one adds."
            ),
            "NLL": st.column_config.TextColumn(
                help="Of the true token, in nats; it compares within one tokenizer alone."
            ),
        },
        alt="Accuracy, NLL and ECE of the chosen evaluations",
    )
    figures.download("These figures as CSV", frame, "token-figures")


def _ranks(one: TokenResult) -> None:
    frame = reports.variances_frame(one)
    if frame.empty:
        return
    with st.expander(plain(f"The ranks of {one.name}")):
        figures.show(
            rank_variances(frame),
            "The variance that each rank adds to its layer, as a share of the layer's largest. Automatic relevance "
            "determination lets go of ranks that carry nothing: they fade to 0 %.",
        )
