"""The README's moving picture: `python -m tests.pictures.film [FILE]`. No test.

A browser opens the running app, and each frame is taken after one step of the pointer: the answer on Overview, alpha
dragged in the Alpha lab, and alpha dragged on one question. The frames are joined into an animated WebP of at most 2 MB
(``assets/hedge.webp`` by default). A page shows no pointer of its own here, so one is drawn where the mouse is.
"""

import argparse
import io
import itertools
import math
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page, sync_playwright

from core.settings import ROOT
from tests.browser.conftest import FLAGS, server

PICTURE = ROOT / "assets" / "hedge.webp"
SIZE = (1120, 700)
STEP_MS = 100
LARGEST_BYTES = 2_000_000
QUESTION = "qa-0499"
"""A test question of the run that the pages open with; its options leave the set one after the other."""
QUALITIES = (70, 60, 50, 40, 30)
SEEN_WITHIN_MS = 60_000
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
POINTER = """() => {
  const pointer = document.createElement('div');
  pointer.style.cssText = 'position:fixed;z-index:1000000;pointer-events:none;width:22px;height:22px;left:-50px;top:0;';
  pointer.innerHTML = '<svg viewBox="0 0 22 22"><path d="M3 2l15 9-7 1.5L7.5 19z" fill="#111" stroke="#fff" '
    + 'stroke-width="1.5"/></svg>';
  document.body.append(pointer);
  document.addEventListener('mousemove', event => {
    pointer.style.left = `${event.clientX - 3}px`;
    pointer.style.top = `${event.clientY - 2}px`;
  }, true);
}"""


@dataclass
class Film:
    """The frames so far, with how long each one is shown."""

    page: Page
    frames: list[Image.Image] = field(default_factory=list)
    milliseconds: list[int] = field(default_factory=list)

    def take(self, milliseconds: int = STEP_MS) -> None:
        """Take a frame of what the page shows once it is painted."""
        self.page.evaluate(PAINTED)
        taken = self.page.screenshot(type="png")
        self.frames.append(Image.open(io.BytesIO(taken)).convert("RGB"))
        self.milliseconds.append(milliseconds)

    def open(self, address: str, shown: str, *, wait_ms: int = 1500) -> None:
        """Open a page and wait until ``shown`` is there and the charts have settled."""
        self.page.goto(address)
        self.page.locator(shown).first.wait_for()
        self.page.wait_for_timeout(wait_ms)
        self.page.evaluate(POINTER)

    def drag(self, slider: Locator, alphas: Iterator[float]) -> None:
        """Drag a slider of alpha, a frame for each value in (0, 1). It starts where the slider is."""
        box = slider.bounding_box()
        assert box is not None
        thumb = 16.0

        def place(alpha: float) -> float:
            return float(box["x"] + thumb / 2 + (box["width"] - thumb) * alpha)

        height = box["y"] + box["height"] / 2
        start = int(slider.input_value()) / 1000
        self.page.mouse.move(place(start), height)
        self.take(300)
        self.page.mouse.down()
        for alpha in alphas:
            self.page.mouse.move(place(alpha), height)
            self.take()
        self.page.mouse.up()
        self.page.wait_for_timeout(800)

    def save(self, into: Path) -> int:
        """Write the film with the best quality that keeps it small enough. Returns the number of bytes."""
        for quality in QUALITIES:
            held = io.BytesIO()
            self.frames[0].save(
                held,
                format="WEBP",
                save_all=True,
                append_images=self.frames[1:],
                duration=self.milliseconds,
                loop=0,
                quality=quality,
                method=4,
            )
            if held.tell() <= LARGEST_BYTES:
                break
        into.write_bytes(held.getvalue())
        return held.tell()


def eased(*stops: tuple[float, int]) -> Iterator[float]:
    """Values from each stop to the next in as many steps as the next one says, slow at both ends."""
    for (start, _), (end, steps) in itertools.pairwise(stops):
        for step in range(1, steps + 1):
            yield start + (end - start) * (1 - math.cos(math.pi * step / steps)) / 2


def play(film: Film, address: str) -> None:
    """The three scenes."""
    film.open(address, "text=Which model hedges well?", wait_ms=8000)
    film.take(2500)
    film.open(f"{address}/alpha_lab", ".lab .cards li")
    film.page.locator(".control").first.evaluate("element => element.scrollIntoView()")
    film.page.mouse.wheel(0, -70)
    film.page.wait_for_timeout(700)
    film.take(700)
    film.drag(film.page.locator(".lab #alpha").first, eased((0.1, 0), (0.3, 28), (0.05, 40), (0.1, 18)))
    film.take(800)
    film.open(f"{address}/one_question?question={QUESTION}", ".question .option")
    film.page.locator(".question .head").first.evaluate("element => element.scrollIntoView()")
    film.page.mouse.wheel(0, -90)
    film.page.wait_for_timeout(700)
    film.take(700)
    film.drag(film.page.locator(".question #alpha").first, eased((0.1, 0), (0.36, 26), (0.05, 30)))
    film.take(1200)


def main() -> None:
    """Make the moving picture."""
    parser = argparse.ArgumentParser(prog="python -m tests.pictures.film", description="The README's moving picture.")
    parser.add_argument("file", nargs="?", type=Path, default=PICTURE, help="where it is written (.webp)")
    into = parser.parse_args().file
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("chromium is missing; install it to make the picture")
    with (
        tempfile.TemporaryDirectory() as folder,
        server(Path(folder) / "home") as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(bypass_csp=True, viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="light")
        page.set_default_timeout(SEEN_WITHIN_MS)
        film = Film(page)
        play(film, address)
        browser.close()
        size = film.save(into)
    print(f"{into}: {len(film.frames)} frames, {sum(film.milliseconds) / 1000:.1f} s, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
