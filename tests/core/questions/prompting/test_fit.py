import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.questions.prompting.fit import fit
from core.questions.prompting.strategies import CLOSING, prompt
from core.records import Question

pytestmark = pytest.mark.quick


def question(name, context=""):
    return Question(name, "rc", "g", context, f"What of {name}?", ("red", "blue"), 0)


def words(text):
    return len(text.split())


ASKED = question("asked", "one two three four five six")
SHOWN = [question(f"shown{i}") for i in range(3)]


def test_what_fits_stays_whole():
    built_prompt = prompt(ASKED, demonstrations=SHOWN)
    fitted = fit(built_prompt, limit=1000, count=words)
    assert fitted.text == built_prompt.text
    assert (fitted.demonstrations, fitted.characters, fitted.fits) == (0, 0, True)


def test_the_oldest_demonstration_goes_first():
    built_prompt = prompt(ASKED, strategy="shared", demonstrations=SHOWN)
    fitted = fit(built_prompt, limit=words(built_prompt.text) - 1, count=words)
    assert fitted.demonstrations == 1
    assert fitted.text == prompt(ASKED, strategy="shared", demonstrations=SHOWN[1:]).text


def test_the_closing_sentence_goes_with_the_last_demonstration():
    built_prompt = prompt(ASKED, strategy="shared", demonstrations=SHOWN)
    alone = prompt(ASKED, strategy="shared").text
    fitted = fit(built_prompt, limit=words(alone), count=words)
    assert fitted.text == alone
    assert CLOSING not in fitted.text
    assert fitted.demonstrations == 3


def test_then_the_context_loses_its_beginning():
    built_prompt = prompt(ASKED, demonstrations=SHOWN)
    fitted = fit(built_prompt, limit=words(prompt(ASKED).text) - 2, count=words)
    assert "Passage: three four five six" in " ".join(fitted.text.split())
    assert fitted.text.endswith("Question: What of asked?\nA. red\nB. blue\nAnswer:")
    assert fitted.characters
    assert fitted.fits


def test_a_question_that_never_fits_says_so():
    fitted = fit(prompt(ASKED, demonstrations=SHOWN), limit=3, count=words)
    assert not fitted.fits
    assert "What of asked?" in fitted.text


@given(st.integers(8, 90))
def test_the_question_stays_whatever_the_limit(limit):
    built_prompt = prompt(ASKED, strategy="task", demonstrations=SHOWN)
    fitted = fit(built_prompt, limit=limit, count=words)
    assert fitted.text.endswith("Question: What of asked?\nA. red\nB. blue\nAnswer:")
    assert not fitted.fits or words(fitted.text) <= limit


@pytest.mark.parametrize("strategy", ["base", "shared", "task"])
def test_the_spans_are_the_demonstrations(strategy):
    built_prompt = prompt(ASKED, strategy=strategy, demonstrations=SHOWN)
    assert [
        built_prompt.text[a:b].startswith(f"Question: What of shown{i}?")
        for i, (a, b) in enumerate(built_prompt.demonstrations)
    ]
    a, b = built_prompt.context
    assert built_prompt.text[a:b] == ASKED.context
