"""A class in memory and on disk: joining, answering, what is refused, and what survives a restart."""

import itertools
import time
from pathlib import Path

import numpy as np
import pytest

from app import lifespan
from core import access
from core.access import Actor, UserRole, quotas
from core.access.quotas import Quotas
from core.conformal.threshold import threshold
from core.errors import AccessError, InputError
from core.reports import evaluation
from core.reports.compare.common_options import on_common_options
from core.reports.report import report
from core.serving.classroom import (
    class_figures,
    class_run,
    class_state,
    class_store,
    guesses,
    lecture,
    live_class,
    quiz,
)
from core.serving.classroom.class_figures import mean_shares, sureness
from core.serving.classroom.live_class import SEATS, LiveClass
from core.serving.classroom.refusals import ClassRefusal

pytestmark = pytest.mark.quick

TOKENS = [f"{i:032x}" for i in range(SEATS + 1)]
SURE = [100, 0, 0, 0]


@pytest.fixture
def live(home: Path) -> LiveClass:
    return lecture.open_class(quiz.draw("qa", n=6, calibration=3, seed=1))


def answered(live: LiveClass, token: str, shares: list[int], *, question: int = 0, turn: int = 1) -> None:
    live.answer(token, question=question, shares=shares, turn=turn)


def test_the_first_question_is_answered_and_a_later_turn_counts(live: LiveClass):
    assert live.join(TOKENS[0], " Ada ") == 1
    assert live.join(TOKENS[0]) == 1  # a phone joins once, however often it asks
    lecture.ask_next(live.code)
    answered(live, TOKENS[0], SURE, turn=2)
    answered(live, TOKENS[0], [0, 100, 0, 0], turn=1)  # came late
    answered(live, TOKENS[0], SURE, turn=2)  # came twice
    assert live.all_shares() == {1: {0: (100, 0, 0, 0)}}
    assert live.people() == [(1, "Ada", True, False)]


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        ([50, 40, 0, 0], "sum to 100%, got a sum of 90%"),
        ([150, -50, 0, 0], "lie between 0 and 100%"),
        ([100], "4 whole numbers"),
        ([100, 0, 0, 0, 0, 0], "4 whole numbers"),  # as the model has them, with the two that are never right
        ([100.0, 0, 0, 0], "4 whole numbers"),
        ([True, 99, 0, 0], "4 whole numbers"),
        ("100", "4 whole numbers"),
        (None, "4 whole numbers"),
    ],
)
def test_shares_that_are_none(live: LiveClass, shares: list[int], sentence: str):
    live.join(TOKENS[0])
    lecture.ask_next(live.code)
    with pytest.raises(ClassRefusal, match=sentence):
        answered(live, TOKENS[0], shares)
    assert live.all_shares() == {}


def test_questions_that_can_not_be_answered(live: LiveClass):
    live.join(TOKENS[0])
    for question, sentence in (
        (0, "has not been asked yet"),
        (6, "no such question"),
        (-1, "no such"),
        ("0", "no such"),
    ):
        with pytest.raises(ClassRefusal, match=sentence):
            answered(live, TOKENS[0], SURE, question=question)  # type: ignore[arg-type]
    lecture.ask_next(live.code)
    with pytest.raises(ClassRefusal, match="counts its changes"):
        answered(live, TOKENS[0], SURE, turn=-1)


def test_an_answer_is_taken_until_its_phone_was_shown_the_truth_and_a_little_later(live: LiveClass):
    for token in TOKENS[:2]:
        live.join(token)
    lecture.ask_next(live.code)
    lecture.show_answer(live.code)
    live.note_shown(live.seat_of(TOKENS[0]), position=0, truth=True)
    answered(live, TOKENS[0], SURE)  # it was on its way
    live.shown_at[0] -= live_class.GRACE_S
    answered(live, TOKENS[1], SURE)  # this phone had no network
    with pytest.raises(ClassRefusal, match="has been shown, so yours stays as it was"):
        answered(live, TOKENS[0], SURE, turn=2)


def test_ten_answers_a_second_and_no_more(live: LiveClass):
    live.join(TOKENS[0])
    lecture.ask_next(live.code)
    for i in range(10):
        live.answer(TOKENS[0], question=0, shares=SURE, turn=i, now=50 + i / 100)
    with pytest.raises(ClassRefusal, match="10 answers in a second; wait a second"):
        live.answer(TOKENS[0], question=0, shares=SURE, turn=10, now=50.5)
    live.answer(TOKENS[0], question=0, shares=SURE, turn=10, now=51.01)


def test_an_address_takes_its_seats_and_the_lecturer_frees_some(live: LiveClass):
    quotas.hold(Quotas(seats_per_address=2))
    try:
        assert [live.join(TOKENS[i], "Ada", "192.0.2.1") for i in range(2)] == [1, 2]
        with pytest.raises(ClassRefusal, match=r"^2 seats of this class are taken from your network"):
            live.join(TOKENS[2], "Bob", "192.0.2.1")
        assert live.join(TOKENS[1], "", "192.0.2.1") == 2  # the phone has its seat
        assert live.join(TOKENS[3], "", "192.0.2.2") == 3
        assert live.join(TOKENS[4]) == 4  # of an unknown address
        shown = class_state.for_projector(live)
        assert (shown["networks"], shown["most"], shown["turned_away"]) == ([[1, 2], [3]], 2, 1)
    finally:
        quotas.hold(Quotas())
    lecture.ask_next(live.code)
    for token in (TOKENS[0], TOKENS[3]):
        live.answer(token, question=0, shares=SURE, turn=1)
    lecture.free_seats(live.code, [1, 4])
    assert live.all_shares() == {3: {0: tuple(SURE)}}
    assert [person[0] for person in live.people()] == [2, 3]
    with pytest.raises(ClassRefusal, match="has no seat"):
        live.seat_of(TOKENS[0])
    assert live.join(TOKENS[5], "Cy", "192.0.2.1") == 1  # the lowest number that is free
    assert live.shares_of(1) == {}
    live_class._held.clear()  # as after a restart
    again = live_class.find(live.code)
    assert [(person[0], person[1]) for person in again.people()] == [(1, "Cy"), (2, "Ada"), (3, "")]
    assert again.all_shares() == live.all_shares()
    lecture.allow_seats(live.code, 1)
    again.join(TOKENS[6], "", "192.0.2.9")
    with pytest.raises(ClassRefusal, match=r"^1 seats of this class"):
        again.join(TOKENS[7], "", "192.0.2.9")
    for seats in ([1, 99], "1", [True], [10**40], None):
        with pytest.raises(InputError):
            lecture.free_seats(live.code, seats)  # type: ignore[arg-type]
    for most in ("3", 0, 201, 10**40, True):
        with pytest.raises(InputError):
            lecture.allow_seats(live.code, most)  # type: ignore[arg-type]


def test_an_address_guesses_a_few_codes_and_then_one_at_a_time(live: LiveClass):
    guessed = ("XXX" + "".join(pair) for pair in itertools.product("BCDFGHJ", repeat=3))

    def guess(of: str, now: float, code: str = "") -> int:
        try:
            guesses.find_from(of, code or next(guessed), now=now)
        except ClassRefusal as error:
            return error.status
        return 200

    assert [guess("a", 100.0) for _ in range(guesses.MOST + 2)] == [404] * guesses.MOST + [429] * 2
    assert guess("a", 100.0, live.code) == 429
    assert guess("b", 100.0, live.code) == 200
    assert [guess("b", 100.0) for _ in range(guesses.MOST + 1)] == [404] * guesses.MOST + [429]
    assert guess("b", 100.0, live.code) == 200  # it is known there
    later = 100.0 + guesses.AGAIN_S
    assert [guess("a", later) for _ in range(2)] == [404, 429]
    assert guess("a", later + guesses.AGAIN_S, live.code) == 200
    # What is right costs nothing: nobody in a hall has to wait.
    assert [guess(f"n{i}", later, live.code) for i in range(3)] == [200] * 3
    assert guess("a", later + guesses.AGAIN_S) == 404
    lecture.end_class(live.code)
    assert guess("c", later, live.code) == 410


def test_a_hall_gets_in_beside_a_guesser_and_few_codes_are_looked_at(live: LiveClass, monkeypatch: pytest.MonkeyPatch):
    """In each second the guesser asks first, and then the phones whose turn it is; each phone asks every 10 s."""
    looked: list[str] = []
    find = live_class.find
    monkeypatch.setattr(live_class, "find", lambda code: (looked.append(code), find(code))[1])
    codes = ("".join(letters) for letters in itertools.product("BCDFGHJKMNPQRTVWXZ", repeat=6))
    wrong = (code for code in codes if code != live.code)

    def is_in(code: str, now: float) -> bool:
        try:
            return guesses.find_from("hall", code, now=now) is live
        except ClassRefusal:
            return False

    assert not any(is_in(next(wrong), 0.0) for _ in range(25))
    outside, second = set(range(200)), 0
    for second in range(1, 60):
        assert not any(is_in(code, second) for code in [next(wrong), "XXXXXX"])
        outside -= {phone for phone in outside if phone % 10 == second % 10 and is_in(live.code, second)}
        if not outside:
            break
    assert second <= 20
    assert len([code for code in looked if code != live.code]) <= guesses.MOST + second / guesses.AGAIN_S
    assert len(guesses._addresses["hall"].waiting) <= guesses.WAITING


def test_who_sits_in_a_class_or_leads_it_does_not_guess(live: LiveClass):
    live.join(TOKENS[0])
    live_class._held.clear()  # as after a restart

    def ask(of: str, token: str = "") -> int:
        try:
            return guesses.find_from(of, live.code, token, now=7.0).seat_of(token).number
        except ClassRefusal as error:
            return error.status

    for host in ("e", "f", "g"):
        for _ in range(guesses.MOST):
            with pytest.raises(ClassRefusal, match="there is no class"):
                guesses.find_from(host, "XXXXXX", now=7.0)
    assert [ask("e", token) for token in (TOKENS[1], "", TOKENS[0], TOKENS[1])] == [429, 429, 1, 401]
    guesses.know("f", live.code)
    assert [ask("f", TOKENS[1]), ask("g", TOKENS[1])] == [401, 429]


def test_the_201st_seat(live: LiveClass):
    for token in TOKENS[:SEATS]:
        live.join(token)
    with pytest.raises(ClassRefusal, match="all 200 seats are taken"):
        live.join(TOKENS[SEATS])


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a\nb", "\u202eevil", "x" * 41, 7, "a&b"])
def test_names_that_can_not_be(live: LiveClass, name: str):
    with pytest.raises(ClassRefusal, match=r"a name may have"):
        live.join(TOKENS[0], name)
    assert live.people() == []


@pytest.mark.parametrize("code", ["", "ABC", "AEIOUA", "BCDFGHJ", "../etc", "ＢＣＤＦＧＨ", "b" * 5000])
def test_codes_that_can_not_be(home: Path, code: str):
    with pytest.raises(ClassRefusal, match="is not the code of a class") as refused:
        live_class.find(code)
    assert refused.value.status == 404


def test_a_wrong_code_and_a_class_that_is_over(live: LiveClass):
    other = "BCDFGH" if live.code != "BCDFGH" else "BCDFGJ"
    with pytest.raises(ClassRefusal, match=f"there is no class {other} on this server"):
        live_class.find(other)
    live.join(TOKENS[0])
    lecture.end_class(live.code)
    for act in (lambda: live_class.find(live.code), lambda: live.join(TOKENS[1]), lambda: live.seat_of(TOKENS[0])):
        with pytest.raises(ClassRefusal, match="is over; ask the lecturer for the code of a new one") as refused:
            act()
        assert refused.value.status == 410


def test_a_class_ends_by_itself_after_a_day(live: LiveClass, monkeypatch: pytest.MonkeyPatch):
    later = time.time() + lecture.LASTS_S + 1
    monkeypatch.setattr(live_class.time, "time", lambda: later)
    with pytest.raises(ClassRefusal, match="is over"):
        live_class.find(live.code)


def test_a_class_is_deleted_a_week_after_its_end_though_nobody_opens_another(live: LiveClass):
    """The phone's page promises it. The server looks by itself, at its start and while it runs."""
    live.join(TOKENS[0], "Zuleika")
    lecture.end_class(live.code)
    week = class_store.KEPT_DAYS * 86_400
    live_class.delete_old(now=live.ends + week - 1)
    assert class_store.read(live.code) is not None
    class_store.set_stage(live.code, phase="ended", position=0, alpha=200, score="lac", ends=live.ends - week)
    lifespan.look_after()
    assert class_store.read(live.code) is None
    class_store.forget()  # as at the server's end, which empties the WAL
    assert b"Zuleika" not in class_store.path().read_bytes()


@pytest.mark.parametrize(("n", "alpha"), [(4, 334), (6, 250), (8, 200), (12, 200)])
def test_a_class_starts_at_an_alpha_that_its_questions_allow(home: Path, n: int, alpha: int):
    """With m that calibrate, 1/(m + 1) is the smallest: a third, a quarter, a fifth, a seventh."""
    live = lecture.open_class(quiz.draw("qa", n=n, calibration=n // 2, seed=1))
    assert live.alpha == alpha
    shown = class_state.for_phones(live)
    assert shown["alpha"] >= shown["smallest"]


def test_a_seat_s_token_opens_no_other_class(live: LiveClass):
    other = lecture.open_class(quiz.draw("qa", n=6, calibration=3, seed=2))
    live.join(TOKENS[0])
    for token in (TOKENS[0], TOKENS[1], "", "1", "é" * 32):
        with pytest.raises(ClassRefusal, match="has no seat"):
            other.seat_of(token)


def test_a_restarted_server_reads_the_class(live: LiveClass):
    live.join(TOKENS[0], "Ada")
    lecture.ask_next(live.code)
    answered(live, TOKENS[0], SURE)
    live_class._held.clear()
    again = live_class.find(live.code)
    assert again is not live
    assert (again.quiz, again.phase, again.position) == (live.quiz, "asked", 0)
    assert again.all_shares() == live.all_shares()
    assert again.join(TOKENS[0]) == 1


def test_a_viewer_and_another_launcher_lead_nothing(live: LiveClass):
    access.serve("login")
    try:
        for who in (Actor("vera", UserRole.VIEWER), Actor("lars", UserRole.LAUNCHER)):
            with access.acting_as(who):
                for act in (lecture.ask_next, lecture.show_answer, lecture.end_class, class_run.answers_table):
                    with pytest.raises(AccessError):
                        act(live.code)
                with pytest.raises(AccessError):
                    lecture.move_alpha(live.code, alpha=300, score="lac")
        with access.acting_as(Actor("vera", UserRole.VIEWER)), pytest.raises(AccessError):
            lecture.open_class(live.quiz)
    finally:
        access.serve("local")


@pytest.mark.parametrize(("alpha", "score"), [(0, "lac"), (1000, "lac"), ("200", "lac"), (True, "lac"), (200, "raps")])
def test_an_alpha_or_score_that_can_not_be(live: LiveClass, alpha: int, score: str):
    with pytest.raises(InputError):
        lecture.move_alpha(live.code, alpha=alpha, score=score)
    assert (live.alpha, live.score) == (250, "lac")  # as it was opened


@pytest.mark.parametrize(("n", "m"), [(3, 2), (41, 6), (12, 1), (12, 11)])
def test_a_quiz_that_can_not_be(home: Path, n: int, m: int):
    with pytest.raises(InputError, match="a quiz has from 4 to 40 questions"):
        quiz.draw("qa", n=n, calibration=m)


def taught(live: LiveClass) -> None:
    """Two seats answer all questions: one is always right and sure, the other shares between the truth and the next."""
    for token in TOKENS[:2]:
        live.join(token, "Ada")
    for i, question in enumerate(live.quiz.questions):
        lecture.ask_next(live.code)
        live.answer(TOKENS[0], question=i, shares=[100 * (j == question.label) for j in range(4)], turn=i, now=float(i))
        half = [50 * (j in (question.label, (question.label + 1) % 4)) for j in range(4)]
        live.answer(TOKENS[1], question=i, shares=half, turn=i, now=float(i))
        lecture.show_answer(live.code)
    lecture.ask_next(live.code)


def test_the_class_becomes_a_run_whose_figures_are_those_of_the_projector(live: LiveClass):
    with pytest.raises(InputError, match="when its quiz is over"):
        class_run.save_class(live.code)
    taught(live)
    assert live.phase == "results"
    shown = class_state.for_phones(live)
    own, model = class_run.save_class(live.code)
    assert class_run.save_class(live.code) == (own, model)  # the same answers are one run
    for run_id, side in ((own, "class"), (model, "model")):
        run = evaluation.load(run_id)
        figures = report(run, 300)
        assert run.ids[run.calibration].tolist() == [q.id for q in live.quiz.questions[:3]]
        assert figures.accuracy == pytest.approx(shown["right"][side] / 3)
        for name, scores in shown["scores"][side].items():
            q = threshold(np.array(scores["calibration"]), 300)
            members = np.array(scores["test"]) <= q
            assert figures.scores[name].threshold == q
            assert figures.scores[name].coverage == members[np.arange(3), shown["truths"]].mean()
            assert figures.scores[name].mean_set_size == members.sum(axis=1).mean()
    text = "".join(
        path.read_text(errors="replace") for path in (live_class.class_store.path().parent / "runs").rglob("*.json")
    )
    assert "Ada" not in text
    seat = class_run.save_seat(live.code, 2)
    assert set(evaluation.load(seat).probabilities.ravel()) <= {0.0, 0.5, 0.25}  # halves, and no answer
    with pytest.raises(InputError, match="has no seat 3"):
        class_run.save_seat(live.code, 3)


def test_names_are_exported_only_if_asked(live: LiveClass):
    taught(live)
    plain, named = class_run.answers_table(live.code), class_run.answers_table(live.code, names=True)
    assert list(plain) == ["seat", "question", "role", "truth", *"ABCD"]
    assert list(named)[:2] == ["seat", "name"]
    assert len(plain) == 12
    assert plain["role"].tolist()[:6] == ["calibration"] * 3 + ["test"] * 3
    assert (plain[[*"ABCD"]].sum(axis=1) == 100).all()


def test_what_is_not_yet_known_is_not_told(live: LiveClass):
    """No truth before it is shown, and nothing of questions that have not been asked."""
    live.join(TOKENS[0])
    assert {"truth", "scores", "question"}.isdisjoint(class_state.for_phones(live))
    for i in range(live.n):
        lecture.ask_next(live.code)
        assert {"truth", "scores", "shares"}.isdisjoint(class_state.for_phones(live))
        lecture.show_answer(live.code)
        shown = class_state.for_phones(live)
        assert shown["truth"] == live.quiz.questions[i].label
        if i >= live.quiz.calibration:
            assert [len(part["test"]) for side in shown["scores"].values() for part in side.values()] == [1] * 4
        else:
            assert "scores" not in shown
    assert shown["shares"]["class"] is None  # nobody answered


def test_sureness_by_hand(home: Path):
    """Two answers: 80% on the truth, and two equal halves with the truth in one, which counts one half."""
    drawn_quiz = quiz.draw("qa", n=4, calibration=2, seed=1)
    first, second = (q.label for q in drawn_quiz.questions[:2])
    shares = {0: tuple(80 if j == first else 20 if j == (first + 1) % 4 else 0 for j in range(4))}
    shares[1] = tuple(50 * (j in (second, (second + 1) % 4)) for j in range(4))
    confidence = sureness([shares], drawn_quiz)
    assert (confidence.answers, confidence.sure, confidence.right) == (2, 65.0, 1.5)
    assert [(group.answers, group.right) for group in confidence.groups] == [(0, 0.0), (1, 0.5), (1, 1.0), (0, 0.0)]
    mean = mean_shares([shares, {0: (0, 0, 0, 100)}], drawn_quiz)
    assert mean[0].sum() == 100
    assert np.isnan(mean[2]).all()
    p = class_figures.probabilities(mean, drawn_quiz)
    assert p[2].tolist() == [1 / 4] * 4
    assert p[1].tolist() == [share / 100 for share in shares[1]]


def test_people_are_offered_what_can_be_right_and_the_model_chooses_among_two_more(live: LiveClass):
    live.join(TOKENS[0])
    lecture.ask_next(live.code)
    asked = class_state.for_phones(live)["question"]
    assert asked["added"] == ["I don't know", "None of the above"]
    assert len(asked["options"]) == 4
    taught(live)
    shown = class_state.for_phones(live)
    assert [len(shown["scores"][side]["lac"]["test"][0]) for side in ("class", "model")] == [4, 6]
    own, model = class_run.save_class(live.code)
    runs = [evaluation.load(run_id) for run_id in (own, model)]
    assert [run.k for run in runs] == [4, 6]
    # Compare leaves the two out of the model's, because a set of six options is not comparable with one of four.
    rows = [run.test for run in runs]
    assert [run.k for run in on_common_options(runs, rows)[0]] == [4, 4]


def test_a_class_of_an_earlier_version_offers_all_six_options(live: LiveClass):
    values = live.quiz.to_json()
    del values["offers_added"]
    earlier = quiz.Quiz.from_json(values)
    assert (earlier.k, live.quiz.k) == (6, 4)
    again = quiz.Quiz.from_json(live.quiz.to_json())
    assert again == live.quiz


def sizes(live: LiveClass, rows: range, alpha: int) -> set[int]:
    """The sizes of the class's sets of some questions."""
    p = class_figures.probabilities(mean_shares(list(live.all_shares().values()), live.quiz), live.quiz)
    own = class_figures.scores(p, live.quiz, rows=rows)["lac"]
    return set((np.array(own["test"]) <= threshold(np.array(own["calibration"]), alpha)).sum(axis=1))


def led_to_the_end(live: LiveClass, truth_gets: list[int]) -> None:
    """One seat gives the truth so much of each question, and the next option the rest."""
    live.join(TOKENS[0])
    for i, (question, share) in enumerate(zip(live.quiz.questions, truth_gets, strict=True)):
        lecture.ask_next(live.code)
        row = [share if j == question.label else 100 - share if j == (question.label + 1) % 4 else 0 for j in range(4)]
        live.answer(TOKENS[0], question=i, shares=row, turn=1, now=float(i))
        lecture.show_answer(live.code)


def test_a_class_s_alpha_is_the_nearest_whose_sets_differ(live: LiveClass):
    """Three calibrate, so thresholds exist from 1/4. By hand: their scores 1 − share are 0.1, 0.4 and 0.7. The largest
    one (alpha 0.25) leaves both options in the sets of 60% and 30%, and one in that of 90%: the sets differ at once.
    """
    led_to_the_end(live, [90, 60, 30, 100, 100, 55])
    assert (live.alpha, live.chosen) == (250, 250)
    assert sizes(live, range(3), 250) == {1, 2}
    lecture.ask_next(live.code)
    assert class_state.for_phones(live)["chosen"] == 250
    assert sizes(live, range(3, 6), live.alpha) == {1, 2}


def test_alpha_goes_further_where_all_sets_are_alike(live: LiveClass):
    """Scores 0.55, 0.7 and 1: at 0.25 the threshold is 1 and every set is full. From 0.5 on it is 0.7, with which the
    first two sets hold both of their options, and the third one its only one."""
    led_to_the_end(live, [45, 30, 0, 100, 45, 55])
    assert sizes(live, range(3), 250) == {4}
    assert (live.alpha, live.chosen) == (500, 500)
    lecture.move_alpha(live.code, alpha=300, score="lac")
    lecture.ask_next(live.code)
    assert (live.phase, live.alpha) == ("results", 300)  # what the lecturer has chosen stays


@pytest.mark.parametrize("shares", [None, [100] * 6])
def test_alpha_stays_where_no_sets_differ(live: LiveClass, shares: list[int] | None):
    """Nobody has answered, or everything is certain and right."""
    if shares:
        led_to_the_end(live, shares)
    else:
        for _ in range(live.n):
            lecture.ask_next(live.code)
            lecture.show_answer(live.code)
    lecture.ask_next(live.code)
    assert (live.phase, live.alpha, live.chosen) == ("results", 250, 0)


def test_what_the_diagram_says_is_what_its_bins_hold(home: Path):
    """Ten people say 90% of twelve questions, and half of the answers of each person are right."""
    drawn = quiz.draw("qa", n=12, calibration=6, seed=1)

    def answer(question: int, is_right: bool) -> tuple[int, ...]:
        said = (drawn.questions[question].label + (not is_right)) % 4
        return tuple(90 if j == said else 10 if j == (said + 1) % 4 else 0 for j in range(4))

    seats = [{q: answer(q, (q + person) % 2 == 0) for q in range(12)} for person in range(10)]
    told = sureness(seats, drawn)
    group = told.groups[-1]
    assert (told.people, told.questions, group.answers, group.sure, group.right) == (10, 12, 120, 90.0, 60.0)
    assert group.low is not None
    assert group.high is not None
    assert 30 < group.low < 50 < group.high < 70
    assert told.finding == (
        f"When the class said 90%, it was right 50% of the time (n = 120, 95% interval {round(group.low)} to "
        f"{round(group.high)}%): overconfident."
    )
    # All ten answer alike: they are worth twelve answers, and those of one person have no interval.
    alike = sureness([seats[0]] * 10, drawn)
    wide = alike.groups[-1]
    assert (wide.high or 0) - (wide.low or 100) > 1.3 * (group.high - group.low)
    alone = sureness(seats[:1], drawn)
    assert (alone.groups[-1].low, alone.groups[-1].high) == (None, None)
    assert alone.finding == "Can't tell: 12 answers of 1 people are too few for a diagram."
