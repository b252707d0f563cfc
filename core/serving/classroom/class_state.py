"""The state of a class for phones and the projector, as JSON. What one phone alone may know is in :func:`of_seat`."""

from dataclasses import asdict
from typing import Any

import numpy as np

from core.access import quotas
from core.records import Question
from core.serving.classroom import class_figures
from core.serving.classroom.live_class import LiveClass
from core.serving.classroom.quiz import Quiz

TRUTH_KNOWN = ("shown", "results")


def for_phones(live: LiveClass) -> dict[str, Any]:
    """What every phone and the projector show: the question, and once it is shown, the truth and the sets."""
    quiz = live.quiz
    shown: dict[str, Any] = {
        "code": live.code,
        "phase": live.phase,
        "position": live.position,
        "n": live.n,
        "calibration": quiz.calibration,
        "model": quiz.model if quiz.has_answers else "",
        "score": live.score,
        "alpha": live.alpha,
        "chosen": live.chosen,
        "smallest": smallest_alpha(quiz.calibration),
    }
    if live.phase in ("asked", "shown"):
        question = quiz.questions[live.position]
        offered = quiz.offered(question)
        shown["question"] = {
            "context": question.context,
            "question": question.question,
            "options": list(offered),
            "added": _added(quiz, question),
        }
    if live.phase in TRUTH_KNOWN:
        seats = live.all_shares()
        mean = class_figures.mean_shares(list(seats.values()), quiz)
        probabilities = {"class": class_figures.probabilities(mean, quiz)}
        probabilities |= {"model": quiz.probabilities} if quiz.has_answers else {}
        rows = tested(live)
        if rows:
            shown["scores"] = {
                side: class_figures.scores(values, quiz, rows=rows) for side, values in probabilities.items()
            }
        shown |= _shown(live, mean) if live.phase == "shown" else _results(live, probabilities, seats)
    return shown


def tested(live: LiveClass) -> range:
    """The questions whose sets may be seen now: the one that is shown if it tests, and at the end all that test."""
    if live.phase == "results":
        return range(live.quiz.calibration, live.n)
    is_seen = live.phase == "shown" and live.position >= live.quiz.calibration
    return range(live.position, live.position + is_seen)


def smallest_alpha(m: int) -> int:
    """The smallest alpha, in thousandths, at which m calibration questions give a threshold: below it every set holds
    every option.

    >>> smallest_alpha(6)
    143
    """
    return -(-1000 // (m + 1))


def _shown(live: LiveClass, mean: Any) -> dict[str, Any]:
    """The truth of the present question, and what the class and the model said, in whole per cent."""
    position, quiz = live.position, live.quiz
    question = quiz.questions[position]
    shares = {"class": mean[position, : len(quiz.offered(question))]}
    if quiz.has_answers:
        shares["model"] = 100 * quiz.probabilities[position, : len(question.options)]
    return {
        "truth": question.label,
        "shares": {
            side: None if np.isnan(values).any() else np.round(values).astype(int).tolist()
            for side, values in shares.items()
        },
        "answers": sum(1 for seat, question in live.answers.copy() if question == position),
    }


def _results(live: LiveClass, probabilities: dict[str, Any], seats: dict[int, Any]) -> dict[str, Any]:
    quiz = live.quiz
    last = quiz.questions[quiz.calibration :]
    everyone = class_figures.sureness(list(seats.values()), quiz)
    return {
        "truths": [q.label for q in last],
        "asked": [{"question": q.question, "options": q.options} for q in last],
        "added": _added(quiz, last[0]),
        "right": {side: class_figures.right_of(values, quiz) for side, values in probabilities.items()},
        "sureness": {
            "everyone": asdict(everyone),
            "finding": everyone.finding,
            "model": asdict(class_figures.model_sureness(quiz)) if quiz.has_answers else None,
        },
        "seats": len(seats),
    }


def _added(quiz: Quiz, question: Question) -> list[str]:
    """The options that the model alone may choose."""
    return list(question.options[len(quiz.offered(question)) :])


def for_projector(live: LiveClass) -> dict[str, Any]:
    """Who sits in the class and who has answered; ``people`` are number, name, answered, page open. ``networks`` are
    the seats of each network address (``most`` are allowed); ``turned_away`` phones got none."""
    people = live.people()
    networks: dict[str, list[int]] = {}
    for seat in live.seats.copy().values():
        if seat.network:
            networks.setdefault(seat.network, []).append(seat.number)
    return {
        "networks": list(networks.values()),
        "most": live.most_per_address or quotas.held().seats_per_address,
        "turned_away": live.turned_away,
        "people": [list(person) for person in people],
        "joined": len(people),
        "answered": sum(person[2] for person in people),
    }


def of_seat(live: LiveClass, seat: int) -> dict[str, Any]:
    """The state for one seat's phone, once truths are known: its own scores, and at the end its calibration."""
    quiz, own = live.quiz, live.shares_of(seat)
    known = live.position + (live.phase in TRUTH_KNOWN)
    own = {question: shares for question, shares in own.items() if question < known}
    state: dict[str, Any] = {"seat": seat, "name": live.seats[seat].name, "answers": len(own)}
    if rows := tested(live):
        values = class_figures.probabilities(class_figures.mean_shares([own], quiz), quiz)
        state["scores"] = class_figures.scores(values, quiz, rows=rows)
    if live.phase == "results":
        state["sureness"] = asdict(class_figures.sureness([own], quiz))
    return state
