"""The fuzz targets: every importer, backups, the command line, links, and messages of components."""

import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from core.errors import HedgeError
from core.exchange.dropped.found import named, refusals
from core.reports.imported_figures import figures
from tests.core.exchange.drops import Drop
from tests.fuzz.backups import backups, restore
from tests.fuzz.findings import Finding
from tests.fuzz.formats import archives, folders, pickles
from tests.fuzz.mutations import files
from tests.fuzz.seeds import seeds
from tests.fuzz.watch import watched

GENERIC = re.compile(r"it can't be read \(([A-Z]\w+)")
"""A refusal that names an exception, which nobody can act on."""


@dataclass(frozen=True, slots=True)
class Target:
    """Inputs, and what checks one: it raises where something happens that may not."""

    strategy: st.SearchStrategy[Any]
    check: Callable[[Any], None]


def read_drop(files: dict[str, bytes]) -> None:
    """Read a drop as the Data page does; every refusal must be a sentence of ours."""
    folder = Path(tempfile.mkdtemp(prefix="hedge-fuzz-"))
    try:
        for name, content in files.items():
            path = folder / "in" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        (folder / "out").mkdir()
        with watched(folder):
            reading = Drop([folder / "in"], scratch=folder / "out", name=lambda path: "").read()
            for sentence, _ in refusals(reading):
                _check_sentence(sentence, folder)
            for run in reading.runs:
                try:
                    figures(named(run, model="m", task="t"))
                except HedgeError as error:
                    _check_sentence(str(error), folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check_sentence(text: str, folder: Path) -> None:
    if generic := GENERIC.search(text):
        raise Finding(f"names {text[generic.start() : generic.start() + 90]!r}")
    if str(folder) in text:
        raise Finding("names a folder of the server")
    if "\n" in text or "Traceback" in text or len(text) > 2_000:
        raise Finding(f"no single sentence: {text[:60]!r}")


def targets() -> dict[str, Target]:
    """Every target by its name."""
    from tests.fuzz.app_targets import app_targets

    importers = {name: Target(files(drops), read_drop) for name, drops in seeds().items()}
    by_format = {"pickles": pickles(), "npz": archives(), "run folders": folders()}
    importers |= {name: Target(strategy, read_drop) for name, strategy in by_format.items()}
    importers["backup"] = Target(backups(), restore)
    return importers | {name: Target(*pair) for name, pair in app_targets().items()}
