"""A run of a model that answers decisions, from the command line to its figures."""

import numpy as np
import pytest

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
    assert [caveat.kind for caveat in of_run_record(record)] == ["bounded"]


def test_answers_that_vary_are_a_caveat(server, capsys):
    turns = iter(range(10**6))

    def varied(number, answer):
        lifted = "AB"[next(turns) % 2]
        shares = {option: 0.9 * p + 0.1 * (option == lifted) for option, p in answer["probabilities"].items()}
        return {**answer, "probabilities": shares}

    server.reset(decisions=PATHS, decided=varied)
    record = run("--server", server.url, "--format", "systemone")
    (caveat,) = (caveat for caveat in of_run_record(record) if caveat.kind == "variation")
    assert caveat.sentence.startswith("Identical requests get different answers: asked 3 times, 20 questions gave")


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


def test_a_budget_stops_and_resumes(server, capsys):
    server.reset(decisions=PATHS)
    words = ["--server", server.url, "--format", "decisions"]
    record = run(*words, "--budget", "0.004", status=1)
    assert record.state == "paused"
    assert main(["run", "--model", "pocket-3m", *ASKED, *words, "--budget", "1"]) == 0
    assert store.read_record(record.run_id).state == "done"
