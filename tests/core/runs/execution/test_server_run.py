"""A run of a model on a server, from the command line to its figures."""

import json
from collections.abc import Callable

import numpy as np
import pytest

from core.errors import InputError
from core.exchange import run_folder
from core.exchange.run_table import run_table
from core.models.server.engine import CHECKED_QUESTIONS
from core.models.server.known_servers import remember
from core.questions.prompting.decision import DECISION_FORMATS
from core.reports import perplexity_results
from core.reports.evaluation import load
from core.runs import engine, store
from core.runs.answering import token_text, worker
from core.runs.answering.model_cache import ModelCache
from core.runs.caveats import of_run_record
from core.runs.execution import execute as execution
from core.runs.prompts import draw_questions, prompts
from core.runs.spec import JURY, RunSpec
from core.storage.tables import read_table
from hedge.cli import main

KEY = "sk-planted-77aa"
ASKED = ["--task", "qa", "--samples", "60"]


def run(*words, status=0):
    assert main(["run", "--model", "pocket-3m", *ASKED, *map(str, words)]) == status


def asked_by(record):
    return prompts(record.spec, draw_questions(record.spec))


def own_runs():
    return {record.spec.servers: record for name in store.run_ids() if not store.is_bundled(name)
            for record in [store.read_record(name)]}  # fmt: skip


def test_a_server_gives_the_figures_of_the_model_itself(server, capsys):
    run("--json")
    run("--server", server.url, "--json")
    runs_by_server = own_runs()
    here, there = load(runs_by_server[()].run_id), load(runs_by_server[(server.url,)].run_id)
    assert np.abs(here.probabilities - there.probabilities).max() < 1e-4
    assert list(here.ids) == list(there.ids)
    record = runs_by_server[(server.url,)]
    assert record.run_id.startswith("pocket-3m-qa-base-0shot-served-")
    assert record.provenance["engine"]["server_kind"] == "loopback"
    assert record.provenance["engine"]["server_version"] == "1.2.3"
    assert record.bounded == 0


def test_texts_and_written_answers(server, capsys):
    run("--server", server.url, "--form", "cloze", "letters", "--repeats", 2, "--samples", 8)
    records = [store.read_record(name) for name in store.run_ids() if not store.is_bundled(name)]
    by_form = {record.spec.form: record for record in records}
    assert store.read_bare(by_form["cloze"].run_id).keys() == {"unconditional"}
    assert "mutual: a server does not say" in "\n".join(store.read_log(by_form["cloze"].run_id))
    assert store.read_written(by_form["letters"].run_id).num_rows == 8


def test_a_run_says_what_a_server_does_not_let_it_state(server, capsys):
    """Only written answers are sampled, so only they depend on the server's own values."""

    def refusal(path, body):
        return (400, {"error": {"message": "Unknown parameter: 'min_p'"}}) if "min_p" in body else None

    server.reset(strict=refusal, before="<think>Let me")
    run("--server", server.url, "--repeats", 1, "--samples", 4, "--json")
    run("--server", server.url, "--samples", 4, "--json")
    records = [store.read_record(name) for name in store.run_ids() if not store.is_bundled(name)]
    by_repeats = {record.spec.repeats: record for record in records}
    kinds = {n: [caveat.kind for caveat in of_run_record(record)] for n, record in by_repeats.items()}
    assert ("sampling" in kinds[1], "sampling" in kinds[0]) == (True, False)
    (sentence,) = [caveat.text for caveat in of_run_record(by_repeats[1]) if caveat.kind == "sampling"]
    assert sentence.startswith(
        "The server does not accept min_p, so its own values may have changed the written answers."
    )
    written = store.read_written(by_repeats[1].run_id).to_pylist()
    assert len(written) == 2
    assert {row["answer"] for row in written} == {-1}  # all ended while the model still thought


def test_bounded_letters_make_ranges_that_hold_the_figures(server, monkeypatch, capsys):
    monkeypatch.setattr("core.models.server.engine.CHUNK", 7)  # some chunks have no bounds
    run("--json", "--alpha", "0.2")
    exact = json.loads(capsys.readouterr().out)["reports"][0]
    server.reset(most=5, echo=False)
    run("--server", server.url, "--json", "--alpha", "0.2")
    printed = json.loads(capsys.readouterr().out)
    (ranges,) = printed["reports"]
    assert ranges["bounded_questions"] == own_runs()[(server.url,)].bounded > 0
    assert ranges["accuracy"][0] <= exact["accuracy"] <= ranges["accuracy"][1]
    for name in ("lac", "aps"):
        for figure in ("coverage", "mean_set_size", "threshold"):
            low, high = ranges[name][figure]
            assert low - 1e-4 <= exact[name][figure] <= (np.inf if high is None else high) + 1e-4
        assert 0 <= ranges[name]["exact_share"] <= 1
    (run_id,) = printed["runs"]
    with pytest.raises(InputError, match="its figures are ranges"):
        load(run_id)
    assert main(["report", run_id]) == 0
    assert "lies between two ends" in capsys.readouterr().out
    assert main(["report", run_id, "--threshold", "paper"]) == 2
    capsys.readouterr()
    assert main(["report", run_id, "--score", "raps", "margin"]) == 0
    assert "Not tuned: λ 0.1 and 1 free rank, because tuning needs every probability" in capsys.readouterr().out
    with pytest.raises(InputError, match="only an upper bound"):
        run_table(run_id)
    bounded = run_folder.read(store.folder_of(run_id)).scored.bounded
    assert bounded is not None
    assert np.array_equal(bounded, store.read_logits(run_id).bounded)


def test_a_run_pauses_where_its_server_goes_and_continues_where_it_was(server, impatient, monkeypatch, capsys):
    monkeypatch.setattr("core.models.server.engine.CHUNK", 10)
    server.reset(fault=lambda number: "cut" if number > 90 else "")
    run("--server", server.url, status=1)
    (record,) = own_runs().values()
    assert record.state == "paused"
    assert "what has finished is kept, so resume the run when the server is back" in record.message
    before = dict(server.texts)
    sent_before = {text for text in before if text.startswith("Question:") and text.endswith("Answer:")}
    assert 10 <= len(sent_before) < 60
    parts = [store.read_part(store.folder_of(record.run_id), i) for i in range(6)]
    scored_before = {name for part in parts if part for name in part.ids}
    scored_before = {prompt.text for prompt in asked_by(record) if prompt.question_id in scored_before}
    assert scored_before  # also of chunks that are not finished
    server.reset()
    run("--server", server.url)
    assert len(scored_before & set(server.texts)) <= CHECKED_QUESTIONS
    assert sent_before | set(server.texts) >= {prompt.text for prompt in asked_by(record)}
    (record,) = own_runs().values()
    assert record.state == "done"
    scored = store.read_logits(record.run_id)
    assert len(scored.ids) == len(set(scored.ids)) == 60
    log = "\n".join(store.read_log(record.run_id))
    assert "continues after" in log


def test_only_the_answers_of_a_damaged_chunk_and_part_are_paid_again(server, impatient, monkeypatch, capsys):
    monkeypatch.setattr("core.models.server.engine.CHUNK", 5)
    server.reset(fault=lambda number: "cut" if number > 150 else "")  # some chunks are whole then, others begun
    run("--server", server.url, status=1)
    (record,) = own_runs().values()
    chunks = store.folder_of(record.run_id) / "chunks"
    whole = [path for path in chunks.glob("*.parquet") if not (chunks / f"part-{path.name}").exists()]
    ids = {path: set(read_table(path)["id"].to_pylist()) for path in whole}
    chunk, part = min(path for path in whole if "part" not in path.name), min(chunks.glob("part-*.parquet"))
    chunk.write_bytes(chunk.read_bytes()[:-9])
    part.write_bytes(b"")
    undamaged = set().union(*(names for path, names in ids.items() if path not in (chunk, part)))
    server.reset()
    run("--server", server.url)
    again = {prompt.question_id for prompt in asked_by(record) if prompt.text in server.texts}
    assert ids[chunk] | ids[part] <= again
    assert undamaged
    assert len(undamaged & again) <= CHECKED_QUESTIONS
    assert own_runs()[(server.url,)].state == "done"
    assert len(set(store.read_logits(record.run_id).ids)) == 60
    log = "\n".join(store.read_log(record.run_id))
    assert all(f"{path.name} is damaged" in log for path in (chunk, part))


def test_a_run_does_not_continue_with_other_weights_by_the_same_name(server, impatient, capsys):
    server.reset(fault=lambda number: "cut" if number > 110 else "")
    run("--server", server.url, status=1)
    (record,) = own_runs().values()
    assert record.state == "paused"
    assert (store.folder_of(record.run_id) / "chunks").exists()
    before = record.provenance["engine"]["weights"]
    changed = {"engine": record.provenance["engine"] | {"weights": before | {"text_log_p": before["text_log_p"] - 1}}}
    store.update_record(record.run_id, provenance=record.provenance | changed)
    server.reset()
    run("--server", server.url, status=2)
    assert "holds other weights by the name of pocket-3m than when this run began" in capsys.readouterr().err
    assert not server.texts.keys() & {prompt.text for prompt in asked_by(record)}


def test_a_finished_run_is_not_returned_for_other_weights_by_the_same_name(server, impatient, capsys):
    run("--server", server.url)
    (record,) = own_runs().values()
    run("--server", server.url)  # of the same weights it is done, as before
    before = record.provenance["engine"]["weights"]
    changed = {"engine": record.provenance["engine"] | {"weights": before | {"text_log_p": before["text_log_p"] - 1}}}
    store.update_record(record.run_id, provenance=record.provenance | changed)
    capsys.readouterr()
    run("--server", server.url, status=2)
    assert (
        f"now holds other weights by the name of pocket-3m than when run {record.run_id} asked it; delete that run "
        "first, or take another seed (--seed)"
    ) in capsys.readouterr().err
    run("--server", server.url, "--seed", 1)
    server.reset(fault=lambda number: "cut")
    run("--server", server.url)  # a server that can't be asked costs no figure
    assert "still holds the same weights of pocket-3m can't be checked: " in capsys.readouterr().err


def test_a_budget_stops_a_run_and_a_larger_one_continues_it(server, monkeypatch, capsys):
    monkeypatch.setattr("core.models.server.engine.CHUNK", 10)
    run("--server", server.url, "--budget", "0.004", status=1)
    (record,) = own_runs().values()
    assert "the budget of 4,000 tokens is reached" in record.message
    assert record.at_budget
    with pytest.raises(InputError, match="has reached its budget of 4,000 tokens; resume it with a larger"):
        engine.resume(record.run_id)
    with pytest.raises(InputError, match=r"has cost [23],\d+ tokens already.* got 1,000 tokens"):
        engine.resume(record.run_id, budget=0.001)
    before = record.spent
    assert 0.002 < sum(before) / 1e6 <= 0.004
    run("--server", server.url, "--budget", "0.004", status=1)  # what the first try spent counts
    assert sum(before) <= sum(own_runs()[(server.url,)].spent) <= 4000
    run("--server", server.url, "--budget", "1")
    (record,) = own_runs().values()
    assert record.state == "done"
    assert sum(record.spent) > sum(before)


@pytest.mark.parametrize("form", ["plain", *DECISION_FORMATS])
def test_a_key_is_in_no_file(server, impatient, monkeypatch, capsys, home, form):
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    decides = {"decisions": tuple(f"/{name}" for name in DECISION_FORMATS)}
    there = ["--server", server.url, "--key-variable", "PLANTED_API_KEY", "--format", form]
    server.reset(key=KEY, **decides)
    run(*there)
    server.reset(key="another", **decides)
    run(*there, "--seed", 1, status=1)
    (done,) = [name for name in store.run_ids() if not store.is_bundled(name) and store.read_record(name).ended
               and store.read_record(name).state == "done"]  # fmt: skip
    for form in ("csv", "jsonl", "xlsx", "json"):
        assert main(["export", done, "--format", form, "--out", str(home / "out" / form)]) == 0
    server.reset(key=KEY, fault=lambda number: "500" if number > 4 else "", **decides)  # its message repeats the key
    run(*there, "--seed", 2, status=1)
    refusals = iter([{"refusal": f"not for {KEY}"}] * 3)  # and so does a refusal of one question, or a model's name
    server.reset(
        key=KEY,
        decided=lambda number, answer: answer if number != 5 else next(refusals, answer),
        deciding=lambda reply: {**reply, "model": f"m {KEY}"},
        **decides,
    )
    run(*there, "--seed", 3)
    for verb in (["runs", "--json"], ["report", done, "--json"],
                 ["run", "--model", "pocket-3m", "--dry-run", *ASKED, *there]):  # fmt: skip
        main(verb)
    files = [path for path in home.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    printed = capsys.readouterr()
    assert KEY not in printed.out + printed.err
    assert "refuses the key in PLANTED_API_KEY" in printed.err


def test_a_key_is_in_no_file_of_words_tokens_juries_links_and_reports(server, monkeypatch, capsys, home, tmp_path):
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    server.reset(key=KEY)
    there, key = f"pocket-3m@{server.url}", ["--key-variable", "PLANTED_API_KEY"]
    (home / "talk.txt").write_text("user: I feel worse.\nassistant: What happened to you by the river?\n")
    arguments = ["--prompt", "fitting", "--conversation", str(home / "talk.txt"), "--server", server.url, *key]
    assert main(["perplexity", "run", "--model", "pocket-3m", *arguments]) == 0
    view = ["tokens", "view", "--model", there, "--text", "Lima is the capital.", *key]
    assert main([*view, "--output", str(home / "view.json")]) == 0
    assert main(["jury", "make", "--base", there, "--juror", there, there, "--samples", "16", *key]) == 0
    run("--server", server.url, *key, "--samples", 20, "--repeats", 1)
    worker._read(token_text.token_text(there, "Lima is here.", key_variable="PLANTED_API_KEY"), ModelCache(),
                 lambda stage, **values: None)  # fmt: skip
    remember([server.url], key="PLANTED_API_KEY")
    server.reset(key="another")  # its refusals repeat the key that they were sent
    assert main([*view]) == 1
    assert main(["perplexity", "run", "--model", "pocket-3m", *arguments, "--exchanges", "1"]) == 1
    records = [store.read_record(name) for name in store.run_ids() if not store.is_bundled(name)]
    done = next(record.run_id for record in records if record.spec.answers)
    for form in ("csv", "xlsx", "md"):
        assert main(["export", done, "--format", form, "--out", str(home / "out" / form)]) == 0
    assert main(["figure", "forest", done, "--format", "html", "svg", "--out", str(home / "out")]) == 0
    (home / "links.txt").write_text("\n".join(map(repr, records)))
    files = [path for path in [*home.rglob("*"), *tmp_path.rglob("*")] if path.is_file()]
    assert len(files) > 20
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    printed = capsys.readouterr()
    assert KEY not in printed.out + printed.err


def test_perplexities_equal_those_of_the_model_itself(server, home, capsys):
    talk = home / "talk.txt"
    talk.write_text("user: I feel worse today.\nassistant: What happened, naïve café ☃?\nuser: Nothing.\n"
                    "assistant: That sounds hard. Tell me more about the river.\n")  # fmt: skip
    arguments = ["--prompt", "fitting", "--conversation", str(talk), "--json"]
    for mode in ("standard", "published"):
        collected = []
        for there in ([], ["--server", server.url]):
            assert main(["perplexity", "run", "--model", "pocket-3m", "--mode", mode, *arguments, *there]) == 0
            collected.append(json.loads(capsys.readouterr().out)["reports"][0])
        here, there = collected
        for name in ("perplexity", "bits_per_byte", "message_mean"):
            assert there["perplexities"][0][name] == pytest.approx(here["perplexities"][0][name], rel=1e-4)
        messages = [perplexity_results.read(message["run"]).messages for message in collected]
        for key, messages_of_one in messages[0].items():
            assert ["".join(message.pieces) for message in messages_of_one] == [
                "".join(message.pieces) for message in messages[1][key]
            ]
    assert there["vocabulary"] is None
    assert store.read_record(there["run"]).spent[0] > 100


def test_a_text_token_by_token_equals_that_of_the_model_itself(server, home, capsys):
    text = ["--text", "The capital of Peru is Lima, and it rains.", "--json"]
    collected = []
    for model in ("pocket-3m", f"pocket-3m@{server.url}"):
        assert main(["tokens", "view", "--model", model, *text]) == 0
        collected.append(json.loads(capsys.readouterr().out)["tokens"])
    for here, there in zip(*collected, strict=True):
        assert there["text"] == here["text"]
        assert there["loss"] == pytest.approx(here["loss"], abs=1e-4)
        assert [token for token, _ in there["alternatives"]] == [token for token, _ in here["alternatives"]]
    assert main(["tokens", "view", "--model", f"pocket-3m@{server.url}", "--text", "Lima is here"]) == 0
    assert "entropy not known" in capsys.readouterr().out
    assert main(["tokens", "evaluate", "--model", f"pocket-3m@{server.url}"]) == 2
    assert "an evaluation needs the probabilities of all" in capsys.readouterr().err


def test_words_and_juries_of_other_weights_are_not_mixed(server, home, impatient, capsys):
    (home / "talk.txt").write_text("user: I feel worse.\nassistant: What happened to you by the river?\n" * 3)
    arguments = ["--prompt", "fitting", "empty", "--conversation", str(home / "talk.txt"), "--server", server.url]
    words = ("perplexity", "run", "--model", "pocket-3m", *arguments)
    there = f"pocket-3m@{server.url}"
    make = ("jury", "make", "--base", there, "--juror", there, there, "--samples", "16")

    def fails_after(files: str) -> Callable[[int], str]:
        return lambda number: "503" if any(path.stat().st_size for path in home.glob(files)) else ""

    for command, begun in ((words, "runs/*/chunks/*.parquet"), (make, "jury-paths/*/answers.jsonl")):
        server.reset(fault=fails_after(begun))
        assert main([*command]) != 0
        with server.other_weights():
            server.reset()
            assert main([*command]) == 2
        assert "now holds other weights by the name of pocket-3m than when this" in capsys.readouterr().err
        server.reset()
        assert main([*command]) == 0
        with server.other_weights():  # and finished work does not count as theirs
            assert main([*command]) == 2
        assert "now holds other weights by the name of pocket-3m than when" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["letters", "cloze", *DECISION_FORMATS])
def test_a_server_that_is_restarted_with_other_weights_during_a_run_is_noticed(server, home, capsys, form):
    own = server.model
    with server.other_weights():
        other = server.model

    few = form in DECISION_FORMATS  # requests; after the self-check, some with many questions are refused and divided
    words = ["--format", form] if few else ["--form", form]

    def swap(number):
        if number == (16 if few else 60):
            server._hold(other)
        return ""

    def small(path, body):
        return (413, {"error": "too large"}) if len(body.get("questions", ())) > 4 else None

    decides = {"decisions": tuple(f"/{name}" for name in DECISION_FORMATS)}
    server.reset(fault=swap, strict=small, **decides)
    run("--server", server.url, *words, status=2)
    assert "so it was restarted with other weights, and the answers of this try are not kept" in capsys.readouterr().err
    (folder,) = home.glob("runs/*served*")
    assert not (folder / "chunks").exists()
    server._hold(own)
    server.reset(**decides)
    run("--server", server.url, *words)
    run(*([] if few else words))
    there, here = (load(path.name) for path in sorted(home.glob("runs/*qa*"), reverse=True))
    order = [list(there.ids).index(name) for name in here.ids]
    assert np.abs(there.probabilities[order] - here.probabilities).max() < 1e-3


def test_what_comes_before_an_answer_is_no_part_of_it(server, home, capsys):
    there, answers = f"pocket-3m@{server.url}", (home / "there.jsonl", home / "here.jsonl")
    for before, model, path in (
        ("<think>Let me", there, answers[0]),
        ("\n", there, answers[0]),
        ("", "pocket-3m", answers[1]),
    ):
        server.reset(before=before)
        assert main(["jury", "answer", "--model", model, "--samples", "12", "--out", str(path)]) == 0
        thought = "12 are empty: the model wrote nothing, or its reasoning did not end" in capsys.readouterr().out
        assert thought == ("think" in before)
    assert answers[0].read_bytes() == answers[1].read_bytes()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--server", "http://127.0.0.1:9", "--key-variable", KEY], "the name of its environment variable"),
        (["--server", "http://127.0.0.1:9", "--key-variable", "MISSING_API_KEY"], "is not set"),
        (["--budget", "1"], "belong to a model on a server"),
        (["--server", "http://127.0.0.1:9", "--budget", "-1"], "budget must be a number from 0 up"),
    ],
)
def test_what_is_no_server(home, capsys, words, says):
    run(*words, status=2)
    errors = capsys.readouterr().err
    assert says in errors
    assert KEY not in errors


def test_the_prompts_are_shown_and_counted_before(server, capsys):
    run("--server", server.url, "--dry-run", "--json")
    (preview,) = json.loads(capsys.readouterr().out)["previews"]
    assert preview["questions"] == 60
    assert preview["text"].endswith("Answer:")
    assert 60 * 10 < preview["tokens"] < 60 * 200
    assert server.number == 0


def test_a_spec_with_servers_is_another_run_and_older_ids_stay():
    spec = RunSpec(model="m", task="qa")
    assert spec.to_json()["servers"] == ()
    there = RunSpec(model="m", task="qa", dtype="served", servers=("http://b:1", "http://a:1/v1/"))
    assert there.servers == ("http://a:1/v1", "http://b:1/v1")
    assert there.run_id != spec.run_id
    assert there == RunSpec.from_json(json.loads(json.dumps(there.to_json())))
    assert there == RunSpec(**{**there.to_json(), "key_variable": "X_API_KEY", "budget": 2.0})
    for wrong in ({"dtype": "float32"}, {"form": JURY}):
        with pytest.raises(InputError):
            RunSpec(**{**there.to_json(), **wrong})
    assert execution.memory_gib(there) == 0.0


def test_a_server_without_log_probabilities_is_asked_for_picks(server, impatient, capsys):
    """The frequencies of 8 picks come near the model's probabilities. A run that stops continues where it was."""
    server.reset(logprobs=False)
    run("--server", server.url, "--samples", 10, status=2)
    assert "or ask it for picks (--picks 20), whose frequencies stand for probabilities" in capsys.readouterr().err
    picks = ["--server", server.url, "--samples", 10, "--picks", 8]
    server.reset(logprobs=False, fault=lambda number: "cut" if number > 60 else "")
    run(*picks, status=1)
    capsys.readouterr()
    server.reset(logprobs=False)
    run(*picks)
    (record,) = [run_id for name in store.run_ids() if (run_id := store.read_record(name)).spec.picks == 8]
    log = "\n".join(store.read_log(record.run_id))
    assert "8 picks a question are 80 requests" in log
    assert "continues after" in log
    loaded = load(record.run_id)
    assert loaded.samples.max() <= 8
    unread = record.provenance["picks"]["unread"]
    assert loaded.samples.sum() + unread == 8 * len(loaded.ids)
    (caveat,) = [caveat for caveat in of_run_record(record) if caveat.kind == "frequencies"]
    assert "8 samples" in caveat.sentence
    server.reset()
    run("--server", server.url, "--samples", 10)
    (letters,) = [name for name in store.run_ids() if not store.is_bundled(name) and name != record.run_id]
    exact = dict(zip(load(letters).ids, load(letters).probabilities, strict=True))
    gaps = np.array([loaded.probabilities[i] - exact[name] for i, name in enumerate(loaded.ids)])
    assert np.abs(gaps).mean() < 0.1


def test_answers_that_name_no_option_stop_a_run_of_picks_before_it_is_paid(server, capsys):
    server.reset(logprobs=False, before="No idea at all.\n")
    run("--server", server.url, "--picks", 3, "--samples", 8, status=1)
    assert "none of 4 answers names an option; the first begins with 'No idea at all.'" in capsys.readouterr().err


def test_picks_are_for_servers(home, capsys):
    run("--picks", 5, status=2)
    assert "picks are for models on a server (--server)" in capsys.readouterr().err
