"""Small whole drops of every kind of file that Hedge reads: the documentation shows them, tests read them, and the
fuzzer changes them. Their questions and figures are made up."""

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.exchange.dropped.kind import FileExample, Files

P = [(0.5, 0.3, 0.2), (0.1, 0.8, 0.1), (0.2, 0.2, 0.6), (0.6, 0.3, 0.1), (0.1, 0.3, 0.6), (0.3, 0.6, 0.1)]
"""The probabilities of three options for six questions."""
LABELS = "ABCABC"
N = len(P)
OPTIONS = ("red", "green", "blue")


def as_json(value: Any) -> bytes:
    """A value as a JSON document."""
    return json.dumps(value).encode()


def as_lines(rows: list[Any]) -> bytes:
    """Rows as JSON lines."""
    return b"".join(as_json(row) + b"\n" for row in rows)


def as_csv(names: list[str], rows: list[list[Any]], separator: str = ",") -> bytes:
    """Rows below their names; no cell needs quotes."""
    return "".join(separator.join(map(str, row)) + "\n" for row in [names, *rows]).encode()


def zipped(members: Files) -> bytes:
    """A zip archive of these members."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return into.getvalue()


def npz(**arrays: Any) -> bytes:
    """Arrays as an npz archive."""
    into = io.BytesIO()
    np.savez_compressed(into, **arrays)
    return into.getvalue()


def npy(array: Any) -> bytes:
    """An array as an npy file."""
    into = io.BytesIO()
    np.save(into, array)
    return into.getvalue()


def parquet(rows: list[dict[str, Any]]) -> bytes:
    """Rows as a Parquet file."""
    into = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), into)
    return into.getvalue()


def example(title: str, name: str, content: Callable[[], bytes], sentence: str = "") -> FileExample:
    """An example of one file."""
    return FileExample(title, lambda: {name: content()}, sentence)


# ---------------------------------------------------------------- tables of results

ROW_NAMES = ["id", "question", "subject", "split", "model", "p_A", "p_B", "p_C", "label"]


def rows() -> list[list[Any]]:
    """The cells of :data:`ROW_NAMES`."""
    return [[i, f"Which is {i}?", "maths", ("cal", "test")[i % 2], "small", *P[i], LABELS[i]] for i in range(N)]


def _objects() -> list[dict[str, Any]]:
    return [dict(zip(ROW_NAMES, row, strict=True)) for row in rows()]


def _lists() -> list[dict[str, Any]]:
    return [{"id": i, "probs": list(P[i]), "options": list(OPTIONS), "label": LABELS[i]} for i in range(N)]


def _listed() -> list[dict[str, Any]]:
    return [
        {
            "question": f"Which is {i}?",
            "logprobs": dict(zip("ABC", np.log(P[i]).round(4).tolist(), strict=True)),
            "answer": LABELS[i],
        }
        for i in range(N)
    ]


def _pandas() -> dict[str, Any]:
    return {name: {str(i): row[place] for i, row in enumerate(rows())} for place, name in enumerate(ROW_NAMES)}


def _workbook() -> bytes:
    from core.exchange.workbook import workbook

    cells = [dict(zip(ROW_NAMES, row, strict=True)) for row in rows()]
    return workbook({"results": pa.Table.from_pylist(cells)})


TABLE = (
    example(
        "A column for each option",
        "results.csv",
        lambda: as_csv(ROW_NAMES, rows()),
        "Only the options and the label are needed. Columns may be separated by commas, semicolons, tabs or bars.",
    ),
    example("A list of figures", "results.jsonl", lambda: as_lines(_lists())),
    example("Log-probabilities by letter", "logprobs.jsonl", lambda: as_lines(_listed())),
    example("A JSON list of rows", "results.json", lambda: as_json(_objects())),
    example("A frame as pandas writes it", "frame.json", lambda: as_json(_pandas())),
    example("Parquet", "results.parquet", lambda: parquet(_objects())),
    example(
        "A classifier's classes",
        "classes.csv",
        lambda: as_csv(["id", *OPTIONS, "label"], [[i, *P[i], OPTIONS["ABC".index(LABELS[i])]] for i in range(N)]),
        "The classes are named as their columns are.",
    ),
    example(
        "Several picks of each question",
        "picks.csv",
        lambda: as_csv(
            ["id", "pick_1", "pick_2", "pick_3", "label"], [[i, *"AB", mark, mark] for i, mark in enumerate(LABELS)]
        ),
        "The share of the picks that name an option stands for its probability.",
    ),
)
WORKBOOK = (example("A sheet with a column for each option", "results.xlsx", _workbook),)


# ---------------------------------------------------------------- harnesses


def _lm_eval() -> list[dict[str, Any]]:
    return [
        {
            "doc_id": i,
            "doc": {"question": f"Why {i}?", "choices": ["one", "two"], "answer": i % 2},
            "target": i % 2,
            "arguments": [[f"Why {i}?", " one"], [f"Why {i}?", " two"]],
            "resps": [[[-1.0, False]], [[-2.0, False]]],
            "filtered_resps": [[-1.0, False], [-2.0, False]],
            "acc": float(i % 2 == 0),
        }
        for i in range(N)
    ]


def _lm_eval_results() -> dict[str, Any]:
    return {
        "results": {"mine": {"alias": "mine", "acc,none": 0.5}},
        "configs": {"mine": {"task": "mine", "output_type": "multiple_choice", "num_fewshot": 0}},
        "versions": {"mine": 1},
        "n-shot": {"mine": 0},
        "model_name": "org/model",
    }


LM_EVAL = (
    FileExample(
        "The samples, with the results file beside them",
        lambda: {
            "samples_mine_2026-01-01T00-00-00.jsonl": as_lines(_lm_eval()),
            "results_2026-01-01T00-00-00.json": as_json(_lm_eval_results()),
        },
        "`lm_eval --log_samples --output_path FOLDER` writes both. The results file says the model and the shots.",
    ),
)


# ---------------------------------------------------------------- arrays and pickles


def _bench() -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    return [{"id": i, "logits_options": rng.normal(size=6).astype(np.float32)} for i in range(40)]


def _labels() -> Any:
    return np.array([0, 1, 2, 0, 2, 1])


BENCH = (
    FileExample(
        "Logits and the answers of their data set",
        lambda: {
            "Tiny_halu_dialogue_base_icl1.pkl": pickle.dumps(_bench()),
            "halu_dialogue.labels.json": as_json({"labels": [{"id": i, "answer": "ABCD"[i % 4]} for i in range(40)]}),
        },
    ),
)
NPZ = (
    example(
        "Scores and labels in an archive",
        "mine.npz",
        lambda: npz(scores=np.array(P), labels=_labels(), model="small"),
    ),
)
NPY = (
    FileExample(
        "Scores and labels as two files",
        lambda: {"mine_scores.npy": npy(np.array(P)), "mine_labels.npy": npy(_labels())},
    ),
)


# ---------------------------------------------------------------- juries


def _jury() -> bytes:
    cells = [
        [f"q{i}", f"a{i}", juror, round(0.2 + 0.1 * i, 1), i % 2] for i in range(N) for juror in ("ann", "bob", "eve")
    ]
    return as_csv(["question", "answer", "juror", "p_true", "label"], cells)


def _published_jury() -> bytes:
    cells = [[f"q{i}", f"a{i}", ("Correct", "Incorrect")[i % 2], '"[[0.7, 0.3]]"'] for i in range(N)]
    return as_csv(["question", "answer", "accurate_judgement", "logits"], cells)


def _llmbar() -> list[dict[str, Any]]:
    return [
        {
            "input": f"q{i}",
            "output_1": "one",
            "output_2": "two",
            "label": 1 + i % 2,
            "results": [{"swap = False": {"winner": "1"}, "swap = True": {"winner": "2"}}],
        }
        for i in range(N)
    ]


JURY = (
    example("A row for each verdict", "jury.csv", _jury),
    example(
        "A column for each judge, and one that says what is right",
        "judges.csv",
        lambda: (
            b"question,answer,gpt4,claude,human\nq0,a0,correct,correct,correct\nq1,a1,correct,incorrect,incorrect\n"
        ),
    ),
    FileExample(
        "A file for each juror",
        lambda: {"jury_logits_ann_test.csv": _published_jury(), "jury_logits_bob_test.csv": _published_jury()},
    ),
)
JURY_TEXT = (
    FileExample(
        "A text for each juror, and what is right",
        lambda: {
            "ann.txt": b"q0\ta0\t[[0.7, 0.3]]\nq1\ta1\t[[0.4, 0.6]]\n",
            "bob.txt": b"q0\ta0\t[[0.6, 0.4]]\nq1\ta1\t[[0.2, 0.8]]\n",
            "truth.csv": b"question,label\nq0,1\nq1,0\n",
        },
    ),
)
PAIRS = (example("The pairs of LLMBar", "Natural/evaluators/GPT/Base/result.json", lambda: as_json(_llmbar())),)


# ---------------------------------------------------------------- for other pages


def _bank() -> list[dict[str, Any]]:
    return [{"question": f"Which is {i}?", "options": list(OPTIONS), "label": LABELS[i]} for i in range(N)]


def _arc() -> list[dict[str, Any]]:
    return [
        {
            "id": f"q{i}",
            "question": f"Which is {i}?",
            "choices": {"text": list(OPTIONS), "label": list("ABC")},
            "answerKey": LABELS[i],
        }
        for i in range(N)
    ]


MOODLE = """<?xml version="1.0" encoding="UTF-8"?>
<quiz>
<question type="multichoice">
<questiontext format="html"><text><![CDATA[<p>Which colour is the sky?</p>]]></text></questiontext>
<single>true</single>
<answer fraction="100" format="html"><text>blue</text></answer>
<answer fraction="0" format="html"><text>red</text></answer>
</question>
<question type="truefalse">
<questiontext format="html"><text>Snow is white.</text></questiontext>
<answer fraction="100"><text>true</text></answer>
<answer fraction="0"><text>false</text></answer>
</question>
</quiz>
"""
BANK = (
    example("JSON lines", "bank.jsonl", lambda: as_lines(_bank())),
    example(
        "A table",
        "bank.csv",
        lambda: b"question,option_A,option_B,label\nWhich is it?,red,green,A\nWhich else?,red,blue,B\n",
    ),
    example(
        "Options that are numbers",
        "sums.csv",
        lambda: as_csv(
            ["question", "A", "B", "C", "answer"],
            [[f"{i} + {i}?", 2 * i, 2 * i + 1, 3 * i + 50, "A"] for i in range(N)],
        ),
    ),
    example(
        "Options that are levels, in order",
        "grades.jsonl",
        lambda: as_lines([row | {"options": ["bad", "fair", "good"], "ordered": True} for row in _bank()]),
        "The field `ordered` (true or false) says so, here and in tables of results. The score Ordinal APS then gives "
        "sets without gaps.",
    ),
    example("Rows as the hub has them", "arc.jsonl", lambda: as_lines(_arc())),
    example(
        "MMLU's tables without a header",
        "mmlu.csv",
        lambda: b"Which is it?,red,green,blue,grey,A\nWhich else?,red,green,blue,grey,C\n",
    ),
    example("Moodle's XML", "quiz.xml", lambda: MOODLE.encode()),
    example(
        "GIFT",
        "quiz.gift",
        lambda: b"::Sky:: Which colour is the sky? {=blue ~red ~%-50%green#Look up.}\n\nSnow is white. {T}\n",
    ),
    example("Lines of text, with a star before the right option", "quiz.txt", lambda: b"Which is it?\nred\n*green\n"),
)
UNCLEAR = (
    example(
        "Options that are numbers with decimals",
        "prices.csv",
        lambda: as_csv(
            ["question", "A", "B", "C", "answer"],
            [[f"Half of {i}?", i / 2, i + 0.5, 3 * i + 1.5, LABELS[i]] for i in range(N)],
        ),
        "Hedge asks whether these are questions or a model's results.",
    ),
)
CONVERSATION = (
    example(
        "JSON lines of messages",
        "talk.jsonl",
        lambda: as_lines(
            [{"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]}]
        ),
    ),
    example(
        "Conversations of ShareGPT",
        "sharegpt.json",
        lambda: as_json([{"conversations": [{"from": "human", "value": "Hi."}, {"from": "gpt", "value": "Hello."}]}]),
    ),
    example("Text", "talk.txt", lambda: b"user: I can't sleep.\nassistant: Since when?\n"),
    example(
        "A column for each side",
        "advice.csv",
        lambda: b"Context,Response\nI can't sleep.,Since when have you slept badly at night?\n",
    ),
)
CHOICES = (
    example(
        "Contexts with their endings",
        "choices.json",
        lambda: as_json(
            [
                {
                    "context": [{"role": "user", "content": "I can't sleep."}],
                    "endings": ["Since when?", "Go away."],
                    "label": 0,
                }
            ]
        ),
    ),
)


# ---------------------------------------------------------------- files without anything to import

RESULTS = (example("A results file alone", "results.json", lambda: as_json(_lm_eval_results())),)
SUMMARY = (
    example("Scores by task", "scores.json", lambda: as_json({"stem": 1.0, "humanities": 0.5, "score": 0.7})),
    example("A row for each model", "leaderboard.csv", lambda: b"model,arc_acc,mmlu_acc\nsmall,0.5,0.4\nbig,0.9,0.8\n"),
)
PICKS = (
    example(
        "Answers that were right or wrong",
        "test_run.json",
        lambda: as_json({"testCases": [{"input": "Which?", "actualOutput": "A", "success": True}]}),
    ),
)
CONFIG = (example("Settings", "settings.json", lambda: as_json({"learning_rate": 0.1, "optimizer": "adam"})),)
MODEL = (example("A model's configuration", "config.json", lambda: as_json({"model_type": "llama", "hidden_size": 8})),)
