"""The walks of ``docs/text/accessibility.md``, followed row by row with the keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor, eventually, server, settled
from tests.browser.walks import follow, small_targets, written_walk

WALKS = {
    "Explore": ("/", "a[href^='alpha_lab']"),
    "Teach": ("/learn", ".lesson .plot svg.chart"),
    "Demo": ("/one_question", ".question .answer"),
}
"""Each walk by its heading: the address at which it begins, and what has to be there before the first key."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with the runs that ship with Hedge and a model that answers, as a person has it after the install."""
    folder: Path = tmp_path_factory.mktemp("walks")
    with server(folder / "home", agent=False, answers=True) as url:
        yield url


def opened(visit: Visitor, address: str, name: str) -> Page:
    path, there = WALKS[name]
    page = visit(address, width=1280, height=720).open(path)
    expect(page.locator(there).first).to_be_visible()
    return settled(page)


@pytest.mark.parametrize("name", WALKS)
def test_a_walk_is_possible_as_it_is_written(visit: Visitor, address: str, name: str):
    """At each stop something is spoken and a part of what has the focus is seen."""
    steps = written_walk(name)
    assert len(steps) > 15
    page = opened(visit, address, name)
    assert list(follow(page, steps)) == []
    eventually(page, lambda: small_targets(page))
