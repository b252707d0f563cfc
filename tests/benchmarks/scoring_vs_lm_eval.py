"""Scoring here against lm-evaluation-harness 0.4.13, on the same model and prompts, interleaved in one process.

    OMP_NUM_THREADS=1 HEDGE_REAL_DATA=... python tests/benchmarks/scoring_vs_lm_eval.py m30 letters 5 --questions 100

The rival is no requirement (``pip install lm-eval==0.4.13``); it runs at its batch size 8. The model has random
weights: ``m30`` is Qwen2-shaped with 31 M parameters, ``m135`` has SmolLM's shape. Questions are MMLU's, from
``HEDGE_REAL_DATA``, with a byte-level tokenizer trained on them. Seconds are the CPU time of one thread. Ours counts
everything from the texts on: tokenizing, the shared prefix, and (in ``with_check``) the self-check.
``--memory ours|theirs`` runs one of the two alone and prints its extra memory.
"""

import argparse
import json
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedTokenizerFast, Qwen2Config

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.models.transformers_engine import TransformersEngine
from core.questions import catalogue
from core.questions.prompting.cloze import cloze_prompt
from core.questions.prompting.strategies import prompt
from core.records import Prompt, Question

SHAPES = {
    "m30": Qwen2Config(
        vocab_size=32_000,
        hidden_size=384,
        intermediate_size=1_536,
        num_hidden_layers=8,
        num_attention_heads=6,
        num_key_value_heads=2,
        max_position_embeddings=4_096,
        tie_word_embeddings=True,
    ),
    "m135": LlamaConfig(
        vocab_size=49_152,
        hidden_size=576,
        intermediate_size=1_536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        max_position_embeddings=4_096,
        tie_word_embeddings=True,
    ),
}


def tokenizer_of(questions: list[Question]) -> PreTrainedTokenizerFast:
    """Byte-level, 16,000 tokens, trained on the questions."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=16_000,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<end>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator((prompt(q).text for q in questions), trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", pad_token="<end>")


def draw(form: str, shots: int, count: int) -> tuple[list[Prompt], list[Question]]:
    """``count`` prompts of four-option questions of usual length, and the questions the tokenizer learns from."""
    path = Path(os.environ["HEDGE_REAL_DATA"]) / "llm-uncertainty-bench" / "labels" / "mmlu_10k.json"
    questions = list(catalogue.load(f"qa@{path}").questions)
    usual = [q for q in questions if 250 < len(prompt(q).text) < 500]
    order = np.random.default_rng(0).permutation(len(usual))
    chosen = [usual[i] for i in order[: count + shots]]
    four = [Question(q.id, q.task, q.group, q.context, q.question, q.options[:4], q.label) for q in chosen]
    build = cloze_prompt if form == "cloze" else prompt
    source = four if form == "cloze" else chosen
    return [build(q, demonstrations=source[:shots]) for q in source[shots:]], questions


def continuations(prompt: Prompt) -> list[str]:
    return list(prompt.continuations) or [f" {letter}" for letter in "ABCDEF"[: prompt.k]]


class Ours:
    """The engine; its clock counts everything from the texts on."""

    def __init__(self, model, tokenizer):
        self.engine = TransformersEngine(model, tokenizer, name="bench", dtype="float32")
        self.seconds = self.check_seconds = 0.0

    def begin(self, prompts):
        start = time.process_time()
        self.engine.prepare(prompts)
        self.seconds += time.process_time() - start
        start = time.process_time()
        self.check = self.engine.self_check(prompts)
        self.check_seconds = time.process_time() - start

    def score(self, prompts):
        start = time.process_time()
        rows = {
            id_: row for batch in self.engine.score(prompts) for id_, row in zip(batch.ids, batch.logits, strict=True)
        }
        self.seconds += time.process_time() - start
        return [rows[p.question_id] for p in prompts]


class Theirs:
    """lm-evaluation-harness at its batch size 8."""

    def __init__(self, model, tokenizer):
        from lm_eval.models.huggingface import HFLM

        self.model = HFLM(pretrained=model, tokenizer=tokenizer, backend="causal", device="cpu", batch_size="8")
        self.seconds = 0.0

    def score(self, prompts):
        from lm_eval.api.instance import Instance

        start = time.process_time()
        requests = [
            Instance("loglikelihood", {}, (p.text, continuation), i)
            for p in prompts
            for i, continuation in enumerate(continuations(p))
        ]
        values = iter(value for value, _ in self.model.loglikelihood(requests, disable_tqdm=True))
        rows = [np.array([next(values) for _ in continuations(p)]) for p in prompts]
        self.seconds += time.process_time() - start
        return rows


def compare(model, tokenizer, prompts, group):
    """Both on the same prompts, group by group in turn."""
    ours, theirs = Ours(model, tokenizer), Theirs(model, tokenizer)
    theirs.score(prompts[:1])
    theirs.seconds = 0.0
    ours.begin(prompts)
    largest = 0.0
    for start in range(0, len(prompts), group):
        part = prompts[start : start + group]
        batches = zip(ours.score(part), theirs.score(part), strict=True)
        largest = max(largest, *(float(np.abs(a - b).max()) for a, b in batches))
    return {
        "questions": len(prompts),
        "rung": ours.check.rung,
        "ours_s": round(ours.seconds, 2),
        "check_s": round(ours.check_seconds, 2),
        "theirs_s": round(theirs.seconds, 2),
        "ratio": round(theirs.seconds / ours.seconds, 2),
        "ratio_with_check": round(theirs.seconds / (ours.seconds + ours.check_seconds), 2),
        "largest_difference": largest,
    }


def memory(model, tokenizer, prompts, which):
    """Peak resident memory over what there was before the first question, MiB."""
    before = psutil.Process().memory_info().rss
    engine = Ours(model, tokenizer) if which == "ours" else Theirs(model, tokenizer)
    if which == "ours":
        engine.begin(prompts)
    engine.score(prompts)
    return {"extra_mib": round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before) / 2**20)}


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("model", choices=SHAPES)
    words.add_argument("form", choices=("letters", "cloze"))
    words.add_argument("shots", type=int)
    words.add_argument("--questions", type=int, default=100)
    words.add_argument("--group", type=int, default=50)
    words.add_argument("--memory", choices=("ours", "theirs"))
    options = words.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    prompts, questions = draw(options.form, options.shots, options.questions)
    tokenizer = tokenizer_of(questions)
    model = AutoModelForCausalLM.from_config(SHAPES[options.model], dtype=torch.float32).eval()
    if options.memory:
        figures = memory(model, tokenizer, prompts, options.memory)
    else:
        figures = compare(model, tokenizer, prompts, options.group)
    print(json.dumps({"model": options.model, "form": options.form, "shots": options.shots} | figures))


if __name__ == "__main__":
    main()
