"""Runs of a classifier: its classes have names, up to a hundred of them, and nobody asked it."""

import runpy

import numpy as np
import pytest

from core.errors import InputError
from core.option_names import set_text, short_names
from core.prompting.strategies import prompt
from core.records import OPTION_NAMES, Question
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
    made = form(run, "lac", 100, by="class")
    assert list(made.thresholds) == SPECIES
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
    made = report(load(record.run_id), 100)
    assert (made.strategy, made.form) == ("", "")
    asked = store.read_record(synthetic_run(40))
    assert "by letter" in record_details(asked)
    assert report(load(asked.run_id), 100).form == "letters"


def test_options_that_have_no_name_are_letters(home):
    unnamed = load(classifier_run([f"option {name}" for name in OPTION_NAMES[:4]]))
    assert tuple(unnamed.letters) == ("A", "B", "C", "D")
    assert not unnamed.classes
    many = load(classifier_run([f"option {name}" for name in OPTION_NAMES[:30]]))
    assert many.classes  # no model was asked by one of thirty letters
    assert many.letters[29] == "AD"


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
    made = runpy.run_path(str(script))
    assert np.array_equal(made["sets"], form(run, "aps", 100).members)


def test_a_question_with_more_options_than_letters_can_not_be_asked():
    question = Question("q", "qa", "g", "", "Which?", tuple(SPECIES[:27]), 0)
    with pytest.raises(InputError, match="has 27 options, but a model is asked by letter, and there are 26"):
        prompt(question)
