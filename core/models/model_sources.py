"""The known models and their locations. Loads no torch, so that pages may use it."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core import access, extras
from core.errors import InputError
from core.models.folders import ADAPTER, CONFIGURATION, check_adapter, check_folder, holds_adapter, named_bases
from core.models.hub_cache import cached_file
from core.models.registry import BY_ID
from core.models.safetensors_files import SERVE_GGUF
from core.settings import ASSETS, ROOT, settings
from core.storage.names import is_folder, named

DTYPES = ("float32", "float16", "bfloat16", "int8", "int4")
"""The precisions in which a model may be loaded."""
QUANTIZED = ("int8", "int4")
"""The precisions that need an NVIDIA GPU and bitsandbytes."""
FAKE_ENGINE_VARIABLE = "HEDGE_FAKE_ENGINE"
FAKE_MODEL = "fake"
HUB_ID = re.compile(r"^[\w.-]+(/[\w.-]+)?\Z")
HUB_TIMEOUT_S = 10
PATHS = (".", "/", "~")
"""How the name of a folder may begin, and that of a model on the hub may not."""


@dataclass(frozen=True, slots=True)
class ModelSource:
    """The place from which a model is loaded: ``location`` is a folder, or a hub id if ``is_hub``. ``is_adapter`` says
    that it is a PEFT adapter, which names its base model. ``revision`` is the commit that is loaded from the hub, and
    ``base_revision`` that of an adapter's base model; if empty, the one in the cache, or else the newest.
    """

    name: str
    location: str
    is_hub: bool
    is_adapter: bool = False
    revision: str = ""
    base_revision: str = ""

    @property
    def pin(self) -> dict[str, Any]:
        """The argument by which the libraries load this revision; none for a folder."""
        return {"revision": self.revision} if self.is_hub and self.revision else {}


def bundled_models() -> list[str]:
    """The names of the models that ship with Hedge, sorted."""
    folder = ASSETS / "models"
    return sorted(path.parent.name for path in folder.glob("*/config.json"))


def bundled_adapters() -> list[str]:
    """The names of the PEFT adapters that ship with Hedge, sorted."""
    return sorted(path.parent.name for path in (ASSETS / "adapters").glob(f"*/{ADAPTER}"))


def ships(model: str) -> bool:
    """Whether a model or an adapter ships with Hedge, by its name or its folder."""
    for folder, file in ((f"{ASSETS}/models/", CONFIGURATION), (f"{ASSETS}/adapters/", ADAPTER)):
        name = model.removeprefix(folder)
        if name not in ("", ".", "..") and "/" not in name and os.path.isfile(f"{folder}{name}/{file}"):
            return True
    return False


def is_local(model: str) -> bool:
    """Whether a name is that of a bundled model or adapter, or of a folder here."""
    return model in bundled_models() or model in bundled_adapters() or is_folder(model)


def resolve(model: str, *, revision: str = "") -> ModelSource:
    """Find a model or an adapter by a bundled name, a folder, or a hub id, in this order. Loads nothing. Raises
    :class:`InputError` if a folder lacks what a model needs or holds a model of another kind, or the name is not one of
    the three.

    ``revision`` is that of a model on the hub; by default the one in the cache, if the model is there.
    """
    if model == FAKE_MODEL and os.environ.get(FAKE_ENGINE_VARIABLE):
        return ModelSource(name=model, location=model, is_hub=False)
    if model in bundled_models():
        return ModelSource(name=model, location=str(ASSETS / "models" / model), is_hub=False)
    if model in bundled_adapters():
        return ModelSource(model, str(ASSETS / "adapters" / model), is_hub=False, is_adapter=True)
    check_named(model)
    folder = named(model)
    if folder.is_dir():
        is_adapter = holds_adapter(folder)
        (check_adapter if is_adapter else check_folder)(folder)
        return ModelSource(folder.name, str(folder.resolve()), is_hub=False, is_adapter=is_adapter)
    if model.lower().endswith(".gguf"):
        raise InputError(f"model {model} is a GGUF file, {SERVE_GGUF}")
    if model.startswith(PATHS) or not HUB_ID.match(model):
        raise InputError(f"there is no folder {model!r}; give a folder with a model, a hub id, or {_bundled_text()}")
    if model in BY_ID and BY_ID[model].instead:
        raise InputError(
            f"model {model!r} needs code of its makers to run, which Hedge never runs; use {BY_ID[model].instead}"
        )
    cached = _cached_on_hub(model, revision)
    is_adapter = cached.name == ADAPTER if cached else _check_hub(model, revision)
    revision = revision or (cached.parent.name if cached else "")
    return ModelSource(model.rsplit("/", 1)[-1], model, is_hub=True, is_adapter=is_adapter, revision=revision)


LISTED_DEPTH = 3
MOST_LISTED = 200


def listed_models() -> list[str]:
    """The folders with a model or an adapter in the roots that the administrator of a served Hedge lists, sorted."""
    if access.mode() == "local":
        return []
    folders = {
        str(path.parent)
        for root in settings().roots
        for depth in range(LISTED_DEPTH)
        for name in (CONFIGURATION, ADAPTER)
        for path in root.glob("*/" * depth + name)
    }
    return sorted(folders)[:MOST_LISTED]


MOST_BASES = 3
"""An adapter may be on an adapter, which is on a model."""


def check_named(model: str, *, most: int = MOST_BASES) -> None:
    """Raise :class:`~core.errors.AccessError` if a page of a server that others reach names a folder not its own, or an
    adapter whose base model lies in one."""
    if access.mode() == "local" or ships(model):
        return
    if "\0" in model or model.startswith(PATHS):
        access.check_path(model)
    places = [] if "\0" in model else [Path(model).expanduser(), ROOT / model]  # a worker's own folder is ROOT
    for place in filter(_exists, places):
        access.check_path(place)
        bases = named_bases(place)
        if bases and not most:
            raise InputError(f"adapter {model} is on too many other adapters; name the model under all of them")
        for base in bases:
            check_named(base, most=most - 1)


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except OSError:  # a name that is too long
        return False


def canonical(model: str) -> str:
    """The name of a model in a spec: bundled names and hub ids are unchanged, folders are made absolute."""
    source = resolve(model)
    return model if source.is_hub or source.name == model else source.location


def gated_message(model: str) -> str:
    """What a person has to do to get a gated model."""
    return (
        f"model {model!r} is gated: accept its terms at huggingface.co/{model}, make a token at "
        "huggingface.co/settings/tokens, and set HF_TOKEN to it"
    )


def _cached_on_hub(model: str, revision: str) -> Path | None:
    names = (CONFIGURATION, ADAPTER)
    return next((path for name in names if (path := cached_file(model, name, revision=revision))), None)


def _check_hub(model: str, revision: str) -> bool:
    """Whether the hub's repository is an adapter. Raises :class:`InputError` if there is no such repository."""
    extras.need("models")
    from huggingface_hub import model_info
    from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError

    try:
        about = model_info(model, revision=revision or None, timeout=HUB_TIMEOUT_S)
        names = {sibling.rfilename for sibling in about.siblings or ()}
    except GatedRepoError as error:
        raise InputError(gated_message(model)) from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise InputError(
            f"unknown model {model!r}: the hub has no model of this name; use {_bundled_text()}"
        ) from error
    except Exception as error:  # the hub client passes on the errors of its HTTP library
        raise InputError(
            f"unknown model {model!r}: no bundled model and no folder has this name, and the hub can't be reached "
            f"({type(error).__name__}); use {_bundled_text()}, or a folder"
        ) from error
    ends = {Path(name).suffix.lower() for name in names}
    if ".gguf" in ends and ".safetensors" not in ends:
        raise InputError(f"model {model!r} is kept on the hub as GGUF files, {SERVE_GGUF}")
    return ADAPTER in names and "config.json" not in names


def _bundled_text() -> str:
    return f"a bundled model ({', '.join(bundled_models()) or 'none here'})"
