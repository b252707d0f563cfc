"""Tokens behind a text that the tokenizer appends by itself are not scored; those in front of it stay."""

import ast
from pathlib import Path

import pytest
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from core.errors import InputError
from core.models.adapters.texts import Text, tokenize
from core.models.encoding import Encoder
from core.models.model_sources import ModelSource
from core.models.perplexity.conversations import Conversation, Message
from core.models.perplexity.prompts import EMPTY
from core.models.perplexity.request import Request
from core.models.perplexity.tokens import encode
from core.models.token_ids import appended, token_ids, token_spans
from core.models.tokenizers import load_tokenizer
from core.records import Prompt
from tests.syntax import parsed

CORE = Path(__file__).resolve().parents[3] / "core"
WORDS = ["<unk>", "<s>", "</s>", "[CLS]", "[SEP]", "over", "Answer", ":", "A", "B", "C", "user", "assistant", "ran"]
ID = {word: i for i, word in enumerate(WORDS)}
SPECIAL = ("<s>", "</s>", "[CLS]", "[SEP]")


def words(single: str | list[str], *, special: tuple[str, ...] = SPECIAL, **parts) -> PreTrainedTokenizerFast:
    """A token a word, with what a template adds to a text."""
    tokenizer = Tokenizer(models.WordLevel(ID, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(list(special))
    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(
                single=single, special_tokens=[(word, i) for word, i in ID.items() if word in str(single).split()]
            ),
        ]
    )
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>")


@pytest.mark.parametrize(
    ("single", "front", "behind"),
    [
        ("$A", [], 0),
        ("<s> $A", ["<s>"], 0),
        ("$A </s>", [], 1),
        ("<s> $A </s>", ["<s>"], 1),
        ("[CLS] $A [SEP]", ["[CLS]"], 1),
        ("</s> $A </s>", ["</s>"], 1),
        ("$A [SEP] [CLS]", [], 2),
        ("<s> $A over", ["<s>"], 1),  # not a special token
        ("<s> $A </s> </s> </s>", ["<s>"], 3),
    ],
)
def test_only_what_is_appended_is_taken_back(single, front, behind):
    tokenizer = words(single)
    assert appended(tokenizer) == behind
    texts = ["Answer : A", "over", "A </s>", "</s>", "ran </s> </s>", ""]
    expected = [(*map(ID.get, front), *map(ID.get, text.split())) for text in texts]
    assert token_ids(tokenizer, texts) == expected
    assert token_ids(tokenizer, texts, special=False) == [row[len(front) :] for row in expected]
    for text, row, (ids, spans) in zip(texts, expected, token_spans(tokenizer, texts), strict=True):
        assert ids == row
        assert [text[first:last] for first, last in spans] == [""] * len(front) + text.split()


def test_tokens_that_can_not_be_taken_back_are_refused(tmp_path):
    always = words("$A", normalizer=normalizers.Replace(Regex(r"\z"), " over"))
    assert always("A", add_special_tokens=False).tokens() == ["A", "over"]
    for tokenizer in (always, words("<s> $A </s> $A")):
        tokenizer.save_pretrained(tmp_path)
        with pytest.raises(InputError, match="adds tokens of its own to a text in a way that Hedge can't take back"):
            load_tokenizer(ModelSource("words", str(tmp_path), is_hub=False))


def test_unknown_words_are_no_end():
    unknown = words("$A", special=())
    assert {row[-1] for row in token_ids(unknown, ["Question ?", "what"])} == {ID["<unk>"]}


QUESTION = Prompt("1", "ran over\nAnswer :", 3)
TEXTS = Prompt("2", "ran over\nAnswer :", 2, continuations=(" A over", " B"))
BARE = Prompt("3", "", 2, continuations=("A over", "B"))


@pytest.mark.parametrize("single", ["<s> $A", "$A"])
def test_every_use_of_a_tokenizer_reads_the_same_with_and_without_an_end(single):
    plain, ended = words(single), words(f"{single} </s>")
    rows = [
        Encoder(tokenizer, context=40, vocabulary=None).rows([QUESTION, TEXTS, BARE]) for tokenizer in (plain, ended)
    ]
    assert rows[0] == rows[1]
    assert rows[0][0].options == tuple((ID[letter],) for letter in "ABC")
    assert rows[0][1].options == ((ID["A"], ID["over"]), (ID["B"],))
    assert [Encoder(tokenizer, context=40, vocabulary=None).shown(TEXTS) for tokenizer in (plain, ended)] == [
        (TEXTS.text, len(rows[0][1].context))
    ] * 2
    for text in (Text("ran over", " A B"), Text("", "ran over A")):
        trained = [tokenize([text], tokenizer, context=40) for tokenizer in (plain, ended)]
        assert trained[0] == trained[1]
    assert tokenize([Text("ran over", " A B")], ended, context=40)[0].tokens[-2:] == (ID["A"], ID["B"])
    talk = Conversation("t", (Message("user", "ran over"), Message("assistant", "A B ran")))
    parts = list(Request((EMPTY,), (talk,)).parts())
    laid = [encode(parts, tokenizer, mode="standard", context=0)[0][0][0] for tokenizer in (plain, ended)]
    assert laid[0] == laid[1]
    assert laid[0].tokens[laid[0].first :] == (ID["A"], ID["B"], ID["ran"])


def test_a_tokenizer_is_called_in_one_place():
    calls = {
        str(path.relative_to(CORE))
        for path in CORE.rglob("*.py")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).split(".")[-1] in {"tokenizer", "encode_plus", "batch_encode_plus"}
    }
    assert calls == {"models/token_ids.py"}
