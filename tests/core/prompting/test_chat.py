import pytest
from jinja2 import TemplateError

from core.errors import InputError
from core.prompting.chat import render

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
