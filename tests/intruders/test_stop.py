"""On a public server, where nobody has a name, a visitor who asks what another has asked can't stop the other's."""

from pathlib import Path

from tests.browser.conftest import engine_ended, held_by_tests, page_server
from tests.core.runs.conftest import until
from tests.intruders.client import Client, Session, WidgetState
from tests.processes import gone, living

WORKER = "core.runs.answering.worker"


def ask(page: Session) -> None:
    ids = page.screen.widgets
    question = WidgetState(id=ids["Question"], string_value="Which planet is the largest?")
    options = next(widget_id for label, widget_id in ids.items() if label.startswith("Options"))
    page.set(
        question,
        WidgetState(id=options, string_value="Mars\nVenus"),
        WidgetState(id=ids["**Ask**"], trigger_value=True),
    )


def test_two_visitors_of_one_address_ask_the_same_and_one_stops(tmp_path: Path):
    home = tmp_path / "home"
    with engine_ended(home), held_by_tests(home), page_server(home, options=["--public"]) as address:
        first, second = Client(address), Client(address)
        try:
            with (
                first.session("one_question", "ask=own") as visitor,
                second.session("one_question", "ask=own") as other,
            ):
                (worker,) = until(lambda: living(home, WORKER), "the worker that a page has loaded beforehand")
                worker.suspend()  # so that no question is answered
                ask(visitor)
                ask(other)
                visitor.press("Stop", fragment=visitor.screen.fragments[-1])
                assert worker.is_running()
                other.press("Stop", fragment=other.screen.fragments[-1])
                assert gone(worker.pid)
        finally:
            first.close()
            second.close()
