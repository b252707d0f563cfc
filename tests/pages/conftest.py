"""Pages as AppTest runs them, in a home of their own and without an agent."""

import importlib.metadata
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import wraps
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import streamlit as st
from altair.vegalite.v6.schema import core
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, ButtonGroup

from app.background import Computation
from app.serving import table_files
from app.state.session import BY_ITSELF_KEY
from charts.figure import Figure
from core.runs import store
from core.settings import ROOT

Open = Callable[..., AppTest]
PAGE_WITHIN_S = 120.0
"""A page takes a second; on a busy machine it may take its time."""


@pytest.fixture(autouse=True)
def _no_search_for_components(monkeypatch: pytest.MonkeyPatch) -> None:
    """For each AppTest Streamlit reads the metadata of all packages, 0.3 s; none of them has a component."""
    monkeypatch.setattr(importlib.metadata, "distributions", lambda **_: iter(()))


@pytest.fixture
def open_page(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens a page by its name in the address, with its view.

    No run ships, none is queued, no agent is started, and no model is loaded before it is asked. A page that shows an
    exception fails the test, after each click, too.
    """
    monkeypatch.setattr(AppTest, "_run", _without_exception(AppTest._run))
    monkeypatch.setattr("core.runs.store.ASSETS", home.parent / "assets")
    monkeypatch.setattr("core.runs.engine.agent_alive", lambda: True)
    monkeypatch.setattr("core.runs.engine.statuses", lambda: [])
    monkeypatch.setattr(Figure, "page_spec", _validated(Figure.page_spec))
    monkeypatch.setattr("app.background.start", _compute_at_once)
    monkeypatch.setattr("app.background.painted", lambda page: True)
    monkeypatch.setattr("core.runs.answering.client.warm", lambda model, dtype: None)
    st.cache_resource.clear()

    def opened(page: str, **view: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=PAGE_WITHIN_S)
        for name, value in view.items():
            app.query_params[name] = value
        if page == "overview":
            return app.run()
        # The page is named before the first run, so that no other one sees the view first.
        app.switch_page(f"../pages/{page}.py")
        return app.run()

    yield opened
    st.cache_resource.clear()


def _without_exception(run: Callable[..., AppTest]) -> Callable[..., AppTest]:
    @wraps(run)
    def checked(*args: Any, **kwargs: Any) -> AppTest:
        app = run(*args, **kwargs)
        assert not app.exception
        return app

    return checked


def _validated(page_spec: Callable[[Figure], dict[str, Any]]) -> Callable[[Figure], dict[str, Any]]:
    """The same, which raises an error if the chart does not fit Vega-Lite's schema; only tests check that.

    A check takes as long as the page's other work, so charts that differ in their numbers alone are checked once.
    """

    def checked(figure: Figure) -> dict[str, Any]:
        spec = page_spec(figure)
        without_numbers = {name: part for name, part in spec.items() if name != "datasets"}
        kind = json.dumps(_without_numbers(without_numbers), sort_keys=True)
        if kind not in VALID:
            core.Root.validate(without_numbers)
            VALID.add(kind)
        return spec

    return checked


VALID: set[str] = set()
"""The charts that fit, without their numbers."""


def _without_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_numbers(child) for name, child in value.items()}
    if isinstance(value, list):
        return [_without_numbers(child) for child in value]
    return 0.0 if isinstance(value, float) else value


def _compute_at_once(awaited: Sequence[Computation[object]]) -> None:
    """In the place of the thread and of the browser's timer, so that a page that has run shows everything."""
    for computation in awaited:
        computation.run()
    st.session_state[BY_ITSELF_KEY] = True
    st.rerun()


@pytest.fixture
def open_page_early(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens a page before anything has been computed in the background. It is computed when the page runs again."""

    def opened(page: str, **view: str) -> AppTest:
        with monkeypatch.context() as patch:
            patch.setattr("app.background.start", lambda awaited: None)
            return open_page(page, **view)

    return opened


def keep_their_places(app: AppTest, at_least: int) -> bool:
    """Whether all widgets and tables of a page that was opened early keep their places when its figures arrive.

    Streamlit recreates an element that changes its place, which would close a list that a person has just opened.
    """
    assert _awaits(app)
    before = _places(app.main)
    app.run()
    assert not _awaits(app)
    after = _places(app.main)
    assert len(before) >= at_least
    return before == {name: after[name] for name in before}


KEEP_THEMSELVES = ("shown_theme", "shortcuts")
"""At the end of every page: what nobody sees, and the list of shortcuts, which stays open by itself."""


def _awaits(app: AppTest) -> bool:
    return any('class="computing"' in element.proto.body for element in app.get("html"))


def _places(block: Block, *above: int) -> dict[str, tuple[int, ...]]:
    """The place of each element that has an id: its indices from the page inwards."""
    places: dict[str, tuple[int, ...]] = {}
    for i, child in block.children.items():
        if isinstance(child, Block):
            places |= _places(child, *above, i)
        elif (name := getattr(child.proto, "id", "")) and not name.endswith(KEEP_THEMSELVES):
            places[name] = (*above, i)
    return places


def page_text(app: AppTest) -> str:
    """All words of warnings, errors, notes and texts, without markdown's escapes."""
    parts = [*app.error, *app.warning, *app.info, *app.success, *app.caption, *app.markdown, *app.text]
    return " ".join(str(part.value) for part in parts).replace("\\", "").replace("\u2060", "")


def components(app: AppTest) -> list[Any]:
    """The components of the page itself, without the list of shortcuts that ends every page."""
    return [component for component in app.get("bidi_component") if component.key != "shortcuts"]


def sent(app: AppTest, name: str) -> dict[str, Any]:
    """The values and tables (as columns) of the component of this kind, or of the first one that has a field of this
    name; empty if there is none."""
    values = [component.proto.mixed if component.proto.mixed.json else component.proto for component in components(app)]
    given = [(json.loads(value.json), value) for value in values]
    chosen = [pair for pair in given if pair[0].get("kind") == name] or [pair for pair in given if name in pair[0]]
    if not chosen:
        return {}
    plain, value = chosen[0]
    for table, blob in getattr(value, "arrow_blobs", {}).items():
        columns = pa.ipc.open_stream(blob.data).read_all().to_pydict()
        plain |= {key: columns for key, field in plain.items() if field == {"__streamlit_arrow_ref__": table}}
    return plain


def click(app: AppTest, label: str) -> AppTest:
    """Press the button with this label, or else the first one whose label begins so."""
    buttons = sorted(app.button, key=lambda button: button.label != label)
    return next(button for button in buttons if button.label.startswith(label)).click().run()


def unfolded(app: AppTest, *keys: str) -> AppTest:
    """The page with these folded parts open."""
    for key in keys:
        app.session_state[key] = True
    return app.run()


class _Cells(HTMLParser):
    """The cells of a table in HTML, row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        self.rows[-1][-1] += data.replace("\u00a0", " ")


def static_tables(app: AppTest) -> list[pd.DataFrame]:
    """The page's small tables, as a person reads them."""
    tables = []
    for element in app.get("html"):
        if 'class="static-table' in element.proto.body:
            cells = _Cells()
            cells.feed(element.proto.body)
            tables.append(pd.DataFrame(cells.rows[1:], columns=cells.rows[0]))
    return tables


def opened_picker(app: AppTest) -> str:
    """Open the dialog in which the page's runs are chosen. Returns the beginning of its widgets' keys."""
    (button,) = [button for button in app.button if (button.key or "").endswith("_choose")]
    button.click().run()
    return str(button.key).removesuffix("_choose")


def groups_of_runs(app: AppTest) -> list[ButtonGroup[str]]:
    """The groups of runs in an open dialog."""
    return [pills for pills in app.pills if "_runs_" in (pills.key or "")]


def listed(app: AppTest) -> list[str]:
    """The names of the runs in an open dialog, in its order, without markdown's escapes."""
    return [name.replace("\\", "") for group in groups_of_runs(app) for name in group.options]


def press(app: AppTest, run_id: str) -> AppTest:
    """Press a run in an open dialog, whose chips may hide it at first."""
    name = store.read_record(run_id).spec.model_name
    for chips in app.pills:
        if (chips.key or "").endswith("_pick_models") and chips.value and name not in chips.value:
            chips.set_value([]).run()
    for group in groups_of_runs(app):
        with suppress(KeyError):  # the run is in another group
            if group.format_func(run_id) in group.options:
                return group.select(run_id).run()
    raise AssertionError(f"{run_id} is not in the list")


def pick(app: AppTest, *run_ids: str) -> AppTest:
    """Choose one run, or exactly these runs, in the page's dialog."""
    page = opened_picker(app)
    if not [button for button in app.button if button.key == f"{page}_take"]:
        (run_id,) = run_ids
        return press(app, run_id)
    if not app.button(key=f"{page}_empty").disabled:
        app.button(key=f"{page}_empty").click().run()
    for run_id in run_ids:
        press(app, run_id)
    return app.button(key=f"{page}_take").click().run()


def picked(app: AppTest) -> list[str]:
    """The runs that the line of a multiple choice names, in its order."""
    return [str(button.key).partition("_remove_")[2] for button in app.button if "_remove_" in (button.key or "")]


@pytest.fixture
def in_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are sent with the page, as where their files can't be loaded."""
    monkeypatch.setattr(table_files, "SMALLEST", 2**40)
