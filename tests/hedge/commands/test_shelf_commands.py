"""The commands of the shelf, as a person types them."""

import json

import pytest

from core.runs import store
from hedge.cli import main
from tests.core.shelf import leaderboard_files
from tests.core.shelf.conftest import made_up, mirror  # noqa: F401  fixtures
from tests.core.shelf.mirror import Mirror
from tests.light_environment import needs_models

pytestmark = pytest.mark.quick


def printed(capsys, *argv: str) -> dict:
    assert main([*argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_list_and_show_say_size_licence_and_hashes(home, capsys):
    listed = printed(capsys, "shelf", "list")
    bench = next(entry for entry in listed if entry["name"] == "llm-uncertainty-bench")
    assert (bench["licence"], bench["hashed"], bench["here"]) == ("MIT", 27, 0)
    assert main(["shelf", "show", "juries-demo"]) == 0
    output = capsys.readouterr().out
    assert "Licence:   none stated: the files are fetched for your own use, and Hedge passes nothing on" in output
    assert "6 files have a recorded SHA-256" in output
    assert main(["shelf", "show", "none"]) == 2
    assert "there is no 'none' on the shelf" in capsys.readouterr().err


def test_bring(made_up: Mirror, capsys, monkeypatch):  # noqa: F811
    done = printed(capsys, "shelf", "bring", "made-up", "--only", "small")
    assert [store.read_record(run).spec.model for run in done["runs"]] == ["small-1B"]
    assert done["fetched_bytes"] == sum(made_up.sent.values()) > 0
    assert main(["shelf", "bring", "made-up"]) == 0
    output = capsys.readouterr().out
    assert "2 runs, 1 of them here already" in output
    assert "No published figures are recorded for these files." in output
    made_up.files.clear()
    assert main(["shelf", "bring", "made-up"]) == 0
    monkeypatch.setenv("HEDGE_SHELF_MIRROR", "http://127.0.0.1:9")
    assert main(["shelf", "bring", "made-up"]) == 0, "what is here needs no network"


def test_a_failed_download_is_one_sentence(made_up: Mirror, capsys):  # noqa: F811
    made_up.fault = "404"
    assert main(["shelf", "bring", "made-up"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        "hedge: output/small-1B/mmbench.pkl: it is not there any more (the server answers 404); nothing was imported\n"
    )


def test_figures_that_differ_are_listed():
    from core.shelf.recompute import RecomputedFigure
    from hedge.commands.shelf import _differing

    figure = RecomputedFigure("Mistral-7B", "qa", "set size", 2.80, 2.913, 2)
    assert not figure.same
    assert [line.split() for line in _differing([figure])][1:] == [
        ["model", "task", "figure", "published", "here"],
        ["Mistral-7B", "qa", "set", "size", "2.80", "2.91"],
    ]


@needs_models
def test_a_model_of_the_leaderboard(mirror: Mirror, capsys, monkeypatch):  # noqa: F811
    monkeypatch.setenv("HF_ENDPOINT", mirror.url)
    files = leaderboard_files.add(mirror)
    listed = printed(capsys, "shelf", "leaderboard", "org/tiny-1B")
    results = sum(len(content) for path, content in files.items() if "results" in path)
    gpqa = sum(len(content) for path, content in files.items() if "gpqa" in path)
    assert listed["model"] == "org/tiny-1B"
    assert listed["tasks"]["gpqa"] == {"files": 2, "bytes": results + gpqa}
    assert main(["shelf", "leaderboard", "org/tiny-1B", "--task", "gpqa"]) == 0
    assert "1 of 1 published figures recomputed." in capsys.readouterr().out
    assert len(printed(capsys, "shelf", "leaderboard", "org/tiny-1B", "--task", "all")["runs"]) == 2
    assert main(["shelf", "leaderboard", "org/none"]) == 2
    assert capsys.readouterr().err.startswith("hedge: the Open LLM Leaderboard has no results of org/none")
    assert main(["shelf", "list"]) == 0
    assert "open-llm-leaderboard" in capsys.readouterr().out
