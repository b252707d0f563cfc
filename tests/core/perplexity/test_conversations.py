from __future__ import annotations

import json
import re

import pytest

from core.errors import InputError
from core.perplexity import conversations
from core.perplexity.conversations import Conversation, Message

MESSAGES = {  # messages of a file and counselor messages after the opening, counted with grep
    "career_dissatisfaction": (23, 11),
    "embracing_a_healthy_lifestyle": (43, 21),
    "handling_setbacks": (17, 8),
    "parental_overprotectedness": (31, 15),
    "study_abroad_decision": (31, 15),
}


@pytest.mark.quick
def test_text_and_json_lines_say_the_same(tmp_path):
    text = "assistant: Hello.\nuser: I am: sad\n\nASSISTANT: Why?\n"
    rows = [("assistant", "Hello."), ("user", "I am: sad"), ("assistant", "Why?")]
    messages = [{"role": role, "content": content} for role, content in rows]
    whole = json.dumps({"name": "one", "messages": messages})
    single = "\n".join(json.dumps(message) for message in messages)
    (a,) = conversations.parse(text, "my_talk.txt")
    (b,) = conversations.parse(whole, "x.jsonl")
    (c,) = conversations.parse(single, "x.jsonl")
    assert a.messages == b.messages == c.messages == tuple(Message(*row) for row in rows)
    assert (a.name, b.name, c.name) == ("my talk", "one", "x")
    assert a.digest == b.digest
    assert conversations.from_json(json.loads(whole)) == b
    assert conversations.from_json(a.to_json()) == a


@pytest.mark.quick
def test_what_ships_is_read():
    found = conversations.bundled()
    assert len(found) == 9
    assert all(conversation.messages[0].role == "assistant" for conversation in found)
    assert len({conversation.digest for conversation in found}) == 9


@pytest.mark.parametrize("name", MESSAGES)
def test_the_published_conversations(real_data, name):
    (found,) = conversations.read(real_data / "counselling" / f"{name}.txt")
    replies = sum(message.role == "assistant" for message in found.messages[1:])
    assert (len(found.messages), replies) == MESSAGES[name]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("content", "file", "sentence"),
    [
        ("assistant: Hi.\nuser: Hello.", "a.txt", "no message of the counselor"),
        ("user: Hello.", "a.txt", "no message of the counselor"),
        ("", "a.txt", "no message of the counselor"),
        ("user: Hi\ntherapist: Hello", "a.txt", "a.txt, line 2: unknown role 'therapist'"),
        ("user: Hi\nassistant:   ", "a.txt", "a.txt, line 2: a message of the assistant is empty"),
        ("user: Hi\nWhat?", "a.txt", "a.txt, line 2: it begins with no role"),
        ("system: Be kind.\nuser: Hi\nassistant: Hello", "a.txt", "the prompts compared take its place"),
        ("{", "a.jsonl", "a.jsonl, line 1: it is not JSON"),
        ('{"role": "user"}', "a.jsonl", "has no text in “content”"),
        ('{"messages": 3}', "a.jsonl", "“messages”, a list"),
        ('{"role": "user", "content": "a"}\n{"messages": []}', "a.jsonl", "no message of the counselor"),
        ('["user"]', "a.jsonl", "a conversation is an object"),
    ],
)
def test_what_is_no_conversation_is_said(content, file, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        conversations.parse(content, file)


@pytest.mark.quick
def test_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"user: \xff")
    with pytest.raises(InputError, match="not UTF-8 text"):
        conversations.read(path)
    with pytest.raises(InputError, match="can't be read"):
        conversations.read(tmp_path / "none.txt")


@pytest.mark.quick
def test_the_name_does_not_count_and_every_word_does():
    messages = (Message("user", "a"), Message("assistant", "b"))
    one = Conversation("one", messages)
    assert one.digest == Conversation("two", messages).digest
    assert one.digest != Conversation("one", (*messages, Message("user", "c"))).digest
