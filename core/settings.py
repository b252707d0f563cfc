"""Settings from the environment: where Hedge stores its files, and what it may use.

============================  =====================================================================
``HEDGE_HOME``                runs, the run database and caches; ``.hedge/`` in the project by default
``HEDGE_DATABASE_URL``        the run engine's database; a SQLite file in ``HEDGE_HOME`` by default; ``postgresql://…``
                              where several hosts share the runs, which then share ``HEDGE_HOME`` too
``HEDGE_HOST``                this host's name among those that share a database; the machine's own by default
``HEDGE_HANG_MINUTES``        a run without progress for so long is taken to hang, and its worker is killed; 15
``HEDGE_WARM_MINUTES``        workers without a run stay for so long, with the last model in their memory; 3
``HEDGE_ARCHIVE_URL``         an fsspec URL (``s3://bucket/hedge``) that finished runs are copied to as well
``HEDGE_SHELF_MIRROR``        a URL instead of the host of Git repositories' raw files, for the shelf; it may be private
``HEDGE_SHELF_STALL_SECONDS`` a download of the shelf that brings nothing for so long is given up; 20
``HEDGE_REAL_DATA``           real data for tests and benchmarks; unset on a user's machine
``HEDGE_REAL_MODELS``         real models for tests; unset on a user's machine
============================  =====================================================================
"""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from core.errors import InputError

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "assets"


class Settings(BaseSettings):
    """Settings as the environment has them at each call of :func:`settings`: a test or a worker may change them."""

    model_config = SettingsConfigDict(env_prefix="HEDGE_", extra="ignore", frozen=True)

    home: Path = ROOT / ".hedge"
    database_url: str = ""
    host: str = ""
    hang_minutes: float = Field(default=15.0, gt=0)
    warm_minutes: float = Field(default=3.0, ge=0)
    archive_url: str = ""
    shelf_mirror: str = ""
    shelf_stall_seconds: float = Field(default=20.0, gt=0)

    @field_validator("home", mode="before")
    @classmethod
    def _absolute(cls, value: str | Path) -> Path:
        if re.match(r"[a-z0-9+]+://", str(value)):
            raise InputError(
                f"HEDGE_HOME must be a folder that this machine has mounted, got {value}; "
                "set HEDGE_ARCHIVE_URL to a URL, and finished runs are copied there"
            )
        return Path(value).expanduser().resolve()

    @property
    def runs(self) -> Path:
        """The folder that holds one folder per run."""
        return self.home / "runs"

    @property
    def database(self) -> str:
        """The run engine's database URL."""
        return self.database_url or f"sqlite:///{self.home / 'engine.sqlite'}"


def settings() -> Settings:
    """The settings in force now.

    Raises :class:`~core.errors.InputError` if a variable holds what it can't.
    """
    # A page asks a thousand times a tick, and reading the environment anew takes a millisecond each time.
    variables = tuple(os.environ.get(f"HEDGE_{name.upper()}") for name in Settings.model_fields)
    return _settings(variables, Path.cwd() if variables[0] else ROOT)


@functools.lru_cache(maxsize=16)
def _settings(variables: tuple[str | None, ...], folder: Path) -> Settings:
    """The settings by these variables; ``folder`` is what a relative HEDGE_HOME is relative to."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = "_".join(["HEDGE", *(str(part) for part in first["loc"])]).upper()
        raise InputError(f"{name} can't be {first['input']!r}: {first['msg']}; correct or unset it") from None
