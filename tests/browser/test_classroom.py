"""A class as its lecturer and its students see it, and eight headless students who lose the network and reload."""

import asyncio
import re
import threading
from pathlib import Path

from playwright.sync_api import Page, expect

from core.runs import store
from core.runs.execution.execute import execute
from core.serving.classroom import lecture, live_class, quiz
from tests.benchmarks.classroom import lost, projector_data
from tests.browser import axe
from tests.browser.conftest import NOT_TOO_WIDE, Visitor, choose, eventually, holds, resize, settled
from tests.browser.test_presenter import both_themes
from tests.class_phones import Student, taught
from tests.intruders.client import Client
from tests.pictures.faults import lasting_faults


def faultless(page: Page) -> None:
    """In both themes, and nothing is cut off or overlaps."""
    axe.required()
    assert lasting_faults(page, but="drawing") == []
    for theme in ("dark", "light"):
        page.emulate_media(color_scheme=theme)
        # In another theme only colours can differ.
        eventually(page, lambda theme=theme: axe.faults(page, rules=axe.COLOURS if theme == "dark" else None))
    holds(page, NOT_TOO_WIDE)


def whole_when_narrow(desk: Page) -> None:
    """On a lecturer's own phone both sets of each line are seen without scrolling sideways."""
    resize(desk, 390, 844)
    wide = desk.locator(".classroom .wide").first
    eventually(desk, lambda: wide.evaluate("wide => wide.scrollWidth - wide.clientWidth"))
    resize(desk, 1280, 720)


QUESTIONS, CALIBRATION = 6, 3


def test_a_lecturer_and_two_phones(address: str, visit: Visitor):
    """A class of six questions; three of them calibrate. test_login opens one from the page."""
    code = lecture.open_class(quiz.draw("qa", n=QUESTIONS, calibration=CALIBRATION, seed=1)).code
    desk = visit(address, width=1280, height=720).open(f"/classroom?class={code}")
    expect(desk.locator(".code")).to_have_text(code)
    settled(desk)
    tapping = visit(address, width=390, height=844).open(f"/join/{code.lower()}")
    tapping.get_by_role("button", name="Join").click()
    expect(tapping.locator("#title")).to_contain_text("You are in")
    # By another name of the server, because the windows of the tests share one storage, which is kept by host.
    second = visit(address.replace("127.0.0.1", "localhost"), width=390, height=844)
    typing = second.open(f"/join/{code}")
    expect(typing.locator("#join")).to_contain_text("in a list of seats that the projector view leaves out")
    typing.get_by_label("Name").fill("Ada")
    typing.get_by_label("Name").press("Enter")
    expect(typing.locator("#where")).to_have_text(f"class {code} · seat 2")
    faultless(tapping)
    expect(desk.locator(".who")).to_have_text("2 joined")
    expect(desk.get_by_text("Ada")).to_be_hidden()  # folded into the list of seats
    expect(desk.get_by_text("this computer alone", exact=False)).to_have_count(1)  # where the address stands
    a_seat_is_freed_and_taken_again(desk, typing)
    assert all("401" in error for error in second.errors)  # the browser logs the answer's status
    second.errors.clear()
    for question in range(QUESTIONS):
        desk.bring_to_front()
        desk.locator(".next").click()
        a_phone_taps(tapping, question)
        a_phone_types(typing, question)
        if question == 0:
            single_keys_can_be_switched_off(typing)
        desk.bring_to_front()
        expect(desk.locator(".who")).to_contain_text("2 of 2 answered")
        desk.locator(".show").click()
        expect(tapping.locator(".option.true")).to_have_count(1)
        if question == CALIBRATION:
            alpha_is_followed(desk, tapping, typing)
            the_projector_view_leads_and_shows_no_names(desk)
            faultless(desk)
            whole_when_narrow(desk)
            faultless(tapping)
    desk.locator(".next").click()
    expect(tapping.locator("#own")).to_contain_text("Of 6 answers")
    expect(desk.locator(".results figcaption")).to_contain_text("12 answers of 2 people to 6 questions")
    expect(desk.locator(".finding")).to_have_text("Can't tell: 12 answers of 2 people are too few for a diagram.")
    the_projector_view_ends_with_the_diagram(desk, code)
    faultless(tapping)
    desk.get_by_role("slider", name="alpha").fill("800")
    a_miss = re.compile("^misses it: .")
    expect(desk.locator(".sets td", has_text="misses it").first).to_have_text(a_miss, use_inner_text=True)
    settled(desk)
    faultless(desk)
    whole_when_narrow(desk)
    desk.get_by_text("Save, export, end").click()
    desk.get_by_role("button", name="Save the class as a run").click()
    expect(desk.get_by_role("link", name="Alpha lab").first).to_be_visible()
    settled(desk).get_by_role("button", name="End the class").click()
    expect(tapping.locator("#title")).to_have_text("The class is over.")
    expect(desk.get_by_role("button", name="Open a class")).to_be_visible()


def the_projector_view_leads_and_shows_no_names(desk: Page) -> None:
    """By its key, with the question that is shown on the page; by its link it is open after a reload."""
    question = desk.locator(".asked h3").inner_text()
    desk.get_by_role("heading", name="Classroom", exact=True).click()
    desk.keyboard.press("p")
    screen = desk.locator(".presented")
    expect(screen.get_by_role("heading", name=question)).to_be_visible()
    expect(desk).to_have_url(re.compile("present=1"))
    expect(desk.get_by_test_id("stHeader")).not_to_be_visible()
    expect(screen.locator(".seating")).to_be_hidden()
    expect(screen.locator(".who")).to_have_text("Question 4 of 6 · 2 answers")
    both_themes(settled(desk))
    desk.reload()
    expect(screen.get_by_role("heading", name=question)).to_be_visible()
    desk.keyboard.press("ArrowUp")
    expect(desk.get_by_role("slider", name="alpha")).to_have_value("11")  # it stood at .001
    desk.keyboard.press("Escape")
    expect(screen).to_have_count(0)
    expect(desk.get_by_role("button", name="Projector", exact=True)).to_be_focused()
    expect(desk).not_to_have_url(re.compile("present"))


def the_projector_view_ends_with_the_diagram(desk: Page, code: str) -> None:
    """Its arrow keys lead from the sets to the diagram and back."""
    desk.get_by_role("button", name="Projector", exact=True).click()
    screen = desk.locator(".presented")
    expect(screen.locator(".sets")).to_be_visible()
    both_themes(settled(desk))
    sets_without_room_are_paged(desk)
    desk.keyboard.press("ArrowRight")
    expect(screen.locator(".finding")).to_be_visible()
    expect(screen.locator(".sets")).to_be_hidden()
    expect(screen.locator(".presenter-about")).to_have_text(f"Class {code}")
    both_themes(settled(desk))
    desk.keyboard.press("PageUp")
    expect(screen.locator(".sets")).to_be_visible()
    desk.keyboard.press("p")
    expect(screen).to_have_count(0)


def sets_without_room_are_paged(desk: Page) -> None:
    """Where one row has room, each of the three has its own screen, and the diagram follows the last one."""
    shown = desk.locator(".presented .sets-shown")
    shown.evaluate("shown => { shown.style.maxHeight = '1px'; }")
    desk.keyboard.press("ArrowLeft")
    for row in range(1, 4):
        heading = f"Questions {row} to {row} of 3 that tested"
        expect(shown.locator("th").first).to_have_text(heading)
        expect(shown.locator("tbody tr:visible")).to_have_count(1)
        desk.keyboard.press("ArrowRight")
    expect(desk.locator(".presented .finding")).to_be_visible()
    shown.evaluate("shown => { shown.style.maxHeight = ''; }")
    desk.locator(".presented .next").click()
    expect(shown.locator("tbody tr:visible")).to_have_count(3)


def a_seat_is_freed_and_taken_again(desk: Page, phone: Page) -> None:
    """By the keyboard; the list is legible in both themes."""
    desk.bring_to_front()
    summary = desk.locator(".seating summary")
    summary.focus()
    summary.press("Enter")
    expect(desk.locator(".taken li")).to_have_text(["1Free", "2 AdaFree"])
    faultless(desk)
    desk.get_by_label("Seats that one network may take").fill("150")
    desk.get_by_label("Seats that one network may take").press("Enter")
    desk.get_by_role("button", name="Free seat 2, Ada").press("Enter")
    expect(desk.locator(".taken li")).to_have_text(["1Free"])
    expect(desk.get_by_role("button", name="Free seat 1")).to_be_focused()
    expect(desk.locator(".who")).to_have_text("1 joined")
    expect(phone.locator("body")).to_contain_text("This phone has no seat in this class")
    phone.bring_to_front()
    phone.reload()
    phone.get_by_label("Name").press("Enter")
    expect(phone.locator("#where")).to_contain_text("seat 2")
    expect(desk.locator(".taken li")).to_have_text(["1Free", "2Free"])
    expect(desk.get_by_label("Seats that one network may take")).to_have_value("150")
    summary.press("Enter")


def a_phone_taps(phone: Page, question: int) -> None:
    expect(phone.locator("#title")).to_contain_text(f"Question {question + 1} of {QUESTIONS}")
    phone.bring_to_front()
    phone.locator(".more").first.click()
    expect(phone.locator(".share").first).to_have_text("100%")
    expect(phone.locator("#link")).to_have_text("Saved")


def a_phone_types(phone: Page, question: int) -> None:
    phone.bring_to_front()
    expect(phone.locator("#title")).to_contain_text(f"Question {question + 1} of {QUESTIONS}")
    for key in ("b", "b", "c", "Shift+B"):
        phone.keyboard.press(key)
    expect(phone.locator(".share").nth(1)).to_have_text("50%")
    expect(phone.locator("#link")).to_have_text("Saved")


def single_keys_can_be_switched_off(phone: Page) -> None:
    single = phone.get_by_label("Single keys work")
    single.uncheck()
    phone.keyboard.press("0")
    phone.keyboard.press("c")
    expect(phone.locator(".share").nth(1)).to_have_text("50%")
    single.check()


def alpha_is_followed(desk: Page, *phones: Page) -> None:
    """By the phones, and by the sets on the desk."""
    expect(desk.locator(".chip")).to_have_count(8)
    expect(desk.locator(".asked")).to_contain_text("could also choose “I don't know”")
    alpha = desk.get_by_role("slider", name="alpha")
    alpha.fill("400")
    alpha.press("PageUp")
    for phone in phones:
        expect(phone.locator("#alpha h2")).to_have_text("alpha 0.410, LAC")
    expect(phones[0].locator(".set")).to_have_count(3)
    expect(desk.locator(".chip.in")).not_to_have_count(8)  # some options are out at this alpha
    alpha.fill("1")
    expect(desk.locator(".chip.in")).to_have_count(8)  # no threshold: every option stays
    expect(phones[0].locator("#alpha")).to_contain_text("alpha can't be smaller than 0.25")


def test_a_phone_without_a_class_is_told(address: str, visit: Visitor):
    window = visit(address, width=390, height=844)
    page = window.open("/join/")
    page.get_by_label("Code on the projector").fill("xxxxxx")
    page.get_by_role("button", name="Join").click()
    expect(page.locator("#problem")).to_have_text(
        "There is no class XXXXXX on this server; read the code again on the projector."
    )
    assert len(window.errors) == 1  # the browser logs the answer's status
    window.errors.clear()


def test_eight_students_answer_reload_and_lose_the_network_and_no_answer_is_lost(address: str, shared_home: Path):
    code = lecture.open_class(quiz.draw("qa", n=4, calibration=2, seed=1)).code
    client = Client(address)
    try:
        with client.session("classroom", f"class={code}") as page:
            (data,) = [data for message in page.quiet().messages if (data := projector_data(message))]
    finally:
        client.close()
    rooms: list[list[Student]] = []
    # In a thread of its own, because a browser's loop runs in this one.
    thread = threading.Thread(target=lambda: rooms.append(asyncio.run(_lesson(address, code, data["key"]))))
    thread.start()
    thread.join(200)
    (room,) = rooms
    assert lost(shared_home, code, room) == (32, 32, 0)
    assert all("sureness" in student.own for student in room)
    assert all(student.state["alpha"] == 410 for student in room)


async def _lesson(address: str, code: str, key: str) -> list[Student]:
    async with taught(address, code, key, students=8, hurry=0.05) as (lecturer, room, measured):
        for question in range(4):
            await lecturer.act(act="next")
            if question == 1:
                await asyncio.gather(*(student.reload() for student in room[:3]))
            if question == 2:
                await asyncio.gather(*(student.offline(0.5) for student in room[-2:]))
            assert await lecturer.until(lambda: lecturer.people["answered"] == 8)
            assert await lecturer.until(lambda q=question: all(q in student.said for student in room))
            assert await lecturer.until(
                lambda: not any(task for student in room for task in student.tapping if not task.done())
            )
            await lecturer.act(act="show")
        await lecturer.act(act="next")
        await lecturer.drag([300, 350, 410])
        assert await lecturer.until(lambda: all(student.state.get("alpha") == 410 for student in room))
        assert await lecturer.until(lambda: all("sureness" in student.own for student in room))
        assert measured.refused == []
        assert max(len(measured.acknowledged), 1) > 1
    return room


def moodle(*questions: str) -> bytes:
    asked = (
        '<question type="multichoice"><questiontext format="html"><text><![CDATA[<p>'
        f"{text}</p>]]></text></questiontext>"
        '<answer fraction="0"><text>no &lt;b&gt;</text></answer><answer fraction="100"><text>yes</text></answer>'
        '<answer fraction="0"><text>perhaps</text></answer></question>'
        for text in questions
    )
    essay = '<question type="essay"><questiontext><text>Why?</text></questiontext></question>'
    return f"<?xml version='1.0' encoding='UTF-8'?><quiz>{''.join(asked)}{essay}</quiz>".encode()


def test_a_class_with_own_questions_and_a_model_s_run_of_them(address: str, visit: Visitor):
    """Typed, then from a file of Moodle to the results that the lecturer takes home. The run waits in the queue until
    this process executes it, as a worker does: test_new_run has the agent, whose start costs more than the rest."""
    desk = visit(address, width=1280, height=720).open("/classroom")
    desk.get_by_text("Ask your own questions").click()
    field = desk.get_by_role("textbox", name="Your questions")
    field.fill("Which?\na\nb")
    field.press("Control+Enter")
    expect(desk.get_by_text("Line 1: 'Which?' has no right answer; put * before the right option.")).to_be_visible()
    field.fill("Which?\na\n*b\n\nName it {=Paris}")
    field.press("Control+Enter")
    expect(desk.get_by_text("1 question read, 2 options, 1 left out: short answer ('Name it').")).to_be_visible()
    content = moodle("Is it 1?", "Is it 2?", "Is it 3?", "=Is it 4?")
    file = {"name": "Week 1.xml", "mimeType": "text/xml", "buffer": content}
    desk.locator("input[type=file]").set_input_files(file)  # type: ignore[arg-type]
    expect(desk.get_by_text("4 questions read, 3 options, Moodle XML, 1 left out: essay ('Why?').")).to_be_visible()
    choose(desk, "Model that answers them too", "pocket-1m")
    expect(desk.get_by_text("pocket-1m is a toy model")).to_be_visible()
    eventually(settled(desk), lambda: axe.faults(desk))
    desk.get_by_role("button", name="Ask these questions").click()
    expect(desk.locator(".code")).to_have_text(re.compile("[A-Z]{6}"))
    code = desk.locator(".code").inner_text()
    expect(
        desk.get_by_text("The run of pocket-1m on these questions is waiting, so the class is shown alone.")
    ).to_be_visible()
    phone = visit(address, width=390, height=844).open(f"/join/{code}")
    phone.get_by_role("button", name="Join").click()
    expect(phone.locator("#title")).to_contain_text("You are in")
    for question in range(4):
        desk.locator(".next").click()
        expect(phone.locator("#title")).to_contain_text(f"Question {question + 1} of 4")
        phone.locator(".more").first.click()
        expect(phone.locator("#link")).to_have_text("Saved")
        desk.locator(".show").click()
        expect(phone.locator(".option.true")).to_have_count(1)
    desk.locator(".next").click()
    expect(desk.locator(".side h4")).to_have_text(["The class"])
    execute(store.read_record(live_class.find(code).quiz.run_id).spec)
    expect(desk.get_by_text("the class is shown alone")).to_have_count(0)
    expect(desk.locator(".side h4")).to_have_text(["The class", "pocket-1m"])
    expect(phone.locator("#alpha .who")).to_have_text(["You: ", "The class: ", "pocket-1m: "])
    desk.get_by_text("Save, export, end").click()
    with desk.expect_download() as downloading:
        desk.get_by_role("button", name="Results (CSV)").click()
    rows = downloading.value.path().read_text().splitlines()
    assert [row.split(",")[0] for row in rows] == ['"seat"', '"right answer"', '"1"', '"class"', '"pocket-1m"']
    settled(desk).get_by_role("button", name="End the class").click()
    expect(phone.locator("#title")).to_have_text("The class is over.")
