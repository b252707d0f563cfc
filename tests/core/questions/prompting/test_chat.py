import json
from functools import partial

import pytest
from jinja2 import ChainableUndefined, Environment, TemplateError

from core.errors import InputError
from core.questions.prompting.chat import render

pytestmark = pytest.mark.quick


class Template:
    """A tokenizer that knows only its template."""

    chat_template = "yes"

    def apply_chat_template(self, conversation, *, tokenize, add_generation_prompt, enable_thinking):
        assert not tokenize
        assert add_generation_prompt
        assert not enable_thinking
        return "".join(f"<{turn['role']}>{turn['content']}</{turn['role']}>" for turn in conversation) + "<assistant>"


def test_the_assistant_begins_with_the_answer():
    assert render(Template(), "Question: What?\nA. x\nB. y\nAnswer:") == (
        "<user>Question: What?\nA. x\nB. y</user><assistant>Answer:"
    )


def test_a_text_without_an_answer_has_none():
    assert render(Template(), "Hello.") == "<user>Hello.</user><assistant>"


def test_a_base_model_has_no_chat_format():
    tokenizer = Template()
    tokenizer.chat_template = None
    with pytest.raises(InputError, match="no chat template"):
        render(tokenizer, "Answer:")


def test_a_system_prompt_is_a_turn_of_its_own():
    assert render(Template(), "What?\nAnswer:", system="Say one letter.") == (
        "<system>Say one letter.</system><user>What?</user><assistant>Answer:"
    )


def test_a_template_without_a_system_says_so():
    class Refuses(Template):
        def apply_chat_template(self, conversation, **words):
            if conversation[0]["role"] == "system":
                raise TemplateError("System role not supported")
            return super().apply_chat_template(conversation, **words)

    class PassesOver(Template):
        def apply_chat_template(self, conversation, **words):
            return super().apply_chat_template([t for t in conversation if t["role"] != "system"], **words)

    assert render(Refuses(), "Hello.") == "<user>Hello.</user><assistant>"
    with pytest.raises(InputError, match="System role not supported"):
        render(Refuses(), "Hello.", system="Be brief.")
    with pytest.raises(InputError, match="passes over a system prompt"):
        render(PassesOver(), "Hello.", system="Be brief.")


class Jinja:
    """A tokenizer whose template is given as jinja writes it."""

    def __init__(self, chat_template):
        self.chat_template = chat_template
        self.written = []

    def apply_chat_template(self, conversation, *, tokenize, **words):
        self.written.append(conversation)
        environment = Environment(undefined=ChainableUndefined)
        environment.filters["tojson"] = partial(json.dumps, ensure_ascii=False)  # as in transformers
        text: str = environment.from_string(self.chat_template).render(messages=conversation, **words)
        return text


EACH, END = "{% for m in messages %}<{{ m.role }}>", "{% endfor %}<assistant>"
PARTS = "{% for c in m.content %}{% if c.type == 'text' %}{{ c.text }}{% endif %}{% endfor %}"
QUESTION = 'Question: Is 2 < 3 & "so"?\n\nA. Five  apples\nB. Été\nAnswer:'


@pytest.mark.parametrize(
    ("each", "lost"),
    [
        ("{{ m.value }}", "the question and its options"),
        ("{{ m.content.split(' ')[-1] }}", "the question and its options"),
        ("{{ m.content[::-1] }}", "the question and its options"),
        ("{{ m.content | upper }}", "the question and its options"),
        ("{{ m.content.split('A.')[0] }}", r"or changes part of the prompt \(“A. Five apples”\)"),
        ("{{ m.content[:-3] }}", r"or changes part of the prompt \(“B. Été”\)"),
        ("{{ m.content | replace('\n', ' ') | replace('  apples', '') }}", r"or changes part .*“A. Five apples”"),
    ],
)
@pytest.mark.parametrize("system", ["", "x", "Be kind to everybody."])
def test_a_template_that_leaves_out_the_question_is_refused(each, lost, system):
    if system:
        each = "{% if m.role == 'system' %}{{ m.content }}{% else %}" + each + "{% endif %}"
    with pytest.raises(InputError, match=f"^the model's chat template leaves out {lost}"):
        render(Jinja(EACH + each + END), QUESTION, system=system)


@pytest.mark.parametrize(
    "each",
    [
        "{{ m.content }}",
        "{{ m.content | trim }}\n",
        "{{ m.content.split() | join(' ') }}",
        "{{ m.content | e }}",
        "{{ m.content | tojson }}",
        "{{ m.content }} {{ m.content }}",
    ],
)
@pytest.mark.parametrize("system", ["", "x", "Be kind to everybody."])
def test_spaces_and_escapes_may_differ(each, system):
    tokenizer = Jinja(EACH + each + END)
    assert render(tokenizer, QUESTION, system=system).endswith("<assistant>Answer:")
    assert all(isinstance(turn["content"], str) for turns in tokenizer.written for turn in turns)


@pytest.mark.parametrize("system", ["", "x", "Be kind to everybody."])
@pytest.mark.parametrize("of_system", [PARTS, "{{ m.content }}"])
def test_a_template_of_parts_gets_parts(system, of_system):
    each = "{% if m.role == 'system' %}" + of_system + "{% else %}" + PARTS + "{% endif %}"
    user_text = QUESTION.removesuffix("Answer:").rstrip()
    system_part = f"<system>{system}" if system else ""
    assert (
        render(Jinja(EACH + each + END), QUESTION, system=system) == f"{system_part}<user>{user_text}<assistant>Answer:"
    )


@pytest.mark.parametrize("system", ["x", "user", "Be kind to everybody."])
def test_a_system_prompt_that_is_also_in_the_question_is_looked_for_beside_it(system):
    deaf = Jinja("{% for m in messages if m.role == 'user' %}<user>{{ m.content }}" + END)
    text = f"Question: Is {system} a word?\nAnswer:"
    assert system in render(deaf, text)
    with pytest.raises(InputError, match="passes over a system prompt"):
        render(deaf, text, system=system)
