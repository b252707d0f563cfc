"""Perplexity runs, adapters, and evaluations and views of tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from core.settings import settings
from tests.damage.kinds.common import TALK, Names, other_run
from tests.damage.looks import Look, Refused, command, listed, report, run
from tests.damage.tries import Kind

TEXT = "The capital of France is Paris."


def _perplexities() -> Names:
    path = settings().home / "talk.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TALK)
    made = {}
    for model in ("pocket-1m", "pocket-3m-instruct"):
        words = ("--model", model, "--prompt", "fitting", "empty", "--conversation", str(path))
        (made[model],) = run("perplexity", "run", *words)["runs"]
    return made | {"brook": other_run()}


def _of_perplexities(names: Names) -> list[Look]:
    looks = [report(names["brook"]), listed(names["brook"])]
    for run_id in (names["pocket-1m"], names["pocket-3m-instruct"]):
        looks += [
            listed(run_id),
            Look(f"perplexity {run_id}", (run_id, "perplexity/"), command("perplexity", "report", run_id)),
        ]
    return looks


# ---------------------------------------------------------------- adapters, tokens


def _model(folder: Path) -> Path:
    """A small random model, with a tokenizer of its own."""
    from tests.core.models.architectures import VOCABULARY, tiny
    from tests.core.models.conftest import WORDS, save_tokenizer

    assert len(WORDS) <= VOCABULARY
    tiny("llama").save_pretrained(folder)
    save_tokenizer(folder, WORDS)
    return folder


def _adapters() -> Names:
    made = {"model": str(_model(settings().home / "models" / "base"))}
    texts = settings().home / "texts.jsonl"
    texts.write_text(
        "".join(json.dumps({"instruction": f"w{i} w{i + 1}", "output": f"w{i} w{i + 2} ."}) + "\n" for i in range(20))
    )
    for kind in ("ard-lora", "lora"):
        out = settings().home / "adapters" / kind
        words = ("--model", made["model"], "--kind", kind, "--epochs", "1", "--rank", "2", "--data", str(texts))
        run("train-adapter", *words, "--out", str(out))
        made[kind] = str(out)
    return made | {"brook": other_run()}


def _of_adapters(names: Names) -> list[Look]:
    looks = [report(names["brook"])]
    for kind in ("ard-lora", "lora"):
        of = (f"adapters/{kind}/",)
        looks.append(
            Look(f"view {kind}", of, command("tokens", "view", "--model", names[kind], "--text", "w1 w2 w3 ?"))
        )
    return looks


def _tokens() -> Names:
    made = _adapters()
    data = str(settings().home / "texts.jsonl")
    for kind in ("model", "ard-lora", "lora"):
        run("tokens", "evaluate", "--model", made[kind], "--data", data, "--part", "all", "--num-samples", "40")
    from core.runs.answering import token_text

    for text in (TEXT, "w1 w2 w3"):
        asked = token_text.token_text(made["model"], text)
        token_text.write_view(asked, run("tokens", "view", "--model", made["model"], "--text", text))
    return made


def _of_tokens(names: Names) -> list[Look]:
    looks = [report(names["brook"])]
    for kind, stem in (("model", "base"), ("ard-lora", "ard-lora"), ("lora", "lora")):
        looks.append(
            Look(f"tokens of {kind}", (f"tokens/{stem}-", f"tokens/{stem}"), lambda stem=stem: _evaluation(stem))
        )
    of = ("answers/tokens/",)
    views = [Look(f"view of {text}", of, lambda text=text: _view(names["model"], text)) for text in (TEXT, "w1 w2 w3")]
    return [*looks, *views]


def _evaluation(stem: str) -> Any:
    """An evaluation as the Tokens page shows it."""
    from core.reports import tokens

    found, problems = tokens.results()
    if told := [problem for problem in problems if f"/{stem}-" in problem]:
        raise Refused(told[0])
    of_model = [one for one in found if one.values["model"] == stem and not one.ships]
    if len(of_model) != 1:
        raise AssertionError(f"{len(of_model)} evaluations of {stem}: {problems}")
    (one,) = of_model
    frames = [tokens.figures_frame((one,)), tokens.reliability_frame((one,)), tokens.variances_frame(one)]
    estimates = [repr(tokens.estimate_of(one, figure)) for figure in tokens.FIGURES]
    return [one.name, [frame.to_json(double_precision=15) for frame in frames], estimates]


def _view(model: str, text: str) -> Any:
    from core.runs.answering import token_text

    asked = token_text.token_text(model, text)
    if (found := token_text.read_view(asked)) is None:
        raise Refused(f"{asked.answer_id} is asked again")
    return {name: found[name] for name in ("model", "kind", "weights", "notes", "text", "window", "tokens")}


KINDS = {
    "perplexity": Kind(_perplexities, _of_perplexities, ("runs/*perplexity*/*.*", "perplexity/*")),
    "adapter": Kind(_adapters, _of_adapters, ("adapters/*/*",)),
    "tokens": Kind(_tokens, _of_tokens, ("tokens/*", "answers/tokens/*")),
}
