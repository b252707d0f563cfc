"""Scoring here against lm-evaluation-harness 0.4.13, on the same model and prompts, interleaved in one process.

    OMP_NUM_THREADS=1 HEDGE_REAL_DATA=... python tests/benchmarks/scoring_vs_lm_eval.py m30 letters 5 --questions 100

The rival is no requirement of Hedge (``pip install lm-eval==0.4.13``); it runs at its batch size 8 or at each of
``--their-batch``, of which the fastest counts. The model has random weights: ``m30`` is Qwen2-shaped with 31 M
parameters, ``m135`` has SmolLM's shape, and for a GPU (``--device cuda --dtype bfloat16``, where time is what the clock
on the wall says) ``b1`` has TinyLlama's 1.1 B and ``b7`` Mistral's 7 B. Questions are MMLU's, from
``HEDGE_REAL_DATA``, with a byte-level tokenizer trained on them. CPU time of one thread elsewhere. Ours counts
everything from the texts on: tokenizing, the shared prefix, and (in ``with_check``) the self-check. ``floor`` is the
time that 2 · (parameters without the embeddings) · (tokens that are not shared), and attention's 4 · width · (keys
seen) a token and layer, take at this machine's own rate of matrix products of the batch's size; ``with_the_vocabulary``
has the output matrix at the scored positions in its floor too, which no exact log-probability can do without.
``--memory ours|theirs`` runs one of the two alone and prints its extra memory.
"""

from __future__ import annotations

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
    "b1": LlamaConfig(
        vocab_size=32_000,
        hidden_size=2_048,
        intermediate_size=5_632,
        num_hidden_layers=22,
        num_attention_heads=32,
        num_key_value_heads=4,
        max_position_embeddings=4_096,
    ),
    "b7": LlamaConfig(
        vocab_size=32_000,
        hidden_size=4_096,
        intermediate_size=14_336,
        num_hidden_layers=32,
        num_attention_heads=32,
        num_key_value_heads=8,
        max_position_embeddings=4_096,
    ),
}


def tokenizer_of(questions: list[Question]) -> PreTrainedTokenizerFast:
    """Byte-level, 16,000 tokens, trained on the questions."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=16_000,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<end>"],
        show_progress=False,
    )
    made.train_from_iterator((prompt(q).text for q in questions), trainer)
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<end>", pad_token="<end>")


def asked(form: str, shots: int, count: int) -> tuple[list[Prompt], list[Question]]:
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


def continuations(one: Prompt) -> list[str]:
    return list(one.continuations) or [f" {letter}" for letter in "ABCDEF"[: one.k]]


def now(model) -> float:
    """CPU time; with a GPU the wall's, once it has done all that it was told."""
    if model.device.type != "cuda":
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


class Ours:
    """The engine; its clock counts everything from the texts on."""

    def __init__(self, model, tokenizer):
        self.engine = TransformersEngine(model, tokenizer, name="bench", dtype=str(model.dtype).removeprefix("torch."))
        self.seconds = self.check_seconds = 0.0

    def begin(self, prompts):
        start = now(self.engine.model)
        self.engine.prepare(prompts)
        self.seconds += now(self.engine.model) - start
        start = now(self.engine.model)
        self.check = self.engine.self_check(prompts)
        self.check_seconds = now(self.engine.model) - start

    def score(self, prompts):
        start = now(self.engine.model)
        found = {
            name: row for batch in self.engine.score(prompts) for name, row in zip(batch.ids, batch.logits, strict=True)
        }
        self.seconds += now(self.engine.model) - start
        return [found[p.question_id] for p in prompts]


class Theirs:
    """lm-evaluation-harness at one batch size."""

    def __init__(self, model, tokenizer, batch="8"):
        from lm_eval.models.huggingface import HFLM

        self.own, self.batch = model, batch
        self.model = HFLM(
            pretrained=model, tokenizer=tokenizer, backend="causal", device=model.device.type, batch_size=batch
        )
        self.seconds = 0.0

    def score(self, prompts):
        from lm_eval.api.instance import Instance

        start = now(self.own)
        requests = [
            Instance("loglikelihood", {}, (p.text, said), i) for p in prompts for i, said in enumerate(continuations(p))
        ]
        values = iter(value for value, _ in self.model.loglikelihood(requests, disable_tqdm=True))
        rows = [np.array([next(values) for _ in continuations(p)]) for p in prompts]
        self.seconds += now(self.own) - start
        return rows


def rate(model, rounds=20) -> float:
    """Operations a second in matrix products of a batch of 512 tokens; on a GPU of one that fills it."""
    config = model.config
    rows = 512 if model.device.type == "cpu" else 16_384
    a = torch.randn(rows, config.hidden_size, device=model.device, dtype=model.dtype)
    b = torch.randn(config.hidden_size, config.intermediate_size, device=model.device, dtype=model.dtype)
    torch.mm(a, b)
    start = now(model)
    for _ in range(rounds):
        torch.mm(a, b)
    return rounds * 2 * a.shape[0] * a.shape[1] * b.shape[1] / (now(model) - start)


def operations(model, shared: int, own: list[int]) -> float:
    """What can't be avoided: the layers once a token that is not shared, and attention to all before it."""
    weights = sum(p.numel() for name, p in model.named_parameters() if "embed" not in name and "lm_head" not in name)
    width = model.config.num_hidden_layers * model.config.hidden_size
    seen = shared * shared / 2 + sum(n * (shared + n / 2) for n in own)
    return 2 * weights * (shared + sum(own)) + 4 * width * seen


def vocabulary(model, rows) -> float:
    """The output matrix once a state that is read: one for all options' first tokens, one before each later token."""
    states = sum(row.tree_length - len(row.context) + 1 for row in rows)
    return 2 * states * model.config.hidden_size * model.config.vocab_size


def compare(model, tokenizer, prompts, group, batches):
    """All on the same prompts, group by group in turn."""
    ours, rivals = Ours(model, tokenizer), [Theirs(model, tokenizer, batch) for batch in batches]
    for rival in rivals:
        rival.score(prompts[:1])
        rival.seconds = 0.0
    ours.begin(prompts)
    largest, rates = 0.0, [rate(model)]
    for start in range(0, len(prompts), group):
        part = prompts[start : start + group]
        mine = ours.score(part)
        for rival in rivals:
            both = zip(mine, rival.score(part), strict=True)
            largest = max(largest, *(float(np.abs(a - b).max()) for a, b in both))
        rates.append(rate(model))
    theirs = min(rivals, key=lambda rival: rival.seconds)
    rows = ours.engine.encoder.rows(prompts)
    shared = len(ours.engine.prefix) if ours.engine.prefix else 0
    needed = operations(model, shared, [row.tree_length - shared for row in rows])
    speed = float(np.median(rates))
    return {
        "questions": len(prompts),
        "rung": ours.check.rung,
        "shared_tokens": shared,
        "own_tokens": round(float(np.mean([row.tree_length - shared for row in rows])), 1),
        "ours_s": round(ours.seconds, 2),
        "check_s": round(ours.check_seconds, 2),
        "theirs_s": round(theirs.seconds, 2),
        "their_batch": theirs.batch,
        "questions_a_second": round(len(prompts) / ours.seconds, 1),
        "ratio": round(theirs.seconds / ours.seconds, 2),
        "ratio_with_check": round(theirs.seconds / (ours.seconds + ours.check_seconds), 2),
        "times_the_floor": round(ours.seconds * speed / needed, 2),
        "with_the_vocabulary": round(ours.seconds * speed / (needed + vocabulary(model, rows)), 2),
        "gflops": round(speed / 1e9, 1),
        "largest_difference": largest,
        "self_check_difference": ours.check.largest_difference,
    }


def memory(model, tokenizer, prompts, which):
    """Peak resident memory over what there was before the first question, MiB."""
    before = psutil.Process().memory_info().rss
    made = Ours(model, tokenizer) if which == "ours" else Theirs(model, tokenizer)
    if which == "ours":
        made.begin(prompts)
    made.score(prompts)
    return {"extra_mib": round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before) / 2**20)}


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("model", choices=SHAPES)
    words.add_argument("form", choices=("letters", "cloze"))
    words.add_argument("shots", type=int)
    words.add_argument("--questions", type=int, default=100)
    words.add_argument("--group", type=int, default=50)
    words.add_argument("--memory", choices=("ours", "theirs"))
    words.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    words.add_argument("--dtype", choices=("float32", "bfloat16", "float16"), default="float32")
    words.add_argument("--their-batch", nargs="+", default=["8"], help="numbers, or auto")
    said = words.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    prompts, questions = asked(said.form, said.shots, said.questions)
    tokenizer = tokenizer_of(questions)
    with torch.device(said.device):
        model = AutoModelForCausalLM.from_config(SHAPES[said.model], dtype=getattr(torch, said.dtype)).eval()
    if said.memory:
        found = memory(model, tokenizer, prompts, said.memory)
    else:
        found = compare(model, tokenizer, prompts, said.group, said.their_batch)
    print(json.dumps({"model": said.model, "form": said.form, "shots": said.shots} | found))


if __name__ == "__main__":
    main()
