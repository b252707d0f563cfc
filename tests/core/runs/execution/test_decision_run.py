"""A run of a model that answers decisions, from the command line to its figures."""

import json
from dataclasses import replace

import numpy as np
import pytest

from core.models.server import decisions
from core.models.server.decisions import beside
from core.models.server.engine import CHECKED_QUESTIONS
from core.questions.prompting.decision import DECISION_FORMATS
from core.reports.bounded import bounded_report
from core.reports.evaluation import load
from core.reports.report import report
from core.runs import store
from core.runs.caveats import of_run_record
from hedge.cli import main

PATHS = tuple(f"/{form}" for form in DECISION_FORMATS)

ASKED = ["--task", "qa", "--samples", "60", "--alpha", "0.2", "--json"]


def run(*words, status=0):
    before = set(store.run_ids())
    assert main(["run", "--model", "pocket-3m", *ASKED, *map(str, words)]) == status
    (name,) = set(store.run_ids()) - before
    return store.read_record(name)


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_decisions_give_the_figures_of_the_model_itself(server, capsys, form):
    server.reset(decisions=PATHS)
    here = run()
    there = run("--server", server.url, "--format", form)
    ours, theirs = load(here.run_id), load(there.run_id)
    assert list(ours.ids) == list(theirs.ids)
    assert np.abs(ours.probabilities - theirs.probabilities).max() < 1e-6
    one, other = (report(run, 200) for run in (ours, theirs))
    for score, same in zip(one.scores.values(), other.scores.values(), strict=True):
        assert (score.sizes, score.coverage, score.by_size) == (same.sizes, same.coverage, same.by_size)
    assert there.provenance["variation"] == {"questions": 20, "requests": 3, "largest": 0.0, "mean": 0.0, "changed": 0}
    assert there.provenance["engine"]["questions_together"] > 1
    assert of_run_record(there) == of_run_record(here)


def test_rounded_zeros_make_ranges_that_hold_the_figures(server, capsys):
    def rounded(number, answer):
        return {**answer, "probabilities": {option: round(p, 2) for option, p in answer["probabilities"].items()}}

    server.reset(decisions=PATHS, decided=rounded)
    record = run("--server", server.url, "--format", "decisions")
    assert record.bounded > 0
    ranges = bounded_report(record.run_id, 200)
    exact = load(run().run_id)
    assert ranges.accuracy[0] <= (exact.probabilities.argmax(axis=1) == exact.labels)[exact.test].mean()
    (caveat,) = of_run_record(record)
    assert caveat.sentence.startswith("Some probabilities were rounded to 0 for ")
    capsys.readouterr()
    for words in (["calibration", record.run_id], ["report", record.run_id, "--by", "class"]):
        assert main(words) == 2
        assert f"hedge: some probabilities of run {record.run_id} were rounded to 0" in capsys.readouterr().err


def test_answers_that_vary_are_a_caveat(server, capsys):
    turns = iter(range(10**6))

    def varied(number, answer):
        lifted = "AB"[next(turns) % 2]
        shares = {option: 0.5 * p + 0.5 * (option == lifted) for option, p in answer["probabilities"].items()}
        return {**answer, "probabilities": shares}

    server.reset(decisions=PATHS, decided=varied)
    record = run("--server", server.url, "--format", "systemone")
    (caveat,) = (caveat for caveat in of_run_record(record) if caveat.kind == "variation")
    assert caveat.sentence.startswith("Identical requests get different answers: asked 3 times, 20 questions gave")
    for _ in range(3):  # nobody says that the server has other weights now
        assert main(["run", "--model", "pocket-3m", *ASKED, "--server", server.url, "--format", "systemone"]) == 0


@pytest.mark.parametrize("fault", ["cut", "500"])
def test_a_run_ends_without_a_server_that_fails_when_questions_are_asked_again(
    server, impatient, monkeypatch, capsys, fault
):
    variation = decisions.DecisionEngine.variation

    def gone(engine, *arguments, **named):
        server.behaviour = replace(server.behaviour, fault=lambda number: fault)
        return variation(engine, *arguments, **named)

    monkeypatch.setattr(decisions.DecisionEngine, "variation", gone)
    server.reset(decisions=PATHS)
    record = run("--server", server.url, "--format", "systemone")
    assert record.state == "done"
    assert len(load(record.run_id).ids) == 60
    (caveat,) = of_run_record(record)
    assert caveat.sentence.startswith("How much the server's answers to identical requests vary could not be measured")


def test_unanswered_questions_are_missing(server, capsys):
    server.reset(decisions=PATHS)
    asked = run("--server", server.url, "--format", "systemone", "--seed", "1")
    named = store.read_questions(asked.run_id, columns=["question"])["question"][3].as_py()
    server.reset(
        decisions=PATHS, decided=lambda number, answer: {"type": "refusal"} if answer["asked"] == named else answer
    )
    record = run("--server", server.url, "--format", "decisions", "--seed", "1")
    assert list(record.provenance["missing"].values()) == [["refused", "the model declined to answer"]]
    assert "refused" in of_run_record(record)[0].sentence


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--shots", "2"], "no place for demonstrations"),
        (["--system", "Be brief."], "no place for a system prompt"),
        (["--form", "cloze"], "no place for options that are not shown"),
        (["--picks", "5"], "no place for answers in writing"),
    ],
)
def test_what_a_request_has_no_place_for_is_refused(server, capsys, words, sentence):
    arguments = ["--model", "m", "--task", "qa", "--server", server.url, "--format", "decisions"]
    assert main(["run", *arguments, *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_format_of_servers_needs_one(capsys):
    assert main(["run", "--model", "pocket-3m", "--task", "qa", "--format", "systemone"]) == 2
    assert "give the server's address" in capsys.readouterr().err


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_a_budget_stops_and_resumes(server, capsys, form):
    server.reset(decisions=PATHS)
    words = ["--server", server.url, "--format", form]
    record = run(*words, "--budget", "0.004", status=1)
    assert record.state == "paused"
    assert record.at_budget
    assert 0 < sum(record.spent) <= 4000
    assert main(["run", "--model", "pocket-3m", *ASKED, *words, "--budget", "1"]) == 0
    assert store.read_record(record.run_id).state == "done"


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_the_forecast_holds_all_requests_of_a_run(server, capsys, form):
    """Those of its self-check and those that are repeated, by the tokens that the server counts."""
    server.reset(decisions=PATHS)
    words = ["--server", server.url, "--format", form, "--price-read", "1", "--price-written", "4"]
    assert main(["run", "--model", "pocket-3m", *ASKED, *words, "--dry-run"]) == 0
    (preview,) = json.loads(capsys.readouterr().out)["previews"]
    record = run(*words, "--budget", str(preview["cost"]))
    assert record.state == "done"
    assert sum(server.texts.values()) == 2 + 60 + beside(60) - CHECKED_QUESTIONS  # two probes, and one group to check
    read, written = record.spent
    assert 0.7 * preview["tokens"] < read <= preview["tokens"]
    assert written == sum(server.texts.values())
    assert record.spec.price.cost(*record.spent) <= preview["cost"]


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_cached_tokens_are_counted_once(server, capsys, form):
    """Both formats count them among the tokens read."""
    names = (
        ("prompt_tokens", "prompt_tokens_details") if form == "systemone" else ("input_tokens", "input_tokens_details")
    )
    server.reset(
        decisions=PATHS, deciding=lambda reply: {**reply, "usage": {names[0]: 9000, names[1]: {"cached_tokens": 8000}}}
    )
    record = run("--server", server.url, "--format", form)
    assert record.spent[0] == 9000 * len(server.bodies)


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_a_run_that_stops_asks_no_question_again(server, impatient, monkeypatch, capsys, form):
    monkeypatch.setattr(decisions, "REPEATED", 0)
    small = {"strict": lambda path, body: (413, {"error": "too large"}) if len(body["questions"]) > 4 else None}
    server.reset(decisions=PATHS, **small, fault=lambda number: "cut" if number > 24 else "")
    words = ["--server", server.url, "--format", form]
    record = run(*words, status=1)
    assert record.state == "paused"
    assert "cuts the connection" in record.message
    parts = store.read_part(store.folder_of(record.run_id), 0)
    questions = {row["id"]: row["question"] for row in store.read_questions(record.run_id).to_pylist()}
    before = {questions[name] for name in parts.ids}
    assert 0 < len(before) < 60
    server.reset(decisions=PATHS, **small)
    assert main(["run", "--model", "pocket-3m", *ASKED, *words]) == 0
    assert len(before & set(server.texts)) <= CHECKED_QUESTIONS
    assert max(server.texts.values()) <= 3  # of the self-check: alone, together, and for the run
    here = load(run().run_id)
    there = load(record.run_id)
    assert list(here.ids) == list(there.ids)
    assert np.abs(here.probabilities - there.probabilities).max() < 1e-6


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_the_shown_request_is_the_one_that_is_sent(server, capsys, form):
    """But for the model's name, which stands first, and the line breaks."""
    server.reset(decisions=PATHS, strict=lambda path, body: (413, {}) if len(body["questions"]) > 1 else None)
    words = ["--server", server.url, "--format", form, "--strategy", "task"]
    assert main(["run", "--model", "pocket-3m", *ASKED, *words, "--dry-run"]) == 0
    (preview,) = json.loads(capsys.readouterr().out)["previews"]
    run(*words)
    sent = [json.loads(body) for body in server.bodies]
    assert {body.pop("model") for body in sent} == {"pocket-3m"}
    assert preview["text"] in {json.dumps(body, ensure_ascii=False, indent=2) for body in sent}


def bank_of(path, counts):
    rows = [
        {"question": f"Which is number {i}?", "options": [f"word {j}" for j in range(k)], "label": i % k}
        for i, k in enumerate(counts)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_more_options_than_letters_are_asked_and_a_limit_of_the_server_is_named(server, capsys, tmp_path, form):
    task = bank_of(tmp_path / "many.jsonl", [4] * 30 + [40, 100] + [4] * 8)
    arguments = ["run", "--model", "pocket-3m", "--task", task, "--server", server.url, "--alpha", "0.2", "--json"]
    # The loopback server reads letters as tokens, so it makes the options' probabilities of their number here.
    server.choice = lambda context, question, criteria: {
        "probabilities": {name: 2 * (i + 1) / len(criteria) / (len(criteria) + 1) for i, name in enumerate(criteria)},
        "asked": question,
    }
    try:
        server.reset(decisions=PATHS)
        assert main([*arguments, "--format", form]) == 0
        (name,) = [name for name in store.run_ids() if not store.is_bundled(name)]
        whole = load(name)
        assert whole.probabilities.shape == (40, 100)
        assert (~np.isnan(whole.probabilities)).sum(axis=1).max() == 100
        capsys.readouterr()
        server.reset(decisions=PATHS, strict=many_refused(form))
        assert main([*arguments, "--format", form, "--seed", "1"]) == 0
        (other,) = [run for run in store.run_ids() if not store.is_bundled(run) and run != name]
        reasons = store.read_record(other).provenance["missing"].values()
        assert list(reasons) == [["refused", 'HTTP status 400, "a choice has at most 26 options"']] * 2
        caveat, *_ = of_run_record(store.read_record(other))
        assert "did not answer 2 questions (refused: many-31, many-32)" in caveat.sentence
    finally:
        del server.choice
    assert main([*arguments, "--format", "plain", "--dry-run"]) == 0  # two questions are beyond a letter
    assert "2 left out: more than 26 options" in capsys.readouterr().err


def many_refused(form):
    def refusal(path, body):
        listed = [each["criteria"] for each in body["questions"].values()] if form == "systemone" else [
            each["choices"] for each in body["questions"]
        ]  # fmt: skip
        too_many = any(len(options) > 26 for options in listed)
        return (400, {"error": {"message": "a choice has at most 26 options"}}) if too_many else None

    return refusal


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_a_choice_that_is_not_the_most_probable_option_is_a_caveat(server, capsys, form):
    """As from a server that gives the probabilities in another order than the options."""
    server.reset(decisions=PATHS, decided=lambda number, answer: {**answer, "choice": "F"})
    record = run("--server", server.url, "--format", form)
    others = int((load(record.run_id).probabilities[:, :6].argmax(axis=1) != 5).sum())
    (caveat,) = of_run_record(record)
    assert caveat.sentence.startswith(f"In at least {others} of the answers, the choice is not the most probable")


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_a_later_try_keeps_what_caveats_count(server, impatient, monkeypatch, capsys, form):
    """Else a run whose first answers contradict themselves, or are by another model, would not say so."""
    monkeypatch.setattr(decisions, "REPEATED", 0)
    small = {"strict": lambda path, body: (413, {"error": "too large"}) if len(body["questions"]) > 4 else None}
    words = ["--server", server.url, "--format", form]
    server.reset(
        decisions=PATHS,
        **small,
        fault=lambda number: "cut" if number > 24 else "",
        decided=lambda number, answer: {**answer, "choice": "F"},
        deciding=lambda reply: {**reply, "model": "an-earlier-model"},
    )
    record = run(*words, status=1)
    counted = record.provenance["engine"]["contradictions"]
    assert counted > 0
    server.reset(decisions=PATHS, **small)
    assert main(["run", "--model", "pocket-3m", *ASKED, *words]) == 0
    record = store.read_record(record.run_id)
    assert record.provenance["engine"]["contradictions"] == counted
    assert record.provenance["engine"]["answered_as"] == ["an-earlier-model", "pocket-3m"]
    assert {caveat.kind for caveat in of_run_record(record)} == {"choices", "models", "variation"}


@pytest.mark.parametrize("names", [("model-0", "model-1"), ("pocket-3m", "model-1")])
def test_answers_under_several_names_are_a_caveat(server, capsys, names):
    turns = iter(range(10**6))
    server.reset(decisions=PATHS, deciding=lambda reply: {**reply, "model": names[next(turns) % 2]})
    record = run("--server", server.url, "--format", "decisions")
    (caveat,) = of_run_record(record)
    assert caveat.kind == "models"
    assert "by at least 2 names in its replies (" in caveat.sentence


def test_together_is_no_more_than_fits_into_the_time_of_an_answer(server, capsys):
    server.reset(decisions=PATHS, delay_s=0.1)
    record = run("--server", server.url, "--format", "decisions", "--timeout", "2")
    assert 4 <= record.provenance["engine"]["questions_together"] <= 20
