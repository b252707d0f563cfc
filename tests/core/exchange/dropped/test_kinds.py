"""Every kind of file by its record: its examples are recognised, and read or refused in its own sentence."""

from pathlib import Path

import pandas as pd
import pytest

from core.exchange.dropped import question_files
from core.exchange.dropped.examples import as_csv, as_lines
from core.exchange.dropped.found import Reading
from core.exchange.dropped.kinds import KINDS
from core.exchange.dropped.recognition import kind_of
from core.models.perplexity import choices, conversation_files
from core.questions.bank_names import ORIGINS
from core.reports.imported_figures import figures
from tests.core.exchange.drops import Drop, dropped, refused

pytestmark = pytest.mark.quick

EXAMPLES = [(name, place) for name, kind in KINDS.items() for place in range(len(kind.examples))]
NAMES = ["context", "A", "B", "C", "D", "label"]
ALONE = {"results": "it holds means over all questions"}
"""Kinds that refuse a file alone, because another file must be beside it."""


def read(folder: Path, name: str, place: int) -> tuple[list[Path], Reading]:
    files = KINDS[name].examples[place].files()
    return [folder / "files" / file for file in files], dropped(folder, files)


@pytest.mark.parametrize(("name", "place"), EXAMPLES)
def test_an_example_is_recognised_and_read(home, tmp_path, name, place):
    kind = KINDS[name]
    paths, reading = read(tmp_path, name, place)
    assert name in map(kind_of, paths)
    sentences = list(refused(reading).values())
    if kind.place == "" or name in ALONE:
        (sentence,) = sentences
        assert sentence.startswith(ALONE.get(name, kind.sentence))
    else:
        assert sentences == []
        assert reading.unmapped == ()
    if kind.place == "runs" and name not in ALONE:
        (found_run,) = reading.runs
        assert found_run.run.spec.origin == (kind.origin or "table")
        assert figures(found_run.run).questions >= 4
    if kind.place == "jury":
        (jury,) = reading.juries
        assert len(jury.jury.judgements.jurors) >= 2
    if kind.place in ("new_run", "perplexity"):
        assert [file.kind for file in reading.elsewhere] == [name]
    if name == "questions":
        assert "question" in reading.elsewhere[0].read_as
        assert question_files.keep(paths[0], paths[0].name)
    if name == "conversation":
        assert conversation_files.parse(paths[0].read_bytes(), paths[0].name).conversations
    if name == "choices":
        assert choices.read(paths[0])


def test_every_kind_says_what_becomes_of_its_files():
    for name, kind in KINDS.items():
        assert kind.sentence or kind.place in ("runs", "jury"), name
        assert kind.read is None or (kind.place == "runs" and kind.examples and kind.origin), name
        assert not kind.listed or kind.examples or name == "run", name


def test_names_of_banks_belong_to_origins_of_records():
    assert set(ORIGINS) <= {kind.origin for kind in KINDS.values()}


ENDINGS = ["boils.", "flies.", "sings.", "melts."]
MESSAGES = [{"role": "user", "content": "I can't sleep."}]


@pytest.mark.parametrize(
    ("name", "content", "kinds"),
    [
        (
            "hub.jsonl",
            as_lines([{"ctx": f"A man {i}", "endings": ENDINGS, "label": str(i % 4)} for i in range(6)]),
            {"questions"},
        ),
        (
            "text.jsonl",
            as_lines([{"context": f"A man {i}", "endings": ENDINGS, "label": i % 4} for i in range(6)]),
            {"questions"},
        ),
        ("talk.jsonl", as_lines([{"context": MESSAGES, "endings": ENDINGS, "label": 1}]), {"choices"}),
        ("either.csv", as_csv(NAMES, [[f"A man {i}", *"wxyz", i % 4 + 1] for i in range(8)]), {"questions", "choices"}),
        ("talk.csv", as_csv(NAMES, [[f"user: I am {i}.", *"wxyz", i % 4 + 1] for i in range(8)]), {"choices"}),
    ],
)
def test_texts_with_endings_go_where_they_can_be_used(home, tmp_path, name, content, kinds):
    reading = dropped(tmp_path, {name: content})
    path = tmp_path / "files" / name
    assert {file.kind for file in reading.elsewhere} == kinds
    assert not refused(reading)
    if "choices" in kinds:
        assert choices.read(path)
    if "questions" in kinds:
        assert question_files.keep(path, name)


def test_a_person_says_whether_numbers_are_options_or_figures(home, tmp_path):
    (prices,) = KINDS["unclear"].examples
    path = tmp_path / "prices.csv"
    path.write_bytes(prices.files()["prices.csv"])
    (tmp_path / "scratch").mkdir()
    drop = Drop([path], scratch=tmp_path / "scratch", name=lambda path: path.name)
    assert "--as questions or --as results" in refused(drop.read())["prices.csv"]
    (file,) = drop.read(meant={"prices.csv": "questions"}).elsewhere
    assert file.kind == "questions"
    (run,) = drop.read(meant={"": "results"}).runs
    assert run.run.scored.logits.shape == (6, 3)


def test_a_workbook_may_have_conversations(home, tmp_path):
    path = tmp_path / "talk.xlsx"
    rows = [[f"I feel lost {i}.", "Tell me more about it, whenever you like."] for i in range(3)]
    pd.DataFrame(rows, columns=["Context", "Response"]).to_excel(path, index=False)
    assert kind_of(path) == "conversation"
    assert len(conversation_files.parse(path.read_bytes(), path.name).conversations) == 3


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"annot,one,two\na,0.2,0.8\nb,0.9,0.1\nc,0.7,0.3\n", "no right answers"),
        (b"question,option_A,option_B\nWhich?,x,y\nWho?,x,z\n", "question bank without right answers"),
        (b"question,answer\nWhich is it?,It is red\nWho is it?,It is Ann\n", "neither options to choose from nor"),
        (b"name,place\nAnn,Rome\nBob,Oslo\n", "neither questions with options nor a model's figures"),
    ],
)
def test_a_table_says_what_it_is_and_lacks(home, tmp_path, content, sentence):
    reading = dropped(tmp_path, {"t.csv": content})
    assert reading.unmapped == ()
    assert sentence in refused(reading)["t.csv"]
    assert "--options" not in refused(reading)["t.csv"]


@pytest.mark.parametrize(
    "content",
    [
        b'{"chat-easy": 0.75, "chat-hard": 0.5, "model": "org/judge", "model_type": "Custom Classifier"}',
        b'{"stem": 1.0, "humanities": 0.5, "score": 0.7}',
        b'{"results": {"arc": {"acc,none": 0.5}}, "config_general": {"model_name": "m"}}',
        b'{"_step": 3, "eval/accuracy": 0.5}',
    ],
)
def test_scores_are_no_models_and_no_settings(home, tmp_path, content):
    assert "scores of a whole run" in refused(dropped(tmp_path, {"s.json": content}))["s.json"]


def test_numbers_that_count_from_0_or_1_are_asked_about(home, tmp_path):
    rows = b"".join(
        b'{"question": "Q%d?", "options": ["a%d", "b%d", "c%d"], "answer": 1}\n' % (i, i, i, i) for i in range(6)
    )
    (file,) = dropped(tmp_path, {"bank.jsonl": rows}).elsewhere
    assert (file.kind, file.undecided) == ("questions", True)
