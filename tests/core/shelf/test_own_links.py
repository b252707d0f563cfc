"""A person's own links: a file by https, and a data set of the hub.

What the harness writes comes from the hub in tests/core/exchange/test_lm_eval.py, which has the harness run.
"""

from __future__ import annotations

import pytest

from core.errors import InputError
from core.shelf.bring import bring
from core.shelf.own_links import is_link, of_link
from tests.core.shelf.mirror import Mirror

CSV = b"qid,A,B,C,answer\n1,0.5,0.3,0.2,A\n2,0.1,0.8,0.1,B\n3,0.3,0.3,0.4,C\n4,0.6,0.2,0.2,A\n"


def test_a_file_by_its_address(mirror: Mirror):
    mirror.files["/some/where/scores.csv"] = CSV
    done = bring(of_link(f"{mirror.url}/some/where/scores.csv"))
    assert len(done.runs) == 1
    assert done.fetched == len(CSV)
    assert done.figures == ()


@pytest.mark.parametrize(
    ("link", "says"),
    [
        ("https://127.0.0.1/x.csv", "which is a private address"),
        ("http://example.org/x.csv", "only https addresses"),
        ("ftp://example.org/x.csv", "only https addresses"),
        ("https://example.org/", "the address names no file"),
    ],
)
def test_a_link_that_is_not_fetched_from(mirror: Mirror, link, says):
    assert is_link(link)
    with pytest.raises(InputError, match=says):
        of_link(link)


def test_a_file_of_no_known_kind_is_refused(mirror: Mirror):
    mirror.files["/page.csv"] = b"<html><body>Log in</body></html>"
    with pytest.raises(InputError, match=r"page.csv: .*nothing was imported"):
        bring(of_link(f"{mirror.url}/page.csv"))


def test_a_data_set_that_is_not_on_the_hub(mirror: Mirror, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", mirror.url)
    with pytest.raises(InputError, match="it is not on the hub"):
        of_link("some/nothing")
    mirror.add_to_hub("some/pictures", "cat.png", b"\x89PNG")
    with pytest.raises(InputError, match="expected files of results"):
        of_link("some/pictures")
