"""A class as its lecturer and its students see it, and eight headless students who lose the network and reload."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.classroom import lecture, quiz
from tests.benchmarks.classroom import lost, projector_data
from tests.browser import axe
from tests.browser.conftest import NOT_TOO_WIDE, Visitor, eventually, holds, resize, server, settled
from tests.class_phones import Student, taught
from tests.intruders.client import Client


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("classroom") / "home"


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    with server(home, agent=False) as url:
        yield url


def faultless(page: Page) -> None:
    """In both themes."""
    axe.required()
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


def test_a_lecturer_and_two_phones(address: str, visit: Visitor):
    desk = visit(address, width=1280, height=720).open("/classroom")
    settled(desk)
    desk.get_by_role("button", name="Open a class").click()
    expect(desk.locator(".code")).to_have_text(re.compile("^[A-Z]{6}$"))
    code = desk.locator(".code").inner_text()
    tapping = visit(address, width=390, height=844).open(f"/join/{code.lower()}")
    tapping.get_by_role("button", name="Join").click()
    expect(tapping.locator("#title")).to_contain_text("You are in")
    # By another name of the server, because the windows of the tests share one storage, which is kept by host.
    typing = visit(address.replace("127.0.0.1", "localhost"), width=390, height=844).open(f"/join/{code}")
    typing.get_by_label("Name").fill("Ada")
    typing.get_by_label("Name").press("Enter")
    expect(typing.locator("#where")).to_have_text(f"class {code} · seat 2")
    faultless(tapping)
    expect(desk.locator(".who")).to_have_text("2 joined")
    for question in range(12):
        desk.bring_to_front()
        desk.locator(".next").click()
        expect(tapping.locator("#title")).to_contain_text(f"Question {question + 1} of 12")
        tapping.bring_to_front()
        tapping.locator(".more").first.click()
        expect(tapping.locator(".share").first).to_have_text("100%")
        expect(tapping.locator("#link")).to_have_text("Saved")
        typing.bring_to_front()
        expect(typing.locator("#title")).to_contain_text(f"Question {question + 1} of 12")
        for key in ("b", "b", "c", "Shift+B"):
            typing.keyboard.press(key)
        expect(typing.locator(".share").nth(1)).to_have_text("50%")
        expect(typing.locator("#link")).to_have_text("Saved")
        if question == 0:
            single = typing.get_by_label("Single keys work")
            single.uncheck()
            typing.keyboard.press("0")
            typing.keyboard.press("c")
            expect(typing.locator(".share").nth(1)).to_have_text("50%")
            single.check()
        desk.bring_to_front()
        expect(desk.locator(".who")).to_contain_text("2 of 2 answered")
        desk.locator(".show").click()
        expect(tapping.locator(".option.true")).to_have_count(1)
        if question == 7:
            expect(desk.locator(".chip")).to_have_count(12)
            alpha = desk.get_by_role("slider", name="alpha")
            alpha.press("PageUp")
            for phone in (tapping, typing):
                expect(phone.locator("#alpha h2")).to_have_text("alpha 0.210, LAC")
            expect(tapping.locator(".set")).to_have_count(3)
            alpha.fill("1")
            expect(desk.locator(".chip.in")).to_have_count(12)  # no threshold: every option stays
            expect(tapping.locator("#alpha")).to_contain_text("alpha can't be smaller than 0.143")
            faultless(desk)
            whole_when_narrow(desk)
            faultless(tapping)
    desk.locator(".next").click()
    expect(tapping.locator("#own")).to_contain_text("Of 12 answers")
    expect(desk.locator(".results")).to_contain_text("All 24 answers to all 12 questions")
    faultless(tapping)
    settled(desk)
    faultless(desk)
    whole_when_narrow(desk)
    desk.get_by_text("Save, export, end").click()
    desk.get_by_role("button", name="Save the class as a run").click()
    expect(desk.get_by_role("link", name="Alpha lab").first).to_be_visible()
    desk.get_by_role("button", name="End the class").click()
    expect(tapping.locator("#title")).to_have_text("The class is over.")
    expect(desk.get_by_role("button", name="Open a class")).to_be_visible()


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


def test_eight_students_answer_reload_and_lose_the_network_and_no_answer_is_lost(address: str, home: Path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGE_HOME", str(home))
        code = lecture.open_class(quiz.draw("qa", n=4, calibration=2, seed=1)).code
    client = Client(address)
    try:
        with client.session("classroom", f"class={code}") as page:
            (data,) = [one for message in page.quiet().messages if (one := projector_data(message))]
    finally:
        client.close()
    found: list[list[Student]] = []
    # In a thread of its own, because a browser's loop runs in this one.
    thread = threading.Thread(target=lambda: found.append(asyncio.run(_lesson(address, code, data["key"]))))
    thread.start()
    thread.join(200)
    (room,) = found
    assert lost(home, code, room) == (32, 32, 0)
    assert all("sureness" in one.own for one in room)
    assert all(one.state["alpha"] == 410 for one in room)


async def _lesson(address: str, code: str, key: str) -> list[Student]:
    async with taught(address, code, key, students=8, hurry=0.05) as (lecturer, room, measured):
        for question in range(4):
            await lecturer.act(act="next")
            if question == 1:
                await asyncio.gather(*(one.reload() for one in room[:3]))
            if question == 2:
                await asyncio.gather(*(one.offline(0.5) for one in room[-2:]))
            assert await lecturer.until(lambda: lecturer.people["answered"] == 8)
            assert await lecturer.until(lambda q=question: all(q in one.said for one in room))
            assert await lecturer.until(
                lambda: not any(task for one in room for task in one.tapping if not task.done())
            )
            await lecturer.act(act="show")
        await lecturer.act(act="next")
        await lecturer.drag([300, 350, 410])
        assert await lecturer.until(lambda: all(one.state.get("alpha") == 410 for one in room))
        assert await lecturer.until(lambda: all("sureness" in one.own for one in room))
        assert measured.refused == []
        assert max(len(measured.acknowledged), 1) > 1
    return room
