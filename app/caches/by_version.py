"""Caches of what is computed of runs or juries, which hold as long as the runs or juries stay as they are."""

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import streamlit as st

Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")


def by_version(
    version: Callable[[Any], Hashable], *, max_entries: int, show_spinner: bool | str = False
) -> Callable[[Callable[Parameters, Value]], Callable[Parameters, Value]]:
    """Cache a function whose first argument is an id, or a list or tuple of ids.

    ``version`` gives the present version of an id (:func:`app.caches.run_cache.run_key` or
    :func:`app.caches.jury_cache.jury_key`), so a repeated run is computed again. The other arguments are hashed.
    """

    def decorate(compute: Callable[Parameters, Value]) -> Callable[Parameters, Value]:
        def computed(versions: Hashable, _ids: Any, *arguments: Any, **named: Any) -> Value:
            return compute(_ids, *arguments, **named)

        # Streamlit tells functions apart by their names.
        computed.__module__, computed.__qualname__ = compute.__module__, compute.__qualname__
        cached = st.cache_resource(max_entries=max_entries, show_spinner=show_spinner)(computed)

        @wraps(compute)
        def looked_up(*arguments: Any, **named: Any) -> Any:
            ids = arguments[0]
            versions = tuple(map(version, ids)) if isinstance(ids, list | tuple) else version(ids)
            return cached(versions, *arguments, **named)

        looked_up.most = max_entries  # type: ignore[attr-defined]
        return looked_up

    return decorate
