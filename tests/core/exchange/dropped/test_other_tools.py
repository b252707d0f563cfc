"""Files as further tools write them: each is read to the right figures, or refused in one sentence that is true."""

import bz2
import gzip
import io
import json
import math
import tarfile
import zipfile
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from openpyxl import Workbook

from core.exchange import writing
from core.exchange.dropped.examples import npz, parquet
from core.tables.list_columns import listed
from tests.core.exchange.dropped.test_odd_files import (
    FRAME,
    GOOD,
    TEXTS,
    TRUE,
    P,
    check_refused,
    check_right,
    csv,
    json_rows,
    jsonl,
)
from tests.core.exchange.drops import dropped, refused

pytestmark = pytest.mark.quick


def stream(table: pa.Table) -> bytes:
    into = io.BytesIO()
    with pa.ipc.new_stream(into, table.schema) as writer:
        writer.write_table(table)
    return into.getvalue()


def tarred(compression: str) -> bytes:
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode=f"w:{compression}") as archive:
        info = tarfile.TarInfo("experiment/seed-0/predictions.csv")
        info.size = len(GOOD)
        archive.addfile(info, io.BytesIO(GOOD.encode()))
    return into.getvalue()


def zipped(name: str, kind: int) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", kind) as archive:
        archive.writestr(name, GOOD)
    return into.getvalue()


def workbook(cell: str) -> bytes:
    """A title above the header; ``cell`` formats a probability."""
    book = Workbook()
    sheet = book.active
    sheet.append(["Results of model X"])
    sheet.append([])
    sheet.append(["id", "prob A", "prob B", "prob C", "answer"])
    for i, row in enumerate(P):
        cells = [cell.format(p) for p in row]
        sheet.append([i, *(cell if cell.startswith("=") else float(cell) for cell in cells), "ABC"[TRUE[i]]])
    into = io.BytesIO()
    book.save(into)
    return into.getvalue()


def torch_file(*names: str) -> bytes:
    """What `torch.save` writes, as far as it is looked at: a zip with a pickle of a dictionary of tensors."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        texts = b"".join(b"X" + len(name).to_bytes(4, "little") + name.encode() + b"q\x01" for name in names)
        archive.writestr("results/data.pkl", b"\x80\x02}q\x00(" + texts + b"u.")
        archive.writestr("results/data/0", b"\0" * 64)
    return into.getvalue()


def tokens(i: int, *more: tuple[str, float]) -> list[dict[str, object]]:
    """The likeliest tokens as a server lists them, the likeliest first."""
    entries = [*zip("ABC", np.log(P[i]).tolist(), strict=True), *more]
    return [{"token": token, "logprob": p} for token, p in sorted(entries, key=lambda entry: -entry[1])]


def halved(listed: list[dict[str, object]]) -> list[dict[str, object]]:
    """The tokens, where half of the probability of A is that of the token with a blank before it."""
    return [
        {"token": token, "logprob": float(str(entry["logprob"])) - (math.log(2) if entry["token"] == "A" else 0)}
        for entry in listed
        for token in ((" A", "A") if entry["token"] == "A" else (entry["token"],))
    ]


LOGS = [[math.log(p) for p in row] for row in P]
RIGHT: dict[str, bytes | str] = {
    "hellaswag_write_out_info.json": json.dumps(  # lm-eval 0.3 with --write_out
        [
            {"doc_id": i, **{f"prompt_{j}": f"Which? {text}" for j, text in enumerate(TEXTS[i])}}
            | {f"logit_{j}": p for j, p in enumerate(LOGS[i])}
            | {"truth": TRUE[i], "acc": "1.0", "acc_norm": "0.0"}
            for i in range(6)
        ],
        indent=4,
    ),
    "two_tokens_of_a_letter.jsonl": jsonl(  # whose probabilities are added
        json_rows(top_logprobs=lambda i: halved(tokens(i)))
    ),
    "top_logprobs.jsonl": jsonl(json_rows(top_logprobs=lambda i: tokens(i, ("The", -4.0), (" (", -6.0)))),
    "an_object_for_each_option.jsonl": jsonl(
        json_rows(
            options=lambda i: [{"label": "ABC"[j], "text": TEXTS[i][j], "logprob": LOGS[i][j]} for j in (2, 0, 1)]
        )
    ),
    "spaces_before_letters.jsonl": jsonl(
        json_rows(logprobs=lambda i: {f" {letter}": p for letter, p in zip("ABC", LOGS[i], strict=True)})
    ),
    "table.table.json": json.dumps(  # W&B, MLflow
        {"columns": ["prob_A", "prob_B", "prob_C", "label"], "data": [[*P[i], "ABC"[TRUE[i]]] for i in range(6)]}
    ),
    "numpy_header.csv": "# " + GOOD,
    "numpy_header_without_a_space.csv": "# seed 0\n#" + GOOD,
    "predictions.tar.xz": tarred("xz"),
    "predictions.tar.bz2": tarred("bz2"),
    "backslash.zip": zipped("experiment\\predictions.csv", zipfile.ZIP_STORED),
    "lzma.zip": zipped("predictions.csv", zipfile.ZIP_LZMA),
    "half_logits.npz": npz(logits=np.log(P).astype(np.float32), labels=np.array(TRUE, dtype=np.int8)),
    "yz.npz": npz(y_prob=np.asfortranarray(np.array(P, dtype=">f8")), y_true=np.array(TRUE)),
    "structs.parquet": parquet(
        [{"probs": dict(zip("ABC", row, strict=True)), "label": "ABC"[i]} for row, i in zip(P, TRUE, strict=True)]
    ),
    "decimals.parquet": writing.to_parquet(
        pa.table(
            {f"p_{'ABC'[j]}": pa.array([Decimal(str(row[j])) for row in P], pa.decimal128(6, 3)) for j in range(3)}
            | {"label": pa.array(["ABC"[i] for i in TRUE]).dictionary_encode()}
        )
    ),
    "title.xlsx": workbook("{}"),
    "p_of_a.csv": csv(names=("P(A)", "P(B)", "P(C)"), label="Gold"),
    "quotes_inside.tsv": csv(sep="\t", more=lambda i: (f'What is 5" {i}',), more_names=("question",)),
    "empty_lines.jsonl": jsonl(json_rows(probs=lambda i: P[i])).replace("\n", "\r\n\r\n"),
}

PICKS = "it says which answers a model gave or whether they were right"
REFUSED: dict[str, tuple[bytes | str, str]] = {
    "test_run.json": (  # DeepEval
        json.dumps(
            {
                "testCases": [{"input": "Which?", "actualOutput": "A", "success": True}],
                "testPassed": 1,
                "runDuration": 1,
            }
        ),
        PICKS,
    ),
    "promptfoo.json": (
        json.dumps({"evalId": "1", "results": {"version": 3, "results": [{"success": True}]}, "config": {}}),
        PICKS,
    ),
    "ARC-c.json": (  # the evaluation of OpenCompass, beside its predictions
        json.dumps({"accuracy": 50.0, "details": {"0": {"prompt": "Which?", "pred": "A", "references": "B"}}}),
        PICKS,
    ),
    "openai_evals.jsonl": (
        jsonl([{"spec": {"completion_fns": ["gpt"], "eval_name": "x"}}, {"final_report": {"accuracy": 0.5}}]),
        PICKS,
    ),
    "openai_events.jsonl": (
        jsonl([{"run_id": "1", "event_id": i, "sample_id": "s", "type": "match", "data": {}} for i in range(3)]),
        PICKS,
    ),
    "stats.json": (  # HELM
        json.dumps([{"name": {"name": "exact_match"}, "count": 1, "sum": 0.5, "mean": 0.5}]),
        "it holds scores of a whole run",
    ),
    "summary_20260304.csv": (  # OpenCompass
        "dataset,version,metric,mode,my-model\nARC-e,2ef631,accuracy,ppl,83.33\nhellaswag,47bff9,accuracy,ppl,-\n",
        "it holds scores of a whole run",
    ),
    "results.pt": (torch_file("probs", "labels"), "file of PyTorch.* save its arrays with numpy as npz"),
    "data-00000-of-00001.arrow": (stream(pa.Table.from_pandas(FRAME)), "Arrow.*save it as Parquet"),
    "samples.parquet": (
        parquet([{"doc_id": i, "doc": "{}", "resps": "[]", "acc": float(i)} for i in range(2)]),
        "expected samples of lm-eval as it writes them, found a table of them",
    ),
    "fixed_width.txt": (FRAME.to_string(index=False), "found spaces; save it as CSV"),
    "numbered.txt": (FRAME.to_string(), "found spaces; save it as CSV"),
    "table.md": (
        "| A | B | label |\n|---|:--:|---|\n| 0.5 | 0.5 | A |\n| 0.4 | 0.6 | B |\n",
        "found a table in Markdown; save it as CSV",
    ),
    "formulas.xlsx": (workbook("={}"), "'prob A, prob B, prob C', found no values; if their cells hold formulas"),
    "predictions.csv.bz2": (bz2.compress(GOOD.encode())[:-9], "expected a whole bzip2 file, found none"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_file_is_read_right(home, tmp_path, name):
    assert "model" in check_right(tmp_path, name, RIGHT[name]).lacks  # no file says it


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_is_refused_in_one_sentence(home, tmp_path, name):
    check_refused(tmp_path, name, *REFUSED[name])


def test_texts_of_options_are_read_from_their_objects(home, tmp_path):
    (found_run,) = dropped(tmp_path, {"objects.jsonl": RIGHT["an_object_for_each_option.jsonl"]}).runs
    assert [question.options for question in found_run.run.questions] == TEXTS


def test_model_weights_of_pytorch_are_still_a_model(home, tmp_path):
    reading = dropped(tmp_path, {"pytorch_model.bin": torch_file("lm_head.weight", "logits_processor")})
    assert [file.kind for file in reading.elsewhere] == ["weights"]


def test_a_compressed_file_takes_its_model_from_its_folder(home, tmp_path):
    lines = jsonl(
        [
            {
                "doc_id": i,
                "doc": {"question": f"Which is {i}?"},
                "target": TRUE[i],
                "arguments": [[f"Which is {i}?", f" {text}"] for text in TEXTS[i]],
                "resps": [[[p, False]] for p in LOGS[i]],
                "acc": 1.0,
            }
            for i in range(6)
        ]
    )
    reading = dropped(tmp_path, {"org__model-1/samples_arc.jsonl.gz": gzip.compress(lines.encode())})
    assert refused(reading) == {}
    assert [(found_run.run.spec.model, found_run.lacks) for found_run in reading.runs] == [("org/model-1", ())]


def test_numbered_options_come_in_the_order_of_their_numbers():
    twelve = {str(i): i / 100 for i in range(12)}
    assert listed(dict(sorted(twelve.items()))) == list(twelve.values())
