"""The bytes of a model of the Hugging Face hub: how many there are, and how many are here.

Loading fetches what is missing by itself; this watches the cache folder fill while it does, whatever fetches it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from core.inference.models import HUB_TIMEOUT_S, ModelSource

LOOK_EVERY_S = 0.3
FETCHED = re.compile(r"^model(-\d+-of-\d+)?\.safetensors$|^tokenizer\.json$|^config\.json$")
"""The files that make up nearly all bytes that loading a model fetches."""

Told = Callable[[int, int], None]


@contextmanager
def watched(source: ModelSource, tell: Told) -> Iterator[None]:
    """While the block loads a model of the hub, call ``tell(done, total)`` whenever there are more bytes of it.

    Silent for a model that lies on disk already, and where the hub does not say how large it is.
    """
    total = total_bytes(source) if source.is_hub else 0
    if not total or here_bytes(source.location) >= total:
        yield
        return
    over = threading.Event()

    def look() -> None:
        before = -1
        while True:
            done = min(here_bytes(source.location), total)
            if done != before:
                tell(done, total)
                before = done
            if over.wait(LOOK_EVERY_S):
                return

    watcher = threading.Thread(target=look, daemon=True, name="hedge-download")
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def total_bytes(source: ModelSource) -> int:
    """The bytes that loading the model fetches, 0 where the hub does not say."""
    from huggingface_hub import model_info

    try:
        found = model_info(source.location, files_metadata=True, timeout=HUB_TIMEOUT_S).siblings or ()
    except Exception:  # whatever the transport raises; loading says it in its own words
        return 0
    return sum(sibling.size or 0 for sibling in found if FETCHED.match(sibling.rfilename))


def here_bytes(model: str) -> int:
    """The bytes of the model in the hub's cache on this machine, unfinished files among them."""
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE) / f"models--{model.replace('/', '--')}" / "blobs"
    return sum(_size(path) for path in folder.glob("*"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # renamed the moment it was whole
        return 0
