"""The glossary: what it explains, and that pages ask only for what it has."""

import ast

import pytest
from streamlit.testing.v1 import AppTest

from app.components.learn import meanings
from app.glossary import GROUPS, TERMS, hint
from app.navigation import PAGES
from charts.bundles import COMPONENTS
from core.conformal.scores import SCORES
from core.reports.lesson import load
from docs import glossary as page
from tests.pages.conftest import PAGE_WITHIN_S

pytestmark = pytest.mark.quick


def test_it_explains_the_terms_that_pages_use():
    titles = {term.title.lower() for term in TERMS.values()}
    wanted = (
        "alpha, coverage, prediction set, set size, threshold, calibration questions, split, exchangeability, ece, "
        "nll, reliability diagram, perplexity, surprisal, by letter, by text, strategy, shots, juror, kappa, "
        "effective votes, abstention, ard-lora, temperature, uacc"
    )
    assert set(wanted.split(", ")) <= titles
    assert {score.title.lower() for score in SCORES.values()} <= titles


def test_a_name_is_in_one_group():
    assert len(TERMS) == sum(len(group) for group in GROUPS.values())


@pytest.mark.parametrize("name", TERMS)
def test_a_meaning_is_one_or_a_few_sentences_and_its_page_exists(name: str):
    term = TERMS[name]
    assert term.meaning.endswith(".")
    assert len(term.meaning) < 260
    assert term.page in {entry.name for entry in PAGES[1:]}  # the first page's address is not its name


def test_scores_are_explained_in_the_words_of_their_records():
    assert all(score.sentence in TERMS[name].meaning for name, score in SCORES.items())


def test_every_page_explains_its_terms():
    """At its head, from the glossary. Learn sets terms in bold where they first appear, and explains those."""
    links: dict[str, list[str]] = {}
    for entry in PAGES:
        for node in ast.walk(ast.parse(entry.script.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "terms":
                links[entry.name] = list(ast.literal_eval(node.value))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hint":
                links[entry.name] = [ast.literal_eval(name) for name in node.args]
    assert {name for names in links.values() for name in names} <= set(TERMS)
    assert set(links) == {entry.name for entry in PAGES} - {"learn"}
    assert all(links.values())


def test_the_lesson_explains_its_terms():
    shown = meanings(load())
    wanted = ("prediction set", "score", "lac", "calibration questions", "alpha", "threshold", "coverage", "aps")
    assert set(wanted) <= set(shown)
    assert shown["exchangeable"] == TERMS["exchangeability"].meaning


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("alpha_lab/alpha_lab.html", "alpha"),
        ("one_question/option_bars/option_bars.html", "alpha"),
        ("alpha_lab/cards.js", "coverage"),
        ("alpha_lab/cards.js", "set size"),
    ],
)
def test_components_explain_a_term_in_the_same_words(file: str, name: str):
    assert f'title="{TERMS[name].meaning}"' in (COMPONENTS / file).read_text(encoding="utf-8")


def test_a_hint_lists_several_terms_in_order():
    assert hint("alpha").startswith("**Alpha**: ")
    assert [line.split("**")[1] for line in hint("coverage", "alpha").splitlines()] == ["Coverage", "Alpha"]


def _shown() -> None:
    from app.components.shared.glossary_list import glossary

    glossary()


def test_the_whole_list_is_shown_and_documented():
    app = AppTest.from_function(_shown, default_timeout=PAGE_WITHIN_S).run()
    assert not app.exception
    shown = " ".join(part.value for part in app.markdown)
    documented = page.page()
    for term in TERMS.values():
        assert f"**{term.title}**: {term.meaning}" in shown
        assert f"**{term.title}**: {term.meaning}" in documented
    assert "(pages/tokens.md)" in documented
