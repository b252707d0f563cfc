"""The words that a page shows, as AppTest holds it: labels, options, texts, tables, charts and components.

What stands in an expander or in a block of code is left out: there an id may be named.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Element

IDS = re.compile(r"(?<![\w./-])(qa|rc|ci|drs|ds|csqa|float32|float16|bfloat16|int8|int4|cloze(?!\)))(?![\w./-])")
"""Ids for which there is a title: tasks, precisions and the form that scores the options' texts."""
FOLDED = ("expander", "code", "json")
WORDS = ("label", "body", "help", "placeholder", "alt", "delta", "html_content", "options", "value", "default")
SAID = ("name", "title", "label", "said", "text", "words", "caption", "model", "heading", "sentence", "note")
"""Keys of a component's data whose values are shown to people."""


def bare_ids(app: AppTest) -> list[str]:
    """Each text outside details that holds an id: the kind of element, and the text around the id."""
    return [
        f"{kind}: …{text[max(0, match.start() - 60) : match.end() + 60]}…"
        for kind, text in page_words(app.main)
        for match in IDS.finditer(text)
    ]


def page_words(block: Block) -> Iterator[tuple[str, str]]:
    """The kind and the words of each element in a block."""
    for child in block.children.values():
        if child.type in FOLDED:
            continue
        yield from ((child.type, text) for text in _words(child))
        if isinstance(child, Block):
            yield from page_words(child)


def _words(element: Element | Block) -> Iterator[str]:
    proto = element.proto
    for name in WORDS:
        yield from _texts(getattr(proto, name, ()))
    if element.type == "dataframe":
        yield from _table_words(proto)
    elif element.type == "vega_lite_chart":
        yield from _chart_words(proto)
    elif element.type == "bidi_component" and (proto.json or proto.mixed.json):
        yield from _said(json.loads(proto.json or proto.mixed.json), SAID)


def _frame(content: bytes) -> pd.DataFrame:
    return pa.ipc.open_stream(content).read_pandas()


def _table_words(proto: Any) -> Iterator[str]:
    """The headings and texts of the columns that a table shows."""
    frame = _frame(proto.arrow_data.data)
    config = json.loads(proto.columns or "{}")
    for name in list(proto.column_order) or [str(column) for column in frame.columns]:
        options = config.get(name) or {}
        if options.get("hidden"):
            continue
        yield str(options.get("label") or name)
        if name in frame:
            yield from _texts(frame[name].tolist())


def _chart_words(proto: Any) -> Iterator[str]:
    """The titles of a chart, and the texts of its data that an axis, a legend, a label or a hover shows."""
    spec = json.loads(proto.spec)
    yield from _said(spec, ("title", "values", "domain"))
    shown = {
        channel["field"]
        for channel in _objects(spec)
        if channel.get("type") in ("nominal", "ordinal") and "field" in channel
    }
    for data in [*([proto.data] if proto.data.data else []), *(dataset.data for dataset in proto.datasets)]:
        frame = _frame(data.data)
        for name in shown & set(frame.columns):
            yield from _texts(frame[name].tolist())


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(each)


def _said(value: Any, keys: tuple[str, ...]) -> Iterator[str]:
    """All texts under any of these keys."""
    for fields in _objects(value):
        for key in keys:
            yield from _texts(fields.get(key))


def _texts(value: Any) -> Iterator[str]:
    """The texts in a value of a message: one, a list of them, or the options of a group of buttons."""
    if isinstance(value, str):
        if value:
            yield value.replace("\\", "")  # markdown's escapes
    elif hasattr(value, "content"):
        yield from _texts(value.content)
    elif hasattr(value, "__getitem__") and not isinstance(value, (dict, bytes, bytearray)):
        for each in value:
            yield from _texts(each)
