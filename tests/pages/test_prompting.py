"""Prompting: an experiment's ways of asking, two of them side by side, a question's card, and the launch form."""

import shutil
from pathlib import Path

import pytest

from app.formatting import plain
from core.conformal.scores import SCORE_NAMES, SCORES
from core.questions import bank
from core.reports.compare.benchmark import SetRule
from core.reports.compare.paired import CHOSEN
from core.reports.prompting import experiments
from core.reports.prompting.answer import prompting_answer
from core.runs import store
from hedge.cli import main
from tests.conftest import synthetic_questions
from tests.pages.conftest import Open, keep_their_places, page_text, static_tables, unfolded


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Letters, in all orders and with written answers, and texts, with 0 and 2 shots, by an engine that only hashes."""
    folder = tmp_path_factory.mktemp("experiment") / "home"
    words = ["run", "--model", "fake", "--task", "qa", "--form", "letters", "cloze", "continuation"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGE_HOME", str(folder))
        patch.delenv("HEDGE_DATABASE_URL", raising=False)
        patch.setenv("HEDGE_FAKE_ENGINE", "{}")
        patch.setattr(bank, "load", lambda task: synthetic_questions(80))
        assert main([*words, "--shots", "0", "2", "--orders", "--repeats", "2"]) == 0
    return folder


@pytest.fixture
def own_experiment(home: Path, experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home of the test's own with the runs of the experiment."""
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(80))
    shutil.copytree(experiment, home)


def the_readings():
    ((_, records),) = experiments.experiments(
        store.read_record(name) for name in store.run_ids() if not store.is_bundled(name)
    ).items()
    return experiments.readings(records)


def test_an_empty_home_says_what_would_be_here_and_offers_the_launch(open_page: Open):
    app = open_page("prompting")
    assert "There is no experiment yet" in page_text(app)
    assert app.multiselect(key="ways_shots").value == [0, 1, 2, 5]
    assert "--form letters cloze --shots 0 1 2 5 --samples 200 --queue" in app.code[-1].value


def test_the_form_begins_with_the_experiment_that_is_shown(own_experiment, open_page: Open):
    app = open_page("prompting")
    unfolded(app, "prompting_launch_open")
    assert app.multiselect(key="ways_models").value == ["fake"]
    assert app.multiselect(key="ways_shots").value == [0, 2]
    assert app.number_input(key="ways_samples").value is None
    assert "--model fake --task qa --form letters cloze continuation --shots 0 2 --queue" in app.code[-1].value
    app.multiselect(key="ways_shots").set_value([1]).run()
    assert app.multiselect(key="ways_shots").value == [1]
    assert "--shots 1 --queue" in app.code[-1].value


def test_arriving_tests_leave_every_list_in_its_place(own_experiment, open_page_early: Open):
    assert keep_their_places(open_page_early("prompting", alpha="200"), at_least=8)


def test_figures_are_those_of_the_reports(own_experiment, open_page: Open):
    app = open_page("prompting", alpha="200", shots="2", method="letters", beside="unconditional")
    chosen = [
        reading for reading in the_readings() if reading.shots == 2 and reading.method in ("letters", "unconditional")
    ]
    rows = experiments.figures(chosen, [experiments.evaluate(reading) for reading in chosen], SetRule(200, ("lac",)))
    shown = [metric.value for metric in app.metric][:6]
    assert shown == [
        text
        for row in rows.to_dict("records")
        for text in (f"{row['accuracy']:.1%}", f"{row['coverage']:.1%}", f"{row['mean_set_size']:.2f}")
    ]
    assert app.query_params["beside"] == "unconditional"
    assert "In 24 orders" not in page_text(app)
    text = page_text(unfolded(app, "prompting_letters_open"))
    assert "each in 24 orders of its options" in text
    assert "2 sampled answers per question" in text
    assert "is not the letter of an option" in text
    assert any("Invalid answers" in table.columns for table in static_tables(app))


@pytest.mark.nightly
def test_every_score_can_be_chosen(own_experiment, open_page: Open):
    """It is chosen on the page, lives in the address, and gives the figures of the reports everywhere."""
    chosen = [reading for reading in the_readings() if reading.shots == 0 and reading.method in ("letters", "raw")]
    runs = [experiments.evaluate(reading) for reading in chosen]
    app = open_page("prompting", score="raps")
    app.session_state["prompting_letters_open"] = True
    assert app.selectbox(key="score_choice").value == "raps"
    for name in SCORE_NAMES:
        app.selectbox(key="score_choice").set_value(name).run()
        assert not app.exception, name
        assert not app.error, name
        assert app.query_params.get("score", "lac") == name
        rows = experiments.figures(chosen, runs, SetRule(100, (name,)))
        sizes = [metric.value for metric in app.metric if metric.label == "Mean set size"]
        assert sizes == [f"{size:.2f}" for size in rows["mean_set_size"]], name
        assert "of the sets in other orders equal the set of the first order" in page_text(app), name
        assert SCORES[name].title in app.selectbox(key="score_choice").options


def test_other_ways_and_shots_are_chosen(own_experiment, open_page: Open):
    app = open_page("prompting")
    app.selectbox(key="prompting_method").set_value("As continuation, raw, 2 shots").run()
    assert (app.query_params["method"], app.query_params["shots"]) == ("continued", "2")
    assert "Every other way minus As continuation, raw, 2 shots" in page_text(app)
    tests = next(table for table in static_tables(app) if "p of accuracy" in table.columns)
    assert {"By letter, 0 shots", "By letter, 2 shots", "As continuation, raw, 0 shots"} <= set(tests["Asked by"])
    app.selectbox(key="prompting_beside").set_value("By letter, 0 shots").run()
    assert (app.query_params["beside"], app.query_params["beside_shots"]) == ("letters", "0")
    assert CHOSEN not in page_text(app)
    app.selectbox(key="score_choice").set_value("raps").run()
    assert CHOSEN in page_text(app)
    app.segmented_control(key="prompting_measure").set_value("accuracy").run()
    assert "the accuracy of guessing" in page_text(app)


def test_the_answer_is_that_of_the_tests(own_experiment, open_page: Open):
    """Of the ways that the figure shows, against the base way, and with the figures of the table."""
    app = open_page("prompting", shots="2")
    shown = [way for way in the_readings() if way.method in (*experiments.PUBLISHED, experiments.CONTINUED)]
    base = next(way for way in shown if (way.method, way.shots) == ("letters", 2))
    runs = {way: experiments.evaluate(way) for way in shown}
    tests = experiments.against(base, [way for way in shown if way != base], runs, 100, score="lac")
    assert app.header[0].value == plain(prompting_answer("By letter, 2 shots", tests)[0])


def test_strategies_are_ways_of_one_experiment_and_their_earlier_links_open_it(
    home: Path, open_page: Open, monkeypatch
):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(80))
    assert main(["run", "--model", "fake", "--task", "qa", "--strategy", "base", "task"]) == 0
    own = [store.read_record(name) for name in store.run_ids() if not store.is_bundled(name)]
    keys = {record.spec.strategy: experiments.PromptingExperiment.of(record.spec).key for record in own}
    app = open_page("prompting", experiment=keys["task"], strategy="task")
    assert not app.warning
    assert app.query_params["experiment"] == keys["base"]
    assert "Every other way minus By letter, task instruction, 0 shots" in page_text(app)
    tests = next(table for table in static_tables(app) if "p of accuracy" in table.columns)
    assert tests["Asked by"].tolist() == ["By letter, 0 shots"]


def test_a_card_shows_both_readings(own_experiment, open_page: Open):
    letters, *_ = [reading for reading in the_readings() if reading.method == "letters"]
    run = experiments.evaluate(letters)
    name = str(run.ids[run.test[3]])
    app = open_page("prompting", question=name)
    asked_text = next(q.question for q in synthetic_questions(80) if q.id == name)
    assert asked_text in [heading.value for heading in app.subheader]
    card = next(table for table in static_tables(app) if "By letter, 0 shots" in table)
    sets = experiments.sets_of(letters, run, 100, score="lac").side(name)
    assert card["By letter, 0 shots"].tolist() == [
        f"{p:.1%}, {'in the set' if member else 'out'}"
        for p, member in zip(sets.probabilities, sets.members, strict=True)
    ]
    assert sum(option.startswith("✓ ") for option in card["Option"]) == 1
    texts = next(table for table in static_tables(app) if "After the question" in table)
    assert {"Tokens", "After “Answer:” alone", "At the start of a text"} <= set(texts.columns)


def test_a_link_to_what_is_gone_is_one_sentence(own_experiment, open_page: Open):
    app = open_page("prompting", experiment="nonsense", method="shouting", shots="many")
    text = page_text(app)
    assert "There are no finished runs of the linked experiment here" in text
    assert "it must be one of letters, raw" in text
    assert "the number of shots must be a whole number" in text


def test_the_launch_asks_for_everything_as_one_group(open_page: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(80))
    specs = []
    monkeypatch.setattr("core.runs.engine.submit", lambda spec: specs.append(spec))
    app = open_page("prompting")
    app.multiselect(key="ways_models").set_value(["fake"]).run()
    app.multiselect(key="ways_tasks").set_value(["qa", "rc"]).run()
    app.text_area(key="ways_system").set_value("Be brief.").run()
    app.checkbox(key="ways_orders").set_value(True).run()
    app.button(key="launch").click().run()
    assert "Launched 16 runs" in page_text(app)
    assert len({spec.run_id for spec in specs}) == 16
    assert {spec.system for spec in specs} == {"Be brief."}
    assert {(spec.form, spec.orders) for spec in specs} == {("letters", True), ("cloze", False)}
    assert {spec.shots for spec in specs} == {0, 1, 2, 5}
