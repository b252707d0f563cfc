"""From a spec's model name to an engine that is ready to score."""

from __future__ import annotations

from core.inference.engine import Engine
from core.inference.imports import language_models, uncollected
from core.inference.models import FAKE_MODEL, resolve


def load_engine(model: str, *, dtype: str, batch_size: int | None = None) -> Engine:
    """Load ``model`` in ``dtype``; :class:`~core.errors.InputError` where it can't be.

    ``batch_size`` fixes the rows of a batch by hand; without it memory decides.
    """
    source = resolve(model)
    if source.location == FAKE_MODEL:
        from core.inference.fake import FakeEngine

        return FakeEngine()
    language_models()
    with uncollected():
        from core.inference.transformers_engine import TransformersEngine

        return TransformersEngine.load(source, dtype=dtype, batch_size=batch_size)
