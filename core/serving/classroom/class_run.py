"""A class's answers as runs, which every page opens like any other, and as a table. Names are left out unless asked."""

from typing import Any

import pandas as pd

from core import access
from core.access import UserRole
from core.errors import InputError
from core.exchange.imported import ImportedRun, fingerprint, save
from core.records import LETTERS, OptionLogits, Question, Role
from core.runs.spec import RunSpec
from core.runs.store import CLASSROOM
from core.serving.classroom import class_figures
from core.serving.classroom.lecture import check_seats, led
from core.serving.classroom.live_class import LiveClass
from core.serving.classroom.quiz import asked, given, scored


@access.needs(UserRole.LAUNCHER, "save a class as a run")
def save_class(code: str) -> tuple[str, ...]:
    """Store the class's mean as a run, and beside it the answers of its model, if it has one, to the same questions.

    Returns their ids, the class first. Raises :class:`InputError` before the quiz is over, or if nobody answered.
    """
    live = _finished(code)
    seats = list(live.all_shares().values())
    mean = class_figures.probabilities(class_figures.mean_shares(seats, live.quiz), live.quiz)
    about = {"seats": len(seats), "answers": sum(map(len, seats))}
    own = _run(live, f"class-{live.code.lower()}", asked(live.quiz), given(live.quiz, mean), about)
    if not live.quiz.has_answers:
        return tuple(save([own]))
    model = f"{live.quiz.model}-in-class-{live.code.lower()}"
    beside = _run(live, model, live.quiz.questions, scored(live.quiz), {"run": live.quiz.run_id})
    return tuple(save([own, beside]))


@access.needs(UserRole.LAUNCHER, "save a class as a run")
def save_seat(code: str, seat: int) -> str:
    """Store one seat's own answers as a run, under the seat's number, and return its id.

    Raises :class:`InputError` before the quiz is over, or if the seat has not answered.
    """
    live = _finished(code)
    check_seats(live, [seat])
    own = live.shares_of(seat)
    if not own:
        raise InputError(f"seat {seat} has not answered any question, so there is nothing to save; choose another seat")
    p = class_figures.probabilities(class_figures.mean_shares([own], live.quiz), live.quiz)
    about = {"seats": 1, "answers": len(own)}
    run = _run(live, f"class-{live.code.lower()}-seat-{seat}", asked(live.quiz), given(live.quiz, p), about)
    return save([run])[0]


@access.needs(UserRole.LAUNCHER, "export a class")
def answers_table(code: str, *, names: bool = False) -> pd.DataFrame:
    """A row for each answer: ``seat``, ``question`` (its id), ``role``, ``truth`` (a letter) and ``A …``, the shares
    in whole per cent. ``name`` is a column only if ``names`` asks for it.
    """
    live = led(code)
    quiz, rows = live.quiz, []
    for (seat, question), answer in sorted(live.answers.items()):
        quiz_question = quiz.questions[question]
        row: dict[str, Any] = {"seat": seat}
        if names:
            row["name"] = live.seats[seat].name
        row |= {"question": quiz_question.id, "role": _role(question, quiz.calibration), "truth": quiz_question.letter}
        rows.append(row | dict(zip(LETTERS, answer.shares, strict=False)))
    first = ["seat", *(["name"] if names else []), "question", "role", "truth"]
    return pd.DataFrame(rows, columns=[*first, *LETTERS[: quiz.k]])


def _finished(code: str) -> LiveClass:
    live = led(code)
    if live.phase != "results":
        raise InputError("a class becomes a run when its quiz is over; open the results first")
    if not live.answers:
        raise InputError("nobody has answered, so there is nothing to save; open a class that people join")
    return live


def _role(question: int, calibration: int) -> Role:
    return "calibration" if question < calibration else "test"


def _run(
    live: LiveClass, model: str, questions: tuple[Question, ...], answers: OptionLogits, about: dict[str, Any]
) -> ImportedRun:
    quiz = live.quiz
    figures = answers.logits if answers.probabilities is None else answers.probabilities
    spec = RunSpec(
        model=model,
        task=quiz.task,
        calibration_share=quiz.calibration / live.n,
        origin=CLASSROOM,
        fingerprint=fingerprint(figures.tobytes(), "".join(answers.ids).encode()),
    )
    return ImportedRun(
        spec=spec,
        questions=questions,
        roles=tuple(_role(i, quiz.calibration) for i in range(live.n)),
        scored=answers,
        provenance={"class": about, "bank": {"name": quiz.bank}},
    )
