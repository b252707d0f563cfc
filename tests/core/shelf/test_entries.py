"""The entries that come with Hedge, and the message about a wrong one."""

import pytest

from core.errors import InputError
from core.shelf.entries import entries, entry, read

pytestmark = pytest.mark.quick

GOOD = """
title = "A"
about = "B."
[[sources]]
kind = "git"
repository = "some/release"
commit = "abc1234"
paths = ["{model}.pkl"]
at_most = 1000
[sources.values]
model = ["a", "b"]
"""


def test_every_entry_is_whole(home):
    all_entries, problems = entries()
    assert not problems
    assert {"llm-uncertainty-bench", "vlm-uncertainty-bench", "conformal-llm", "juries-demo"} <= set(all_entries)
    for shelf_entry in all_entries.values():
        assert shelf_entry.authors
        assert shelf_entry.bytes_about > 0
        assert shelf_entry.results
        assert all(file.address.startswith("https://") for file in shelf_entry.files if file.kind == "git")


def test_the_base_models_and_what_their_answers_need(home):
    bench = entry("llm-uncertainty-bench")
    assert len(bench.results) == 16 * 5 * 3
    assert bench.hashed == 27
    chosen = bench.chosen("Qwen-72B_mmlu")
    assert [file.path for file in chosen][-1] == "mmlu_10k.json"
    assert (chosen[-1].kind, chosen[-1].address) == ("hub", "ErikYip/LLM-Uncertainty-Bench@main")
    assert [file.kind for file in bench.chosen("*Qwen-72B_halu_dialogue*")] == ["git", "git", "git", "recipe"]
    assert len(entry("vlm-uncertainty-bench").results) == 52
    assert bench.values_of("model")[0] == "Mistral-7B-v0.1"
    chosen_files = bench.chosen(where={"model": ["Yi-6B"], "data": ["halu_dialogue"]})
    assert [file.kind for file in chosen_files] == ["git", "git", "git", "recipe"]
    with pytest.raises(InputError, match="matches the choice"):
        bench.chosen(where={"model": ["none"]})


def test_a_protocol_is_said_in_sentences(home):
    for shelf_entry in entries()[0].values():
        assert " none" not in shelf_entry.protocol_said
    assert entry("llmbar").protocol_said.endswith("Missing verdicts: count as wrong.")
    for name in ("llm-uncertainty-bench-chat-v1", "llm-uncertainty-bench-chat-v2"):
        assert "No published numbers are recorded here" in entry(name).note


def test_only_what_lies_at_a_commit_lasts(home):
    assert all(file.lasting for file in entry("llmbar").files)
    assert not any(file.lasting for file in entry("juries-demo").files), "a branch moves on"
    assert {file.lasting for file in entry("llm-uncertainty-bench").files if file.kind == "hub"} == {False}


def test_a_persons_own_entry_needs_no_code(home):
    folder = home / "shelf" / "entries"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(GOOD)
    own = entry("mine")
    assert [file.path for file in own.files] == ["a.pkl", "b.pkl"]
    assert own.files[0].address == "https://raw.githubusercontent.com/some/release/abc1234/a.pkl"
    assert (own.licence, own.hashed) == ("", 0)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('title = "A"', ""), "expected a text as 'title'"),
        (('"git"', '"ftp"'), "unknown kind of source 'ftp'; choose from git, hub, url, recipe"),
        (("at_most = 1000", ""), "needs 'size' or 'at_most'"),
        (("at_most = 1000", "at_most = -1"), "expected a number of bytes above 0 as 'at_most', found -1"),
        (("{model}.pkl", "../{model}.pkl"), "is no path inside a repository"),
        (("{model}.pkl", "{task}.pkl"), "needs a list 'task'"),
        (('"a", "b"', '"a", "a"'), "found 'a.pkl' twice"),
        (('model = ["a", "b"]', 'model = ["a"]\n[sources.sha256]\n"a.pkl" = "12"'), "expected 64 hexadecimal digits"),
        (('model = ["a", "b"]', 'model = ["a"]\n[sources.sizes]\n"c.pkl" = 12'), "sizes names 'c.pkl'"),
        (("some/release", "some"), "expected OWNER/NAME as 'repository'"),
        (('about = "B."', 'about = "B."\nlicense = "MIT"'), "unknown key 'license'"),
        (("[[sources]]", "[[sources"), "is no readable TOML file"),
    ],
)
def test_what_is_wrong_with_an_entry_is_named(tmp_path, change, says):
    path = tmp_path / "wrong.toml"
    assert change[0] in GOOD
    path.write_text(GOOD.replace(*change))
    with pytest.raises(InputError, match=says) as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_an_unknown_entry(home):
    with pytest.raises(InputError, match=r"there is no 'none' on the shelf; choose from .*vlm-uncertainty-bench"):
        entry("none")


def test_a_damaged_entry_takes_no_other_away(home):
    whole, _ = entries()
    path = home / "shelf" / "entries" / "mine.toml"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"title = '\xff'")
    all_entries, (problem,) = entries()
    assert all_entries == whole
    assert problem.startswith(f"{path} is no readable TOML file (")
    assert problem.endswith("; repair the file or delete it")
