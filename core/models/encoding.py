"""Turns prompts into rows of tokens, cut to the model's context. Options are letters or texts."""

from collections.abc import Sequence
from typing import Any

from core.errors import InputError
from core.models.chat_templates import ConfinedTemplate
from core.models.letters import letter_continuations, letter_tokens
from core.models.rows import TokenRow, Tokens, check_vocabulary, split_options
from core.models.token_ids import token_ids
from core.questions.prompting.chat import render
from core.questions.prompting.fit import fit
from core.questions.prompting.reasoning import opened
from core.records import LETTERS, Prompt

CONTEXT_NAMES = ("max_position_embeddings", "n_positions", "max_seq_len", "n_ctx")
TOGETHER = 256
"""Prompts tokenized in one call, which uses all processors."""

SANE_LENGTH = 10**7
"""A tokenizer without a length limit states a huge one; a limit above this counts as none."""


class Encoder:
    """The tokenizer of one model. ``context`` is the most tokens the model reads (0: no limit) and ``vocabulary`` the
    number of tokens it knows (None: unknown).

    It counts what did not fit: ``truncated`` prompts, ``dropped`` demonstrations, and prompts that were ``shortened``
    beyond these.
    """

    def __init__(self, tokenizer: Any, *, context: int, vocabulary: int | None) -> None:
        self.tokenizer = tokenizer
        stated = int(getattr(tokenizer, "model_max_length", 0) or 0)
        self.context = min(context or SANE_LENGTH, stated if 0 < stated < SANE_LENGTH else SANE_LENGTH)
        self.context = 0 if self.context == SANE_LENGTH else self.context
        self.vocabulary = vocabulary
        self.template = ConfinedTemplate(tokenizer)
        self.letters: dict[tuple[int, bool], list[int] | None] = {}
        self.count_again()

    def count_again(self) -> None:
        """Forget what did not fit so far."""
        self.truncated = self.dropped = self.shortened = 0

    def ids(self, texts: Sequence[str], *, chat: bool = False) -> list[Tokens]:
        """Token ids of whole strings. A chat text already contains its special tokens."""
        rows = token_ids(self.tokenizer, texts, special=not chat)
        if self.vocabulary is not None:
            check_vocabulary(max((max(row) for row in rows if row), default=0), vocabulary=self.vocabulary)
        return rows

    def rows(self, prompts: Sequence[Prompt]) -> list[TokenRow]:
        """One row per prompt. Prompts that did not fit are added to the counts."""
        rows_by_place: dict[int, TokenRow] = {}
        for chat in (False, True):
            chosen = [i for i, prompt in enumerate(prompts) if prompt.chat == chat]
            for start in range(0, len(chosen), TOGETHER):
                part = chosen[start : start + TOGETHER]
                rows_by_place |= zip(part, self._rows([prompts[i] for i in part], chat), strict=True)
        return [rows_by_place[i] for i in range(len(prompts))]

    def _rows(self, prompts: Sequence[Prompt], chat: bool) -> list[TokenRow]:
        texts = [self._shaped(prompt, prompt.text) for prompt in prompts]
        contexts = self.ids(texts, chat=chat)
        for i, prompt in enumerate(prompts):
            if not self._fits(prompt, contexts[i]):
                texts[i], contexts[i] = self._fitted(prompt)
        letters = [None if p.continuations else self._letters(p, text) for p, text in zip(prompts, texts, strict=True)]
        apart = [i for i, known in enumerate(letters) if known is None and prompts[i].text]
        wholes = iter(self.ids([texts[i] + answer for i in apart for answer in self.answers_to(prompts[i])], chat=chat))
        rows = []
        for prompt, context, known in zip(prompts, contexts, letters, strict=True):
            if known is not None:
                row = TokenRow(context, tuple((token,) for token in known))
            elif not prompt.text:
                row = TokenRow(context or self._beginning(), tuple(self.ids(prompt.continuations, chat=True)))
            else:
                row = split_options(context, [next(wholes) for _ in range(prompt.k)])
            rows.append(self._cut(row))
        return rows

    def letter_table(self) -> dict[str, Any]:
        """Letter → token, for ``run.json``, or a note that letters were scored as continuations."""
        if not self.letters:
            return {}
        tokens = self.letters[max(self.letters)]
        return dict(zip(LETTERS, tokens, strict=False)) if tokens else {"scored as": "continuations"}

    def shown(self, prompt: Prompt) -> tuple[str, int]:
        """The text exactly as the model reads it, and its number of tokens."""
        text = self._shaped(prompt, prompt.text)
        context = self.ids([text], chat=prompt.chat)[0]
        if not self._fits(prompt, context):
            text, context = self._fitted(prompt)
        return text, len(context)

    def joins(self, prompts: Sequence[Prompt]) -> bool:
        """Whether, for any prompt, a token spans the end of its text and the start of a continuation."""
        for prompt in prompts:
            text = self._shaped(prompt, prompt.text)
            context, *wholes = self.ids([text, *(text + answer for answer in prompt.continuations)], chat=prompt.chat)
            if any(whole[: len(context)] != context for whole in wholes):
                return True
        return False

    def words(self, tokens: Sequence[int]) -> tuple[str, ...]:
        """Each of the tokens as text."""
        return tuple(self.tokenizer.decode([token]) for token in tokens)

    def answers_to(self, prompt: Prompt) -> tuple[str, ...]:
        """The texts that may follow the prompt: its continuations, or the letters."""
        return prompt.continuations or letter_continuations(prompt.k)

    def _shaped(self, prompt: Prompt, text: str) -> str:
        if not prompt.chat:
            return text
        shaped = render(self.template, text, system=prompt.system)
        self.template.opened = self.template.opened or opened(shaped, text)
        return shaped

    def _fits(self, prompt: Prompt, context: Tokens) -> bool:
        # An option of c characters has at most 4 c bytes and so at most 4 c tokens. Only near the limit count exactly.
        sure = 4 * max((len(answer) for answer in prompt.continuations), default=0) + 1
        return not self.context or len(context) + sure <= self.context or len(context) <= self._room(prompt)

    def _room(self, prompt: Prompt) -> int:
        return self.context - self._longest_answer(prompt) + 1

    def _fitted(self, prompt: Prompt) -> tuple[str, Tokens]:
        def count(text: str) -> int:
            return len(self.ids([self._shaped(prompt, text)], chat=prompt.chat)[0])

        fitted = fit(prompt, limit=self._room(prompt), count=count)
        self.truncated += 1
        self.dropped += fitted.demonstrations
        self.shortened += bool(fitted.characters or not fitted.fits)
        text = self._shaped(prompt, fitted.text)
        return text, self.ids([text], chat=prompt.chat)[0]

    def _beginning(self) -> Tokens:
        """The token to begin a text with if the tokenizer adds none; the same choice as lm-evaluation-harness makes."""
        names = ("bos_token_id", "eos_token_id")
        token_id = next((token for name in names if (token := getattr(self.tokenizer, name, None)) is not None), None)
        if token_id is None:
            raise InputError("the tokenizer knows no token that begins a text")
        return (int(token_id),)

    def _longest_answer(self, prompt: Prompt) -> int:
        """The most tokens that an answer adds: one for a letter, otherwise those of the longest text."""
        return max(len(ids) for ids in self.ids(prompt.continuations, chat=True)) if prompt.continuations else 1

    def _letters(self, prompt: Prompt, text: str) -> list[int] | None:
        key = (prompt.k, prompt.chat)
        if key not in self.letters:
            self.letters[key] = letter_tokens(lambda texts: self.ids(texts, chat=prompt.chat), k=prompt.k, context=text)
        return self.letters[key]

    def _cut(self, row: TokenRow) -> TokenRow:
        if not row.context:
            raise InputError("a prompt has no token before its answer; write more text in front of it")
        too_many = len(row.context) + row.longest_option - 1 - self.context if self.context else 0
        if too_many <= 0:
            return row
        if too_many >= len(row.context):
            raise InputError(
                f"an option of {row.longest_option} tokens fills the model's context of {self.context}; "
                "choose a model with a longer one"
            )
        return row.without(too_many)


def context_of(config: Any) -> int:
    """The most tokens that a model reads, or 0 if its configuration states no limit."""
    text = config.get_text_config()
    return next((int(value) for name in CONTEXT_NAMES if (value := getattr(text, name, None) or 0) > 0), 0)
