"""What a person looks at: one typed record that lives in the page's address, so that a link reopens the view.

The menu's links carry no view, so the last one is remembered for the session and written back into the address.
Nonsense in a link is named in one sentence and replaced by what was there before or by the default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import streamlit as st

from app.formatting import plain, shortened
from core.calibration.bins import ECE_BINS, EDGES, check_bins
from core.conformal.alpha import check_thousandths
from core.conformal.mondrian import BY
from core.conformal.scores import SCORE_NAMES
from core.conformal.sets import EMPTY_POLICIES
from core.errors import InputError
from core.jury.adjudication import RULES
from core.jury.confidence import CONFIDENCES
from core.jury.experiment import MEASURES
from core.perplexity.layout import MODES
from core.reports.calibration.calibrated import WITHIN
from core.reports.calibration.temperature import check_hundredths
from core.reports.frames import alpha_value
from core.reports.prompting.experiments import METHODS
from core.runs.spec import DTYPES

VIEW_KEY = "view"
NAMES_KEY = "view_names"


@dataclass(frozen=True, slots=True)
class View:
    """The choices that a link carries.

    ``run`` a run id, ``alpha`` in thousandths, ``score`` the one that a figure with room for one shows, ``empty``
    the policy for empty sets, ``question`` an id.

    Of the alpha lab: ``left`` and ``right`` its scores; ``by`` what shares a threshold; ``extra`` whether E and F are
    kept; ``n`` how many calibration questions are used (0: all); ``split`` the number of another random split ("": the
    run's own). Of its list of test questions: ``show`` which sets, ``on`` by the score of which side, ``subject`` and
    ``search`` ("": any), ``list`` as cards or rows, ``row`` the number (from 1) of the first one shown. Of its shift:
    ``source`` and ``target``, a subject or another run (``run:`` and its id), "" for the pair that shows most. Of a
    lesson: ``step``, from 1. Of comparisons: ``runs``, their ids with commas between, "" for the latest ones and "none"
    where all were cleared. Of calibration: ``bins`` how many and ``edges`` of equal what, ``within`` what has a diagram
    of its own, ``t`` the temperature in hundredths. Of one question: ``bars`` the score whose p-values are drawn,
    ``ask`` whether it is a run's or one's own, ``answer`` the id of the answer to one's own. Of a jury: ``jury`` its id
    ("": the latest), ``judged`` which answers, ``confidence`` the scale, ``rule``, ``at`` the sureness in hundredths
    below which it abstains, ``cases`` which are listed, ``order`` the measure that orders rules, ``card`` the id of the
    answer that is open. Of ways of asking: ``experiment`` its key, ``method`` and ``beside`` the two compared,
    ``shots`` of both ("": the fewest). Of perplexities: ``models``, with commas between; ``a`` and ``b`` the prompts,
    ``talks`` the conversations, by their hashes with commas between ("": those that ship), and ``talk`` the one that is
    looked at; ``message`` the place of its message among those that were scored, from 1; ``mode`` standard or
    published; ``window`` the exchanges before a message; ``dtype`` the precision.
    """

    run: str = ""
    alpha: int = 100
    score: str = "lac"
    left: str = "lac"
    right: str = "aps"
    empty: str = "allow"
    by: str = "all"
    extra: str = "keep"
    n: int = 0
    split: str = ""
    show: str = "all"
    on: str = "left"
    subject: str = ""
    search: str = ""
    list: str = "cards"
    row: int = 1
    source: str = ""
    target: str = ""
    step: int = 1
    question: str = ""
    bars: str = "lac"
    ask: str = "run"
    answer: str = ""
    runs: str = ""
    bins: int = ECE_BINS
    edges: str = "width"
    within: str = "all"
    t: int = 100
    jury: str = ""
    judged: str = "disputed"
    confidence: str = "published"
    rule: str = "majority"
    at: int = 0
    cases: str = "all"
    order: str = "accuracy"
    card: str = ""
    experiment: str = ""
    method: str = "letters"
    beside: str = "raw"
    shots: str = ""
    models: str = ""
    a: str = ""
    b: str = ""
    talks: str = ""
    talk: str = ""
    message: int = 1
    mode: str = "standard"
    window: str = "2"
    dtype: str = "float32"


ALWAYS_SHOWN = ("run", "alpha")
"""Names that stand in the address even at their defaults."""

OF_CALIBRATION = ("bins", "edges", "within", "t")
OF_A_JURY = ("jury", "judged", "confidence", "rule", "at", "cases", "order", "card")
OF_PROMPTING = ("experiment", "method", "beside", "shots")
OF_RUNS = ("run", "score", "source", "target", "step", "question", "runs")
OF_PERPLEXITY = ("models", "a", "b", "talks", "talk", "message", "mode", "window", "dtype")
NOT_OF_THE_LAB = (*OF_RUNS, *OF_CALIBRATION, *OF_A_JURY, *OF_PROMPTING, *OF_PERPLEXITY)
LAB_NAMES = tuple(f.name for f in fields(View) if f.name not in NOT_OF_THE_LAB)
"""What the alpha lab's component shows and changes."""

CASES = ("all", "split", "flipped", "differ", "sure", "abstained")
"""Which answers of a jury are listed."""
WINDOWS = ("0", "1", "2", "4", "8", "all")
SHOWN_SETS = ("all", "misses", "empty", "wrong-single", "largest")
LONGEST_TEXT = 200
MOST_COMPARED = 24
NO_RUNS = "none"
"""Stands for the runs of a comparison where a person cleared them all; no run's id reads so."""


def _alpha(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 3):
        raise InputError("alpha counts in whole thousandths from 1 to 999")
    return check_thousandths(int(text))


def _row(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) <= 9 and int(text) > 0):
        raise InputError("it counts from 1")
    return int(text)


def _size(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise InputError("calibration questions are counted in whole numbers, 0 for all")
    return int(text)


def _hundredths(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= 100):
        raise InputError("it counts in whole hundredths from 0 to 100")
    return int(text)


def _split(text: str) -> str:
    if text and not (text.isascii() and text.isdigit() and len(text) <= 6):
        raise InputError("a split's number is whole and has at most 6 digits")
    return str(int(text)) if text else ""


def _shots(text: str) -> str:
    if text and not (text.isascii() and text.isdigit() and len(text) <= 3):
        raise InputError("shots are counted in whole numbers")
    return str(int(text)) if text else ""


def _text(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise InputError(f"it may have {LONGEST_TEXT} characters, not {len(text)}")
    return text


def _runs(text: str) -> str:
    names = [name for name in text.split(",") if name]
    if len(names) > MOST_COMPARED or len(text) > MOST_COMPARED * LONGEST_TEXT:
        raise InputError(f"at most {MOST_COMPARED} runs are compared")
    return ",".join(dict.fromkeys(names))


def _bins(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 3):
        raise InputError("bins are counted in whole numbers")
    return check_bins(int(text))


def _temperature(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 3):
        raise InputError("a temperature counts in whole hundredths")
    return check_hundredths(int(text))


def _names(text: str) -> str:
    if len(text) > MOST_COMPARED * LONGEST_TEXT:
        raise InputError(f"it may have {MOST_COMPARED * LONGEST_TEXT:,} characters, not {len(text):,}")
    return ",".join(dict.fromkeys(name for name in text.split(",") if name))


def _one_of(allowed: tuple[str, ...]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in allowed:
            raise InputError(f"it is one of {', '.join(allowed)}")
        return text

    return read


READERS: dict[str, Callable[[str], Any]] = {
    "run": str,
    "alpha": _alpha,
    "score": _one_of(SCORE_NAMES),
    "left": _one_of(SCORE_NAMES),
    "right": _one_of(SCORE_NAMES),
    "empty": _one_of(EMPTY_POLICIES),
    "by": _one_of(BY),
    "extra": _one_of(("keep", "drop")),
    "n": _size,
    "split": _split,
    "show": _one_of(SHOWN_SETS),
    "on": _one_of(("left", "right")),
    "subject": _text,
    "search": _text,
    "list": _one_of(("cards", "rows")),
    "row": _row,
    "source": _text,
    "target": _text,
    "step": _row,
    "question": str,
    "bars": _one_of(SCORE_NAMES),
    "ask": _one_of(("run", "own")),
    "answer": str,
    "runs": _runs,
    "bins": _bins,
    "edges": _one_of(EDGES),
    "within": _one_of(WITHIN),
    "t": _temperature,
    "jury": _text,
    "judged": _one_of(("disputed", "all")),
    "confidence": _one_of(tuple(CONFIDENCES)),
    "rule": _one_of(tuple(RULES)),
    "at": _hundredths,
    "cases": _one_of(CASES),
    "order": _one_of(MEASURES),
    "card": _text,
    "experiment": _text,
    "method": _one_of(tuple(METHODS)),
    "beside": _one_of(tuple(METHODS)),
    "shots": _shots,
    "models": _names,
    "a": _text,
    "b": _text,
    "talks": _names,
    "talk": _text,
    "message": _row,
    "mode": _one_of(MODES),
    "window": _one_of(WINDOWS),
    "dtype": _one_of(DTYPES),
}
"""From a name in the address to what reads its value or raises :class:`InputError`."""


def parse(address: Mapping[str, str], start: View) -> tuple[View, tuple[str, ...]]:
    """The view that an address asks for, ``start`` where it says nothing, and a sentence for each nonsense in it."""
    values: dict[str, Any] = {}
    problems = []
    for name, read in READERS.items():
        if name not in address:
            continue
        try:
            values[name] = read(address[name])
        except InputError as error:
            problems.append(
                f"The link's {name} is “{shortened(address[name], 40)}”, but {error}; "
                f"{_in_words(name, getattr(start, name))} is shown instead."
            )
    return replace(start, **values), tuple(problems)


def _in_words(name: str, value: Any) -> str:
    return f"alpha {alpha_value(value):.3f}" if name == "alpha" else f"{name} {value}"


def address_of(view: View, names: tuple[str, ...]) -> dict[str, str]:
    """The part of an address that brings the view back: the named choices that differ from their defaults."""
    default = View()
    shown = {name: str(getattr(view, name)) for name in names}
    return {
        name: value
        for name, value in shown.items()
        if value and (name in ALWAYS_SHOWN or value != str(getattr(default, name)))
    }


def address(*names: str) -> dict[str, str]:
    """The part of an address that brings the session's view back on a page with ``names``."""
    return address_of(_remembered(), names)


def view(*names: str) -> View:
    """The view of a page whose address holds ``names``; says what was nonsense in it and tidies the address."""
    address, start = st.query_params.to_dict(), _remembered()
    if any(name in READERS for name in address):  # what stands at its default is left out of an address
        absent = set(names) - set(ALWAYS_SHOWN) - set(address)
        start = replace(start, **{name: getattr(View(), name) for name in absent})
    found, problems = parse(address, start)
    for problem in problems:
        st.warning(plain(problem))
    st.session_state[NAMES_KEY] = names
    _remember(found)
    return found


def change(**values: Any) -> View:
    """Change choices of the view and the address with them; for callbacks and fallbacks."""
    changed: View = replace(_remembered(), **values)
    _remember(changed)
    return changed


def taking(name: str, key: str, **also: Any) -> Callable[[], None]:
    """A callback that takes the widget ``key``'s value into the view as ``name``, and ``also`` what depends on it."""

    def take() -> None:
        change(**{name: st.session_state[key]}, **also)

    return take


def read_changes(texts: Mapping[str, str]) -> View:
    """Change choices to what ``texts`` say, where they say something; what a browser sends is not trusted."""
    changed, _ = parse(texts, _remembered())
    _remember(changed)
    return changed


def _remembered() -> View:
    view: View = st.session_state.get(VIEW_KEY, View())
    return view


def _remember(view: View) -> None:
    st.session_state[VIEW_KEY] = view
    address = address_of(view, st.session_state.get(NAMES_KEY, ()))
    if st.query_params.to_dict() != address:  # each write is an entry in the browser's history
        st.query_params.from_dict(address)
