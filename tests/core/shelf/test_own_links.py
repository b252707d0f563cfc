"""A person's own links: a file by https, and a data set of the hub.

What the harness writes comes from the hub in tests/core/exchange/test_lm_eval.py, which has the harness run.
"""

import pytest

from core.errors import InputError, UnreachableError
from core.shelf.bring import bring
from core.shelf.own_links import is_link, of_link
from tests.core.shelf.mirror import Mirror
from tests.light_environment import needs_models

CSV = b"qid,A,B,C,answer\n1,0.5,0.3,0.2,A\n2,0.1,0.8,0.1,B\n3,0.3,0.3,0.4,C\n4,0.6,0.2,0.2,A\n"


def test_a_file_by_its_address(mirror: Mirror):
    mirror.files["/some/where/scores.csv"] = CSV
    done = bring(of_link(f"{mirror.url}/some/where/scores.csv"))
    assert len(done.runs) == 1
    assert done.fetched == len(CSV)
    assert done.figures == ()


def test_a_file_with_a_long_name(mirror: Mirror):
    for name in ("n" * 400, "%C3%A4" * 200):
        mirror.files[f"/{name}.csv"] = CSV
        assert len(bring(of_link(f"{mirror.url}/{name}.csv")).runs) == 1


@pytest.mark.parametrize(
    ("link", "says"),
    [
        ("https://127.0.0.1/x.csv", "the address is 127.0.0.1, which is private"),
        ("https://[::1]/x.csv", "the address is ::1, which is private"),
        ("https://0x7f.1/x.csv", "which is private"),
        ("https://169.254.169.254/latest/meta-data", "which is private"),
        ("https://user:secret@example.org/x.csv", "one with a user's name or a password"),
        ("http://example.org/x.csv", "the address is http://example.org; only https addresses"),
        ("ftp://example.org/x.csv", "only https addresses"),
        ("file:///etc/passwd", "only https addresses"),
        ("https://example.org/", "the address names no file"),
        ("https://example.org/a%00.csv", "the address names no file"),
        ("https://example.org:99999/x.csv", "the address is none that can be read"),
        ("https://[oops/x.csv", "the address is none that can be read"),
    ],
)
def test_a_link_that_is_not_fetched_from(mirror: Mirror, link, says):
    assert is_link(link)
    with pytest.raises(InputError, match=says):
        of_link(link)


@needs_models
def test_the_page_of_a_file_stands_for_the_file(mirror: Mirror, monkeypatch):
    (file,) = of_link("https://github.com/some/release/blob/abc1234/out/scores.csv").files
    assert file.address == "https://raw.githubusercontent.com/some/release/abc1234/out/scores.csv"
    monkeypatch.setenv("HF_ENDPOINT", mirror.url)
    mirror.add_to_hub("org/data", "a/scores.csv", CSV)
    mirror.add_to_hub("org/data", "b.csv", CSV)
    page = "https://huggingface.co/datasets/org/data"
    assert [file.path for file in of_link(f"{page}/blob/main/a/scores.csv").files] == ["a/scores.csv"]
    assert [len(of_link(link).files) for link in (page, f"{page}/tree/main", "org/data")] == [2, 2, 2]
    with pytest.raises(InputError, match=r"expected a file of results at c\.csv"):
        of_link(f"{page}/blob/main/c.csv")


def test_a_file_is_asked_for_each_time_and_kept_for_when_it_can_not_be(mirror: Mirror, monkeypatch):
    mirror.files["/scores.csv"] = CSV
    link = f"{mirror.url}/scores.csv"
    (first,) = bring(of_link(link)).runs
    mirror.files["/scores.csv"] = CSV + b"5,0.6,0.2,0.2,A\n"
    (second,) = bring(of_link(link)).runs
    assert first != second
    monkeypatch.setattr("core.shelf.downloads._piece", _unreachable)
    assert bring(of_link(link)).existed == (second,)


def _unreachable(*_: object) -> None:
    raise UnreachableError("no network")


@pytest.mark.parametrize("ranges", [True, False])
def test_an_empty_file(mirror: Mirror, ranges):
    mirror.ranges = ranges
    mirror.files["/scores.csv"] = b""
    with pytest.raises(InputError, match=r"scores\.csv: expected a file with content, the server has an empty one"):
        bring(of_link(f"{mirror.url}/scores.csv"))


def test_a_file_of_no_known_kind_is_refused(mirror: Mirror):
    mirror.files["/page.csv"] = b"<html><body>Log in</body></html>"
    with pytest.raises(InputError, match=r"page.csv: .*nothing was imported"):
        bring(of_link(f"{mirror.url}/page.csv"))


@needs_models
def test_a_data_set_that_is_not_on_the_hub(mirror: Mirror, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", mirror.url)
    with pytest.raises(InputError, match="it is not on the hub"):
        of_link("some/nothing")
    mirror.add_to_hub("some/pictures", "cat.png", b"\x89PNG")
    with pytest.raises(InputError, match="expected files of results"):
        of_link("some/pictures")
