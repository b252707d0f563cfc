"""Unconditional scores: the score of each option's text on its own, without the question, for the forms that use it."""

from collections.abc import Callable, Sequence

from core.errors import InputError
from core.models.engine import Engine, SelfCheck
from core.models.server.left_out import missing_of
from core.progress import Reporter
from core.questions.prompting.cloze import ANSWER, BARE, bare_prompt
from core.records import OptionLogits, Prompt, joined

Checked = Callable[[Engine, Sequence[Prompt]], SelfCheck]


def score_bare(
    engine: Engine, prompts: Sequence[Prompt], *, checked: Checked, reporter: Reporter
) -> dict[str, OptionLogits]:
    """The scores of each distinct option text after each bare prompt (a name of
    :data:`core.questions.prompting.cloze.BARE`).

    ``checked`` compares fast with slow scoring. A model whose tokenizer has no token to begin a text with leaves that
    part out, and a server may not answer some texts.
    """
    texts = sorted({text for prompt in prompts for text in prompt.continuations})
    scores: dict[str, OptionLogits] = {}
    for by in _asked(prompts[0]):
        chat = prompts[0].chat
        bare = [bare_prompt(text, by=by, chat=chat) for text in texts]
        if BARE[by] and engine.joins(bare):
            bare = [bare_prompt(text, by=by, chat=chat, joined=True) for text in texts]
        try:
            engine.prepare(bare)
        except InputError as error:
            reporter.log(f"options are not scored on their own by {by}: {error}")
            continue
        checked(engine, bare)
        batches = []
        for batch in engine.score(bare):
            batches.append(batch)
            reporter.stop_if_cancelled()
        for text, missing in missing_of(engine).items():
            reporter.log(f"the option {text!r} is not scored on its own ({missing.kind}): {missing.reason}")
        scores[by] = joined(batches, [text for text in texts if text not in missing_of(engine)], k=1)
    return scores


def _asked(prompt: Prompt) -> list[str]:
    """The bare prompts. ``Answer:`` is among them only if the prompts end in it."""
    return [by for by, text in BARE.items() if not text or prompt.text.endswith(ANSWER)]
