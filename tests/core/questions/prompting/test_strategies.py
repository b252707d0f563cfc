import pytest

from core.errors import InputError
from core.questions.prompting.strategies import CLOSING, SHARED_INSTRUCTION, TASK_INSTRUCTIONS, prompt
from core.records import Question

pytestmark = pytest.mark.quick

FIRST = Question("1", "rc", "stories", "Ann has a red hat.", "What colour is the hat?", ("red", "blue"), 0)
SECOND = Question("2", "rc", "stories", "", "What is 1 + 1?", ("3", "2"), 1)


def test_base_without_demonstrations():
    text = prompt(FIRST).text
    assert text == "Passage: Ann has a red hat.\nQuestion: What colour is the hat?\nA. red\nB. blue\nAnswer:"


def test_demonstrations_show_their_answers():
    assert prompt(SECOND, demonstrations=[FIRST]).text == (
        prompt(FIRST).text + " A\n\n" + "Question: What is 1 + 1?\nA. 3\nB. 2\nAnswer:"
    )


def test_the_instruction_comes_first_and_a_closing_sentence_last():
    text = prompt(SECOND, strategy="shared", demonstrations=[FIRST]).text
    parts = text.split("\n\n")
    assert parts[0] == SHARED_INSTRUCTION
    assert parts[2] == CLOSING
    assert parts[3].endswith("Answer:")
    assert CLOSING not in prompt(SECOND, strategy="shared").text


def test_the_task_strategy_has_words_of_its_own():
    assert prompt(FIRST, strategy="task").text.startswith(TASK_INSTRUCTIONS["rc"])
    assert len(set(TASK_INSTRUCTIONS.values())) == 5


def test_unknown_strategy():
    with pytest.raises(InputError, match="base, shared, task"):
        prompt(FIRST, strategy="clever")
