"""Figures computed in the background: their order, their errors, and what a page shows before and after they arrive."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from app import background
from app.background import Computation
from app.state.session import BY_ITSELF_KEY
from core.errors import InputError

WITHIN_S = 20


def ended(of: Computation[object]) -> bool:
    """Waits until the computation has ended."""
    with background._changed:
        return background._changed.wait_for(lambda: of.ended, WITHIN_S)


def test_what_was_asked_last_comes_first_in_its_own_order():
    order: list[str] = []
    held, begun = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        assert held.wait(WITHIN_S)

    def named(name: str) -> Computation[object]:
        return Computation(lambda: order.append(name))

    first, early, late = Computation[object](hold), [named("a"), named("b")], [named("c"), named("d")]
    background.start([first])
    assert begun.wait(WITHIN_S)
    background.start(early)
    background.start(late)
    background.start([early[1], first])  # a page that runs again asks again
    held.set()
    assert all(map(ended, [first, *early, *late]))
    assert order == ["b", "c", "d", "a"]


def test_a_thread_ends_with_its_work_and_another_begins():
    for _ in range(3):
        of = Computation(lambda: 1)
        background.start([of])
        assert ended(of)
        assert of.value() == 1
        for thread in background._running.copy():
            thread.join(WITHIN_S)
    assert background._running == []


def failing(error: Exception) -> Callable[[], int]:
    """A function that raises the error when it is called first, and then gives 7."""
    errors = [error]

    def compute() -> int:
        if errors:
            raise errors.pop()
        return 7

    return compute


def test_a_refusal_stays_and_a_fault_is_tried_again():
    refused, broken = Computation(failing(InputError("no"))), Computation(failing(MemoryError()))
    for of in (refused, broken):
        of.run()
    for _ in range(2):
        with pytest.raises(InputError, match="no"):
            refused.value()
    with pytest.raises(MemoryError):
        broken.value()
    assert not broken.ended
    broken.run()
    assert broken.value() == 7


def page() -> None:
    """A script that awaits a figure, and finds a message only when it runs first."""
    import streamlit as st

    from app import state
    from app.background import arrived, following
    from tests.app.test_background import FIGURE

    with following():
        found = () if "seen" in st.session_state else ("Your link is old.",)
        st.session_state["seen"] = True
        for message in state.until_next_action("here", *found):
            st.warning(message)
        st.button("Do something")
        figure = arrived(FIGURE[0], "the <b>figure</b>", height=40)
        if figure is not None:
            st.metric("Figure", figure)


FIGURE: list[Computation[int]] = []


def test_a_page_says_what_is_computed_and_runs_again_when_it_is_there(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(background, "start", lambda awaited: None)
    FIGURE[:] = [Computation(lambda: 42)]
    app = AppTest.from_function(page).run()
    (line,) = [one.proto.body for one in app.get("html")]
    assert "Computing the &lt;b&gt;figure&lt;/b&gt; …" in line
    assert "min-height: 40px" in line
    assert not app.metric
    # A browser's timer would ask: here the page runs again, and its figure arrives while it does.
    monkeypatch.setattr(background, "start", lambda awaited: [of.run() for of in awaited])
    app.session_state["seen"] = False
    del app.session_state["seen"]
    app.run()
    assert [one.value for one in app.metric] == ["42"]
    assert not app.get("html")
    assert [one.value for one in app.warning] == ["Your link is old."]  # the second run of two found no message
    app.button[0].click().run()
    assert not app.warning


def jury_page() -> None:
    """A script whose view lives in the address."""
    import streamlit as st

    from app import state
    from app.background import following
    from app.state.jury import JuryView

    with following():
        st.metric("At", state.view(JuryView).at)


def test_a_page_that_runs_by_itself_does_not_go_back_to_an_older_address():
    """The browser's timer may have sent its message before the browser learned what a person has just changed."""
    app = AppTest.from_function(jury_page)
    app.query_params["at"] = "70"
    app.run()
    app.query_params["at"] = "40"
    app.session_state[BY_ITSELF_KEY] = True
    app.run()
    assert app.metric[0].value == "70"
    assert app.query_params["at"] == "70"
    app.query_params["at"] = "40"  # a link, or the back button
    app.run()
    assert app.metric[0].value == "40"
