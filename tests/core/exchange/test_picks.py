"""Repeated picks as frequencies: tables, arrays and logs that hold them, what is refused, and what figures become."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from core.calibration.metrics import brier, brier_sampling_noise
from core.errors import InputError
from core.exchange import inspect_log, lm_eval, score_arrays, table, writing
from core.exchange.imported import save
from core.exchange.run_table import run_table
from core.exchange.table_columns import Columns
from core.questions.prompting.written import read_pick
from core.reports.array_evaluation import of_arrays
from core.reports.calibration.calibrated import calibrated
from core.reports.caveats import of_run
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import load
from core.reports.references import works
from core.reports.report import report
from core.reports.titles import run_title
from core.runs import store
from hedge.cli import main
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick

K, SAMPLES, N = 4, 7, 40
RNG = np.random.default_rng(0)
TRUE = RNG.dirichlet(np.full(K, 0.6), N)
LABELS = np.array([RNG.choice(K, p=p) for p in TRUE])
PICKS = np.array([RNG.choice(K, SAMPLES, p=p) for p in TRUE])
COUNTS = np.stack([(option == PICKS).sum(axis=1) for option in range(K)], axis=1)
TEXTS = ["red", "green", "blue", "grey"]


def letter(place: int) -> str:
    return "ABCD"[place]


def question(i: int, **more: object) -> dict[str, object]:
    return {"id": f"q{i}", "label": letter(LABELS[i]), **more}


def a_row_a_sample(**names: str) -> list[dict[str, object]]:
    return [
        {names.get(name, name): value for name, value in question(i, sample=s, pick=letter(PICKS[i, s])).items()}
        for i, s in itertools.product(range(N), range(SAMPLES))
    ]


def numbered(start: int) -> list[dict[str, object]]:
    return [
        {"id": i, "seed": s, "prediction": PICKS[i, s] + start, "answer": LABELS[i] + start}
        for i, s in itertools.product(range(N), range(SAMPLES))
    ]


SHAPES: dict[str, list[dict[str, object]]] = {
    "a row a sample": a_row_a_sample(),
    "rows of samples in any order": sorted(a_row_a_sample(), key=lambda row: (row["sample"], str(row["id"])[::-1])),
    "a pick that is called answer": a_row_a_sample(pick="answer"),
    "rows without the number of a sample": a_row_a_sample(sample="correct"),
    "numbers from 0": numbered(0),
    "numbers from 1": numbered(1),
    "by the text of the question": [
        {"row": n, "question": f"What is {row['id']}?", "epoch": row["sample"], "response": f"It is ({row['pick']}).\n"}
        | {"correct_answer": row["label"]}
        for n, row in enumerate(a_row_a_sample())
    ],
    "columns of picks": [
        question(i, **{f"pick_{s + 1}": letter(PICKS[i, s]) for s in range(SAMPLES)}) for i in range(N)
    ],
    "columns that are called answers": [
        question(i, **{f"answer_{s}": PICKS[i, s] for s in range(SAMPLES)}) for i in range(N)
    ],
    "letters in one cell": [question(i, predictions="".join(map(letter, PICKS[i]))) for i in range(N)],
    "letters with commas": [question(i, picks=",".join(map(letter, PICKS[i]))) for i in range(N)],
    "columns of counts": [question(i, **{f"votes_{letter(j)}": COUNTS[i, j] for j in range(K)}) for i in range(N)],
    "columns of whole numbers": [question(i, **{letter(j): COUNTS[i, j] for j in range(K)}) for i in range(N)],
    "frequencies without their number": [
        question(i, **{f"freq_{letter(j)}": COUNTS[i, j] / SAMPLES for j in range(K)}) for i in range(N)
    ],
    "columns named by seed and answer": [
        question(i, **{f"seed_{s}_pred": letter(PICKS[i, s]) for s in range(SAMPLES)}) for i in range(N)
    ],
    "rounded frequencies": [
        question(i, samples=SAMPLES, **{f"p_{letter(j)}": round(COUNTS[i, j] / SAMPLES, 8) for j in range(K)})
        for i in range(N)
    ],
}
LINES: dict[str, list[dict[str, object]]] = {
    "a list of letters": [question(i, picks=[letter(pick) for pick in PICKS[i]]) for i in range(N)],
    "a list of texts": [
        {"id": i, "options": TEXTS, "answer": TEXTS[LABELS[i]], "predictions": [TEXTS[pick] for pick in PICKS[i]]}
        for i in range(N)
    ],
    "a list of reasoning": [
        {"id": i, "choices": TEXTS, "answer": int(LABELS[i])}
        | {"responses": [f"<think>A?</think>Not A, I think.\nSo, the answer is ({letter(p)})." for p in PICKS[i]]}
        for i in range(N)
    ],
    "an object of counts": [
        question(i, votes={letter(j): int(COUNTS[i, j]) for j in range(K) if COUNTS[i, j]}) for i in range(N)
    ],
    "a list of counts": [question(i, counts=COUNTS[i].tolist()) for i in range(N)],
}


def csv(tmp_path, rows, name="picks.csv"):
    pd.DataFrame(rows).to_csv(tmp_path / name, index=False)
    return tmp_path / name


def lines(tmp_path, rows):
    (tmp_path / "picks.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path / "picks.jsonl"


def check(run):
    """The run has these picks, as exact fractions."""
    number = [
        int("".join(filter(str.isdecimal, question.question if "What" in question.question else question.id)))
        for question in run.questions
    ]
    assert sorted(number) == list(range(N))
    assert run.scored.samples.tolist() == [SAMPLES] * N
    assert run.scored.probabilities.tolist() == (COUNTS[number] / SAMPLES).tolist()
    assert [question.label for question in run.questions] == LABELS[number].tolist()
    assert run.spec.picks == SAMPLES
    assert run.provenance["picks"] == {"least": SAMPLES, "most": SAMPLES, "unread": 0}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_table_of_picks_is_read_as_exact_frequencies(tmp_path, shape):
    (run,) = table.read([csv(tmp_path, SHAPES[shape])])
    check(run)


@pytest.mark.parametrize("shape", LINES)
def test_lines_with_all_picks_of_a_question_are_read_as_exact_frequencies(tmp_path, shape):
    (run,) = table.read([lines(tmp_path, LINES[shape])])
    check(run)


@pytest.mark.parametrize(("name", "values"), [("counts", COUNTS), ("votes", COUNTS.astype(float)), ("picks", PICKS)])
def test_arrays_of_counts_and_of_picks_are_read(tmp_path, name, values):
    np.savez(tmp_path / "a.npz", **{name: values}, y=LABELS)
    run = score_arrays.read_npz(tmp_path / "a.npz")
    assert run.scored.probabilities.tolist() == (COUNTS / SAMPLES).tolist()
    assert [question.label for question in run.questions] == LABELS.tolist()
    assert run.spec.picks == SAMPLES


def test_an_array_of_whole_numbers_that_may_be_either_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", x=PICKS, y=LABELS)
    with pytest.raises(InputError, match="or 'picks' if they are the picks of each sample"):
        score_arrays.read_npz(tmp_path / "a.npz")


def test_two_models_are_two_runs(tmp_path):
    rows = [{**row, "model": model} for model in ("a", "b") for row in a_row_a_sample()]
    for run in table.read([csv(tmp_path, rows)]):
        check(run)


def test_answers_that_name_no_option_are_counted_and_questions_without_a_pick_left_out(tmp_path):
    rows = a_row_a_sample()
    for n, row in enumerate(rows):
        if n % 10 == 0:
            row["pick"] = "I am not sure"
        if row["id"] == "q3":
            row["pick"] = ""
    other_rows = [row for row in rows if row["id"] != "q3"]
    unsure = sum(row["pick"] == "I am not sure" for row in other_rows)
    (run,) = table.read([csv(tmp_path, rows)])
    assert "q3" not in {question.id for question in run.questions}
    assert run.provenance["picks"] == {"least": 6, "most": 7, "unread": unsure}
    assert run.provenance["counts"] == {"without an answer": 1}
    assert run.scored.samples.sum() == len(other_rows) - unsure


def test_one_pick_of_each_question_is_refused(tmp_path):
    rows = [row for row in a_row_a_sample() if row["sample"] == 0]
    with pytest.raises(InputError, match="a pick alone can't form sets, but several picks of each question can"):
        table.read([csv(tmp_path, rows)])
    counts = [question(i, **{f"votes_{letter(j)}": int(PICKS[i, 0] == j) for j in range(K)}) for i in range(N)]
    with pytest.raises(InputError, match="expected several picks of each question, found one"):
        table.read([csv(tmp_path, counts)])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda row: {"temperature": row["sample"] % 2}, "expected samples at one temperature"),
        (lambda row: {"label": letter(row["sample"] % 4)}, "expected one right option for all samples of a question"),
        (lambda row: {"sample": 0}, "expected every sample of a question once"),
    ],
)
def test_rows_that_contradict_each_other_are_refused(tmp_path, change, says):
    with pytest.raises(InputError, match=says):
        table.read([csv(tmp_path, [{**row, **change(row)} for row in a_row_a_sample()])])


def test_whole_numbers_of_differing_sums_are_asked_about(tmp_path):
    rows = [question(i, **{letter(j): COUNTS[i, j] + (i % 2) for j in range(K)}) for i in range(N)]
    path = csv(tmp_path, rows)
    with pytest.raises(
        InputError, match=r"sum to 7 to 11, which may be counts of picks or scores; say --values counts"
    ):
        table.read([path])
    named = table.Columns(tuple("ABCD"), "label", values="counts", id="id")
    (run,) = table.read([path], columns=named)
    assert run.provenance["picks"] == {"least": 7, "most": 11, "unread": 0}


def test_answers_without_an_option_are_refused_with_the_first(tmp_path):
    rows = [{**row, "pick": "It depends on many things."} for row in a_row_a_sample()]
    with pytest.raises(InputError, match=r"found one in 0 of 280; the first answer is 'It depends on many things\.'"):
        table.read([csv(tmp_path, rows)])


def test_options_in_columns_are_no_picks(tmp_path):
    rows = [
        question(i, question=f"Q{i}", **{f"answer_{j}": f"{text} {i}" for j, text in enumerate(TEXTS)})
        for i in range(N)
    ]
    with pytest.raises(InputError, match="it is a question bank without a model's figures"):
        table.read([csv(tmp_path, rows)])


def test_marks_of_right_and_wrong_samples_are_no_logits(tmp_path):
    right = LABELS[:, None] == PICKS
    rows = [question(i, **{f"score_{s + 1}": int(right[i, s]) for s in range(K)}) for i in range(N)]
    with pytest.raises(InputError, match="figures of 'score_1' to 'score_4' are 0 or 1, as marks of right and wrong"):
        table.read([csv(tmp_path, rows)])
    (read,) = table.read([csv(tmp_path, rows)], columns=Columns((), "", values="logits", partial=True))
    assert read.scored.logits.shape == (N, K)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("B", 1),
        ("(c)", 2),
        ("green", 1),
        ("First, A is impossible.\n\n**ANSWER: D**", 3),
        ("Let me think about option A and option B in turn, as both are near.\nThe answer is (B)", 1),
        ("I am not sure", -1),
        ("So B? Hardly.\nAnswer: C", 2),
        ("B. green\nQuestion: and the sky?\nAnswer: A", 1),
        ("", -1),
        ("<think>B, or maybe C", -1),
        ("The answer is (Z).\nI hope that helps you.", -1),
    ],
)
def test_the_option_that_an_answer_names(text, place):
    assert read_pick(text, TEXTS) == place


# ---------------------------------------------------------------- logs of harnesses


def test_repeats_of_a_generation_task_of_lm_eval(tmp_path):
    """The filter finds a letter in each answer, and a majority vote is not used."""
    rows = []
    for i in range(N):
        written = [f" {letter(pick)}. ok" for pick in PICKS[i]]
        metrics = (("found", [letter(pick) for pick in PICKS[i]]), ("majority", [letter(COUNTS[i].argmax())]))
        rows += [
            {"doc_id": i, "doc": {"question": f"Q{i}?", "options": TEXTS}, "target": letter(LABELS[i]), "filter": name}
            | {"arguments": {"gen_args_0": {"arg_0": "Q", "arg_1": {"until": []}}}, "resps": [written]}
            | {"filtered_resps": [answers]}
            for name, answers in metrics
        ]
    path = tmp_path / "samples_mine_2026-01-01T00-00-00.000000.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    (run,) = lm_eval.read(path)
    assert (run.spec.task, run.spec.picks, run.questions[0].options) == ("mine", SAMPLES, tuple(TEXTS))
    assert run.scored.probabilities.tolist() == (COUNTS / SAMPLES).tolist()


def test_epochs_of_inspect(tmp_path):
    samples = [
        {"id": f"q{i}", "epoch": s + 1, "input": f"Q{i}?", "choices": TEXTS, "target": letter(LABELS[i])}
        | {"scores": {"choice": {"value": "C", "answer": letter(PICKS[i, s])}}, "output": {}}
        for s, i in itertools.product(range(SAMPLES), range(N))
    ]
    samples[0]["scores"]["choice"]["answer"] = ""
    log = {"status": "success", "eval": {"task": "t", "model": "m"}, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log))
    run = inspect_log.read(tmp_path / "log.json")
    assert run.provenance["picks"] == {"least": SAMPLES - 1, "most": SAMPLES, "unread": 1}
    assert run.scored.probabilities[1:].tolist() == (COUNTS[1:] / SAMPLES).tolist()
    log["samples"] = [sample for sample in samples if sample["epoch"] == 1]
    (tmp_path / "log.json").write_text(json.dumps(log))
    with pytest.raises(InputError, match="or with several epochs"):
        inspect_log.read(tmp_path / "log.json")


# ---------------------------------------------------------------- figures


@pytest.fixture
def run(home, tmp_path) -> str:
    return save(table.read([csv(tmp_path, SHAPES["a row a sample"])]))[0]


def test_equal_shares_tie_exactly_in_sets(home, tmp_path):
    """LAC and margin sets of 30 votes are those of exact fractions, where most scores tie."""
    rng = np.random.default_rng(3)
    votes = np.array([rng.multinomial(30, rng.dirichlet(np.ones(5))) for _ in range(400)])
    labels = np.array([rng.choice(5, p=row / 30) for row in votes])
    np.savez(
        tmp_path / "v.npz",
        cal_votes=votes[:200],
        test_votes=votes[200:],
        cal_labels=labels[:200],
        test_labels=labels[200:],
    )
    figures = report(load(save([score_arrays.read_npz(tmp_path / "v.npz")])[0]), 100, scores=("lac", "margin"))
    shares = [[Fraction(int(c), 30) for c in row] for row in votes]
    rules = {
        "lac": lambda row, j: 1 - row[j],
        "margin": lambda row, j: max(p for i, p in enumerate(row) if i != j) - row[j],
    }
    for name, rule in rules.items():
        own = sorted(rule(row, label) for row, label in zip(shares[:200], labels[:200], strict=True))
        limit = own[math.ceil(Fraction(9, 10) * 201) - 1]
        sets = [[rule(row, j) <= limit for j in range(5)] for row in shares[200:]]
        assert figures.scores[name].mean_set_size == np.mean([sum(row) for row in sets])
        assert figures.scores[name].coverage == np.mean([row[y] for row, y in zip(sets, labels[200:], strict=True)])


def test_a_run_of_frequencies_says_so_and_has_no_nll(run):
    loaded = load(run)
    assert run_title(loaded.spec, loaded.bank).endswith(" · frequencies of 7 samples")
    figures = report(loaded, 200)
    first, second = [caveat for caveat in figures.caveats if caveat.kind == "frequencies"]
    assert "frequencies of 7 samples: each option's share of the model's picks" in first.sentence
    assert f"Of the Brier score of {figures.brier:.3f}, about" in second.sentence
    assert "There is no NLL" in second.sentence
    assert figures.to_json()["nll"] is None
    assert figures.nll_infinite == 0
    assert "infinite" not in {caveat.kind for caveat in figures.caveats}
    (strata,) = calibrated(loaded)
    assert strata.estimates["nll"].text() == "– (frequencies have none)"


def test_a_run_of_frequencies_cites_who_took_frequencies_for_probabilities(run):
    cited = works([load(run)], SetRule())
    other = works([load(synthetic_run())], SetRule())
    assert "yang2025conformal" in cited
    assert "yang2025conformal" not in other


def test_the_two_sides_need_as_many_samples(home, tmp_path):
    rows = [
        {**row, "split": "calibration" if int(str(row["id"])[1:]) % 2 else "test"}
        for row in a_row_a_sample()
        if int(str(row["id"])[1:]) % 2 or row["sample"] < 3
    ]
    caveats = of_run(load(save(table.read([csv(tmp_path, rows)]))[0]))
    assert "Calibration questions have 7.0 samples on average and test questions 3.0" in caveats[-1].sentence


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_exported_run_of_frequencies_comes_back_exactly(run, home, tmp_path, kind):
    (tmp_path / f"out.{kind}").write_bytes(writing.ONE_TABLE[kind](run_table(run)))
    (again,) = table.read([tmp_path / f"out.{kind}"])
    stored = store.read_logits(run)
    assert again.spec.picks == SAMPLES
    assert again.scored.samples.tolist() == stored.samples.tolist()
    assert again.scored.probabilities.tolist() == stored.probabilities.tolist()
    assert "caveats" not in again.provenance


def test_a_runs_folder_keeps_its_samples(run, home, monkeypatch, tmp_path, capsys):
    folder = store.folder_of(run)
    before = report(load(run), 100).to_json()
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path / "other"))
    assert main(["import", str(folder)]) == 0
    after = report(load(capsys.readouterr().out.split()[0]), 100).to_json()
    assert {key for key in before if before[key] != after[key]} <= {"run"}


def test_the_noise_of_samples_in_the_brier_score_is_estimated_without_bias():
    """In 4,000 draws of 50 questions, the Brier score less its noise is that of the true probabilities on average."""
    rng = np.random.default_rng(1)
    true = rng.dirichlet(np.full(K, 0.5), 50)
    labels = np.array([rng.choice(K, p=p) for p in true])
    samples = np.where(np.arange(50) < 25, 3, 10)
    values = []
    for _ in range(4000):
        shares = rng.multinomial(samples, true) / samples[:, None]
        values.append(brier(shares, labels) - brier_sampling_noise(shares, samples))
    error = np.std(values) / math.sqrt(len(values))
    assert np.mean(values) == pytest.approx(brier(true, labels), abs=3 * error)
    assert error < 0.001


def test_sets_by_subject_allow_for_coarse_frequencies_and_those_by_letter_need_equal_numbers():
    """By letter, intervals with unlike numbers of samples held the size in 90% of draws only, so there are none."""
    rng = np.random.default_rng(0)
    samples, unlike = np.full(240, 5), np.arange(240) % 26 + 5
    often = rng.dirichlet(np.full(4, 0.2), 240)
    labels = np.array([rng.choice(4, p=p) for p in often])
    named = np.where(np.arange(240) % 6 == 0, "rare", "frequent")

    def evaluations(counted, by):
        shares = np.array([rng.multinomial(m, p) / m for m, p in zip(counted, often, strict=True)])
        run = replace(of_arrays(shares, labels, calibration=np.arange(240) < 120), groups=named)
        runs = [replace(run, samples=counted if which else None) for which in (True, False)]
        return [report(run, 300, scores=("lac",), by=by).scores["lac"] for run in runs]

    own, plain = evaluations(samples, "group")
    assert own.mean_set_size == plain.mean_set_size
    assert np.diff(own.mean_set_size_interval) > np.diff(plain.mean_set_size_interval)
    own, plain = evaluations(samples, "class")
    assert own.mean_set_size_interval == plain.mean_set_size_interval
    own, plain = evaluations(unlike, "class")
    assert np.isnan([*own.mean_set_size_interval, *own.uacc_interval]).all()
    assert np.isfinite(plain.mean_set_size_interval).all()
