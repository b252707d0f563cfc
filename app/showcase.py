"""The runs that pages show if nobody has chosen one, as ``assets/showcase.toml`` names them."""

import functools
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from core.runs import store
from core.runs.store import RunRecord
from core.settings import ASSETS

FILE = ASSETS / "showcase.toml"


@dataclass(frozen=True, slots=True)
class Showcase:
    """The ids of the run that pages open with, of the runs of other models that are compared with it, of the run with
    whose experiment the Prompting page opens, of the run with which a stream of the Stream lab begins, of the run of
    the course's lesson on calibration, and of the jury of that on juries.

    The sisters are on the same questions, asked in the same way. Compare opens with the first of them beside the run:
    the paired tests tell these two apart, in accuracy and in set size.
    """

    run: str
    sisters: tuple[str, ...]
    prompting: str
    stream: str
    calibration: str
    jury: str

    @property
    def compared(self) -> tuple[str, ...]:
        """The ids of the runs that a comparison opens with; the one that pages open with comes first."""
        return (self.run, *self.sisters)


@functools.cache
def showcase() -> Showcase:
    """The runs that ``assets/showcase.toml`` names; none if the file is damaged, which must not take a page away."""
    try:
        values = tomllib.loads(FILE.read_text(encoding="utf-8"))
        named = {name: str(values[name]) for name in ("run", "prompting", "stream", "calibration", "jury")}
        return Showcase(sisters=tuple(map(str, values["sisters"])), **named)
    except (OSError, ValueError, KeyError, TypeError):
        return Showcase("", (), "", "", "", "")


def default_run(records: Sequence[RunRecord], *, pinned_id: str = "") -> RunRecord:
    """The run that is shown if nobody has chosen one.

    ``records`` are finished runs, the latest first, and must not be empty. The default is the run ``pinned_id``, by
    default that of the :func:`showcase`, if it is among them, else the latest run that ships with Hedge, else the
    latest run.
    """
    pinned = [record for record in records if record.run_id == (pinned_id or showcase().run)]
    return next(iter(pinned or [record for record in records if store.is_bundled(record.run_id)] or records))


def first_run(lesson: str) -> str:
    """The run with which a lesson opens."""
    return showcase().calibration if lesson == "calibration" else showcase().run


def lesson_run(lesson: str, chosen: str) -> str:
    """The run of a lesson if a person comes from another one: the ``chosen`` run, but one with which a lesson opens
    gives way to that of this lesson."""
    return first_run(lesson) if chosen in (first_run("sets"), first_run("calibration")) else chosen


def default_comparison(run_ids: Collection[str], *, most: int) -> list[str]:
    """The runs that are compared if nobody has chosen any: at most ``most`` of the :func:`showcase` and its sisters.

    ``run_ids`` are finished runs, the latest first. If none of the pinned runs is among them, the default is the latest
    runs that ship with Hedge, else the latest runs.
    """
    pinned = [run_id for run_id in showcase().compared if run_id in run_ids]
    return (pinned or [run_id for run_id in run_ids if store.is_bundled(run_id)] or list(run_ids))[:most]
