"""Where the run database is, whatever characters the path has, and what HEDGE_DATABASE_URL means."""

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
import sqlalchemy as sa

from core.errors import InputError, RunError
from core.storage import database
from core.storage.database.sqlite_file import PATH_BYTES

pytestmark = pytest.mark.quick

NAMES = [
    *"#%[]*&@:;='\"(,$\\?+~!|<>{}^`",
    "spaces at the end  ",
    "ümlaut",
    "u\u0308mlaut of two characters",
    "🦔",
    "קיפוד",
    "%20",
    "%C3%BC",
    "a::b",
    "{home}",
    "%(name)s %s",
    "://",
]


@pytest.fixture(params=NAMES)
def folder(request, tmp_path: Path) -> Path:
    return tmp_path / "alone" / request.param


def tables(file: Path) -> set[str]:
    with closing(sqlite3.connect(file)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


def test_the_database_of_a_home_lies_in_it_and_nothing_beside_it(folder, monkeypatch):
    monkeypatch.setenv("HEDGE_HOME", str(folder))
    assert database.file() == folder / "engine.sqlite"
    assert database.shown() == str(folder / "engine.sqlite")
    assert not database.exists()
    assert not database.is_shared()
    assert sa.make_url(database.url()).database == str(folder / "engine.sqlite")  # as DBOS reads it


@pytest.mark.parametrize("encoded", [False, True], ids=["as it is", "percent-encoded"])
def test_a_url_of_a_file_means_what_sqlalchemy_says(folder, encoded, home, monkeypatch):
    file = folder / "queue.sqlite"
    url = f"sqlite:///{quote(str(file)) if encoded else file}"
    monkeypatch.setenv("HEDGE_DATABASE_URL", url)
    assert database.file() == Path(str(sa.make_url(url).database))
    if encoded:
        assert database.file() == file
    assert sa.make_url(database.url()).database == str(database.file())


def test_all_characters_at_once_and_the_tables_are_made_there(tmp_path, monkeypatch):
    folder = tmp_path / "alone" / "".join(NAMES).replace("/", "")
    monkeypatch.setenv("HEDGE_HOME", str(folder))
    database.prepare(within_s=60)
    database.forget()
    assert database.exists()
    assert {"workflow_status", "hedge_schema"} <= tables(folder / "engine.sqlite")
    assert [path.name for path in (tmp_path / "alone").iterdir()] == [folder.name]
    assert [path.name for path in folder.iterdir()] == ["engine.sqlite"]


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("sqlite://", "names no SQLite file"),
        ("sqlite:///", "names no SQLite file"),
        ("sqlite:///:memory:", "names no SQLite file"),
        ("sqlite://srv/engine.sqlite", "names no SQLite file"),
        ("sqlite:///file:x?uri=true", "names no SQLite file"),
        ("mysql://localhost/hedge", "a database of kind mysql; Hedge uses postgresql://"),
        ("hedge", "is not a database URL"),
        ("postgresql://hedge@db:port/hedge", "is not a database URL"),
        ("sqlite:////srv/\udcff/engine.sqlite", "is not a database URL"),
    ],
)
def test_urls_that_name_no_database(url, sentence, home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEDGE_DATABASE_URL", url)
    with pytest.raises(RunError, match=sentence):
        database.prepare()
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_sqlite_can_not_open_is_refused_with_its_length(tmp_path, monkeypatch):
    long = tmp_path / ("a" * 150) / ("b" * 150)
    longest = long / ("x" * (PATH_BYTES - len(f"{long}//engine.sqlite")))
    monkeypatch.setenv("HEDGE_HOME", str(longest))
    database.prepare(within_s=60)
    database.forget()
    assert (longest / "engine.sqlite").is_file()
    monkeypatch.setenv("HEDGE_HOME", f"{longest}y")
    with pytest.raises(RunError, match=r"path of engine.sqlite has 505 bytes, .* 504; set HEDGE_HOME to a folder"):
        database.prepare()


def test_a_home_whose_name_is_no_text_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path / "\udcff"))
    with pytest.raises(InputError, match=r"HEDGE_HOME must be a path in UTF-8, got b'.*\\xff'; set it to a folder"):
        database.file()
