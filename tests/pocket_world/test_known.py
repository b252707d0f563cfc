"""What a model knows on the way to the letter is what transformers' own hidden states say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from core.errors import InputError
from core.questions.prompting.strategies import question_text
from core.records import Question
from pocket_world import bank
from pocket_world.evaluate import accuracy, letter_probabilities
from pocket_world.known import known, table
from pocket_world.recipes import RECIPES


def asked(task: str, n: int) -> list[Question]:
    return [question for question in bank.questions() if question.task == task][:n]


def test_letters_are_those_of_the_prompt(model, tokenizer) -> None:
    questions = asked("rc", 40)
    found = known(model, tokenizer, questions, middle=())
    assert found.letter == accuracy(letter_probabilities(model, tokenizer, questions), questions)
    assert found.answer.n == found.option.n == found.verdict.n == 0


def test_states_are_read_where_question_and_options_end(model, tokenizer) -> None:
    questions = asked("qa", 30)
    found = known(model, tokenizer, questions, middle=(3, 4, 5))
    yes, no = (tokenizer.encode(word)[0] for word in (" yes", " no"))
    answers, options, verdicts = [], [], []
    for question in questions:
        text = question_text(question)
        firsts = [tokenizer.encode(f" {option}")[0] for option in question.options[:4]]
        ends, text_so_far = [], text[: text.index("\nA. ")]
        asked_at = len(tokenizer.encode(text_so_far)) - 1
        for letter, option in zip("ABCD", question.options, strict=False):
            text_so_far += f"\n{letter}. {option}"
            ends.append(len(tokenizer.encode(text_so_far)) - 1)
        with torch.inference_mode():
            states = model.model(torch.tensor([tokenizer.encode(text)]), output_hidden_states=True).hidden_states
            third, fourth, fifth = (model.model.norm(states[layer][0]) for layer in (3, 4, 5))
            if len(set(firsts)) == 4:
                answers.append(int(model.lm_head(third[asked_at])[firsts].argmax()) == question.label)
            options += (model.lm_head(fourth[ends].flip(-1)).argmax(-1) == torch.tensor(firsts)).tolist()
            said = model.lm_head(fifth[ends])
            verdicts.append(int((said[:, yes] - said[:, no]).argmax()) == question.label)
    for share, hits in ((found.answer, answers), (found.option, options), (found.verdict, verdicts)):
        assert share.n == len(hits) > 20
        assert share.hits == pytest.approx(np.sum(hits), abs=1)


def test_neither_in_training_nor_shipped(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="train the model first"):
        table(RECIPES["pocket-8m"], work=tmp_path, published=tmp_path)
