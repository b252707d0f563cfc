"""What a component's browser side reports, which is checked before it is used: a browser may send anything."""

from collections.abc import Mapping

import streamlit as st

from core.storage.json_text import whole_texts

LONGEST = 5_000
"""Characters of one value."""
MOST = 50
"""Values of one message."""


def message(key: str, name: str) -> Mapping[str, object]:
    """What the component ``key`` last reported as ``name``; empty if that is no object."""
    reported = st.session_state[key]
    value = reported.get(name) if isinstance(reported, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def message_texts(key: str, name: str) -> dict[str, str]:
    """The texts and numbers of :func:`message`, as texts; they are then checked as those of a link are."""
    return texts_of(message(key, name))


def texts_of(value: object) -> dict[str, str]:
    """The texts and numbers of an object as texts; nothing that is longer than a link's value may be.

    >>> texts_of({"alpha": 100, "run": "a", "list": [1], "long": "x" * 9999})
    {'alpha': '100', 'run': 'a'}
    """
    if not isinstance(value, Mapping):
        return {}
    texts = {}
    for name, item in list(value.items())[:MOST]:
        if isinstance(item, float) or (isinstance(item, int) and abs(item) < 10**18):
            texts[str(name)] = str(item)
        elif isinstance(item, str) and len(item) <= LONGEST:
            texts[str(name)] = str(whole_texts(item))
    return texts
