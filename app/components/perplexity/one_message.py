"""One message of a conversation, token by token."""

from __future__ import annotations

import streamlit as st

from app import state
from app.components.perplexity.perplexity_form import PerplexityForm
from app.components.perplexity.perplexity_library import Library, ScoringSetup
from app.components.shared.token_strip import token_strip
from app.formatting import plain, shortened
from app.state.perplexity import PerplexityView
from core.models.perplexity.figures import aligned, most_changed

TALK_KEY = "words_talk"
MESSAGE_KEY = "words_message"


def one_message(chosen: PerplexityForm, view: PerplexityView, found: Library, setup: ScoringSetup) -> None:
    """Show the token strip of one message."""
    st.subheader("Word by word", anchor=False)
    there = [s for s in chosen.talks if not found.missing(setup, [chosen.a.digest, chosen.b.digest], [s])]
    talk = view.talk if view.talk in there else there[0]
    a, b = (found.messages(setup, prompt.digest, talk) or () for prompt in (chosen.a, chosen.b))
    place = min(view.message, len(a))
    left, right = st.columns([2, 5])
    st.session_state[TALK_KEY], st.session_state[MESSAGE_KEY] = talk, place
    left.selectbox(
        "Conversation",
        there,
        format_func=lambda digest: found.conversations[digest].name,
        key=TALK_KEY,
        on_change=state.taking(PerplexityView, "talk", TALK_KEY, message=1),
    )
    right.selectbox(
        "The counselor's message",
        range(1, len(a) + 1),
        format_func=lambda i: f"{i}: {shortened(''.join(a[i - 1].pieces), 90)}",
        key=MESSAGE_KEY,
        on_change=state.taking(PerplexityView, "message", MESSAGE_KEY),
    )
    one, other = aligned(a[place - 1], b[place - 1])
    token_strip(one, other, most_changed(one, other), names=(chosen.a.name, chosen.b.name), key="token_strip")
    with st.expander("What was said before"):
        number = one.number
        for message in found.conversations[talk].messages[:number]:
            st.caption(f"**{message.role}** {plain(message.text)}")
