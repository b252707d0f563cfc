import json

import pytest

from core.models.perplexity import conversations
from core.models.perplexity.conversation_files import parse, read
from core.models.perplexity.conversations import Conversation, Message

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
    (a,) = parse(text.encode(), "my_talk.txt").conversations
    (b,) = parse(whole.encode(), "x.jsonl").conversations
    (c,) = parse(single.encode(), "x.jsonl").conversations
    assert a.messages == b.messages == c.messages == tuple(Message(*row) for row in rows)
    assert (a.name, b.name, c.name) == ("my talk", "one", "x")
    assert a.digest == b.digest
    assert conversations.from_json(json.loads(whole)) == b
    assert conversations.from_json(a.to_json()) == a


@pytest.mark.quick
def test_what_ships_is_read():
    bundled = conversations.bundled()
    assert len(bundled) == 9
    assert all(conversation.messages[0].role == "assistant" for conversation in bundled)
    assert len({conversation.digest for conversation in bundled}) == 9


@pytest.mark.parametrize("name", MESSAGES)
def test_the_published_conversations(real_data, name):
    (all_conversations,) = read(real_data / "counselling" / f"{name}.txt").conversations
    replies = sum(message.role == "assistant" for message in all_conversations.messages[1:])
    assert (len(all_conversations.messages), replies) == MESSAGES[name]


@pytest.mark.quick
def test_the_name_does_not_count_and_every_word_does():
    messages = (Message("user", "a"), Message("assistant", "b"))
    conversation = Conversation("one", messages)
    assert conversation.digest == Conversation("two", messages).digest
    assert conversation.digest != Conversation("one", (*messages, Message("user", "c"))).digest
