"""Questions that a server does not answer: named, left out of the figures, and said wherever the run is shown."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import InputError
from core.exchange.run_table import run_table
from core.jury.pipeline import jury_store
from core.models.server.left_out import FEWEST, most_left_out
from core.reports import perplexity_results
from core.reports.caveats import of_run
from core.reports.evaluation import load
from core.runs import caveats, store
from core.runs.answering import worker
from core.runs.answering.custom_question import CustomQuestion
from core.runs.answering.model_cache import ModelCache
from core.runs.store import RunRecord
from hedge.cli import main
from tests.core.models.server.loopback import Loopback

pytestmark = pytest.mark.usefixtures("impatient")

POLICY = "The prompt was filtered by our content management policy"
Reply = tuple[int, Any]


def when(word: str, reply: Reply) -> Callable[[str, dict[str, Any]], Reply | None]:
    """Refuse what has this word in it."""
    return lambda path, body: reply if word in json.dumps(body) else None


def task(home: Path, n: int = 24, odd: tuple[int, ...] = (3, 8)) -> Path:
    """Questions; some hold the word zebra."""
    rows = [
        {
            "id": f"q{i}",
            "question": f"Which number comes {'for a zebra ' if i in odd else ''}after {i}?",
            "options": [str(i + 1), str(i + 2), str(i + 3), str(i + 4)],
            "label": 0,
        }
        for i in range(n)
    ]
    path = home / "task.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(path: Path, *words: object, status: int = 0) -> RunRecord:
    """Run it on the server, or here; returns the latest record."""
    before = set(store.run_ids())
    arguments = ["run", "--model", "pocket-3m", "--task", str(path), *map(str, words)]
    assert main(arguments) == status
    new = [name for name in store.run_ids() if name not in before]
    return store.read_record(new[0] if new else sorted(store.run_ids(), key=lambda n: store.run_stamps()[n])[-1])


KINDS: dict[str, tuple[Reply, str]] = {
    "no choice": ((200, {"choices": [], "prompt_filter_results": []}), "filtered"),
    "content filter": (
        (200, {"choices": [{"index": 0, "text": "", "finish_reason": "content_filter", "logprobs": None}]}),
        "filtered",
    ),
    "azure": ((400, {"error": {"message": POLICY, "code": "content_filter", "innererror": {"code": "x"}}}), "filtered"),
    "moderation": ((403, {"error": {"message": "Your input was flagged", "code": 403}}), "filtered"),
    "inside 200": ((200, {"error": {"message": "maximum context length is 9", "code": 400}}), "too long"),
    "context": ((400, {"object": "error", "message": "maximum context length is 9 tokens"}), "too long"),
    "500 context": ((500, {"error": "the request exceeds the available context size"}), "too long"),
    "413": ((413, b"<html><title>413 Payload Too Large</title></html>"), "too long"),
    "422": ((422, {"detail": [{"loc": ["body", "prompt"], "msg": "bad text"}]}), "refused"),
    "null logprobs": ((200, {"choices": [{"index": 0, "text": "x", "logprobs": None}]}), "without an answer"),
    "empty": ((200, {"choices": []}), "without an answer"),
    "500": ((500, {"error": "it broke"}), "without an answer"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_named_and_the_others_are_scored(server: Loopback, home: Path, kind: str):
    reply, name = KINDS[kind]
    server.reset(strict=when("zebra", reply))
    path = task(home)
    record = run(path, "--server", server.url)
    missing = record.provenance["missing"]
    assert {question: reason[0] for question, reason in missing.items()} == {"q3": name, "q8": name}
    loaded = load(record.run_id)
    assert sorted(loaded.ids.tolist()) == sorted({f"q{i}" for i in range(24)} - {"q3", "q8"})
    assert len(loaded.calibration) + len(loaded.test) == 22
    log = "\n".join(store.read_log(record.run_id))
    assert f"question q3 is left out ({name}): {missing['q3'][1]}" in log


def test_every_place_says_that_questions_are_missing(server: Loopback, home: Path, capsys: pytest.CaptureFixture[str]):
    path = task(home)
    here = load(run(path).run_id)
    server.reset(strict=when("zebra", KINDS["azure"][0]))
    record = run(path, "--server", server.url)
    sentence = "The server did not answer 2 of 24 questions (filtered: q3, q8)"
    assert sentence in capsys.readouterr().out
    (caveat,) = (caveat for caveat in caveats.of_run_record(record) if caveat.kind == "missing")
    assert caveat.sentence.startswith("The server did not answer 2 questions (filtered: q3, q8)")
    there = load(record.run_id)
    assert sentence in " ".join(caveat.text for caveat in of_run(there))
    for words in (["report", record.run_id], ["runs"]):
        assert main(words) == 0
        assert "(filtered: q3, q8)" in capsys.readouterr().out
    assert len(run_table(record.run_id)) == 22
    shared = [here.ids.tolist().index(name) for name in there.ids.tolist()]
    assert np.abs(here.probabilities[shared] - there.probabilities).max() < 1e-4


@pytest.mark.parametrize("form", ["cloze", "letters"])
def test_other_forms_leave_out_whole_questions(server: Loopback, home: Path, form: str):
    server.reset(strict=when("zebra", KINDS["azure"][0]))
    more = ["--form", "cloze"] if form == "cloze" else ["--repeats", 2, "--rotations"]
    record = run(task(home, n=12), "--server", server.url, *more)
    assert record.provenance["missing"].keys() == {"q3", "q8"}
    rows = store.read_questions(record.run_id).to_pylist()
    assert not [row["id"] for row in rows if row["id"].split("@")[0] in ("q3", "q8")]
    assert {row["id"] for row in rows} == set(store.read_logits(record.run_id).ids)
    if form == "letters":
        written = {row["id"] for row in store.read_written(record.run_id).to_pylist()}
        assert written == {row["id"] for row in rows if row["role"] == "test"}


def test_a_question_whose_written_answer_is_filtered_is_missing_too(server: Loopback, home: Path):
    def filtered(path: str, body: dict[str, Any]) -> Reply | None:
        return KINDS["content filter"][0] if body["max_tokens"] > 1 and "zebra" in json.dumps(body) else None

    server.reset(strict=filtered)
    record = run(task(home, odd=tuple(range(24, 48)), n=24), "--server", server.url, "--repeats", 2)
    assert "missing" not in record.provenance
    record = run(task(home, n=12, odd=(1, 2, 5)), "--server", server.url, "--repeats", 2)
    missing = record.provenance["missing"].keys()
    roles = {row["id"]: row["role"] for row in store.read_questions(record.run_id).to_pylist()}
    assert missing
    assert not missing & roles.keys()
    assert not missing & set(store.read_logits(record.run_id).ids)


def test_an_option_that_is_refused_on_its_own_leaves_its_question_out(server: Loopback, home: Path):
    path = task(home, n=12, odd=())
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[4]["options"][2] = "a zebra"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    server.reset(
        strict=lambda path, body: KINDS["azure"][0] if body.get("prompt", "").startswith("Answer: a z") else None
    )
    record = run(path, "--server", server.url, "--form", "cloze")
    assert record.provenance["missing"].keys() == {"q4"}
    for normalisation in ("raw", "unconditional"):
        assert len(load(record.run_id, normalisation=normalisation).ids) == 11


def test_too_many_are_a_fault_and_no_exceptions(server: Loopback, home: Path, capsys: pytest.CaptureFixture[str]):
    assert (most_left_out(40), most_left_out(200), most_left_out(2000)) == (FEWEST, FEWEST, 100)
    server.reset(strict=when("zebra", KINDS["azure"][0]))
    record = run(task(home, n=40, odd=tuple(range(12))), "--server", server.url, status=1)
    assert record.state == "failed"
    assert "no answer to 11 of 40 questions, and at most 10 can be left out" in record.message
    assert POLICY in record.message
    server.reset(strict=when("Answer", KINDS["azure"][0]))
    record = run(task(home, n=6), "--server", server.url, status=2)
    assert POLICY in record.message
    server.reset(strict=when("zebra", KINDS["azure"][0]))
    record = run(task(home, n=6, odd=(0, 1, 2, 3, 4)), "--server", server.url, status=2)
    assert "both sides need at least one" in record.message


def test_a_credit_that_ends_stops_the_run_and_leaves_nothing_out(server: Loopback, home: Path):
    paid = 30

    def unpaid(path: str, body: dict[str, Any]) -> Reply | None:
        over = server.number > paid and "after" in json.dumps(body)
        return (402, {"error": {"message": "Insufficient credits"}}) if over else None

    server.reset(strict=unpaid)
    record = run(task(home), "--server", server.url, status=1)
    assert record.state == "failed"
    assert "Insufficient credits" in record.message
    assert "missing" not in record.provenance
    server.reset()
    record = run(task(home), "--server", server.url)
    assert (record.state, len(load(record.run_id).ids)) == ("done", 24)


def test_what_was_left_out_is_asked_again_by_a_resumed_run(
    server: Loopback, home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("core.models.server.engine.CHUNK", 8)
    broken = False

    def odd(path: str, body: dict[str, Any]) -> Reply | None:
        text = json.dumps(body)
        return KINDS["azure"][0] if "zebra" in text else (401, {"error": "no"}) if broken and "20?" in text else None

    path = task(home)
    broken = True
    server.reset(strict=odd)
    record = run(path, "--server", server.url, status=1)
    assert record.state == "failed"
    server.reset()
    record = run(path, "--server", server.url)
    assert record.state == "done"
    assert "missing" not in record.provenance
    assert len(load(record.run_id).ids) == 24


def test_a_conversation_with_a_refused_message_is_left_out_under_all_prompts(
    server: Loopback, home: Path, capsys: pytest.CaptureFixture[str]
):
    talk = "user: I feel {}.\nassistant: What happened to you?\nuser: Nothing.\nassistant: Tell me about the {}.\n"
    files = [home / "one.txt", home / "two.txt"]
    for file, words in zip(files, (("well", "river"), ("ill", "zebra")), strict=True):
        file.write_text(talk.format(*words))
    server.reset(strict=when("zebra", KINDS["azure"][0]))
    arguments = ["perplexity", "run", "--model", "pocket-3m", "--server", server.url, "--prompt", "fitting", "empty"]
    assert main([*arguments, "--conversation", *map(str, files)]) == 0
    output = capsys.readouterr().out
    assert "the conversation 'two' is left out" in output
    assert f'message 4: HTTP status 400, "{POLICY}' in output
    (name,) = (name for name in store.run_ids() if not store.is_bundled(name))
    results = perplexity_results.read(name)
    assert [conversation.name for conversation in results.request.conversations] == ["one"]
    assert len(results.messages) == 2
    assert main([*arguments, "--conversation", str(files[1])]) == 1
    assert POLICY in capsys.readouterr().err


def test_answers_and_verdicts_that_a_server_does_not_give_are_missing(
    server: Loopback, home: Path, capsys: pytest.CaptureFixture[str]
):
    there = f"pocket-3m@{server.url}"
    refused = [0]

    def refuse_some(path: str, body: dict[str, Any]) -> Reply | None:
        if body["max_tokens"] > 1:  # an answer
            refused[0] += 1
            return KINDS["content filter"][0] if refused[0] in (3, 7) else None
        return None

    server.reset(strict=refuse_some)
    answers = home / "answers.jsonl"
    assert main(["jury", "answer", "--model", there, "--samples", "20", "--out", str(answers)]) == 0
    printed = capsys.readouterr()
    assert "2 questions were not answered" in printed.out
    assert printed.err.count("is left out (filtered)") == 2
    rows = [json.loads(line) for line in answers.read_text().splitlines()]
    assert len(rows) == 18
    server.reset(strict=when(rows[5]["question"], KINDS["azure"][0]))
    assert main(["jury", "judge", "--juror", there, there, "--answers", str(answers)]) == 0
    assert "1 of 18 answers are missing" in capsys.readouterr().out
    (jury,) = (jury_store.read(name) for name in jury_store.jury_ids() if name.startswith("pocket-3m"))
    assert rows[5]["id"] not in jury.ids
    assert len(jury.p_true) == 17


def test_a_pipeline_makes_a_jury_of_what_is_answered(server: Loopback, home: Path):
    there, count = f"pocket-3m@{server.url}", [0]

    def refuse_some(path: str, body: dict[str, Any]) -> Reply | None:
        count[0] += body["max_tokens"] > 1
        return KINDS["content filter"][0] if body["max_tokens"] > 1 and count[0] == 4 else None

    server.reset(strict=refuse_some)
    assert main(["jury", "make", "--base", there, "--juror", there, there, "--samples", "24"]) == 0
    (run_id,) = (name for name in store.run_ids() if not store.is_bundled(name))
    assert "is left out (filtered)" in "\n".join(store.read_log(run_id))
    (about,) = (
        jury_store.read_record(name)
        for name in jury_store.jury_ids()
        if name == store.read_record(run_id).provenance["jury"]
    )
    assert any(note.startswith("1 of 24 questions are missing") for note in about.notes)


def test_a_jury_says_which_jurors_answered_yes_or_no(server: Loopback, home: Path):
    """The other one is an adapter, and goes on after a text."""
    there = f"pocket-3m@{server.url}"
    server.reset(decisions=("/systemone",), echo=False)
    assert main(["jury", "make", "--base", there, "--juror", there, "juror-3m", "--samples", "24"]) == 0
    (run_id,) = (name for name in store.run_ids() if not store.is_bundled(name))
    about = jury_store.read_record(store.read_record(run_id).provenance["jury"])
    assert about.notes[1] == (
        "The probabilities of pocket-3m are a server's answers to yes-or-no questions; the others' are of the next "
        "word after a text."
    )
    jury = jury_store.read(about.jury_id)
    for question, answer, p in zip(jury.questions, jury.answers, jury.p_true[:, 0], strict=True):
        statement = f"The answer “{answer}” to the question “{question}” is right. Is this so?"
        assert p == pytest.approx(server.verdict(statement), abs=1e-9)


def test_an_own_question_that_is_refused_is_one_sentence(server: Loopback, home: Path):
    record = run(task(home, odd=()), "--server", server.url)
    server.reset(strict=when("zebra", KINDS["azure"][0]))
    options = ("1", "2", "3", "4")
    models = ModelCache()
    for text, fine in (("Which zebra is it?", False), ("Which number is it?", True)):
        own = CustomQuestion(record.spec.asked_model, record.run_id, text, options, extra=False)
        if fine:
            assert len(worker.answer(own, models, lambda stage, **values: None).logits) == 4
        else:
            with pytest.raises(InputError, match=POLICY):
                worker.answer(own, models, lambda stage, **values: None)
    models.clear()


def test_a_jury_says_whose_answers_contradict_themselves(server: Loopback, home: Path, monkeypatch):
    there = f"pocket-3m@{server.url}"

    def otherwise(reply: dict[str, Any]) -> dict[str, Any]:
        """The probability of yes, and beside it that of no as if it were that of yes."""
        nouls = {name: each for name, each in reply["answers"].items() if each["type"] == "noul"}
        return {**reply, "answers": {**reply["answers"]} | {
            name: {**each, "probabilities": {"yes": 1 - each["noul"]}} for name, each in nouls.items()
        }}  # fmt: skip

    server.reset(decisions=("/systemone",), echo=False, deciding=otherwise)
    monkeypatch.setattr(server, "verdict", lambda statement: 0.75)
    assert main(["jury", "make", "--base", there, "--juror", there, there, "--samples", "24"]) == 0
    (run_id,) = (name for name in store.run_ids() if not store.is_bundled(name))
    jury = store.read_record(run_id).provenance["jury"]
    judged = len(jury_store.read(jury))
    notes = [note for note in jury_store.read_record(jury).notes if "contradicts itself" in note]
    assert len(notes) == 2
    assert notes[0].startswith(f"pocket-3m-1 contradicts itself in {judged} answers: yes has a second probability")
