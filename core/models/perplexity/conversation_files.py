"""Conversations from files as people have them: text with a role before each message, JSON, and tables.

JSON has a list of messages for each conversation, as OpenAI's fine-tuning files and ShareGPT do, or a message a line. A
table has a message in each row with its role, a column for each side, or a column of whole conversations. What is no
message is left out and counted: system messages (the prompts compared take their place), tool calls, empty turns.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from core.errors import InputError, plain
from core.models.perplexity.conversations import COUNSELOR, PERSON, Conversation, Message, located
from core.models.perplexity.roles import SYSTEM_MESSAGE, is_role, plain_role, roles_of
from core.storage.json_text import loads
from core.tables.cells import value_of
from core.tables.encodings import COMPRESSIONS, LINE_END, Source, opened
from core.tables.read_as import counted
from core.tables.safe_read import LARGEST_JSON, check_size, reason, shown
from core.tables.tabular import Sheet, source_sheets

MESSAGES = (
    *("messages", "conversations", "conversation", "items", "dialog", "dialogue", "dialogs", "dialogues", "turns"),
    *("chat", "chat_messages", "utterances", "transcript", "contents", "history", "chosen", "text", "body"),
)
"""Fields with all messages of a conversation."""
ROLE = (
    *("role", "from", "speaker", "sender", "author", "interlocutor", "user_type", "speaker_role", "participant"),
    *("type",),
)
TEXT = (
    *("content", "value", "text", "utterance", "message", "body", "utterance_text", "parts", "sentence", "transcript"),
    *("msg", "turn"),
)
NAME = ("name", "title", "questiontitle", "conversation_name", "topic_title")
IDS = (
    *("id", "conversation_id", "conv_id", "dialogue_id", "dialog_id", "transcript_id", "session_id", "chat_id", "uuid"),
    *("message_tree_id", "conversation", "session", "dialogue", "transcript", "questionid", "question_id"),
)
"""Fields that name a conversation, or say in which one a message is."""
ASKED = (
    *("context", "questiontext", "question_text", "patient", "client", "user", "human", "prompt", "question"),
    *("instruction", "input", "query", "seeker", "post", "person", "message", "user_message", "patient_message"),
    *("description", "user_input"),
)
REPLIES = (
    *("response", "answertext", "answer_text", "therapist", "counselor", "counsellor", "doctor", "assistant", "gpt"),
    *("bot", "completion", "answer", "output", "reply", "psychologist", "supporter", "ai", "model_response", "chatbot"),
    *("assistant_response", "bot_response", "responses", "answers", "model"),
)
"""Columns of a table that has a column for each side, in the order of preference."""
SYSTEM = ("system", "system_prompt", "instruction")
NO_TALK = frozenset(
    (
        *("label", "gold", "options", "choices", "correct", "is_correct", "acc", "score", "logits", "logprobs"),
        *("target", "correctness", "juror", "ground_truth", "reference", "prediction", "p_true", "a", "b", "c", "d"),
        *("endings", "resps", "doc_id", "subject", "explanation", "rationale", "choice", "answer_idx", "answerkey"),
        *("cop",),
    )
)
"""Columns that a table of questions, answers or results has, and one of conversations has not."""
CELLS = 20
"""Cells of a column that are looked at to see whether they are whole conversations."""
WORDS = 6
"""The mean words of a reply from which two columns of questions and answers are conversations."""
FEWEST_WORDS = 2
"""Those from which two columns are that have names of people who talk, or those of counseling data."""
QUIZ = {"question", "prompt", "query", "input"}
COUNSELING = {("context", "response"), ("questiontext", "answertext")}
LINE = re.compile(
    r"^[ \t>]*(?P<role>[<\[|(*#_ ]{0,6}[^\W\d_][\w .'/-]{0,30}?[>\]|)*_ ]{0,6})(?:[:：]|(?<=\|>))[*_]{0,2}[ \t]*"
)
"""The beginning of a message in text: a role, perhaps with marks around it, and a colon."""
CHAT_ML = re.compile(
    r"(?:<\|im_start\|>|<\|start_header_id\|>)\s*(\w+)(?:<\|end_header_id\|>)?\s*\n(.*?)(?:<\|im_end\|>|<\|eot_id\|>|\Z)",
    re.DOTALL,
)
"""A message between the marks of ChatML or of Llama 3."""
CHAT_MARKS = ("<|im_start|>", "<|begin_of_text|>", "<|start_header_id|>", "[INST]", "<s>")
"""How a text with such marks begins."""
BRACKETED = re.compile(rb"\[[A-Za-z][\w ]{0,30}\]\s*:")
"""The beginning of a text whose roles stand in brackets, which is no JSON."""
LLAMA = re.compile(r"(\[/?INST\]|</?s>)")
"""Marks of Llama 2 before a message of the person, before one of the model, and around both."""
BETWEEN = re.compile(
    r"^\s*(?:[-=*_~]{3,}|#+\s.*|(?:conversation|dialogue|session|chat)\s+\S{1,20}:?)\s*$", re.IGNORECASE
)
"""A line between two conversations of a text."""
NO_REPLY = "conversation without a reply"
EXPECTED = (
    "expected a conversation (lines such as “user: …” and “assistant: …”, JSON with “messages”, or a table with a "
    "column for each side)"
)
MANY = {NO_REPLY: "conversations without a reply", "note on reasoning": "notes on reasoning"}
"""The plurals of what is left out, where it takes more than an s."""
MOST_CONVERSATIONS = 100_000
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class ReadConversations:
    """The conversations of a file, and the line that says how it was read and what was left out."""

    conversations: tuple[Conversation, ...]
    read_as: str


def read(path: Path) -> ReadConversations:
    """The conversations of a file; :class:`InputError` says in one sentence why it has none."""
    check_size(path)
    try:
        return _read(path, None)
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from error


def parse(content: bytes, name: str) -> ReadConversations:
    """The conversations in the content of the file that a person knows as ``name``."""
    if not content.strip():
        raise InputError(f"{name}: {EXPECTED}, found an empty file")
    return _read(Path(name), content)


def is_messages(values: Any) -> bool:
    """Whether a JSON value is a list of messages with known roles."""
    if not isinstance(values, list) or not values or not all(isinstance(message, dict) for message in values):
        return False
    raw = [_raw_message(message) for message in values]
    return all(message is not None and is_role(message.role) for message in raw)


def is_conversation(row: Any) -> bool:
    """Whether a JSON object is a conversation, or one message of it."""
    if not isinstance(row, dict):
        return False
    if isinstance(row.get("messages"), list) and not row.keys() & {"request", "custom_id"}:
        return True
    if isinstance(row.get("mapping"), dict) and "current_node" in row:
        return True
    lower = _lower(row)
    if lower.keys() & {"label", "options", "choices", "resps", "endings"}:
        return False
    whole = _whole(lower)
    if whole and (isinstance(whole, str) or is_messages(whole)):
        return True
    return is_messages([row])


def is_conversations(rows: Sequence[Any]) -> bool:
    """Whether a JSON list is of conversations that are lists of messages, or of messages."""
    return bool(rows) and (is_messages(rows[0]) or is_messages(list(rows)))


def holds_conversations(document: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a conversation, or has a list of conversations."""
    request, reply = _sides(_lower(document))
    if request and all(isinstance(_lower(document)[side], str) for side in (request, reply)):
        return len(_lower(document)[reply].split()) >= WORDS
    if _are_named(document):
        return True
    lists = [value for value in document.values() if isinstance(value, list) and value]
    return is_conversation(document) or (len(lists) == 1 and (is_conversation(lists[0][0]) or is_messages(lists[0][0])))


def _are_named(document: Mapping[str, Any]) -> bool:
    """Whether a JSON object has conversations by their names."""
    inner = list(document.values())
    if not inner or _lower(document).keys() & {*MESSAGES, *ASKED, *REPLIES, *TEXT}:
        return False
    return all(is_messages(value) or (isinstance(value, dict) and is_conversation(value)) for value in inner)


def is_talk(text: Any) -> bool:
    """Whether a text has messages of both sides, each with its role before it."""
    if not isinstance(text, str):
        return False
    if CHAT_ML.search(text) or ("[INST]" in text and "[/INST]" in text):
        return True
    sides = {plain_role(mark["role"]) for line in LINE_END.split(text) if (mark := LINE.match(line))}
    return _both_sides(filter(is_role, sides)) or _both_sides(side for side in sides if len(side) == 1)


def is_conversation_text(lines: Sequence[str]) -> bool:
    """Whether lines of text, none of them empty, are a conversation: the first begins with a role, behind the name of a
    column of conversations if there is one, and both sides speak.

    Settings such as ``model: x`` have a word or two on each line.
    """
    if lines[0].strip('" ').lower() in MESSAGES and len(lines) > 1:
        lines = [line.lstrip('"') for line in lines[1:]]
    first = LINE.match(lines[0])
    if lines[0].lstrip().startswith(CHAT_MARKS):
        return is_talk("\n".join(lines))
    if not first or not is_talk("\n".join(lines)):
        return False
    spoken = [line[mark.end() :].split() for line in lines if (mark := LINE.match(line))]
    canonical = {COUNSELOR, PERSON} <= {plain_role(mark["role"]) for line in lines if (mark := LINE.match(line))}
    return canonical or sum(map(len, spoken)) >= 3 * len(spoken)


def is_conversation_table(sheet: Sheet) -> bool:
    """Whether a table has conversations: messages with their roles, a column for each side, or whole conversations."""
    try:
        return bool(_table_shape(sheet))
    except (InputError, UnicodeDecodeError):
        return False


# ---------------------------------------------------------------- files


@dataclass(frozen=True, slots=True)
class _Raw:
    """A message before its role is known, and what beside its text is left out."""

    role: str
    text: str
    where: str = ""
    left_out: tuple[str, ...] = ()


@dataclass(slots=True)
class _Talk:
    """The messages of a conversation, its name and its place in the file."""

    messages: list[_Raw]
    name: str = ""
    place: str = ""


def _read(path: Path, content: bytes | None) -> ReadConversations:
    try:
        return _read_source(path, content)
    except UnicodeDecodeError as error:  # in cells of a damaged Parquet file
        raise InputError(f"{path}: {EXPECTED}, found a damaged file ({reason(error)})") from error


def _read_source(path: Path, content: bytes | None) -> ReadConversations:
    with opened(path, content) as source:
        head = source.head(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
        if head.startswith((b"PAR1", b"PK")):
            talks = _of_sheet(source_sheets(source)[0])
        else:
            if source.head(LARGEST_JSON + 1)[LARGEST_JSON:]:
                raise InputError(f"{path}: expected at most {LARGEST_JSON / 1e6:g} MB of text, found more; split it")
            if not source.guessed:
                source.decode()
            text = source.file.read().decode("utf-8-sig")
            if "\0" in text:
                raise InputError(f"{path}: {EXPECTED}, found a binary file")
            if head[:1] in (b"{", b"[") and not BRACKETED.match(head):
                talks = _of_json(text, path)
            elif is_talk(text) or LINE.match(text.lstrip()):
                talks = _of_text(text, str(path))
            else:
                source.file.seek(0)
                talks = _of_sheet(_sheet(source, text))
        return _conversations(talks, path, source.guessed)


def _sheet(source: Source, text: str) -> Sheet:
    try:
        return source_sheets(source)[0]
    except InputError as error:
        rows = _cells(text)
        if all(len(row) <= 1 for row in rows) and len(rows) > 1 and is_talk("".join(rows[1])):
            import pyarrow as pa

            cells = [row[0] for row in rows[1:] if row]
            return Sheet(source.path, pa.table({rows[0][0] if rows[0] else "text": cells}), "csv")
        first = next((line for line in LINE_END.split(text) if line.strip()), "")
        raise InputError(f"{source.path}: {EXPECTED}, found text that begins with no role: {shown(first)}") from error


def _cells(text: str) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error:
        return []


def _of_text(text: str, where: str) -> list[_Talk]:
    """The conversations of a text. A line without a role continues the message before it."""
    if marked := [_Raw(role, words.strip(), where) for role, words in CHAT_ML.findall(text)]:
        return [_Talk(marked)]
    if "[INST]" in text and "[/INST]" in text:
        return [_Talk(_llama_messages(text, where))]
    lines = LINE_END.split(text)
    known = _roles_in(lines, where)
    talks, between = [_Talk([])], False
    parts: list[str] = []
    begin, role = 0, ""

    def end() -> None:
        if role:
            talks[-1].messages.append(_Raw(role, "\n".join(parts).strip(), f"{where}, line {begin}"))

    for number, line in enumerate(lines, 1):
        mark = LINE.match(line)
        if mark and plain_role(mark["role"]) in known:
            end()
            if between and talks[-1].messages:
                talks.append(_Talk([]))
            role, begin, between = mark["role"], number, False
            parts[:] = [line[mark.end() :]]
        elif BETWEEN.match(line) and _next_is_role(lines, number, known):
            end()
            between, role = True, ""
        elif role:
            parts.append(line)
        elif line.strip() and not BETWEEN.match(line):
            raise InputError(
                f"{where}, line {number}: it begins with no role; a line is “{COUNSELOR}: …” or “{PERSON}: …”, found "
                f"{shown(line)}"
            )
    end()
    return talks


def _llama_messages(text: str, where: str) -> list[_Raw]:
    messages, parts = [], LLAMA.split(text)
    for mark, words in zip(parts[1::2], parts[2::2], strict=True):
        role = {"[INST]": PERSON, "[/INST]": COUNSELOR}.get(mark, "")
        system, end, rest = words.partition("<</SYS>>")
        if role and end:
            messages.append(_Raw("system", system.replace("<<SYS>>", "").strip(), where))
        if role:
            messages.append(_Raw(role, (rest if end else words).strip(), where))
    return messages


def _next_is_role(lines: Sequence[str], number: int, known: Iterable[str]) -> bool:
    """Whether the next line with words, behind line ``number``, begins with a role."""
    line = next((line for line in lines[number : number + 5] if line.strip()), "")
    mark = LINE.match(line)
    return mark is not None and plain_role(mark["role"]) in known


def _roles_in(lines: Sequence[str], where: str) -> set[str]:
    """The roles with which lines begin. A name that is no role but begins many lines is an error."""
    begins = Counter(plain_role(mark["role"]) for line in lines if (mark := LINE.match(line)))
    names = set(begins)
    known = {name for name in names if is_role(name)}
    if {COUNSELOR, PERSON} <= known:
        known &= {COUNSELOR, PERSON, "system", "tool", "developer", "function"}
    elif not _both_sides(known) and _both_sides(letters := {name for name in names if len(name) == 1}):
        known |= letters
    spoken = sum(begins[name] for name in known)
    other = next((name for name in names - known if begins[name] >= max(2, spoken / 5) and len(name) > 1), "")
    if begins and (other or not known):
        name = other or next(iter(begins), "")
        at = next(
            i for i, line in enumerate(lines, 1) if (mark := LINE.match(line)) and plain_role(mark["role"]) == name
        )
        with located(f"{where}, line {at}"):
            roles_of([name])
    return known


def _both_sides(names: Iterable[str]) -> bool:
    try:
        return {COUNSELOR, PERSON} <= set(roles_of(names).values())
    except InputError:
        return False


# ---------------------------------------------------------------- JSON


def _of_json(text: str, path: Path) -> list[_Talk]:
    try:
        values = loads(text)
    except ValueError as error:
        lines = [(n, line) for n, line in enumerate(re.split(r"\r?\n", text), 1) if line.strip()]
        if len(lines) == 1:
            raise InputError(f"{path}, line {lines[0][0]}: it is not JSON ({reason(error)})") from None
        rows = []
        for number, line in lines:
            try:
                rows.append((f"{path}, line {number}", loads(line)))
            except ValueError as wrong:
                raise InputError(f"{path}, line {number}: it is not JSON ({reason(wrong)})") from None
        return _of_rows(rows, path)
    if isinstance(values, dict) and not is_conversation(values) and _are_named(values):
        values = [
            {"name": name, **(talk if isinstance(talk, dict) else {"messages": talk})} for name, talk in values.items()
        ]
    if isinstance(values, dict) and not is_conversation(values):
        inner = [value for value in values.values() if isinstance(value, list) and value]
        if len(inner) == 1 and isinstance(inner[0][0], (dict, list)):
            values = inner[0]
    if is_messages(values):
        return [_Talk([raw for message in values if (raw := _raw_message(message, str(path)))])]
    rows = values if isinstance(values, list) else [values]
    return _of_rows(
        [(f"{path}, conversation {n}" if len(rows) > 1 else str(path), row) for n, row in enumerate(rows, 1)], path
    )


def _of_rows(rows: Sequence[tuple[str, Any]], path: Path) -> list[_Talk]:
    single = [isinstance(row, dict) and not _whole(_lower(row)) and _raw_message(row) is not None for _, row in rows]
    if rows and all(single):
        return _grouped(rows)
    if any(single):
        raise InputError(f"{path} has single messages and whole conversations; keep to one kind")
    instructions = {_text(_lower(row).get("instruction")) for _, row in rows if isinstance(row, dict)}
    talks, shared = [], len(rows) > 1 and len(instructions) == 1
    for where, row in rows:
        if isinstance(row, list) and row and all(isinstance(message, dict) for message in row):
            talks.append(_Talk([_message_of(message, where) for message in row], place=where))
        elif isinstance(row, dict):
            talks.append(_of_object(row, where, shared=shared))
        elif isinstance(row, str) and is_talk(row):
            talks += _of_text(row, where)
        else:
            raise InputError(
                f"{where}: a conversation is an object with “messages”, a list, found {type(row).__name__} {shown(row)}"
            )
    return talks


def _grouped(rows: Sequence[tuple[str, Mapping[str, Any]]]) -> list[_Talk]:
    """The conversations of messages, by the id that says in which one each of them is."""
    lower = [_lower(row) for _, row in rows]
    spoken = {name for name in ROLE if name in lower[0]} | {name for name in TEXT if name in lower[0]}
    ids = next(
        (
            name
            for name in IDS
            if name in lower[0] and name not in spoken and len({str(row.get(name)) for row in lower}) < len(rows)
        ),
        "",
    )
    talks: dict[str, _Talk] = {}
    for (where, row), values in zip(rows, lower, strict=True):
        name = str(values.get(ids, "")) if ids else ""
        talks.setdefault(name, _Talk([], _shown_name(name))).messages.append(_message_of(row, where))
    return list(talks.values())


def _of_object(row: Mapping[str, Any], where: str, *, shared: bool = False) -> _Talk:
    lower = _lower(row)
    name = _name_of(lower)
    if isinstance(lower.get("mapping"), dict):
        return _Talk(_of_tree(lower, where), name, where)
    values = _whole(lower)
    if isinstance(values, str):
        return _Talk([raw for talk in _of_text(values, where) for raw in talk.messages], name, where)
    if values:
        before = [_Raw("system", str(lower["system"]), where)] if _text(lower.get("system")) else []
        return _Talk([*before, *(_message_of(message, where) for message in values)], name, where)
    sides = [lower.get("prompt"), lower.get("completion")]
    if all(is_messages(side) for side in sides):
        return _Talk([_message_of(message, where) for side in sides for message in side], name, where)  # type: ignore[union-attr]
    request, reply = _sides(
        {name for name, value in lower.items() if isinstance(value, str)} | (lower.keys() & NO_TALK)
    )
    listed = next((name for name in MESSAGES if isinstance(lower.get(name), list)), "")
    if not request and listed and lower[listed]:
        raise InputError(f"{where}: the messages in {listed!r} do not say who speaks; give each of them a “role”")
    if not request:
        raise InputError(
            f"{where}: a conversation is an object with “messages”, a list, found the fields "
            f"{shown(', '.join(map(str, row)))}"
        )
    return _Talk(_pair(lower, request, reply, where, shared=shared), name, where)


def _whole(lower: Mapping[str, Any]) -> list[Any] | str:
    """All messages of a conversation in one field of an object: a list of objects, or a text with roles; else empty."""
    for name in MESSAGES:
        values = lower.get(name)
        values = value_of(values) if isinstance(values, str) else values
        values = values.get("messages") if isinstance(values, dict) else values
        if isinstance(values, list) and values and all(isinstance(message, dict) for message in values):
            if any(_raw_message(message) for message in values):
                return values
            continue
        if isinstance(values, list) and values and all(isinstance(line, str) and LINE.match(line) for line in values):
            values = "\n".join(values)
        if isinstance(values, str) and is_talk(values):
            return values
    return []


def _lower(row: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key).strip().lower(): value for key, value in row.items()}


def _of_tree(row: Mapping[str, Any], where: str) -> list[_Raw]:
    """The messages of an export of ChatGPT, which is a tree: those from the last one back to the first."""
    mapping, node, messages = row["mapping"], row.get("current_node"), []
    for _ in range(len(mapping)):
        entry = mapping.get(node) if isinstance(node, str) else None
        if not isinstance(entry, dict):
            break
        if isinstance(entry.get("message"), dict):
            messages.append(_message_of(entry["message"], where))
        node = entry.get("parent")
    return messages[::-1]


def _sides(names: Collection[str]) -> tuple[str, str]:
    """Of a file's fields, that of the person and that of the reply; empty if there are none, or fields of a bank."""
    request = next((name for name in ASKED if name in names), "")
    reply = next((name for name in REPLIES if name in names and name != request), "")
    if not (request and reply) or set(names) & NO_TALK or {"context", "question"} <= set(names):
        return "", ""
    return request, reply


def _pair(lower: Mapping[str, Any], request: str, reply: str, where: str, *, shared: bool) -> list[_Raw]:
    """The messages of a row with a field for each side; ``shared``: all rows have the same instruction."""
    question = _text(lower.get(request))
    more = _text(lower.get("input")) if request == "instruction" and reply != "input" else ""
    system = [
        _Raw("system", _text(lower[name]), where) for name in SYSTEM[:2] if _text(lower.get(name)) and name != request
    ]
    if more and shared:
        system, question = [_Raw("system", question, where)], more
    elif more:
        question = f"{question}\n\n{more}"
    history = lower.get("history")
    pairs = [pair for pair in history if isinstance(pair, list) and len(pair) == 2] if isinstance(history, list) else []
    before = [_Raw((PERSON, COUNSELOR)[i], _text(pair[i]), where) for pair in pairs for i in range(2)]
    return [*system, *before, _Raw(PERSON, question, where), _Raw(COUNSELOR, _text(lower.get(reply)), where)]


def _name_of(lower: Mapping[str, Any]) -> str:
    for name in (*NAME, *IDS):
        value = lower.get(name)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip():
            return _shown_name(str(value))
    return ""


def _shown_name(name: str) -> str:
    """A name from a file as people see it; empty for a number, which says less than the file's name."""
    text = plain(" ".join(name.split()), one_line=True)[:LONGEST_NAME]
    return "" if text.isdecimal() else text


def _raw_message(values: Any, where: str = "") -> _Raw | None:
    """A message of JSON; None for what is none."""
    if not isinstance(values, dict):
        return None
    lower = _lower(values)
    role = next((lower[name] for name in ROLE if isinstance(lower.get(name), (str, dict))), None)
    role = role.get("role") if isinstance(role, dict) else role
    present = [name for name in TEXT if name in lower]
    calls = [name for name in ("tool_calls", "function_call") if lower.get(name)]
    if not isinstance(role, str) or not (present or calls):
        return None
    content = next((lower[name] for name in present if lower[name] not in (None, "", [])), None)
    left_out = ["tool call" for name in calls for _ in (lower[name] if isinstance(lower[name], list) else [0])]
    if isinstance(content, dict):
        content = content.get("parts", content.get("text", ""))
    parts = content if isinstance(content, list) else [content]
    words = []
    for part in parts:
        text = part.get("text") if isinstance(part, dict) else part
        kind = str(part.get("type", "text")) if isinstance(part, dict) else "text"
        if isinstance(text, str) and kind in ("text", "input_text", "output_text"):
            words.append(text)
        elif isinstance(part, dict):
            left_out.append(
                "tool call" if kind == "tool_use" else "tool result" if kind == "tool_result" else "attachment"
            )
        elif part is not None:
            return None
    return _Raw(role, "\n".join(words).strip(), where, tuple(left_out))


def _message_of(values: Any, where: str) -> _Raw:
    raw = _raw_message(values, where)
    if raw is None:
        role = values.get("role") if isinstance(values, dict) else None
        if isinstance(role, str):
            raise InputError(f"{where}: a message of the {shown(role)} has no text in “content”")
        raise InputError(f"{where}: a message is an object with “role” and “content”, found {shown(values)}")
    return raw


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


# ---------------------------------------------------------------- tables


def _table_shape(sheet: Sheet) -> tuple[str, ...]:
    """What a table's columns are: ("messages", role, text), ("sides", asked, reply), ("whole", column), or nothing."""
    lower = {name.strip().lower(): name for name in reversed(sheet.names)}
    role = next((lower[name] for name in ROLE if name in lower), "")
    text = next((lower[name] for name in TEXT if name in lower and lower[name] != role), "")
    if role and text and not lower.keys() & NO_TALK and _both_sides(set(filter(None, sheet.texts(role)))):
        return "messages", role, text
    for name in MESSAGES:
        if name in lower:
            column = sheet.nested.get(lower[name]) or sheet.table[lower[name]].slice(0, CELLS).to_pylist()
            cells = [cell for cell in column[:CELLS] if cell not in (None, "")]
            values = [value_of(cell) for cell in cells]
            if values and all(is_messages(value) or is_talk(value) for value in values):
                return "whole", lower[name]
    request, reply = _sides(lower)
    if not request:
        return ()
    words = [len(cell.split()) for cell in sheet.texts(lower[reply]) if cell]
    talk = (request, reply) in COUNSELING or (request not in QUIZ and is_role(request) and is_role(reply))
    least = FEWEST_WORDS if talk else WORDS
    return ("sides", request, reply) if words and sum(words) >= least * len(words) else ()


def _of_sheet(sheet: Sheet) -> list[_Talk]:
    shape = _table_shape(sheet)
    rows = [(sheet.where(i), row) for i, row in enumerate(sheet.rows())] if len(shape) else []
    if not shape:
        raise InputError(f"{sheet.path}: {EXPECTED}, found the columns {shown(', '.join(sheet.names))}")
    if shape[0] == "whole":
        return [_of_object(row, where) for where, row in rows if row[shape[1]] not in (None, "")]
    if shape[0] == "messages":
        return _grouped([(where, row) for where, row in rows])
    _, request, reply = shape
    lower = [_lower(row) for _, row in rows]
    shared = len({_text(row.get("instruction")) for row in lower}) == 1 and len(lower) > 1
    return [
        _Talk(_pair(row, request, reply, where, shared=shared), _name_of(row), where)
        for (where, _), row in zip(rows, lower, strict=True)
    ]


# ---------------------------------------------------------------- conversations


def _conversations(talks: Sequence[_Talk], path: Path, guessed: str) -> ReadConversations:
    """The conversations with their names. A file with several leaves out those that can't be used, and says so."""
    if len(talks) > MOST_CONVERSATIONS:
        raise InputError(
            f"{path}: expected at most {MOST_CONVERSATIONS:,} conversations, found {len(talks):,}; split it"
        )
    roles = _file_roles(talks)
    is_packed = any(compression.ending == path.suffix for compression in COMPRESSIONS.values())
    stem = PurePath(path.stem if is_packed else path.name).stem.replace("_", " ")
    left_out: Counter[str] = Counter()
    conversations: list[Conversation] = []
    first: InputError | None = None
    for number, talk in enumerate(talks, 1):
        messages, others = [], Counter[str]()
        for raw in talk.messages:
            others.update(raw.left_out)
            role = roles[raw.role]
            if role not in (COUNSELOR, PERSON):
                others[role] += 1
            elif raw.text.strip():
                messages.append((role, raw))
            elif not raw.left_out:
                others["empty turn"] += 1
        name = talk.name or (stem if len(talks) == 1 else f"{stem} {number}")
        try:
            conversations.append(Conversation(name, tuple(_message(role, raw) for role, raw in messages)))
            left_out += others
        except InputError as error:
            sentence = str(error) if str(error).startswith(str(path)) else f"{path}: {error}"
            first = first or InputError(sentence)
            left_out[NO_REPLY if not messages or len(messages) < 2 or "no message" in sentence else ""] += 1
    if not conversations:
        raise first or InputError(f"{path}: {EXPECTED}, found none")
    if left_out.pop("", 0) and first:
        raise first
    return ReadConversations(tuple(conversations), _read_as(conversations, left_out, guessed))


def _message(role: str, raw: _Raw) -> Message:
    with located(raw.where):
        return Message(role, raw.text.strip())


def _file_roles(talks: Sequence[_Talk]) -> dict[str, str]:
    """The role of each name of the file. An unknown name is reported with the first message that has it."""
    first: dict[str, str] = {}
    for talk in talks:
        for raw in talk.messages:
            first.setdefault(raw.role, raw.where)
    try:
        return roles_of(first)
    except InputError:
        for name, where in first.items():
            with located(where):
                if not is_role(name):
                    roles_of([name])
        raise


def _read_as(conversations: Sequence[Conversation], left_out: Mapping[str, int], guessed: str) -> str:
    """How a file was read: "3 conversations of 12 messages; 3 system messages and 1 empty turn are left out"."""
    messages = sum(len(conversation.messages) for conversation in conversations)
    parts = [f"{counted(len(conversations), 'conversation')} of {counted(messages, 'message')}"]
    counts = [
        counted(n, what, MANY.get(what, "")) for what, n in sorted(left_out.items()) if n and what != SYSTEM_MESSAGE
    ]
    if counts:
        listed = " and ".join(filter(None, (", ".join(counts[:-1]), counts[-1])))
        parts.append(f"{listed} left out")
    if systems := left_out.get(SYSTEM_MESSAGE, 0):
        parts.append(f"{counted(systems, SYSTEM_MESSAGE)} left out, because the prompts compared take their place")
    if guessed:
        parts.append(f"read as {guessed}")
    return "; ".join(parts)
