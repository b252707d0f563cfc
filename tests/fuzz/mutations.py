"""Hypothesis strategies that change whole files: their bytes, the values in them, the members of their archives."""

import contextlib
import io
import json
import pickle
import zipfile
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from core.exchange.dropped.examples import zipped
from core.exchange.dropped.kind import Files

TOKENS: Sequence[bytes] = tuple(
    text.encode() if isinstance(text, str) else text
    for text in (
        *("²", "٣", "½", "\r", "\n", "\r\n", "\t", ",", ";", '"', "'", "\\", "\0", "\x1a", " ", "\u2028", "\ufeff"),
        *("NaN", "nan", "inf", "-inf", "1e999", "-1e-999", "1e5000", "9" * 400, "-0", "0x10", "1_000", "%", "5 %"),
        *("null", "true", "[]", "{}", "[", "{", "]", "}", "[[", "[" * 300, "{'a':" * 200, "()", "None", ":", "..", "/"),
        *("label", "p_A", "p_B", "A", "B", "Z", "model", "question", "=1+1", "<script>", "$x$", "sep=;", "# c\n"),
        *("Infinity", "\ud800".encode("utf-8", "surrogatepass"), b"\xff", b"\xff\xfe", b"\x80", b"PK\x03\x04", b"PAR1"),
        *(
            b"\x93NUMPY",
            b"\x1f\x8b",
            b"(n,)",
            b"|O",
            b"\x00" * 8,
            b"\xff" * 8,
            b"\x7f\xff\xff\xff",
            b"c__builtin__\neval\n",
        ),
    )
)
VALUES: Sequence[Any] = (
    *(None, True, False, 0, 1, -1, 2, 26, 10**9, 10**30, 10**400, 0.5, -0.0, 1e308, 1e-320, float("nan"), float("inf")),
    *(
        "",
        " ",
        "A",
        "Z",
        "²",
        "٣",
        "½",
        "nan",
        "1e999",
        "\r",
        "a\nb",
        "\ud800",
        "\0",
        "[0.1, 0.9]",
        "{'A': 1}",
        "x" * 5000,
    ),
    *([], {}, [[]], [None], [0.1, "x"], ["a"], [[1, 2], [3]], {"": None}, {"text": [1]}, {"A": 0.5}, [{}], [[{}]] * 3),
)
PLACES = st.integers(0, 1 << 24)
BYTE_CHANGES = st.lists(
    st.tuples(
        st.sampled_from(("insert", "replace", "delete", "repeat", "flip", "cut")),
        PLACES,
        PLACES,
        st.sampled_from(TOKENS),
    ),
    max_size=5,
)
VALUE_CHANGES = st.lists(
    st.tuples(st.sampled_from(("set", "delete", "repeat", "rename", "wrap")), PLACES, st.sampled_from(VALUES)),
    min_size=1,
    max_size=4,
)


def files(seeds: Sequence[Files]) -> st.SearchStrategy[dict[str, bytes]]:
    """Drops made of whole ones: one file of them is changed, or each of several."""
    return st.builds(
        _changed, st.sampled_from(list(seeds)), st.booleans(), BYTE_CHANGES, VALUE_CHANGES, PLACES, st.integers(0, 9)
    )


def _changed(
    seed: Files,
    by_value: bool,
    in_bytes: Sequence[tuple[str, int, int, bytes]],
    in_values: Sequence[tuple[str, int, Any]],
    place: int,
    dice: int,
) -> dict[str, bytes]:
    changed = dict(seed)
    name = list(changed)[place % len(changed)]
    changed[name] = mutated(changed[name], in_bytes, in_values if by_value else (), place)
    if dice == 0 and len(changed) > 1:
        del changed[name]
    if dice == 1:
        changed[f"other/{name}"] = seed[name]
    return changed


def mutated(
    content: bytes,
    in_bytes: Sequence[tuple[str, int, int, bytes]],
    in_values: Sequence[tuple[str, int, Any]],
    place: int,
) -> bytes:
    """A file's content, changed in its values if there are such changes and it has values, else in its bytes."""
    if content.startswith(b"PK") and place % 8:  # else the archive's own bytes
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        name = list(members)[place // 8 % len(members)]
        return zipped(members | {name: mutated(members[name], in_bytes, in_values, place // 8)})
    if in_values:
        with contextlib.suppress(Exception):  # a change that can't be written is left out
            return _in_values(content, in_values)
    for change in in_bytes:
        content = _in_bytes(content, *change)
    return content


def _in_bytes(content: bytes, what: str, at: int, length: int, token: bytes) -> bytes:
    at %= len(content) + 1
    end = min(len(content), at + length % 64)
    if what == "insert":
        return content[:at] + token + content[at:]
    if what == "replace":
        return content[:at] + token + content[at + len(token) :]
    if what == "delete":
        return content[:at] + content[end:]
    if what == "repeat":
        return content[:end] + content[at:end] * (1 + length % 5) + content[end:]
    if what == "flip" and at < len(content):
        return content[:at] + bytes([content[at] ^ (1 << length % 8)]) + content[at + 1 :]
    return content[:at] if what == "cut" else content


def _in_values(content: bytes, changes: Sequence[tuple[str, int, Any]]) -> bytes:
    """The content with values of it changed. Raises where it has none, or they can't be written."""
    if content.startswith(b"PAR1"):
        return _in_frame(pd.read_parquet(io.BytesIO(content)), changes)
    if content[:1] == b"\x80":
        return pickle.dumps(_in_tree(pickle.loads(content), changes))
    if content[:1] == b"{" and content.count(b"\n") > 1:
        rows = [json.loads(line) for line in content.splitlines()]
        return b"".join(json.dumps(row).encode() + b"\n" for row in _listed(_in_tree(rows, changes)))
    if content[:1] in (b"{", b"["):
        return json.dumps(_in_tree(json.loads(content), changes)).encode()
    lines = content.split(b"\n")
    for _, at, value in changes:
        cells = lines[at % len(lines)].split(b",")
        cells[at // 7 % len(cells)] = str(value).encode("utf-8", "surrogatepass")
        lines[at % len(lines)] = b",".join(cells)
    return b"\n".join(lines)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _in_tree(tree: Any, changes: Sequence[tuple[str, int, Any]]) -> Any:
    for what, at, value in changes:
        places = list(_places(tree))
        if not places:
            return tree
        inside, key = places[at % len(places)]
        if what == "delete":
            del inside[key]
        elif what == "repeat" and isinstance(inside, list):
            inside.insert(key, inside[key])
        elif what == "rename" and isinstance(inside, dict):
            inside[str(value)] = inside.pop(key)
        elif what == "wrap":
            inside[key] = [inside[key]]
        else:
            inside[key] = deepcopy(value)  # a later change must not change the value itself
    return tree


def _places(tree: Any) -> Any:
    """Every place in lists and objects, as what it is in and its key there."""
    for key, value in list(tree.items() if isinstance(tree, dict) else enumerate(tree)):
        yield tree, key
        if isinstance(value, (dict, list)):
            yield from _places(value)


def _in_frame(frame: pd.DataFrame, changes: Sequence[tuple[str, int, Any]]) -> bytes:
    for what, at, value in changes:
        name = list(frame.columns)[at % len(frame.columns)]
        if what == "delete":
            frame = frame.drop(columns=[name])
        elif what == "rename":
            frame = frame.rename(columns={name: str(value)})
        elif what == "repeat":
            frame = pd.concat([frame, frame.iloc[:1]])
        elif what == "wrap":
            frame[name] = [[cell] for cell in frame[name]]
        else:
            frame[name] = [value if i == at % len(frame) or at % 3 else cell for i, cell in enumerate(frame[name])]
    into = io.BytesIO()
    frame.to_parquet(into)
    return into.getvalue()
