"""Faults of a server on every path of a run (letters, texts, perplexity, written answers, jurors): the right figures or
one clear sentence, none lost and none twice."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from core.jury.pipeline import jury_store
from core.models.server import client
from core.models.server.abilities import BROAD, BROAD_CHAT
from core.models.server.engine import ServerEngine
from core.questions.prompting.decision import DECISION_FORMATS
from core.questions.prompting.verdict import verdict_prompt
from core.reports import perplexity_results
from core.reports.evaluation import load
from core.runs import store
from core.runs.prompts import draw_questions, make_prompt
from hedge.cli import main
from tests.core.models.server.loopback import Loopback
from tests.parameters import rest_nightly

PROBES = 12
"""Requests that find out what the server can do; a fault in them would count as "no"."""
PASSING = ("429", "429 0.05", "429 Thu, 01 Jan 2026 00:00:00 GMT", "503", "500", "cut", "malformed", "list",
           "no-choice", "short")  # fmt: skip
ASKED = ["--model", "pocket-3m", "--task", "qa"]
DECISION_PATHS = tuple(f"/{form}" for form in DECISION_FORMATS)
TALK = """user: I feel worse today.
assistant: What happened to you?
user: Nothing.
assistant: That sounds hard. Tell me more about the river.
user: It is cold.
assistant: And what did you do there?
"""


@pytest.fixture
def patient(server: Loopback, home: Path, monkeypatch: pytest.MonkeyPatch) -> Loopback:
    """A server whose faults pass."""
    soon = client.Patience(answer_s=60, gone_s=20, tries=8, first_pause_s=0.01, longest_pause_s=0.05)
    monkeypatch.setattr(client, "Patience", lambda: soon)
    return server


def passing(number: int) -> str:
    """Every third request fails, each time in another way; one does not come back before the timeout."""
    if number == PROBES + 5:
        return "stall"
    return PASSING[number // 3 % len(PASSING)] if number > PROBES and number % 3 == 1 else ""


def core(*words, status=0):
    assert main([str(word) for word in words]) == status


def own_run(served=True):
    (record,) = [
        record
        for name in store.run_ids()
        if not store.is_bundled(name) and bool((record := store.read_record(name)).spec.servers) == served
    ]
    return record


@pytest.mark.parametrize(
    "form", rest_nightly(["letters", "cloze", *DECISION_FORMATS], now=["letters", *DECISION_FORMATS])
)
def test_passing_faults_change_no_figure(patient, form, capsys):
    decides = form in DECISION_FORMATS
    words, begin = (["--format", form], PROBES) if decides else (["--form", form], 0)
    core("run", *ASKED, "--samples", 16, *([] if decides else words))
    patient.reset(
        fault=lambda number: passing(begin + number), stall_s=20.0, wrong_counts=True, decisions=DECISION_PATHS
    )
    core("run", *ASKED, "--samples", 16, *words, "--server", patient.url, "--timeout", 2)
    here, there = load(own_run(served=False).run_id), load(own_run().run_id)
    assert list(here.ids) == list(there.ids)
    assert np.abs(here.probabilities - there.probabilities).max() < 1e-4
    assert own_run().bounded == 0


def test_passing_faults_change_no_written_answer(patient, capsys):
    patient.reset(fault=passing, stall_s=20.0)
    core("run", *ASKED, "--samples", 16, "--repeats", 3, "--server", patient.url, "--timeout", 2)
    record = own_run()
    rows = store.read_written(record.run_id).to_pylist()
    drawn = draw_questions(record.spec)
    test = [q for q, role in zip(drawn.questions, drawn.roles, strict=True) if role == "test"]
    assert [(row["id"], row["repeat"]) for row in rows] == [(q.id, i) for q in test for i in range(3)]
    patient.reset()
    engine = ServerEngine.load("pocket-3m", servers=[patient.url])
    prompts = [make_prompt(record.spec, q, drawn.demonstrations) for q in test]
    right = dict(engine.write(prompts, repeats=3, seeds=list(range(len(test)))))
    engine.close()
    assert [row["text"] for row in rows] == [text for i in range(len(test)) for text in right[i]]


def measured(run_id):
    return {key: [(message.number, message.pieces, message.losses) for message in messages]
            for key, messages in perplexity_results.read(run_id).messages.items()}  # fmt: skip


def perplexity(home, *words, status=0):
    (home / "talk.txt").write_text(TALK)
    talk = ["--conversation", home / "talk.txt"]
    core("perplexity", "run", "--model", "pocket-3m", "--prompt", "fitting", "unfitting", *talk, *words, status=status)


def test_passing_faults_change_no_perplexity(patient, home, capsys):
    perplexity(home)
    patient.reset(fault=passing, stall_s=20.0)
    perplexity(home, "--server", patient.url, "--timeout", 2)
    here, there = (measured(own_run(served=where).run_id) for where in (False, True))
    assert here.keys() == there.keys()
    for key, messages in here.items():
        for message, other in zip(messages, there[key], strict=True):
            assert message[:2] == other[:2]
            assert np.abs(message[2] - other[2]).max() < 1e-4


def test_passing_faults_change_no_answer_and_no_verdict(patient, home, capsys):
    patient.reset(fault=passing, stall_s=20.0)
    there, answers = f"pocket-3m@{patient.url}", (home / "there.jsonl", home / "here.jsonl")
    core("jury", "answer", "--model", there, "--samples", 24, "--timeout", 2, "--out", answers[0])
    core("jury", "answer", "--model", "pocket-3m", "--samples", 24, "--out", answers[1])
    assert answers[0].read_bytes() == answers[1].read_bytes()
    patient.reset(fault=passing, stall_s=20.0)
    core("jury", "judge", "--juror", "pocket-3m", there, "--timeout", 2, "--answers", answers[0])
    (record,) = [jury_store.read(name) for name in jury_store.jury_ids() if name.startswith("pocket-3m")]
    assert len(record.p_true) == 24
    assert np.abs(np.diff(record.p_true, axis=1)).max() < 1e-4


# ---------------------------------------------------------------- faults that stay


@pytest.mark.parametrize(
    ("behaviour", "says"),
    [
        ({"fault": lambda n: "redirect" if n > PROBES else ""},
         "redirects to https://elsewhere.example/v1/completions; Hedge does not follow"),
        ({"fault": lambda n: "malformed" if n > PROBES else ""}, "gave an answer that can't be read (no JSON)"),
        ({"fault": lambda n: "short" if n > PROBES else ""}, "log-probabilities for"),
        ({"equal": True}, "log-probabilities"),
        ({"shifted": True}, "gives wrong log-probabilities of a text"),
        ({"echo": False}, "does not give the log-probabilities of a text"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["cloze", "perplexity", "juror"])
def test_what_stays_wrong_is_one_sentence(server, home, impatient, capsys, path, behaviour, says):
    server.reset(**behaviour)
    there = ["--server", server.url]
    if path == "cloze":
        status = main(["run", *ASKED, "--samples", "8", "--form", "cloze", *there])
    elif path == "perplexity":
        (home / "talk.txt").write_text(TALK)
        talk = ["--conversation", str(home / "talk.txt")]
        status = main(["perplexity", "run", "--model", "pocket-3m", "--prompt", "fitting", *talk, *there])
    else:
        rows = [{"id": str(i), "question": f"What is {i}?", "answer": "Lima", "label": True} for i in range(6)]
        (home / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        jurors = [f"pocket-3m@{server.url}"] * 2
        status = main(["jury", "judge", "--juror", *jurors, "--answers", str(home / "answers.jsonl")])
    assert status in (1, 2)
    error_lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("hedge: ")]
    assert len(error_lines) == 1
    assert says in error_lines[0]
    assert "Traceback" not in error_lines[0]


def texts_of(server, begins="") -> Counter[str]:
    return Counter({text: n for text, n in server.texts.items() if text.startswith(begins)})


def test_a_perplexity_that_pauses_asks_for_what_is_missing_only(server, home, impatient, capsys):
    server.reset(fault=lambda number: "500" if number > 22 else "")
    perplexity(home, "--server", server.url, status=1)
    record = own_run()
    assert record.state == "paused"
    sent_before = set(server.texts)
    server.reset()
    perplexity(home, "--server", server.url)
    assert own_run().state == "done"
    again = sent_before & set(server.texts)
    # The check before each prompt asks again for three texts, and what a server can do is asked again.
    assert len([text for text in again if not text.startswith(("Question:", BROAD, BROAD_CHAT))]) <= 2 * 3
    perplexity(home)
    here, there = (measured(own_run(served=where).run_id) for where in (False, True))
    assert {key: [message[0] for message in messages] for key, messages in here.items()} == {
        key: [message[0] for message in messages] for key, messages in there.items()
    }


def test_written_answers_that_pause_are_kept(server, impatient, capsys):
    arguments = [*ASKED, "--samples", 16, "--server", server.url]
    core("run", *arguments)
    (without,) = (name for name in store.run_ids() if not store.is_bundled(name))
    arguments += ["--repeats", 2]
    letters = server.number
    server.reset(fault=lambda number: "500" if number > letters + 7 else "")
    core("run", *arguments, status=1)
    (record,) = (store.read_record(name) for name in store.run_ids() if not store.is_bundled(name) and name != without)
    assert record.state == "paused"
    lines = (store.folder_of(record.run_id) / "chunks" / "written.jsonl").read_text().splitlines()
    before = {row["id"]: row["texts"] for row in map(json.loads, lines)}
    assert 0 < len(before) < 8
    server.reset()
    core("run", *arguments)
    rows = store.read_written(record.run_id).to_pylist()
    assert len(rows) == 16
    assert {row["id"]: [] for row in rows}.keys() >= before.keys()
    for row in rows:
        if row["id"] in before:
            assert row["text"] == before[row["id"]][row["repeat"]]


def test_verdicts_that_pause_are_kept_and_a_jury_has_a_budget(server, home, impatient, capsys):
    there = f"pocket-3m@{server.url}"
    arguments = ["jury", "make", "--base", there, "--juror", there, there, "--samples", 24]
    core(*arguments, "--budget", "0.0003", status=1)
    (run_id,) = [name for name in store.run_ids() if not store.is_bundled(name)]
    assert store.read_record(run_id).at_budget
    assert sum(store.read_record(run_id).spent) <= 300
    judged = verdict_prompt("x", "", "").text.partition("\n")[0]
    server.reset(fault=lambda number: "500" if number > 70 else "")
    core(*arguments, status=1)
    assert store.read_record(run_id).state == "paused"
    sent_before = set(texts_of(server, judged))
    server.reset()
    core(*arguments)
    assert store.read_record(run_id).state == "done"
    assert sent_before
    assert len(sent_before & set(texts_of(server, judged))) <= 2 * 2 * 4  # the checks of both jurors
