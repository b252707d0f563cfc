"""Tables of anybody's: recognised, mapped, ragged, and refused with the line that is wrong."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from core.errors import InputError
from core.exchange import table, table_columns, table_values
from core.exchange.imported import save
from core.exchange.table_columns import Columns
from core.records import DONT_KNOW, NONE_OF_ABOVE
from core.reports.evaluation import load
from core.reports.report import report
from core.settings import settings
from core.tables import safe_read
from core.tables.tabular import meant, neutral, open_sheet

pytestmark = pytest.mark.quick

ROWS = [  # p_A, p_B, p_C, the truth
    (0.7, 0.2, 0.1, "A"),
    (0.1, 0.8, 0.1, "B"),
    (0.3, 0.3, 0.4, "C"),
    (0.5, 0.25, 0.25, "A"),
]


def frame(n: int = 4) -> pd.DataFrame:
    table_frame = pd.DataFrame(ROWS * (n // 4), columns=["p_A", "p_B", "p_C", "label"])
    return table_frame.assign(id=[f"q{i}" for i in range(n)], question=[f"what is {i * i} to {i}" for i in range(n)])


def write(folder: Path, table_frame: pd.DataFrame, ending: str) -> Path:
    path = folder / f"mine{ending}"
    if ending == ".parquet":
        table_frame.to_parquet(path, index=False)
    elif ending == ".jsonl":
        table_frame.to_json(path, orient="records", lines=True)
    else:
        table_frame.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    return path


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".jsonl"])
def test_probabilities_come_back(home, tmp_path, ending):
    (name,) = save(table.read([write(tmp_path, frame(), ending)]))
    run = load(name)
    assert run.probabilities == pytest.approx(np.array([row[:3] for row in ROWS]), abs=1e-6)
    assert run.labels.tolist() == [0, 1, 2, 0]
    assert run.ids.tolist() == ["q0", "q1", "q2", "q3"]
    assert (len(run.calibration), len(run.test)) == (2, 2)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([[0.25, 0.75], [0.5, 0.5]], "probabilities"),
        ([[-1.3862943611, -0.2876820724], [-0.6931, -0.6932]], "log-probabilities"),
        ([[-5.0, -9.0], [-7.0, -1.0]], "log-probabilities"),
        ([[2.5, -1.0], [0.0, 1.0]], "logits"),
        ([[12.0, 9.0], [-7.0, 1.0]], "logits"),
    ],
)
def test_what_cells_are_is_recognised(values, kind):
    assert table_values.recognised_values(np.array(values)) == kind


def test_what_is_told_is_not_guessed(home, tmp_path):
    # 0 and 1 are logits here: softmax gives 1/(1+e) = 0.2689.
    path = tmp_path / "t.csv"
    path.write_text("A,B,label\n0,1,B\n1,0,A\n")
    columns = table_columns.Columns(("A", "B"), "label", values="logits")
    (name,) = save(table.read([path], columns=columns))
    assert load(name).probabilities[0] == pytest.approx([0.26894142, 0.73105858])


@pytest.mark.parametrize(
    ("header", "labels", "expected"),
    [
        ("A,B,label", "AB", [0, 1]),
        ("A,B,label", "ab", [0, 1]),
        ("A,B,label", "01", [0, 1]),
        ("A,B,label", "12", [0, 1]),  # never 0, and 2 is no option counted from 0
        ("p0,p1,answer", "10", [1, 0]),
        ("p1,p2,gold", ("p2", "p1"), [1, 0]),
    ],
)
def test_ways_to_name_the_truth(tmp_path, header, labels, expected):
    path = tmp_path / "t.csv"
    path.write_text(f"{header}\n0.3,0.7,{labels[0]}\n0.6,0.4,{labels[1]}\n")
    (run,) = table.read([path])
    assert [q.label for q in run.questions] == expected


def test_shorter_questions_keep_their_options_and_no_set_holds_more(home, tmp_path):
    # The three-option rows' truth is always last, so that APS has threshold 1 and every set is full.
    lines = ["A,B,C,label,split"]
    lines += ["0.5,0.3,0.2,C,calibration"] * 20 + ["0.6,0.4,,B,test", "0.5,0.3,0.2,A,test"] * 5
    path = tmp_path / "ragged.csv"
    path.write_text("\n".join(lines) + "\n")
    (name,) = save(table.read([path]))
    run = load(name)
    assert run.k == 3
    assert run.option_counts[run.test].tolist() == [2, 3] * 5
    figures_read = report(run, 100)
    assert any("from 2 to 3 options" in note for note in figures_read.notes)
    for figures in figures_read.scores.values():
        assert figures.mean_set_size == 2.5
        assert figures.coverage == 1
    with np.errstate(invalid="raise"):
        from core.reports.frames import overview_at, summarise

        assert overview_at([summarise(run)], 100)["aps_set_size"].tolist() == [2.5]


@pytest.mark.parametrize("k", [2, 26])
def test_from_two_to_twenty_six_options(home, tmp_path, k):
    p = np.random.default_rng(0).dirichlet(np.ones(k), 50)
    table_frame = pd.DataFrame(p, columns=[f"p_{letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:k]])
    table_frame["label"] = p.argmax(axis=1)
    (name,) = save(table.read([write(tmp_path, table_frame, ".csv")]))
    assert load(name).probabilities == pytest.approx(p, abs=1e-6)
    assert report(load(name), 100).accuracy == 1


def test_a_mapping_names_the_columns(home, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("yes;no;unsure;none;says;who;part\n0.5;0.2;0.2;0.1;yes;x;cal\n0.1;0.7;0.1;0.1;no;y;test\n")
    mapping = tmp_path / "mapping.json"
    mapping.write_text(
        json.dumps(
            {"options": ["yes", "no", "unsure", "none"], "label": "says", "id": "who", "split": "part", "extra": True}
        )
    )
    (run,) = table.read([path], columns=table_columns.read_mapping(mapping))
    assert run.questions[0].options == ("yes", "no", DONT_KNOW, NONE_OF_ABOVE)
    assert run.roles == ("calibration", "test")
    columns = table_columns.read_mapping(mapping)
    assert table_columns.Columns.from_json(columns.to_json()) == columns


def test_rows_of_several_models_are_several_runs(home, tmp_path):
    table_frame = pd.concat([frame().assign(model=name) for name in ("small", "large")])
    runs = table.read([write(tmp_path, table_frame, ".csv")])
    assert [run.spec.model for run in runs] == ["small", "large"]
    assert len(set(save(runs))) == 2


GOOD = "id,A,B,C,label\n1,0.5,0.3,0.2,A\n2,0.1,0.8,0.1,B\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected results, found an empty file"),
        ("id,A,B,C,label\n", "expected rows below the header, found none"),
        ("hello\nworld\n", r"line 1: expected a header with several columns, found 'hello'"),
        (GOOD + "3,0.5,0.3", "expected 5 columns"),
        (GOOD + "3,0.5,x,0.2,A\n", "line 4: expected a number in 'B', found 'x'"),
        (GOOD + "3,0.5,nan,0.2,A\n", "line 4: expected a number in 'B', found NaN"),
        (GOOD + "3,0.5,inf,0.2,A\n", "line 4: expected numbers, found infinity"),
        (GOOD + "3,0.5,0.3,0.1,A\n", "line 4: expected probabilities .* with sum 0.9"),
        (GOOD + "3,1.5,-0.3,-0.2,A\n", "line 4: expected probabilities from 0 to 1"),
        (GOOD + "3,0.5,,0.5,A\n", "line 4: expected options without gaps, found 'B' empty"),
        (GOOD + "3,1,,,A\n", "line 4: expected at least 2 options, found 1"),
        (GOOD + "3,0.5,0.5,,C\n", r"line 4: expected one of 2 options that can be right .* found 'C'"),
        (GOOD + "3,0.5,0.3,0.2,E\n", r"line 4: expected one of 3 options that can be right .* found 'E'"),
        (GOOD + "3,0.5,0.3,0.2,\n", "line 4: expected the right option in 'label'"),
        (GOOD + "2,0.5,0.3,0.2,A\n", r"line 4: expected every id once, found '2' again .*line 3"),
        (GOOD + f"{'x' * 900},0.5,0.3,0.2,A\n" * 2, r"line 5: expected every id once, found 'x{79}…' again"),
        (GOOD + ",0.5,0.3,0.2,A\n", "line 4: expected an id in 'id', found an empty cell"),
        ("id,A,B,label\n1,0.5,0.5,A\n2,0.5,0.5,B\n", "found all equal in each of 2"),
        ("id,x,y1,z\n1,2,3,4\n", "it is a table with 1 row and the columns 'id', 'x', 'y1', 'z'"),
        ("id,A,B\n1,0.5,0.5\n", "it has figures of options and no right answers; add a column 'label'"),
        ("id,A,A,label\n1,0.5,0.5,A\n", "line 1: expected every column once, found 'A' again"),
        ("A,B,label,split\n0.5,0.5,A,cal\n0.6,0.4,A,demo\n", "found only calibration, demonstration"),
        (
            "A,B,label,split\n0.5,0.5,A,cal\n0.6,0.4,A,tset\n",
            "line 3: expected calibration or test in 'split', found 'tset'",
        ),
        ('A,B,label,question\n0.5,0.5,A,"two\nlines"\n0.6,x,A,b\n', "line 4: expected a number in 'B', found 'x'"),
        ("A,B,label,dtype\n0.6,0.4,A,float99\n0.5,0.5,B,float99\n", "line 2: .*unknown dtype 'float99'"),
        ("A,B,label,split\n0.6,0.4,A,train\n0.7,0.3,B,train\n", "found only training rows, which do neither"),
        ("cat,dog,bird,top\n0.1,0.5,0.4,dog\n0.2,0.2,0.6,bird\n", "--options and --label"),  # a classifier's answers
        ("annot_id,ending0,ending1\nt-0,0.1,0.9\nt-1,0.8,0.2\n", "it has figures of options and no right answers"),
        ("id,p_A,p_B,p_C\n10,0.1,0.8,0.1\n11,0.2,0.2,0.6\n12,0.3,0.3,0.4\n", "figures of options and no right answers"),
        ("qid,choice,logprob,label\n" + "1,A,-1,A\n1,B,-1,A\n2,A,-1,A\n2,B,-1,A\n", "found a row for each option"),
        (",".join([*(f"p{i}" for i in range(101)), "label"]) + f"\n{'0,' * 101}0\n", "at most 100 options, found 101"),
        (f"probs;label\n{[0.5, *[0.005] * 100]};0\n{[0.5, *[0.005] * 100]};3\n", "at most 100 options, found 101"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(home, tmp_path, text, says):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text(GOOD + "3,0.2,0.2,0.6,C\n")
    bad.write_text(text)
    with pytest.raises(InputError, match=says) as raised:
        save(table.read([good, bad]))
    assert str(bad) in str(raised.value)
    assert not settings().runs.exists()


def test_a_truncated_parquet_and_what_is_no_table(tmp_path):
    path = write(tmp_path, frame(), ".parquet")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="expected a whole Parquet file"):
        open_sheet(path)
    (tmp_path / "t.xls").write_bytes(b"x")
    with pytest.raises(InputError, match="expected a header with several columns, found 'x'"):
        open_sheet(tmp_path / "t.xls")
    (tmp_path / "cut.csv").write_bytes("A,B,labelé\n0.5,0.5,é\n".encode()[:-2])
    with pytest.raises(InputError, match="line 2: expected text in UTF-8, found byte 0xc3"):
        open_sheet(tmp_path / "cut.csv")
    (tmp_path / "cut.jsonl").write_text('{"A": 0.5, "B": 0.5, "label": 0}\n{"A": 0.5, "B"')
    with pytest.raises(InputError, match="line 2: expected a whole JSON object"):
        open_sheet(tmp_path / "cut.jsonl")


def test_a_file_of_two_gigabytes_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.truncate(2_100_000_000)  # takes no room on the disk
    with pytest.raises(InputError, match=r"expected at most 2 GB, found 2\.1 GB; split it"):
        open_sheet(path)


def test_more_questions_than_are_read_of_one_file_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(safe_read, "MOST_QUESTIONS", 3)
    with pytest.raises(InputError, match=r"mine.csv: expected at most 3 questions, found 4"):
        table.read([write(tmp_path, frame(), ".csv")])


def test_a_parquet_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("core.tables.tabular.MOST_UNPACKED", 1_000_000)
    path = tmp_path / "bomb.parquet"
    pd.DataFrame({"A": np.zeros(1_000_000), "label": "A" * 100}).to_parquet(path)
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match="unpacks to at most"):
        open_sheet(path)


@hypothesis_settings(max_examples=200)
@given(st.text(alphabet="'=+-@\t\rab1", max_size=8))
def test_a_neutral_text_starts_no_formula_and_comes_back(text):
    assert neutral(text)[:1] not in tuple("=+-@\t\r")
    assert meant(neutral(text)) == text


def test_questions_alike_stay_on_one_side_and_two_imports_split_alike(tmp_path):
    table_frame = frame(40)
    table_frame.loc[20:, "question"] = table_frame["question"][:20].tolist()
    (run,) = table.read([write(tmp_path, table_frame, ".csv")])
    role = dict(zip((q.id for q in run.questions), run.roles, strict=True))
    assert all(role[f"q{i}"] == role[f"q{i + 20}"] for i in range(20))
    (again,) = table.read([write(tmp_path, table_frame.iloc[::-1], ".jsonl")])
    assert dict(zip((q.id for q in again.questions), again.roles, strict=True)) == role


def test_a_question_asked_in_another_order_is_no_new_question(tmp_path):
    """Once with the split that the table gives, once with ours."""
    rows = []
    for i in range(20):
        for turn in range(2):
            options = [f"{word} {i}" for word in ("red", "green", "blue")]
            options = options[turn:] + options[:turn]
            rows.append(
                {"id": f"{i}-{turn}", "question": f"What colour is number {i}?", "label": "ABC"[(i - turn) % 3]}
                | {f"option_{letter}": option for letter, option in zip("ABC", options, strict=True)}
                | {f"p_{letter}": p for letter, p in zip("ABC", (0.5, 0.3, 0.2), strict=True)}
                | {"split": "calibration" if i < 10 else "test"}
            )
    for name, variant in (("given", rows), ("ours", [{k: v for k, v in row.items() if k != "split"} for row in rows])):
        path = tmp_path / f"{name}.csv"
        pd.DataFrame(variant).to_csv(path, index=False)
        (run,) = table.read([path])
        assert run.roles.count("rotation") == 20
        assert (run.roles.count("calibration"), run.roles.count("test")) == (10, 10)


@pytest.mark.parametrize("first", [4, 6])
def test_all_rows_say_how_many_options_there_are(tmp_path, first):
    rows = []
    for i in range(140):
        k = first if i < 70 else 10 - first
        shares = [0.5 if j == i % k else 0.5 / (k - 1) for j in range(k)]
        rows.append(",".join([f"q{i}", *map(str, shares), *[""] * (6 - k), "ABCDEF"[i % k]]))
    path = tmp_path / "mixed.csv"
    path.write_text("\n".join(["id,A,B,C,D,E,F,label", *rows]) + "\n")
    (run,) = table.read([path])
    assert [len(question.options) for question in run.questions] == [first] * 70 + [10 - first] * 70
    assert [question.label for question in run.questions[70:76]] == [(70 + i) % (10 - first) for i in range(6)]


# ---------------------------------------------------------------- which columns are options


def rows_of(path, header, rows):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def test_tokens_beside_the_letters_are_no_options(tmp_path):
    """Columns of the most probable tokens: e is one of them in the first row, and the questions have three options."""
    path = rows_of(
        tmp_path / "t.csv",
        "question,choices,answer,a,b,c,d,e,the",
        [
            ("Q1","\"['x' 'y' 'z']\"", 2, 0.1, 0.2, 0.6, 0.05, 0.01, 0.02),
            ("Q2","\"['u' 'v' 'w']\"", 0, 0.7, 0.1, 0.1, "", "", 0.05),
        ],
    )  # fmt: skip
    (run,) = table.read([path])
    assert [question.options for question in run.questions] == [("x", "y", "z"), ("u", "v", "w")]
    assert run.scored.letter_mass == pytest.approx([0.9, 0.9])
    assert "next-token probabilities" in run.read_as


@pytest.mark.parametrize(
    ("header", "labels", "texts", "right"),
    [
        ("p_cat,p_dog,p_bird,label", ("dog", "bird"), ("cat", "dog", "bird"), [1, 2]),
        ("prob_cat,prob_dog,prob_bird,y", (1, 0), ("cat", "dog", "bird"), [1, 0]),
        ("cat,dog,bird,label", ("dog", "bird"), ("cat", "dog", "bird"), [1, 2]),
        ("A,B,other,label", ("B", "A"), ("A", "B", "other"), [1, 0]),  # the three sum to 1, and A and B do not
        ("p_cat,p_dog,p_bird,true_class", ("dog", "bird"), ("cat", "dog", "bird"), [1, 2]),
        ("P(cat),P(dog),P(bird),actual", ("dog", "bird"), ("cat", "dog", "bird"), [1, 2]),
        ("cat,dog,bird,target", (1, 0), ("cat", "dog", "bird"), [1, 0]),
        ("cat,dog,bird,animal", ("dog", "cat"), ("cat", "dog", "bird"), [1, 0]),  # only its cells name classes
        ("comp.x,comp.y,rec.z,newsgroup", ("rec.z", "comp.x"), ("comp.x", "comp.y", "rec.z"), [2, 0]),
        ("1,2,3,stars", (2, 1), ("1", "2", "3"), [1, 0]),
        ("cat,dog,bird,label,idx,confidence", ("dog,7,0.5", "cat,8,0.6"), ("cat", "dog", "bird"), [1, 0]),
        ("p0,p1,p2,label", (1, 0), ("0", "1", "2"), [1, 0]),  # one option of several is no binary classifier's
    ],
)
def test_columns_are_named_after_classes(tmp_path, header, labels, texts, right):
    rows = [(0.1, 0.5, 0.4, labels[0]), (0.2, 0.2, 0.6, labels[1])]
    (run,) = table.read([rows_of(tmp_path / "t.csv", header, rows)])
    assert [question.options for question in run.questions] == [texts, texts]
    assert [question.label for question in run.questions] == right


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        ([{"y_proba": [0.1, 0.5, 0.4], "y_test": 1}, {"y_proba": [0.6, 0.3, 0.1], "y_test": 0}], ("0", "1", "2")),
        (
            [
                {"probs": {"cat": 0.1, "dog": 0.5, "ox": 0.4}, "true": "dog"},
                {"probs": {"cat": 0.6, "dog": 0.3, "ox": 0.1}, "true": "cat"},
            ],
            ("cat", "dog", "ox"),
        ),
    ],
)
def test_a_classifiers_lists_and_objects_name_its_classes(tmp_path, rows, options):
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    (run,) = table.read([path])
    assert run.questions[0].options == options
    assert [question.label for question in run.questions] == [1, 0]
    assert run.provenance["classes"]


def test_rows_rounded_to_hundredths_are_divided_by_their_sums(tmp_path):
    """With ten classes, each rounded by up to 0.005, a row may sum to 1.05."""
    row = (0.61, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.04)
    header = ",".join([*(f"p{j}" for j in range(10)), "y"])
    (run,) = table.read([rows_of(tmp_path / "t.csv", header, [(*row, 0), (*row[::-1], 9), (0.55, *row[1:], 0)])])
    assert run.scored.probabilities.sum(axis=1) == pytest.approx([1.05, 1.05, 0.99])
    path = rows_of(tmp_path / "u.csv", header, [(*row, 0), (*row[::-1], 9), (0.55, *row[1:], 0), (*[0.2] * 10, 1)])
    with pytest.raises(InputError, match="with sum 2"):
        table.read([path])


@pytest.mark.parametrize("header", ["prob,label", "y_prob,y_true", "p_spam,label"])
def test_a_binary_classifier_has_one_column(tmp_path, header):
    labels = ("spam", "ham") if "spam" in header else (1, 0)
    rows = [(0.9, labels[0]), (0.4, labels[1]), (0.2, labels[0])]
    (run,) = table.read([rows_of(tmp_path / "t.csv", header, rows)])
    assert [question.label for question in run.questions] == [1, 0, 1]
    assert run.scored.probabilities == pytest.approx(np.array([[0.1, 0.9], [0.6, 0.4], [0.8, 0.2]]))


@pytest.mark.parametrize("k", [27, 100])
def test_up_to_a_hundred_columns_are_options(tmp_path, k):
    rows = [[*np.roll([0.5, *[0.5 / (k - 1)] * (k - 1)], i), i] for i in (0, 5, k - 1)]
    (run,) = table.read([rows_of(tmp_path / "t.csv", ",".join([*(f"p{i}" for i in range(k)), "label"]), rows)])
    assert run.scored.probabilities.shape == (3, k)
    assert [question.label for question in run.questions] == [0, 5, k - 1]


# ---------------------------------------------------------------- splits


def test_training_rows_are_left_out_and_counted(tmp_path):
    rows = [
        (0.6 + i / 100, 0.4 - i / 100, "A", split) for i, split in enumerate(["train", "fit", "cal", "test", "cal"])
    ]
    (run,) = table.read([rows_of(tmp_path / "t.csv", "A,B,label,split", rows)])
    assert run.roles == ("calibration", "test", "calibration")
    assert run.read_as.endswith("2 rows of training left out")


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("subset", ["train", "train", "cal", "test"]),
        ("my rows", ["train", "train", "val", "test"]),
        ("is_train", "1100"),
    ],
)
def test_rows_of_training_are_known_by_the_cells(tmp_path, column, words):
    table_frame = frame(8).assign(**{column: list(words) * 2})
    (run,) = table.read([write(tmp_path, table_frame, ".csv")])
    assert [question.id for question in run.questions] == ["q2", "q3", "q6", "q7"]


def test_columns_behind_those_that_sum_to_1_are_left_over(tmp_path):
    table_frame = frame(8).rename(columns={"p_A": "A", "p_B": "B", "p_C": "C"})
    (run,) = table.read([write(tmp_path, table_frame.assign(D=2.5, E=[i / 10 for i in range(8)]), ".csv")])
    assert run.read_as == "8 questions, 3 options, answers as letters, probabilities"


def test_many_rounded_probabilities_are_no_logits(tmp_path):
    shares = np.random.default_rng(0).dirichlet(np.ones(40), size=30).round(2)
    assert (abs(shares.sum(axis=1) - 1) <= table_values.SUM_WITHIN).mean() < 0.5
    table_frame = pd.DataFrame(shares, columns=[f"p_{i}" for i in range(40)]).assign(label=[i % 40 for i in range(30)])
    (run,) = table.read([write(tmp_path, table_frame, ".csv")])
    assert run.read_as.endswith(", probabilities")


def test_the_rows_that_are_left_are_split_where_one_side_trained(tmp_path):
    rows = [(0.6 + i / 100, 0.4 - i / 100, "A", "train" if i < 4 else "test") for i in range(10)]
    (run,) = table.read([rows_of(tmp_path / "t.csv", "A,B,label,split", rows)])
    assert sorted(run.roles) == ["calibration"] * 3 + ["test"] * 3


def test_columns_that_nobody_named_are_still_recognised(tmp_path):
    """A person names the options and the label alone; the table's split, id, subject and texts stay."""
    rows = [("q7", "law", "Who?", 0.6, 0.4, "ja", "cal"), ("q9", "art", "What?", 0.3, 0.7, "nein", "test")]
    path = rows_of(tmp_path / "t.csv", "id,subject,question,ja,nein,antwort,split", rows)
    (run,) = table.read([path], columns=Columns(("ja", "nein"), "antwort", partial=True))
    assert run.roles == ("calibration", "test")
    assert [(question.id, question.group, question.question) for question in run.questions] == [
        ("q7", "law", "Who?"),
        ("q9", "art", "What?"),
    ]


# ---------------------------------------------------------------- letters that are not listed


@pytest.mark.parametrize("mark", ["", "-inf", "-100", "-9999", "NaN", "None"])
def test_a_letter_that_is_not_listed_gets_an_upper_bound(tmp_path, mark):
    """Of the first row, 0.6 and 0.25 are listed, so that B has at most 0.15; of the second at most 0.02, as D has."""
    logs = np.log([[0.6, np.e, 0.25], [0.9, np.e, 0.02], [0.3, 0.3, 0.3]])
    rows = [(a, mark if b == 1 else b, c, label) for (a, b, c), label in zip(logs, "ABC", strict=True)]
    (run,) = table.read([rows_of(tmp_path / "t.csv", "logprob_A,logprob_B,logprob_C,answer", rows)])
    assert np.exp(run.scored.logits[:2, 1]) == pytest.approx([0.15, 0.02])
    assert run.provenance["bounded_questions"] == 2
    assert run.scored.letter_mass == pytest.approx([0.85, 0.92, 0.9])
    assert "some letters are not listed in 2 rows" in run.read_as


def test_the_last_letter_is_an_option_if_it_is_right_somewhere(tmp_path):
    """In the first row C is missing and right, so rows without it do not have fewer options."""
    rows = [(-0.1, -3, "", "C"), (-2, -0.4, "", "B"), (-2, -3, -0.3, "C")]
    (run,) = table.read([rows_of(tmp_path / "t.csv", "logprob_A,logprob_B,logprob_C,answer", rows)])
    assert [len(question.options) for question in run.questions] == [3, 3, 3]


def test_rows_without_any_letter_are_left_out_and_counted(tmp_path):
    rows = [(-0.1, "", -3, "A"), ("", "", "", "B"), (-2, -0.4, -5, "B"), (-1, -1.2, -4, "C")]
    (run,) = table.read([rows_of(tmp_path / "t.csv", "logprob_A,logprob_B,logprob_C,answer", rows)])
    assert [question.id for question in run.questions] == ["1", "3", "4"]
    assert run.provenance["counts"] == {"without a letter": 1}
    assert "1 row without a listed letter left out" in run.read_as


TOKENS = {"A": math.log(0.5), " A": math.log(0.1), "B": math.log(0.3), "The": math.log(0.04)}


@pytest.mark.parametrize(
    "fields",
    [
        {"top_logprobs": TOKENS},
        {"top_logprobs": [{"token": token, "logprob": value} for token, value in TOKENS.items()]},
        {"logprobs": {"content": [{"token": "A", "logprob": -1, "top_logprobs": [
            {"token": token, "logprob": value} for token, value in TOKENS.items()]}]}},
        {"choices": [{"text": "A", "logprobs": {"tokens": ["A"], "top_logprobs": [TOKENS]}}]},
        {"response": {"choices": [{"logprobs": {"content": [{"token": "A", "logprob": -1, "top_logprobs": [
            {"token": token, "logprob": value} for token, value in TOKENS.items()]}]}}]}},
    ],
)  # fmt: skip
def test_lists_of_the_most_probable_tokens(tmp_path, fields):
    """A has 0.5 + 0.1, B 0.3, and the second row does not list B: at most 0.02, as the least token has."""
    path = tmp_path / "t.jsonl"
    text = json.dumps({"id": 1, "answer": "A", **fields})
    second = text.replace('"id": 1', '"id": 2').replace('"B"', '"So"').replace("-3.2188", "-3.9120")
    third = text.replace('"id": 1', '"id": 3').replace('"answer": "A"', '"answer": "B"')
    path.write_text("\n".join([text, second, third]) + "\n")
    (run,) = table.read([path])
    assert np.exp(run.scored.logits[0]) == pytest.approx([0.6, 0.3])
    assert np.exp(run.scored.logits[1]) == pytest.approx([0.6, 0.02], rel=1e-3)
    assert run.provenance["bounded_questions"] == 1


def test_what_a_table_was_read_as(tmp_path):
    rows = [("Who?", 50, 30, 20, 1), ("What?", 20, 70, 10, 3), ("Who?", 50, 30, 20, 1), ("How?", 60, 40, "", 2)]
    (run,) = table.read([rows_of(tmp_path / "t.csv", "question,A,B,C,label", rows)])
    assert run.read_as == (
        "4 questions, 2 to 3 options, answers as numbers from 1, probabilities in per cent, 1 row twice"
    )
