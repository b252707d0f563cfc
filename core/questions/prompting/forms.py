"""The forms in which a question is asked, and the formats that a prompt is put into."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from core.questions.prompting.cloze import cloze_prompt, continuation_prompt
from core.questions.prompting.decision import DECISION_FORMATS, decision_prompt
from core.questions.prompting.strategies import opened, prompt
from core.records import Prompt, Question

FORMS = ("letters", "cloze", "continuation")
"""Letters after the listed options; the options' texts after ``Answer:``; their texts right after the question."""
TEXT_FORMS = ("cloze", "continuation")
"""Forms that do not show the options, so that their order has no meaning."""
FORMATS = ("plain", "chat")
"""The prompt as it is, or in the model's chat template."""

BUILD: dict[str, Callable[..., Prompt]] = {
    "letters": prompt,
    "cloze": cloze_prompt,
    "continuation": continuation_prompt,
}
"""The function that makes the prompts of each form."""


def form_prompt(
    question: Question,
    *,
    form: str,
    strategy: str,
    demonstrations: Sequence[Question],
    prompt_format: str = "plain",
    system: str = "",
) -> Prompt:
    """The prompt of one question in a form and a format, with a system prompt of the person's own if there is one. In a
    format of decisions it is the whole request."""
    if prompt_format in DECISION_FORMATS:
        return decision_prompt(question, strategy=strategy, demonstrations=demonstrations, form=prompt_format)
    prompt = BUILD[form](question, strategy=strategy, demonstrations=demonstrations)
    if prompt_format == "chat":
        return replace(prompt, chat=True, system=system)
    return opened(prompt, system) if system else prompt
