"""Conversations as people have them: which files are read, what is left out and said, and what is refused."""

import gzip
import io
import json
from pathlib import Path

import pandas as pd
import pytest

from core.errors import InputError
from core.exchange.dropped.recognition import kind_of
from core.models.perplexity.conversation_files import parse, read
from core.models.perplexity.conversations import Message
from core.models.perplexity.roles import roles_of

pytestmark = pytest.mark.quick

HELP = "I can not sleep, and I worry about it."
REPLY = "That sounds hard, and I hear you. What keeps you awake?"
TALK = (Message("user", HELP), Message("assistant", REPLY))
OPENAI = [{"role": "user", "content": HELP}, {"role": "assistant", "content": REPLY}]
SHAREGPT = [{"from": "human", "value": HELP}, {"from": "gpt", "value": REPLY}]


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def workbook(**columns: list[str]) -> bytes:
    into = io.BytesIO()
    pd.DataFrame(columns).to_excel(into, index=False)
    return into.getvalue()


def parquet(**columns: list[object]) -> bytes:
    into = io.BytesIO()
    pd.DataFrame(columns).to_parquet(into)
    return into.getvalue()


ONE_TALK: dict[str, str | bytes] = {
    "therapist.txt": f"Therapist:  \nClient: {HELP}\n\nTherapist: {REPLY}\n",
    "bold.md": f"**User:** {HELP}\n\n**Assistant:** {REPLY}\n",
    "headings.txt": f"### Human: {HELP}\n### Assistant: {REPLY}\n",
    "brackets.txt": f"[Client]: {HELP}\n[Therapist]: {REPLY}\n",
    "llama3.txt": f"<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n{HELP}<|eot_id|>"
    f"<|start_header_id|>assistant<|end_header_id|>\n\n{REPLY}<|eot_id|>",
    "by_name.json": json.dumps({"first": {"messages": OPENAI}}),
    "texts.json": json.dumps([{"dialogue": [f"Client: {HELP}", f"Therapist: {REPLY}"]}]),
    "letters.txt": f"Q: {HELP}\nA: {REPLY}\n",
    "therapist_and_client.txt": f"C1: {HELP}\nT1: {REPLY}\n",
    "windows.txt": f"client: {HELP}\r\ntherapist: {REPLY}\r\n".encode("utf-16"),
    "marks_of_a_template.txt": f"<|im_start|>user\n{HELP}<|im_end|>\n<|im_start|>assistant\n{REPLY}<|im_end|>\n",
    "llama.jsonl": lines({"text": f"<s>[INST] {HELP} [/INST] {REPLY} </s>"}),
    "bom.jsonl": "\ufeff" + lines({"messages": OPENAI}),
    "indented.json": json.dumps({"messages": OPENAI}, indent=2),
    "messages.json": json.dumps(OPENAI),
    "sharegpt.json": json.dumps([{"id": "x", "conversations": SHAREGPT}]),
    "items.json": json.dumps([{"id": "x", "items": SHAREGPT}]),
    "gemini.json": json.dumps(
        {"contents": [{"role": "user", "parts": [{"text": HELP}]}, {"role": "model", "parts": [{"text": REPLY}]}]}
    ),
    "esconv.json": json.dumps(
        [
            {
                "emotion": "x",
                "dialog": [{"speaker": "seeker", "content": HELP}, {"speaker": "supporter", "content": REPLY}],
            }
        ]
    ),
    "export_of_claude.json": json.dumps(
        [
            {
                "name": "Sleep",
                "chat_messages": [{"sender": "human", "text": HELP}, {"sender": "assistant", "text": REPLY}],
            }
        ]
    ),
    "export_of_chatgpt.json": json.dumps(
        [
            {
                "title": "Sleep",
                "current_node": "c",
                "mapping": {
                    "a": {"message": None, "parent": None},
                    "b": {"message": {"author": {"role": "user"}, "content": {"parts": [HELP]}}, "parent": "a"},
                    "c": {"message": {"author": {"role": "assistant"}, "content": {"parts": [REPLY]}}, "parent": "b"},
                    "d": {"message": {"author": {"role": "assistant"}, "content": {"parts": ["No."]}}, "parent": "b"},
                },
            }
        ]
    ),
    "preferences.jsonl": lines({"chosen": f"\n\nHuman: {HELP}\n\nAssistant: {REPLY}", "rejected": "\n\nHuman: a"}),
    "prompts.jsonl": lines({"prompt": HELP, "completion": REPLY}),
    "two_lists.jsonl": lines({"prompt": OPENAI[:1], "completion": OPENAI[1:]}),
    "instructions.json": json.dumps([{"instruction": HELP, "input": "", "output": REPLY}]),
    "counselling.csv": f'Context,Response\n"{HELP}","{REPLY}"\n',
    "counselling.tsv": f"patient\tdoctor\n{HELP}\t{REPLY}\n",
    "forum.csv": f'questionID,questionTitle,questionText,topic,answerText,upvotes\n1,Sleep,"{HELP}",x,"{REPLY}",2\n',
    "a_message_a_row.csv": f'id,turn,interlocutor,utterance_text\n7,0,client,"{HELP}"\n7,1,therapist,"{REPLY}"\n',
    "a_column_of_lists.csv": f'id,conversations\nx,"{SHAREGPT}"\n',
    "a_column_of_texts.csv": f'text\n"<HUMAN>: {HELP}\n<ASSISTANT>: {REPLY}"\n',
    "lists.parquet": parquet(messages=[OPENAI]),
}
"""Files that hold :data:`TALK` and nothing else."""


def content(name: str) -> bytes:
    value = ONE_TALK[name]
    return value if isinstance(value, bytes) else value.encode()


@pytest.mark.parametrize("name", ONE_TALK)
def test_a_file_with_one_conversation(name, tmp_path):
    (conversation,) = parse(content(name), name).conversations
    assert conversation.messages == TALK
    assert conversation.name
    path = tmp_path / name
    path.write_bytes(content(name))
    assert read(path).conversations == (conversation,)
    assert kind_of(path) == "conversation"


def test_a_workbook_and_a_compressed_file():
    assert parse(workbook(Context=[HELP], Response=[REPLY]), "a.xlsx").conversations[0].messages == TALK
    (conversation,) = parse(gzip.compress(lines({"messages": OPENAI}).encode()), "my_talk.jsonl.gz").conversations
    assert (conversation.name, conversation.messages) == ("my talk", TALK)


def test_short_replies_of_people_are_conversations(tmp_path):
    for names, kind in (("Context,Response", True), ("patient,doctor", True), ("question,answer", False)):
        (tmp_path / "short.csv").write_text(f"{names}\nI feel tired.,Tell me more.\nI can not sleep.,Since when?\n")
        if kind:
            assert kind_of(tmp_path / "short.csv") == "conversation"
            assert len(read(tmp_path / "short.csv").conversations) == 2
        else:
            assert kind_of(tmp_path / "short.csv") != "conversation"


def test_a_history_comes_before_the_last_turn():
    row = {"instruction": "Work.", "output": "I see.", "history": [[HELP, REPLY]]}
    (talk, _) = parse(lines(row, row | {"instruction": "Sleep."}).encode(), "h.jsonl").conversations
    assert talk.messages == (*TALK, Message("user", "Work."), Message("assistant", "I see."))


def test_messages_of_trees_are_conversations_of_their_own():
    rows = [
        {"message_id": f"{t}{i}", "message_tree_id": t, "role": role, "text": text}
        for t in "ab"
        for i, (role, text) in enumerate([("prompter", HELP), ("assistant", REPLY)])
    ]
    assert [conversation.messages for conversation in parse(lines(*rows).encode(), "trees.jsonl").conversations] == [
        TALK,
        TALK,
    ]


def test_what_is_left_out_is_said():
    rows = [
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": HELP}, {"type": "image_url", "image_url": {"url": "x"}}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}, {"id": "2"}]},
        {"role": "tool", "content": "nothing"},
        {"role": "assistant", "content": REPLY},
        {"role": "user", "content": " "},
    ]
    parsed = parse(lines({"messages": rows}, {"messages": OPENAI[:1]}, {"messages": OPENAI}).encode(), "a.jsonl")
    assert [conversation.messages for conversation in parsed.conversations] == [TALK, TALK]
    assert [conversation.name for conversation in parsed.conversations] == ["a 1", "a 3"]
    assert parsed.read_as == (
        "2 conversations of 4 messages; 1 attachment, 1 conversation without a reply, 1 empty turn, 2 tool calls and 1 "
        "tool result left out; 1 system message left out, because the prompts compared take their place"
    )


def test_a_guessed_encoding_is_said():
    parsed = parse(f"client: Zürich? {HELP}\ntherapist: {REPLY}\n".encode("cp1252"), "a.txt")
    assert parsed.conversations[0].messages[0].text == f"Zürich? {HELP}"
    assert parsed.read_as == "1 conversation of 2 messages; read as Windows-1252"


def test_a_message_goes_on_over_lines_and_a_text_has_several_conversations():
    text = "user: Hello.\nNote: I am sad.\n\nVery.\nassistant: Why?\u2028Tell me.\n---\nuser: Hi\nassistant: Hello\n"
    first, second = parse(text.encode(), "a.txt").conversations
    assert first.messages == (
        Message("user", "Hello.\nNote: I am sad.\n\nVery."),
        Message("assistant", "Why?\u2028Tell me."),
    )
    assert [message.text for message in second.messages] == ["Hi", "Hello"]


def test_one_instruction_for_all_rows_is_a_system_message():
    rows = [{"instruction": "You are kind.", "input": f"{HELP} {i}", "output": REPLY} for i in range(2)]
    parsed = parse(json.dumps(rows).encode(), "a.json")
    assert [conversation.messages[0].text for conversation in parsed.conversations] == [f"{HELP} 0", f"{HELP} 1"]
    assert "2 system messages left out" in parsed.read_as


def test_names_come_from_the_file():
    rows = [{"title": "Sleep", "messages": OPENAI}, {"id": "t-2", "messages": OPENAI}, {"id": 3, "messages": OPENAI}]
    assert [conversation.name for conversation in parse(lines(*rows).encode(), "my_talks.jsonl").conversations] == [
        "Sleep",
        "t-2",
        "my talks 3",
    ]


def test_roles():
    assert roles_of(["Client", "Therapist", "system"]) == {
        "Client": "user",
        "Therapist": "assistant",
        "system": "system message",
    }
    assert roles_of(["H", "A"]) == {"H": "user", "A": "assistant"}
    with pytest.raises(InputError, match="unknown role 'X'"):
        roles_of(["X", "user"])


@pytest.mark.parametrize(
    ("text", "file", "sentence"),
    [
        ("assistant: Hi.\nuser: Hello.", "a.txt", "no message of the counselor"),
        ("user: Hello.", "a.txt", "no message of the counselor"),
        ("", "a.txt", "found an empty file"),
        ("user: Hi\nassistant: Hi\nAnna: Hello\nAnna: Hello", "a.txt", "a.txt, line 3: unknown role 'anna'"),
        ("user: Hi\nassistant:   ", "a.txt", "no message of the counselor"),
        ("Hello!\nuser: Hi\nassistant: Hello", "a.txt", "a.txt, line 1: it begins with no role"),
        ("Just a text.\nAnd more.", "a.txt", "found text that begins with no role: 'Just a text.'"),
        ("Just a text, with commas.\nAnd more.", "a.txt", "found the columns 'Just a text"),
        ("question,answer\n1 + 1?,2\n", "a.csv", "found the columns 'question, answer'"),
        ("{", "a.jsonl", "a.jsonl, line 1: it is not JSON"),
        ('{"role": "user"}', "a.jsonl", "an object with “messages”, a list"),
        ('{"messages": 3}', "a.jsonl", "“messages”, a list"),
        ('{"role": "user", "content": "a"}\n{"messages": []}', "a.jsonl", "keep to one kind"),
        ('["user"]', "a.jsonl", "a conversation is an object"),
        ('{"dialog": ["Hello", "Hi"]}', "a.json", "the messages in 'dialog' do not say who speaks"),
        ('{"question": "a?", "options": ["x", "y"], "answer": "A"}', "a.json", "found the fields 'question, options"),
        ('[{"role": "user", "content": "a"}, {"role": "boss", "content": "b"}]', "a.json", "unknown role 'boss'"),
        ("user: caf\udcc3\nassistant: Hello", "a.txt", "line 1: expected text in UTF-8, found byte 0xc3"),
    ],
)
def test_what_is_no_conversation_is_said(text, file, sentence):
    with pytest.raises(InputError) as raised:
        parse(text.encode("utf-8", "surrogateescape"), file)
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="can't be read"):
        read(Path(tmp_path / "none.txt"))
