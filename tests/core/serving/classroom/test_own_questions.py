"""A class with a lecturer's own questions, from its start to the results that she takes home."""

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest

from core import access
from core.access import Actor, UserRole
from core.errors import AccessError, InputError
from core.questions import local_file
from core.questions.local_file import BankFile
from core.records import Question
from core.reports import evaluation
from core.runs import engine
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from core.serving.classroom import class_results, class_run, class_state, lecture, live_class, own_questions
from core.serving.classroom.live_class import LiveClass

pytestmark = pytest.mark.quick

TOKENS = [f"{i:032x}" for i in range(3)]
TEXT = """
Which planet is the nearest to the sun? {~Venus =Mercury ~Earth ~Mars}

=1+1 is 2. {T}

Which is a prime number?
4
*5

Which of these is <red>? {~Grass =Blood ~Snow}
"""


def bank(text: str = TEXT) -> BankFile:
    return local_file.read_typed(text, own_questions.TYPED)


def questions() -> tuple[Question, ...]:
    return bank().questions


@pytest.fixture
def live(home: Path) -> LiveClass:
    return lecture.open_class(own_questions.own_quiz(questions(), name="own", n=4, calibration=2, seed=3))


def shares_of(question: Question, *, right: int) -> list[int]:
    """``right`` per cent for the right option, the rest for the next one."""
    shares = [0] * len(question.options)
    shares[question.label], shares[question.label - 1] = right, 100 - right
    return shares


def taught(live: LiveClass, rights: tuple[int, ...], *, names: tuple[str, ...] = ("Ada", "-2 - Bob")) -> None:
    """Each seat gives the right option of every question the same share."""
    for token, name in zip(TOKENS, names, strict=False):
        live.join(token, name)
    for i, question in enumerate(live.quiz.questions):
        lecture.ask_next(live.code)
        for token, right in zip(TOKENS, rights, strict=False):
            live.answer(token, question=i, shares=shares_of(question, right=right), turn=1)
        lecture.show_answer(live.code)
    lecture.ask_next(live.code)


def test_a_class_without_a_model_is_shown_alone_and_no_phone_is_told_an_answer(live: LiveClass):
    live.join(TOKENS[0])
    for i, question in enumerate(live.quiz.questions):
        lecture.ask_next(live.code)
        state = class_state.for_phones(live)
        assert state["question"]["options"] == list(question.options)
        assert state["model"] == ""
        assert {"truth", "scores", "shares"}.isdisjoint(state)
        sent = json.dumps([state, class_state.of_seat(live, 1)])
        assert not any(word in sent for word in ("label", *(q.question for q in live.quiz.questions[i + 1 :])))
        live.answer(TOKENS[0], question=i, shares=shares_of(question, right=80), turn=1)
        lecture.show_answer(live.code)
        shown = class_state.for_phones(live)
        assert list(shown["shares"]) == ["class"]
        assert shown["shares"]["class"] == shares_of(question, right=80)
    lecture.ask_next(live.code)
    state = class_state.for_phones(live)
    json.dumps(state, allow_nan=False)
    assert list(state["scores"]) == list(state["right"]) == ["class"]
    assert state["right"]["class"] == 2
    assert [len(row) for row in state["scores"]["class"]["lac"]["test"]] == [
        len(q.options) for q in live.quiz.questions[2:]
    ]
    (saved,) = class_run.save_class(live.code)
    assert evaluation.load(saved).probabilities.max(axis=1).tolist() == [0.8] * 4


def rows_of(content: bytes) -> dict[str, dict[str, str]]:
    return {row["seat"]: row for row in csv.DictReader(io.StringIO(content.decode()))}


def test_the_results_are_a_row_for_each_person(live: LiveClass):
    taught(live, (80, 50))
    rows = rows_of(class_results.results_file(live.code, "csv"))
    assert list(rows) == ["right answer", "1", "2", "class"]
    assert "name" not in rows["1"]
    ada, bob, everyone = rows["1"], rows["2"], rows["class"]
    first = live.quiz.questions[0]
    right_text = first.options[first.label]
    assert rows["right answer"]["answer 1"].lstrip("'") == ada["answer 1"].lstrip("'") == right_text
    assert set(bob["answer 1"].split(" or ")) == {right_text, first.options[first.label - 1]}
    assert (ada["answers"], float(ada["right"]), float(ada["accuracy"])) == ("4", 4, 1)
    assert (float(ada["mean_confidence"]), float(ada["confidence 4"]), float(ada["right 4"])) == (0.8, 0.8, 1)
    assert float(ada["brier"]) == pytest.approx(0.2**2 + 0.2**2)
    assert (float(bob["accuracy"]), float(bob["brier"])) == (0.5, 0.5)  # two equal options count half each
    assert float(everyone["brier"]) == pytest.approx(2 * 0.35**2)  # of the mean of 80% and 50%


def test_the_results_during_a_class_have_the_questions_whose_answer_was_shown(live: LiveClass):
    live.join(TOKENS[0], "Ada")
    assert list(rows_of(class_results.results_file(live.code, "csv"))) == ["right answer", "class"]
    lecture.ask_next(live.code)
    live.answer(TOKENS[0], question=0, shares=shares_of(live.quiz.questions[0], right=100), turn=1)
    assert "answer 1" not in rows_of(class_results.results_file(live.code, "csv"))["1"]
    lecture.show_answer(live.code)
    row = rows_of(class_results.results_file(live.code, "csv"))["1"]
    assert (row["answers"], float(row["brier"]), "answer 2" in row) == ("1", 0, False)


def test_names_and_texts_are_no_formulas(live: LiveClass):
    taught(live, (80, 100))
    rows = rows_of(class_results.results_file(live.code, "csv", names=True))
    assert (rows["1"]["name"], rows["2"]["name"]) == ("Ada", "'-2 - Bob")
    content = class_results.results_file(live.code, "xlsx", names=True)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        texts = "".join(archive.read(name).decode() for name in archive.namelist() if "sheet" in name)
    assert '<t xml:space="preserve">\'=1+1 is 2.</t>' in texts
    assert "<red>" not in texts
    assert "Ada" in texts
    assert b"Ada" not in class_results.results_file(live.code, "csv")
    with zipfile.ZipFile(io.BytesIO(class_results.results_file(live.code, "xlsx"))) as archive:
        assert not any(b"Ada" in archive.read(name) for name in archive.namelist())


def test_a_freed_seat_is_in_no_table_and_another_person_gets_none(live: LiveClass):
    taught(live, (80, 100))
    lecture.free_seats(live.code, [1])
    assert "1" not in rows_of(class_results.results_file(live.code, "csv"))
    access.serve("login")
    try:
        with access.acting_as(Actor("lars", UserRole.LAUNCHER)), pytest.raises(AccessError):
            class_results.results_file(live.code, "csv")
    finally:
        access.serve("local")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Q?\n*a\nb\n", "^a class needs at least 4 questions, got 1; write more$"),
        (
            TEXT + "\n" + "x" * 1501 + "\n*a\nb\n",
            "the question 'x.*' has 1,501 characters, and a phone shows up to 1,500",
        ),
        (TEXT + "\nQ?\n*a\n" + "x" * 301 + "\n", "the option 'x.*' of 'Q\\?' has 301 characters"),
        (TEXT + "\nQ?\n*a\nb\n\nQ?\nb\n*a\n", "the question 'Q\\?' is there twice"),
    ],
)
def test_questions_that_a_class_can_t_ask(text: str, sentence: str):
    with pytest.raises(InputError, match=sentence):
        own_questions.own_quiz(bank(text).questions, name="own", n=4, calibration=2, seed=1)


def test_a_file_is_named_in_errors_as_the_lecturer_knows_it(tmp_path: Path):
    path = tmp_path / "upload"
    path.write_text("Q? {=a ~b}\n\nR? {=a ~a}")
    with pytest.raises(InputError, match=r"^week 1\.gift: line 3: 'R\?' has the option 'a' twice"):
        own_questions.read_file(path, "week 1.gift")
    path.write_text("question,A,B,label\nQ?,x,y,A\nR?,x,y,B\n")
    assert [q.id for q in own_questions.read_file(path, "week 1.csv").questions] == ["week-1-1", "week-1-2"]


def test_a_class_takes_the_answers_of_its_model_s_run_when_it_has_finished(
    fake_home: Path, monkeypatch: pytest.MonkeyPatch
):
    """The run is executed here. In tests/browser/test_classroom.py it waits in the queue before."""
    submitted: list[RunSpec] = []
    monkeypatch.setattr(engine, "submit", lambda spec: submitted.append(spec) or spec.run_id)
    drawn = own_questions.own_quiz(questions(), name="own", n=4, calibration=2, seed=3)
    live = lecture.open_class(own_questions.with_model(drawn, "fake"))
    taught(live, (80, 50))
    assert class_state.for_phones(live)["model"] == ""
    execute(submitted[0])
    assert own_questions.take_answers(live) is None
    state = class_state.for_phones(live)
    assert state["model"] == "fake"
    assert list(state["scores"]) == ["class", "model"]
    json.dumps(state, allow_nan=False)
    p = evaluation.load(submitted[0].run_id)
    by_id = dict(zip(p.ids, p.probabilities, strict=True))
    for question, row in zip(live.quiz.questions, live.quiz.probabilities, strict=True):
        assert row[: len(question.options)] == pytest.approx(by_id[question.id][: len(question.options)])
    live_class._held.clear()  # as after a restart
    assert live_class.find(live.code).quiz == live.quiz
    assert rows_of(class_results.results_file(live.code, "csv"))["fake"]["answers"] == "4"
    assert len(class_run.save_class(live.code)) == 2


def test_a_public_server_starts_no_run_for_a_class(home: Path):
    drawn = own_questions.own_quiz(questions(), name="own", n=4, calibration=2, seed=3)
    access.serve("public")
    try:
        with access.acting_as(Actor("lecturer", UserRole.LAUNCHER)), pytest.raises(AccessError, match="starts no runs"):
            own_questions.with_model(drawn, "pocket-8m")
    finally:
        access.serve("local")
