"""All figures of the pocket world that pages and ``tests/benchmarks/RESULTS.md`` quote, as Markdown.

They are computed anew from what ships: the models, the recorded runs, the answers, the juries and the prose.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from transformers import LlamaForCausalLM

from core.conformal.probabilities import top_options
from core.jury.agreement import agreement
from core.jury.pipeline import jury_store
from core.models.perplexity.figures import ScoredMessage
from core.models.perplexity.prompts import SHIPPED
from core.reports import perplexity, perplexity_results
from core.reports.evaluation import Evaluation, load
from core.reports.report import report
from core.runs.shared_questions import FOLDER as SHARED
from core.settings import ASSETS
from pocket_world import answers
from pocket_world.bank import BANK_TASKS
from pocket_world.evaluate import Share
from pocket_world.prose import files, held_out
from pocket_world.recipes import RECIPES, Recipe
from pocket_world.record import FOLDER, recorded_specs
from pocket_world.text_loss import held_out_loss
from pocket_world.tokens import published_tokenizer


def figures() -> str:
    """The report; it takes minutes, for the models read the held-out prose."""
    runs = {name: _runs(name) for name in RECIPES}
    sections = [
        "# Figures of the pocket world",
        "Made by `python -m pocket_world report`.",
        "## By letter",
        "All questions of the bank, strategy `base`, float32; 95 % Wilson intervals. *Cloze*: `qa` by the texts of its "
        "options.",
        _table(("model", *BANK_TASKS, "mean", "cloze"), [_letters(name, found) for name, found in runs.items()]),
        "What being tuned for chat costs: "
        f"{100 * (_mean(runs['pocket-3m']) - _mean(runs['pocket-3m-instruct'])):.1f} points of pocket-3m's mean.",
        "## Held-out prose",
        "The chat-tuned model: replies of held-out counselors under the fitting prompt. The others: held-out files.",
        _table(("model", "perplexity a token", "bits a byte", "tokens"), [_prose(one) for one in RECIPES.values()]),
        "## The bundled conversations",
        *(part for name in RECIPES for part in _conversations(name)),
        "## Recorded runs",
        _recorded([run for found in runs.values() for run in found.values()]),
        "## Short answers",
        *(_answers(name) for name in RECIPES if answers.path_of(name).is_file()),
        "## Juries",
        *map(_jury, sorted(path.name for path in (ASSETS / "juries").iterdir() if path.is_dir())),
        "## Prose",
        _table(("file", "kind", "words", "share", "held out"), _files()),
    ]
    return "\n\n".join(sections) + "\n"


def _runs(model: str) -> dict[str, Evaluation]:
    """The recorded runs of a model that ship, by id."""
    specs = [spec for spec in recorded_specs(model) if (FOLDER / spec.run_id).is_dir()]
    return {spec.run_id: load(spec.run_id) for spec in specs}


def _of(runs: dict[str, Evaluation], task: str, form: str = "letters") -> Evaluation:
    wanted = {"task": task, "form": form, "strategy": "base", "dtype": "float32", "shots": 0}
    return next(run for run in runs.values() if all(getattr(run.spec, name) == value for name, value in wanted.items()))


def _right(run: Evaluation) -> Share:
    return Share(int((top_options(run.probabilities) == run.labels).sum()), int(np.size(run.labels)))


def _mean(runs: dict[str, Evaluation]) -> float:
    return sum(_right(_of(runs, task)).value for task in BANK_TASKS) / len(BANK_TASKS)


def _letters(name: str, runs: dict[str, Evaluation]) -> list[str]:
    shares = [_right(_of(runs, task)) for task in BANK_TASKS]
    return [name, *map(_percent, shares), f"{_mean(runs):.1%}", _percent(_right(_of(runs, "qa", "cloze")))]


def _prose(recipe: Recipe) -> list[str]:
    folder = ASSETS / "models" / recipe.name
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    loss = held_out_loss(model, published_tokenizer(folder), chat=recipe.chat)
    return [recipe.name, f"{loss.perplexity:,.1f}", f"{loss.bits_per_byte:.3f}", f"{loss.tokens:,}"]


def _conversations(model: str) -> list[str]:
    """Perplexity under each shipped prompt, and how much less likely messages are under the others than the fitting."""
    run = perplexity_results.read(next(FOLDER.glob(f"{model}-perplexity-*")).name)
    names = {conversation.digest: conversation.name for conversation in run.request.conversations}
    measured: dict[str, dict[str, tuple[ScoredMessage, ...]]] = {}
    for name, prompt in SHIPPED.items():
        of = {source: found for (digest, source), found in run.messages.items() if digest == prompt.digest}
        measured[name] = {names[source]: found for source, found in of.items() if source in names}
    table = perplexity.by_conversation(measured)
    wide = table.pivot_table(index="conversation", columns="prompt", values="perplexity", sort=False)
    rows = [[str(name), *(f"{row[prompt]:,.1f}" for prompt in SHIPPED)] for name, row in wide.iterrows()]
    fitting = measured["fitting"]
    lowest = sum(
        row["fitting"] < min(row["unfitting"], row["empty"]) for name, row in wide.iterrows() if name in fitting
    )
    said = []
    for other in ("unfitting", "empty"):
        pair = perplexity.overall(measured[other], fitting)
        said.append(f"{other} − fitting {pair.mean:+.3f} nats a token ({pair.low:+.3f} to {pair.high:+.3f})")
    return [
        f"{model}, perplexity a token:",
        _table(("conversation", *SHIPPED), rows),
        f"Lowest under the fitting prompt in {lowest} of {len(fitting)}; {'; '.join(said)}.",
    ]


def _recorded(runs: Sequence[Evaluation]) -> str:
    found = [(run, report(run, 100).scores["lac"]) for run in runs]
    within = sum(lac.coverage_band[0] <= lac.coverage <= lac.coverage_band[1] for _, lac in found)
    sizes = sorted((lac.mean_set_size, run.run_id) for run, lac in found if run.spec.strategy == "base")
    stored = sum(path.stat().st_size for folder in (FOLDER, SHARED) for path in folder.rglob("*") if path.is_file())
    return (
        f"{len(list(FOLDER.iterdir()))} runs in {stored / 1e6:.1f} MB. Coverage by LAC at alpha 0.1 lies in its 95 % "
        f"band in {within} of {len(found)}. Mean LAC set size from {sizes[0][0]:.2f} ({sizes[0][1]}) to "
        f"{sizes[-1][0]:.2f} ({sizes[-1][1]}), strategy `base`."
    )


def _answers(model: str) -> str:
    said = answers.read(answers.path_of(model))
    return f"{model} answers {sum(one.correct for one in said):,} of {len(said):,} short questions rightly."


def _jury(jury_id: str) -> str:
    judged = jury_store.read(jury_id)
    always = Share(int(judged.labels.sum()), len(judged.labels))
    votes = agreement(judged).effective_votes
    jurors = [
        f"{juror} {_percent(Share(int(right), len(judged.labels)))}"
        for juror, right in zip(judged.jurors, (judged.verdicts == judged.labels[:, None]).sum(axis=0), strict=True)
    ]
    return (
        f"{jury_id}: {len(judged.labels):,} answers, always True is right about {always.value:.1%}, always False about "
        f"{1 - always.value:.1%}; right are {', '.join(jurors)}; worth {votes.value:.2f} ({votes.low:.2f} to "
        f"{votes.high:.2f}) votes."
    )


def _files() -> list[list[str]]:
    whole = sum(file.words for file in files())
    out = {file.name for file in held_out()}
    rows = [
        [f"`{file.name}`", file.kind, f"{file.words:,}", f"{file.words / whole:.2%}", "yes" if file.name in out else ""]
        for file in files()
    ]
    return [*rows, ["all", "", f"{whole:,}", "100%", f"{len(out)} files"]]


def _percent(share: Share) -> str:
    return "{:.1%} ({:.1%} to {:.1%})".format(share.value, *share.interval)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
