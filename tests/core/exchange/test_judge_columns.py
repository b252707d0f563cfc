"""A table with a column for each judge."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError
from core.exchange import juries
from core.exchange.dropped.recognition import kind_of
from core.exchange.judge_columns import judge_columns
from core.exchange.label_files import read_judged
from core.tables.tabular import open_sheet

pytestmark = pytest.mark.quick


def table(folder: Path, header: str, *rows: str) -> Path:
    path = folder / "verdicts.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_verdicts_of_any_words_and_probabilities_are_a_jury(tmp_path):
    path = table(
        tmp_path,
        "id,question,answer,gpt4_verdict,claude_verdict,llama_verdict,confidence,human",
        "a,Capital of France?,Paris,Correct,yes,0.9,0.5,1",
        "b,Capital of Italy?,Milan,incorrect,No,0.4,0.7,0",
        "c,Capital of Spain?,Madrid,correct,no,1,0.7,1",
        "d,Capital of Peru?,Lima,correct,yes,0.7,0.7,",
    )
    assert kind_of(path) == "jury"
    made = juries.read([path])
    judged = made.judgements
    assert judged.jurors == ("gpt4", "claude", "llama")
    assert judged.ids == ("a", "b", "c")
    assert judged.labels.tolist() == [True, False, True]
    assert np.array_equal(judged.p_true, [[1, 1, 0.9], [0, 0, 0.4], [1, 0, 1]])
    assert made.notes[1] == "1 row is left out, because human names no side."


@pytest.mark.parametrize(
    ("header", "name", "shares"),
    [
        ("question,answer,verdict,confidence,human", "verdict", [0.9, 0.2, 0.6]),
        ("question,answer,gpt4_verdict,gpt4_confidence,human", "gpt4", [0.9, 0.2, 0.6]),
        ("question,answer,gpt4,score,human", "gpt4", [1, 0, 1]),
    ],
)
def test_one_judge_is_enough_where_no_jury_is_needed(tmp_path, header, name, shares):
    path = table(tmp_path, header, "Q1?,a,yes,0.9,1", "Q2?,b,no,0.8,0", "Q3?,c,yes,0.6,", "Q4?,d,yes,0.6,1")
    made = juries.read([path], single=True)
    assert made.judgements.jurors == (name,)
    assert made.judgements.p_true[:, 0] == pytest.approx([shares[0], shares[1], shares[2]])
    assert made.notes == (
        f"human is what is right; the judge is {name}.",
        "1 row is left out, because human names no side.",
    )
    assert kind_of(path) != "jury"
    judged = read_judged(path)
    assert judged.judgements.p_true[:, 0] == pytest.approx([*shares, shares[2]])
    np.testing.assert_array_equal(judged.labels, [1, 0, np.nan, 1])


def test_verdicts_are_drawn_for_labels_before_any_is_given(tmp_path):
    path = table(tmp_path, "question,response_a,response_b,gpt4,claude", "Q1?,a,b,A,B", "Q2?,a,b,tie,A")
    judged = read_judged(path)
    assert (judged.judgements.pairwise, judged.judges) == (True, ("gpt4", "claude"))
    assert judged.judgements.p_true.tolist() == [[1, 0], [0.5, 1]]
    assert not judged.labelled.any()


def test_the_better_answers_of_pairs_are_a_jury(tmp_path):
    path = table(
        tmp_path,
        "prompt,response_a,response_b,gpt-4o,claude-3,human_preference",
        "Name a fruit.,Apple,Car,A,A,A",
        "Name a car.,Apple,Fiat,B,tie,B",
        "Name a sea.,Baltic,Oslo,B,A,A",
        "Name a sum.,2,3,A,B,tie",
    )
    judged = juries.read([path]).judgements
    assert judged.pairwise
    assert judged.answers[0] == "First: Apple\n\nSecond: Car"
    assert judged.labels.tolist() == [True, False, True]
    assert np.array_equal(judged.p_true, [[1, 1], [0, 0.5], [0, 1]])


def test_judges_in_an_object_and_in_per_cent_are_read(tmp_path):
    rows = [
        {"question": f"q{i}", "answer": f"a{i}", "judges": {"gpt4": "90%", "claude": f"{i}%"}, "human": i > 1}
        for i in range(4)
    ]
    path = tmp_path / "verdicts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert kind_of(path) == "jury"
    judged = juries.read([path]).judgements
    assert judged.jurors == ("gpt4", "claude")
    assert np.allclose(judged.p_true, [[0.9, i / 100] for i in range(4)])


def test_a_row_for_each_verdict_has_names_of_its_own(tmp_path):
    path = table(
        tmp_path,
        "prompt,response,judge,verdict,human_label",
        "Capital of France?,Paris,gpt4,correct,1",
        "Capital of France?,Paris,claude,incorrect,1",
        "Capital of Italy?,Milan,gpt4,incorrect,0",
        "Capital of Italy?,Milan,claude,0.25,0",
    )
    assert kind_of(path) == "jury"
    judged = juries.read([path]).judgements
    assert (judged.jurors, judged.labels.tolist()) == (("gpt4", "claude"), [True, False])
    assert np.array_equal(judged.p_true, [[1, 0], [0, 0.25]])
    path = table(
        tmp_path, "item_id,rater,judgement,label", "1,gpt4,yes,1", "1,claude,no,1", "2,gpt4,no,0", "2,claude,no,0"
    )
    assert kind_of(path) == "jury"
    assert np.array_equal(juries.read([path]).judgements.p_true, [[1, 0], [0, 0]])  # answers with ids alone


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("question,answer,cat,dog,label", ["?,x,0.2,0.8,1", "?,y,0.7,0.3,0"]),  # shares of options
        ("question,answer,A,B,correct", ["?,A,0.2,0.7,1", "?,B,0.7,0.2,0"]),
        ("question,answer,prediction,confidence,p_true,label", ["?,x,1,0.9,0.8,1", "?,y,0,0.7,0.1,0"]),
        ("question,answer,gpt4,claude,label", ["?,x,A,C,1", "?,y,B,D,0"]),  # picks
        ("question,answer,llama_A,llama_B,correct", ["?,A,40,60,1", "?,B,70,30,0"]),  # shares of options in per cent
        ("question,gpt4,claude", ["?,1,0", "?,0,1"]),
    ],
)
def test_other_tables_are_no_jury(tmp_path, header, rows):
    assert judge_columns(open_sheet(table(tmp_path, header, *rows))) is None


@pytest.mark.parametrize(
    ("header", "rows", "says"),
    [
        (
            "question,answer,gpt4,claude,human,correct",
            ["?,x,yes,no,yes,no", "?,y,yes,yes,yes,yes"],
            "the columns 'human' and 'correct' may both say what is right, and differ; leave out or rename",
        ),
        (
            "prompt,response_a,response_b,gpt4,claude,human",
            ["?,x,y,1,0,1", "?,y,z,0,0,1"],
            "1 may mean that the first answer of a pair is better, or 0 and 1 may be .* write A and B",
        ),
        (
            "question,answer,gpt4,claude,human",
            ["?,x,yes,no,yes", "?,y,yes,,yes"],
            "line 3: expected the verdict of 'claude' on every answer, found ''; fill it in",
        ),
        (
            "question,answer,gpt4,claude,human",
            ["?,x,8,9,1", "?,y,3,7,0"],
            r"its judges \('gpt4', 'claude'\) give points; a jury needs verdicts such as yes and no",
        ),
        (
            "question,answer,gpt4,claude",
            ["?,x,yes,no", "?,y,no,no"],
            "it has the verdicts of 'gpt4', 'claude' and no column that says what is right, such as 'human'",
        ),
        (
            "id,results,subset,text_chosen,text_rejected",
            ["1,1,easy,x,y", "2,0,easy,x,y"],
            "it has the verdicts of one judge on pairs of answers; a jury needs two or more judges",
        ),
    ],
)
def test_what_can_be_read_in_two_ways_is_asked(tmp_path, header, rows, says):
    with pytest.raises(InputError, match=says):
        juries.read([table(tmp_path, header, *rows)])


def test_a_confidence_beside_a_verdict_is_the_probability_of_this_verdict(tmp_path):
    path = table(
        tmp_path,
        "question,answer,gpt4_verdict,gpt4_confidence,claude_verdict,Claude confidence,human",
        "Capital of France?,Paris,yes,0.9,no,80%,1",
        "Capital of Italy?,Milan,no,0.7,yes,100%,0",
    )
    judged = juries.read([path]).judgements
    assert judged.jurors == ("gpt4", "claude")
    assert np.array_equal(judged.p_true, [[0.9, 0.2], [0.3, 1]])
    rows = ["q1,a1,gpt4,yes,0.9,1", "q2,a2,gpt4,no,0.7,0", "q1,a1,claude,no,0.8,1", "q2,a2,claude,yes,1,0"]
    tidy = table(tmp_path, "question,answer,judge,verdict,confidence,human", *rows)
    assert np.array_equal(juries.read([tidy]).judgements.p_true, judged.p_true)
    with pytest.raises(InputError, match=r"line 3: expected in 'confidence' the confidence .* found '0.3'"):
        juries.read([table(tmp_path, "question,answer,judge,verdict,confidence,human", rows[0], "q2,a2,gpt4,no,0.3,0")])


@pytest.mark.parametrize("first", ["A", "model_a", "First"])
def test_rows_of_verdicts_on_pairs_name_sides_by_letter_and_shares_in_per_cent(tmp_path, first):
    second = {"A": "B", "model_a": "model_b", "First": "Second"}[first]
    path = table(
        tmp_path,
        "question,answer,juror,p_true,label",
        f"q1,pair,x,90%,{first}",
        f'q2,pair,x,"0,25",{second}',
        f"q1,pair,y,{first},{first}",
        f"q2,pair,y,tie,{second}",
    )
    judged = juries.read([path]).judgements
    assert judged.pairwise
    assert judged.labels.tolist() == [True, False]
    assert np.array_equal(judged.p_true, [[0.9, 1], [0.25, 0.5]])
