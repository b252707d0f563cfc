"""A text by token: a recorded one, or a person's own."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from app import state
from app.caches import server_cache
from app.components.new_run import server_form
from app.components.shared import figures
from app.components.shared.answer_progress import failed, forget_failure, note_end, watch_progress
from app.components.tokens import token_text
from app.errors import spoken
from app.formatting import clock, counted, plain, sentence
from core import access
from core.access import UserRole
from core.models.model_fingerprint import short
from core.models.server_address import ServedWeights, short_name
from core.reports import tokens as reports
from core.reports.file_names import About
from core.runs.answering import client
from core.runs.answering import token_text as token_texts
from core.settings import ASSETS

MODEL_KEY, EVALUATIONS_KEY = "model", "evaluations"
"""These are also names in the address, because the two widgets are bound to it."""
TEXT_KEY = "token_text"
POLL_S = 0.5
AT_ONCE_S = 0.9
"""Seconds that a text waits for its tokens before the page shows the progress."""
LONGEST = 20_000
"""The most characters in a text, as in :mod:`core.models.adapters.token_view`."""
TEXT_HELP = f"At most {LONGEST:,} characters."
WINDOWS_SAID = (
    " This model reads {0:,} tokens at once, fewer than the text has. It reads the text in overlapping "
    "windows, so each later token is predicted from at least half of that number of tokens before it, "
    "not from the whole text."
)
PART_SAID = " A dot is another token of the character before it, because the model writes that one in several tokens."
SERVED_SAID = (
    " The entropy is not known, because a server lists only the most probable tokens. The server's chat template is "
    "not used."
)
SERVER = "token"
"""The beginning of the widget keys of the server form."""


@dataclass(frozen=True, slots=True)
class TokenModel:
    """The model that reads a text: its name or folder, or ``NAME@URL`` with the variable of its server's key and the
    weights that the server was found to hold."""

    name: str
    key_variable: str = ""
    weights: ServedWeights | None = None


def text_by_token() -> None:
    """Show a recorded text by the shipped models, or a person's own by any model."""
    figure = st.container()
    views = reports.recorded_views()
    own = "another model"
    offered = [*views, own] if access.may(UserRole.LAUNCHER) else list(views)
    state.name_unknown(MODEL_KEY, offered)
    starting = next(iter(views.values()), {}).get("text", "")
    chosen = st.segmented_control(
        "Model", offered, default=next(iter(views), own), required=True, key=MODEL_KEY,
        bind="query-params",
        help="Adapters are small additions to a model. These were tuned on trivia questions.",
    )  # fmt: skip
    place = st.container()
    text = st.text_area("Text", starting, height=110, key=TEXT_KEY, help=TEXT_HELP, persist_state="session")
    with place:
        token_model = _other_model() if chosen == own else TokenModel(chosen or "")
    if token_model is None:
        return
    with figure:
        _figure(token_model, text, views.get(chosen or "", {}), is_own=chosen == own)
    if chosen in views:
        client.warm(_location(chosen), token_texts.BY_TOKEN)  # while a person types


def _figure(token_model: TokenModel, text: str, recorded: dict[str, Any], *, is_own: bool) -> None:
    """Show the text by token: the recorded one, or the person's own once the model has read it."""
    model = token_model.name
    view: dict[str, Any] | None = recorded
    if text != recorded.get("text"):
        view = None
        if len(text) > LONGEST:
            st.error(
                f"The text has {len(text):,} characters, but at most {LONGEST:,} can be read. Remove "
                f"{counted(len(text) - LONGEST, 'character')}."
            )
        elif model and text.strip():
            with spoken():
                view = _read(token_model, text)
        else:
            st.info("Choose a model and enter a text to see how surprising each token is.")
    if view:
        for note in view.get("notes", ()):
            st.warning(plain(note))
        token_text(view, key="token_text_view")
        rows = pd.DataFrame([{k: v for k, v in row.items() if k != "alternatives"} for row in view["tokens"]])
        st.caption(
            "The stronger the orange of a token, the less the model expected it. Point at a token to see what "
            "the model expected instead."
            + (PART_SAID if any(not row["text"] for row in view["tokens"]) else "")
            + (WINDOWS_SAID.format(view["window"]) if view.get("window") else "")
            + (_served_said(view) if view.get("kind") == "server" else "")
            + (f" Read with weights {short(view['weights'])}." if is_own and view.get("weights") else "")
        )
        figures.download("Tokens as CSV", rows, "tokens", About([short_name(model or "")]))


def _other_model() -> TokenModel | None:
    """Show the choice of a model that has no recorded text; None if its server can't show a text by token."""
    if not server_form.is_on_server(SERVER):
        return TokenModel(st.text_input("Folder or name of the model", key="token_own", placeholder="./my-adapter"))
    lacking = "a text can't be shown by token"
    served = server_form.served_models(SERVER, one_text=True, without_texts=lacking)
    if served is None:
        return None
    ((name, able),) = served.jury_models.items()
    return TokenModel(name, served.connection.key_variable, able.weights)


def _served_said(view: dict[str, Any]) -> str:
    """What a view by a model on a server lacks, and when it was read by which weights."""
    when = f" This text was read at {clock(view['read_at'], st.context.timezone_offset)}" if "read_at" in view else ""
    by = f" by {plain(view['served'])}" if view.get("served") else ""
    again = ". Connect again if the server was started with another model." if when else ""
    return f"{SERVED_SAID}{when}{by}{again}"


def _read(model: TokenModel, text: str) -> dict[str, Any] | None:
    """The token view of a person's text. None if there is none yet: then the progress, or what is wrong, is shown."""
    request = token_texts.token_text(
        _location(model.name), text, key_variable=model.key_variable, weights=model.weights
    )
    if view := stored_view(request):
        return view
    if why := failed(request.answer_id):
        st.error(plain(sentence(why)))
        if st.button("Try again"):
            forget_failure()
            server_cache.ask_again()
            st.rerun()
        return None
    client.ask(request)
    now = client.progress(request.answer_id, wait_s=AT_ONCE_S)
    if now.ended:
        note_end(now)
        st.rerun()
    st.fragment(watch_progress, run_every=POLL_S)(request.answer_id, None)
    return None


def stored_view(request: token_texts.TokenText) -> dict[str, Any] | None:
    """The token view of a text, or None if it has not been read."""
    try:
        stamp = token_texts.view_file(request).stat().st_mtime_ns
    except FileNotFoundError:
        return None
    return _stored_view(request, stamp)


# 5 kB per entry for a short text, 2 MB for the longest. A view needs one.
@st.cache_resource(max_entries=64, show_spinner=False)
def _stored_view(request: token_texts.TokenText, stamp: int) -> dict[str, Any] | None:
    return token_texts.read_view(request)


def _location(model: str) -> str:
    shipped = ASSETS / "adapters" / model
    return str(shipped) if shipped.is_dir() else model
