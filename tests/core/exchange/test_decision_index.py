"""Decision Index: results and rows of the suite as its runner writes them, made here in their shape."""

import gzip
import json
import math

import numpy as np
import pytest

from core.errors import InputError
from core.exchange import decision_index, imported
from core.exchange.dropped.examples import as_lines
from core.models.server.decision_replies import Decided, is_contradiction
from core.records import NOT_PUBLISHED
from core.reports.bounded import bounded_report
from core.reports.imported_figures import figures
from core.runs import store
from core.runs.caveats import of_record
from tests.core.exchange.drops import dropped, refused

pytestmark = pytest.mark.quick

COLOURS = {"A": "red", "B": "green", "C": "blue"}
SHARES = {"A": 0.5, "B": 0.3, "C": 0.2}
CHOICE = {"type": "choice", "instructions": "Which?", "criteria": COLOURS}


def ids(i: int, data: str = "MMLU", **more) -> dict:
    return {
        "run_id": f"24:{data}:{data}:test:{i}",
        "dataset": data,
        "group_id": f"{data}:test:{i}",
        "track": data,
        "payload_sha256": f"{data}-{i}",
    } | more


def asked(i: int, **questions) -> dict:
    return {"state": {}, "questions": questions or {"q1": CHOICE | {"instructions": f"Which is {i}?"}}}


def row(i: int, data: str = "MMLU", *, expected=None, payload=None, subject="maths", scoring=None, **more) -> dict:
    """A row of the suite. Its right option is A, B, C, A … unless it is said."""
    return {
        "id": f"{data}:test:{i}",
        **(payload or asked(i)),
        "expected": expected or {"q1": "ABC"[i % 3]},
        "provenance": {"subject": subject},
        "_evaluation": ids(i, data, **more),
        **({"scoring": scoring} if scoring else {}),
    }


def result(i: int, data: str = "MMLU", *, answers=None, payload=None, status="ok", diagnostics=None, **more) -> dict:
    """A line of the results; ``payload`` {} leaves the texts out, as --compact does."""
    texts = {"payload": asked(i) if payload is None else payload} if payload != {} else {}
    answer = {"type": "choice", "choice": "A", "probabilities": SHARES}
    response = {"model": "jev-1.13.0", "answers": answers or {"q1": answer}}
    if diagnostics:
        response["diagnostics"] = diagnostics
    said = {"response": response} if status == "ok" else {"error": "no"}
    return {**ids(i, data), "engine": "http", "status": status, **texts, **said, **more}


def probabilities(*values: float) -> dict:
    return {"q1": {"type": "choice", "choice": "A", "probabilities": dict(zip("ABC", values, strict=True))}}


def write(folder, results, rows):
    folder.mkdir(exist_ok=True)
    path, suite = folder / "results.jsonl", folder / "selected-rows.jsonl"
    path.write_bytes(as_lines(results))
    suite.write_bytes(as_lines(rows))
    return path, [suite]


def read(folder, results, rows):
    return decision_index.read(*write(folder, results, rows))


def test_one_id_for_two_requests_is_refused(tmp_path):
    """Only the last of them would count."""
    results = [result(i) | {"run_id": "24"} for i in range(6)]
    with pytest.raises(InputError, match=r"line 2: expected one 'payload_sha256' for each 'run_id', .* in line 1;"):
        read(tmp_path, results, [row(i) for i in range(6)])


def test_each_data_set_is_a_run(tmp_path):
    results = [result(i, data) for data in ("MMLU", "SGD/SGD-X") for i in range(6)]
    rows = [row(i, data) for data in ("SGD/SGD-X", "MMLU") for i in range(6)]
    mmlu, sgd = read(tmp_path, results, rows)
    assert (mmlu.spec.model, mmlu.spec.task, mmlu.spec.prompt_format) == ("jev-1.13.0", "MMLU", "systemone")
    assert sgd.spec.task == "SGD-SGD-X"
    assert [question.label for question in mmlu.questions] == [0, 1, 2, 0, 1, 2]
    question = mmlu.questions[4]
    assert (question.id, question.group, question.question) == ("24:MMLU:MMLU:test:4", "maths", "Which is 4?")
    assert (question.context, question.options, question.cluster) == ("", ("red", "green", "blue"), "")
    assert mmlu.scored.probabilities.tolist() == [[0.5, 0.3, 0.2]] * 6
    assert mmlu.scored.bounded is None
    assert mmlu.provenance["lacks"] == []
    assert "caveats" not in mmlu.provenance


def test_data_sets_whose_names_differ_only_in_a_slash_are_different_tasks(tmp_path):
    names = ("a@b", "a-b", "a/b")
    runs = read(tmp_path, *([make(i, data) for data in names for i in range(6)] for make in (result, row)))
    assert [run.spec.task for run in runs] == ["a-b-2-2", "a-b", "a-b-2"]
    assert {question.task for question in runs[0].questions} == {"a-b-2-2"}


def test_options_are_keys_of_any_name_in_the_order_in_which_they_were_asked(tmp_path):
    named = {"type": "choice", "instructions": {"task": "label"}, "criteria": {"SUPPORTS": None, "(B)": "refutes"}}
    payload = {"state": {"claim": "é"}, "questions": {"q": named}}
    answers = {"q": {"type": "choice", "choice": "(B)", "probabilities": {"(B)": 0.75, "SUPPORTS": 0.25}}}
    results = [result(i, payload=payload, answers=answers) for i in range(4)]
    rows = [row(i, payload=payload, expected={"q": "(B)"}) for i in range(4)]
    rows[0]["expected"] = {"q": "SUPPORTS"}
    with pytest.raises(InputError, match="at least two questions that differ"):
        read(tmp_path, results, rows)  # the same text four times
    for i, line in enumerate(results):
        line["payload"] = payload | {"state": {"claim": f"é {i} {'abcd'[i] * 9}"}}
    (run,) = read(tmp_path, results, rows)
    assert run.questions[0].options == ("SUPPORTS", "refutes")
    assert run.questions[0].question == '{"task": "label"}'
    assert run.questions[0].context == '{"claim": "é 0 aaaaaaaaa"}'
    assert [question.label for question in run.questions] == [0, 1, 1, 1]
    assert run.scored.probabilities[0].tolist() == [0.25, 0.75]


def test_a_yes_or_no_question_has_two_options(tmp_path):
    criteria = {"true": "It is not supported.", "false": "It is."}
    payload = asked(0, q={"type": "noul", "instructions": "Is it so?", "criteria": criteria})
    plain = asked(0, q={"type": "noul", "instructions": "Is it so?"})
    results = [
        result(i, payload=(payload if i else plain) | {"state": f"text {i} {'wxyz'[i] * 9}"}, answers=answers)
        for i, answers in enumerate({"q": {"type": "noul", "noul": p}} for p in (0.9, 0.1, 1.0, 0.33))
    ]
    rows = [row(i, payload=payload, expected={"q": i % 2 == 0}) for i in range(4)]
    (run,) = read(tmp_path, results, rows)
    assert run.questions[0].options == ("Yes", "No")
    assert run.questions[1].options == ("It is not supported.", "It is.")
    assert [question.label for question in run.questions] == [0, 1, 0, 1]
    # 1 − 0.9 is 0.09999999999999998 in floats, which would have 17 decimals.
    assert run.scored.probabilities.tolist() == [[0.9, 0.1], [0.1, 0.9], [1.0, 0.0], [0.33, 0.67]]
    assert run.scored.bounded.tolist() == [[False] * 2, [False] * 2, [False, True], [False] * 2]
    assert math.exp(run.scored.logits[2][1]) == pytest.approx(0.005)  # half of the second decimal


def test_a_rounded_zero_is_a_bound_by_the_decimals_of_its_data_set(tmp_path):
    """Another data set's decimals, as those of ARC here, would make the bound too small."""
    results = [result(0, answers=probabilities(1.0, 0.0, 0.0))]
    results += [result(i, answers=probabilities(0.125, 0.5, 0.375)) for i in range(1, 4)]
    results += [result(i, "ARC", answers=probabilities(0.1234, 0.8766, 0)) for i in range(4)]
    rows = [row(i, data) for data in ("MMLU", "ARC") for i in range(4)]
    mmlu, arc = read(tmp_path, results, rows)
    assert mmlu.scored.bounded.tolist() == [[False, True, True], *[[False] * 3] * 3]
    assert np.exp(mmlu.scored.logits[0][1:]) == pytest.approx([0.0005] * 2)
    assert np.exp(arc.scored.logits[:, 2]) == pytest.approx([0.00005] * 4)
    assert (mmlu.provenance["bounded_questions"], arc.provenance["bounded_questions"]) == (1, 4)


def test_texts_of_compact_results_are_those_of_the_suite_or_not_known(tmp_path):
    results = [result(i, payload={}) for i in range(4)]
    (run,) = read(tmp_path, results, [row(i) for i in range(4)])
    assert run.questions[1].question == "Which is 1?"
    rows = [row(i) for i in range(4)]
    for line in rows:
        del line["state"], line["questions"]
    (bare,) = read(tmp_path, results, rows)
    assert bare.questions[1].options == (NOT_PUBLISHED,) * 3
    assert bare.questions[1].question == "MMLU, 24:MMLU:MMLU:test:1 (its text is not in the files)"
    assert bare.scored.probabilities.tolist() == run.scored.probabilities.tolist()
    assert [question.label for question in bare.questions] == [question.label for question in run.questions]


def test_requests_without_an_answer_are_missing_questions(tmp_path):
    statuses = ["ok"] * 4 + ["unsupported", "unsupported", "error", "abstained", "invalid"]
    results = [result(i, status=status) for i, status in enumerate(statuses)]
    (run,) = read(tmp_path, results, [row(i) for i in range(9)])
    assert len(run.questions) == 4
    assert run.provenance["counts"] == {"unsupported": 2, "errors": 1, "abstained": 1, "without an answer": 1}
    (caveat,) = [caveat for caveat in of_record(run.spec, run.provenance) if caveat.kind == "missing"]
    assert caveat.sentence.startswith("5 questions of the evaluation are missing (1 errors, 1 without an answer, 2 uns")


def test_the_last_line_of_a_request_counts(tmp_path):
    results = [result(0, status="error"), *(result(i) for i in range(4)), result(1, answers=probabilities(0, 0.5, 0.5))]
    (run,) = read(tmp_path, results, [row(i) for i in range(4)])
    assert run.provenance["counts"] == {}
    assert dict(zip(run.scored.ids, run.scored.probabilities.tolist(), strict=True))["24:MMLU:MMLU:test:1"][0] == 0
    assert "2 earlier lines for the same requests" in run.read_as


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {},
        {"probabilities": {"A": 0.5, "B": 0.5}},
        {"probabilities": {"A": 0.5, "B": 0.2, "C": 0.2}},
        {"probabilities": {"A": 0.5, "B": 0.3, "C": 0.1, "D": 0.1}},
        {"probabilities": {"A": 0.5, "B": 0.3, "C": math.nan}},
        {"probabilities": {"A": True, "B": 0.0, "C": 0.0}},
        {"probabilities": {"A": "0.5", "B": 0.3, "C": 0.2}},
        {"probabilities": {"A": 10**400, "B": 0.3, "C": 0.2}},
        {"probabilities": {"A": 0.5, " A": 0.3, "B": 0.1, "C": 0.1}},
        {"probabilities": [0.5, 0.3, 0.2]},
        {"noul": 0.5},
        "A",
    ],
)
def test_an_answer_that_is_none_is_a_missing_question(tmp_path, answer):
    results = [result(i) for i in range(4)] + [result(4, answers={"q1": answer})]
    (run,) = read(tmp_path, results, [row(i) for i in range(5)])
    assert (len(run.questions), run.provenance["counts"]) == (4, {"without an answer": 1})


@pytest.mark.parametrize(
    ("kind", "answer", "contradicts"),
    [
        ("choice", {"choice": "C", "probabilities": SHARES}, True),
        ("choice", {"choice": "A", "score": 9, "probabilities": SHARES}, False),
        ("noul", {"noul": 0.9, "probabilities": {"true": 0.1, "false": 0.9}}, True),
        ("noul", {"noul": 0.9, "probabilities": {"yes": 0.88, "no": 0.12}}, False),
        ("noul", {"noul": 0.9}, False),
        ("score", {"score": 0.2, "probabilities": {"0": 0.5, "1": 0.3, "2": 0.2}}, True),
        ("score", {"score": 0.7, "probabilities": {"0": 0.5, "1": 0.3, "2": 0.2}}, False),
        ("score", {"score": 1, "probabilities": {"0": 0.3, "1": 0.3, "2": 0.3}}, False),  # rounded, and the sum is 0.9
        ("score", {"probabilities": {"0": 0.5, "1": 0.3, "2": 0.2}}, False),
    ],
)
def test_answers_that_contradict_themselves_are_counted(kind, answer, contradicts):
    options = {"choice": "ABC", "noul": ("yes", "no"), "score": "012"}[kind]
    shares = (answer["noul"], 0.1) if kind == "noul" else tuple(answer["probabilities"].values())
    assert is_contradiction(answer, options, Decided(shares, 1, math.nan), kind=kind) == contradicts


def test_an_answer_that_contradicts_itself_is_stated(tmp_path):
    results = [result(i) for i in range(4)]
    results[0]["response"]["answers"]["q1"] |= {"choice": "C"}
    (run,) = read(tmp_path, results, [row(i) for i in range(4)])
    assert run.provenance["caveats"].startswith("In 1 answer, the choice is not the most probable option, the score is")


def test_letter_mass_is_kept_where_the_server_says_it(tmp_path):
    results = [result(i, diagnostics={"q1": {"label_mass": 0.25}}) for i in range(4)]
    results[1]["response"]["diagnostics"] = {"q1": {"label_mass": 7}}
    (run,) = read(tmp_path, results, [row(i) for i in range(4)])
    assert run.scored.letter_mass[0] == 0.25
    assert np.isnan(run.scored.letter_mass[1])


def test_what_is_right_is_joined_by_id_and_hash_or_by_hash_alone(tmp_path):
    results = [result(i) for i in range(8)]
    del results[0]["run_id"]
    rows = [row(i) for i in range(1, 5)]
    rows += [row(0), row(5, payload_sha256="another text"), row(6, run_id="other:6"), row(7, run_id="other:7")]
    rows.append(row(7, run_id="once more:7", expected={"q1": "C"}))  # same text, another truth: which is not known
    (run,) = read(tmp_path, results, rows)
    names = [question.id.rpartition(":")[2] for question in run.questions]
    assert names == ["MMLU-0", "1", "2", "3", "4", "6"]
    assert run.provenance["caveats"].startswith(
        "The file has 2 results without a row of the suite that says what is right (24:MMLU:MMLU:test:5, "
        "24:MMLU:MMLU:test:7). Their right"
    )
    assert "2 results without a row of the suite that says what is right (24:MMLU:MMLU:test:5" in run.read_as


def test_two_rows_of_one_request_that_disagree_say_nothing(tmp_path):
    (run,) = read(tmp_path, [result(i) for i in range(8)], [*map(row, range(8)), row(2, expected={"q1": "A"}), row(3)])
    assert len(run.questions) == 7
    assert "1 result without a row of the suite that says what is right (24:MMLU:MMLU:test:2)" in run.read_as


def test_many_results_without_a_row_are_named_briefly(tmp_path):
    (run,) = read(tmp_path, [result(i) for i in range(40)], [row(i) for i in range(4)])
    assert "36 results without a row of the suite that says what is right" in run.provenance["caveats"]
    assert "and 31 more)" in run.provenance["caveats"]


def test_questions_of_one_request_or_group_belong_together(tmp_path):
    payload = {
        i: asked(i, a=CHOICE | {"instructions": f"a {i}"}, b=CHOICE | {"instructions": f"b {i}"}) for i in "wxyz"
    }
    answers = {key: {"type": "choice", "choice": "A", "probabilities": SHARES} for key in "ab"}
    results = [result(i, payload=payload["wxyz"[i]], answers=answers) for i in range(4)]
    rows = [row(i, payload=payload["wxyz"[i]], expected={"a": "A", "b": None if i else "B"}) for i in range(4)]
    (run,) = read(tmp_path, results, rows)
    assert [question.id.rpartition(":")[2] for question in run.questions] == ["0/a", "0/b", "1/a", "2/a", "3/a"]
    assert [question.cluster for question in run.questions] == ["MMLU:test:0"] * 2 + [""] * 3
    assert run.roles[0] == run.roles[1]
    assert "3 questions that the suite does not score left out" in run.read_as


def test_what_cannot_be_asked_is_left_out_and_counted(tmp_path):
    many = {f"option_{i}": f"{i}" for i in range(101)}
    rank = {"type": "rank", "instructions": "How good?", "criteria": {"0": "bad", "1": "good"}}
    others = [
        ("of another type than choice, noul and score", asked(4, q1=rank), {"q1": "1"}, None),
        ("with fewer than 2 or more than 100 options", asked(5, q1=CHOICE | {"criteria": many}), None, None),
        ("without one right option", None, {"q1": "E"}, None),
        ("without one right option", None, {"q1": ["A", "B"]}, None),
        ("without one right option", None, None, {"accepted": ["A", "B"]}),
        ("that the suite does not score", None, {"q1": None}, None),
    ]
    rows = [row(i) for i in range(4)]
    results = [result(i) for i in range(4)]
    for i, (_, payload, expected, scoring) in enumerate(others, start=4):
        rows.append(row(i, payload=payload, expected=expected, scoring=scoring))
        results.append(result(i, payload=payload))
    (run,) = read(tmp_path, results, rows)
    assert len(run.questions) == 4
    assert run.provenance["counts"] == {}
    for what, *_ in others:
        assert f"question{'s' * (what == others[2][0])} {what} left out" in run.read_as
    assert "3 questions without one right option left out" in run.read_as
    assert run.provenance["caveats"].startswith(
        "For 1 question, the right answer in the suite does not match any option, such as “E”."
    )


GRADE = {"type": "score", "instructions": "How good?", "criteria": ["bad", "fair", "good"]}


def graded(*values: float, **more) -> dict:
    levels = {str(level): p for level, p in enumerate(values)}
    score = sum(level * p for level, p in enumerate(values))
    return {"q1": {"type": "score", "score": score, "probabilities": levels} | more}


def grades(n: int, data: str = "MMLU", *, answers=None, truths=(0, 1, 2)) -> tuple[list, list]:
    """Results and rows of n questions that ask for a score."""
    payloads = [asked(i, q1=GRADE | {"instructions": f"How good is {i}?"}) for i in range(n)]
    results = [
        result(i, data, payload=payload, answers=answers or graded(0.2, 0.5, 0.3)) for i, payload in enumerate(payloads)
    ]
    rows = [
        row(i, data, payload=payload, expected={"q1": truths[i % len(truths)]}) for i, payload in enumerate(payloads)
    ]
    return results, rows


@pytest.mark.parametrize("truths", [(0, 1, 2), ("0", "1", "2"), ("bad", "fair", "good"), (0.0, 1.0, 2.0)])
def test_a_score_has_its_levels_as_ordered_options(tmp_path, truths):
    (run,) = read(tmp_path, *grades(6, truths=truths))
    assert [question.label for question in run.questions] == [0, 1, 2, 0, 1, 2]
    assert all(question.ordered and question.options == ("bad", "fair", "good") for question in run.questions)
    assert run.scored.probabilities.tolist() == [[0.2, 0.5, 0.3]] * 6
    assert "3 options in order" in run.read_as


def test_levels_of_compact_results_count_from_0(tmp_path):
    results, rows = grades(4, answers=graded(*[0.07] * 9, 0.37))
    for i, (line, row_of_suite) in enumerate(zip(results, rows, strict=True)):
        line["payload"] = row_of_suite["questions"] = None
        row_of_suite["expected"] = {"q1": i}
    (run,) = read(tmp_path, results, rows)
    assert [question.label for question in run.questions] == [0, 1, 2, 3]
    assert run.questions[0].options == (NOT_PUBLISHED,) * 10
    assert run.questions[0].ordered
    assert run.scored.probabilities[0][-1] == 0.37


@pytest.mark.parametrize(
    "answer",
    [
        graded(0.2, 0.5),
        graded(0.2, 0.5, 0.2),
        graded(0.2, 0.5, 0.3, score=2.5),
        graded(0.2, 0.5, math.nan),
        graded(0.2, 0.5, 0.3, type="choice"),
        {"q1": {"type": "score", "score": 1.0, "probabilities": {"1": 0.2, "2": 0.5, "3": 0.3}}},
        {"q1": {"type": "score", "score": 1.0}},
    ],
)
def test_a_score_that_is_none_is_a_missing_question(tmp_path, answer):
    results, rows = grades(5)
    results[4]["response"]["answers"] = answer
    (run,) = read(tmp_path, results, rows)
    assert (len(run.questions), run.provenance["counts"]) == (4, {"without an answer": 1})


@pytest.mark.parametrize("truth", [3, -1, 1.5, True, "great", [1], float("nan")])
def test_a_score_without_one_right_level_is_left_out(tmp_path, truth):
    results, rows = grades(5)
    rows[4]["expected"] = {"q1": truth}
    (run,) = read(tmp_path, results, rows)
    assert len(run.questions) == 4
    assert "1 question without one right option left out" in run.read_as


def test_a_data_set_of_scores_alone_is_a_run_of_ordered_options(home, tmp_path):
    scores, choices = grades(6, "grades"), ([result(i) for i in range(6)], [row(i) for i in range(6)])
    mixed = grades(12, "mixed")
    more = [result(i, "mixed") for i in range(6, 12)], [row(i, "mixed") for i in range(6, 12)]
    results = [*scores[0], *choices[0], *mixed[0][:6], *more[0]]
    rows = [*scores[1], *choices[1], *mixed[1][:6], *more[1]]
    runs = read(tmp_path, results, rows)
    assert [run.spec.task for run in runs] == ["grades", "MMLU", "mixed"]
    assert "in order in 6 questions" in runs[2].read_as
    imported.save(runs)
    assert [store.read_record(run.spec.run_id).ordered for run in runs] == [True, False, False]


def test_an_answer_without_options_is_a_missing_question(tmp_path):
    results = [result(i) for i in range(4)]
    results += [result(4, payload={}, answers={"q1": {"type": "choice", "probabilities": {}}})]
    rows = [row(i) for i in range(5)]
    del rows[4]["questions"]
    (run,) = read(tmp_path, results, rows)
    assert run.provenance["counts"] == {"without an answer": 1}


def test_only_the_question_that_the_suite_scores_counts(tmp_path):
    answers = {key: {"type": "choice", "choice": "A", "probabilities": SHARES} for key in ("verdict", "other")}
    results = [
        result(i, payload=asked(i, verdict=CHOICE | {"instructions": f"Is it {i}?"}, other=CHOICE), answers=answers)
        for i in range(4)
    ]
    scoring = {"type": "calibration_decisions", "primary_field": "verdict"}
    rows = [row(i, expected={"verdict": "A", "other": "B"}, scoring=scoring) for i in range(4)]
    (run,) = read(tmp_path, results, rows)
    assert {question.id.rpartition("/")[2] for question in run.questions} == {"verdict"}


def test_data_sets_that_make_no_run_are_named(tmp_path):
    results = [result(i) for i in range(4)] + [result(0, "HLE"), result(0, "BBH", status="unsupported")]
    rows = [row(i) for i in range(4)] + [row(0, "HLE"), row(0, "BBH")]
    (run,) = read(tmp_path, results, rows)
    assert "data sets left out: HLE (" in run.read_as
    assert "BBH (1 question missing (unsupported))" in run.read_as
    with pytest.raises(InputError, match=r"found none: BBH \(1 question missing \(unsupported\)\)"):
        read(tmp_path, results[-1:], rows)
    with pytest.raises(
        InputError, match=r"found none: MMLU \(4 results without a row of the suite that says what is right \(24:MMLU"
    ):
        read(tmp_path, results[:4], rows[-1:])


def test_a_file_by_several_models_says_so_and_one_by_no_model_has_the_folder_s_name(tmp_path):
    results = [result(i) for i in range(6)]
    results[0]["response"]["model"] = "jev-1.14.0"
    (run,) = read(tmp_path, results, [row(i) for i in range(6)])
    assert run.spec.model == "jev-1.13.0"
    assert run.provenance["caveats"] == "The answers of this run are by 2 models (jev-1.13.0, jev-1.14.0)."
    others = [result(i, "BBH") for i in range(6)]
    for line in others:
        line["response"]["model"] = "jev-1.15.0"
    both = read(tmp_path, results[1:] + others, [row(i, data) for i in range(6) for data in ("MMLU", "BBH")])
    assert [(run.spec.model, "caveats" in run.provenance) for run in both] == [
        ("jev-1.13.0", False),
        ("jev-1.15.0", False),
    ]
    for line in results:
        del line["response"]["model"]
    (run,) = read(tmp_path / "my-model", results, [row(i) for i in range(6)])
    assert (run.spec.model, run.provenance["lacks"]) == ("my-model", ["model"])


def test_the_same_answers_with_more_rows_of_the_suite_are_the_same_run(tmp_path):
    results = [result(i, data) for data in ("MMLU", "BBH") for i in range(4)]
    (alone,) = read(tmp_path, results, [row(i) for i in range(4)])
    both = read(tmp_path, results, [row(i, data) for data in ("BBH", "MMLU") for i in range(4)])
    assert alone.spec.run_id in {run.spec.run_id for run in both}
    (other,) = read(tmp_path, results, [row(i, expected={"q1": "A"}) for i in range(4)])
    assert other.spec.run_id != alone.spec.run_id


def test_a_line_with_a_key_twice_is_refused(tmp_path):
    """Which of the two probabilities counts would be a guess, in lines and in a list."""
    line = json.dumps(result(0))
    twice = line.replace('"probabilities": {', '"probabilities": {"A": 0.5, ', 1)
    assert twice != line
    for text in (f"{line}\n{twice}\n", f"[{line}, {twice}]"):
        (tmp_path / "results.jsonl").write_text(text)
        (tmp_path / "rows.jsonl").write_text(json.dumps(row(0)))
        with pytest.raises(InputError, match="an object has the key 'A' twice"):
            decision_index.read(tmp_path / "results.jsonl", [tmp_path / "rows.jsonl"])


@pytest.mark.parametrize(
    ("results", "rows", "sentence"),
    [
        ([{"dataset": "MMLU"}], [row(0)], r"results\.jsonl, line 1: expected a result of the Decision Index with"),
        ([result(0)], [{"id": 1}], r"selected-rows\.jsonl, line 1: expected a row of the Decision Index's suite"),
        ([result(0)], [row(0, expected=["A"])], r"selected-rows\.jsonl, line 1: expected a row"),
        ([result(0, dataset=7)], [row(0)], r"line 1: expected the name of a data set, found '7'"),
        ([result(i, dataset=f"d{i}") for i in range(501)], [row(0)], "expected at most 500 data sets, found more"),
    ],
)
def test_other_lines_are_refused_by_file_and_line(tmp_path, results, rows, sentence):
    with pytest.raises(InputError, match=sentence):
        read(tmp_path, results, rows)


@pytest.mark.parametrize(
    "response",
    [None, [], "x", {"answers": []}, {"answers": {"q1": []}}, {"model": {"a": 1}, "answers": None, "diagnostics": 3}],
)
def test_values_of_any_kind_are_no_traceback(tmp_path, response):
    results = [result(i) for i in range(4)] + [result(i, response=response, payload=7) for i in range(4, 9)]
    (run,) = read(tmp_path, results, [row(i) for i in range(9)])
    assert (len(run.questions), run.provenance["counts"]) == (4, {"without an answer": 5})


def test_names_from_the_file_are_short_and_of_one_line(tmp_path):
    results = [result(i, dataset="MM\x1bLU\n" + "x" * 900) for i in range(4)]
    for line in results:
        line["response"]["model"] = "m\n" * 900
    (run,) = read(tmp_path, results, [row(i) for i in range(4)])
    assert len(run.spec.task) <= 200
    assert len(run.spec.model) <= 200
    assert run.spec.task.isprintable()
    assert run.spec.model.isprintable()


def test_compressed_files_are_dropped_together(home, tmp_path):
    files = {
        "runs/my-run/results.jsonl.gz": gzip.compress(as_lines([result(i) for i in range(6)])),
        "selected-rows.jsonl.gz": gzip.compress(as_lines([row(i) for i in range(6)])),
        "added-rows.jsonl.gz": gzip.compress(as_lines([row(0, "BBH")])),
    }
    reading = dropped(tmp_path, files)
    assert not refused(reading)
    (found_run,) = reading.runs
    imported.save([found_run.run])
    record = store.read_record(found_run.run.spec.run_id)
    assert record.provenance["bank"]["name"] == "Decision Index"
    assert figures(found_run.run).questions == 6


def test_one_of_the_two_files_alone_says_what_is_lacking(home, tmp_path):
    rows = refused(dropped(tmp_path / "a", {"selected-rows.jsonl": as_lines([row(i) for i in range(6)])}))
    assert rows["selected-rows.jsonl"].endswith("import the results.jsonl of a model too")
    results = refused(dropped(tmp_path / "b", {"results.jsonl": as_lines([result(i) for i in range(6)])}))
    assert results["results.jsonl"].endswith("import the suite's selected-rows.jsonl.gz too")


def test_hostile_lines_become_sentences(home, tmp_path):
    good = as_lines([result(i) for i in range(6)])
    suite = as_lines([row(i) for i in range(6)])
    deep = json.dumps(result(7)).replace('"status": "ok"', '"status": ' + "[" * 100_000 + "]" * 100_000).encode()
    for name, content in (("deep", good + deep), ("cut", good[:-40]), ("binary", good + b"\xff\xfe{}\n")):
        sentences = refused(dropped(tmp_path / name, {"results.jsonl": content, "selected-rows.jsonl": suite}))
        assert "results.jsonl" in sentences, name
        assert "line 7" in sentences["results.jsonl"] or "line 6" in sentences["results.jsonl"], sentences


def test_figures_before_an_import_are_ranges_where_zeros_were_rounded(home, tmp_path):
    """As in the report afterwards; and ends that are equal are one figure."""
    shares = [(0.9, 0.1, 0.0), (0.2, 0.8, 0.0), (0.3, 0.0, 0.7), (1.0, 0.0, 0.0)]
    rounded = [result(i, answers=probabilities(*shares[i % 4])) for i in range(40)]
    (run,) = read(tmp_path, rounded, [row(i) for i in range(40)])
    shown = figures(run)
    (name,) = imported.save([run])
    stored = bounded_report(name, 100)
    assert shown.accuracy == stored.accuracy
    assert shown.mean_set_size == stored.scores["lac"].mean_set_size
    assert shown.mean_set_size[0] < shown.mean_set_size[1]
    assert shown.accuracy[0] == shown.accuracy[1]  # the top option is known in every question
