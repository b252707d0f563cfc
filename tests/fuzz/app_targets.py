"""The command line, links, and messages of components as targets."""

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any
from unittest.mock import patch
from urllib.parse import urlencode

import streamlit as st
from hypothesis import strategies

from app import navigation
from app.components.alpha_lab import _open as open_from_lab
from app.components.alpha_lab import _take_view as take_lab
from app.components.calibration.temperature import _take as take_temperature
from app.components.compare.inspector import INSPECTOR_KEY
from app.components.compare.inspector import NAMES as INSPECTOR_NAMES
from app.components.compare.inspector import _open as open_from_inspector
from app.components.compare.pair_state import take_view as take_compare
from app.components.jury import KEY as JURY_KEY
from app.components.jury import _take_view as take_jury
from app.components.learn import KEY as LEARN_KEY
from app.components.learn import _leave as leave_lesson
from app.components.learn import _take as take_lesson
from app.components.one_question.option_bars import KEY as BARS_KEY
from app.components.one_question.option_bars import RUNS_KEY
from app.components.one_question.option_bars import _open as open_from_bars
from app.components.one_question.option_bars import _take_view as take_bars
from app.components.overview.first_page import _open as open_first_page
from app.components.shared.ranges import _take_view as take_ranges
from app.components.shared.seed import _name as seed_name
from app.components.stream_lab import _take_view as take_stream
from app.state.address import address_of, opened
from app.state.alpha_lab import AlphaLabView
from app.state.calibration import CalibrationView
from app.state.compare import CompareView
from app.state.data import DataView
from app.state.jury import JuryView
from app.state.learn import LearnView
from app.state.one_question import OneQuestionView
from app.state.overview import OverviewView
from app.state.perplexity import PerplexityView
from app.state.prompting import PromptingView
from app.state.shared import SharedView
from app.state.stream_lab import StreamLabView
from core.errors import HedgeError
from hedge.cli import main
from tests.fuzz.findings import Finding
from tests.fuzz.mutations import VALUES

VIEWS: tuple[type[SharedView], ...] = (
    *(AlphaLabView, CalibrationView, CompareView, DataView, JuryView, LearnView, OneQuestionView, OverviewView),
    *(PerplexityView, PromptingView, StreamLabView),
)
TEXTS = strategies.one_of(
    strategies.sampled_from([str(value) for value in VALUES] + ["100", "lac", "aps", "a,b", "on", "none", "," * 999]),
    strategies.text(max_size=30),
)

# ---------------------------------------------------------------- links


def links() -> strategies.SearchStrategy[tuple[type[SharedView], dict[str, str]]]:
    """A page and the query of a link to it."""

    def query(page: type[SharedView]) -> strategies.SearchStrategy[tuple[type[SharedView], dict[str, str]]]:
        names = strategies.sampled_from([*asdict(page()), "page", "", "embed"])
        return strategies.tuples(strategies.just(page), strategies.dictionaries(names, TEXTS, max_size=6))

    return strategies.sampled_from(VIEWS).flatmap(query)


def open_link(link: tuple[type[SharedView], dict[str, str]]) -> None:
    """Open a link: what it says is shown or refused in sentences, and the address that it becomes opens the same."""
    page, query = link
    view, problems = opened(query, page())
    if any("\n" in problem or len(problem) > 1_000 or not problem.endswith(".") for problem in problems):
        raise Finding("no single sentence")
    again, more = opened(address_of(view), page())
    if more or address_of(again) != address_of(view):
        raise Finding("its own address opens another view")
    urlencode(address_of(view), errors="replace")


# ---------------------------------------------------------------- messages of components

WORDS = (
    *("view", "open", "leave", "t", "page", "query", "alpha", "run", "id", "question", "step", "guesses", "bars"),
    *("empty", "gamma", "change", "last", "draw", "length"),
)
LEAVES = strategies.one_of(strategies.sampled_from(VALUES), strategies.text(max_size=10), strategies.integers())
MESSAGES = strategies.recursive(
    LEAVES,
    lambda inner: strategies.one_of(
        strategies.lists(inner, max_size=3),
        strategies.dictionaries(
            strategies.sampled_from((*WORDS, *INSPECTOR_NAMES, *[entry.name for entry in navigation.PAGES])),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=12,
)


@dataclass(frozen=True, slots=True)
class _Seed:
    """Stands for what a component was shown before."""

    shown: Any = None


class _Query(dict[str, str]):
    def to_dict(self) -> dict[str, str]:
        return dict(self)

    def from_dict(self, values: dict[str, str]) -> None:
        urlencode(values)  # what the browser's address bar is given
        self.clear()
        self.update(values)

    def get_all(self, name: str) -> list[str]:
        return [self[name]] if name in self else []


class _Went(Exception):
    """A page would have been opened."""


def _opens_text(run: str) -> None:
    if not isinstance(run, str):
        raise Finding("an id that is no text")


HANDLERS: dict[str, tuple[str, Callable[[], None]]] = {
    "lab": ("k", lambda: take_lab("k")),
    "lab opens": ("k", lambda: open_from_lab("k", _opens_text)),
    "temperature": ("k", lambda: take_temperature("k")),
    "inspector opens": (INSPECTOR_KEY, open_from_inspector),
    "inspector": (INSPECTOR_KEY, lambda: take_compare(INSPECTOR_KEY, INSPECTOR_NAMES)),
    "jury": (JURY_KEY, take_jury),
    "lesson": (LEARN_KEY, lambda: take_lesson("view", "r")),
    "lesson is left": (LEARN_KEY, lambda: leave_lesson("r")),
    "bars": (BARS_KEY, take_bars),
    "bars open": (RUNS_KEY, lambda: open_from_bars(_opens_text)),
    "first page": ("k", lambda: open_first_page("k")),
    "stream": ("k", lambda: take_stream("k")),
    "ranges": ("k", lambda: take_ranges("k", OverviewView)),
}


def messages() -> strategies.SearchStrategy[tuple[str, Any]]:
    """A handler, and what a browser sends it."""
    whole = strategies.dictionaries(strategies.sampled_from(WORDS[:4]), MESSAGES, max_size=3)
    return strategies.tuples(strategies.sampled_from(sorted(HANDLERS)), whole)


@contextlib.contextmanager
def _session(key: str, value: Any) -> Iterator[None]:
    """A session in which a component has reported ``value``."""

    def go(entry: navigation.PageEntry, **view: str) -> None:
        urlencode(view)
        raise _Went

    session = {key: value, seed_name(key): _Seed()}
    with (
        patch.object(st, "session_state", session),
        patch.object(st, "query_params", _Query()),
        patch.object(navigation, "go", go),
        patch("app.components.shared.seed.replace", lambda seed, **changes: _Seed(**changes)),
    ):
        yield


def take_message(message: tuple[str, Any]) -> None:
    """Give a handler a message: it changes the view as a link could, or nothing."""
    name, value = message
    key, handler = HANDLERS[name]
    with _session(key, value), contextlib.suppress(_Went):
        handler()
        for view in st.session_state.get("views", {}).values():
            _again, problems = opened(address_of(view), type(view)())
            if problems:
                raise Finding("a message made a view that a link can't have")
        if len(repr(st.session_state)) > 200_000:
            raise Finding("a message fills the session's memory")


# ---------------------------------------------------------------- the command line

SAFE = ("report", "calibration", "bin", "export", "figure", "completion")
"""Commands that are carried out, for runs that are not there; of the others, only the arguments are read."""
ARGUMENTS = strategies.one_of(
    strategies.sampled_from(
        [
            *(
                "--alpha",
                "--score",
                "--json",
                "--out",
                "--format",
                "--threshold",
                "--empty",
                "--by",
                "--model",
                "--task",
            ),
            *("--help", "--version", "--", "-", "--options", "--label", "--memory", "--seconds", "--mapping", "-x"),
            *(
                "0.1",
                "2",
                "nan",
                "inf",
                "-1",
                "1e999",
                "lac",
                "aps",
                "csv",
                "pocket-8m-qa",
                "pocket",
                "nobody",
                "../..",
                "",
            ),
            *(
                "/dev/null/x",
                "list",
                "show",
                "import",
                "agreement",
                "all",
                "short",
                "qa",
                "pocket-8m",
                "fake",
                "²",
                "=1+1",
            ),
        ]
    ),
    TEXTS,
)


def command_lines() -> strategies.SearchStrategy[list[str]]:
    """The words of a command, or of none that there is."""
    from hedge.commands.grammar import COMMANDS

    verbs = strategies.one_of(strategies.sampled_from(sorted(COMMANDS)), ARGUMENTS)
    return strategies.builds(lambda verb, rest: [verb, *rest], verbs, strategies.lists(ARGUMENTS, max_size=6))


def run_command(words: list[str]) -> None:
    """Carry a command out, or read its arguments: it ends with a status and sentences, never with a traceback."""
    from hedge.commands.grammar import parser

    output, errors = io.StringIO(), io.StringIO()
    verb = next((word for word in words if not word.startswith("-")), "")
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            if verb in SAFE and "--out" not in words:
                status = main(words)
            else:
                parser(verb).parse_args(words)
                return
        except HedgeError:
            return
        except SystemExit as ended:  # --help and --version
            if ended.code not in (0, None):
                raise Finding("ends with a status of argparse") from ended
            return
    if status not in (0, 1, 2):
        raise Finding(f"ends with status {status}")
    if status and not errors.getvalue().startswith(("hedge: ", "usage: ")):
        raise Finding("fails without a sentence")
    if not status and "--json" in words:
        json.loads(output.getvalue() or "{}")


def app_targets() -> dict[str, Any]:
    """These targets by their names, as pairs of what :class:`~tests.fuzz.targets.Target` takes."""
    return {
        "links": (links(), open_link),
        "messages": (messages(), take_message),
        "commands": (command_lines(), run_command),
    }
