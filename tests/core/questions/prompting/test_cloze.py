import numpy as np
import pytest

from core.errors import InputError
from core.questions.prompting.cloze import (
    INSTRUCTION,
    OptionTexts,
    bare_prompt,
    cloze_prompt,
    continuation_prompt,
    normalised,
)
from core.questions.prompting.fit import fit
from core.questions.prompting.strategies import CLOSING, opened
from core.records import Question

pytestmark = pytest.mark.quick

FIRST = Question("1", "rc", "stories", "Ann has a red hat.", "What colour is the hat?", ("red", " blue"), 1)
SECOND = Question("2", "rc", "stories", "", "What is 1 + 1?", ("3", "2"), 1)


def test_no_option_is_in_the_question():
    built_prompt = cloze_prompt(FIRST)
    assert built_prompt.text == "Passage: Ann has a red hat.\nQuestion: What colour is the hat?\nAnswer:"
    assert built_prompt.continuations == (" red", " blue")
    assert built_prompt.k == 2


def test_demonstrations_show_the_text_of_their_answer():
    built_prompt = cloze_prompt(SECOND, strategy="shared", demonstrations=[FIRST])
    assert built_prompt.text == (
        f"{INSTRUCTION}\n\n{cloze_prompt(FIRST).text} blue\n\n{CLOSING}\n\nQuestion: What is 1 + 1?\nAnswer:"
    )
    start, end = built_prompt.demonstrations[0]
    assert built_prompt.text[start:end].endswith(f"{CLOSING}\n\n")


def test_what_is_carried_on_has_no_answer_before_it():
    built_prompt = continuation_prompt(SECOND, demonstrations=[FIRST])
    assert built_prompt.text == "Ann has a red hat.\nWhat colour is the hat? blue\n\nWhat is 1 + 1?"
    assert built_prompt.continuations == (" 3", " 2")
    story = Question("3", "ci", "", "She took the soap.", "How does it go on?", ("She washed.", "She flew."), 0)
    assert continuation_prompt(story).text == "She took the soap."


@pytest.mark.parametrize("build", [cloze_prompt, continuation_prompt])
def test_an_option_without_text_is_named(build):
    empty = Question("7", "qa", "", "", "What?", ("x", "  "), 0)
    with pytest.raises(InputError, match=r"option 2 of question '7' has no text.*--form letters"):
        build(empty)


def test_normalisations_by_hand():
    # One question of two options and one of three; "ä" has one character and two bytes.
    raw = np.array([[-6.0, -2.0, -np.inf], [-3.0, -4.0, -8.0]], dtype=np.float32)
    tokens = np.array([[3.0, 1.0, 1.0], [1.0, 2.0, 4.0]])
    characters = np.array([[6.0, 1.0, 1.0], [2.0, 4.0, 8.0]])
    alone = np.array([[-5.0, -1.0, 0.0], [-4.0, -4.0, -9.0]])
    texts = OptionTexts(tokens, characters, characters + 1, {"unconditional": alone})
    expected = {
        "raw": [[-6, -2, -np.inf], [-3, -4, -8]],
        "tokens": [[-2, -2, -np.inf], [-3, -2, -2]],
        "characters": [[-1, -2, -np.inf], [-1.5, -1, -1]],
        "bytes": [[-6 / 7, -1, -np.inf], [-1, -0.8, -8 / 9]],
        "unconditional": [[-1, -1, -np.inf], [1, 0, 1]],
    }
    for name, values in expected.items():
        assert normalised(raw, texts, by=name) == pytest.approx(np.array(values)), name
    with pytest.raises(InputError, match="did not score its options on their own"):
        normalised(raw, texts, by="mutual")
    with pytest.raises(InputError, match="unknown normalisation 'words'; choose from raw, tokens"):
        normalised(raw, texts, by="words")


def test_a_bare_prompt_is_in_the_chat_template_only_where_it_says_something():
    assert bare_prompt(" x", by="unconditional", chat=True).chat
    assert not bare_prompt(" x", by="mutual", chat=True).chat
    assert bare_prompt(" x", by="mutual").text == ""


def test_a_system_prompt_stands_in_front_and_is_never_cut():
    built_prompt = opened(cloze_prompt(SECOND, strategy="shared", demonstrations=[FIRST]), " Be brief. ")
    assert built_prompt.text.startswith(f"Be brief.\n\n{INSTRUCTION}\n\n")
    start, end = built_prompt.demonstrations[0]
    assert built_prompt.text[start:end].startswith("Passage: Ann")
    with_context = opened(cloze_prompt(FIRST), "Be brief.")
    assert with_context.text[slice(*with_context.context)] == FIRST.context
    short = fit(built_prompt, limit=20, count=lambda text: len(text.split()))
    assert short.text.startswith("Be brief.")
    assert short.demonstrations == 1
