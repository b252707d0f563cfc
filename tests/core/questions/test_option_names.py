"""Runs of a classifier: its classes have names, up to a hundred of them, and nobody asked it."""

import runpy

import numpy as np
import pytest

from core.errors import InputError
from core.exchange import table, writing
from core.exchange.imported import save
from core.exchange.run_table import run_table
from core.questions.option_names import set_text, short_names
from core.questions.prompting.strategies import prompt
from core.records import DONT_KNOW, NONE_OF_ABOVE, OPTION_NAMES, Question
from core.reports.alpha_lab.numpy_recipe import numpy_recipe
from core.reports.alpha_lab.sets_table import sets_table
from core.reports.evaluation import load
from core.reports.report import report
from core.reports.scored_sets import form
from core.reports.titles import CLASSES_TITLE, record_details, record_title
from core.runs import store
from tests.conftest import classifier_run, synthetic_run

pytestmark = pytest.mark.quick

SPECIES = [f"species {j}" for j in range(100)]


def test_a_hundred_classes_are_named_wherever_a_run_is_read(home):
    run = load(classifier_run(SPECIES, 600))
    assert tuple(run.letters) == tuple(SPECIES)
    assert run.k == 100
    class_form = form(run, "lac", 100, by="class")
    assert list(class_form.thresholds) == SPECIES
    rows = sets_table(run, 100, scores=["lac"])
    test = int(run.test[3])
    inside = np.flatnonzero(form(run, "lac", 100).members[3])
    assert rows["label"][test] == SPECIES[run.labels[test]]
    assert rows["lac_set"][test] == "; ".join(SPECIES[j] for j in inside)
    assert rows["p_species 99"][test] == run.probabilities[test, 99]
    notes = " ".join(report(run, 20, scores=["lac"], by="class").scores["lac"].notes)
    calibrated = np.unique(run.labels[run.calibration])
    assert f"With too few calibration questions for this alpha: {len(calibrated)} options; they stay in every" in notes


def test_a_classifier_is_neither_asked_nor_shown_examples(home):
    record = store.read_record(classifier_run(["cat", "dog", "cow"]))
    assert record_details(record) == CLASSES_TITLE
    assert record_title(record) == "forest · inputs · table"
    figures = report(load(record.run_id), 100)
    assert (figures.strategy, figures.form) == ("", "")
    run_record = store.read_record(synthetic_run(40))
    assert "by letter" in record_details(run_record)
    assert report(load(run_record.run_id), 100).form == "letters"


def test_options_that_have_no_name_are_letters(home):
    unnamed = load(classifier_run([f"option {name}" for name in OPTION_NAMES[:4]]))
    assert tuple(unnamed.letters) == ("A", "B", "C", "D")
    assert not unnamed.classes
    assert not load(classifier_run(["option A", "option B", DONT_KNOW, NONE_OF_ABOVE])).classes
    many = load(classifier_run([f"option {name}" for name in OPTION_NAMES[:30]]))
    assert many.classes  # no model was asked by one of thirty letters
    assert many.letters[29] == "AD"


def test_the_numbered_columns_of_a_classifier_are_its_classes(home, tmp_path):
    """Ten columns without a word on questions are digits; four with the text of each question are a model's options."""
    p = np.random.default_rng(0).dirichlet(np.ones(10), 40)
    rows = [f"{','.join(map(str, row.tolist()))},{row.argmax()}" for row in p]
    path = tmp_path / "digits.csv"
    path.write_text("\n".join([",".join([f"proba_{j}" for j in range(10)]) + ",label", *rows]))
    (run_id,) = save(table.read([path]))
    assert tuple(load(run_id).letters) == tuple("0123456789")
    questions_path = tmp_path / "asked.csv"
    questions_path.write_text("question,p_0,p_1,label\nWhy?,0.5,0.5,1\nWhere?,0.25,0.75,0\n")
    (run_id,) = save(table.read([questions_path]))
    assert tuple(load(run_id).letters) == ("A", "B")


def test_sets_of_names_can_be_read_apart():
    assert set_text(["A", "B"], OPTION_NAMES[:28]) != set_text(["AB"], OPTION_NAMES[:28])
    assert set_text(["0", "10"], [str(j) for j in range(11)]) == "0; 10"
    long = [f"the family of {name} in the north" for name in ("ducks", "geese", "swans")]
    assert len(set(short_names(long))) == 3
    assert max(map(len, short_names(long))) <= 27


@pytest.mark.parametrize("names", [("cat", "dog", "cow"), tuple(SPECIES[:30])], ids=["3", "30"])
def test_the_recipe_of_a_classifier_gives_its_sets(home, tmp_path, names, capsys):
    run = load(classifier_run(names))
    path = tmp_path / "sets.parquet"
    sets_table(run, 100, scores=["aps"]).to_parquet(path)
    script = tmp_path / "recipe.py"
    script.write_text(numpy_recipe(run, "aps", 100, file=str(path)))
    script_values = runpy.run_path(str(script))
    assert np.array_equal(script_values["sets"], form(run, "aps", 100).members)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_hundred_classes_are_exported_and_read_back(home, tmp_path, kind):
    run_id = classifier_run(SPECIES, 400)
    exported = run_table(run_id)
    assert {"logit_A", "logit_Z", "logit_AA", "logit_CV", "option_CV"} <= set(exported.column_names)
    path = writing.write(tmp_path, f"out.{kind}", writing.ONE_TABLE[kind](exported))
    (read,) = table.read([path])
    (again,) = save([read])
    before, after = load(run_id), load(again)
    assert np.array_equal(before.probabilities, after.probabilities)
    assert np.array_equal(before.labels, after.labels)
    assert tuple(after.letters) == tuple(SPECIES)
    assert record_details(store.read_record(again)) == CLASSES_TITLE


def test_a_question_with_more_options_than_letters_can_not_be_asked():
    question = Question("q", "qa", "g", "", "Which?", tuple(SPECIES[:27]), 0)
    with pytest.raises(InputError, match="has 27 options, but a model is asked by letter, and there are 26"):
        prompt(question)
