"""The run engine's database: where it is, how it is opened, and the error if it can't be used.

Every question is put in a thread of its own, so that a database which is gone, locked or damaged costs a few
seconds and one sentence, never a hang. A DBOS client is kept between them: a question then takes half a
millisecond with SQLite instead of two. DBOS is imported by the first, and is not launched: only a worker does
that.
"""

from __future__ import annotations

import functools
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from core.errors import HedgeError, RunError
from core.settings import settings
from core.storage.database import sqlite_file

if TYPE_CHECKING:
    import sqlalchemy
    from dbos import DBOSClient

APPLICATION = "hedge"
FILE = "engine.sqlite"
POLL_QUEUE_S = 0.5
ANSWER_WITHIN_S = 4.5
"""How long a page waits. Its other parts are there meanwhile, but an action waits with it."""
COMMAND_WITHIN_S = 20.0
"""How long a command waits: on a busy machine, a new database is in use for some seconds while an agent starts."""
PREPARED_WITHIN_S = 60.0
"""How long a caller that can wait gives a new database on a busy machine."""
CONNECT_WITHIN_S = 3
WAY_OUT = "check HEDGE_HOME and HEDGE_DATABASE_URL, or move a damaged file away: finished runs do not live in it"
GUARDED = ("hedge_schema", "workflow_status", "workflow_input", "queues")
"""The tables of a SQLite file whose rows have copies, so that damage shows. Servers are left to their own checks."""

T = TypeVar("T")

MOST_CONNECTED = 4


@dataclass(frozen=True, slots=True)
class _Connected:
    """The two ways into one database: DBOS's client and a pool of connections for Hedge's own tables."""

    client: DBOSClient
    engine: sqlalchemy.Engine

    def close(self) -> None:
        self.client.destroy()
        self.engine.dispose()


_CONNECTED: dict[tuple[sqlalchemy.URL, int], _Connected] = {}
"""What is in use, by URL and by the inode of a SQLite file; more than one only where HEDGE_HOME changes."""


def url() -> str:
    """The database URL as text, as SQLAlchemy and DBOS read it: the path of a SQLite file is percent-encoded in it.

    A SQLite file has an absolute path, a server a time limit. :func:`file` is the path itself.
    """
    return _address().render_as_string(hide_password=False)


def file() -> Path | None:
    """The SQLite file; None where the database is on a server."""
    return _file_of(_address())


def _address() -> sqlalchemy.URL:
    now = settings()
    return _named(now.database_url) if now.database_url else _in_home(now.home)


@functools.lru_cache(maxsize=16)
def _in_home(home: Path) -> sqlalchemy.URL:
    """The SQLite file of a home. A path is not written into a URL as it is: many characters mean something there."""
    import sqlalchemy

    return sqlalchemy.URL.create("sqlite", database=str(sqlite_file.checked_path(home / FILE)))


@functools.lru_cache(maxsize=16)
def _named(given: str) -> sqlalchemy.URL:
    """What HEDGE_DATABASE_URL means, as SQLAlchemy reads it."""
    import sqlalchemy

    try:
        given.encode()
        parsed = sqlalchemy.make_url(given)
    except (sqlalchemy.exc.ArgumentError, ValueError):  # ValueError: a port that is no number, bytes that are no text
        raise RunError(
            "HEDGE_DATABASE_URL is not a database URL; one looks like postgresql://user:password@host/name, "
            "and without it a SQLite file in HEDGE_HOME is used"
        ) from None
    kind = parsed.get_backend_name()
    if kind == "sqlite":
        if parsed.host or parsed.database in (None, "", ":memory:") or "uri" in parsed.query:
            raise RunError(
                "HEDGE_DATABASE_URL names no SQLite file; one looks like sqlite:////folder/file.sqlite, with four "
                "slashes, and without it a file in HEDGE_HOME is used"
            )
        return parsed.set(database=str(sqlite_file.checked_path(Path(str(parsed.database)).absolute())))
    if kind != "postgresql":
        raise RunError(
            f"HEDGE_DATABASE_URL names a database of kind {parsed.drivername}; Hedge uses postgresql://, or a SQLite "
            "file where it is not set"
        )
    if "connect_timeout" not in parsed.query:
        return parsed.update_query_dict({"connect_timeout": str(CONNECT_WITHIN_S)})
    return parsed


def exists() -> bool:
    """Whether the database exists. Asking one that does not exist would create it."""
    path = file()
    return path is None or path.exists()


def is_shared() -> bool:
    """Whether the database is on a server, which other hosts may use too, and not a file of this host."""
    return file() is None


_limit = ContextVar("database_limit", default=ANSWER_WITHIN_S)


@contextmanager
def answers_within(within_s: float) -> Iterator[None]:
    """In the block, questions that say nothing else wait at most ``within_s`` seconds for their answers."""
    before = _limit.set(within_s)
    try:
        yield
    finally:
        _limit.reset(before)


def prepare(*, within_s: float | None = None) -> None:
    """Create missing tables of the database."""
    ask(lambda client: None, within_s=within_s)


def forget() -> None:
    """Close all connections of this process. The next question opens new ones."""
    while _CONNECTED:
        with suppress(KeyError):  # another thread was faster
            _CONNECTED.popitem()[1].close()


def ask(question: Callable[[DBOSClient], T], *, within_s: float | None = None) -> T:
    """Put a question to DBOS and wait for the answer, at most ``within_s`` seconds.

    Where none are given, :data:`ANSWER_WITHIN_S`, or what :func:`answers_within` says.

    Raises :class:`~core.errors.RunError` with one sentence where the database can't be opened, does not answer
    in time, or refuses.
    """
    return _in_time(lambda connected: question(connected.client), within_s=within_s)


def transact(work: Callable[[sqlalchemy.Connection], T], *, within_s: float | None = None) -> T:
    """Do something with Hedge's own tables in one transaction, under the same terms as :func:`ask`."""

    def question(connected: _Connected) -> T:
        with connected.engine.begin() as connection:
            return work(connection)

    return _in_time(question, within_s=within_s)


def _in_time(question: Callable[[_Connected], T], *, within_s: float | None) -> T:
    within_s = _limit.get() if within_s is None else within_s
    address, refusals = _address(), _refusals()  # imports DBOS, which on a busy machine takes longer than any answer
    answer: Future[T] = Future()

    def work() -> None:
        try:
            answer.set_result(question(_connected(address)))
        except BaseException as error:
            answer.set_exception(error)

    # A daemon, because a thread that waits for a dead server must not keep the process from ending.
    threading.Thread(target=work, daemon=True, name="hedge-database").start()
    try:
        return answer.result(timeout=within_s)
    except HedgeError:
        raise
    except TimeoutError:
        threading.Thread(target=forget, daemon=True).start()  # a stuck connection would stay stuck
        raise RunError(f"the run database {shown(address)} did not answer within {within_s:g} s; {WAY_OUT}") from None
    except refusals as error:
        raise RunError(f"the run database {shown(address)} can't be used ({_cause(error)}); {WAY_OUT}") from error


def _connected(address: sqlalchemy.URL) -> _Connected:
    """The connections to this address, made again if its SQLite file was replaced. A damaged file is refused."""
    if path := _file_of(address):
        _watch(path).look(path)
    key = address, _inode(address)
    if known := _CONNECTED.get(key):
        return known
    new = _connect(address)
    held = _CONNECTED.setdefault((address, _inode(address)), new)
    if held is not new:  # another thread was faster
        new.close()
    while len(_CONNECTED) > MOST_CONNECTED:
        _CONNECTED.pop(next(iter(_CONNECTED))).close()
    return held


@functools.lru_cache(maxsize=16)
def _watch(path: Path) -> sqlite_file.Watch:
    return sqlite_file.Watch()


def _connect(address: sqlalchemy.URL) -> _Connected:
    from dbos import DBOSClient, DBOSPortableJSONSerializer

    from core.storage.database import tables

    # DBOS logs every failed connection, which the error says better; a worker turns it up again.
    logging.getLogger("dbos").setLevel(logging.CRITICAL)
    if path := _file_of(address):
        path.parent.mkdir(parents=True, exist_ok=True)
    engine = tables.connect(address)
    as_text = address.render_as_string(hide_password=False)  # DBOS parses it with SQLAlchemy
    try:
        _migrate(as_text, path)
        client = DBOSClient(
            system_database_url=as_text,
            application_name=APPLICATION,
            # DBOS pickles by default, and anyone who may write to the database could then run code here.
            serializer=DBOSPortableJSONSerializer(),
            retry_connection_errors=False,
        )
    except BaseException:
        engine.dispose()
        raise
    return _Connected(client, engine)


def _migrate(address: str, path: Path | None) -> None:
    """Bring DBOS's tables up to date, and let the rows that Hedge relies on have copies, by which damage is noticed."""
    import sqlalchemy
    from dbos import DBOS

    try:
        DBOS.migrate(address)
    except sqlalchemy.exc.OperationalError as error:
        if path is None or sqlite_file.COPIES not in str(error):
            raise
        with sqlite_file.opened(path) as connection:  # a column can't be dropped while a trigger reads it
            sqlite_file.drop_guard(connection)
        DBOS.migrate(address)
    if path is not None:
        with sqlite_file.opened(path) as connection:
            sqlite_file.guard(connection, GUARDED)


def _file_of(address: sqlalchemy.URL) -> Path | None:
    return Path(str(address.database)) if address.get_backend_name() == "sqlite" else None


def _inode(address: sqlalchemy.URL) -> int:
    path = _file_of(address)
    return path.stat().st_ino if path is not None and path.exists() else 0


def _refusals() -> tuple[type[Exception], ...]:
    from dbos import error
    from sqlalchemy.exc import SQLAlchemyError

    return SQLAlchemyError, error.DBOSException, sqlite3.Error, OSError


def _cause(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).strip().splitlines()[0]


def shown(address: sqlalchemy.URL | None = None) -> str:
    """Where a database is, by default the one in use, as a person may see it: a file, or a URL without its password."""
    address = address or _address()
    return str(_file_of(address) or address.render_as_string(hide_password=True))
