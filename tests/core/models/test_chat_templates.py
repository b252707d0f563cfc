"""Chat templates run in jinja2's sandbox, in a process with limits, and write what the tokenizer itself writes."""

from datetime import datetime

import pytest
from jinja2 import TemplateError

from core.errors import InputError
from core.models import chat_templates
from core.models.chat_templates import ConfinedTemplate
from core.models.model_sources import bundled_models, resolve
from core.models.tokenizers import load_tokenizer
from core.processes.confined import Limits
from core.questions.prompting.chat import render

TURNS = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Why <b>?"}]
PLAIN = "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{{ eos_token }}{% endfor %}" + (
    "{% if add_generation_prompt %}[assistant]{% endif %}{{ strftime_now('%Y') }}{{ messages | tojson }}"
)


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer(resolve(bundled_models()[0]))


def written(tokenizer, template: str, turns=TURNS, *, asks: bool = True) -> str:
    tokenizer.chat_template = template
    return ConfinedTemplate(tokenizer).apply_chat_template(turns, add_generation_prompt=asks, enable_thinking=False)


@pytest.mark.parametrize("asks", [True, False])
def test_it_writes_what_the_tokenizer_writes(tokenizer, asks):
    text = written(tokenizer, PLAIN, asks=asks)
    assert "[user]Why <b>?" in text
    assert text == tokenizer.apply_chat_template(
        TURNS, tokenize=False, add_generation_prompt=asks, enable_thinking=False
    )


BOMBS = {
    "time": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "memory": "{% set n = namespace(x='ab') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}",
    "at once": "{{ 'x' * 9999999999 }}",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_ends_in_one_sentence(tokenizer, bomb, monkeypatch):
    monkeypatch.setattr(chat_templates, "LIMITS", Limits(memory=512 << 20, seconds=0.7))
    monkeypatch.setattr(chat_templates, "_RENDERER", chat_templates._Renderer())
    tokenizer.chat_template = BOMBS[bomb]
    with pytest.raises(InputError, match=r"chat template can't be used: it needs more than .*; choose another model"):
        render(ConfinedTemplate(tokenizer), "Why?\nAnswer:")
    assert written(tokenizer, "{{ messages[0].content }}") == "Be kind."  # the next one is written


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ self.__init__.__globals__ }}",
        "{{ messages.append(1) }}",
        "{% include '/etc/passwd' %}",
        "{{ raise_exception('no system prompt') }}",
        "{{ unknown.field }}",
        "{% for %}",
    ],
)
def test_what_reaches_out_is_refused(tokenizer, template):
    with pytest.raises((TemplateError, TypeError)):
        written(tokenizer, template)


def test_a_text_without_end_is_refused(tokenizer):
    with pytest.raises(TemplateError, match=r"it writes 30,000,000 characters"):
        written(tokenizer, "{{ 'x' * 30000000 }}")


EACH = "{% for m in messages %}[{{ m.role }}]{{ m.content }}\n{% endfor %}"


def notes(tokenizer, template: str) -> tuple[str, ...]:
    tokenizer.chat_template = template
    confined = ConfinedTemplate(tokenizer)
    confined.now = datetime(2026, 3, 1)
    assert confined.notes == ()
    render(confined, "Question: Why?\nAnswer:")
    return confined.notes


def test_what_readers_of_the_figures_must_know_of_a_template(tokenizer):
    header = "{% if add_generation_prompt %}[assistant]{% endif %}"
    assert notes(tokenizer, EACH + header) == ()
    assert notes(tokenizer, EACH.replace("[{{ m.role }}]", "")) == ()  # no header before any message
    assert notes(tokenizer, EACH) == (
        "The model's chat template writes no header for the assistant's turn, so the answer follows the user's turn.",
    )
    dated = "{{ strftime_now('%d %b %Y') }}" + EACH + header
    assert notes(tokenizer, dated) == (
        "The model's chat template writes today's date into each prompt, here 2026-03-01; with another date the "
        "figures may differ.",
    )


def test_the_date_is_the_same_for_all_prompts(tokenizer):
    tokenizer.chat_template = "{{ strftime_now('%d %b %Y') }}" + EACH
    confined = ConfinedTemplate(tokenizer)
    confined.now = datetime(1999, 12, 31, 23, 59)
    assert render(confined, "Question: Why?\nAnswer:") == "31 Dec 1999[user]Question: Why?\nAnswer:"
    assert confined.dated


def test_named_templates_without_a_default_are_one_sentence(tokenizer):
    tokenizer.chat_template = {"rag": EACH, "tool_use": EACH}
    with pytest.raises(
        InputError, match=r"chat templates named rag, tool_use, and none named default, .*; name one of"
    ):
        render(ConfinedTemplate(tokenizer), "Question: Why?\nAnswer:")
    tokenizer.chat_template = {"default": EACH, "tool_use": "no"}
    assert render(ConfinedTemplate(tokenizer), "Question: Why?\nAnswer:") == "[user]Question: Why?\nAnswer:"
