"""Settings from the environment: where Hedge stores its files, and what it may use.

============================  =====================================================================
``HEDGE_HOME``                runs, the run database and caches; by default ``.hedge/`` in a checkout, and the user's
                              data folder (on Linux ``~/.local/share/hedge``) where Hedge is installed
``HEDGE_DATABASE_URL``        the run engine's database; a SQLite file in ``HEDGE_HOME`` by default; ``postgresql://…``
                              where several hosts share the runs, which then share ``HEDGE_HOME`` too
``HEDGE_HOST``                this host's name among those that share a database; the machine's own by default
``HEDGE_HANG_MINUTES``        a run without progress for this long counts as hanging, and its worker is killed; 15
``HEDGE_START_AGENT``         0: queued runs wait for an agent that a person or a batch job starts; 1
``HEDGE_WARM_MINUTES``        processes that hold models stay this long without a run or a question of one's own; 5
``HEDGE_ARCHIVE_URL``         an fsspec URL (``s3://bucket/hedge``) that finished runs are copied to as well
``HEDGE_SHELF_MIRROR``        a URL instead of the host of Git repositories' raw files, for the shelf; it may be private
``HEDGE_SHELF_STALL_SECONDS`` a download of the shelf that receives nothing for this long is given up; 20
``HEDGE_ROOTS``               folders, joined by ":", of models and questions that visitors' pages may name
``HEDGE_READ_MEMORY_GB``      the memory of the process that reads files from outside; 1
``HEDGE_METRICS_FROM``        networks, joined by ",", that may read the page server's figures: ``10.0.0.0/8``
``HEDGE_FRAME_ANCESTORS``     sites, joined by ",", that may show Hedge in a frame: ``https://example.org``; none
``HEDGE_LOG_FORMAT``          ``json``: a JSON object a line in the logs of agents and workers; ``text``
``HEDGE_REAL_DATA``           real data for tests and benchmarks; unset on a user's machine
``HEDGE_REAL_MODELS``         real models for tests; unset on a user's machine
============================  =====================================================================
"""

import functools
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from core.errors import InputError, RunError

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "assets"
IS_CHECKOUT = (ROOT / "pyproject.toml").is_file()
"""Whether these are the files of a repository, and not those of an installed package."""


_LABEL = r"(?!-)[a-z0-9-]{1,63}(?<!-)"
_PORT = r"(?::[1-9]\d{0,4})?"
ORIGIN_OF_FRAMES = re.compile(
    rf"https://(?:\*\.{_LABEL}\.)?{_LABEL}(?:\.{_LABEL})*{_PORT}|http://(?:localhost|127\.0\.0\.1){_PORT}", re.ASCII
)


def _frame_ancestor(value: str) -> str:
    origin = value.strip().lower()
    if not ORIGIN_OF_FRAMES.fullmatch(origin):
        raise ValueError(
            "a site that may show Hedge in a frame is an origin such as https://example.org or https://*.example.org, "
            f"by https and without a path, got {value[:100]!r}"
        )
    return origin


FrameAncestor = Annotated[str, AfterValidator(_frame_ancestor)]
"""The origin of a site that may show Hedge in a frame, as a content security policy names it. It comes by https, or
from this machine; ``*`` stands for any subdomain of a name with two labels or more."""


def default_home() -> Path:
    """The folder of runs where HEDGE_HOME is not set. An update replaces an installed package's own folder."""
    if IS_CHECKOUT:
        return ROOT / ".hedge"
    import platformdirs

    return platformdirs.user_data_path("hedge", appauthor=False)


class Settings(BaseSettings):
    """Settings as the environment has them at each call of :func:`settings`: a test or a worker may change them."""

    model_config = SettingsConfigDict(env_prefix="HEDGE_", extra="ignore", frozen=True)

    home: Path = Field(default_factory=default_home)
    database_url: str = ""
    host: str = ""
    hang_minutes: float = Field(default=15.0, gt=0)
    start_agent: bool = True
    warm_minutes: float = Field(default=5.0, ge=0)
    archive_url: str = ""
    read_memory_gb: float = Field(default=1.0, ge=0.25)
    roots: Annotated[tuple[Path, ...], NoDecode] = ()
    metrics_from: Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode] = ()
    frame_ancestors: Annotated[tuple[FrameAncestor, ...], NoDecode] = ()
    log_format: Literal["text", "json"] = "text"
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
        path = Path(value).expanduser().resolve()
        try:
            str(path).encode()
        except UnicodeEncodeError:
            raise InputError(
                f"HEDGE_HOME must be a path in UTF-8, got {os.fsencode(path)!r}; set it to a folder with another name"
            ) from None
        return path

    @field_validator("roots", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(Path(part).expanduser().resolve() for part in value.split(os.pathsep) if part)

    @field_validator("metrics_from", "frame_ancestors", mode="before")
    @classmethod
    def _joined_by_commas(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @property
    def runs(self) -> Path:
        """The folder that holds one folder per run."""
        return self.home / "runs"

    @property
    def host_name(self) -> str:
        """This host's name in a form for file names: ``HEDGE_HOST``, or else the machine's name without its domain,
        because a laptop's domain changes with the network."""
        return _host_name(self.host)

    @property
    def host_folder(self) -> Path:
        """The folder in which this host's agent and workers show that they live."""
        return self.home / "agents" / self.host_name


@functools.lru_cache(maxsize=16)
def _host_name(given: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", given or socket.gethostname().partition(".")[0]) or "host"


VARIABLES = tuple(f"HEDGE_{name.upper()}" for name in Settings.model_fields)


_held: ContextVar[Settings | None] = ContextVar("held", default=None)


def hold() -> None:
    """Read the settings now, for this thread until it calls this again: the script of a page asks thousands of times.

    Where a variable holds what it can't, :func:`settings` still says so each time.
    """
    _held.set(None)
    with suppress(InputError):
        _held.set(settings())


def settings() -> Settings:
    """The settings in force now.

    Raises :class:`~core.errors.InputError` if a variable holds what it can't.
    """
    if held := _held.get():
        return held
    variables = tuple(map(os.environ.get, VARIABLES))
    try:
        return _settings(variables, os.getcwd() if variables[0] and not os.path.isabs(variables[0]) else "")
    except FileNotFoundError:
        raise InputError(
            f"HEDGE_HOME is {variables[0]!r}, and the folder that it is relative to was deleted; write the whole path"
        ) from None


@functools.lru_cache(maxsize=16)
def _settings(variables: tuple[str | None, ...], folder: str) -> Settings:
    """The settings by these variables; ``folder`` is what a relative HEDGE_HOME is relative to."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = f"HEDGE_{first['loc'][0]}".upper()
        rule = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{name} can't be {first['input']!r}: {rule}; correct or unset it") from None


@contextmanager
def writable_home() -> Iterator[None]:
    """Turn an ``OSError`` of the body into a :class:`~core.errors.RunError`, which says what can't be written."""
    try:
        yield
    except OSError as error:
        raise RunError(
            f"{error.filename or settings().home} can't be written ({error.strerror}); free some space, or set "
            "HEDGE_HOME to another folder"
        ) from error
