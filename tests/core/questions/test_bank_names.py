"""Which bank a run's questions are of, and whether two runs were tested on the same ones."""

import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.exchange import bluq
from core.exchange.imported import save
from core.questions import bank_names
from core.records import Question
from core.reports import frames
from core.reports.compare import paired
from core.reports.evaluation import load
from core.reports.overview.similar_accuracy import alike
from core.reports.question_identity import question_set
from core.runs import store
from core.runs.spec import RunSpec
from core.settings import settings
from hedge.cli import main
from tests.conftest import synthetic_run
from tests.core.exchange.drops import read_logits
from tests.core.exchange.test_bluq import write as write_bluq

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("spec", "provenance", "name"),
    [
        ({"task": "qa"}, {}, "pocket bank"),
        ({"task": "qa@hub"}, {}, "MMLU"),
        ({"task": "drs@published"}, {}, "HaluEval dialogue 10k"),
        ({"task": "qa@/data/mmlu_10k.json"}, {}, "MMLU 10k"),
        ({"task": "/data/mine.csv"}, {}, "mine"),
        ({"task": "ds", "origin": "bluq"}, {"file": "probs.npz"}, "BLUQ HaluEval summarization"),
        ({"task": "rc", "origin": "llm-uncertainty-bench"}, {"data": "cosmosqa_10k"}, "CosmosQA 10k"),
        ({"task": "rc", "origin": "llm-uncertainty-bench"}, {}, "CosmosQA 10k"),
        ({"task": "arc_easy", "origin": "lm-eval"}, {}, "lm-eval"),
        ({"task": "t", "origin": "inspect"}, {}, "Inspect"),
        ({"task": "t", "origin": "table"}, {"file": "june.csv"}, "june"),
        ({"task": "t", "origin": "table"}, {"file": "june.csv", "bank": {"name": "MMLU"}}, "MMLU"),
    ],
)
def test_every_source_has_a_name(spec, provenance, name):
    assert bank_names.bank_name(RunSpec(model="m", **spec), provenance) == name


def test_a_new_run_keeps_what_an_old_one_is_read_for(home):
    """An import stores its bank; with the stored one taken out, the same is read off its questions."""
    (name,) = save([bluq.read(write_bluq(settings().home.parent, name="probs_tiny_qa_float32_base.npz"))])
    record = store.read_record(name)
    bank_name = record.provenance["bank"]
    assert bank_name == {"name": "BLUQ MMLU", "test_questions": question_set(name)}
    store.update_record(name, provenance={k: v for k, v in record.provenance.items() if k != "bank"})
    assert question_set(name) == bank_name["test_questions"]
    assert load(name).bank == "BLUQ MMLU"


def test_labels_alone_are_shared_where_all_of_them_are_the_same(home, tmp_path):
    first_path, other, changed = (tmp_path / part for part in ("one", "other", "changed"))
    for folder in (first_path, other, changed):
        folder.mkdir()
    first = write_bluq(first_path, name="probs_tiny_qa_float32_base.npz")
    second = write_bluq(other, name="probs_small_qa_float32_base.npz")
    with np.load(first) as archive:
        labels = archive["test_labels"].copy()
    labels[0] = (labels[0] + 1) % 4
    third = write_bluq(changed, name="probs_third_qa_float32_base.npz", test_labels=labels)
    a, b, c = (load(name) for name in save(map(bluq.read, [first, second, third])))
    assert question_set(a.run_id) == question_set(b.run_id) != question_set(c.run_id)
    assert not paired.why_not(a, b)
    assert paired.why_not(a, c)
    rc = load(save([bluq.read(write_bluq(tmp_path, name="probs_tiny_rc_float32_base.npz"))])[0])
    assert paired.why_not(a, rc)


def test_a_part_of_a_bank_shares_its_questions_with_the_whole(home):
    whole, part = load(synthetic_run(200)), load(synthetic_run(200, model="other"))
    fewer = replace(part, test=part.test[:30])
    assert question_set(whole.run_id) == question_set(part.run_id)
    (pair,) = paired.compare([(whole, fewer)], 100)
    assert pair.n == 30


def test_a_question_is_the_same_under_another_id_and_order(home):
    first, second = synthetic_run(60), synthetic_run(60, model="other")
    table = store.read_questions(second).to_pylist()
    turned = [
        Question(
            f"other {q['id']}",
            q["task"],
            q["group"],
            q["context"],
            q["question"],
            (*q["options"][1:4], q["options"][0], *q["options"][4:]),
            (q["label"] - 1) % 4,
        )
        for q in table
    ]
    store.write_questions(store.folder_of(second), turned, [q["role"] for q in table])
    scored = store.read_logits(second)
    logits = scored.logits[:, [1, 2, 3, 0, 4, 5]]
    store.write_logits(
        store.folder_of(second), replace(scored, ids=tuple(f"other {name}" for name in scored.ids), logits=logits)
    )
    a, b = load(first), load(second)
    assert question_set(first) == question_set(second)
    (pair,) = paired.compare([(a, b)], 100)
    assert (pair.n, pair.only_first, pair.only_second) == (30, 0, 0)


def test_nothing_is_said_across_banks(home, tmp_path, capsys):
    """One model on our bank, another in an archive of the same task's name: alike in accuracy, unlike in size."""
    rng = np.random.default_rng(0)
    ours = synthetic_run(200, k=6)
    labels = rng.integers(0, 4, 200)
    p = rng.dirichlet(np.full(6, 0.05), 200)
    right = rng.random(200) < 0.62
    p[np.arange(200), labels] += np.where(right, 2.0, 0.0)
    p /= p.sum(axis=1, keepdims=True)
    theirs = write_bluq(
        tmp_path,
        name="probs_phi-2_qa_float32_base.npz",
        cal_probs=p[:100],
        cal_labels=labels[:100],
        test_probs=p[100:],
        test_labels=labels[100:],
    )
    (other,) = save([bluq.read(theirs)])
    table = frames.overview([load(ours), load(other)], 100)
    assert table["bank"].tolist() == ["pocket bank", "BLUQ MMLU"]
    near = table.assign(accuracy=0.5, lac_set_size=[2.0, 4.0])
    assert alike(near, "lac") == []
    assert len(alike(near.assign(questions="the same"), "lac")) == 1

    assert main(["compare", ours, other, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["pairs"] == []
    assert {claim["verdict"] for claim in values["claims"][:2]} == {
        "can't tell, because these models were not tested on the same questions with the same number of options"
    }
    assert main(["compare", ours, other]) == 0
    output = capsys.readouterr().out
    assert "Question answering: accuracy" in output
    assert "Question answering · BLUQ MMLU: accuracy" in output
    assert "No two of these runs were tested on the same questions" in output


def test_a_summary_keeps_banks_of_one_task_apart(home, tmp_path, capsys):
    ours = synthetic_run(60)
    (other,) = save([bluq.read(write_bluq(tmp_path, name="probs_tiny_qa_float32_base.npz"))])
    assert main(["export", ours, other, "--format", "json", "--out", str(tmp_path / "out"), "--json"]) == 0
    files = [Path(path) for path in json.loads(capsys.readouterr().out)["files"]]
    summary = json.loads(next(path for path in files if path.name.startswith("summary")).read_text())
    assert set(summary["by_task"]) == {"qa · pocket bank", "qa · BLUQ MMLU"}


def test_published_logits_with_texts_and_without(home, tmp_path):
    """With the whole questions a result shares them with a run on the same file; with labels alone it does not."""
    choices = dict(zip("ABCDEF", ["one", "two", "three", "four", "I don't know", "None of the above"], strict=True))
    items = [{"id": i, "answer": "ABCD"[i % 4], "question": f"Why {i}?", "choices": choices} for i in range(60)]
    logits = np.random.default_rng(0).normal(size=(60, 6)).astype(np.float32)
    path = tmp_path / "Tiny_mmlu_10k_base_icl1.pkl"
    path.write_bytes(pickle.dumps([{"id": i, "logits_options": row} for i, row in enumerate(logits)]))
    (tmp_path / "mmlu_10k.json").write_text(json.dumps(items))
    (whole,) = save(read_logits([path], labels=tmp_path))
    shutil.move(tmp_path / "mmlu_10k.json", tmp_path / "gone.json")
    labels = {"labels": [{"id": item["id"], "answer": item["answer"]} for item in items]}
    (tmp_path / "mmlu_10k.labels.json").write_text(json.dumps(labels))
    (bare,) = save(read_logits([path], labels=tmp_path))
    assert load(whole).bank == load(bare).bank == "MMLU 10k"
    assert paired.why_not(load(whole), load(bare))
    assert not paired.why_not(load(whole), load(whole))
