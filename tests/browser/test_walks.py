"""The walks of ``docs/text/accessibility.md``, followed row by row with the keyboard alone."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor, eventually, settled
from tests.browser.walks import follow, small_targets, written_walk
from tests.parameters import rest_nightly

WALKS = {
    "Explore": ("address", "/", "a[href^='alpha_lab']"),
    "Teach": ("address", "/learn", ".lesson .plot svg.chart"),
    "Demo": ("pocket", "/one_question", ".question .answer"),
}
"""Each walk by its heading: the server (*Demo* asks a model), the page at which it begins, and what has to be there
before the first key."""


def opened(visit: Visitor, request: pytest.FixtureRequest, name: str) -> Page:
    server, path, there = WALKS[name]
    page = visit(request.getfixturevalue(server), width=1280, height=720).open(path)
    expect(page.locator(there).first).to_be_visible()
    return settled(page)


@pytest.mark.parametrize("name", rest_nightly(["Explore", "Teach", "Demo"], now=["Demo"]))
def test_a_walk_is_possible_as_it_is_written(visit: Visitor, request: pytest.FixtureRequest, name: str):
    """At each stop something is spoken and a part of what has the focus is seen."""
    steps = written_walk(name)
    assert len(steps) > 15
    page = opened(visit, request, name)
    assert list(follow(page, steps)) == []
    eventually(page, lambda: small_targets(page))
