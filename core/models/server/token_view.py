"""A text, token by token, read by a model on a server: the surprisal of each token, and what the model expected
instead.

A server lists only the most probable tokens, so the entropy of its prediction is unknown.
"""

import time
from typing import Any

from core.errors import InputError
from core.models.server.client import Patience
from core.models.server.engine import ServerEngine
from core.models.server_address import ServedModel, ServedWeights
from core.models.spelling import TOO_SHORT, check_text

ALTERNATIVES = 5


def view_served_tokens(
    model: ServedModel,
    text: str,
    *,
    key_variable: str = "",
    weights: ServedWeights | None = None,
    patience: Patience | None = None,
    timeout_s: float | None = None,
) -> dict[str, Any]:
    """The JSON values of :func:`core.models.adapters.token_view.view_tokens`; ``entropy`` is None everywhere.
    ``served`` is the server's kind, version and quantisation in words, and ``read_at`` when it was asked, in seconds
    since the epoch.

    Raises :class:`InputError` for a text that is empty, too long or a single token, if the server does not give the
    log-probabilities of a text, and if it no longer holds ``weights``; :class:`~core.errors.ServerError` if it can't be
    asked.
    """
    check_text(text)
    engine = ServerEngine.load(
        model.name, servers=[model.url], key_variable=key_variable, patience=patience, timeout_s=timeout_s
    )
    able = engine.able
    try:
        if weights is not None:
            weights.check_still(
                able.weights,
                model=model.name,
                url=model.url,
                since="it was last asked what it can do",
                way_out="connect to it again",
            )
        rows = engine.echo_rows(text, listed=ALTERNATIVES)
    finally:
        engine.close()
    if len(rows) < 2:
        raise InputError(TOO_SHORT)
    return {
        "model": str(model),
        "kind": "server",
        "served": " ".join(filter(None, (able.kind, able.version, able.quantisation))),
        "read_at": time.time(),
        "text": text,
        "window": 0,
        "tokens": rows,
    }
