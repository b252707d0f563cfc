"""Question banks as data sets have them: one test for each shape of options, answers, questions and contexts."""

import gzip
import json
import lzma

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import InputError, Undecided
from core.exchange.dropped import question_files
from core.questions import bank, catalogue, local_file
from core.questions.bank_shapes import looks_like_bank
from core.records import DONT_KNOW, NONE_OF_ABOVE
from core.settings import settings
from core.tables.tabular import open_sheet
from hedge.cli import main
from tests.core.exchange.drops import Drop

WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord")


def lines(rows):
    return "\n".join(json.dumps(row) for row in rows)


def loaded(tmp_path, text, name="mine.jsonl"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return catalogue.load(str(path))


def each(**fields):
    """Six rows: a field is a value for all, or a function of the row's number."""
    return [{name: value(i) if callable(value) else value for name, value in fields.items()} for i in range(6)]


def question_text(i):
    return f"What is {WORDS[i]}?"


def four(i):
    return [f"{letter}{i}" for letter in "wxyz"]


def letter(i):
    return "ABCD"[i % 4]


def right(i):
    return four(i)[i % 4]


def wrong(i):
    return [text for text in four(i) if text != right(i)]


def lettered(i):
    return dict(zip("ABCD", four(i), strict=True))


def pairs(mark, text):
    """The options as objects, with these keys."""
    return lambda i: [{mark: own, text: option} for own, option in lettered(i).items()]


def nth(n, shape=four):
    return lambda i: shape(i)[n]


HUB = {
    "an object by letter": each(question=question_text, choices=lettered, answer=letter),
    "lists of texts and labels (ARC, CommonsenseQA)": each(
        question=question_text,
        choices=lambda i: {"text": four(i), "label": list("1234" if i % 2 else "ABCD")},
        answerKey=lambda i: ("1234" if i % 2 else "ABCD")[i % 4],
    ),
    "a stem with choices (OpenBookQA)": each(
        question=lambda i: {"stem": question_text(i), "choices": pairs("label", "text")(i)}, answerKey=letter
    ),
    "objects with a letter and an option": each(
        question_stem=question_text, options=pairs("letter", "option"), answer=lambda i: f"({letter(i)})"
    ),
    "columns of their own (MedMCQA), numbers from 1": each(
        **{"question": question_text, **{f"op{m}": nth(n) for n, m in enumerate("abcd")}},
        **{"cop": lambda i: i % 4 + 1, "exp": "because"},
    ),
    "letters in front of the texts (AGIEval)": each(
        question=question_text, options=lambda i: [f"({m}) {t}" for m, t in lettered(i).items()], label=letter
    ),
    "one text (MathQA)": each(
        Problem=question_text,
        options=lambda i: " , ".join(f"{m.lower()} ) {t}" for m, t in lettered(i).items()),
        correct=lambda i: letter(i).lower(),
    ),
    "answers as texts (MedQA)": each(question=question_text, options=lettered, answer=right, answer_idx=letter),
    "a right and wrong answers (SciQ)": each(
        question=question_text, correct_answer=right, **{f"distractor{n + 1}": nth(n, wrong) for n in (2, 0, 1)}
    ),
    "a list of wrong answers (GPQA)": each(
        **{"Question": question_text, "Correct Answer": right, "Incorrect Answers": wrong}
    ),
    "numbers in front of the texts": each(
        question=question_text,
        options=lambda i: [f"{n + 1}. {t}" for n, t in enumerate(four(i))],
        answer=lambda i: f"{i % 4 + 1}. {right(i)}",
    ),
    "an object for each letter": each(
        question=question_text,
        options=lambda i: [{m: t} for m, t in lettered(i).items()],
        answer=lambda i: {"label": letter(i), "text": right(i)},
    ),
    "columns with names of their own": each(
        **{"pregunta": question_text, **{f"opción {m}": nth(n) for n, m in enumerate("abcd")}},
        respuesta=lambda i: letter(i).lower(),
    ),
    "columns that are numbers alone": each(
        **{"Question #": lambda i: i + 1, "Question Text": question_text, **{str(n + 1): nth(n) for n in range(4)}},
        answer=lambda i: i % 4 + 1,
    ),
    "options in the question's text": each(
        question=lambda i: f"{question_text(i)} " + " ".join(f"({m}) {t}" for m, t in lettered(i).items()),
        AnswerKey=letter,
    ),
    "letters as options, and the texts in the question": each(
        question=lambda i: "\n".join([question_text(i), *(f"{m}. {t}" for m, t in lettered(i).items()), "Answer:"]),
        choices=list("ABCD"),
        answer=lambda i: i % 4,
    ),
    "targets (BIG-bench on the hub)": each(
        inputs=question_text,
        targets=lambda i: [right(i)],
        multiple_choice_targets=four,
        multiple_choice_scores=lambda i: [int(n == i % 4) for n in range(4)],
    ),
    "scores of the targets (BIG-bench)": each(
        input=question_text, target_scores=lambda i: {text: int(text == right(i)) for text in four(i)}
    ),
}


@pytest.mark.quick
@pytest.mark.parametrize("shape", HUB)
def test_options_and_answers_of_data_sets(tmp_path, shape):
    data = loaded(tmp_path, lines(HUB[shape]))
    assert [(q.question, q.options, q.label) for q in data.questions] == [
        (question_text(i), tuple(four(i)), i % 4) for i in range(6)
    ]
    assert looks_like_bank(open_sheet(tmp_path / "mine.jsonl"))
    assert data.read_as.startswith("6 questions, 4 options")


@pytest.mark.quick
def test_columns_keep_their_letters_and_leftover_columns_are_no_options(tmp_path):
    rows = "".join(f"\"{question_text(i)}\",\"['w' 'x'\n 'y' 'z']\",{i % 4},0.{i},2.5\n" for i in range(6))
    data = loaded(tmp_path, "question,choices,answer,e,f\n" + rows, "tokens.csv")
    assert {q.options for q in data.questions} == {("w", "x", "y", "z")}  # as numpy writes a list, without commas
    gap = loaded(tmp_path, "question,A,B,C,D,answer\nOne?,a,,c,d,C\nTwo?,a,b,,,B\n", "gap.csv")
    assert [(q.options, q.label) for q in gap.questions] == [(("a", "c", "d"), 1), (("a", "b"), 1)]


CONTEXTS = {
    "RACE": (
        each(article="Ann came.", question=question_text, options=four, answer="A"),
        "Ann came.",
        question_text(0),
    ),
    "COPA": (
        each(premise=question_text, choice1="a", choice2="b", question=lambda i: ("cause", "effect")[i % 2], label=0),
        question_text(0),
        "What was the cause of this?",
    ),
    "NLI": (
        each(premise="It rains.", hypothesis=question_text, options=["yes", "no"], label="A"),
        "It rains.",
        f"Does the context support this statement? {question_text(0)}",
    ),
    "HellaSwag": (
        each(ctx=question_text, endings=four, label=lambda i: str(i % 4)),
        question_text(0),
        "How does it most sensibly go on?",
    ),
    "a question about a text": (
        each(text="It rains.", question=question_text, options=four, label="B"),
        "It rains.",
        question_text(0),
    ),
    "a prompt that repeats the question": (
        each(text=lambda i: f"Question: {question_text(i)} Answer:", question=question_text, options=four, label="B"),
        "",
        question_text(0),
    ),
    "BBQ": (
        each(
            context="Two men came.",
            question=question_text,
            ans0="one",
            ans1="the other",
            ans2="unknown",
            label=lambda i: i % 3,
        ),
        "Two men came.",
        question_text(0),
    ),
}


@pytest.mark.quick
@pytest.mark.parametrize("shape", CONTEXTS)
def test_what_questions_are_about(tmp_path, shape):
    rows, context, question = CONTEXTS[shape]
    data = loaded(tmp_path, lines(rows))
    assert len(data.questions) == 6
    assert (data.questions[0].context, data.questions[0].question) == (context, question)


@pytest.mark.quick
def test_a_passage_with_several_questions_is_a_cluster(tmp_path):
    rows = [
        {
            "id": f"p{i}",
            "article": WORDS[i],
            "questions": ["Who?", "Why?"],
            "options": [four(i)] * 2,
            "answers": ["A", "D"],
        }
        for i in range(2)
    ]
    questions = loaded(tmp_path, lines(rows)).questions
    assert [(q.id, q.context, q.question, q.label, q.cluster) for q in questions] == [
        ("p0-1", "amber", "Who?", 0, "p0"),
        ("p0-2", "amber", "Why?", 3, "p0"),
        ("p1-1", "birch", "Who?", 0, "p1"),
        ("p1-2", "birch", "Why?", 3, "p1"),
    ]


@pytest.mark.quick
def test_one_passage_with_its_questions_is_a_bank(tmp_path):
    own = {"questions": ["Who?", "Why?"], "options": [four(0)] * 2, "answers": ["A", "D"], "article": "Ann came."}
    data = loaded(tmp_path, json.dumps(own | {"id": "high1.txt"}), "1.json")
    assert [(q.id, q.context, q.label, q.cluster) for q in data.questions] == [
        ("1-1", "Ann came.", 0, "high1.txt"),
        ("1-2", "Ann came.", 3, "high1.txt"),
    ]


@pytest.mark.quick
def test_the_place_of_the_right_answer_is_no_option(tmp_path):
    for right in (lambda i: "ABC"[i % 3], lambda i: i % 3 + 1):
        rows = each(
            question=question_text, correct=right, **{f"distractor{n}": (lambda i, n=n: four(i)[n]) for n in range(3)}
        )
        assert all(q.options == tuple(four(i)[:3]) for i, q in enumerate(loaded(tmp_path, lines(rows)).questions))


@pytest.mark.quick
def test_answers_that_name_their_options(tmp_path):
    rows = each(question=question_text, passage="It rains.", answer=lambda i: i % 2 == 0)
    assert [(q.options, q.label) for q in loaded(tmp_path, lines(rows)).questions[:2]] == [
        (("Yes", "No"), 0),
        (("Yes", "No"), 1),
    ]
    with pytest.raises(InputError, match=r"expected options: a list, or a column for each option"):
        loaded(tmp_path, lines(each(premise="It rains.", hypothesis=question_text, label=lambda i: i % 3)))
    with pytest.raises(InputError, match=r"expected options: a list, or a column for each option"):
        loaded(
            tmp_path, lines(each(question=question_text, answer=question_text, label=lambda i: i % 2 == 0))
        )  # answers that were judged


@pytest.mark.quick
def test_files_of_every_kind_hold_the_same_bank(tmp_path):
    header, cells = (
        ["question", "A", "B", "answer"],
        [[f"Où est {w}?", "Zürich", "Köln", "AB"[i % 2]] for i, w in enumerate(WORDS)],
    )
    text = "\n".join(",".join(row) for row in [header, *cells])
    book = openpyxl.Workbook()
    for row in [header, *cells]:
        book.active.append(row)
    book.save(tmp_path / "mine.xlsx")
    pq.write_table(
        pa.Table.from_pylist([dict(zip(header, row, strict=True)) for row in cells]), tmp_path / "mine.parquet"
    )
    no_header = "\n".join(f"{i},{line}" for i, line in enumerate(text.splitlines()[1:]))
    files = {
        "mine.csv": text.encode("utf-8-sig"),
        "wide.csv": text.encode("utf-16"),
        "old.csv": text.encode("cp1252"),
        "semicolon.csv": text.replace(",", ";").encode(),
        "mine.tsv": text.replace(",", "\t").encode(),
        "mine.csv.gz": gzip.compress(text.encode()),
        "mine.csv.xz": lzma.compress(text.encode()),
        "mmlu_test.csv": text.partition("\n")[2].encode(),
        "numbered.csv": no_header.encode(),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    data = {name: catalogue.load(str(tmp_path / name)) for name in (*files, "mine.xlsx", "mine.parquet")}
    wanted = [(row[0], tuple(row[1:3]), "AB".index(row[3])) for row in cells]
    for name, held in data.items():
        assert [(q.question, q.options, q.label) for q in held.questions] == wanted, name
    assert data["old.csv"].read_as.endswith("read as Windows-1252")
    assert data["mine.csv.gz"].questions[0].id == "mine-1"


@pytest.mark.quick
def test_numbers_are_options_and_figures_of_a_model_are_none(tmp_path):
    sums = "question,A,B,C,label\n" + "".join(f"{i} + 9?,{i + 9},{i + 8},{2 * i},A\n" for i in range(6))
    assert loaded(tmp_path, sums, "sums.csv").questions[0].options == ("9", "8", "0")
    assert looks_like_bank(open_sheet(tmp_path / "sums.csv"))
    text = "question,A,B,C,answer\n"
    years = text + "".join(
        f"{question_text(i)},{1900 + i},{1905 + i},{1910 + i},{(1900, 1905, 1910)[i % 3] + i}\n" for i in range(6)
    )
    letters = text + "".join(f"{question_text(i)},{1900 + i},{1905 + i},{1910 + i},{'ABC'[i % 3]}\n" for i in range(6))
    for bank_of_years in (years, letters):
        data = loaded(tmp_path, bank_of_years, "years.csv")
        assert [(q.options[0], q.label) for q in data.questions] == [(str(1900 + i), i % 3) for i in range(6)]
        assert looks_like_bank(open_sheet(tmp_path / "years.csv"))
    votes, logits = ("20,8,2", "15,9,6"), ("3.14159,2.71828,1.41421", "1.11111,2.22222,-0.33333")
    for figures, other in (("0.7,0.2,0.1", "0.1,0.2,0.7"), ("-0.5,-1.5,-2.5", "-1.5,-0.5,-4"), logits, votes):
        text = "question,A,B,C,label\n" + "".join(f"{question_text(i)},{(figures, other)[i % 2]},A\n" for i in range(6))
        with pytest.raises(InputError, match=r"figures for the options .* import it as results \(hedge import\)"):
            loaded(tmp_path, text, "results.csv")
        assert not looks_like_bank(open_sheet(tmp_path / "results.csv"))


def test_numbers_and_workbooks_are_banks_when_they_are_dropped(home, tmp_path):
    book = openpyxl.Workbook()
    for row in [
        ["Question", "Option 1", "Option 2", "Answer"],
        *([question_text(i), i, i + 2, i % 2 + 1] for i in range(6)),
    ]:
        book.active.append(row)
    book.save(tmp_path / "quiz.xlsx")
    listed = each(question=question_text, choices=lambda i: [str(i), str(i + 2), "99"], answer=lambda i: i % 3)
    (tmp_path / "listed.jsonl").write_text(lines(listed))
    right = each(Problem=question_text, question=question_text, options=four, correct=lambda i: "ABCD"[i % 4])
    (tmp_path / "right.txt").write_text(lines(right))  # no labels of a jury, and JSON lines whatever the name
    files = [tmp_path / name for name in ("quiz.xlsx", "listed.jsonl", "right.txt")]
    reading = Drop(files, scratch=tmp_path / "scratch").read()
    assert (reading.runs, reading.refused) == ((), ())
    assert {file.kind for file in reading.elsewhere} == {"questions"}
    for bank_file in reading.elsewhere:
        assert len(catalogue.load(question_files.keep(bank_file.file.path, bank_file.file.path.name)).questions) == 6


@pytest.mark.quick
def test_none_of_the_above_can_be_right(tmp_path):
    rows = each(question=question_text, options=["a", NONE_OF_ABOVE, DONT_KNOW], answer=lambda i: "ABC"[i % 3])
    assert [q.label for q in loaded(tmp_path, lines(rows)).questions] == [0, 1, 2, 0, 1, 2]


@pytest.mark.quick
def test_rows_that_are_left_out_are_counted(tmp_path):
    rows = [{"question": f"Is it {i}?", "options": ["yes", "no", "maybe"], "answer": "ABC"[i % 3]} for i in range(60)]
    rows += [rows[0], rows[1], {**rows[2], "answer": ""}, {**rows[3], "answer": -1}]
    rows += [{"question": "What else?", "options": ["yes", "yes", "no"], "answer": "C"}]
    rows += [{"question": "And else?", "options": ["yes", "no"], "answer": "A,B"}]
    data = loaded(tmp_path, lines(rows))
    assert data.read_as == (
        "60 questions, 3 options, answers as letters, 2 rows twice, asked once, 1 left out: several right answers, "
        "1 left out: an option twice, 2 left out: no right answer"
    )
    assert data.left_out == {"several right answers": 1, "an option twice": 1, "no right answer": 2}
    for nothing in (-1, "", None):
        with pytest.raises(InputError, match="it has no right answers: 'label' is empty or −1 in every row"):
            loaded(tmp_path, lines([{"question": "a", "options": ["b", "c"], "label": nothing}] * 3))


def test_where_numbers_count_from_is_asked_and_kept(home, tmp_path, monkeypatch, capsys):
    path = tmp_path / "mine.jsonl"
    path.write_text(lines(each(question=question_text, options=four, answer=lambda i: i % 3 + 1)))
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    command = ["run", "--model", "fake", "--task", str(path)]
    assert main(command) == 2
    assert "say --labels-from 0 or --labels-from 1" in capsys.readouterr().err
    with pytest.raises(Undecided):
        question_files.keep(path, "mine.jsonl")
    assert main([*command, "--labels-from", "1"]) == 0
    assert "hedge: mine.jsonl: 6 questions, 4 options, answers as letters" in capsys.readouterr().err
    (task,) = map(str, (settings().home / "questions").rglob("*.jsonl"))
    assert [q.label for q in catalogue.load(task).questions] == [0, 1, 2, 0, 1, 2]
    assert catalogue.load(task).questions[0].id == "mine-1"
    from_0 = question_files.keep(path, "mine.jsonl", labels_from=0)
    assert [q.label for q in catalogue.load(from_0).questions] == [1, 2, 3, 1, 2, 3]
    assert main(["run", "--model", "fake", "--task", "qa", "--labels-from", "1"]) == 2


@pytest.mark.quick
def test_a_kept_copy_is_the_same_bank(tmp_path):
    from core.questions import local_file

    rows = [row | {"subject": "s", "cluster": "c"} for row in CONTEXTS["COPA"][0]]
    first = loaded(tmp_path, lines(rows))
    again = loaded(tmp_path, local_file.canonical(first.questions), "again.jsonl")
    assert bank.fingerprint(first.questions) == bank.fingerprint(again.questions)
    assert [q.group for q in again.questions] == ["s"] * 6


def test_texts_as_bytes_are_read_as_texts(tmp_path):
    path = tmp_path / "bytes.parquet"
    options = pa.array([[b"caf\xc3\xa9", b"tea"]] * 2, pa.list_(pa.binary()))
    pq.write_table(pa.table({"question": ["Which?", "What?"], "options": options, "label": ["A", "B"]}), path)
    assert local_file.read_path(path).questions[0].options == ("café", "tea")


def test_a_kept_bank_is_refused_without_the_path_of_the_server(home, tmp_path):
    path = tmp_path / "upload"
    path.write_text("no table")
    for labels_from in (None, 1):
        with pytest.raises(InputError) as error:
            question_files.keep(path, "mine", labels_from=labels_from)
        assert str(tmp_path) not in str(error.value)
        assert str(error.value).startswith("mine")
