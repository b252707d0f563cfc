"""A real server, a real browser, and what a person sees of the alpha lab."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import psutil
import pytest
from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Error,
    FloatRect,
    Locator,
    Page,
    Request,
    WebSocket,
    expect,
    sync_playwright,
)
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from app.navigation import MENU
from app.serving.messages import message_type
from core.reports import evaluation
from core.reports.alpha_lab import view as views
from core.reports.alpha_lab.view import SplitView as Look
from core.reports.evaluation import Evaluation
from core.reports.report import report
from core.runs.agent import liveness
from core.settings import ROOT
from core.storage import file_lock
from tests import needs
from tests.processes import end_all

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
UNOPTIMIZED = "--js-flags=--no-maglev --no-turbofan"
"""The pages of tests live for seconds: the two optimizing compilers of JavaScript cost them more than they save, a
sixth of the browser's processor time. Tests that measure the speed of pages leave them on."""

STARTS_WITHIN_S = 180
SEEN_WITHIN_MS = 60_000
POLL_MS = 20
LAID_OUT_WITHIN_MS = 10_000
OWN_PROBES = re.compile(r"/_stcore/(health|host-config)$")
"""Streamlit's page looks for its server below the address it was opened at first; the browser logs the misses."""


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """Chromium with one profile for all tests; without it they skip, or fail where HEDGE_REQUIRE_BROWSER asks for it.

    A profile on disk keeps compiled scripts, which saves a quarter of what a page costs from the second one on. The
    shell without windows draws the same pages with a tenth less of processor time.
    """
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        needs.missing("Chromium")
    expect.set_options(timeout=SEEN_WITHIN_MS)
    with sync_playwright() as playwright, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Page, "wait_for_function", _wait_for_function)
        for act in ("click", "check", "uncheck"):
            patch.setattr(Locator, act, _once_still(getattr(Locator, act)))
        profile = tmp_path_factory.mktemp("chromium")
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=path, args=[*FLAGS, UNOPTIMIZED]
        )
        context.set_default_timeout(SEEN_WITHIN_MS)
        yield context
        context.close()


def _wait_for_function(
    page: Page, expression: str, *, arg: object = None, timeout: float = 0, polling: float = POLL_MS
) -> None:
    """In the place of Playwright's own, which makes a function of the text within the page: the app's content security
    policy forbids that, as it should. This one looks from outside.
    """
    end = time.monotonic() + (timeout or SEEN_WITHIN_MS) / 1000
    while time.monotonic() < end:
        with suppress(Error):  # as where the page is on its way to another one
            if page.evaluate(expression, arg):
                return
        page.wait_for_timeout(polling)
    raise PlaywrightTimeout(f"waited {timeout or SEEN_WITHIN_MS:g} ms for {expression}")


def _once_still(act: Callable[..., None]) -> Callable[..., None]:
    """In the place of Playwright's own: click once the answer to what was done before has arrived, as a person does.

    Playwright waits until the element itself is still. An answer that comes a moment later moves it, and if that is
    between the press and the release of the button, the click is lost. A script that runs on is not waited for.
    """

    def acting(element: Locator, **options: Any) -> None:
        if element.page in _windows:
            with suppress(Error):  # what is wrong with the element, the click itself will say
                element.wait_for(timeout=options.get("timeout"))
            with suppress(AssertionError, Error):
                script_ended(element.page, otherwise=NO_SCRIPTS, within_ms=LAID_OUT_WITHIN_MS)
        act(element, **options)

    return acting


@dataclass
class Visit:
    """A page in the browser and what went wrong on it."""

    page: Page
    address: str
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    """What the page sent to the server."""
    awaited: str = ""
    """What the server must still say about the run of the script that the page asked for last."""

    def open(self, path: str = "/") -> Page:
        self.page.goto(self.address + path)
        return self.page

    def listen(self) -> None:
        _windows[self.page] = self
        for event, heard in self._listeners().items():
            self.page.on(event, heard)

    def leave(self) -> bool:
        """Leave the page, which ends its session; whether the window is open and can be used again."""
        if self.page.is_closed():
            return False
        for event, heard in self._listeners().items():
            self.page.remove_listener(event, heard)
        try:
            self.page.mouse.up()
            self.page.mouse.move(0, 0)
            self.page.goto("about:blank")
        except Error:  # as where it was on its way to another page
            self.page.close()
            return False
        return True

    def _listeners(self) -> dict[str, Callable[[Any], None]]:
        return {
            "pageerror": self._failed,
            "console": self._said,
            "request": self._asked,
            "websocket": self._connected,
        }

    def _failed(self, error: Error) -> None:
        self.errors.append(str(error))

    def _said(self, message: ConsoleMessage) -> None:
        url = message.location.get("url", "")
        if message.type == "error" and not OWN_PROBES.search(url):
            self.errors.append(f"{message.text} {url}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.address, "data:", "blob:", self.address.replace("http", "ws"))):
            self.foreign.append(request.url)

    def _connected(self, socket: WebSocket) -> None:
        self.awaited = ""
        socket.on("framesent", self._sent)
        socket.on("framereceived", self._received)

    def _sent(self, content: bytes | str) -> None:
        self.messages.append(self.page.url)
        if isinstance(content, bytes) and message_type("BackMsg").FromString(content).HasField("rerun_script"):
            self.awaited = "new_session"

    def _received(self, content: bytes | str) -> None:
        if not self.awaited or not isinstance(content, bytes):
            return
        message = message_type("ForwardMsg").FromString(content)
        if self.awaited == "new_session":
            self.awaited = "script_finished" if message.HasField("new_session") else self.awaited
        elif message.HasField("script_finished") and message.script_finished != message.FINISHED_EARLY_FOR_RERUN:
            self.awaited = ""


_windows: WeakKeyDictionary[Page, Visit] = WeakKeyDictionary()
"""The visit of each open page."""


def eventually(page: Page, fault: Callable[[], object], *, within_ms: float = SEEN_WITHIN_MS) -> None:
    """Wait until ``fault`` finds nothing: an empty result, no failed assertion, no timeout. At last it must.

    For what ``expect`` has no word for. A page is never looked at just once after an action: on a busy machine a look
    may come before the page has answered. So what is not yet there to be read (an empty number, a missing row) is a
    fault, too.
    """
    end = time.monotonic() + within_ms / 1000
    while time.monotonic() < end:
        with suppress(AssertionError, Error, LookupError, ValueError):
            if not fault():
                return
        page.wait_for_timeout(POLL_MS)
    assert not fault()


def holds(page: Page, condition: str, *, within_ms: float = SEEN_WITHIN_MS) -> None:
    """Wait until a JavaScript condition holds on the page, and say which one did not."""
    eventually(page, lambda: None if page.evaluate(condition) else condition, within_ms=within_ms)


STILL = 5
"""The number of looks in a row that must show an element in the same place before it counts as still."""


def still(shown: Locator) -> FloatRect:
    """Where a thing is, once it no longer moves: what arrives above it late would make a pointer miss it."""
    boxes: list[FloatRect | None] = []

    def moves() -> bool:
        boxes.append(shown.bounding_box())
        return len(boxes) < STILL or any(box is None or box != boxes[-1] for box in boxes[-STILL:])

    eventually(shown.page, moves)
    box = boxes[-1]
    assert box is not None
    return box


NOT_TOO_WIDE = "document.documentElement.scrollWidth <= innerWidth"
SETTLED = """document.querySelector('.stApp[data-test-script-state=notRunning]')
  && !document.querySelector('[data-stale=true], [data-testid=stSkeleton]')
  && !document.getAnimations().some(one => one instanceof CSSTransition && one.playState === 'running')"""
"""The script has ended, and nothing on the page is dimmed because it is about to change, or on its way back."""


NO_SCRIPTS = "!document.querySelector('.stApp')"
"""Streamlit did not make the page."""


def settled(page: Page) -> Page:
    """The page once its script has ended and all that is computed beside it has arrived, so that nothing moves."""
    script_ended(page)
    expect(page.locator(".computing")).to_have_count(0, timeout=2 * SEEN_WITHIN_MS)
    script_ended(page)
    return page


def script_ended(page: Page, *, otherwise: str = "false", within_ms: float = SEEN_WITHIN_MS) -> None:
    """Wait until the script that the page asked for has run, and the page shows what came of it; or for ``otherwise``.

    A busy server starts the script some time after a click. Until then the page says that none is running. That the
    page has asked is known a moment after the click, too, so it is looked at before and after the look at the page.
    """
    window, condition = _windows[page], f"{otherwise} || ({SETTLED})"
    eventually(
        page,
        lambda: window.awaited or (not page.evaluate(condition) and condition) or window.awaited,
        within_ms=within_ms,
    )


def choose(page: Page, label: str, option: str | re.Pattern[str]) -> None:
    """Choose an option of a list.

    An open list closes when the page scrolls, so the list is scrolled to first, and the browser has told the page so
    before it is opened: scroll events come before the callbacks of the next frame.
    """
    box = page.get_by_role("combobox", name=label, exact=True)
    box.scroll_into_view_if_needed()
    box.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    box.click()
    page.get_by_role("option", name=option, exact=True).click()


@pytest.fixture(scope="session")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of the server at ``address``. A file of tests adds the runs that it needs, under names of its own, and
    names them in its links."""
    return tmp_path_factory.mktemp("shared") / "home"


@pytest.fixture(scope="session")
def shared_server(shared_home: Path) -> Iterator[str]:
    """The address of a server that launches nothing. All files of a process use it."""
    with server(shared_home, agent=False) as url:
        yield url


@pytest.fixture
def address(shared_server: str, shared_home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of the shared server, whose home is this process's too."""
    monkeypatch.setenv("HEDGE_HOME", str(shared_home))
    return shared_server


@pytest.fixture(scope="session")
def pocket_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A server with an agent, which runs and asks the models that ship, and its home."""
    home = tmp_path_factory.mktemp("pocket") / "home"
    with server(home, OMP_NUM_THREADS="1") as url:
        yield url, home


@pytest.fixture
def pocket(pocket_server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of the server with an agent, whose home is this process's too."""
    url, home = pocket_server
    monkeypatch.setenv("HEDGE_HOME", str(home))
    return url


@contextmanager
def in_home(home: Path) -> Iterator[None]:
    """This process reads and writes in ``home``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGE_HOME", str(home))
        yield


@contextmanager
def server(home: Path, *, agent: bool = True, **variables: str) -> Iterator[str]:
    """`python -m app` in a home of its own; its address. Server, agent and workers end with the block.

    Without ``agent`` the server takes this process for the agent of this host, and has no model loaded beforehand.
    """
    held = nullcontext({}) if agent else held_by_tests(home)
    with engine_ended(home), held as nothing_warm, page_server(home, **nothing_warm, **variables) as address:
        yield address


@contextmanager
def held_by_tests(home: Path) -> Iterator[dict[str, str]]:
    """Hold the lock of a home's agent: pages that launch nothing need none, which costs five seconds a server.

    The value is what keeps a page of that home from having a model loaded, which costs six seconds more.
    """
    with in_home(home):
        lock = file_lock.take(liveness.agent_lock())
    assert lock is not None
    with lock:
        yield {"HEDGE_WARM_MINUTES": "0"}


@contextmanager
def engine_ended(home: Path) -> Iterator[None]:
    """The agent and the workers of a home end with the block."""
    try:
        yield
    finally:
        end_all(home)


@contextmanager
def page_server(
    home: Path,
    *,
    stop: signal.Signals = signal.SIGINT,
    options: Sequence[str] = (),
    port: int = 0,
    **variables: str,
) -> Iterator[str]:
    """`python -m app`, which alone ends with the block, by the signal ``stop``; its address. ``options`` come first.

    A ``port`` of 0 is any that is free.
    """
    if not port:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    arguments = [*options, "--server.port", str(port), "--server.headless", "true"]
    environment = {**os.environ, "HEDGE_HOME": str(home), "CUDA_VISIBLE_DEVICES": "", **variables}
    environment.pop("HEDGE_DATABASE_URL", None)
    log = home.parent / "server.log"
    command = [sys.executable, "-m", "app", *arguments]
    with log.open("wb") as out:
        process = psutil.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT)
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(stop)
        try:
            process.wait(10)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(url: str, process: psutil.Process, log: Path) -> None:
    end = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < end and process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.05)
    pytest.fail(f"the server did not start: {log.read_text()}")


@pytest.fixture(scope="session")
def idle_windows() -> list[Page]:
    """Windows that tests have left. A page costs a third less in one of them than in a new one."""
    return []


Visitor = Callable[..., Visit]


@pytest.fixture
def visit(browser: BrowserContext, idle_windows: list[Page]) -> Iterator[Visitor]:
    """Opens pages of a server; when the test is over none may have said an error or asked a foreign host."""
    windows: list[Visit] = []

    def opened(address: str, *, width: int = 1200, height: int = 900, theme: str = "light") -> Visit:
        page = idle_windows.pop() if idle_windows else browser.new_page()
        page.bring_to_front()  # a window behind another one may be drawn once a second, and each click waits for frames
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(media="screen", color_scheme=theme, reduced_motion="reduce")
        window = Visit(page, address)
        window.listen()
        windows.append(window)
        return window

    yield opened
    idle_windows += [window.page for window in reversed(windows) if window.leave()]
    assert [error for window in windows for error in window.errors] == []
    assert [url for window in windows for url in window.foreign] == []


class AlphaControl:
    """The slider of alpha with its number, as a component shows them."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.alpha = page.get_by_role("slider", name="alpha")
        self.number = page.get_by_role("spinbutton", name="alpha as a number")

    def thousandths(self) -> int:
        return int(self.alpha.input_value())

    def expect_alpha(self, alpha: int) -> None:
        expect(self.alpha).to_have_value(str(alpha))
        expect(self.number).to_have_value(f"{alpha / 1000:g}")

    def type(self, alpha: str) -> None:
        self.number.fill(alpha)
        self.number.press("Enter")

    def move_by_keys(self, follow: Callable[[], object] = lambda: None) -> None:
        """From the top of the page with the keyboard alone, to alpha 0.031; ``follow`` looks at the page meanwhile."""
        for _ in range(40):
            self.page.keyboard.press("Tab")
            if self.alpha.evaluate("slider => slider.getRootNode().activeElement === slider"):
                break
        for key, alpha in (("ArrowRight", 101), ("ArrowLeft", 100), ("PageUp", 110), ("PageDown", 100), ("End", 999)):
            self.page.keyboard.press(key)
            self.expect_alpha(alpha)
            follow()
        self.page.keyboard.press("Home")
        self.expect_alpha(1)
        for _ in range(3):
            self.page.keyboard.press("PageUp")
        self.expect_alpha(31)

    def refuse_nonsense(self, alpha: int) -> None:
        """Nonsense is named, and ``alpha`` stays."""
        for nonsense in ("1.5", "0", "-1", ""):
            self.type(nonsense)
            self.number.blur()
            expect(self.page.get_by_text(NONSENSE)).to_be_visible()
            self.expect_alpha(alpha)


NONSENSE = "alpha must be between 0.001 and 0.999"


class Lab(AlphaControl):
    """The alpha lab as a person reads it."""

    def ready(self) -> Lab:
        expect(self.page.locator("[data-side=right] [data-figure=threshold]")).not_to_be_empty()
        return self

    def value(self, score: str, name: str) -> float:
        """A figure in full precision, as the component computed it."""
        shown = self.page.locator(f"article[data-score={score}] [data-figure={name}]")
        expect(shown).to_have_attribute("data-value", re.compile("."))
        return float(shown.get_attribute("data-value") or "nan")

    def figures(self) -> dict[str, tuple[str, str]]:
        """All figures by score and name: the value in full precision, and the text."""
        shown = self.page.locator("article[data-score] [data-figure]").evaluate_all(SHOWN_FIGURES)
        return {name: (value, text) for name, value, text in shown}

    def expect_report(
        self,
        run_id: str,
        *,
        empty: str = "allow",
        scores: tuple[str, str] = ("lac", "aps"),
        by: str = "all",
        look: Look = Look(),  # noqa: B008 - frozen
    ) -> None:
        """Every figure on the page equals the report at the alpha on the page, as soon as it has followed."""
        run = views.look(evaluation.load(run_id), look)
        eventually(self.page, lambda: self._assert_report(run, empty=empty, scores=scores, by=by))

    def _assert_report(self, run: Evaluation, *, empty: str, scores: tuple[str, str], by: str) -> None:
        expected = report(run, self.thousandths(), scores=scores, empty=empty, by=by)
        digits = 2 if expected.n_test >= 1000 else 1
        shown = self.figures()
        for score, figures in expected.scores.items():
            values = {
                "threshold": figures.threshold,
                "coverage": figures.coverage,
                "meanSize": figures.mean_set_size,
                "emptyRate": figures.empty_rate,
            }
            if by != "all":
                del values["threshold"]
            assert {name: number(shown, score, name) for name in values} == values
            assert shown[f"{score} coverage"][1] == f"{100 * figures.coverage:.{digits}f}%"
            assert shown[f"{score} meanSize"][1] == f"{figures.mean_set_size:.2f}"
            if band := shown[f"{score} band"][0]:  # with thresholds for strata it is computed at rest
                assert [float(end) for end in band.split()] == pytest.approx(figures.coverage_band)


SHOWN_FIGURES = """all => all.map(one =>
  [`${one.closest('article').dataset.score} ${one.dataset.figure}`, one.dataset.value ?? '', one.innerText])"""


def number(shown: dict[str, tuple[str, str]], score: str, name: str) -> float:
    value, _ = shown.get(f"{score} {name}", ("", ""))
    return float(value or "nan")


NOT_WHOLE = """() => [...document.querySelectorAll('[data-testid=stButtonGroup]')].flatMap((group) => {
    const room = group.parentElement.closest('[data-testid=stColumn], [data-testid=stMain]').getBoundingClientRect();
    const own = group.getBoundingClientRect();
    return [...group.querySelectorAll('button')].filter((button) => {
        const right = button.getBoundingClientRect().right;
        return right > Math.min(room.right, own.right, innerWidth) + 1;
    }).map((button) => button.innerText);
})"""
"""Labels of switches whose right end is outside their group, their column or the window."""


def expect_whole(page: Page) -> None:
    """No switch is cut off, once the page has been laid out."""
    with suppress(PlaywrightTimeout):
        page.wait_for_function(f"({NOT_WHOLE})().length === 0", timeout=LAID_OUT_WITHIN_MS)
    assert page.evaluate(NOT_WHOLE) == []


def resize(page: Page, width: int, height: int = 900) -> None:
    """Give the window another size and let the page be laid out and drawn in it."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


def choose_page(page: Page, title: str) -> None:
    """Go to the page with this title by the menu: open its group, then click on it."""
    group = next(group for group, entries in MENU.items() if title in {entry.title for entry in entries})
    section = page.get_by_test_id("stTopNavSection").filter(has_text=group)
    expect(section).to_be_visible()  # if it is not, the error says what the page shows instead
    section.click()
    page.get_by_test_id("stTopNavDropdownLink").filter(has_text=title).click()
