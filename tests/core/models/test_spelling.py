"""Which bytes of a text each token spells, where tokens hold parts of characters, shown differently by servers."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from core.models.perplexity.layout import Laid
from core.models.perplexity.server_scoring import first_scored, pieces_of
from core.models.perplexity.tokens import _words
from core.models.server.replies import echoed, echoed_rows
from core.models.spelling import spans_of
from core.models.token_ids import token_ids

SAMPLE = "“quoted” – 日本語 日本語 naïve été 😟😟 👩\u200d👧 e\u0301 한국어 🏳\ufe0f…"


def _byte_tokenizer() -> tuple[PreTrainedTokenizerFast, dict[int, bytes]]:
    """A tokenizer of bytes and of a few pairs of them, which may be parts of characters; the bytes of its tokens."""
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=275, initial_alphabet=sorted(alphabet), show_progress=False)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator([SAMPLE] * 4, trainer)
    # A printable byte is shown as itself, and the others are shown as the characters from 256 on.
    shown = {chr(byte): byte for byte in range(256) if chr(byte) in alphabet}
    rest = [byte for byte in range(256) if chr(byte) not in alphabet]
    shown |= {chr(256 + i): byte for i, byte in enumerate(rest)}
    raw = {i: bytes(map(shown.__getitem__, token)) for token, i in tokenizer.get_vocab().items()}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer), raw


TOKENIZER, RAW = _byte_tokenizer()


def _named(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(chr(byte) if byte < 0x80 else f"\\x{byte:02x}" for byte in raw)


def _when_whole(tokens: list[bytes]) -> list[str]:
    """Nothing until a character is whole."""
    shown, held_bytes = [], b""
    for raw in tokens:
        held_bytes += raw
        try:
            shown.append(held_bytes.decode())
            held_bytes = b""
        except UnicodeDecodeError:
            shown.append("")
    return shown


SHOWN = {
    "as a mark": lambda tokens: [raw.decode("utf-8", "replace") for raw in tokens],
    "by the names of its bytes": lambda tokens: [_named(raw) for raw in tokens],
    "when it is whole": _when_whole,
}


def echo(tokens: list[str], **more):
    values = [None, *(-float(i) for i in range(1, len(tokens)))]
    logprobs = {"tokens": tokens, "token_logprobs": values, "top_logprobs": [{}] * len(tokens)}
    return {"choices": [{"logprobs": logprobs, **more}]}


TEXTS = st.text(st.sampled_from(SAMPLE + " abc.\n\ufffd"), min_size=1, max_size=20)


@pytest.mark.parametrize("how", SHOWN)
@given(before=TEXTS, said=TEXTS, front=st.sampled_from([[], ["<s>"]]), after=st.booleans())
@example(before="", said="“A” 日本", front=["<s>"], after=True)
@example(before="user: 日本 😟", said="😟😟", front=["<s>"], after=False)
@example(before="日" * 300, said="本", front=[], after=True)
def test_a_servers_tokens_are_those_that_are_scored_here(how, before, said, front, after):
    before = f"{before}\nassistant: "
    (ids,) = token_ids(TOKENIZER, [before + said])
    (here,) = _words([Laid(before + said, len(before), chat=True)], TOKENIZER)
    tokens = front + SHOWN[how]([RAW[i] for i in ids]) + ["�"] * after
    reply = echo(tokens, text="�" if after else before + said)
    there = echoed(reply, text=before, continuation=said)
    first = first_scored(there)
    assert [-value for value in there.log_p[first:]] == [float(i + len(front)) for i in range(here.first, len(ids))]
    assert "".join(pieces_of(there)) == said
    if how == "by the names of its bytes":  # the others may leave open where in a character a token begins
        assert pieces_of(there) == here.pieces
    rows = echoed_rows(reply, text=before + said, most=0)
    assert "".join(row["text"] for row in rows) == "".join(front) + before + said


def test_single_bytes_of_a_long_text_are_placed():
    text = "日本語" * 2_000
    spans = spans_of(["<s>", *"�" * len(text.encode())], text, needed=0)
    assert spans is not None
    assert spans[:4] == [(0, 0), (0, 1), (1, 2), (2, 3)]


def test_tokens_of_two_bytes_and_one_are_placed():
    text = "日本" * 500 + " a 語"
    tokens = ["�", "�"] * 1_000 + [" a", " ", "�", "�", "�"]
    spans = spans_of(tokens, text, needed=0)
    assert spans is not None
    assert spans[:3] == [(0, 2), (2, 3), (3, 5)]
    assert spans[-3:] == [(3003, 3004), (3004, 3005), (3005, 3006)]


def test_a_mark_that_is_in_the_text_is_itself():
    assert spans_of(["a", "�", "b"], "a\ufffdb", needed=0) == [(0, 1), (1, 4), (4, 5)]


def test_options_that_begin_with_other_bytes_do_not_share_a_token():
    replies = [
        echoed(echo(["Answer", ":", " �", "�", "�", "!"]), text="Answer:", continuation=f" {mark}") for mark in "“‘"
    ]
    assert [reply.tokens[2:] for reply in replies] == [
        (r"bytes: \xe2", r"bytes:\x80", rf"bytes:\x{last}") for last in ("9c", "98")
    ]
