"""The catalogue of tasks: where questions come from, by the task's name.

``qa``                      a task of the bundled bank
``qa@hub``                  built from its hub data set by the published recipe
``qa@published``            the finished file of LLM-Uncertainty-Bench
``qa@FILE``, ``qa@FOLDER``  a finished file, rows of the hub's shape, or a data set's folder
``FILE``                    a person's own questions

What was built from the hub is kept in ``HEDGE_HOME/cache/tasks``.
"""

import functools
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from core import access
from core.access import quotas
from core.errors import InputError
from core.questions import DATA_SETS, TASKS, bank, finished, local_file, recipes, split_task
from core.questions.local_file import MOST_UNFIT, BankFile
from core.questions.rows import check_bank_file, download, ending_of, no_collection, read_dataset, read_file
from core.records import LETTERS, MOST_ASKED, Question
from core.settings import settings
from core.storage.names import named
from core.storage.sealed import DamagedError, check_files, damage, digests_of, read_json, write_json

RECIPE_VERSION = 2


@dataclass(frozen=True, slots=True)
class HubSource:
    """A data set of the hub: its id, configuration, split and revision."""

    repository: str
    configuration: str | None
    split: str
    revision: str | None = None


HUB = {
    "qa": HubSource("cais/mmlu", "all", "test"),
    # Its main branch holds a script; the hub's own conversion holds the data.
    "rc": HubSource("allenai/cosmos_qa", None, "train+validation", revision="refs/convert/parquet"),
    "ci": HubSource("Rowan/hellaswag", None, "train+validation"),
    "drs": HubSource("pminervini/HaluEval", "dialogue", "data"),
    "ds": HubSource("pminervini/HaluEval", "summarization", "data"),
    "arc": HubSource("allenai/ai2_arc", "ARC-Challenge", "test"),
    "csqa": HubSource("tau/commonsense_qa", None, "validation"),
}
"""Task → where its data lie."""


@dataclass(frozen=True, slots=True)
class TaskData:
    """A task's questions, the ids reserved for demonstrations in the order of showing, where they come from, and
    what was left out for which reason. ``read_as`` says in one line how a person's file was read."""

    questions: tuple[Question, ...]
    demonstrations: tuple[str, ...] = ()
    source: str = ""
    left_out: dict[str, int] = field(default_factory=dict)
    read_as: str = ""


def load(task: str, *, most: int = len(LETTERS)) -> TaskData:
    """The questions of ``task`` with at most this many options. Raises :class:`InputError` for an unknown task, and for
    data that are not there or not as they should be."""
    name, place = split_task(task)
    if not place:
        if is_file(task):
            access.check_path(task)
            return _with_at_most(most, _own(*_version(named(task))))
        return TaskData(tuple(bank.load(task)), source="bundled")
    if name not in HUB:
        raise InputError(f"unknown task {name!r}; choose from {', '.join(HUB)}")
    if place == "hub":
        return _cached(name, f"{name}-hub-{RECIPE_VERSION}", lambda: _built(name, HUB[name].repository))
    if place == "published":
        return _published(name)
    access.check_path(place)
    path = named(place)
    return _built(name, str(path)) if path.is_dir() else _from_file_kept(name, *_version(path))


def _version(path: Path) -> tuple[Path, int, int]:
    """The path with the time of its last change, in nanoseconds, and its size; zeros if it can't be looked at. Raises
    :class:`InputError` if it is an imported bank, and not the file that was kept."""
    try:
        check_bank(path)
        status = path.stat()
    except OSError:
        return path, 0, 0
    return path, status.st_mtime_ns, status.st_size


def keep_bank_digest(path: Path) -> None:
    """Write the digest of an imported bank."""
    write_json(digest_file(path), {"files": digests_of([path])})


def check_bank(path: Path) -> None:
    """Raise :class:`InputError` if a bank has a digest beside it and is another file."""
    try:
        check_files(path.parent, read_json(digest_file(path))["files"])
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return  # it lies elsewhere, is of an older version, or this process may read the bank alone
    except (DamagedError, OSError, KeyError) as error:
        raise InputError(f"{path} is damaged ({damage(error)}); import the questions again") from error


def digest_file(path: Path) -> Path:
    """The file with the digest of an imported bank."""
    return path.with_name(f".{path.name}.digest.json")


# A launch asks for the same questions four times: to pin them, to check the run twice, and to ask them.
@functools.lru_cache(maxsize=1)
def _own(path: Path, stamp: int, size: int) -> TaskData:
    with no_collection():
        check_bank_file(path)
        return of_bank(path, local_file.read_path(path))


def _with_at_most(most: int, data: TaskData) -> TaskData:
    """The questions with at most this many options. Raises :class:`InputError` where too many have more."""
    questions = tuple(question for question in data.questions if len(question.options) <= most)
    if not (beyond := len(data.questions) - len(questions)):
        return data
    if beyond > MOST_UNFIT * len(data.questions):
        first = next(question for question in data.questions if len(question.options) > most)
        raise InputError(f"{data.source}: question {first.id!r} has {len(first.options)} options, but {MOST_ASKED}")
    reason = f"more than {most} options"
    read_as = f"{data.read_as}, {beyond:,} left out: {reason}"
    return replace(data, questions=questions, left_out=data.left_out | {reason: beyond}, read_as=read_as)


def of_bank(path: Path, bank_file: BankFile) -> TaskData:
    """The questions of a file that was read."""
    return TaskData(bank_file.questions, source=str(path), left_out=bank_file.left_out, read_as=bank_file.read_as)


@functools.lru_cache(maxsize=1)
def _from_file_kept(task: str, path: Path, stamp: int, size: int) -> TaskData:
    return _from_file(task, path)


def canonical(task: str) -> str:
    """The name under which a spec keeps a task: files and folders made absolute, everything else as it is."""
    name, place = split_task(task)
    if not is_file(task):
        return task
    return f"{name}@{named(place).resolve()}" if place else str(named(task).resolve())


def is_file(task: str) -> bool:
    """Whether a task's questions are in a person's own file or folder."""
    name, place = split_task(task)
    return place not in ("hub", "published") if place else bool(ending_of(name))


def at_hand(task: str) -> bool:
    """Whether :func:`load` finds the questions on this machine, without asking the hub."""
    name, place = split_task(task)
    if place == "published":
        return False
    return place != "hub" or _cache_file(f"{name}-hub-{RECIPE_VERSION}").is_file()


def choices() -> dict[str, str]:
    """Task names a person may pick from → title; those of the bank first."""
    bundled = {name: TASKS[name] for name in bank.available()}
    hub = {f"{name}@hub": f"{TASKS[name]} · {DATA_SETS[name]} ({source.repository})" for name, source in HUB.items()}
    return bundled | hub | listed_files()


def file_title(task: str) -> str:
    """What a person calls a task that is a file: the file's name if it was imported, else the path as it is."""
    path = Path(task)
    return path.name if path.is_relative_to(settings().home / "questions") else task


MODEL_FILE = "config.json"
"""A folder with it holds a model, and its tables are no questions."""
LISTED_DEPTH = 2
MOST_LISTED = 200


def listed_files() -> dict[str, str]:
    """The question files in the roots that the administrator of a served Hedge lists: task name → title."""
    if access.mode() == "local":
        return {}
    paths = {
        path
        for root in settings().roots
        for depth in range(LISTED_DEPTH)
        for path in root.glob("*/" * depth + "*")
        if ending_of(path.name) not in ("", ".txt") and path.is_file() and not (path.parent / MODEL_FILE).exists()
    }
    return {str(path): path.name for path in sorted(paths)[:MOST_LISTED]}


def _built(task: str, location: str) -> TaskData:
    source = HUB[task]
    revision = source.revision if location == source.repository else None
    rows = read_dataset(location, configuration=source.configuration, split=source.split, revision=revision)
    built = recipes.build(task, rows, place=location)
    return TaskData(built.questions, source=location, left_out=built.left_out)


def _published(task: str) -> TaskData:
    if task not in finished.FILES:
        raise InputError(f"task {task!r} has no published file; choose from {', '.join(finished.FILES)}")
    return _from_file(task, download(finished.REPOSITORY, finished.FILES[task]))


def _from_file(task: str, path: Path) -> TaskData:
    rows = read_file(path)
    if finished.is_finished(rows):
        questions = finished.read(task, rows, place=str(path))
        return TaskData(questions, finished.demonstrations(questions), source=str(path))
    built = recipes.build(task, rows, place=str(path))
    return TaskData(built.questions, source=str(path), left_out=built.left_out)


def _cache_file(name: str) -> Path:
    return settings().home / "cache" / "tasks" / f"{name}.json"


@functools.lru_cache(maxsize=1)
def _read_cache(path: Path, stamp: int, size: int) -> TaskData:
    values = read_json(path)
    questions = tuple(Question(**(row | {"options": tuple(row["options"])})) for row in values.pop("questions"))
    return TaskData(questions, tuple(values["demonstrations"]), values["source"], values["left_out"])


def _cached(task: str, name: str, make: Any) -> TaskData:
    """What ``make`` builds, from the cache where it is there; a damaged file is built again."""
    path = _cache_file(name)
    try:
        return _read_cache(*_version(path))
    except (OSError, ValueError, KeyError, TypeError):
        data: TaskData = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, asdict(data), lasting=False)
    quotas.note_kept(path)
    return data
