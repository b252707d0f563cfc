"""Each caveat by the figures that are known of its run, and how caveats are shown."""

import json
from dataclasses import replace

import numpy as np
import pytest

from core.conformal.probabilities import log
from core.errors import InputError
from core.exchange import run_folder, table, writing
from core.exchange.imported import save
from core.exchange.run_table import run_table
from core.models.letter_mass import letter_mass
from core.records import OptionLogits
from core.reports.array_evaluation import of_arrays
from core.reports.caveats import FEWEST, few_questions, first_footnotes, footnotes, marked, of_run
from core.reports.evaluation import calibrating, load
from core.reports.report import report
from core.runs import store
from core.runs.caveats import NO_ANSWER, of_letters, of_record, of_run_record
from core.runs.spec import RunSpec
from hedge.cli import main
from hedge.commands.runs import runs as list_runs
from tests.conftest import synthetic_run
from tests.flawed_runs import STATED, flawed_run, unanswered_run
from tests.served import served_run

pytestmark = pytest.mark.quick

SPEC = RunSpec(model="m", task="qa")
WAY_OUT = "Ask with fewer shots, or choose a model that reads more."


def kinds(caveats):
    return [caveat.kind for caveat in caveats]


def test_an_ordinary_run_has_no_caveats(home):
    run = load(synthetic_run(2 * FEWEST))
    assert of_run(run) == ()
    assert report(run, 100).to_json()["caveats"] == []


@pytest.mark.parametrize(
    ("provenance", "questions", "sentence"),
    [
        (
            {
                "prompts": {"asked": 100, "truncated_prompts": 100, "dropped_demonstrations": 420},
                "engine": {"context": 512},
            },
            0,
            "100 of 100 prompts were longer than the 512 tokens that the model reads, and lost 420 demonstrations.",
        ),
        (  # a run of an earlier version: only its engine counted, without the prompts that were asked
            {"engine": {"context": 512, "truncated_prompts": 3, "dropped_demonstrations": 1}},
            40,
            "3 of 40 prompts were longer than the 512 tokens that the model reads, and lost 1 demonstration.",
        ),
        (
            {"engine": {"context": 512, "truncated_prompts": 3, "dropped_demonstrations": 0}},
            0,
            "3 prompts were longer than the 512 tokens that the model reads, and lost their beginning.",
        ),
        (
            {"prompts": {"asked": 9, "truncated_prompts": 4, "dropped_demonstrations": 8, "shortened_prompts": 2}},
            9,
            "4 of 9 prompts were longer than what the model reads, and lost 8 demonstrations and the beginning of 2 "
            "contexts.",
        ),
    ],
)
def test_cut_prompts_are_counted(provenance, questions, sentence):
    (caveat,) = of_record(SPEC, provenance, questions=questions)
    assert (caveat.kind, caveat.text) == ("cut", f"{sentence} {WAY_OUT}")


def test_missing_questions_are_counted_by_reason_and_asked_again_is_none():
    counts = {"samples": 30, "errors": 3, "without an answer": 1, "further epochs": 9, "asked again": 2}
    (caveat,) = of_record(SPEC, {"counts": counts})
    assert caveat.sentence == (
        "4 questions of the evaluation are missing (3 errors, 1 without an answer); figures are those of the others, "
        "which may be easier."
    )
    assert of_record(SPEC, {"counts": {"samples": 30, "further epochs": 9}}) == ()


@pytest.mark.parametrize("junk", [None, "many", [], {"truncated_prompts": "x", "errors": None}, {"errors": -1}, 7])
def test_what_a_file_of_another_person_says_is_read_or_left_out(junk):
    assert of_record(SPEC, dict.fromkeys(("engine", "prompts", "counts"), junk)) == ()
    assert of_record(SPEC, {"bounded_questions": str(junk)}) == ()


def test_what_a_chat_template_writes_travels_with_the_run():
    engine = {"template_notes": ["The template writes the date\x1b[2J.", "The template writes no header."]}
    result = of_record(SPEC, {"engine": engine})
    assert kinds(result) == ["template", "template"]
    assert result[0].text == "The template writes the date\\x1b[2J."
    for junk in ("text", {"a": 1}, 7, None):
        assert of_record(SPEC, {"engine": {"template_notes": junk}}) == ()


def test_letters_with_little_probability_are_told_and_unknown_ones_are_not():
    (caveat,) = of_letters(mass_of(0.1, 0.3), SPEC)
    assert caveat.sentence.startswith("On average, only 20% of the next token's probability")
    assert of_letters(mass_of(0.4, 0.7), SPEC) == ()
    assert mass_of(np.nan, np.nan) is mass_of() is None
    assert of_letters(None, SPEC) == ()


def test_some_questions_without_an_answer_are_told_and_most_of_them_are_no_answer():
    assert of_letters(mass_of(*[1.0] * 99, 0.001), SPEC) == ()  # one in a hundred, as every model has them
    (caveat,) = of_letters(mass_of(*[1.0] * 98, 0.001, 0.001), SPEC)
    assert caveat.kind == "letters"
    assert "have less than 1% of the next token's probability for 2 of 100 questions" in caveat.sentence
    (half,) = of_letters(mass_of(0.001, 0.5), SPEC)
    assert half.kind == "letters"
    assert half.sentence == (
        "On average, only 25% of the next token's probability falls on the letters of the options, and less than 1% "
        "for 1 of 2 questions."
    )
    (none,) = of_letters(mass_of(0.001, 0.001, 0.5), replace(SPEC, prompt_format="chat"))
    assert (none.kind, none.way_out) == (NO_ANSWER, "Ask by text, or in the plain format.")
    assert none.sentence == (
        "No answer: the letters of the options have less than 1% of the next token's probability for 2 of 3 questions "
        "(median: 0.1%)."
    )


@pytest.mark.parametrize("noted", [True, False])
def test_a_run_whose_letters_are_no_answer_has_no_figures(home, capsys, noted):
    run_id = unanswered_run(noted=noted)
    sentence = "the letters of the options have less than 1% of the next token's probability for 30 of 30 questions"
    with pytest.raises(InputError, match=f"has no answers, so it has no figures: {sentence}"):
        load(run_id)
    assert kinds(of_run_record(store.read_record(run_id))) == [NO_ANSWER] * noted
    for command in (["report", run_id], ["export", run_id, "--format", "csv", "--out", str(home)]):
        assert main(command) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert "the most probable token is “<think>” for 100% of the questions" in printed.err
        assert "switch that off in its chat template or on its server" in printed.err


def test_an_import_without_answers_has_no_figures(home, tmp_path, capsys):
    path = tmp_path / "shares.csv"
    rows = [f"{i},q{i},A,B,A,0.002,0.001" for i in range(40)]
    path.write_text("\n".join(["id,question,option_A,option_B,label,p_A,p_B", *rows]))
    main(["import", str(path), "--model", "m", "--task", "t"])
    out = capsys.readouterr().out
    assert "has no answers, so it has no figures" in out
    assert "accuracy" not in out


def mass_of(*masses):
    """The letter mass of questions about which nothing else is known."""
    n = len(masses)
    scored = OptionLogits(tuple(map(str, range(n))), np.zeros((n, 2), np.float32), np.array(masses, np.float32))
    return letter_mass(scored)


def test_few_questions_say_the_smallest_alpha():
    (caveat,) = few_questions(49, 500)  # ⌈1000 / 50⌉ = 20 thousandths
    assert "Only 49 calibration and 500 test questions" in caveat.sentence
    assert few_questions(1, 1)[0].sentence.startswith("Only 1 calibration and 1 test question:")
    assert "below alpha 0.020, every option stays" in caveat.sentence
    assert few_questions(FEWEST, FEWEST) == few_questions(FEWEST, FEWEST, alpha=10) == ()
    assert few_questions(FEWEST, FEWEST, alpha=9)  # a threshold at alpha .009 takes ⌈1000 / 9⌉ − 1 = 111 questions


def test_a_view_with_fewer_questions_has_few(home):
    run = load(synthetic_run(400))
    assert kinds(of_run(replace(run, calibration=run.calibration[:20]))) == ["few"]


def test_repeated_questions_count_once(home):
    run = load(synthetic_run(400))
    clusters = np.arange(400) // 5  # 40 questions on each side
    own, left_out = calibrating(run.calibration, run.test, clusters, seed=run.spec.seed)
    few, tested, calibrated = of_run(replace(run, clusters=clusters, calibration=own, left_out=left_out))
    assert few.sentence.startswith("Only 40 calibration and 40 test questions")
    assert "the test side has 200 rows, 40 questions" in tested.sentence
    assert calibrated.sentence.startswith("The calibration side has 200 rows, 40 questions.")


def test_a_run_on_a_server_has_its_bounds_and_nothing_of_unknown_probabilities(home):
    name = served_run(listed=2)
    run = load(name, with_bounds=True)
    even = np.full_like(run.probabilities, 0.25)
    tied = replace(run, probabilities=even, log_probabilities=log(even))
    (caveat,) = of_run(tied)
    assert caveat.sentence == (
        "The server gave only an upper bound of some letters for 200 of 200 questions, so each figure lies between two "
        "ends."
    )


def test_every_kind_is_in_the_report_of_a_run_that_has_it(home):
    result = report(load(flawed_run()), 100)
    assert kinds(result.caveats) == [
        *("cut", "missing", "demonstration", "stated", "letters", "few", "options", "ties", "infinite")
    ]
    values = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert values["caveats"][0] == {
        "kind": "cut",
        "sentence": "119 of 120 prompts were longer than the 512 tokens that the model reads, and lost 300 "
        "demonstrations and the beginning of 7 contexts.",
        "way_out": WAY_OUT,
    }
    assert tuple(values["notes"]) == result.notes == tuple(caveat.text for caveat in result.caveats)


def test_arrays_have_the_caveats_of_arrays():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), size=40)
    assert kinds(of_run(of_arrays(p, rng.integers(0, 3, 40)))) == ["few"]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_table_of_questions_carries_what_its_questions_do_not_show(home, tmp_path, kind):
    name = flawed_run(model="cut-model")
    path = tmp_path / f"run.{kind}"
    path.write_bytes(writing.ONE_TABLE[kind](run_table(name)))
    (imported,) = table.read([path])
    (back,) = save([imported])
    known = of_run(load(name))
    assert kinds(of_run(load(back))) == ["stated", "letters", "few", "options", "ties", "infinite"]
    stated = next(caveat.text for caveat in of_run(load(back)) if caveat.kind == "stated")
    assert stated == " ".join(caveat.text for caveat in known if caveat.kind in ("cut", "missing", "stated"))
    assert "caveats" not in run_table(synthetic_run()).column_names


def test_a_run_folder_carries_its_caveats(home):
    name = flawed_run(model="cut-model")
    (back,) = save([run_folder.read(store.folder_of(name))])
    assert of_run(load(back)) == of_run(load(name))


def test_the_list_of_runs_names_the_caveats_of_their_records(home):
    from argparse import Namespace

    name, plain = flawed_run(model="cut-model"), synthetic_run()
    result = list_runs(Namespace())
    rows = {row["run"]: row for row in result.values}
    assert [caveat["kind"] for caveat in rows[name]["caveats"]] == ["cut", "missing", "stated"]
    assert rows[plain]["caveats"] == []
    assert "119 of 120 prompts were longer" in result.text
    assert STATED in result.text


def test_runs_with_the_same_caveats_share_a_footnote_and_many_are_counted():
    assert footnotes([("a", "Cut."), ("b", ""), ("c", "Few."), ("d", "Cut.")]) == ("† a, d: Cut.", "† c: Few.")
    assert first_footnotes([("a", "")]) == ()
    many = first_footnotes([(f"run {i}", f"Few: {i}.") for i in range(6)])
    assert many == (*(f"† run {i}: Few: {i}." for i in range(4)), "† 2 more like these; open the runs to read them.")
    assert (marked("m", ""), marked("m", "Few.")) == ("m", "m †")


def test_questions_asked_again_in_another_order_are_said(home, tmp_path):
    """Of a person's own table: Hedge's own rotations have figures of their own."""
    rows = []
    for i in range(60):
        row = {"question": f"What is {i}?", "option_A": "yes", "option_B": "no", "p_A": 0.6, "p_B": 0.4, "label": "A"}
        again = {"option_A": "no", "option_B": "yes", "p_A": 0.4, "p_B": 0.6, "label": "B"}
        rows += [row | {"id": f"{i}"}, row | again | {"id": f"again {i}"}]
    path = tmp_path / "orders.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    (run,) = (load(name) for name in save(table.read([path])))
    sentences = [caveat.sentence for caveat in of_run(run) if caveat.kind == "orders"]
    assert len(sentences) == 1
    assert sentences[0].startswith("60 rows ask a question again with its options in another order")
