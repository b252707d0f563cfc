"""Models that stay loaded: the ones asked last, as many as memory holds."""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from core.inference.engine import Engine, SelfCheck
from core.inference.engine_factory import load_engine

MOST = 4
BYTES_EACH = {"float32": 4.0, "float16": 2.0, "bfloat16": 2.0, "int8": 1.0, "int4": 0.5}

Key = tuple[str, str]
"""A model's name and the dtype it is loaded in."""


@dataclass(slots=True)
class Kept:
    """A loaded model; ``check`` is its last self-check, made for the kind of prompt ``checked`` names."""

    engine: Engine
    size: int
    checked: tuple[object, ...] = ()
    check: SelfCheck | None = None
    difference: float = 0.0


class Shelf:
    """Loaded models, the one asked last at the end.

    ``limit`` is the most bytes of parameters that all of them may have together, by default half of the memory that
    is free at the start. One model is always kept, however large it is: it was asked for.
    """

    def __init__(self, *, limit: int | None = None, load: Callable[..., Engine] = load_engine) -> None:
        self.limit = psutil.virtual_memory().available // 2 if limit is None else limit
        self._load = load
        self._kept: OrderedDict[Key, Kept] = OrderedDict()

    def __contains__(self, key: Key) -> bool:
        return key in self._kept

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Key) -> Kept:
        """The model, loaded where it is not; older ones make room for it.

        Where memory runs out in loading, every other model goes and it is tried once more.
        """
        if key not in self._kept:
            self._make_room(self.limit // 2)
            if not self._try(key):
                self._make_room(0)
                gc.collect()
                self._put(key)
            self._shrink()
        self._kept.move_to_end(key)
        return self._kept[key]

    def clear(self) -> None:
        """Let all models go."""
        self._make_room(0)

    def _try(self, key: Key) -> bool:
        """Whether the model was loaded; False where memory ran out while others were kept."""
        try:
            self._put(key)
        except (RuntimeError, MemoryError) as error:
            if not (self._kept and is_memory(error)):
                raise
            return False
        return True

    def _put(self, key: Key) -> None:
        model, dtype = key
        engine = self._load(model, dtype=dtype)
        size = int(engine.description.get("parameters", 0) * BYTES_EACH[dtype])
        self._kept[key] = Kept(engine, size)

    def _make_room(self, most: int) -> None:
        while self._kept and (len(self._kept) >= MOST or self._size() > most or most == 0):
            self._kept.popitem(last=False)
        gc.collect()

    def _shrink(self) -> None:
        while len(self._kept) > 1 and self._size() > self.limit:
            self._kept.popitem(last=False)
        gc.collect()

    def _size(self) -> int:
        return sum(kept.size for kept in self._kept.values())


def is_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out."""
    return isinstance(error, MemoryError) or "out of memory" in str(error).lower()
