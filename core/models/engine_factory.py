"""Makes the scoring engine for a model name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from core.models.engine import Engine
from core.models.imports import language_models, uncollected
from core.models.model_fingerprint import pinned, revisions
from core.models.model_sources import FAKE_MODEL, resolve
from core.models.server.spending import Spending
from core.models.server_address import TIMEOUT_S
from core.questions.prompting.decision import DECISION_FORMATS

if TYPE_CHECKING:
    from core.models.server.client import Patience
    from core.models.server.engine import ServerEngine


def load_server_engine(
    model: str,
    *,
    servers: Sequence[str],
    key_variable: str = "",
    spending: Spending | None = None,
    patience: Patience | None = None,
    timeout_s: float = TIMEOUT_S,
    all_needed: bool = True,
    picks: int = 0,
    decisions: str = "",
    on_wait: Callable[[str], None] = lambda reason: None,
) -> ServerEngine:
    """The engine of a model on servers; see :meth:`~core.models.server.engine.ServerEngine.load`. With ``picks``, it
    asks each question this many times, and with ``decisions`` in this format of requests for decisions."""
    from core.models.server.decisions import DecisionEngine
    from core.models.server.engine import ServerEngine
    from core.models.server.picks import PickEngine

    kind = DecisionEngine.asking(decisions) if decisions else PickEngine.asking(picks) if picks else ServerEngine
    return kind.load(
        model,
        servers=servers,
        key_variable=key_variable,
        spending=spending,
        patience=patience,
        timeout_s=timeout_s,
        all_needed=all_needed,
        on_wait=on_wait,
    )


def load_served_juror(model: str, *, url: str, **how: Any) -> ServerEngine:
    """The engine of a juror on a server: it scores texts, or it answers decisions.

    ``how`` are other arguments of :func:`load_server_engine`. Raises :class:`InputError` as that does, if it can do
    neither.
    """
    from core.models.server.abilities import NoListsError

    engine: ServerEngine | None = None
    refused: NoListsError | None = None
    try:
        engine = load_server_engine(model, servers=[url], **how)
        if engine.able.echo:
            return engine
    except NoListsError as error:
        refused = error
    if deciding := load_deciding_juror(model, url=url, **how):
        if engine:
            engine.close()
        return deciding
    if refused:
        raise refused
    assert engine is not None
    return engine


def load_deciding_juror(model: str, *, url: str, **how: Any) -> ServerEngine | None:
    """The engine of a juror on a server that answers decisions; None if it answers none. ``how`` are other arguments
    of :func:`load_server_engine`."""
    for form in DECISION_FORMATS:
        with suppress(InputError):
            return load_server_engine(model, servers=[url], decisions=form, **how)
    return None


def load_engine(
    model: str,
    *,
    dtype: str,
    batch_size: int | None = None,
    device: str = "",
    fingerprint: str = "",
    report: Callable[[str], None] | None = None,
) -> Engine:
    """Load ``model`` in ``dtype``. Raises :class:`~core.errors.InputError` if that is not possible.

    ``batch_size`` sets the rows of a batch by hand; by default memory decides. ``device`` names the one device to use,
    ``fingerprint`` names the revision on the hub, and ``report`` is told how far the loading is.
    """
    source = resolve(model, revision=revisions(fingerprint)[0])
    if source.location == FAKE_MODEL:
        from core.models.fake import FakeEngine

        return FakeEngine()
    language_models()
    with uncollected():
        from core.models.transformers_engine import TransformersEngine

        source = pinned(source, fingerprint)
        return TransformersEngine.load(source, dtype=dtype, batch_size=batch_size, device=device, report=report)
