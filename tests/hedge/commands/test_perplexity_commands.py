"""`python -m core perplexity`: as a person types it."""

import json

import pytest

from core.models.perplexity import choices
from hedge.cli import main

TALK = """assistant: Hi.
user: I am sad.
assistant: Why are you sad?
user: I lost my ball.
assistant: That sounds hard.
"""


@pytest.fixture
def talk(tmp_path):
    path = tmp_path / "short_talk.txt"
    path.write_text(TALK, encoding="utf-8")
    return path


def status_and_output(capsys, *arguments: str):
    status = main(["perplexity", *arguments, "--json"])
    out = capsys.readouterr()
    return status, json.loads(out.out) if out.out else None, out.err


def test_run_and_report(home, talk, tmp_path, capsys):
    prompt = tmp_path / "gentle.txt"
    prompt.write_text("You are gentle.", encoding="utf-8")
    status, values, _ = status_and_output(
        capsys, "run", "--model", "pocket-1m", "--conversation", str(talk), "--prompt", str(prompt), "empty"
    )
    assert status == 0
    (report,) = values["reports"]
    assert [(row["conversation"], row["prompt"], row["messages"]) for row in report["perplexities"]] == [
        ("short talk", "gentle", 2),
        ("short talk", "No prompt", 2),
    ]
    (difference,) = report["differences"]
    assert (difference["a"], difference["b"], difference["n"]) == ("gentle", "No prompt", 2)
    status, again, _ = status_and_output(capsys, "report", values["runs"][0])
    assert (status, again) == (0, [report])
    assert main(["perplexity", "report", values["runs"][0]]) == 0
    assert "gentle − No prompt, short talk" in capsys.readouterr().out
    # It is one of the runs, and has no figures of answers.
    assert main(["runs"]) == 0
    assert values["runs"][0] in capsys.readouterr().out
    assert main(["report", values["runs"][0]]) == 2
    assert "scored words and has no answers" in capsys.readouterr().err
    assert main(["export", values["runs"][0], "--format", "csv", "--out", str(tmp_path)]) == 2
    assert "scored words and has no answers" in capsys.readouterr().err


def test_endings_are_written_and_chosen_from(home, talk, tmp_path, capsys):
    out = tmp_path / "choices.jsonl"
    status, values, _ = status_and_output(
        capsys, "endings", "--model", "pocket-1m", "--conversation", str(talk), "--out", str(out)
    )
    assert (status, values["choices"]) == (0, 2)
    all_choices = choices.read(out)
    assert [choice.endings[choice.label] for choice in all_choices] == ["Why are you sad?", "That sounds hard."]
    status, values, _ = status_and_output(
        capsys,
        *("run", "--model", "pocket-1m", "--prompt", "fitting", "--choices", str(out), "--conversation"),
        *("--mode", "published"),
    )
    assert status == 0
    (row,) = values["reports"][0]["choices"]
    assert (row["prompt"], row["n"]) == ("Counselor", 2)
    assert 0 <= row["accuracy"] <= 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--prompt", "nobody"), "there is no prompt 'nobody'"),
        (("--conversation", "nowhere.txt"), "nowhere.txt can't be read"),
        (("--exchanges", "two"), "exchanges must be a number from 0, or all"),
        (("--conversation",), "at least one conversation"),
        (("--choices", "nowhere.csv"), "nowhere.csv can't be read"),
    ],
)
def test_what_can_not_be_used_is_said(home, capsys, arguments, sentence):
    assert main(["perplexity", "run", "--model", "pocket-1m", *arguments]) == 2
    assert sentence in capsys.readouterr().err
