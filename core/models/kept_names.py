"""The names in transformers' models, which are kept in the home.

transformers reads the source of its 1,500 model files twice when it is imported, to learn which names are in which file
(``define_import_structure``). Here they are read once for each installation: the kept names are used as long as every
file has its size, times and inode. A file that is missing, damaged or can't be written only costs the time again.
"""

import hashlib
import importlib.abc
import importlib.machinery
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from core.errors import HedgeError
from core.settings import settings
from core.storage import sealed

READER = "transformers.utils.import_utils"
FUNCTION = "define_import_structure"
"""The function of :data:`READER` that transformers calls for a folder: the names by module by required packages."""

Names = dict[frozenset[str], dict[str, set[str]]]
Read = Callable[..., Names]


@contextmanager
def kept_names() -> Iterator[None]:
    """While the body imports transformers, it gets the names in its models from the home, if they are there."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds :data:`READER` as Python does, and replaces the function in it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname == READER else None
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Loader(fullname, spec.loader.path)
            return spec
        return None


class _Loader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        if read := getattr(module, FUNCTION, None):
            setattr(module, FUNCTION, _reader(read, Path(self.path)))


def _reader(read: Read, source: Path) -> Read:
    """``read`` for the folder of all models, from the home or from memory; any other folder is read as ever."""
    folder = source.parent.parent / "models"
    kept: list[Names] = []

    def names_in(module_path: str, prefix: str | None = None) -> Names:
        if Path(module_path) not in (folder, folder / "__init__.py"):
            return read(module_path, prefix)
        if not kept:
            kept.append(_kept(folder, source, lambda: read(module_path)))
        before = f"{prefix}." if prefix is not None else ""
        return {
            packages: {f"{before}{module}": set(names) for module, names in modules.items()}
            for packages, modules in kept[0].items()
        }

    return names_in


def _kept(folder: Path, source: Path, read: Callable[[], Names]) -> Names:
    """The names in a folder's files; from the home if the files are those from which they were read."""
    try:
        key = _key(folder, source)
        file = settings().home / "cache" / "transformers" / f"{hashlib.sha256(bytes(folder)).hexdigest()[:32]}.json"
    except (OSError, HedgeError):
        return read()
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        record = sealed.read_json(file)
        if record["key"] == key:
            return {
                frozenset(packages): {str(module): set(names) for module, names in modules.items()}
                for packages, modules in record["names"]
            }
    names = read()
    with suppress(OSError, HedgeError):
        file.parent.mkdir(parents=True, exist_ok=True)
        sealed.write_json(file, {"key": key, "names": _as_lists(names)}, lasting=False)
    return names


def _as_lists(names: Mapping[frozenset[str], Mapping[str, set[str]]]) -> list[object]:
    return [
        [sorted(packages), {module: sorted(each) for module, each in modules.items()}]
        for packages, modules in names.items()
    ]


def _key(folder: Path, source: Path) -> str:
    """A digest of the size, times and inode of every file in a folder, and of the file that has the reading code."""
    stamps = sorted(_stamps(str(folder)))
    about = source.stat()
    stamps.append((str(source), about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino))
    return hashlib.sha256(json.dumps(stamps).encode()).hexdigest()


def _stamps(folder: str) -> Iterator[tuple[str, int, int, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name == "__pycache__":
                continue
            if entry.is_dir():
                yield from _stamps(entry.path)
            else:
                about = entry.stat()
                yield entry.path, about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino
