"""One class in memory: who sits in it, what is asked, which answers there are, and who hears of changes.

The server that phones reach holds the class. Each change is first written to :mod:`core.serving.classroom.class_store`
and then taken over here, so that what was acknowledged survives the server; after a restart the class is read from
there.

Two numbers count the changes. ``news`` goes up with what phones show: the question, the truth, the results. ``counts``
goes up with what only the projector shows: who sits there and who has answered. Alpha is sent by itself, because it
moves often.
"""

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from core.access import quotas
from core.serving.classroom import class_store, refusals
from core.serving.classroom.class_figures import Shares
from core.serving.classroom.class_store import AnswerRow, ClassRow, SeatRow
from core.serving.classroom.codes import hash_of, read_code
from core.serving.classroom.refusals import ClassRefusal

Phase = Literal["lobby", "asked", "shown", "results", "ended"]
"""Before the first question; a question is open; its truth is shown; the quiz is over; the class is over."""

SEATS = 200
LONGEST_NAME = 40
NAME_MARKS = " .'’-_"
MOST_A_SECOND = 10
"""One seat may begin this many answers within a second; the next one is refused."""
HIGHEST_TURN = 10**9
GRACE_S = 15.0
"""An answer that was on its way when the truth was shown is accepted for this long; a phone takes no taps then."""
MOST_STREAMS = 3
"""The number of pages of one seat that receive changes at the same time."""


@dataclass(slots=True)
class Seat:
    """A seat in a class: its number from 1, its name, the network address of its phone while that is known, the last
    question whose truth its phone was sent, and when it last answered."""

    number: int
    name: str
    network: str = ""
    """Kept in memory alone, so that no file says from where somebody took part."""
    shown_until: int = -1
    """The last question whose truth was sent to this seat's phone; from then on its answer stays as it is."""
    streams: int = 0
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_A_SECOND))


class LiveClass:
    """A class that people sit in. All methods may be called from any thread."""

    def __init__(self, row: ClassRow, seats: Sequence[SeatRow] = (), answers: Sequence[AnswerRow] = ()) -> None:
        self.code, self.owner, self.quiz, self.ends = row.code, row.owner, row.quiz, row.ends
        self.phase: Phase = row.phase  # type: ignore[assignment]
        self.position, self.alpha, self.score = row.position, row.alpha, row.score
        self.seats = {seat.seat: Seat(seat.seat, seat.name) for seat in seats}
        self.answers = {(answer.seat, answer.question): answer for answer in answers}
        self.has_moved = row.phase != "lobby"
        """Whether the lecturer has chosen alpha, as far as it is known; after a restart he or she may have."""
        self.chosen = 0
        """The last alpha that was chosen by the class's answers; 0 for none."""
        self.most_per_address = 0
        """The number of seats that may be taken from one address; 0: as many as the server's limits say."""
        self.turned_away = 0
        """How many times a phone was refused because its address has as many seats."""
        self.shown_at: dict[int, float] = {}
        """When the truth of a question was shown, by the clock of :func:`time.monotonic`."""
        self.news = self.counts = 1
        self.listeners: list[Callable[[], None]] = []
        self._by_token = {seat.token: seat.seat for seat in seats}
        self.lock = threading.RLock()
        """Held while the class is changed or read as a whole."""

    # ------------------------------------------------------------ what it is like

    @property
    def is_over(self) -> bool:
        """Whether the class has ended, by its lecturer or after a day."""
        return self.phase == "ended" or time.time() >= self.ends

    @property
    def n(self) -> int:
        """The number of questions."""
        return len(self.quiz.questions)

    def shares_of(self, seat: int) -> Shares:
        """The seat's shares by question."""
        with self.lock:
            return {question: answer.shares for (owner, question), answer in self.answers.items() if owner == seat}

    def all_shares(self) -> dict[int, Shares]:
        """The shares by question of each seat that has answered anything."""
        by_seat: dict[int, dict[int, tuple[int, ...]]] = {}
        with self.lock:
            for (seat, question), answer in sorted(self.answers.items()):
                by_seat.setdefault(seat, {})[question] = answer.shares
        return dict(by_seat)

    def people(self) -> list[tuple[int, str, bool, bool]]:
        """Each seat's number and name, whether it has answered the present question, and whether its page is open."""
        with self.lock:
            return [
                (seat.number, seat.name, (seat.number, self.position) in self.answers, seat.streams > 0)
                for _, seat in sorted(self.seats.items())
            ]

    # ------------------------------------------------------------ what a phone does

    def join(self, token: str, name: str = "", network: str = "") -> int:
        """Take a seat for a phone's token at a network address and give its number; a phone that has one keeps it.

        Raises :class:`ClassRefusal` for a class that is over or full, an address with as many seats as one may have, a
        name that can't be, and an invalid token.
        """
        hashed = hash_of(token)
        with self.lock:
            self._check_open()
            if known := self._by_token.get(hashed):
                return known
            self._check_room(network)
            if len(self.seats) >= SEATS:
                raise ClassRefusal(
                    f"this class is full, all {SEATS} seats are taken; look at a neighbour's phone, or ask the "
                    "lecturer to open a second class",
                    403,
                )
            seat = Seat(next(n for n in itertools.count(1) if n not in self.seats), read_name(name), network)
            class_store.add_seat(self.code, SeatRow(seat.number, hashed, seat.name))
            self.seats[seat.number] = seat
            self._by_token[hashed] = seat.number
        self._tell(counts=True)
        return seat.number

    def _check_room(self, network: str) -> None:
        most = self.most_per_address or quotas.held().seats_per_address
        if network and sum(seat.network == network for seat in self.seats.values()) >= most:
            self.turned_away += 1
            self._tell(counts=True)
            raise ClassRefusal(
                f"{most} seats of this class are taken from your network, as many as it may have; ask the lecturer to "
                "allow more",
                403,
            )

    def seat_of(self, token: str) -> Seat:
        """The seat of a token.

        Raises :class:`ClassRefusal` if it has none here, or the class is over.
        """
        hashed = hash_of(token)
        with self.lock:
            self._check_open()
            if hashed not in self._by_token:
                raise ClassRefusal("this phone has no seat in this class; join it with the code on the projector", 401)
            return self.seats[self._by_token[hashed]]

    def answer(self, token: str, *, question: int, shares: Sequence[int], turn: int, now: float | None = None) -> None:
        """Take a seat's shares of a question, in whole per cent. The same answer may come twice, and an earlier
        ``turn`` changes nothing after a later one.

        Raises :class:`ClassRefusal` if the answer can't be taken.
        """
        now = time.monotonic() if now is None else now
        with self.lock:
            seat = self.seat_of(token)
            _check_rate(seat, now)
            self._check_answer(seat, question, shares, turn, now)
            known = self.answers.get((seat.number, question))
            if known and known.turn >= turn:
                return
            row = AnswerRow(seat.number, question, tuple(shares), turn)
            class_store.put_answer(self.code, row)
            self.answers[seat.number, question] = row
            is_late = question < self.position or self.phase != "asked"
        self._tell(counts=True, news=is_late)

    def _check_answer(self, seat: Seat, question: int, shares: Sequence[int], turn: int, now: float) -> None:
        if type(question) is not int or not 0 <= question < self.n:
            raise ClassRefusal(f"there is no such question; this quiz has the questions 1 to {self.n}")
        if self.phase == "lobby" or question > self.position:
            raise ClassRefusal(f"question {question + 1} has not been asked yet; wait for the lecturer", 409)
        if question <= seat.shown_until and now - self.shown_at.get(question, -GRACE_S) >= GRACE_S:
            raise ClassRefusal(
                f"the answer to question {question + 1} has been shown, so yours stays as it was; continue with the "
                "next question",
                409,
            )
        k = len(self.quiz.offered(self.quiz.questions[question]))
        if not isinstance(shares, list | tuple) or len(shares) != k or any(type(share) is not int for share in shares):
            raise ClassRefusal(f"an answer has {k} whole numbers, one for each option; tap the options again")
        if min(shares) < 0 or max(shares) > 100 or sum(shares) != 100:
            raise ClassRefusal(
                f"the shares of an answer lie between 0 and 100% and sum to 100%, got a sum of {sum(shares)}%; tap the "
                "options again"
            )
        if type(turn) is not int or not 0 <= turn <= HIGHEST_TURN:
            raise ClassRefusal("an answer counts its changes with a whole number; reload the page")

    # ------------------------------------------------------------ what phones have been told

    def attach(self, seat: Seat) -> None:
        """A page of the seat listens from now on.

        Raises :class:`ClassRefusal` if too many do.
        """
        with self.lock:
            if seat.streams >= MOST_STREAMS:
                raise ClassRefusal(f"this seat is open on {MOST_STREAMS} pages already; close one of them", 429)
            seat.streams += 1
        self._tell(counts=True)

    def detach(self, seat: Seat) -> None:
        """A page of the seat has been left."""
        with self.lock:
            seat.streams -= 1
        self._tell(counts=True)

    def note_shown(self, seat: Seat, *, position: int, truth: bool) -> None:
        """The phone of the seat was sent the question at ``position``, with its ``truth`` or without."""
        with self.lock:
            seat.shown_until = max(seat.shown_until, position if truth else position - 1)

    # ------------------------------------------------------------ what the lecturer does
    # (core.serving.classroom.lecture)

    def to(self, phase: Phase, position: int) -> None:
        """Go to another question or phase, for :mod:`core.serving.classroom.lecture`."""
        with self.lock:
            self._check_open()
            ends = time.time() if phase == "ended" else self.ends
            class_store.set_stage(
                self.code, phase=phase, position=position, alpha=self.alpha, score=self.score, ends=ends
            )
            self.phase, self.position, self.ends = phase, position, ends
            if phase == "shown":
                self.shown_at[position] = time.monotonic()
        self._tell(counts=True, news=True)

    def take_answers(self, logits: tuple[tuple[float, ...], ...]) -> None:
        """Take the model's logits, a row for each question."""
        with self.lock:
            self._check_open()
            quiz = self.quiz.answered(logits)
            class_store.set_quiz(self.code, quiz)
            self.quiz = quiz
        self._tell(news=True)

    def free(self, seats: Sequence[int]) -> None:
        """Free seats, with their names and answers; their phones can join again."""
        with self.lock:
            self._check_open()
            class_store.free_seats(self.code, seats)
            for seat in seats:
                del self.seats[seat]
            self.answers = {key: answer for key, answer in self.answers.items() if key[0] in self.seats}
            self._by_token = {token: seat for token, seat in self._by_token.items() if seat in self.seats}
        self._tell(counts=True, news=True)

    def allow(self, most: int) -> None:
        """Let ``most`` seats be taken from one network address."""
        with self.lock:
            self._check_open()
            self.most_per_address, self.turned_away = most, 0
        self._tell(counts=True)

    def choose(self, alpha: int | None) -> None:
        """Take the alpha that the class's answers choose, unless it is None; it is stored with the next phase."""
        with self.lock:
            self.chosen = alpha or 0
            self.alpha = alpha or self.alpha

    def move(self, alpha: int, score: str) -> None:
        """Take another alpha or score; they are stored with the next question."""
        with self.lock:
            self._check_open()
            self.has_moved |= alpha != self.alpha
            self.alpha, self.score = alpha, score
        self._tell()

    def _check_open(self) -> None:
        if self.is_over:
            raise refusals.over(self.code)

    def _tell(self, *, counts: bool = False, news: bool = False) -> None:
        with self.lock:
            self.news += news
            self.counts += counts or news
            listeners = tuple(self.listeners)
        for heard in listeners:
            heard()


def read_name(name: str) -> str:
    """A seat's name without spaces around it; it may be empty.

    Raises :class:`ClassRefusal` if it is too long, or has characters that no name has.
    """
    name = name.strip() if isinstance(name, str) else "\0"
    if len(name) > LONGEST_NAME:
        raise ClassRefusal(f"a name may have {LONGEST_NAME} characters, got {len(name)}; take a shorter one, or none")
    if not all(letter.isalnum() or letter in NAME_MARKS for letter in name):
        raise ClassRefusal("a name may have letters, digits, spaces and . ' - _; take another one, or none")
    return name


def _check_rate(seat: Seat, now: float) -> None:
    if len(seat.recent) == MOST_A_SECOND and now - seat.recent[0] < 1:
        raise ClassRefusal(f"this phone has sent {MOST_A_SECOND} answers in a second; wait a second and tap again", 429)
    seat.recent.append(now)


_held: dict[tuple[str, str], LiveClass] = {}
"""The classes that this server has read, by home and code."""
_finding = threading.Lock()


def find(code: str) -> LiveClass:
    """The class with this code, as a person typed it.

    Raises :class:`ClassRefusal` if there is none, or it is over.
    """
    code = read_code(code)
    with _finding:
        key = (str(class_store.path()), code)
        live = _held.get(key)
        if live is None:
            stored = class_store.read(code)
            if stored is None:
                raise refusals.no_class(code)
            live = LiveClass(*stored)
            if not live.is_over:
                _held[key] = live
    if live.is_over:
        raise refusals.over(code)
    return live


def delete_old(*, now: float) -> None:
    """Forget the classes that are over, and delete those that ended long enough before ``now`` for good."""
    with _finding:
        for gone in [key for key, held in _held.items() if held.is_over]:
            del _held[gone]
    class_store.delete_old(now=now)
