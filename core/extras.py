"""Packages that only some parts of Hedge need. A light install lacks them, and an error says how to add them."""

import functools
import importlib.util
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

from core import __version__
from core.errors import InputError
from core.settings import IS_CHECKOUT, ROOT

EXTRAS = {
    "models": (
        "torch",
        "transformers",
        "peft",
        "accelerate",
        "datasets",
        "tokenizers",
        "huggingface_hub",
        "safetensors",
    ),
    "server": ("authlib",),
    "notebook": ("anywidget", "traitlets"),
    "inspect": ("inspect_ai",),
}
"""The modules that each extra of ``pyproject.toml`` installs."""


class MissingPackageError(InputError):
    """A package that this part of Hedge needs is not installed."""


@functools.cache
def has(extra: str) -> bool:
    """Whether every module of an extra is installed. Imports none of them."""
    return all(importlib.util.find_spec(module) for module in EXTRAS[extra])


def need(extra: str) -> None:
    """Raise :class:`MissingPackageError` unless every module of an extra is installed. Imports none of them."""
    if not has(extra):
        raise MissingPackageError(sentence(extra))


@contextmanager
def missing_packages_explained() -> Iterator[None]:
    """Turn an import of a missing extra in the block into a :class:`MissingPackageError`."""
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        for extra, modules in EXTRAS.items():
            if module in modules:
                raise MissingPackageError(sentence(extra)) from error
        raise


def sentence(extra: str) -> str:
    """What is missing, and the line that installs it."""
    return f"this needs Hedge's extra {extra!r}, which is not installed; run {pip_line(extra)}"


def pip_line(extra: str) -> str:
    """The command that installs an extra.

    It names the version, because on PyPI the name ``hedge`` belongs to another project: pip keeps the Hedge that is
    installed, and fails where there is none.
    """
    if IS_CHECKOUT:
        return f"`pip install -e {shlex.quote(f'{ROOT}[{extra}]')}`"
    return f"`pip install 'hedge[{extra}]=={__version__}'`"
