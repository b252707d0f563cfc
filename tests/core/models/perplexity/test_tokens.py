"""From windows to tokens: the system prompt is in every one, the pieces are the message, templates are taken as they
are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from core.errors import InputError
from core.models.perplexity import conversations, layout
from core.models.perplexity.conversations import Conversation, Message
from core.models.perplexity.layout import FOLDED, NO_DEFAULT, NO_TEMPLATE, REFUSED
from core.models.perplexity.prompts import EMPTY, FITTING, SystemPrompt
from core.models.perplexity.request import Request
from core.models.perplexity.tokens import beginnings, encode
from core.settings import ASSETS
from pocket_world.chat.template import TEMPLATE

STRICT = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate') }}{% endif %}"
    "<|{{ m['role'] }}|>\n{{ m['content'] | trim }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
"""As Gemma's: no system prompt, and users first."""
DEAF = (
    "{% for m in messages if m['role'] != 'system' %}<|{{ m['role'] }}|>\n{{ m['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
"""Leaves the system prompt out without a word."""
PARTS = (
    "{% for m in messages %}<|{{ m['role'] }}|>\n{% for c in m['content'] %}{{ c['text'] }}{% endfor %}<|end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
"""Takes the texts as lists of parts, and writes nothing for a text itself."""
LAST = (
    "{% if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}{{ messages[-1].content }}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
"""Leaves all messages out but the last one."""
BROKEN = "{{ raise_exception('never') }}"


@pytest.fixture
def tokenizer():
    return AutoTokenizer.from_pretrained(ASSETS / "models" / "pocket-1m")


def encoded(tokenizer, *, prompt=FITTING, template=None, mode="standard", context=0, talk=None):
    tokenizer.chat_template = template
    request = Request((prompt,), (talk or conversations.bundled()[0],), mode=mode)
    parts = list(request.parts())
    (encoded_window,), notes = encode(parts, tokenizer, mode=mode, context=context)
    return parts[0], encoded_window, notes


@pytest.mark.parametrize("template", [None, TEMPLATE, STRICT, DEAF, BROKEN])
@pytest.mark.parametrize("mode", ["standard", "published"])
def test_the_prompt_is_in_every_window_and_the_message_is_what_is_scored(tokenizer, template, mode):
    part, encoded_window, notes = encoded(tokenizer, template=template, mode=mode)
    for window, words in zip(part.windows, encoded_window, strict=True):
        text = tokenizer.decode(words.tokens[: words.first], skip_special_tokens=False)
        assert FITTING.text in text
        scored = "".join(words.pieces)
        if mode == "published":  # the role is scored, the last token is not
            whole = f"assistant: {window.reply}"
            assert whole.startswith(scored)
            assert 0 < len(whole) - len(scored) < 12
        else:
            assert scored == window.reply
        assert len(words.pieces) == len(words.tokens) - words.first
    expected = {None: (NO_TEMPLATE,), TEMPLATE: (), STRICT: (FOLDED,), DEAF: (FOLDED,), BROKEN: (REFUSED,)}[template]
    assert notes == (() if mode == "published" else expected)


def test_the_bundled_template_is_laid_out_as_it_is_written(tokenizer):
    _, encoded_window, _ = encoded(tokenizer, template=TEMPLATE)
    text = tokenizer.decode(encoded_window[0].tokens, skip_special_tokens=False)
    assert text.startswith(f"<|system|> {FITTING.text}<|assistant|> ")
    assert "<|end|><|user|> " in text
    assert text.endswith(conversations.bundled()[0].messages[2].text)


@given(words=st.lists(st.text(min_size=1, max_size=12).filter(str.strip), min_size=1, max_size=6))
def test_pieces_make_up_any_text(words):
    tokenizer = AutoTokenizer.from_pretrained(ASSETS / "models" / "pocket-1m")
    reply = " ".join(" ".join(words).split()).strip() or "a"
    talk = Conversation("c", (Message("user", "Hi."), Message("assistant", reply)))
    _, (encoded_window,), _ = encoded(tokenizer, talk=talk, prompt=EMPTY)
    assert "".join(encoded_window.pieces) == reply


def test_what_a_model_can_not_read_is_dropped_from_the_oldest_message_on(tokenizer):
    part, whole, _ = encoded(tokenizer)
    longest = max(len(words.tokens) - 1 for words in whole)
    part, encoded_window, _ = encoded(tokenizer, context=longest - 1)
    dropped = [words.dropped for words in encoded_window]
    assert sum(map(bool, dropped)) >= 1
    for window, words, before in zip(part.windows, encoded_window, whole, strict=True):
        assert len(words.tokens) - 1 <= longest - 1
        assert words.pieces == before.pieces
        assert FITTING.text in tokenizer.decode(words.tokens)
        if words.dropped:
            assert window.context[0].text not in tokenizer.decode(words.tokens)


def test_a_prompt_longer_than_the_context_is_said(tokenizer):
    prompt = SystemPrompt("Long", "Be kind. " * 200)
    with pytest.raises(
        InputError, match=r"system prompt 'Long' and message 3 alone are [\d,]+ tokens, the model reads 512"
    ):
        encoded(tokenizer, prompt=prompt, context=512)


def test_unknown_mode():
    with pytest.raises(InputError, match="unknown mode"):
        layout.layouts("loud", None)


def test_a_tokenizer_without_offsets_scores_the_same_tokens(tokenizer):
    _, fast, _ = encoded(tokenizer)

    class Slow:
        is_fast = False
        chat_template = None

        def __call__(self, *arguments, **named):
            return tokenizer(*arguments, **named)

        def decode(self, tokens):
            return tokenizer.decode(tokens)

    _, slow, _ = encoded(Slow())
    assert [words.tokens for words in slow] == [words.tokens for words in fast]
    # The line ends with a space, which belongs to the message's first token: the two agree about that one too.
    assert [words.first for words in slow] == [words.first for words in fast]


@pytest.mark.parametrize(
    ("template", "note"), [(PARTS, ()), (LAST, (REFUSED,)), ({"rag": TEMPLATE, "tools": TEMPLATE}, (NO_DEFAULT,))]
)
def test_a_template_must_write_every_message(tokenizer, template, note):
    part, encoded_window, notes = encoded(tokenizer, template=template)
    assert notes == note
    for window, words in zip(part.windows, encoded_window, strict=True):
        text = tokenizer.decode(words.tokens, skip_special_tokens=False)
        assert all(message.text in text for message in window.context)
        assert text.endswith(window.reply)


def test_messages_are_scored_outside_a_block_of_reasoning_that_a_template_opens(tokenizer):
    begins = "{% if add_generation_prompt %}<|assistant|>"
    assert begins in TEMPLATE
    _, expected, _ = encoded(tokenizer, template=TEMPLATE)
    _, encoded_window, notes = encoded(tokenizer, template=TEMPLATE.replace(begins, f"{begins}<think>\n"))
    assert encoded_window == expected
    (note,) = notes
    assert note.startswith("The model's chat template begins each answer with reasoning (<think>); the messages are")


@pytest.mark.parametrize("template", [STRICT, DEAF, LAST, BROKEN])
def test_an_ending_begins_in_the_layout_in_which_messages_are_scored(tokenizer, template):
    part, encoded_window, _ = encoded(tokenizer, template=template)
    laid = beginnings([window.context for window in part.windows], tokenizer, prompt=FITTING.text)
    for begun, words in zip(laid, encoded_window, strict=True):
        text = tokenizer.decode(words.tokens[: words.first], skip_special_tokens=False)
        assert begun.text.removesuffix(" ") == text
