"""Every error that Hedge raises on purpose.

    HedgeError
    ├── InputError          an argument or a file can't be used; the command line ends with status 2
    │   ├── UnreachableError  a host does not answer
    │   ├── UnreadableRunError  a stored run is damaged, or a newer Hedge wrote it
    │   └── Undecided         a file can be read in two ways, and a person has to say which
    │       └── UndecidedCounts  its whole numbers may count picks
    ├── AccessError         the person may not do this
    │   └── QuotaError      the person has used up what the server gives to one person, or its disk is full
    └── RunError            a run could not be finished; the command line ends with status 1
        ├── SelfCheckError  the fast scoring path disagrees with the slow one
        ├── RunCancelled    a person stopped it
        ├── RunBusyError    another process is at it
        ├── RunLostError    another worker has been given it
        ├── RunPaused       what it needs is not there for now; it can be resumed
        │   └── BudgetReachedError  a person's budget is spent
        └── ServerError     a server that holds the model does not answer, or not as it should

A message names the value, the rule that it breaks, and the way out, in one sentence.
"""

from __future__ import annotations

import re

LONGEST = 1_500
"""Characters of a message. A longer one holds values of a file that nobody reads whole; its ends say what is wrong."""

SHORT = 80
"""Characters of a value in a message."""
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that a terminal obeys or that change the order in which a line is read, and halves of characters; tabs and
line ends don't count."""


def plain(text: str, *, one_line: bool = False) -> str:
    """The text with control characters as Python writes them, for a terminal or a log; with ``one_line``, line ends and
    tabs as well.

    >>> plain("m\\x1b[2J")
    'm\\\\x1b[2J'
    """
    shown = CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
    return shown.replace("\n", "\\n").replace("\t", "\\t") if one_line else shown


def shown_value(value: object) -> str:
    """Any value as one short line of a message, as Python writes it.

    >>> shown_value("a"), len(shown_value(list(range(100))))
    ("'a'", 80)
    """
    text = plain(repr(value), one_line=True)
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"


class HedgeError(Exception):
    """Base of all errors that are meant to be read by a person."""

    exit_status = 1

    def __str__(self) -> str:
        """The message, without its middle where it is too long, and without control characters."""
        text = plain(super().__str__())
        return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 + 3 :]}"

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback: the message alone."""
        return [f"{type(self).__name__}: {self}"]


class InputError(HedgeError):
    """An argument, a file or a setting can't be used as it is."""

    exit_status = 2


class UnreachableError(InputError):
    """A host on the network does not answer, or there is no network."""


class UnreadableRunError(InputError):
    """A stored run is damaged, or a newer Hedge wrote it: its id, what is wrong, and the way out."""

    run_id = ""
    reason = ""
    way_out = ""

    @classmethod
    def for_run(cls, run_id: str, reason: str, way_out: str) -> UnreadableRunError:
        """The error of one run; the message is a sentence of its parts."""
        error = cls(f"run {run_id} {reason}; {way_out}")
        error.run_id, error.reason, error.way_out = run_id, reason, way_out
        return error

    @property
    def deletable(self) -> bool:
        """Whether the way out begins with deleting the run."""
        return self.way_out.startswith("delete ")


class Undecided(InputError):
    """The numbers of a file's right options may count from 0 or from 1, and nothing in the file decides which.

    The message names the options of the command line behind the last semicolon.
    """


class UndecidedCounts(Undecided):
    """A table's whole numbers may count a model's picks, or be its logits."""


class AccessError(HedgeError):
    """The person for whom something should be done may not do it."""


class QuotaError(AccessError):
    """The person has used up what the server gives to one person, or the server's disk is full."""


class RunError(HedgeError):
    """A run could not be finished."""


class SelfCheckError(RunError):
    """Batched and one-by-one scoring disagree by more than the tolerance."""


class RunCancelled(RunError):
    """A person cancelled the run; what had finished is kept."""


class RunPaused(RunError):
    """What the run needs is not there for now, such as a server; what had finished is kept."""


class BudgetReachedError(RunPaused):
    """The next request would cost more than is left of the budget."""


class RunBusyError(RunError):
    """Another process is executing this run."""


class RunLostError(RunError):
    """The run was given to another worker, and this one must write nothing more of it."""


class ServerError(RunError):
    """A server that holds a model does not answer, or its answer can't be used."""
