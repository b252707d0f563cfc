"""What chat templates do about reasoning, in templates of the kinds that models have."""

import pytest

from core.models.chat_templates import ConfinedTemplate
from core.questions.prompting.chat import render
from core.questions.prompting.reasoning import opened

TURNS = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"
TEXT = "Which?\nA. <think>\nB. no\nAnswer:"
OFF = {
    "enable_thinking": "{% if enable_thinking is defined and enable_thinking is false %}<think></think>{% endif %}",
    "thinking": "{% if thinking is not defined or thinking %}<think>{% else %}</think>{% endif %}",
    "reasoning": "{% if reasoning is not defined or reasoning %}<|START_THINKING|>"
    "{% else %}<|START_THINKING|><|END_THINKING|>{% endif %}",
    "none": "",
}
"""Templates that begin the answer if their switch is off, or if they have none."""
OPEN = ["<think>\n", "[THINK]", "◁think▷", "<|channel|>analysis<|message|>", "<seed:think>", "<thinking>"]


class Tokenizer:
    """A tokenizer that has a template of jinja2."""

    special_tokens_map: dict[str, str] = {}  # noqa: RUF012

    def __init__(self, template: str) -> None:
        self.chat_template = template

    def get_chat_template(self) -> str:
        return self.chat_template


def template(end: str) -> ConfinedTemplate:
    return ConfinedTemplate(Tokenizer(TURNS + end))


@pytest.mark.parametrize("name", OFF)
def test_reasoning_is_switched_off_where_the_template_has_a_switch(name: str):
    tokenizer = template(OFF[name])
    assert opened(render(tokenizer, TEXT), TEXT) == ""


@pytest.mark.parametrize("mark", OPEN)
def test_a_template_that_leaves_its_reasoning_open_is_noticed(mark: str):
    tokenizer = template(mark)
    assert opened(render(tokenizer, TEXT), TEXT) == mark.strip()


def test_a_mark_in_the_question_opens_nothing():
    assert opened(render(template(""), TEXT), TEXT) == ""
    escaped = ConfinedTemplate(Tokenizer("{% for m in messages %}{{ m.content | tojson }}{% endfor %}<think>"))
    assert opened(render(escaped, TEXT), TEXT) == "<think>"  # the text is not there as it is, so its end is searched
