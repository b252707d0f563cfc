"""Texts: where they come from, what counts in them, and what is refused."""

import json

import pytest

from core.errors import InputError
from core.models.adapters import texts
from core.models.adapters.texts import IGNORED, Text, Tokenized, batch_of, load_texts, split, tokenize


class Letters:
    """A tokenizer with a token a character."""

    def __call__(self, texts, **how):
        return {"input_ids": [list(map(ord, text)) for text in texts]}


@pytest.mark.parametrize("name", texts.BUNDLED)
def test_bundled_texts_are_there(name):
    loaded = load_texts(name)
    assert len(loaded) > 50
    assert all(text.prompt and text.answer.startswith(" ") for text in loaded)


def test_answers_count_and_padding_does_not():
    rows = tokenize([Text("ab", "cd"), Text("", "xyz")], Letters(), context=10)
    assert rows == [Tokenized((97, 98, 99, 100), 2), Tokenized((120, 121, 122), 1)]
    batch = batch_of(rows)
    assert batch.labels.tolist() == [[IGNORED, IGNORED, 99, 100], [IGNORED, 121, 122, IGNORED]]
    assert batch.mask.tolist() == [[1, 1, 1, 1], [1, 1, 1, 0]]


def test_long_texts_lose_the_beginning_of_their_prompt_first():
    (row,) = tokenize([Text("abcdef", "gh")], Letters(), context=4)
    assert row == Tokenized(tuple(map(ord, "efgh")), 2)
    (row,) = tokenize([Text("ab", "cdefgh")], Letters(), context=4)
    assert row == Tokenized(tuple(map(ord, "bcde")), 1)


def test_texts_without_a_token_to_judge_are_refused():
    with pytest.raises(InputError, match="no text has a token to judge"):
        tokenize([Text("", "a")], Letters(), context=8)


def test_equal_texts_are_on_one_side_and_the_seed_draws():
    texts = [Text("p", f" {i % 30}") for i in range(90)]
    train, test = split(texts, seed=1)
    assert len(test) == 6
    assert not set(train) & set(test)
    assert split(texts, seed=1) == (train, test) != split(texts, seed=2)
    for share in (0, 1):
        with pytest.raises(InputError, match="must lie in"):
            split(texts, seed=0, share=share)
    with pytest.raises(InputError, match="can't be split"):
        split(texts[:1], seed=0)


def test_a_persons_files(tmp_path):
    rows = [
        {"instruction": "Add.", "input": "1 + 1", "output": "2"},
        {"instruction": "Name it.", "input": "", "output": ""},
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    loaded = load_texts(str(path))
    assert loaded[0] == Text("### Instruction:\nAdd.\n1 + 1\n\n### Response:\n", "2")
    assert "Name it.\n\n###" in loaded[1].prompt
    (tmp_path / "plain.txt").write_text("One.\n\nTwo\nlines.\n\n\n")
    assert load_texts(str(tmp_path / "plain.txt")) == [Text("", "One."), Text("", "Two\nlines.")]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("odd.jsonl", '{"a": 1}', "expected instruction or prompt or question and output"),
        ("hole.jsonl", '{"prompt": "a", "answer": "b"}\n{"prompt": "", "answer": "c"}', "row 2: expected prompt"),
        ("empty.txt", "\n\n", "holds no text"),
        ("gone.txt", None, "can't be read"),
    ],
)
def test_files_that_can_not_be_used_are_said(tmp_path, name, content, says):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=says):
        load_texts(str(tmp_path / name))


def test_an_unknown_set_is_said():
    with pytest.raises(InputError, match="choose from trivia, bank, conversations, alpaca"):
        load_texts("magic")
