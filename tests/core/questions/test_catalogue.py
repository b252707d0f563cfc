import csv
import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import InputError
from core.questions import bank, catalogue
from core.questions.split import draw
from core.settings import ROOT, settings
from tests.conftest import synthetic_questions
from tests.core.questions.shapes import SHAPES, dialogue, mmlu, summarization
from tests.light_environment import needs_models

ROWS = [
    {"question": f"What is {i} + 1?", "options": [str(i), str(i + 1), "none"], "label": 1, "subject": "sums"}
    for i in range(6)
]


def write(path, rows):
    """Rows in the format that the file's ending names."""
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows([{k: json.dumps(v) if isinstance(v, list) else v for k, v in row.items()} for row in rows])
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    else:
        path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return str(path)


# ---------------------------------------------------------------- one's own file


@pytest.mark.quick
@pytest.mark.parametrize("ending", [".jsonl", ".json", ".csv", ".parquet"])
def test_the_same_questions_from_every_format(tmp_path, ending):
    questions = catalogue.load(write(tmp_path / f"mine{ending}", ROWS)).questions
    assert [(q.question, q.options, q.label, q.group) for q in questions] == [
        (row["question"], tuple(row["options"]), 1, "sums") for row in ROWS
    ]
    assert questions[0].id == "mine-1"


@pytest.mark.quick
def test_columns_of_letters_and_a_letter_for_a_label(tmp_path):
    rows = [
        {"id": f"x{i}", "context": "Ann came.", "question": "Who?", "A": "Ann", "B": "Bob", "label": "b"}
        for i in (1, 2)
    ]
    (first, _) = catalogue.load(write(tmp_path / "mine.csv", rows)).questions
    assert (first.id, first.context, first.options, first.label) == ("x1", "Ann came.", ("Ann", "Bob"), 1)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"label": 4}, r"expected one of 3 options that can be right \(A to C, or its number\) in 'label', found '4'"),
        ({"label": "D"}, "found 'D'"),
        ({"label": [0, 2]}, r"expected one right answer.*found \[0, 2\]"),
        ({"label": "A,C"}, "expected one right answer.*found 'A,C'"),
        ({"options": ["x", "x", "y"], "label": 0}, "the right answer 'x' is there twice"),
        ({"options": ["x"]}, "at least two options"),
        ({"options": ["x", " ", "y"]}, "none of them empty"),
        ({"options": ["x", "y", "y"], "label": 0}, "the option 'y' is there twice"),
        (
            {"options": [str(i) for i in range(101)]},
            "has 101 options, and a question has at most 100; leave options out",
        ),
        ({"question": " "}, "expected a question"),
        ({"id": "mine-1"}, "the id 'mine-1' is that of question 1"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_question(tmp_path, change, says):
    path = write(tmp_path / "mine.jsonl", [*ROWS[:2], ROWS[2] | change])
    with pytest.raises(InputError, match=says) as raised:
        catalogue.load(path)
    assert f"{path}, question 3:" in str(raised.value)


@pytest.mark.quick
def test_options_beyond_the_letters_are_for_servers_that_answer_decisions(tmp_path):
    path = write(tmp_path / "mine.jsonl", [*ROWS, ROWS[2] | {"options": [str(i) for i in range(27)], "label": 1}])
    with pytest.raises(
        InputError, match=r"mine.jsonl: question 'mine-\d' has 27 options, but a model is asked by letter"
    ):
        catalogue.load(path)
    assert max(len(question.options) for question in catalogue.load(path, most=100).questions) == 27


@pytest.mark.quick
def test_broken_files(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text("")
    for name, says in (
        (path, "holds no questions"),
        (tmp_path / "other.jsonl", "there is no file"),
        (f"qa@{tmp_path / 'mine.pdf'}", r"not one of .json, .jsonl, .ndjson, .csv, .tsv, .xlsx, .parquet"),
    ):
        with pytest.raises(InputError, match=says):
            catalogue.load(str(name))


# ---------------------------------------------------------------- hub data sets


def dataset_folder(folder, task, rows):
    """A folder laid out like the task's repository on the hub."""
    source = catalogue.HUB[task]
    name = source.configuration or "default"
    lines = ["---", "configs:", f"- config_name: {name}", "  data_files:"]
    splits = source.split.split("+")
    (folder / "data").mkdir(parents=True)
    for i, split in enumerate(splits):
        share = rows[i * len(rows) // len(splits) : (i + 1) * len(rows) // len(splits)]
        pq.write_table(pa.Table.from_pylist(share), folder / "data" / f"{split}.parquet")
        lines += [f"  - split: {split}", f"    path: data/{split}.parquet"]
    (folder / "README.md").write_text("\n".join([*lines, "---", ""]))
    return folder


@pytest.fixture
def datasets_home(tmp_path, monkeypatch):
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "datasets")
    datasets.disable_progress_bars()


@pytest.mark.quick
@needs_models
@pytest.mark.parametrize("task", SHAPES)
def test_from_a_folder_laid_out_like_the_hub(tmp_path, datasets_home, task):
    """The code that loads from the hub, on a folder of the same layout; and the rows alone as a file."""
    folder = dataset_folder(tmp_path / "repository", task, SHAPES[task](40))
    data = catalogue.load(f"{task}@{folder}")
    assert len(data.questions) == 40
    assert data.source == str(folder)
    path = write(tmp_path / "rows.jsonl", SHAPES[task](40))
    assert catalogue.load(f"{task}@{path}").questions == data.questions


@pytest.mark.parametrize(("task", "shape"), [("drs", dialogue), ("ds", summarization)])
def test_built_twice_and_elsewhere_are_identical(tmp_path, task, shape):
    """Also in a process whose hashes, and so whose sets, come in another order."""
    path = write(tmp_path / "rows.jsonl", shape(300))
    first = catalogue.load(f"{task}@{path}")
    assert catalogue.load(f"{task}@{path}") == first
    code = (
        "import sys; from core.questions import bank, catalogue; "
        "print(bank.fingerprint(catalogue.load(sys.argv[1]).questions))"
    )
    for seed in ("1", "2"):
        completed = subprocess.run(
            [sys.executable, "-c", code, f"{task}@{path}"],
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            timeout=240,
        )
        assert completed.stdout.strip() == bank.fingerprint(first.questions)


@pytest.mark.quick
def test_what_came_from_the_hub_is_kept(home, monkeypatch):
    requests = []
    monkeypatch.setattr(catalogue, "read_dataset", lambda *a, **k: requests.append((a, k)) or mmlu(30))
    first = catalogue.load("qa@hub")
    assert requests == [(("cais/mmlu",), {"configuration": "all", "split": "test", "revision": None})]
    assert catalogue.load("qa@hub") == first
    assert len(requests) == 1
    # A file that is not whole is no result.
    (path,) = (settings().home / "cache" / "tasks").iterdir()
    path.write_text(path.read_text()[:100])
    assert catalogue.load("qa@hub") == first
    assert len(requests) == 2


@pytest.mark.quick
@needs_models
def test_a_hub_that_can_not_be_reached(home, monkeypatch):
    import datasets

    def unreachable(*args, **kwargs):
        raise ConnectionError("Couldn't reach the Hub\nTraceback ...")

    monkeypatch.setattr(datasets, "load_dataset", unreachable)
    with pytest.raises(InputError, match=r"data set 'cais/mmlu' can't be loaded \(Couldn't reach the Hub\).*TASK@FILE"):
        catalogue.load("qa@hub")
    assert not (settings().home / "cache").exists()


@pytest.mark.quick
@pytest.mark.parametrize("task", ["nonesuch", "nonesuch@hub"])
def test_an_unknown_task(task):
    with pytest.raises(InputError, match="unknown task 'nonesuch'"):
        catalogue.load(task)


@pytest.mark.quick
def test_the_bank_and_canonical_names(monkeypatch, tmp_path):
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(5))
    assert len(catalogue.load("qa").questions) == 5
    monkeypatch.chdir(tmp_path)
    assert catalogue.canonical("qa") == "qa"
    assert catalogue.canonical("qa@hub") == "qa@hub"
    assert catalogue.canonical("qa@x.json") == f"qa@{tmp_path / 'x.json'}"
    assert catalogue.canonical("x.csv") == str(tmp_path / "x.csv")


# ---------------------------------------------------------------- real files


def test_the_published_questions(real_data):
    data = catalogue.load(f"qa@{real_data / 'llm-uncertainty-bench' / 'labels' / 'mmlu_10k.json'}")
    assert len(data.questions) == 10_000
    assert data.demonstrations == ("1", "3", "5", "7", "9")
    drawn = draw(data.questions, samples=None, shots=5, calibration_share=0.5, seed=0, reserved=data.demonstrations)
    assert [q.id for q in drawn.demonstrations] == ["1", "3", "5", "7", "9"]
    assert len(drawn.scored) == 9_994  # one question stands there twice, its options in another order
    assert len({q.group for q in drawn.scored}) == 57
    assert {len(q.options) for q in drawn.scored} == {6}
    bare = draw(data.questions, samples=None, shots=0, calibration_share=0.5, seed=0, reserved=data.demonstrations)
    assert len(bare.scored) == 9_994
    assert not {q.id for q in bare.scored} & set(data.demonstrations)


@pytest.mark.parametrize(
    ("task", "name", "n", "counts"), [("arc", "data_arc", 1172, {3, 4, 5}), ("csqa", "data_common_qa", 1000, {5})]
)
def test_the_published_notes_questions_load_whole(real_data, task, name, n, counts):
    data = catalogue.load(f"{task}@{real_data / 'cp-mcp' / f'{name}.jsonl'}")
    assert len(data.questions) == n
    assert {len(q.options) for q in data.questions} == counts


def test_a_bank_that_was_brought_in_is_called_by_its_files_name(tmp_path, monkeypatch):
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path))
    assert catalogue.file_title(str(tmp_path / "questions" / "1a2b3c4d" / "rivers.jsonl")) == "rivers.jsonl"
    assert catalogue.file_title("/data/rivers.jsonl") == "/data/rivers.jsonl"
