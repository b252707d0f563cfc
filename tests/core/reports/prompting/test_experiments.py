"""Ways of asking: what joins runs to an experiment, figures by hand, and the story that a small model tells."""

import json
import re
import time

import numpy as np
import pytest

from core.errors import InputError
from core.questions import bank
from core.questions.rotation import answers_only
from core.records import OptionLogits
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import load
from core.reports.prompting import experiments as reports
from core.reports.prompting.experiments import (
    PromptingMethod,
    against_guessing,
    evaluate,
    experiments,
    figures,
    joined,
    readings,
    sets_of,
)
from core.reports.prompting.letter_answers import invalid_answers, spread
from core.runs import store
from core.runs.execution.execute import execute
from core.runs.prompts import Combination
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from hedge.cli import main
from tests.conftest import synthetic_questions
from tests.stories import write_stories

N = 60
TESTED = N // 2


@pytest.fixture(autouse=True)
def no_run_ships(home, monkeypatch):
    monkeypatch.setattr(store, "ASSETS", home.parent / "assets")


def written_run(*, form="letters", shots=0, tops=None, logits=None, tokens=None, **spec):
    """A finished run of 60 questions of 4 + 2 options (texts: 4); the second half is tested."""
    questions = synthetic_questions(N)
    if form != "letters":
        questions = [answers_only(q) for q in questions]
    k = len(questions[0].options)
    run_spec = RunSpec(model="synthetic", task="qa", form=form, shots=shots, **spec)
    folder = store.create(RunRecord(spec=run_spec, state="queued", created=time.time()))
    store.write_questions(folder, questions, ["calibration"] * TESTED + ["test"] * TESTED)
    if logits is None:
        logits = np.random.default_rng(0).normal(size=(N, k))
        logits[np.arange(N), [q.label for q in questions]] += 2
    mass = np.full(N, np.nan if form != "letters" else 0.5, dtype=np.float32)
    store.write_logits(
        folder, OptionLogits(tuple(q.id for q in questions), logits.astype(np.float32), mass, tokens, top_tokens=tops)
    )
    store.update_record(run_spec.run_id, state="done", ended=time.time())
    return run_spec.run_id


def records():
    return [store.read_record(name) for name in store.run_ids()]


def text_run(**spec):
    counts = np.ones((N, 4), dtype=np.int32)
    counts[:, 0] = 2
    return written_run(form="cloze", tokens=counts, **spec)


def test_runs_that_differ_in_form_and_shots_alone_are_one_experiment(home):
    run_ids = [written_run(), written_run(shots=2), text_run(), text_run(seed=1), text_run(system="Be brief.")]
    written_run(origin="lm-eval", fingerprint="x")  # imported: nobody knows what else differs
    result = experiments(records())
    first = next(iter(result))  # that of most forms
    assert sorted(sorted(r.run_id for r in group) for group in result.values()) == sorted(
        [sorted(run_ids[:3]), [run_ids[3]], [run_ids[4]]]
    )
    assert {r.run_id for r in result[first]} == set(run_ids[:3])
    offered = readings(result[first])
    assert [(reading.method, reading.shots) for reading in offered] == [
        ("letters", 0),
        ("letters", 2),
        *((name, 0) for name in ("raw", "tokens", "characters", "bytes")),
    ]


def test_normalised_readings_are_softmaxes_by_hand(home):
    logits = np.log(np.tile([0.1, 0.2, 0.3, 0.4], (N, 1)))
    counts = np.tile([2, 1, 1, 1], (N, 1)).astype(np.int32)
    name = written_run(form="cloze", logits=logits, tokens=counts)
    texts = {
        " " + option.strip(): float(np.log(0.5 if option.startswith("option 3") else 0.25))
        for q in synthetic_questions(N)
        for option in answers_only(q).options
    }
    ones = np.ones(len(texts), dtype=np.float32)
    bare = OptionLogits(tuple(texts), np.array(list(texts.values()), dtype=np.float32)[:, None], ones)
    store.write_bare(store.folder_of(name), {"unconditional": bare})
    assert evaluate(PromptingMethod(name, "raw", 0)).probabilities[0] == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=1e-6)
    root = np.array([0.1**0.5, 0.2, 0.3, 0.4])
    assert evaluate(PromptingMethod(name, "tokens", 0)).probabilities[0] == pytest.approx(root / root.sum(), abs=1e-6)
    less = np.array([0.1, 0.2, 0.3, 0.4]) / [0.25, 0.25, 0.25, 0.5]
    assert evaluate(PromptingMethod(name, "unconditional", 0)).probabilities[0] == pytest.approx(
        less / less.sum(), abs=1e-6
    )
    with pytest.raises(InputError, match="did not score its options on their own"):
        load(name, normalisation="mutual")
    with pytest.raises(InputError, match="asked for letters, which have nothing to normalise"):
        load(written_run(), normalisation="tokens")


def test_letters_choose_among_the_same_options_as_texts(home):
    letters, text = PromptingMethod(written_run(), "letters", 0), PromptingMethod(text_run(), "raw", 0)
    assert load(letters.run_id).k == 6
    runs = [evaluate(letters), evaluate(text)]
    assert [run.k for run in runs] == [4, 4]
    rows = figures([letters, text], runs, SetRule(200, ("lac",)))
    assert rows["chance"].tolist() == [0.25, 0.25]
    assert rows["title"].tolist() == ["By letter", "By text, raw"]
    assert rows["letter_mass"].tolist() == [0.5, pytest.approx(np.nan, nan_ok=True)]
    table = reports.against(letters, [text], dict(zip([letters, text], runs, strict=True)), 200, score="lac")
    assert table["n"].tolist() == [TESTED]
    assert table["accuracy"].iloc[0] == pytest.approx(rows["accuracy"].iloc[1] - rows["accuracy"].iloc[0])
    by_letters, two = (sets_of(r, run, 200, score="lac") for r, run in zip([letters, text], runs, strict=True))
    changes = joined(by_letters, two)
    assert sorted(changes["id"]) == sorted(by_letters.places)
    assert (changes["change"].abs().diff().dropna() <= 0).all()
    row = changes.iloc[0]
    side = by_letters.side(row["id"])
    assert sum(side.members) == row["first_size"]
    assert len(side.probabilities) == 4
    assert sum(side.probabilities) == pytest.approx(1)


def test_answers_that_are_no_letter_by_hand(home):
    tested = [" A", "B", " E", " F", " G", " The", "\n", "AB", " a", " The"] + [" C"] * (TESTED - 10)
    name = written_run(tops=(*["x"] * TESTED, *tested))
    result = invalid_answers(name)
    # " G", " The" twice, a line break, "AB" and " a" are no letter of six options; calibration questions do not count.
    assert (result.n, result.rate, result.letter_mass) == (TESTED, pytest.approx(6 / TESTED), pytest.approx(0.5))
    assert result.instead == ((" The", 2), ("\n", 1), (" G", 1), (" a", 1), ("AB", 1))
    assert result.low < result.rate < result.high
    silent = invalid_answers(written_run(seed=1))
    assert np.isnan(silent.rate)
    assert silent.instead == ()


def test_the_spread_of_written_answers_by_hand(home):
    name = written_run(repeats=2)
    run = load(name)
    labels = run.labels[run.test]
    # The first repeat is right on every question; of the second the first 15 are right, and 5 find no option.
    other = np.where(np.arange(TESTED) < 15, labels, np.where(np.arange(TESTED) < 20, -1, (labels + 1) % 4))
    ids = [str(run.ids[row]) for row in run.test]
    table = {
        "id": ids * 2,
        "repeat": [0] * TESTED + [1] * TESTED,
        "text": ["<think>So it is B", *["x"] * (2 * TESTED - 1)],
        "answer": [*labels.tolist(), *other.tolist()],
    }
    store.write_written(store.folder_of(name), list(zip(*table.values(), strict=True)))
    result = spread(name)
    assert result.accuracy == (1.0, 0.5)
    assert result.deviation == pytest.approx(np.sqrt(0.125))
    assert result.not_found == pytest.approx(5 / 60)
    assert result.unfinished == pytest.approx(1 / 60)
    assert result.agreement == pytest.approx((15 * 1 + 15 * 0.5) / TESTED)
    assert spread(written_run(seed=3)) is None


def test_a_small_model_of_stories_knows_endings_and_no_letters(home, real_models, tmp_path):
    """Far above chance if the text continues, at chance by letters; the page says so in a sentence."""
    combination = Combination(
        models=(str(real_models / "tinystories-656k"),),
        tasks=(write_stories(tmp_path / "stories.jsonl"),),
        forms=("letters", "continuation"),
        calibration_share=0.4,
    )
    names = [execute(spec) for spec in combination.specs()]
    ((experiment, experiment_records),) = experiments(store.read_record(name) for name in names).items()
    chosen = readings(experiment_records)
    runs = [evaluate(reading) for reading in chosen]
    rows = figures(chosen, runs, SetRule(200, ("lac",))).set_index("method")
    assert rows["n_test"].tolist() == [24] * len(rows)
    assert rows.loc["letters", "against_chance"] == "at"
    assert rows.loc["continued", "against_chance"] == "above"
    assert rows.loc["continued", "accuracy"] >= 0.8
    assert rows.loc["continued", "mean_set_size"] < rows.loc["letters", "mean_set_size"]
    sentence = against_guessing(rows.reset_index())
    assert "is right on" in sentence
    assert "“By letter” does not beat guessing" in sentence
    assert experiment.task.endswith("stories.jsonl")


@pytest.mark.nightly
def test_the_whole_grid_from_the_shell(home, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(60))
    words = ["run", "--model", "fake", "--task", "qa", "rc", "--form", "letters", "cloze", "--shots", "0", "2"]
    assert main([*words, "--orders", "--repeats", "3", "--system", "Be brief."]) == 0
    capsys.readouterr()
    out = tmp_path / "ways.xlsx"
    assert main(["prompting", "--json", "--alpha", "0.2", "--out", str(out)]) == 0
    result = json.loads(capsys.readouterr().out)["experiments"]
    assert [entry["task"] for entry in result] == ["qa", "rc"]
    methods = ["letters", "raw", "tokens", "characters", "bytes", "unconditional", "mutual"]
    titles = [reports.METHODS[name] for name in methods for _ in (0, 2)]
    assert [row["method"] for row in result[0]["rows"]] == titles
    assert result[0]["letters"]["0"]["option_order"]["orders"] == 24
    assert len(result[0]["letters"]["2"]["written"]["accuracy"]) == 3
    assert 0 < result[0]["letters"]["2"]["written"]["not_found"] < 0.5
    assert {row["first"] for row in result[0]["tests"]} == {"By letter"}
    import openpyxl

    book = openpyxl.load_workbook(out)
    assert book.sheetnames == ["1 qa", "2 rc"]
    sheet = [[cell.value for cell in row] for row in book["1 qa"].iter_rows()]
    assert sheet[0][:5] == ["model", "task", "method", "shots", "score"]
    assert len(sheet) == 1 + len(titles)
    at = sheet[0].index("accuracy")
    assert [row[at] for row in sheet[1:]] == pytest.approx([row["accuracy"] for row in result[0]["rows"]])
    assert main(["prompting"]) == 0
    assert "questions, each in 24 orders, " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["prompting"], "no finished run to compare"),
        (["prompting", "nothing"], "there is no run 'nothing'"),
        (["run", "--model", "fake", "--task", "qa", "--repeats", "101"], "repeats must lie from 0 to 100"),
        (["run", "--model", "fake", "--task", "qa", "--orders", "--rotations"], "ask for one of the two"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(home, monkeypatch, capsys, words, says):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    assert main(words) == 2
    assert says in capsys.readouterr().err


def test_a_workbook_that_cannot_be_written(home, capsys, tmp_path):
    written_run()
    assert main(["prompting", "--out", str(tmp_path / "no" / "x.xlsx")]) == 2
    assert "can't be written (No such file or directory); give a file in a folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["only"], "at least two options"),
        (["x", "y", "x"], "is there twice"),
        (["x", " "], "none of them empty"),
        ([f"o{i}" for i in range(27)], "has 27 options, but a model is asked by letter, and there are 26"),
    ],
)
def test_options_that_are_none_are_said(home, monkeypatch, capsys, tmp_path, options, says):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    rows = [{"question": f"What is {i}?", "options": options, "label": 0} for i in range(20)]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert main(["run", "--model", "fake", "--task", str(path), "--form", "cloze"]) == 2
    printed = capsys.readouterr().err
    assert says in printed
    assert re.search(r"mine.jsonl[,:] question '?(mine-)?1", printed)


def test_shots_that_leave_no_room_are_said(home, real_models, capsys):
    folder = str(real_models / "tinystories-656k")
    words = ["run", "--model", folder, "--task", "rc", "--form", "cloze", "--shots", "16", "--samples", "8"]
    assert main(words) == 0
    printed = capsys.readouterr()
    assert "About 8 of 8 prompts are longer than the 512 tokens" in printed.err
    assert "8 of 8 prompts were longer than the 512 tokens that the model reads, and lost" in printed.out
    assert "Ask with fewer shots, or choose a model that reads more." in printed.out


def test_runs_of_words_are_no_way_of_asking(home):
    choices = RunRecord(RunSpec(model="fake", task="qa"), state="done", created=0.0)
    words = RunRecord(RunSpec(model="fake", task="perplexity@0123456789", form="losses"), state="done", created=0.0)
    (only,) = experiments([words, choices]).values()
    assert only == (choices,)
