"""Pictures of every page: `python -m tests.pictures [VIEW …] [--into FOLDER] [--home HOME]`. No test.

Each view is taken whole at four widths in light and dark, by one server and one browser, and put side by side into
``index.html`` of the folder (``.pictures`` by default, which git ignores). What a script can see to be wrong is printed
and stands below each picture: sideways scrolling, cut text, overlapping words or controls, exceptions, console errors.

Without a home, the pages show the runs that ship with Hedge. VIEW is a page's name (``alpha_lab``), a view of one
(``one_question_own``), or nothing for all of them.
"""

import argparse
import html
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, TimeoutError, sync_playwright

from charts.run_styles import NARROW
from core.settings import ROOT
from tests.browser.conftest import FLAGS, Visit, server
from tests.pictures.faults import faults
from tests.pictures.views import VIEWS, View

SIZES = ((1440, 900), (1280, 720), (900, 900), (390, 844))
THEMES = ("light", "dark")
TALLEST = 12_000
"""In pixels. A page that is longer is cut here."""
MOST_GROWTHS = 4
SEEN_WITHIN_MS = 60_000
SETTLED = """() => new Promise(done => {
  let height = -1, quiet = 0, polls = 0;
  const look = () => {
    const main = document.querySelector('[data-testid=stMain]') ?? document.documentElement; // or a phone's page
    const busy = document.querySelector('.stApp[data-test-script-state=running], [data-testid=stSkeleton], .computing')
      || [...document.querySelectorAll('[data-testid=stVegaLiteChart]')].some(one => !one.querySelector('svg, canvas'));
    quiet = main && !busy && main.scrollHeight === height ? quiet + 1 : 0;
    height = main ? main.scrollHeight : -1;
    if (quiet >= 4 || ++polls > 100) done(height); else setTimeout(look, 100);
  };
  look();
})"""
"""Resolves to the height of the page's content once the script has ended and the height has stood for 0.4 s."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One view at one size in one theme, and what is wrong with it."""

    view: str
    width: int
    height: int
    theme: str
    faults: tuple[str, ...]

    @property
    def file(self) -> str:
        """The picture's file name."""
        return f"{self.view}-{self.width}-{self.theme}.png"


def main() -> None:
    """Take the pictures that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.pictures", description="Pictures of every page.")
    parser.add_argument("views", nargs="*", metavar="VIEW", help=f"any of {', '.join(VIEWS)}; all without one")
    parser.add_argument("--into", type=Path, default=ROOT / ".pictures", help="the folder for the pictures")
    parser.add_argument("--home", type=Path, help="a HEDGE_HOME with runs of your own; an empty one without it")
    widths = [width for width, _ in SIZES]
    parser.add_argument("--width", type=int, nargs="+", choices=widths, default=widths, help="only these widths")
    parser.add_argument("--theme", nargs="+", choices=THEMES, default=THEMES, help="only these themes")
    options = parser.parse_args()
    unknown = sorted(set(options.views) - set(VIEWS))
    if unknown:
        parser.error(f"there is no view {', '.join(unknown)}; choose from {', '.join(VIEWS)}")
    options.into.mkdir(parents=True, exist_ok=True)
    sizes = [size for size in SIZES if size[0] in options.width]
    themes = [theme for theme in THEMES if theme in options.theme]
    pictures: list[Picture] = []
    views = options.views or list(VIEWS)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        with server(options.home or Path(folder) / "home") as address:
            for view in views:
                for theme in themes:
                    pictures += taken(browser, address, view, theme, sizes, options.into)
        browser.close()
    index = options.into / "index.html"
    index.write_text(side_by_side(pictures), encoding="utf-8")
    wrong = sum(bool(picture.faults) for picture in pictures)
    print(f"{len(pictures)} pictures, {wrong} with faults: {index}")


def taken(
    browser: Browser, address: str, view: str, theme: str, sizes: list[tuple[int, int]], into: Path
) -> list[Picture]:
    """The view at each size. A desktop window is resized; the phone's size is opened in a new window."""
    page = browser.new_page(
        bypass_csp=True, viewport={"width": sizes[0][0], "height": sizes[0][1]}, reduced_motion="reduce"
    )
    page.emulate_media(color_scheme=theme)
    page.set_default_timeout(SEEN_WITHIN_MS)
    window = Visit(page, address)
    window.listen()
    shown = VIEWS[view]
    pictures: list[Picture] = []
    for width, height in sizes:
        if width < NARROW and not shown.phone:
            continue
        page.set_viewport_size({"width": width, "height": height})
        if width < NARROW or not pictures:
            page.context.clear_cookies()
            window.open(shown.address)
            late = not _is_drawn(page, shown)
            page.mouse.move(0, 0)  # a chart shows its buttons while the pointer is on it
        if shown.whole:
            _grow(page, width, height)
        else:
            page.evaluate(SETTLED)
        wrong = [*faults(page), *(f"the console says: {error}" for error in window.errors)]
        if late:
            wrong.insert(0, "not drawn in time: " + shown.drawn)
        picture = Picture(view, width, height, theme, tuple(wrong))
        page.screenshot(path=str(into / picture.file))
        _say(picture)
        pictures.append(picture)
    page.close()
    return pictures


def _grow(page: Page, width: int, height: int) -> None:
    """Make the window as tall as the page's content, because Streamlit scrolls inside it.

    Content that was never on screen can be taller than it was estimated to be, so the window grows again for it.
    """
    for _ in range(MOST_GROWTHS):
        content = min(page.evaluate(SETTLED), TALLEST)
        if content <= height:
            break
        height = content
        page.set_viewport_size({"width": width, "height": height})


def _is_drawn(page: Page, view: View) -> bool:
    """Whether the view is reached in time."""
    try:
        page.locator(view.drawn).first.wait_for()
        if view.reach:
            view.reach(page)
    except TimeoutError:
        return False
    return True


def _say(picture: Picture) -> None:
    print(f"{picture.file}: {len(picture.faults)} faults" if picture.faults else picture.file, file=sys.stderr)
    for fault in picture.faults:
        print(f"    {fault}")


def side_by_side(pictures: list[Picture]) -> str:
    """A page that shows one view in a row, with a dashed line where the window ends before a person scrolls."""
    rows = []
    for view in dict.fromkeys(picture.view for picture in pictures):
        cells = "".join(_cell(picture) for picture in pictures if picture.view == view)
        rows.append(f"<h2 id='{view}'>{html.escape(view)}</h2><div class=row>{cells}</div>")
    links = " ".join(f"<a href='#{view}'>{view}</a>" for view in dict.fromkeys(picture.view for picture in pictures))
    head = f"<!doctype html><meta charset=utf-8><title>Pictures</title><style>{CSS}</style>"
    return f"{head}<nav>{links}</nav>{''.join(rows)}"


def _cell(picture: Picture) -> str:
    faults = "".join(f"<li>{html.escape(fault)}</li>" for fault in picture.faults)
    shown = max(picture.width // 3, 195)
    fold = picture.height * shown // picture.width
    return (
        f"<figure style='width:{shown}px'><figcaption>{picture.width} × {picture.height}, {picture.theme}</figcaption>"
        f"<a href='{picture.file}'><img src='{picture.file}' alt='' width={shown}><i style='top:{fold}px'></i></a>"
        f"<ul>{faults}</ul></figure>"
    )


CSS = """
body { font: 13px system-ui; margin: 1rem; } nav a { margin-right: 0.7em; }
.row { display: flex; gap: 1rem; overflow-x: auto; align-items: flex-start; } figure { margin: 0; flex: none; }
figure a { position: relative; display: block; border: 1px solid #999; } img { display: block; }
i { position: absolute; left: 0; right: 0; border-top: 1px dashed red; } ul { padding-left: 1.2em; color: #b00; }
"""

if __name__ == "__main__":
    main()
