"""Opens pages of the Hedge that is installed, without a browser; fails if one of them shows an error.

    python tests/open_pages.py [PAGE …]        all pages if none is named

It imports nothing else of this repository, so that it can look at an installed Hedge.
"""

# ruff: noqa: E402
import os
import sys

from hedge import own_modules

own_modules.put_first()
os.chdir(own_modules.FOLDER)  # Streamlit reads its configuration there, as in the server

from streamlit.testing.v1 import AppTest

from app.navigation import PAGES

WITHIN_S = 120.0


def errors(page: str) -> list[str]:
    """The errors that a page shows."""
    app = AppTest.from_file(str(own_modules.FOLDER / "app" / "main.py"), default_timeout=WITHIN_S)
    app.switch_page(str(own_modules.FOLDER / "pages" / f"{page}.py"))
    app.run()
    shown = [str(element.value) for element in (*app.exception, *app.error)]
    return shown if shown or list(app.title) else ["it has no title"]


if __name__ == "__main__":
    pages = sys.argv[1:] or [entry.name for entry in PAGES]
    wrong = {page: shown for page in pages if (shown := errors(page))}
    print(f"{len(pages) - len(wrong)} of {len(pages)} pages of {own_modules.FOLDER} open without an error")
    sys.exit(f"these do not: {wrong}" if wrong else 0)
