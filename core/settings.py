"""Where Hedge keeps its things, from the environment.

============================  =====================================================================
``HEDGE_HOME``                runs, the run database and caches; ``.hedge/`` in the project by default
``HEDGE_DATABASE_URL``        the run engine's database; a SQLite file in ``HEDGE_HOME`` by default
``HEDGE_REAL_DATA``           real data for tests and benchmarks; unset on a user's machine
``HEDGE_REAL_MODELS``         real models for tests; unset on a user's machine
============================  =====================================================================
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from pydantic import field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "assets"


class Settings(BaseSettings):
    """Settings read anew at each call of :func:`settings`, so that a test or a worker may change them."""

    model_config = SettingsConfigDict(env_prefix="HEDGE_", extra="ignore")

    home: Path = ROOT / ".hedge"
    database_url: str = ""

    @field_validator("home")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().resolve()

    @property
    def runs(self) -> Path:
        """The folder that holds one folder a run."""
        return self.home / "runs"

    @property
    def database(self) -> str:
        """The run engine's database URL."""
        return self.database_url or f"sqlite:///{self.home / 'engine.sqlite'}"


def settings() -> Settings:
    """The settings in force now."""
    return _settings(os.environ.get("HEDGE_HOME"), os.environ.get("HEDGE_DATABASE_URL"), os.getcwd())


@lru_cache(maxsize=8)
def _settings(*_: str | None) -> Settings:
    """Kept for an environment and the folder that relative paths start from: an overview of 500 runs asks a thousand
    times, half a millisecond each."""
    return Settings()
