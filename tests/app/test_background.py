"""Figures computed in the background: their order, their errors, and what a page shows before and after they arrive."""

import threading
from collections.abc import Callable, Sequence

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app import background
from app.background import Computation
from app.state.session import BY_ITSELF_KEY
from core.errors import InputError
from tests.pages.conftest import PAGE_WITHIN_S

WITHIN_S = 20


def ended(computation: Computation[object]) -> bool:
    """Waits until the computation has ended."""
    return computation._ended.wait(WITHIN_S)


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
        computation = Computation(lambda: 1)
        background.start([computation])
        assert ended(computation)
        assert computation.value() == 1
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
    for computation in (refused, broken):
        computation.run()
    for _ in range(2):
        with pytest.raises(InputError, match="no"):
            refused.value()
    for _ in range(2):  # another session that has seen that it ended
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
        messages = () if "seen" in st.session_state else ("Your link is old.",)
        st.session_state["seen"] = True
        for message in state.until_next_action("here", *messages):
            st.warning(message)
        st.button("Do something")
        figure = arrived(FIGURE[0], "the <b>figure</b>", height=40)
        if figure is not None:
            st.metric("Figure", figure)


FIGURE: list[Computation[int]] = []


def test_an_opened_page_is_painted_before_its_figures_start_and_what_a_person_does_there_starts_them_at_once(
    monkeypatch: pytest.MonkeyPatch,
):
    started: list[Computation[object]] = []
    monkeypatch.setattr(background, "start", started.extend)
    FIGURE[:] = [Computation(lambda: 42)]
    app = AppTest.from_function(page, default_timeout=PAGE_WITHIN_S).run()
    assert started == []
    app.button[0].click().run()
    assert started == FIGURE
    app.session_state[background.PAINTED_KEY] = "another page"
    app.run()
    assert started == FIGURE, "another page was open, so this one has to be painted"


def test_the_browsers_first_request_starts_what_was_left_for_after_the_paint_and_later_ones_nothing(
    monkeypatch: pytest.MonkeyPatch,
):
    order: list[str] = []
    held, begun = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        assert held.wait(WITHIN_S)

    at_work, late = Computation[object](hold), Computation[object](lambda: order.append("late"))
    early = Computation[object](lambda: order.append("early"))
    background.start([at_work])
    assert begun.wait(WITHIN_S)
    background._start_once([early])
    background._start_once([late])
    background._start_once([early])  # asks again, and does not overtake the page that was drawn later
    held.set()
    assert all(map(ended, [at_work, early, late]))
    assert order == ["late", "early"]


def test_a_page_says_what_is_computed_and_runs_again_when_it_is_there(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(background, "painted", lambda page: True)
    monkeypatch.setattr(background, "start", lambda awaited: None)
    FIGURE[:] = [Computation(lambda: 42)]
    app = AppTest.from_function(page, default_timeout=PAGE_WITHIN_S).run()
    (line,) = [element.proto.body for element in app.get("html")]
    assert "Computing the &lt;b&gt;figure&lt;/b&gt; …" in line
    assert "min-height: 40px" in line
    assert not app.metric
    # A browser's timer would ask; here the page does, as soon as its figure is there.
    monkeypatch.setattr(background, "start", run_and_ask)
    app.session_state["seen"] = False
    del app.session_state["seen"]
    app.run()
    assert [metric.value for metric in app.metric] == ["42"]
    assert not app.get("html")
    assert [warning.value for warning in app.warning] == ["Your link is old."]  # the second run of two found no message
    app.button[0].click().run()
    assert not app.warning


def page_with_dialog() -> None:
    """A script that awaits a figure and has a button that opens a dialog."""
    import streamlit as st

    from app.background import DIALOG_KEY, arrived, following, request, under_dialog
    from tests.app.test_background import FIGURE

    @st.fragment
    def line() -> None:
        if st.button("Choose", on_click=lambda: st.session_state.update(opened=True)):
            under_dialog()
        st.session_state[DIALOG_KEY] = "opened" in st.session_state

    with following():
        line()
        arrived(FIGURE[0], "the figure")
        request()


def test_a_page_asks_for_nothing_while_a_person_types_in_its_dialog(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(background, "start", lambda awaited: None)
    FIGURE[:] = [Computation(lambda: 42)]
    app = AppTest.from_function(page_with_dialog, default_timeout=PAGE_WITHIN_S).run()
    assert asks(app)
    app.button[0].click().run()
    assert not app.exception
    assert not asks(app), "the whole page has run again, without what asks"
    del app.session_state["opened"]
    app.run()
    assert asks(app)


def asks(app: AppTest) -> bool:
    """Whether the browser is told to ask for what the page awaits."""
    return bool(app.session_state[background.TICKET_KEY])


def run_and_ask(awaited: Sequence[Computation[object]]) -> None:
    for computation in awaited:
        computation.run()
    st.session_state[BY_ITSELF_KEY] = True
    st.rerun()


def late_page() -> None:
    """A script that leaves a figure to its second run, although it is there."""
    import streamlit as st

    from app.background import after_paint, following
    from tests.app.test_background import FIGURE

    with following():
        if "painted" in st.session_state:
            st.metric("Figure", FIGURE[0].value())
        else:
            after_paint(FIGURE[0])
        st.session_state["painted"] = True


def test_what_would_delay_the_first_paint_comes_with_the_next_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(background, "painted", lambda page: True)
    FIGURE[:] = [Computation(lambda: 42)]
    FIGURE[0].run()
    with monkeypatch.context() as patch:
        patch.setattr(background, "start", lambda awaited: [computation.run() for computation in awaited])
        app = AppTest.from_function(late_page, default_timeout=PAGE_WITHIN_S).run()
        assert not app.exception
        assert not app.metric, "the page does not run again before the browser has asked"
    monkeypatch.setattr(background, "start", run_and_ask)
    del app.session_state["painted"]
    assert [metric.value for metric in app.run().metric] == ["42"]


def test_two_threads_that_need_the_same_value_compute_it_once():
    held, begun = threading.Event(), threading.Event()
    counted: list[int] = []

    def hold() -> int:
        counted.append(1)
        begun.set()
        assert held.wait(WITHIN_S)
        return len(counted)

    computation = Computation(hold)
    threads = [threading.Thread(target=computation.run) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert begun.wait(WITHIN_S)
    held.set()
    for thread in threads:
        thread.join(WITHIN_S)
    assert computation.value() == len(counted) == 1


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
    app = AppTest.from_function(jury_page, default_timeout=PAGE_WITHIN_S)
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
