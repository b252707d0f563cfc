"""The fields of a message are counted in its bytes, as protobuf would read them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.serving import messages
from core.errors import InputError

pytestmark = pytest.mark.quick
BackMsg = messages.message_type("BackMsg")


def test_fields_are_counted_with_those_in_them():
    message = BackMsg()
    state = message.rerun_script  # 1
    state.page_name, state.query_string = "x" * 300, "a=b"  # 2
    state.context_info.timezone = "UTC"  # 2
    state.widget_states.widgets.add(id="w", int_value=-1)  # 1 for the list, 1 for the widget, 2 in it
    numbers = state.widget_states.widgets.add(id="n")  # 2
    numbers.double_array_value.data.extend([0.5, 1.0])  # 2, and 16 bytes count as 4
    assert messages.fields(message.SerializeToString()) == 1 + 2 + 2 + 4 + 2 + 2 + 4


def with_widgets(count: int) -> bytes:
    message = BackMsg()
    for _ in range(count):
        message.rerun_script.widget_states.widgets.add()
    return bytes(message.SerializeToString())


def test_a_message_has_so_many_fields_and_no_more():
    assert messages.fields(with_widgets(messages.MOST_FIELDS - 2)) == messages.MOST_FIELDS
    with pytest.raises(InputError, match=r"at most 5,000 fields"):
        messages.fields(with_widgets(messages.MOST_FIELDS - 1))


@given(st.binary(max_size=60))
def test_what_protobuf_reads_is_counted_and_nothing_else_raises(content: bytes):
    """Old groups, which protobuf still reads, are the one thing that is refused beside what is broken."""
    refusal = ""
    try:
        assert messages.fields(content) <= len(content)
    except InputError as error:
        refusal = str(error)
    assert not refusal or "kind 3" in refusal or messages.parsed("BackMsg", content) is None


@given(st.lists(st.tuples(st.text(max_size=5), st.one_of(st.text(max_size=9), st.integers(-5, 5), st.booleans()))))
def test_what_a_page_sends_is_a_message(widgets: list[tuple[str, Any]]):
    message = BackMsg()
    message.rerun_script.page_name = "overview"
    for name, value in widgets:
        kind = {str: "string_value", int: "int_value", bool: "bool_value"}[type(value)]
        message.rerun_script.widget_states.widgets.add(id=name, **{kind: value})
    content = message.SerializeToString()
    assert messages.fields(content) <= 4 + 3 * len(widgets)
    assert messages.parsed("BackMsg", content) == message
