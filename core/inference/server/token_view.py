"""A text token by token by a model on a server: how surprised it is by each, and what it expected instead.

A server lists only the most probable tokens, so the entropy of what it expected is not known.
"""

from __future__ import annotations

from typing import Any

from core.errors import InputError
from core.inference.server.address import ServedModel
from core.inference.server.engine import ServerEngine

ALTERNATIVES = 5
LONGEST = 20_000
"""The most characters of a text."""


def view_served_tokens(model: ServedModel, text: str, *, key_variable: str = "") -> dict[str, Any]:
    """The JSON values of :func:`core.adapters.token_view.view_tokens`; ``entropy`` is None everywhere.

    Raises :class:`InputError` for a text that is empty, too long or a single token, and if the server does not give the
    log-probabilities of a text; :class:`~core.errors.ServerError` if it can't be asked.
    """
    if not text.strip():
        raise InputError("the text is empty; write at least two words")
    if len(text) > LONGEST:
        raise InputError(f"a text can have at most {LONGEST:,} characters, got {len(text):,}")
    engine = ServerEngine.load(model.name, servers=[model.url], key_variable=key_variable)
    try:
        rows = engine.echo_rows(text, listed=ALTERNATIVES)
    finally:
        engine.close()
    if len(rows) < 2:
        raise InputError("the text is a single token, with nothing before it to predict it from; write more")
    return {"model": str(model), "kind": "server", "text": text, "window": 0, "tokens": rows}
