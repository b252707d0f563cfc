"""What a lecturer does with a class: open it, ask, show the answer, move alpha, end it.

Opening needs the role of a launcher; everything else also asks that the class is one's own, or that one administers the
server.
"""

import time
from collections.abc import Sequence

from core import access
from core.access import UserRole
from core.conformal.alpha import check_thousandths
from core.errors import InputError
from core.serving.classroom import class_figures, class_store
from core.serving.classroom.class_figures import SCORES
from core.serving.classroom.class_state import smallest_alpha
from core.serving.classroom.class_store import ClassRow
from core.serving.classroom.codes import new_code
from core.serving.classroom.live_class import SEATS, LiveClass, find
from core.serving.classroom.quiz import Quiz

LASTS_S = 24 * 3600.0
"""A class ends by itself after a day."""
MOST_OPEN = 20
START_ALPHA = 200
"""alpha in thousandths at the start of a class, unless its calibration questions are too few for it. When the first
sets are shown, it goes to the nearest alpha at which the class's sets differ (:func:`_differing`)."""


@access.needs(UserRole.LAUNCHER, "open a class")
def open_class(quiz: Quiz) -> LiveClass:
    """Open a class with this quiz, which ends after a day.

    Raises :class:`InputError` if :data:`MOST_OPEN` classes are open.
    """
    now = time.time()
    if len(class_store.codes(after=now)) >= MOST_OPEN:
        raise InputError(f"{MOST_OPEN} classes are open on this server; end one of them first")
    while class_store.read(code := new_code()) is not None:
        pass
    alpha = max(START_ALPHA, smallest_alpha(quiz.calibration))
    class_store.add(ClassRow(code, access.actor().name, now, now + LASTS_S, quiz, "lobby", 0, alpha, SCORES[0]))
    return find(code)


def own_classes() -> list[str]:
    """The codes of the open classes that the actor may lead, the latest first."""
    return [code for code, owner, _ in class_store.codes(after=time.time()) if access.owns(owner)]


@access.needs(UserRole.LAUNCHER, "lead a class")
def ask_next(code: str) -> None:
    """Ask the next question; after the last one, show the results."""
    live = _own(code)
    following = 0 if live.phase == "lobby" else live.position + 1
    if live.phase == "results" or following >= live.n:
        live.choose(_differing(live, range(live.quiz.calibration, live.n)))
        live.to("results", live.n - 1)
    else:
        live.to("asked", following)


@access.needs(UserRole.LAUNCHER, "lead a class")
def show_answer(code: str) -> None:
    """Show the truth of the present question, and the sets if it is one that tests."""
    live = _own(code)
    if live.phase == "asked":
        m = live.quiz.calibration
        if live.position == m:
            live.choose(_differing(live, range(m)))
        live.to("shown", live.position)


def _differing(live: LiveClass, rows: range) -> int | None:
    """The alpha nearest to the present one at which the class's sets of these questions differ in size; None if there
    is none, or if the lecturer has chosen alpha."""
    if live.has_moved:
        return None
    p = class_figures.probabilities(class_figures.mean_shares(list(live.all_shares().values()), live.quiz), live.quiz)
    return class_figures.differing_alpha(p, live.quiz, live.score, rows=rows, near=live.alpha)


@access.needs(UserRole.LAUNCHER, "end a class")
def end_class(code: str) -> None:
    """End the class at once: nobody can join, answer or look at it from now on."""
    live = _own(code)
    live.to("ended", live.position)


@access.needs(UserRole.LAUNCHER, "free seats of a class")
def free_seats(code: str, seats: Sequence[int]) -> None:
    """Free seats with their names and answers, as of phones that have left.

    Raises :class:`InputError` unless all of them are taken.
    """
    live = _own(code)
    if not isinstance(seats, list | tuple) or any(type(seat) is not int for seat in seats):
        raise InputError("seats to free are a list of their numbers; reload the page")
    check_seats(live, seats)
    live.free(sorted(set(seats)))


@access.needs(UserRole.LAUNCHER, "allow seats of a class")
def allow_seats(code: str, most: int) -> None:
    """Let ``most`` seats of the class be taken from one network address.

    Raises :class:`InputError` for a number that can't be.
    """
    live = _own(code)
    if type(most) is not int or not 1 <= most <= SEATS:
        raise InputError(f"the seats of one network must be a whole number from 1 to {SEATS}, got {most!r:.20}")
    live.allow(most)


def move_alpha(code: str, *, alpha: int, score: str) -> None:
    """Take another alpha (thousandths) or score, ``lac`` or ``aps``.

    Raises :class:`InputError` for an alpha or a score that can't be.
    """
    access.check_quietly(UserRole.LAUNCHER, "lead a class")
    if score not in SCORES:
        raise InputError(f"unknown score {score!r:.20}; a class shows {' and '.join(SCORES)}")
    if type(alpha) is not int:
        raise InputError("alpha in thousandths must be a whole number from 1 to 999")
    _own(code).move(check_thousandths(alpha), score)


def led(code: str) -> LiveClass:
    """The class, if the actor may lead it.

    Raises :class:`~core.errors.AccessError` otherwise.
    """
    access.check_quietly(UserRole.LAUNCHER, "lead a class")
    return _own(code)


def _own(code: str) -> LiveClass:
    live = find(code)
    access.check_owner(live.owner, "lead this class", subject=live.code)
    return live


def check_seats(live: LiveClass, seats: Sequence[int]) -> None:
    """Raise :class:`InputError` unless all of these seats are taken."""
    for seat in seats:
        if seat not in live.seats:
            raise InputError(
                f"the class {live.code} has no seat {seat!r:.20}; choose one of the {len(live.seats)} that are taken"
            )
