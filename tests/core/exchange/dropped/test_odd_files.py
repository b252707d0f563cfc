"""Odd files, as people have them: each ends in the right import or in one clear sentence, never in a traceback."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import re
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from backports import zstd

from core.exchange.dropped.found import FoundRun
from core.reports.imported_figures import evaluation, figures
from tests.core.exchange.drops import dropped, refused

pytestmark = pytest.mark.quick

P = [(0.5, 0.3, 0.2), (0.1, 0.8, 0.1), (0.2, 0.2, 0.6), (0.6, 0.3, 0.1), (0.1, 0.3, 0.6), (0.3, 0.6, 0.1)]
"""The first option is right where i % 3 is 0, the second where it is 1, the third where it is 2, in this order."""
TRUE = [0, 1, 2, 0, 2, 1]
TEXTS = [(f"red {i}", f"green {i}", f"blue {i}") for i in range(6)]


def csv(
    *,
    rows=P,
    labels=None,
    names=("A", "B", "C"),
    label="label",
    sep=",",
    number: Callable[[float], str] = str,
    more: Callable[[int], tuple[str, ...]] = lambda i: (),
    more_names: tuple[str, ...] = (),
) -> str:
    labels = labels or ["ABC"[i] for i in TRUE]
    lines = [sep.join([*names, label, *more_names])]
    lines += [
        sep.join([*(number(p) for p in row), str(one), *more(i)])
        for i, (row, one) in enumerate(zip(rows, labels, strict=True))
    ]
    return "\n".join(lines) + "\n"


def json_rows(**more: Callable[[int], object]) -> list[dict[str, object]]:
    return [
        {"id": i, "label": "ABC"[label], **{name: make(i) for name, make in more.items()}}
        for i, label in enumerate(TRUE)
    ]


def jsonl(rows: list[dict[str, object]], *, ascii: bool = True) -> str:
    return "".join(json.dumps(row, ensure_ascii=ascii) + "\n" for row in rows)


def parquet(frame: pd.DataFrame) -> bytes:
    into = io.BytesIO()
    frame.to_parquet(into)
    return into.getvalue()


def xlsx(**sheets: pd.DataFrame) -> bytes:
    into = io.BytesIO()
    with pd.ExcelWriter(into) as book:
        for name, frame in sheets.items():
            frame.to_excel(book, sheet_name=name, index=False)
    return into.getvalue()


def zipped(**files: bytes | str) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return into.getvalue()


def tarred(**files: str) -> bytes:
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name.replace("_dot_", "."))
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content.encode()))
    return into.getvalue()


FRAME = pd.DataFrame(P, columns=["p_A", "p_B", "p_C"]).assign(label=["ABC"[i] for i in TRUE])
LOGS = [tuple(np.log(row) + 3) for row in P]
GOOD = csv()

RIGHT: dict[str, bytes | str] = {
    "plain.csv": GOOD,
    "bom.csv": "\ufeff" + GOOD,
    "utf16.csv": GOOD.encode("utf-16"),
    "windows_lines.csv": GOOD.replace("\n", "\r\n"),
    "no_last_line_end.csv": GOOD.rstrip("\n"),
    "blank_lines.csv": "\n\n" + GOOD + "\n\n",
    "semicolons.csv": csv(sep=";"),
    "decimal_commas.csv": csv(sep=";", number=lambda p: str(p).replace(".", ",")),
    "tabs.csv": csv(sep="\t"),
    "pipes.txt": csv(sep="|"),
    "excel_sep.csv": "sep=;\n" + csv(sep=";"),
    "quoted.csv": csv(number=lambda p: f'"{p}"'),
    "spaces.csv": csv(number=lambda p: f"  {p} "),
    "per_cent.csv": csv(number=lambda p: f"{100 * p:.1f}"),
    "per_cent_signs.csv": csv(number=lambda p: f"{100 * p:.1f}%"),
    "scientific.csv": csv(number=lambda p: f"{p:.6e}"),
    "labels_as_columns.csv": csv(names=("p_A", "p_B", "p_C"), labels=[f"p_{'ABC'[i]}" for i in TRUE]),
    "labels_as_texts.csv": csv(
        labels=[TEXTS[i][label] for i, label in enumerate(TRUE)],
        names=("p_A", "p_B", "p_C"),
        more=lambda i: TEXTS[i],
        more_names=("option_A", "option_B", "option_C"),
    ),
    "texts_named_by_letters.csv": csv(
        names=("prob_A", "prob_B", "prob_C"), more=lambda i: TEXTS[i], more_names=("A", "B", "C")
    ),
    "letters_inside_names.csv": csv(names=("choiceA_prob", "choiceB_prob", "choiceC_prob")),
    "numbered_from_one.csv": csv(names=("prob1", "prob2", "prob3"), labels=[i + 1 for i in TRUE]),
    "logits.csv": csv(rows=LOGS, names=("logit_A", "logit_B", "logit_C")),
    "log_probabilities.csv": csv(rows=[tuple(np.log(row)) for row in P], names=("logprob_A", "logprob_B", "logprob_C")),
    "hendrycks.csv": "0,1,2,3,4,small_correct,small_choiceA_probs,small_choiceB_probs,small_choiceC_probs\n"
    + "".join(
        f"Which is {i}?,{','.join(TEXTS[i])},{'ABC'[TRUE[i]]},True,{','.join(map(str, P[i]))}\n" for i in range(6)
    ),
    "whether_right_is_no_label.csv": csv(more=lambda i: (str(i % 2),), more_names=("correct",), label="answer"),
    "only_test_in_split.csv": csv(more=lambda i: ("test",), more_names=("split",)),
    "json_column.csv": "id,label,probs\n" + "".join(f'{i},{"ABC"[TRUE[i]]},"{json.dumps(P[i])}"\n' for i in range(6)),
    "numpy_column.csv": "id,label,probabilities\n"
    + "".join(f"{i},{'ABC'[TRUE[i]]},[{' '.join(map(str, P[i]))}]\n" for i in range(6)),
    "object_column.jsonl": jsonl(json_rows(probs=lambda i: dict(zip("ABC", P[i], strict=True)))),
    "list_column.jsonl": jsonl(json_rows(log_probs=lambda i: np.log(P[i]).tolist(), options=lambda i: TEXTS[i])),
    "list_of_objects.json": json.dumps(json_rows(probs=lambda i: P[i])),
    "indented.json": json.dumps(json_rows(probs=lambda i: P[i]), indent=2),
    "lists_a_column.json": json.dumps({"probs": P, "label": TRUE}),
    "rows_inside_an_object.json": json.dumps({"model": "m", "rows": json_rows(probs=lambda i: P[i])}),
    "bom.jsonl": "\ufeff" + jsonl(json_rows(probs=lambda i: P[i])),
    "named_wrongly.pdf": GOOD,
    "no_ending": parquet(FRAME),
    "lists.parquet": parquet(pd.DataFrame({"probs": [list(row) for row in P], "label": TRUE})),
    "book.xlsx": xlsx(results=FRAME),
    "book_with_notes.xlsx": xlsx(notes=pd.DataFrame({"note": ["a", "b"], "by": ["me", "you"]}), results=FRAME),
    "in_a.zip": zipped(folder__mine_dot_csv=GOOD),
    "zip_in.zip": zipped(inner_dot_zip=zipped(mine_dot_csv=GOOD)),
    "one.csv.gz": gzip.compress(GOOD.encode()),
    "one.csv.zst": zstd.compress(GOOD.encode()),
    "one.jsonl.xz": lzma.compress(jsonl(json_rows(probs=lambda i: P[i])).encode()),
    "one.parquet.bz2": bz2.compress(parquet(FRAME)),
    "one.tar.zst": zstd.compress(tarred(mine_dot_csv=GOOD)),
    "utf32.csv": GOOD.encode("utf-32"),
    "utf16_without_mark.csv": GOOD.encode("utf-16-le"),
    "latin1.csv": csv(more=lambda i: ("é",), more_names=("täxt",)).encode("latin1"),
    "windows.jsonl": jsonl(json_rows(probs=lambda i: P[i], note=lambda i: "“smart”"), ascii=False).encode("cp1252"),
    "line_separators.csv": csv(more=lambda i: ("one\u2028two\x85three",), more_names=("no\u2028te",)),
    "header_of_two_lines.csv": csv(more=lambda i: ("x",), more_names=('"a\nnote"',)),
    "text_with_semicolons.csv": "a;b;c;d;note,p_A,p_B,p_C,label\n"
    + "".join(f"{'x;' * i},{','.join(map(str, P[i]))},{'ABC'[TRUE[i]]}\n" for i in range(6)),
    "splits.json": json.dumps(
        {
            "calibration": json_rows(probs=lambda i: P[i])[:3],
            "test": json_rows(probs=lambda i: P[i])[3:],
        }
    ),
    "viewer_of_the_hub.json": json.dumps(
        {
            "features": [{"feature_idx": 0, "name": "probs"}, {"feature_idx": 1, "name": "label"}],
            "rows": [
                {"row_idx": i, "row": row, "truncated_cells": []}
                for i, row in enumerate(json_rows(probs=lambda i: P[i]))
            ],
            "num_rows_total": 6,
        }
    ),
    "values_of_a_sheet.json": json.dumps(
        [["id", "A", "B", "C", "label"], *([f"q{i}", *P[i], "ABC"[TRUE[i]]] for i in range(6))]
    ),
    "arrays.json": json.dumps({"probs": P, "labels": TRUE}),
    "named_arrays.json": json.dumps({"model": "m", "classes": ["x", "y", "z"], "probs": P, "label": TRUE}),
    "utf16.jsonl": jsonl(json_rows(probs=lambda i: P[i])).encode("utf-16"),
    "comments.csv": "# made by me\n# in 2026\n" + GOOD,
    "title_rows.csv": "Results of model X,,,\n,,,\n" + GOOD,
    "workbook_named.csv": xlsx(results=FRAME),
    "pandas.json": FRAME.to_json(),
    "pandas_split.json": FRAME.to_json(orient="split"),
    "pandas_index.json": FRAME.to_json(orient="index"),
    "lm_eval_0_4_0.jsonl": json.dumps(
        [
            {
                "doc_id": i,
                "doc": {"question": f"Which is {i}?"},
                "target": str(TRUE[i]),
                "arguments": [[f"Which is {i}?", f" {text}"] for text in TEXTS[i]],
                "resps": [[[float(np.log(p)), False]] for p in P[i]],
                "filtered_resps": [[float(np.log(p)), False] for p in P[i]],
                "acc": 1.0,
            }
            for i in range(6)
        ],
        indent=2,
    ),
    "labels_option.csv": csv(labels=[f"Option {'ABC'[i]}" for i in TRUE]),
    "numbered_choices.csv": csv(
        names=("choice_1", "choice_2", "choice_3"), labels=[i + 1 for i in TRUE], label="correct_choice"
    ),
    "solution.csv": csv(label="Solution"),
    "spaces_in_names.csv": csv(names=(" A ", " B ", " C "), label=" Label "),
    "names_with_dots.csv": csv(names=("prob.A", "prob.B", "prob.C")),
    "losses.csv": csv(rows=[tuple(-np.log(row)) for row in P], names=("nll_A", "nll_B", "nll_C")),
    "last_comma.csv": GOOD.replace("\n", ",\n"),
    "old_mac_lines.csv": GOOD.replace("\n", "\r"),
    "unnamed_index.csv": FRAME.to_csv(),
    "texts_of_several_lines.csv": csv(
        sep=";", more=lambda i: (f'"a;b\n""c"" {i}"',), more_names=("question",), number=lambda p: f'"{p}"'
    ),
    "tabs.tsv.gz": gzip.compress(csv(sep="\t").encode()),
    "two_parts.csv.gz": gzip.compress(GOOD[:40].encode()) + gzip.compress(GOOD[40:].encode()),
    "模型 😀.csv": GOOD,
    "in_a_folder.zip": zipped(模型__结果_dot_csv=GOOD),
    "numbers_as_texts.parquet": parquet(FRAME.astype(str)),
    "whole_per_cent.parquet": parquet(
        FRAME.assign(**{name: (100 * FRAME[name]).round().astype(int) for name in ("p_A", "p_B", "p_C")})
    ),
    "decimal_commas.xlsx": xlsx(results=FRAME.astype(str).apply(lambda column: column.str.replace(".", ","))),
    "numbers_as_texts.jsonl": jsonl(json_rows(probs=lambda i: [f"{100 * p:.0f}%" for p in P[i]])),
    "two_objects_down.json": json.dumps({"data": {"items": json_rows(probs=lambda i: P[i])}}),
    "by_question.json": json.dumps(
        {f"q{i}": {"probs": dict(zip("ABC", P[i], strict=True)), "answer": "ABC"[TRUE[i]]} for i in range(6)}
    ),
    "figures_in_an_object.jsonl": jsonl(
        json_rows(prediction=lambda i: {"probs": dict(zip("ABC", P[i], strict=True)), "model": "m"})
    ),
    "choices_of_the_hub.jsonl": jsonl(
        json_rows(probs=lambda i: P[i], choices=lambda i: {"label": list("ABC"), "text": list(TEXTS[i])})
    ),
}
"""Files of the same six questions, with the probabilities ``P`` and the answers ``TRUE``."""

REFUSED: dict[str, tuple[bytes | str, str]] = {
    "empty.csv": ("", "expected results, found an empty file"),
    "only_spaces.csv": ("  \n\n", "expected results, found an empty file"),
    "cyrillic.csv": (
        csv(names=("A", "B", "C"), more=lambda i: ("ответ",), more_names=("текст",)).encode("cp1251"),
        "line 1: expected text in UTF-8, found byte 0xf2; save it as UTF-8",
    ),
    "cut.jsonl": (jsonl(json_rows(probs=lambda i: P[i]))[:-20], "line 6: expected a whole JSON object"),
    "cut.json": (json.dumps(json_rows(probs=lambda i: P[i]))[:-9], "expected a whole JSON document"),
    "cut.parquet": (parquet(FRAME)[:-30], "expected a whole Parquet file"),
    "cut.zip": (zipped(a_dot_csv=GOOD)[:-30], "expected a whole zip archive"),
    "cut.xlsx": (xlsx(results=FRAME)[:-100], "expected a whole (zip archive|workbook)"),
    "cut.npz": (b"PK\x03\x04\x00\x00", "expected a whole zip archive"),
    "empty.zip": (zipped(), "the archive is empty"),
    "all_alike.csv": (
        csv(rows=[(1 / 3,) * 3] * 6),
        "found all equal",
    ),
    "one_row.csv": ("A,B,label\n0.5,0.5,A\n", "found all equal|at least two questions|row a run|summary"),
    "picks_only.csv": (
        "question,prediction,answer\nWhich?,A,A\nWhat?,B,A\n",
        "found only the model's pick in 'prediction'; a pick alone can't form sets",
    ),
    "picks_only.jsonl": (
        jsonl([{"question": "Which?", "pred": "A", "answer": "B"}] * 3),
        "found only the model's pick in 'pred'",
    ),
    "accuracies.csv": ("model,mmlu_acc,arc_acc\nm,0.5,0.7\nn,0.6,0.8\n", "it holds scores of a whole run"),
    "means.json": (json.dumps({"results": {"arc": {"acc": 0.5}}, "configs": {}}), "it holds means over all questions"),
    "evil.pkl": (pickle.dumps(Path("x")), "a pickle can run code"),
    "numbers.pkl": (pickle.dumps([1, 2]), "expected a pickle that lists rows"),
    "notes.md": ("# Notes\n\nNothing, really.\n", "it is text without results"),
    "picture.png": (b"\x89PNG\r\n\x1a\n" + b"0" * 100, "it is a picture or a document without results"),
    "binary.dat": (bytes(range(256)) * 4, "expected results, found a binary file of no known format"),
    "archive.7z": (b"7z\xbc\xaf\x27\x1c" + b"0" * 50, "7z archive, which is not opened"),
    "number.json": ("7", "it is text without results"),
    "list_of_numbers.json": ("[1, 2, 3]", "expected a list of objects or a list for each column"),
    "deep.json": ("[" * 100_000, "expected a whole JSON document|can't be read"),
    "many_columns.csv": (
        ",".join(f"c{i}" for i in range(600)) + "\n" + ",".join("1" * 600) + "\n",
        "at most 500 columns",
    ),
    "display_predictions.json": (
        json.dumps([{"instance_id": "id1", "predicted_text": " A", "train_trial_index": 0, "stats": {}}]),
        "import the scenario_state.json",
    ),
    "results.feather": (b"ARROW1\0\0" + bytes(50), "Feather.*save it as Parquet"),
    "results.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(50), "old Excel workbook .*save it as XLSX"),
    "results.ods": (zipped(mimetype=b"x", content_dot_xml=b"<x/>"), "OpenDocument file.*save it as XLSX"),
    "pointer.jsonl": ("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n", "git lfs pull"),
    "list_cut.jsonl": (json.dumps([{"doc_id": 0, "resps": [[]]}])[:-1], "expected a whole JSON document"),
    "empty.xlsx": (xlsx(results=pd.DataFrame()), "expected a sheet with a row of names and rows below it, found none"),
    "a_row_an_option.csv": (
        "id,option,prob,correct\n"
        + "".join(f"{i},{'ABC'[j]},{P[i][j]},{j == TRUE[i]}\n" for i in range(6) for j in range(3)),
        "expected a row for each question and a column for each option, found a row for each option",
    ),
    "a_row_an_option_by_number.csv": (
        "question,option,p,label\n"
        + "".join(f"Q{i},{j},{P[i][j]},{int(j == TRUE[i])}\n" for i in range(6) for j in range(3)),
        "expected a row for each question and a column for each option, found a row for each option",
    ),
    "outside.zip": (zipped(**{"..__mine.csv": GOOD}), "the archive holds no file that can be read"),
    "results.db": (b"SQLite format 3\0" + bytes(4000), "found a binary file of no known format"),
    "one_sign_lacks.csv": (
        csv(number=lambda p: f"{100 * p:.0f}%" if p > 0.2 else str(p)),
        "line 3: expected a percent sign, as in other rows, in 'A', found '0.1'",
    ),
    "batch.jsonl": (
        jsonl([{"custom_id": i, "response": {"body": {"choices": []}}} for i in range(6)]),
        "^it is a table with 6 rows and the columns 'custom_id', 'response': it has neither questions with options nor "
        "a model's figures",
    ),
    "notebook.ipynb": (
        json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}),
        "without results",
    ),
}
"""Files that can't be imported, and the messages about them."""


def check_right(tmp_path: Path, name: str, content: bytes | str) -> FoundRun:
    """Read a file to the figures ``P`` and the answers ``TRUE``."""
    reading = dropped(tmp_path, {name: content})
    assert refused(reading) == {}
    (found_run,) = reading.runs
    run_evaluation = evaluation(found_run.run)
    order = np.argsort([int(name.removeprefix("q")) for name in run_evaluation.ids])
    assert run_evaluation.probabilities[order] == pytest.approx(np.array(P), abs=1e-5)
    assert run_evaluation.labels[order].tolist() == TRUE
    assert figures(found_run.run).accuracy == (1, 1)
    return found_run


def check_refused(tmp_path: Path, name: str, content: bytes | str, says: str) -> None:
    """Refuse a file in one sentence, which names nothing of the server."""
    reading = dropped(tmp_path, {name: content})
    assert reading.runs == reading.unmapped == ()
    assert list(refused(reading)) == [name]
    sentence = refused(reading)[name]
    assert str(tmp_path) not in sentence
    assert "Traceback" not in sentence
    assert "\n" not in sentence
    assert re.search(says, sentence), sentence


@pytest.mark.parametrize("name", RIGHT)
def test_an_odd_file_is_read_right(home, tmp_path, name):
    check_right(tmp_path, name, RIGHT[name])


@pytest.mark.parametrize("name", REFUSED)
def test_an_odd_file_is_refused_in_one_sentence(home, tmp_path, name):
    check_refused(tmp_path, name, *REFUSED[name])


def test_columns_without_known_names_are_asked_for(home, tmp_path):
    reading = dropped(tmp_path, {"odd.csv": csv(names=("one", "two", "three"), label="says")})
    assert [table.header for table in reading.unmapped] == [("one", "two", "three", "says")]
    assert refused(reading) == {}


def test_unequal_numbers_of_options(home, tmp_path):
    rows = json_rows(probs=lambda i: P[i] if i % 2 else (0.7, 0.3))
    for i, row in enumerate(rows):
        row["label"] = "AB"[i % 2]
    (found_run,) = dropped(tmp_path, {"ragged.jsonl": jsonl(rows)}).runs
    assert evaluation(found_run.run).option_counts.tolist() == [2, 3] * 3


def test_models_in_one_file_are_runs_of_their_own(home, tmp_path):
    twice = pd.concat([FRAME.assign(model_name="a", id=range(6)), FRAME.assign(model_name="b", id=range(6))])
    runs = dropped(tmp_path, {"both.csv": twice.to_csv(index=False)}).runs
    assert [found_run.run.spec.model for found_run in runs] == ["a", "b"]
    assert [run.lacks for run in runs] == [("task",)] * 2


def test_next_token_probabilities_keep_their_letter_mass(home, tmp_path):
    shares = csv(number=lambda p: f"{p / 2:.6f}")
    (found_run,) = dropped(tmp_path, {"letters.csv": shares}).runs
    assert evaluation(found_run.run).probabilities == pytest.approx(np.array(P), abs=1e-5)
    assert found_run.run.scored.letter_mass == pytest.approx(np.full(6, 0.5), abs=1e-5)


def test_a_zip_that_unpacks_to_too_much_is_not_unpacked(home, tmp_path, monkeypatch):
    monkeypatch.setattr("core.tables.encodings.ALWAYS", 10_000)
    reading = dropped(tmp_path, {"bomb.zip": zipped(a_dot_csv=b"0" * 5_000_000)})
    (sentence,) = refused(reading).values()
    assert "it unpacks to 5 MB" in sentence
    assert not list((tmp_path / "scratch").rglob("*.csv"))


def test_a_gzip_that_unpacks_to_too_much_is_cut_off(home, tmp_path, monkeypatch):
    monkeypatch.setattr("core.tables.encodings.ALWAYS", 10_000)
    reading = dropped(tmp_path, {"bomb.csv.gz": gzip.compress(b"0" * 50_000_000)})
    (sentence,) = refused(reading).values()
    assert "no more is unpacked" in sentence
    assert sum(path.stat().st_size for path in (tmp_path / "scratch").rglob("*") if path.is_file()) < 20_000_000


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("none.parquet", parquet(pd.DataFrame(index=range(3))), "expected"),
        ("none.jsonl", "{}\n{}\n", "expected"),
        ("two.csv", csv().replace("0.5", "²"), "line 2: expected a number in 'A', found '²'"),
        ("label.csv", csv(labels=["²", *"BCACB"]), "line 2: expected the right option in 'label'"),
        ("jury.csv", "question,answer,juror,p_true,label\nq,a,x,0.5,1\rq2,a,x\r\n", "expected"),
        ("jury.csv", 'question,answer,juror,p_true,label\nq\r2,a,x,0.5,1\n"q\r3",a,x,0.5,1\n', "expected"),
    ],
)
def test_files_that_once_ended_in_a_traceback(home, tmp_path, name, content, says):
    check_refused(tmp_path, name, content, says)


def test_half_characters_and_huge_numbers_in_json_are_read(home, tmp_path):
    rows = jsonl(json_rows(probs=lambda i: P[i], question=lambda i: f"cut {i}"))
    (found_run,) = dropped(tmp_path, {"cut.jsonl": rows.replace("cut 0", "cut \\ud83d")}).runs
    assert found_run.run.questions[0].question == "cut \ufffd"
    (sentence,) = refused(dropped(tmp_path / "again", {"huge.jsonl": rows.replace("0.5", "9" * 400, 1)})).values()
    assert "expected" in sentence


def test_a_line_is_counted_from_the_top_of_the_file(home, tmp_path):
    reading = dropped(tmp_path, {"title.csv": "# mine\n\nTitle,,,\n" + GOOD.replace("0.8", "many")})
    (sentence,) = refused(reading).values()
    assert "line 6: expected a number in 'B', found 'many'" in sentence


def test_what_systems_leave_is_passed_over(home, tmp_path):
    reading = dropped(tmp_path, {".DS_Store": b"\0\0\0\1Bud1", "._mine.csv": b"litter", "mine.csv": GOOD})
    assert [found_run.name for found_run in reading.runs] == ["mine.csv"]
    assert refused(reading) == {}


def test_members_that_want_to_be_elsewhere_are_left_where_they_are(home, tmp_path):
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        archive.writestr("../../evil.csv", GOOD)
        archive.writestr("/abs.csv", GOOD)
        archive.writestr("__MACOSX/._mine.csv", b"litter")
        archive.writestr("mine.csv", GOOD.replace("0.5,0.3", "0.4,0.4"))
    reading = dropped(tmp_path, {"x.zip": into.getvalue()})
    assert sorted(found_run.name for found_run in reading.runs) == ["x.zip/abs.csv", "x.zip/mine.csv"]
    assert not (tmp_path / "evil.csv").exists()


def test_a_first_line_of_json_lines_may_be_long_or_hold_a_huge_number(home, tmp_path):
    rows = [{"question": f"Which {i}?", "options": ["x", "y"], "label": "AB"[i % 2]} for i in range(6)]
    rows[0]["question"] = "long " * 300_000
    (file,) = dropped(tmp_path, {"long.jsonl": jsonl(rows)}).elsewhere
    assert (file.kind, file.read_as) == ("questions", "6 questions, 2 options, answers as letters")
    rows[0]["question"] = "Which 0?"
    huge = jsonl(rows).replace('"label": "A"', '"label": 1' + "0" * 5_000, 1)
    (sentence,) = refused(dropped(tmp_path / "again", {"huge.jsonl": huge})).values()
    assert "'label'" in sentence


def test_a_damaged_text_in_utf_16_is_refused_under_its_own_name(home, tmp_path):
    (sentence,) = refused(dropped(tmp_path, {"t.csv": b"\xff\xfea,b\n1,2\xd8"})).values()
    assert sentence == "expected text in UTF-16, as the file begins, found otherwise; save it as UTF-8"


def test_options_that_cannot_be_read_make_no_labels_of_a_jury(home, tmp_path):
    rows = "".join(f'Which {i}?,"{"[" * 300}",A\n' for i in range(6))
    (sentence,) = refused(dropped(tmp_path, {"deep.csv": f"question,options,label\n{rows}"})).values()
    assert "options" in sentence
    assert "juror" not in sentence
