"""Inspect evaluates its mock model with known log-probabilities; the scorer's figures are those of core."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.conformal.probabilities import softmax
from core.errors import InputError
from core.reports.array_evaluation import of_arrays
from core.reports.report import report
from core.settings import ROOT

pytest.importorskip("inspect_ai", reason="inspect-ai is in requirements-dev.txt but not installed here")

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

from hedge.inspect_scorer import COUNTS, FIGURES, MISSING, hedge_sets

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # Inspect uses tenacity's old names
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # and leaves streams to the collector
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
N, K = 40, 4
TEXTS = ("red", "green", "blue", "none of these colours")
RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, K, N)
LOGITS = RNG.normal(size=(N, K)) + 1.5 * np.eye(K)[LABELS]
LOGPS = LOGITS - np.log(np.exp(LOGITS).sum(axis=1, keepdims=True)) + np.log(0.9)  # a tenth is on other tokens
SILENT = 7
"""This sample has no log-probabilities."""


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """What Inspect has left open is collected here, and warns no other test."""
    yield
    gc.collect()


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
    asked = re.findall(r"^([A-D])\) (.*)$", prompt, re.MULTILINE)
    return output({letter: float(LOGPS[row, TEXTS.index(text)]) for letter, text in asked}, listed=row != SILENT)


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


def figures(log: EvalLog) -> dict[str, float]:
    assert log.status == "success", log.error
    (found,) = [one for one in log.results.scores if one.scorer == "hedge_sets"]
    assert found.unscored_samples == sum(sample.id == f"q{SILENT}" for sample in log.samples)
    return {name: metric.value for name, metric in found.metrics.items()}


def expected(alpha: int, *, name: str = "lac", share: float = 0.5, seed: int = 0) -> dict[str, float]:
    """The figures from what the model really gave."""
    rows = np.delete(np.arange(N), SILENT)
    p = softmax(LOGPS[rows].astype(np.float32))
    run = of_arrays(p, LABELS[rows], calibration=share, seed=seed)
    made = report(run, alpha, scores=(name,))
    sets = made.scores[name]
    values = (sets.coverage, sets.mean_set_size, sets.threshold, made.accuracy, made.ece, made.ece_excess, made.brier)
    return dict(zip((*FIGURES, *COUNTS), (*values, len(run.calibration), len(run.test), 0), strict=True))


def test_figures_are_those_of_core_and_a_silent_sample_is_unscored(tmp_path):
    log = evaluated(tmp_path, [choice(), hedge_sets(alpha=0.2)])
    assert figures(log) == pytest.approx(expected(200), abs=1e-6)
    by_id = {sample.id: sample.scores["hedge_sets"] for sample in log.samples}
    assert by_id[f"q{SILENT}"].explanation == MISSING
    assert by_id["q0"].answer == "ABCD"[LOGPS[0].argmax()]
    assert by_id["q0"].explanation.startswith(f"A {100 * softmax(LOGPS[:1])[0, 0]:.1f}%")


def test_shuffled_choices_and_epochs_and_a_finished_log(tmp_path):
    log = evaluated(tmp_path, choice(), shuffle=True, epochs=2)
    again = score(log, hedge_sets(alpha=0.1, score="aps", calibration=0.3, seed=5), action="append", display="none")
    (found,) = [one for one in again.results.scores if one.scorer == "hedge_sets"]
    values = {name: metric.value for name, metric in found.metrics.items()}
    assert values == pytest.approx(expected(100, name="aps", share=0.3, seed=5), abs=1e-6)
    with pytest.raises(Exception, match="score it with --action append"):
        score(log, hedge_sets(), action="overwrite", display="none")


def test_without_log_probabilities_the_figures_are_nan(tmp_path):
    silent = lambda *asked: output({"A": -0.1, "B": -3.0}, listed=False)  # noqa: E731
    log = evaluated(tmp_path, hedge_sets(), model=silent, n=3)
    (found,) = log.results.scores
    assert found.unscored_samples == 3
    assert all(np.isnan(metric.value) for metric in found.metrics.values())


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"alpha": 2}, "alpha must lie"),
        ({"score": "lacs"}, "unknown score"),
        ({"calibration": 1}, r"\(0, 1\), got 1"),
    ],
)
def test_wrong_arguments_are_refused_before_the_evaluation(asked, said):
    with pytest.raises(InputError, match=said):
        hedge_sets(**asked)


def test_the_documentation_s_task_runs(tmp_path):
    text = (ROOT / "docs" / "text" / "inspect.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "capitals"}
    exec(compile(code, "capitals.py", "exec"), names)
    model = get_model("mockllm/m", custom_outputs=lambda *asked: output(dict(zip("ABCD", LOGPS[0], strict=True))))
    (log,) = eval(names["capitals"](), model=model, log_dir=str(tmp_path), display="none")
    found = figures(log)
    assert (found["calibration_questions"], found["test_questions"]) == (3, 3)
    assert f"hedge/inspect_scorer.py@{hedge_sets.__name__}" in text
    assert all(f"`{name}`" in text for name in found)
