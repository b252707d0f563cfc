"""Has Inspect itself evaluate a model whose log-probabilities are known and write its logs; a program of its own.

    python tests/core/exchange/write_inspect.py OUT N

``OUT/plain`` has an ``.eval`` and a ``.json`` log of one epoch, ``OUT/shuffled`` one with the choices shuffled by the
solver, two epochs, letters that are not listed and one sample that fails. ``OUT/truth.json`` says for each log what
the model gave each choice: a list of log-probabilities in the order of the sample's choices, ``null`` where the
letter was not listed.
"""

import json
import re
import sys
import warnings
from pathlib import Path

import numpy as np

TEMPLATE = "Which one? Answer with 'ANSWER: $LETTER', one of {letters}.\n\n{question}\n\n{choices}"
K = 4
LISTED = 3
FAILS = "q7"
TEXTS = ("red", "green", "blue", "none of these colours")


def main(out: Path, n: int) -> None:
    warnings.simplefilter("ignore")
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import (
        ChatCompletionChoice,
        ChatMessageAssistant,
        GenerateConfig,
        ModelOutput,
        ModelUsage,
        get_model,
    )
    from inspect_ai.model._model_output import Logprob, Logprobs, TopLogprob
    from inspect_ai.scorer import choice
    from inspect_ai.solver import multiple_choice

    rng = np.random.default_rng(0)
    labels = rng.integers(0, K, n)
    logits = rng.normal(size=(n, K)) * 1.5
    logits[np.arange(n), labels] += 1
    logps = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)) + np.log(0.9)  # a tenth is on other tokens

    def said(row: int, prompt: str, listed: int) -> ModelOutput:
        shown = re.findall(r"^([A-D])\) (.*)$", prompt, re.MULTILINE)
        by_letter = {letter: float(logps[row, TEXTS.index(text)]) for letter, text in shown}
        top = sorted(by_letter.items(), key=lambda item: -item[1])[:listed]
        answer = top[0][0]
        content = [Logprob(token=text, logprob=-0.01, top_logprobs=[]) for text in ("ANSWER", ":")]
        content.append(
            Logprob(
                token=f" {answer}",
                logprob=by_letter[answer],
                top_logprobs=[TopLogprob(token=f" {letter}", logprob=value) for letter, value in top],
            )
        )
        message = ChatMessageAssistant(content=f"ANSWER: {answer}", source="generate")
        return ModelOutput(
            model="mockllm/known",
            choices=[ChatCompletionChoice(message=message, logprobs=Logprobs(content=content))],
            usage=ModelUsage(),  # else tokens are counted with a file from the network
        )

    def model(listed: int, failing: bool):
        def answer(messages, tools, tool_choice, config):
            prompt = messages[-1].text
            row = int(re.search(r"question (\d+)", prompt)[1])
            if failing and f"q{row}" == FAILS:
                raise RuntimeError("the model broke")
            return said(row, prompt, listed)

        return get_model("mockllm/known", custom_outputs=answer, config=GenerateConfig(logprobs=True, top_logprobs=20))

    def dataset() -> MemoryDataset:
        return MemoryDataset(
            [
                Sample(
                    id=f"q{i}",
                    input=f"Which colour has question {i}?",
                    choices=list(TEXTS),
                    target="ABCD"[labels[i]],
                    metadata={"subject": ("sky", "earth")[i % 2]},
                )
                for i in range(n)
            ]
        )

    def run(folder: str, kind: str, *, shuffle: bool, epochs: int, listed: int, failing: bool) -> None:
        task = Task(
            dataset=dataset(),
            solver=multiple_choice(template=TEMPLATE, shuffle=np_random() if shuffle else False),
            scorer=choice(),
            name="colours",
        )
        eval(
            task,
            model=model(listed, failing),
            log_dir=str(out / folder),
            log_format=kind,
            epochs=epochs,
            fail_on_error=False,
            display="none",
        )

    def np_random():
        import random

        return random.Random(3)

    run("plain", "eval", shuffle=False, epochs=1, listed=K, failing=False)
    run("plain", "json", shuffle=False, epochs=1, listed=K, failing=False)
    run("shuffled", "eval", shuffle=True, epochs=2, listed=LISTED, failing=True)
    listed_options = np.argsort(np.argsort(-logps, axis=1), axis=1) < LISTED
    truth = {
        "labels": labels.tolist(),
        "plain": logps.tolist(),
        "shuffled": [
            [float(v) if k else None for v, k in zip(*row, strict=True)]
            for row in zip(logps, listed_options, strict=True)
        ],
    }
    (out / "truth.json").write_text(json.dumps(truth))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
