"""Whether the weights of a model are still those that made an earlier result: the one rule for all that is kept,
continued or trained.

Weights are named by their fingerprint (:mod:`core.models.model_fingerprint`). No note is written if it is not known:
of a result of an older version, of a model that ships, and of one on a server, whose
:class:`~core.models.server_address.ServedWeights` are compared instead.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import InputError
from core.models.folders import ADAPTER, CONFIGURATION, training_record
from core.models.hub_cache import cached_file
from core.models.model_fingerprint import fingerprint, folder_fingerprint, short
from core.models.model_sources import ModelSource, bundled_adapters, bundled_models, is_local
from core.models.server_address import served_model, short_name
from core.models.tokenizers import base_of
from core.storage.names import named

NOT_RECORDED = "weights not recorded"
TRAINED_ON = "base_weights"
"""The key of an adapter's :func:`~core.models.folders.training_record` that holds the fingerprint of the model under
it."""


def weights_of(model: str, *, base: str | None = None) -> str:
    """The fingerprint of a model, or of a folder with an adapter that Hedge trained, on ``base`` instead of the model
    that it names; empty for a model on a server."""
    is_folder = not served_model(model) and model not in (*bundled_models(), *bundled_adapters())
    if is_folder and (folder := named(model)).is_dir():
        return folder_fingerprint(folder, base=base)
    return fingerprint(model)


def replaced(model: str, recorded: str, *, those: str) -> str:
    """A clause if the weights of ``model`` are others now than those ``recorded``; empty if they are the same, or if
    either are not known.

    >>> replaced("pocket-1m", "", those="that made this run")
    ''
    >>> replaced("pocket-1m", "0123456789", those="that made this run").partition("(")[0]
    'the weights of pocket-1m '
    """
    if not recorded or not is_here(model):
        return ""
    try:
        now = weights_of(model)
    except InputError:  # loading it says what is wrong
        return ""
    if now in ("", recorded):
        return ""
    return f"the weights of {short_name(model)} ({short(now)}) are not those {those} ({short(recorded)})"


def is_here(model: str) -> bool:
    """Whether a model's files are on this machine, so that the hub need not be asked."""
    return is_local(model) or any(cached_file(model, name) for name in (CONFIGURATION, ADAPTER))


def other_base(folder: Path, base: str) -> str:
    """A clause if Hedge trained the adapter in a folder on other weights than those of ``base``; empty if not, or if
    that is not recorded."""
    return replaced(base, _trained_on(folder), those=f"on which adapter {folder.name} was trained")


def other_base_of(source: ModelSource) -> str:
    """The clause of :func:`other_base` for a model that has been resolved; empty if it is no adapter in a folder."""
    is_folder = source.is_adapter and not source.is_hub
    return other_base(Path(source.location), base_of(source).location) if is_folder else ""


@contextmanager
def same_weights(model: str) -> Iterator[str]:
    """The fingerprint of a model, as :func:`weights_of` gives it.

    Raises :class:`InputError` after the body if the model has other weights then.
    """
    weights = weights_of(model)
    yield weights
    if clause := replaced(model, weights, those="with which this command began"):
        raise InputError(f"{clause}; start it again when the model is written completely")


def _trained_on(folder: Path) -> str:
    weights = training_record(folder).get(TRAINED_ON)
    return weights if isinstance(weights, str) else ""
