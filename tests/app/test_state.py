"""Views of pages and their addresses."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.state.address import SHARED_NAMES, address_of, linked, names_in_address, opened, parse, readers
from app.state.alpha_lab import AlphaLabView
from app.state.calibration import CalibrationView
from app.state.compare import CompareView
from app.state.data import DataView
from app.state.jury import JuryView
from app.state.learn import LearnView
from app.state.new_run import NewRunView
from app.state.one_question import OneQuestionView
from app.state.overview import OverviewView
from app.state.perplexity import PerplexityView
from app.state.prompting import PromptingView
from app.state.shared import SharedView
from app.state.stream_lab import StreamLabView
from core.settings import ROOT

pytestmark = pytest.mark.quick

PAGES: dict[str, type[SharedView]] = {
    "overview": OverviewView,
    "alpha_lab": AlphaLabView,
    "one_question": OneQuestionView,
    "stream_lab": StreamLabView,
    "compare": CompareView,
    "calibration": CalibrationView,
    "jury": JuryView,
    "prompting": PromptingView,
    "perplexity": PerplexityView,
    "data": DataView,
    "learn": LearnView,
    "new_run": NewRunView,
}
"""Every page that has a view, by its name in the address."""
LINKS = json.loads((Path(__file__).parent / "links_of_earlier_version.json").read_text(encoding="utf-8"))
"""Links of the version that had one record for all pages, what it read of each, which fields it called
nonsense, and the address that it wrote then. Fields of another page are left out."""


def address(link: str) -> dict[str, str]:
    return dict(parse_qsl(link, keep_blank_values=True))


@pytest.mark.parametrize("before", LINKS, ids=lambda before: f"{before['page']}?{before['link'][:60]}")
def test_a_link_of_the_earlier_version_opens_the_same_view(before: dict[str, Any]):
    view, problems = opened(address(before["link"]), PAGES[before["page"]]())
    assert {name: getattr(view, name) for name in before["view"]} == before["view"]
    assert [problem.split()[2] for problem in problems] == before["nonsense"]
    assert address_of(view) == before["address"]
    since = set(names_in_address(type(view))) - set(before["view"])
    assert set(before["view"]) <= set(names_in_address(type(view)))
    assert {name: getattr(view, name) for name in since} == {name: getattr(type(view)(), name) for name in since}


def test_links_of_every_page_are_among_them():
    assert len(LINKS) >= 25
    assert {before["page"] for before in LINKS} == set(PAGES) - {"new_run"}  # which had no view then


def test_no_page_has_fields_of_another():
    assert not {"bars", "ask", "answer", "bins", "step"} & set(readers(AlphaLabView))
    leftover = {"run": "r", "alpha": "100", "bars": "aps", "ask": "own", "bins": "7", "step": "3"}
    view, problems = opened(leftover, AlphaLabView())
    assert address_of(view) == {"run": "r", "alpha": "100"}
    assert problems == ()


@pytest.mark.parametrize("page", [SharedView, *PAGES.values()])
def test_every_field_reads_its_own_default_and_refuses_nonsense_in_a_sentence(page: type[SharedView]):
    default = page()
    for field in fields(page):
        again, problems = parse({field.name: str(getattr(default, field.name))}, default)
        assert (again, problems) == (default, ()), field.name
    assert len(set(names_in_address(page))) == len(names_in_address(page))
    assert set(names_in_address(page)) <= set(readers(page))
    assert set(page.OF_ONE_RUN) <= set(names_in_address(page)) - set(SHARED_NAMES) | set(page.KEPT)


def test_the_address_is_written_in_one_place():
    """Only the session writes it. The menu hands it on. The Classroom has no view of runs: its address names the class,
    says whether its projector view is open, and takes a lecturer's key once."""
    reads = {"app/menu.py", "app/components/classroom/__init__.py", "app/components/classroom/classroom.py"}
    uses = {
        path.relative_to(ROOT).as_posix()
        for folder in ("app", "pages")
        for path in (ROOT / folder).rglob("*.py")
        if "st.query_params" in path.read_text(encoding="utf-8")
    }
    assert uses - {"app/state/__init__.py"} == {"app/state/session.py"} | reads


def test_an_empty_address_brings_back_the_last_view():
    last = AlphaLabView(run="r", left="raps", row=7)
    assert opened({}, last) == (last, ())
    assert opened({"utm_source": "x", "theme": "dark"}, last) == (last, ())


def test_a_field_that_an_address_leaves_out_returns_to_its_default_but_run_and_alpha_stay():
    last = AlphaLabView(run="r", alpha=300, left="raps", empty="top1", runs="a,b")
    assert opened({"row": "7"}, last) == (AlphaLabView(run="r", alpha=300, row=7, runs="a,b"), ())


@pytest.mark.parametrize(
    ("page", "name", "texts", "value"),
    [
        (OverviewView, "alpha", ("50", "050", "0.05", ".05", "0.050", "0,05", "5%", "5.0%"), 50),
        (OverviewView, "alpha", ("1", "0.001", "0.1%"), 1),
        (CalibrationView, "t", ("150", "1.5", "1.50"), 150),
        (StreamLabView, "gamma", ("5", "0.005"), 5),
    ],
)
def test_a_number_is_read_as_links_count_it_and_as_the_page_shows_it(
    page: type[SharedView], name: str, texts: tuple[str, ...], value: int
):
    for text in texts:
        view, problems = parse({name: text}, page())
        assert (getattr(view, name), problems) == (value, ()), text
        assert address_of(view).get(name, str(value)) == str(value)


@pytest.mark.parametrize(
    "alpha", ["0", "1000", "-5", "0.0", "1.0", "0.0125", "100%", "%", "1e2", "", "abc", "١٠٠", "100 ", "9" * 40]
)
def test_a_nonsense_alpha_is_named_and_replaced(alpha: str):
    view, problems = parse({"alpha": alpha}, OverviewView(alpha=300))
    assert view.alpha == 300
    assert len(problems) == 1
    assert "from 1 to 999" in problems[0]
    assert "0.300" in problems[0]
    assert len(problems[0]) < 200


@pytest.mark.parametrize(
    ("page", "name", "value"),
    [
        (AlphaLabView, "empty", "maybe"),
        (OverviewView, "score", "raps2"),
        (AlphaLabView, "row", "0"),
        (AlphaLabView, "row", "x"),
        (AlphaLabView, "split", "1234567"),
        (AlphaLabView, "subject", "x" * 201),
        (CompareView, "runs", ",".join(f"r{i}" for i in range(25))),
        (CalibrationView, "t", "19"),
        (JuryView, "at", "101"),
        (PerplexityView, "models", "x" * 4801),
        (PromptingView, "shots", "-1"),
    ],
)
def test_other_nonsense_is_named_too(page: type[SharedView], name: str, value: str):
    view, problems = parse({name: value}, page())
    assert view == page()
    assert len(problems) == 1
    assert name in problems[0]
    assert len(problems[0]) < 300


def test_the_address_holds_what_a_page_shows_and_no_defaults():
    view = OneQuestionView(run="r", empty="top1", question="q1", score="aps", runs="a")
    assert address_of(view) == {"run": "r", "alpha": "100", "empty": "top1", "question": "q1"}
    assert address_of(OverviewView()) == {"alpha": "100"}


@given(
    run=st.text(max_size=20),
    alpha=st.integers(1, 999),
    empty=st.sampled_from(["allow", "top1"]),
    row=st.integers(1, 10**8),
    n=st.integers(0, 10**9 - 1),
    subject=st.text(max_size=200),
)
def test_every_view_comes_back_from_its_address(**choices: Any):
    view = AlphaLabView(**choices)
    assert opened(address_of(view), AlphaLabView()) == (view, ())
    assert opened(address_of(view), replace(AlphaLabView(), left="raps", show="misses")) == (view, ())


def test_a_link_from_another_page_takes_its_alpha_its_score_and_its_policy_and_no_run():
    view = OverviewView(run="r", runs="a,b", alpha=250, score="aps", empty="top1", figure="runs")
    assert linked(AlphaLabView, view, run="q") == {"run": "q", "alpha": "250", "empty": "top1"}
    assert linked(CompareView, view, runs="c") == {"runs": "c", "alpha": "250", "score": "aps", "published": "off"}
    assert linked(DataView, view, shelf="s") == {"alpha": "250", "score": "aps", "shelf": "s"}
