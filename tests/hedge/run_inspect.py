"""Has Inspect evaluate its mock model, with log-probabilities that are known, and score it; a program of its own.

    python -m tests.hedge.run_inspect OUT

``OUT/figures.json`` has the figures of Inspect. It is a process of its own because Inspect needs the event loop, which
the browser of other tests holds, and leaves streams open.
"""

import json
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from inspect_ai import Task, eval, score
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    Logprob,
    Logprobs,
    ModelOutput,
    ModelUsage,
    TopLogprob,
    get_model,
)
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice

from core.settings import ROOT
from hedge.inspect_scorer import hedge_sets
from tests.hedge.known_model import LABELS, LOGPS, SILENT, TEXTS, N


def output(by_letter: dict[str, float], *, listed: bool = True) -> ModelOutput:
    """An answer by the most probable letter. Half of a letter's probability is on its spelling with a space."""
    answer = max(by_letter, key=by_letter.__getitem__)
    top = [
        TopLogprob(token=spelled, logprob=value - np.log(2))
        for letter, value in by_letter.items()
        for spelled in (letter, f" {letter}")
    ]
    content = [Logprob(token=text, logprob=-0.01, top_logprobs=[]) for text in ("ANSWER", ":")]
    content.append(Logprob(token=f" {answer}", logprob=by_letter[answer] - np.log(2), top_logprobs=top))
    return ModelOutput(
        model="mockllm/known",
        choices=[
            ChatCompletionChoice(
                message=ChatMessageAssistant(content=f"ANSWER: {answer}", source="generate"),
                logprobs=Logprobs(content=content) if listed else None,
            )
        ],
        usage=ModelUsage(),  # else tokens are counted with a file from the network
    )


def answer(messages: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
    prompt = messages[-1].text
    row = int(re.search(r"question (\d+)", prompt)[1])
    offered = re.findall(r"^([A-D])\) (.*)$", prompt, re.MULTILINE)
    return output({letter: float(LOGPS[row, TEXTS.index(text)]) for letter, text in offered}, listed=row != SILENT)


def evaluated(folder: Path, scorer: Any, *, model: Any = answer, n: int = N, **how: Any) -> EvalLog:
    samples = [
        Sample(id=f"q{i}", input=f"Which colour has question {i}?", choices=list(TEXTS), target="ABCD"[LABELS[i]])
        for i in range(n)
    ]
    shuffle = how.pop("shuffle", False)
    task = Task(dataset=MemoryDataset(samples), solver=multiple_choice(shuffle=shuffle), scorer=scorer)
    (log,) = eval(
        task, model=get_model("mockllm/known", custom_outputs=model), log_dir=str(folder), display="none", **how
    )
    return log


def figures(log: EvalLog) -> dict[str, Any]:
    assert log.status == "success", log.error
    (scored,) = [entry for entry in log.results.scores if entry.scorer == "hedge_sets"]
    return {
        "unscored": scored.unscored_samples,
        "figures": {name: metric.value for name, metric in scored.metrics.items()},
        "samples": {sample.id: sample.scores["hedge_sets"].model_dump() for sample in log.samples},
    }


def message(call: Any) -> str:
    """The error message of a call that must fail."""
    try:
        call()
    except Exception as error:
        return str(error)
    return ""


def documented() -> Any:
    """The task of the documentation's page."""
    text = (ROOT / "docs" / "text" / "inspect.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "capitals"}
    exec(compile(code, "capitals.py", "exec"), names)
    return names["capitals"]()


def main(out: Path) -> None:
    """Evaluate and score in every way that the test asks for."""
    warnings.simplefilter("ignore")
    shuffled = evaluated(out, choice(), shuffle=True, epochs=2)
    again = hedge_sets(alpha=0.1, score="aps", calibration=0.3, seed=5)
    silent = evaluated(out, hedge_sets(), model=lambda *arguments: output({"A": -0.1, "B": -3.0}, listed=False), n=3)
    model = get_model("mockllm/m", custom_outputs=lambda *arguments: output(dict(zip("ABCD", LOGPS[0], strict=True))))
    (capitals,) = eval(documented(), model=model, log_dir=str(out), display="none")
    contents = {
        "live": figures(evaluated(out, [choice(), hedge_sets(alpha=0.2)])),
        "again": figures(score(shuffled, again, action="append", display="none")),
        "order lost": message(lambda: score(shuffled, hedge_sets(), action="overwrite", display="none")),
        "silent": figures(silent),
        "documented": figures(capitals),
        "wrong": [
            message(lambda arguments=arguments: hedge_sets(**arguments))
            for arguments in ({"alpha": 2}, {"score": "lacs"}, {"calibration": 1})
        ],
    }
    (out / "figures.json").write_text(json.dumps(contents))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
