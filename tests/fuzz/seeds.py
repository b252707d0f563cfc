"""Small whole files of every format that is imported, from which fuzzed ones are made."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

Files = Mapping[str, bytes]
"""A drop: the files by their names."""
N = 6
P = [(0.5, 0.3, 0.2), (0.1, 0.8, 0.1), (0.2, 0.2, 0.6), (0.6, 0.3, 0.1), (0.1, 0.3, 0.6), (0.3, 0.6, 0.1)]
LETTERS = "ABCABC"


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _lines(rows: list[Any]) -> bytes:
    return b"".join(_json(row) + b"\n" for row in rows)


def _frame() -> pd.DataFrame:
    made = pd.DataFrame(P, columns=["p_A", "p_B", "p_C"])
    made["label"], made["question"] = list(LETTERS), [f"Why {i}?" for i in range(N)]
    return made.assign(id=range(N), subject="maths", model="small", split=["cal", "test"] * 3)


def _parquet(frame: pd.DataFrame) -> bytes:
    into = io.BytesIO()
    frame.to_parquet(into)
    return into.getvalue()


def _xlsx(frame: pd.DataFrame) -> bytes:
    into = io.BytesIO()
    frame.to_excel(into, index=False)
    return into.getvalue()


def _npz(**arrays: Any) -> bytes:
    into = io.BytesIO()
    np.savez_compressed(into, **arrays)
    return into.getvalue()


def _npy(array: Any) -> bytes:
    into = io.BytesIO()
    np.save(into, array)
    return into.getvalue()


def zipped(members: Files) -> bytes:
    """A zip archive of these members."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return into.getvalue()


def _inspect() -> dict[str, Any]:
    listed = [{"token": f" {letter}", "logprob": p} for letter, p in zip("ABC", (-0.5, -1.5, -2.0), strict=True)]
    content = [{"token": ":", "logprob": 0.0, "top_logprobs": []}, listed[0] | {"top_logprobs": listed}]
    said = {"message": {"content": "ANSWER: A", "role": "assistant"}, "logprobs": {"content": content}}
    samples = [
        {
            "id": f"q{i}",
            "epoch": 1,
            "input": f"Which is {i}?",
            "choices": ["red", "green", "blue"],
            "target": "A" if i % 2 else "B",
            "output": {"choices": [said], "completion": "ANSWER: A"},
            "scores": {"choice": {"value": "C" if i % 2 else "I", "answer": "A"}},
        }
        for i in range(4)
    ]
    return {"version": 2, "status": "success", "eval": {"task": "colours", "model": "mock/known"}, "samples": samples}


def _eval() -> bytes:
    log = _inspect()
    samples = {f"samples/{one['id']}_epoch_1.json": _json(one) for one in log.pop("samples")}
    return zipped({"header.json": _json(log)} | samples)


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


def _helm() -> dict[str, Any]:
    states = []
    for i in range(N):
        listed = {" A": -0.5, " B": -1.2, " C": -2.4}
        options = [f"{word} {i}" for word in ("red", "green", "blue")]
        references = [{"output": {"text": t}, "tags": ["correct"] * (j == i % 3)} for j, t in enumerate(options)]
        token = {"text": " A", "logprob": -0.5, "top_logprobs": listed}
        states.append(
            {
                "instance": {"input": {"text": f"{i}?"}, "references": references, "split": "test", "id": f"id{i}"},
                "train_trial_index": 0,
                "result": {"success": True, "completions": [{"text": " A", "logprob": -0.5, "tokens": [token]}]},
                "output_mapping": dict(zip("ABC", options, strict=True)),
                "reference_index": None,
            }
        )
    about = {"method": "multiple_choice_joint", "model": "openai/small", "max_train_instances": 5}
    return {"adapter_spec": about, "request_states": states}


def _opencompass() -> dict[str, Any]:
    return {
        str(i): {
            f"label: {x}": {"testing input": f"Q{i}?", "prompt": f"Q{i}?", "PPL": 1.0 + j} for j, x in enumerate("ABC")
        }
        | {"in-context examples": "", "prediction": "A", "gold": LETTERS[i]}
        for i in range(N)
    }


def _lighteval() -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "doc": {"query": f"Which is {i}?", "choices": ["A", "B", "C"], "gold_index": [i % 3], "id": str(i)},
                "model_response": {"logprobs": [-1.0, -2.0, -3.5], "text": []},
                "metric": {"acc": 1.0},
            }
            for i in range(N)
        ]
    )


def _vlm() -> list[dict[str, Any]]:
    texts = {"A": "one", "B": "two", "C": "three", "D": "four"}
    return [
        {"id": i, "question": f"{i}?", "answer": "ABCD"[i % 4], "logits": np.arange(6) * 1.5} | texts for i in range(8)
    ]


def _jury() -> pd.DataFrame:
    rows = [
        {"question": f"q{i}", "answer": f"a{i}", "juror": juror, "p_true": 0.2 + 0.1 * i, "label": i % 2}
        for i in range(N)
        for juror in ("x", "y", "z")
    ]
    return pd.DataFrame(rows)


def _published_jury() -> bytes:
    rows = [(f"q{i}", f"a{i}", ("Correct", "Incorrect")[i % 2], "[[0.7, 0.3]]") for i in range(N)]
    return (
        pd.DataFrame(rows, columns=["question", "answer", "accurate_judgement", "logits"]).to_csv(index=False).encode()
    )


def _llmbar() -> dict[str, bytes]:
    rows = [
        {
            "input": f"q{i}",
            "output_1": "a",
            "output_2": "b",
            "label": 1 + i % 2,
            "swap = False": {"winner": "1"},
            "swap = True": {"winner": "2"},
        }
        for i in range(N)
    ]
    return {"Natural/evaluators/GPT/Base/result.json": _json(rows)}


@cache
def seeds() -> dict[str, tuple[Files, ...]]:
    """For each importer, whole drops that it reads."""
    frame = _frame()
    rng = np.random.default_rng(0)
    bluq = {f"{side}_probs": np.array(P) for side in ("cal", "test")}
    bluq |= {f"{side}_labels": np.array([0, 1, 2, 0, 2, 1]) for side in ("cal", "test")}
    bench = [{"id": i, "logits_options": rng.normal(size=6).astype(np.float32)} for i in range(40)]
    labels = {"labels": [{"id": i, "answer": "ABCD"[i % 4]} for i in range(40)]}
    rows = json.loads(frame.to_json(orient="records"))
    lists = [{"id": i, "probs": list(P[i]), "options": ["a", "b", "c"], "label": LETTERS[i]} for i in range(N)]
    bank = [{"question": f"{i}?", "choices": ["x", "y", "z"], "answer": LETTERS[i]} for i in range(N)]
    talk = [{"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]}]
    return {
        "csv": (
            *({"t.csv": frame.to_csv(index=False, sep=sep).encode()} for sep in ",;\t"),
            {"t.csv": pd.DataFrame(lists).to_csv(index=False).encode()},
        ),
        "json": (
            {"t.json": _json(rows)},
            {"t.json": frame.to_json().encode()},
            {"t.json": frame.to_json(orient="split").encode()},
            {"t.jsonl": _lines(rows)},
            {"t.jsonl": _lines(lists)},
        ),
        "parquet": (
            {"t.parquet": _parquet(frame)},
            {"details_arc_2025-05-01T10-00-00.parquet": _parquet(_lighteval())},
        ),
        "xlsx": ({"t.xlsx": _xlsx(frame)},),
        "numpy": (
            {"probs_tiny_qa_float32_base.npz": _npz(**bluq)},
            {"t.npz": _npz(scores=np.array(P), labels=np.array([0, 1, 2, 0, 2, 1]), model="m")},
            {"a_scores.npy": _npy(np.array(P)), "a_labels.npy": _npy(np.array([0, 1, 2, 0, 2, 1]))},
        ),
        "pickle": (
            {"Tiny_halu_dialogue_base_icl1.pkl": pickle.dumps(bench), "halu_dialogue.labels.json": _json(labels)},
            {"oodcv.pkl": pickle.dumps(_vlm())},
        ),
        "inspect": ({"a.json": _json(_inspect())}, {"a.eval": _eval()}),
        "harnesses": (
            {"samples_mine_2026-01-01T00-00-00.jsonl": _lines(_lm_eval())},
            {"scenario_state.json": _json(_helm())},
            {"ARC-c.json": _json(_opencompass())},
        ),
        "jury": (
            {"jury.csv": _jury().to_csv(index=False).encode()},
            {"jury_logits_a_test.csv": _published_jury(), "jury_logits_b_test.csv": _published_jury()},
            {"a.txt": b"q0\ta0\t[[0.7, 0.3]]\nq1\ta1\t0.4\n" * 3, "t.csv": b"question,label\nq0,1\nq1,0\n"},
            _llmbar(),
        ),
        "questions": (
            {"bank.jsonl": _lines(bank)},
            {"bank.csv": b"question,option_A,option_B,label\nWhy?,x,y,A\nHow?,x,y,B\n"},
            {"talk.jsonl": _lines(talk), "choices.json": _json([{"context": "c", "endings": ["a", "b"], "label": 0}])},
        ),
        "archives": (
            {"a.zip": zipped({"m/t.csv": frame.to_csv(index=False).encode(), "n/a.eval": _eval()})},
            {"a.zip": zipped({"run/run.json": b"{}", "x.npz": _npz(**bluq), "t.xlsx": _xlsx(frame)})},
        ),
    }
