"""Check Hedge against a third-party server that serves a bundled model.

``python -m tests.benchmarks.real_servers URL [--model pocket-3m] [--served NAME]`` finds out what the server can do,
compares its letters and texts with the transformers engine in float32, asks for decisions where it answers them
(compared if it is vLLM, whose wording is known), and then does with it what a person does from the command line: count
tokens, launch, ask for texts, perplexities, tokens, answers and verdicts, spend a budget, resume, and name a model that
is not there. Each command is printed with its exit status and what it says last.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from app.components.new_run.server_form import able_words, failure_words
from core.errors import HedgeError, ServerError
from core.models.model_sources import resolve
from core.models.server.connect import abilities_of
from core.models.server.decisions import DecisionEngine
from core.models.server.engine import ServerEngine
from core.models.transformers_engine import TransformersEngine
from core.questions import bank
from core.questions.prompting.cloze import cloze_prompt
from core.questions.prompting.forms import form_prompt
from core.questions.prompting.strategies import prompt
from core.records import LETTERS, OptionLogits, Prompt, Question, joined
from core.settings import ROOT

QUESTIONS, TEXTS = 40, 8
SAID = 240
COMMANDS = (
    "run {where} --task qa --samples 40 --dry-run",
    "run {where} --task qa --samples 40",
    "run {where} --task qa --samples 20 --form cloze",
    "run {where} --task qa --samples 20 --format chat",
    "run {where} --task qa --samples 20 --format systemone",
    "run {where} --task qa --samples 20 --format decisions",
    "run {where} --task qa --samples 60 --seed 3 --budget 0.002",
    "runs",
    "resume {paused} --budget 1",
    "perplexity run {where}",
    "tokens view --model {served}@{url} --text 'The capital of Peru is Lima.'",
    "jury answer --model {served}@{url} --samples 10 --out {folder}/answers.jsonl",
    "jury judge --juror {served}@{url} {served}@{url} --answers {folder}/answers.jsonl",
    "run --model no-such-model --server {url} --task qa --samples 20",
    "run --model {served} --server http://127.0.0.1:9/v1 --task qa --samples 20",
)


def main() -> None:
    """Ask one server."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--model", default="pocket-3m", help="the bundled model that it holds")
    parser.add_argument("--served", help="its name on the server, if that is another")
    options = parser.parse_args()
    served = options.served or options.model
    able = abilities_of(served, [options.url])
    print(able_words(able), *([failure_words(able)] if able.failing else []), sep="\n")
    print(f"weights: {able.weights}; echo wrong: {able.echo_wrong}; letters by their tokens' ids: {able.by_id}\n")
    questions = bank.load("qa")[:QUESTIONS]
    compare("letters", options.model, served, options.url, [prompt(question) for question in questions])
    compare("texts", options.model, served, options.url, [cloze_prompt(question) for question in questions[:TEXTS]])
    for form in able.decisions:
        decide(form, served, options.url, questions, options.model if able.kind == "vllm" else "")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HEDGE_HOME"] = folder
        commands(served, options.url, folder)


def compare(what: str, model: str, served: str, url: str, prompts: Sequence[Prompt]) -> None:
    """Print the differences between the server's figures and the transformers engine's."""
    truth = scored(TransformersEngine.load(resolve(model), dtype="float32"), prompts)
    engine = ServerEngine.load(served, servers=[url])
    try:
        answered = scored(engine, prompts)
    except (HedgeError, ServerError) as error:
        return print(f"{what}: {error}\n")
    finally:
        engine.close()
    real = np.isfinite(truth.logits)
    bounded = np.zeros(real.shape, bool) if answered.bounded is None else answered.bounded
    known = real & ~bounded
    each = np.where(known, np.abs(answered.logits - truth.logits), 0).max(axis=1)
    below = np.maximum(truth.logits - answered.logits, 0)[bounded & real].max(initial=0.0)
    same = np.mean(
        np.where(real, answered.logits, -np.inf).argmax(1) == np.where(real, truth.logits, -np.inf).argmax(1)
    )
    print(
        f"{what}: {len(prompts)} questions; largest difference of a known log-probability by question: median "
        f"{np.median(each):.1e}, largest {each.max():.1e}, above 0.05 in {(each > 0.05).sum()}; the same answer in "
        f"{same:.0%}; questions with bounds {bounded.any(axis=1).sum()}, bounds below the truth by at most "
        f"{below:.1e}\n"
    )


def decide(form: str, served: str, url: str, questions: Sequence[Question], local: str) -> None:
    """Print what the server answers in a format of decisions, and how far that is from the ``local`` model's answers to
    the text that vLLM makes of a request, if it is given."""
    prompts = [
        form_prompt(q, form="letters", strategy="base", demonstrations=(), prompt_format=form) for q in questions
    ]
    engine = DecisionEngine.asking(form).load(served, servers=[url])
    try:
        rows = scored(engine, prompts)
        varied = engine.variation(prompts)
    except (HedgeError, ServerError) as error:
        return print(f"{form}: {error}\n")
    finally:
        engine.close()
    labels = {question.id: question.label for question in questions}
    best = np.where(np.isfinite(rows.logits), rows.logits, -np.inf).argmax(axis=1)
    right = np.mean([labels[name] == place for name, place in zip(rows.ids, best, strict=True)])
    print(
        f"{form}: {len(rows.ids)} questions, {engine.together} in a request, {right:.0%} right, label mass "
        f"{np.nanmedian(rows.letter_mass) if np.isfinite(rows.letter_mass).any() else 'not told'}, identical requests "
        f"differ by at most {varied.get('largest', float('nan')):.2g}"
    )
    if local:
        place = resolve(local).location
        tokenizer = AutoTokenizer.from_pretrained(place)
        model = AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32).eval()
        names = [letter if form == "systemone" else f'"{letter}"' for letter in LETTERS]
        logits = dict(zip(rows.ids, rows.logits, strict=True))
        differences = []
        for question in (question for question in questions if question.id in logits):
            k = len(question.options)
            shares = _shares(tokenizer, model, _vllm_text(question, names), k)
            differences.append(np.abs(np.exp(logits[question.id][:k]) - shares).max())
        print(f"{form}: largest difference of a probability from transformers {max(differences):.1e}")
    print()


def _vllm_text(question: Question, names: Sequence[str]) -> str:
    """What vLLM 0.32 and 0.33 put into the user's turn for a ``choice`` (their ``question_types.py``)."""
    lines = [f"{letter}: {name} - {text}" for letter, name, text in zip(LETTERS, names, question.options, strict=False)]
    lines = [f"Question: {question.question}", *lines, "Answer with the letter of one option only."]
    return "\n".join([question.context, "", *lines])


def _shares(tokenizer: Any, model: Any, text: str, k: int) -> np.ndarray:
    """How the first k letters share the next token's probability after a turn with this text, of (k,)."""
    turn = [{"role": "user", "content": text}]
    how = {"add_generation_prompt": True, "enable_thinking": False}
    begin = tokenizer.apply_chat_template(turn, tokenize=False, **how)
    ids = tokenizer(begin, add_special_tokens=False)["input_ids"]
    letters = [tokenizer(begin + letter, add_special_tokens=False)["input_ids"][-1] for letter in LETTERS[:k]]
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([ids])).logits[0, -1, letters]
    return logits.double().softmax(-1).numpy()


def scored(engine: TransformersEngine | ServerEngine, prompts: Sequence[Prompt]) -> OptionLogits:
    """All prompts, in their order."""
    engine.prepare(prompts)
    engine.self_check(prompts)
    return joined(
        list(engine.score(prompts)), [prompt.question_id for prompt in prompts], k=max(prompt.k for prompt in prompts)
    )


def commands(served: str, url: str, folder: str) -> None:
    """Run the commands that a user would type, and print the end of their output."""
    values = {"where": f"--model {served} --server {url}", "served": served, "url": url, "folder": folder}
    values["paused"] = "none"
    for words in COMMANDS:
        line = f"{sys.executable} -m core {words.format(**values)}"
        done = subprocess.run(line, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip() and "%|" not in line]
        print(f"[{done.returncode}] {words.format(**values)}\n    {' '.join(' '.join(lines[-3:]).split())[:SAID]}")
        if match := re.search(r"^paused\s+(\S+)", done.stdout, re.MULTILINE):
            values["paused"] = match[1]


if __name__ == "__main__":
    main()
