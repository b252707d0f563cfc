"""The files in the home's cache with figures of one run, which can be deleted at any time."""

from pathlib import Path

from core.settings import settings

KINDS = {"run_rows": "json", "run_summaries": "bin", "run_calibrations": "bin", "run_caveats": "bin"}
"""The folders of such files, and how their names end."""


def kept_of(run_id: str) -> tuple[Path, ...]:
    """The files that figures of this run are kept in. None of them need exist."""
    return tuple(settings().home / "cache" / kind / f"{run_id}.{end}" for kind, end in KINDS.items())
