"""Greedy answers of a base model, which may be on a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from core.models.engine_factory import load_server_engine
from core.models.server.left_out import NoAnswer
from core.models.server.spending import Spending
from core.models.server_address import TIMEOUT_S, served_model

if TYPE_CHECKING:
    from core.models.server.engine import ServerEngine


def written_answers(
    model: str,
    prompts: Sequence[str],
    *,
    dtype: str,
    key_variable: str = "",
    timeout_s: float = TIMEOUT_S,
    spending: Spending | None = None,
    on_wait: Callable[[str], None] = lambda reason: None,
    on_server: Callable[[ServerEngine], None] = lambda engine: None,
    on_missing: Callable[[int, NoAnswer], object] = lambda i, missing: None,
) -> Iterator[tuple[int, str]]:
    """The index of each prompt with the model's answer to it, in any order. ``on_server`` is given the engine of a
    model on a server before it is asked, and ``on_missing`` hears of prompts that it does not answer.

    Raises :class:`~core.errors.InputError` if the model can't be loaded, and :class:`~core.errors.ServerError` if its
    server can't be asked.
    """
    if there := served_model(model):
        engine = load_server_engine(
            there.name,
            servers=[there.url],
            key_variable=key_variable,
            timeout_s=timeout_s,
            spending=spending,
            on_wait=on_wait,
        )
        with closing(engine):
            on_server(engine)
            yield from engine.answers(prompts, leave_out=on_missing)
        return
    from core.models.generation import Generator

    yield from Generator.load(model, dtype=dtype).answers(prompts)
