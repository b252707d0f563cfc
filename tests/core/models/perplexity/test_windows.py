import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.models.perplexity import conversations
from core.models.perplexity.conversation_files import read
from core.models.perplexity.conversations import Conversation, Message
from core.models.perplexity.prompts import EMPTY, FITTING, UNFITTING
from core.models.perplexity.request import Request
from core.models.perplexity.windows import windows

roles = st.lists(st.sampled_from(["user", "assistant"]), min_size=2, max_size=14).filter(
    lambda roles_drawn: "assistant" in roles_drawn[1:]
)


def slow_context(messages: list[Message], number: int, exchanges: int | None) -> list[Message]:
    """Go back from a message: its request, then exchange by exchange; one ends where an answer stands before it."""
    at = number
    while at > 0 and messages[at - 1].role == "user":
        at -= 1
    taken = 0
    while at > 0 and (exchanges is None or taken < exchanges):
        at -= 1  # the answer
        while at > 0 and messages[at - 1].role == "user":
            at -= 1
        taken += 1
    return messages[at:number]


@pytest.mark.quick
@given(drawn_roles=roles, exchanges=st.one_of(st.none(), st.integers(0, 5)))
def test_contexts_are_those_of_a_slow_reference(drawn_roles, exchanges):
    messages = [Message(role, f"{i}") for i, role in enumerate(drawn_roles)]
    windows_made = windows(Conversation("c", tuple(messages)), exchanges)
    wanted = [i for i, message in enumerate(messages) if message.role == "assistant" and i]
    assert [window.number for window in windows_made] == wanted
    for window in windows_made:
        assert list(window.context) == slow_context(messages, window.number, exchanges)
        assert window.reply == messages[window.number].text


@pytest.mark.quick
def test_two_exchanges_and_the_request_by_hand():
    talk = [("assistant", "o"), *[(role, f"{role[0]}{i}") for i in range(1, 5) for role in ("user", "assistant")]]
    windows_made = windows(Conversation("c", tuple(Message(role, text) for role, text in talk)))
    assert ["".join(f"{m.text} " for m in window.context).split() for window in windows_made] == [
        ["o", "u1"],
        ["o", "u1", "a1", "u2"],
        ["u1", "a1", "u2", "a2", "u3"],
        ["u2", "a2", "u3", "a3", "u4"],
    ]


def test_the_published_conversations_lose_no_message(real_data):
    for path in sorted((real_data / "counselling").glob("*.txt")):
        (conversation,) = read(path).conversations
        messages = list(conversation.messages)
        windows_made = windows(conversation)
        assert [w.number for w in windows_made] == [i for i, m in enumerate(messages) if m.role == "assistant" and i]
        assert all(list(w.context) == slow_context(messages, w.number, 2) for w in windows_made)


@pytest.mark.quick
def test_a_request_goes_prompt_by_prompt_and_counts_each_thing_once():
    talk = conversations.bundled()[:2]
    request = Request((FITTING, UNFITTING, FITTING), (*talk, talk[0]))
    parts = list(request.parts())
    assert [(part.prompt.name, part.source) for part in parts] == [
        (prompt.name, conversation.digest) for prompt in (FITTING, UNFITTING) for conversation in talk
    ]
    assert Request.from_json(request.to_json()) == request
    assert request.digest != Request((FITTING, UNFITTING), talk, exchanges=3).digest


@pytest.mark.quick
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"prompts": ()}, "at least one system prompt"),
        ({"conversations": ()}, "at least one conversation"),
        ({"mode": "loud"}, "unknown mode 'loud'"),
        ({"exchanges": -1}, "counted from 0, got -1"),
    ],
)
def test_a_request_for_nothing_is_refused(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        Request(**({"prompts": (EMPTY,), "conversations": conversations.bundled()[:1]} | arguments))
