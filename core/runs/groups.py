"""Groups of runs that were launched together. A group is a file, ``HEDGE_HOME/groups/<id>.json``, that lists its runs.

A run may belong to several groups, because equal specs are the same run. An action on a group is done to each of its
runs for which it is possible.
"""

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import InputError
from core.settings import settings
from core.storage.kinds import check_kinds
from core.storage.sealed import DamagedError, damage, read_json, write_json

LONGEST_ID = 40


@dataclass(frozen=True, slots=True)
class Group:
    """Runs launched together, in the order they were given; ``created`` in seconds since the epoch."""

    id: str
    created: float
    run_ids: tuple[str, ...]
    name: str = ""

    def __post_init__(self) -> None:
        check_kinds(self)


def create(run_ids: Sequence[str], *, name: str = "") -> Group:
    """Store a group of these runs."""
    if not run_ids:
        raise InputError("a group needs at least one run")
    group = Group(uuid.uuid4().hex[:10], time.time(), tuple(dict.fromkeys(run_ids)), name)
    folder = settings().home / "groups"
    folder.mkdir(parents=True, exist_ok=True)
    values = {"id": group.id, "created": group.created, "runs": list(group.run_ids), "name": group.name}
    write_json(folder / f"{group.id}.json", values)
    return group


def read(group_id: str) -> Group:
    """A group by its id. Raises :class:`~core.errors.InputError` if there is none."""
    path = settings().home / "groups" / f"{group_id}.json"
    if not group_id.isalnum() or len(group_id) > LONGEST_ID or not path.is_file():
        raise InputError(f"there is no group {group_id[:LONGEST_ID]!r}")
    try:
        values = read_json(path)
        if values.get("id", group_id) != group_id:
            raise DamagedError(f"it is of the group {str(values['id'])[:LONGEST_ID]!r}")
        return Group(group_id, float(values["created"]), tuple(values["runs"]), values["name"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} can't be read ({damage(error)}); delete it: its runs are not affected") from error


def known() -> list[Group]:
    """All groups that can be read, the latest first."""
    groups = []
    for path in (settings().home / "groups").glob("*.json"):
        try:
            groups.append(read(path.stem))
        except InputError:
            continue
    return sorted(groups, key=lambda group: -group.created)
