"""All pages in the order of the menu, and links between them. `app/menu.py` is the menu itself."""

from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import streamlit as st

from core import access
from core.access import UserRole
from core.settings import ASSETS, ROOT

ICON = ASSETS / "icon.svg"


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A page: its script in ``pages/``, its name in the menu, and one sentence on what a person does there."""

    name: str
    title: str
    help: str

    @property
    def script(self) -> Path:
        """The path of the page's script."""
        return ROOT / "pages" / f"{self.name}.py"


OVERVIEW = PageEntry("overview", "Overview", "See which models are right, and how certain they are.")
NEW_RUN = PageEntry("new_run", "New run", "Run a model on a task, and watch, cancel or resume runs.")
ALPHA_LAB = PageEntry(
    "alpha_lab", "Alpha lab", "Drag alpha and watch the sets, the coverage and the set size of one run change."
)
ONE_QUESTION = PageEntry(
    "one_question",
    "One question",
    "See the options, probabilities and prediction sets of one question, or ask your own.",
)
STREAM_LAB = PageEntry(
    "stream_lab", "Stream lab", "Change the kind of question in mid-stream, and see what coverage does and who notices."
)
COMPARE = PageEntry("compare", "Compare", "See runs side by side, with paired tests and published claims.")
CALIBRATION = PageEntry(
    "calibration", "Calibration", "See how far a model's confidence can be trusted, and what a temperature changes."
)
JURY = PageEntry("jury", "Jury", "See where several judges of one answer disagree, and which rule decides best.")
PROMPTING = PageEntry(
    "prompting", "Prompting", "Compare ways of asking: by letter, by text, with and without examples."
)
PERPLEXITY = PageEntry(
    "perplexity", "Perplexity", "See how a system prompt changes how likely each word of a counselor is."
)
TOKENS = PageEntry("tokens", "Tokens", "See how sure a model is of each word, and what an adapter changes.")
DATA = PageEntry("data", "Data", "Import results of other tools, and export Hedge's own.")
LEARN = PageEntry("learn", "Learn", "Learn conformal prediction from figures that you can move.")
CLASSROOM = PageEntry(
    "classroom", "Classroom", "Open a class that joins by phone, and set its answers beside a small model's."
)

DOCTOR = PageEntry(
    "doctor", "Doctor", "Check what this machine can run: devices, memory, disk, database, and their speed."
)

MENU = {
    "Start": (OVERVIEW, LEARN, CLASSROOM),
    "Explore": (ALPHA_LAB, ONE_QUESTION, STREAM_LAB, COMPARE, CALIBRATION),
    "Studies": (JURY, PROMPTING, PERPLEXITY, TOKENS),
    "Run": (NEW_RUN, DATA, DOCTOR),
}
"""The groups of the menu and their pages, in order."""

PAGES = tuple(entry for group in MENU.values() for entry in group)
"""All pages in the order of the menu. The first one opens by default."""


def is_open(entry: PageEntry) -> bool:
    """Whether the person may open the page. A person who may only look can't launch runs and needs no check of the
    machine."""
    return entry not in (NEW_RUN, DOCTOR) or access.may(UserRole.LAUNCHER)


def link(entry: PageEntry, label: str, **view: str) -> None:
    """Show a link to a page that the person may open, at ``view`` (the names and values in its address)."""
    if is_open(entry):
        st.page_link(entry.script, label=label, query_params=view)


def go(entry: PageEntry, **view: str) -> NoReturn:
    """Switch to another page at once, opened at ``view``.

    Raises :class:`~core.errors.AccessError` if the person may not open it.
    """
    if not is_open(entry):
        access.check(UserRole.LAUNCHER, "launch runs")
    st.switch_page(entry.script, query_params=view)
