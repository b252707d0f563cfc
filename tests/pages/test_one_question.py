"""One question of a run: its options, its sets, and the way from one to the next."""

from dataclasses import replace

import pytest

from core.conformal.scores import SCORE_NAMES, SCORES
from core.records import DONT_KNOW, Question
from core.reports import evaluation
from core.reports.one_question import bench, first_shown, standings
from core.reports.scored_sets import form
from core.runs import store
from tests.conftest import classifier_run, synthetic_questions, synthetic_run
from tests.pages.conftest import Open, click, page_text, pick, sent


def test_a_question_whose_letters_are_no_answer_has_no_set(open_page: Open):
    run_id, other = synthetic_run(n=40), synthetic_run(n=40, model="other")
    scored = store.read_logits(run_id)
    mass = scored.letter_mass.copy()
    mass[27] = 0.0004
    tops = ("<think>",) * 40
    store.write_logits(store.folder_of(run_id), replace(scored, letter_mass=mass, top_tokens=tops))
    app = open_page("one_question", run=run_id, question=scored.ids[27])
    (warning,) = app.warning
    assert warning.value.replace("\\", "") == (
        "No answer, so there is no set: the letters of the options have 0.04% of the next token's probability; the "
        "most probable token is “<think>”."
    )
    assert not sent(app, "question")
    app.button[1].click().run()  # the next question has its set
    assert not app.warning
    assert sent(app, "question")["scores"]
    there = open_page("one_question", run=other, question=scored.ids[27])
    there.session_state["other_runs"] = True  # unfolded
    assert "In 1 other run, the letters are no answer to this question" in page_text(there.run())


@pytest.mark.usefixtures("in_messages")
def test_a_question_of_a_link_with_its_p_values(open_page: Open):
    run = evaluation.load(synthetic_run(n=40))
    row = int(run.test[7])
    app = open_page("one_question", run=run.run_id, question=str(run.ids[row]), alpha="200", bars="aps")
    assert not app.warning
    assert app.number_input(key="question_number").value == 8
    assert "Which option of question 27 is right?" in app.subheader[0].value.replace("\\", "")
    data = sent(app, "question")
    assert (data["alpha"], data["bars"], data["empty"]) == (200, "aps", "allow")
    assert data["truth"] == run.labels[row]
    assert data["options"][4] == DONT_KNOW
    by = bench(run)
    expected_standings = standings(by, run.probabilities[row], place=row)
    for standing, expected in zip(data["scores"], expected_standings, strict=True):
        assert standing["name"] == expected.name
        assert standing["counts"] == expected.counts.tolist()
        assert standing["n"] == expected.n
        assert data["thresholds"][standing["name"]] == by.scores[standing["name"]].thresholds().tolist()
    assert [standing["badge"] for standing in data["scores"]] == [
        "not tuned" if score.tuned else "" for score in map(SCORES.get, SCORE_NAMES)
    ]


def test_the_options_in_full_at_the_alpha_of_the_link(open_page: Open):
    run = evaluation.load(synthetic_run(n=40))
    row = int(run.test[0])
    app = open_page("one_question", run=run.run_id, question=str(run.ids[row]), alpha="300", bars="margin")
    shown = app.dataframe[0].value
    margin = standings(bench(run), run.probabilities[row], place=row)[list(SCORES).index("margin")]
    assert shown["p_value"].tolist() == margin.p_values.tolist()
    assert shown["member"].tolist() == ["in" if inside else "out" for inside in margin.members(300)]
    assert shown["truth"].tolist().index("truth") == run.labels[row]
    assert "The Margin score is best other p − p" in page_text(app)


def test_the_same_question_in_other_runs(open_page: Open):
    first, second = synthetic_run(40, model="one"), synthetic_run(40, model="two", signal=3)
    synthetic_run(60, model="calibrates q25")
    app = open_page("one_question", run=first, question="q25")
    assert "The same question in 1 other run" in [folded.label for folded in app.expander]
    app.session_state["other_runs"] = True
    app.run()
    rows = sent(app, "runs")["runs"]
    assert [row["run"] for row in rows] == [first, second]
    assert [row["here"] for row in rows] == [True, False]
    assert f"run={second}" in rows[1]["href"]
    assert "question=q25" in rows[1]["href"]
    run = evaluation.load(second)
    row = int((run.ids == "q25").argmax())
    lac = standings(bench(run), run.probabilities[row], place=row)[0]
    assert rows[1]["counts"]["lac"] == lac.counts.tolist()
    assert "In 1 other run, the question calibrates" in page_text(app)


def test_the_question_that_a_page_opens_with_is_found_by_a_rule(open_page: Open):
    run = evaluation.load(synthetic_run(n=200))
    lac = form(run, "lac", 100).members
    held = lac[range(len(run.test)), run.labels[run.test]]
    place = next(i for i in range(len(run.test)) if held[i] and lac[i].sum() == 2)
    assert place > 0  # or else the rule would find what the first place has
    app = open_page("one_question")
    assert app.query_params["question"] == run.ids[run.test[place]]
    other = synthetic_run(n=200, model="other", signal=3)
    pick(app, other)
    assert app.query_params["question"] == first_shown(evaluation.load(other))


def test_a_link_that_names_a_run_alone_shows_its_first_question(open_page: Open):
    run = evaluation.load(synthetic_run(n=200))
    app = open_page("one_question", run=run.run_id)
    assert app.number_input(key="question_number").value == 1
    app.run()  # whatever the person does next
    assert app.query_params["question"] == run.ids[run.test[0]]


def test_forth_and_back(open_page: Open):
    run = evaluation.load(synthetic_run(n=40))
    app = open_page("one_question", run=run.run_id)
    _, previous, following, any_other = app.button  # the first one chooses the run
    assert previous.disabled
    assert not any_other.disabled
    following.click().run()
    assert app.query_params["question"] == run.ids[run.test[1]]
    app.number_input(key="question_number").set_value(20).run()
    assert app.query_params["question"] == run.ids[run.test[19]]
    assert app.button[2].disabled
    app.button[1].click().run()
    assert app.number_input(key="question_number").value == 19


def test_a_random_question_is_another_one(open_page: Open, monkeypatch: pytest.MonkeyPatch):
    run = evaluation.load(synthetic_run(n=40))
    app = open_page("one_question", run=run.run_id, question=str(run.ids[run.test[7]]))
    for drawn, place in ((6, 6), (7, 8), (18, 19)):  # the question that is shown is left out of the draw
        monkeypatch.setattr("app.components.one_question.question.secrets.randbelow", lambda _, drawn=drawn: drawn)
        app.query_params["question"] = str(run.ids[run.test[7]])
        app.run()
        click(app, "Random question")
        assert app.query_params["question"] == run.ids[run.test[place]]


def test_a_search_finds_questions_by_their_words(open_page: Open):
    run = evaluation.load(synthetic_run(n=40))
    app = open_page("one_question", run=run.run_id)
    app.text_input(key="question_search").set_value("QUESTION 33").run()
    matches = app.selectbox(key="question_found")
    assert len(matches.options) == 1
    matches.set_value("q33").run()
    assert app.query_params["question"] == "q33"
    app.text_input(key="question_search").set_value("nowhere to be found").run()
    assert "No question contains all of these words" in page_text(app)


def test_a_calibration_question_is_not_shown(open_page: Open):
    run_id = synthetic_run(n=40)
    app = open_page("one_question", run=run_id, question="q0")
    assert "This run has no test question q0" in page_text(app)
    assert app.number_input(key="question_number").value == 1


def test_two_and_twenty_six_options(open_page: Open):
    for k in (2, 26):
        app = open_page("one_question", run=synthetic_run(n=40, k=k, model=f"k{k}"))
        assert len(sent(app, "question")["options"]) == k


def test_classes_are_called_by_their_names(open_page: Open):
    names = ["a cat", "a dog", *(f"the species of number {j} in the north" for j in range(40))]
    app = open_page("one_question", run=classifier_run(names, 120))
    bars = sent(app, "question")
    assert bars["classes"]
    assert bars["options"] == names
    assert bars["letters"][:2] == ["a cat", "a dog"]
    assert len(set(bars["letters"])) == 42
    assert not any(len(name) > 30 for name in bars["letters"])


def test_markup_in_data_is_shown_as_text(open_page: Open):
    run_id = synthetic_run(n=20)
    folder = store.folder_of(run_id)
    nasty = "<script>alert(1)</script> ![x](http://e.vil/x.png) :red[x] $y$ https://e.vil"
    questions: list[Question] = [
        replace(q, question=nasty, context=nasty, group="*g*") for q in synthetic_questions(20)
    ]
    store.write_questions(folder, questions, ["calibration"] * 10 + ["test"] * 10)
    app = open_page("one_question", run=run_id)
    assert "\\<script\\>" in app.subheader[0].value
    assert "\\!\\[x\\]\\(" in app.subheader[0].value
    assert app.text[0].value == nasty
    assert "Question 1 of 10 · \\*g\\*" in [caption.value for caption in app.caption]
