"""Texts that would become markup if a page took them for more than text, in runs and in a jury."""

from dataclasses import replace

from playwright.sync_api import Page, expect

from core.jury.pipeline import jury_store
from core.runs import store
from tests.browser.conftest import eventually, settled
from tests.conftest import synthetic_questions, synthetic_run
from tests.core.jury.verdicts import seeded_jury

HOSTILE = (
    "<img class=planted src=http://e.vil/a.png onerror=\"document.title='caught'\">"
    "<script class=planted>document.title='caught'</script><a class=planted href='javascript:alert(1)'>a</a>"
    "![b](http://e.vil/b.png) [c](http://e.vil/c) http://e.vil/d :red[e] $f$ `g` =1+1 {{7*7}} &amp; </script></style>"
)
MODEL = "m<img class=planted src=//e.vil/m.png onerror=document.title='caught'>$x$ :red[y] [z](http:e.vil)"
PLANTED = """() => [
  ...document.querySelectorAll(".planted, .katex, [href*='e.vil'], [src*='e.vil'], [href^='javascript:']"),
  ...[...document.querySelectorAll('iframe')]
    .flatMap(one => [...(one.contentDocument?.querySelectorAll('.planted') ?? [])]),
].map(one => one.outerHTML.slice(0, 200))"""
"""Elements that a text has become."""


def hostile_runs() -> list[str]:
    """Write two runs of 60 questions; their ids."""
    names = [synthetic_run(60, model=MODEL, seed=seed) for seed in (0, 1)]
    for seed, name in enumerate(names):
        questions = [
            replace(q, question=f"{i} {HOSTILE}", context=HOSTILE, group=HOSTILE, options=(HOSTILE, *q.options[1:]))
            for i, q in enumerate(synthetic_questions(60, seed=seed))
        ]
        store.write_questions(store.folder_of(name), questions, ["calibration"] * 30 + ["test"] * 30)
    return names


def hostile_jury() -> str:
    """Write a jury of 80 answers; its id."""
    judged = replace(seeded_jury(80), questions=(HOSTILE,) * 80, answers=(HOSTILE,) * 80, jurors=(HOSTILE, "b", "c"))
    return jury_store.save(judged, name=HOSTILE, origin=HOSTILE)


def only_text(page: Page) -> None:
    """Nothing on the page has become markup, and no script has run."""
    eventually(settled(page), lambda: page.evaluate(PLANTED))
    expect(page).not_to_have_title("caught")
