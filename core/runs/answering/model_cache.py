"""Models that stay loaded, which are the last ones that were asked, as many as memory holds; and the progress of a
download.

A model that answers questions is an engine. One that reads texts by token also has its tokenizer and its adapter
(:class:`core.models.adapters.token_evaluation.Loaded`). Both kinds share the memory. If a model's files have changed
since it was loaded, it is loaded again.
"""

import gc
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psutil

from core.errors import InputError
from core.models.engine import Engine, SelfCheck
from core.models.engine_factory import load_engine
from core.models.model_sources import HUB_TIMEOUT_S, ModelSource
from core.models.out_of_memory import is_out_of_memory
from core.models.replaced_weights import weights_of
from core.runs.answering.token_text import BY_TOKEN

MOST = 4
BYTES_EACH = {"float32": 4.0, "float16": 2.0, "bfloat16": 2.0, "int8": 1.0, "int4": 0.5}
LOOK_EVERY_S = 0.3
FETCHED = re.compile(r"^model(-\d+-of-\d+)?\.safetensors$|^tokenizer\.json$|^config\.json$")
"""The files with nearly all bytes that are downloaded when a model is loaded."""

Key = tuple[str, str]
"""A model's name and the dtype in which it is loaded, or :data:`BY_TOKEN`."""


@dataclass(slots=True)
class LoadedModel:
    """A loaded model, its ``size`` in bytes and the fingerprint of its ``weights``.

    ``check`` is its last self-check, made at the time ``checked_at`` for the kind of prompt that ``checked`` names, and
    ``difference`` how far its answers to the run's own questions then were from those recorded.
    """

    engine: Engine
    size: int
    weights: str = ""
    checked: tuple[object, ...] = ()
    check: SelfCheck | None = None
    checked_at: float = 0.0
    difference: float = 0.0


@dataclass(slots=True)
class ReadingModel:
    """A loaded model that reads texts by token (``loaded``, a :class:`core.models.adapters.token_evaluation.Loaded`),
    its ``size`` in bytes and the fingerprint of its ``weights``.
    """

    loaded: Any
    size: int
    weights: str = ""


Kept = TypeVar("Kept", LoadedModel, ReadingModel)
Loading = Callable[[], AbstractContextManager[object]]
"""Makes the context in which a model is loaded; it is not made for a model that is loaded already."""


def load_reading_model(model: str) -> ReadingModel:
    """Load a model that reads texts by token. Raises :class:`~core.errors.InputError` if that is not possible."""
    from core.models.adapters.token_evaluation import load  # slow to import, and not needed for questions

    loaded = load(model)
    return ReadingModel(loaded, sum(each.numel() * each.element_size() for each in loaded.model.parameters()))


class ModelCache:
    """Loaded models, the one that was asked last at the end.

    ``limit`` is the most bytes that the parameters of all of them may take together, by default half of the memory
    that is free at the start. One model is always kept, however large it is: it was asked for.
    """

    def __init__(
        self,
        *,
        limit: int | None = None,
        load: Callable[..., Engine] = load_engine,
        weights: Callable[[str], str] = weights_of,
    ) -> None:
        self.limit = psutil.virtual_memory().available // 2 if limit is None else limit
        self._load = load
        self._weights = weights
        self._kept: OrderedDict[Key, LoadedModel | ReadingModel] = OrderedDict()
        self._warmed: Key | None = None
        """The model that was loaded beforehand and has not been asked yet."""

    def __contains__(self, key: Key) -> bool:
        return key in self._kept

    def __len__(self) -> int:
        return len(self._kept)

    def get(
        self, key: Key, *, engine: Callable[[], Engine] | None = None, loading: Loading = nullcontext
    ) -> LoadedModel:
        """The model that answers questions. It is loaded if necessary, and older models make room for it. ``engine``
        makes the engine of a model that a server holds. If memory runs out while loading, all other models are dropped
        and loading is tried once more.
        """
        model, dtype = key

        def load() -> LoadedModel:
            if engine:
                return LoadedModel(engine(), 0)
            loaded = self._load(model, dtype=dtype)
            return LoadedModel(loaded, int(loaded.description.get("parameters", 0) * BYTES_EACH[dtype]))

        return self._get(key, LoadedModel, load, "" if engine else model, loading)

    def by_token(self, model: str, *, loading: Loading = nullcontext) -> ReadingModel:
        """The model that reads texts by token, as :meth:`get`."""
        return self._get((model, BY_TOKEN), ReadingModel, lambda: load_reading_model(model), model, loading)

    def warm(self, key: Key) -> None:
        """Load a model before it is asked. It takes the place of one that was loaded so and never asked.

        Raises :class:`~core.errors.InputError` if it can't be loaded.
        """
        earlier, not_asked = self._warmed, key not in self._kept or key == self._warmed
        self.by_token(key[0]) if key[1] == BY_TOKEN else self.get(key)
        if earlier not in (None, key) and earlier in self._kept:
            self._drop(earlier)
            gc.collect()
        self._warmed = key if not_asked else None

    def _get(self, key: Key, kind: type[Kept], load: Callable[[], Kept], model: str, loading: Loading) -> Kept:
        """``model`` is the one whose files are here; empty for one on a server."""
        if key == self._warmed:
            self._warmed = None
        weights = self._weights(model) if model else ""
        if key in self._kept and self._kept[key].weights != weights:
            self._drop(key)
        if key not in self._kept:
            with loading():
                self._keep_within(self.limit // 2, most=MOST - 1)
                if not self._try(key, load):
                    self.clear()
                    self._kept[key] = load()
                if model:
                    self._kept[key].weights = weights or self._weights(model)  # a download has made it known
                    self.confirm(key)
                self._keep_within(self.limit, least=1)
        self._kept.move_to_end(key)
        loaded = self._kept[key]
        assert isinstance(loaded, kind)  # the key says which kind it is
        return loaded

    def confirm(self, key: Key) -> None:
        """Raise :class:`InputError`, and drop the model, if its files have changed since it was loaded. A library may
        read the weights from the files while the model answers."""
        if self._kept[key].weights != self._weights(key[0]):
            self._drop(key)
            raise files_changed(key[0])

    def clear(self) -> None:
        """Drop all models."""
        self._keep_within(0, most=0)

    def _try(self, key: Key, load: Callable[[], LoadedModel | ReadingModel]) -> bool:
        """Whether the model was loaded; False if memory ran out while others were kept."""
        try:
            self._kept[key] = load()
        except (RuntimeError, MemoryError) as error:
            if not (self._kept and is_out_of_memory(error)):
                raise
            return False
        return True

    def _keep_within(self, limit: int, *, least: int = 0, most: int = MOST) -> None:
        """Drop the models that were asked longest ago, until the others are few and small enough."""
        while len(self) > least and (len(self) > most or sum(model.size for model in self._kept.values()) > limit):
            self._drop(next(iter(self._kept)))
        gc.collect()

    def _drop(self, key: Key) -> None:
        gone = self._kept.pop(key)
        if key == self._warmed:
            self._warmed = None
        if isinstance(gone, LoadedModel) and (close := getattr(gone.engine, "close", None)):
            close()  # the connections to a server


@contextmanager
def download_watched(source: ModelSource, report: Callable[[int, int], None]) -> Iterator[None]:
    """While the block loads a model of the hub, call ``report(done, total)`` whenever more of its bytes are here.

    Loading fetches what is missing by itself; this watches the hub's cache folder fill meanwhile. Nothing is reported
    for a model that is already on disk, or if the hub does not say how large the model is.
    """
    total = total_bytes(source) if source.is_hub else 0
    if not total or bytes_here(source.location) >= total:
        yield
        return
    over = threading.Event()

    def watch() -> None:
        before = -1
        while True:
            done = min(bytes_here(source.location), total)
            if done != before:
                report(done, total)
                before = done
            if over.wait(LOOK_EVERY_S):
                return

    watcher = threading.Thread(target=watch, daemon=True, name="hedge-download")
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def total_bytes(source: ModelSource) -> int:
    """The bytes that loading the model downloads; 0 if the hub does not say."""
    from huggingface_hub import model_info

    try:
        files = model_info(source.location, files_metadata=True, timeout=HUB_TIMEOUT_S).siblings or ()
    except Exception:  # whatever the transport raises; loading reports it in its own words
        return 0
    return sum(sibling.size or 0 for sibling in files if FETCHED.match(sibling.rfilename))


def bytes_here(model: str) -> int:
    """The bytes of the model in the hub's cache on this machine, unfinished files among them."""
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE) / f"models--{model.replace('/', '--')}" / "blobs"
    return sum(_size(path) for path in folder.glob("*"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # renamed the moment it was whole
        return 0


def files_changed(model: str) -> InputError:
    """The error if a model is not the one that was asked for."""
    return InputError(f"the files of {model} were changed while it was loaded or asked; ask again")
