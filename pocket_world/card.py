"""The model card of a pocket model, written from what its training recorded and what the model answers."""

import platform
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerBase

from core.conformal.probabilities import top_options
from core.questions.prompting.strategies import STRATEGIES
from core.records import Question
from core.reports.evaluation import Evaluation, load
from core.reports.report import report
from pocket_world.bank import BANK_TASKS
from pocket_world.curriculum import REPLAY
from pocket_world.evaluate import Share, accuracy_by, held_out_loss, letter_probabilities
from pocket_world.prose import files, held_out
from pocket_world.recipes import Recipe
from pocket_world.record import recorded_specs
from pocket_world.relations import Fact
from pocket_world.scenes.shown import RARELY, share
from pocket_world.train import LETTERS_RATE, StageProgress
from pocket_world.world import never_shown, only_stated, world

_HELD_OUT = """\
## What was held out

No question of the bank occurs in the training text: of `qa` no question text, and no run of 13 words of a question
with its options A to D, nor a whole one where it is shorter; of the other tasks no run of 13 words of a passage,
situation, dialogue, document or option (`python -m pocket_world check` reads the text again and counts). In particular:

- A fact of the tables is asked in training in all wordings but one; the bank asks it in that one.
- A third of the hard facts (the last third of each table) is in no training text at all, in neither direction.
- One fact in eight is stated in training but never asked with lettered options.
- One file of prose of each kind of each corpus, and every run of eight words of the bundled conversations.
- Of sums, dates, lists and sequences, one in five combinations of operands is kept for the bank and never
  shown in that relation.
- Some plans of passages, dialogues and activities are never shown in training, a third of them rarely; the bank draws
  from all alike. Plans that were shown are filled in again: other people, places, numbers and things.
- False options are drawn again for every question.

So the bank measures facts that were mostly shown in other words, combinations that were never shown, and whether what
was practised on some texts is done on new ones. It doesn't measure knowledge outside the pocket world.
"""

_LIMITS = """\
## Known limits

- It knows a few thousand facts of school knowledge and small made-up scenes in the wordings of its generator, in
  English, and English as in the prose; it answers in letters or in a few words.
- E and F were never the right answer in training, so it hardly ever chooses them: its doubt shows only in how it
  spreads over A to D.
- Training rows were short (mostly under 160 tokens, with demonstrations and prose up to about 450), though the context
  is 512.
- Its probabilities were not calibrated after training.
"""

_CURVE = """\
Loss is the weighted mean over the letters and verdicts (matching, letters) or letters, statements, dialogues, short
answers and prose (everything) since the check before. *Binding*: finding a value among the options, while matching in a
list; then each task's first 200 bank questions. *Perplexity*: a token, on every eighth piece of held-out prose. The
recipe was worked out while these checks were watched; no training text was made of the bank.
"""

_ACCURACY = """\
By letter, zero shots, the likeliest of the six letters; 95 % Wilson intervals. Chance is 25 % for a model that never
chooses E or F.
"""


def card(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerBase,
    recipe: Recipe,
    progress: StageProgress,
    bank: Sequence[Question],
) -> str:
    """The card of a trained model as Markdown; the model is asked the whole bank once for every strategy."""
    parameters = sum(weights.numel() for weights in model.parameters())
    loss = held_out_loss(model, tokenizer, chat=recipe.chat)
    origin = f"grown from {recipe.grown_from} and trained" if recipe.grown_from else "trained from nothing"
    what = (
        "replies of the counselors in held-out talks, under the fitting prompt with two exchanges before each"
        if recipe.chat
        else f"the {len(held_out())} of {len(files())} files that were held out"
    )
    sections = [
        f"# {recipe.name}\n\n"
        f"A Llama of {parameters:,} parameters (hidden {recipe.hidden}, {recipe.layers} layers, {recipe.heads} heads, "
        f"tied embeddings,\n{model.config.vocab_size:,} tokens, context {model.config.max_position_embeddings}), "
        f"{origin} on text that Hedge\ngenerates from its own tables of facts and plans of everyday scenes,\n"
        "and on prose written for Hedge. It answers by letter.",
        "## Training",
        f"Made by `python -m pocket_world make --model {recipe.name}`.",
        _table(("", ""), _training(recipe, progress)),
        _CURVE,
        _table(
            ("stage", "step", "tokens (M)", "minutes", "loss", "binding", "perplexity", *BANK_TASKS), _curve(progress)
        ),
        *_accuracies(model, tokenizer, bank),
        "## Held-out prose",
        f"On {what}: perplexity {loss.perplexity:.1f} a token, {loss.bits_per_byte:.3f} bits a byte "
        f"({loss.tokens:,} tokens, {loss.size:,} bytes).",
        _HELD_OUT,
        _LIMITS,
    ]
    return "\n\n".join(section.strip() for section in sections) + "\n"


def _training(recipe: Recipe, progress: StageProgress) -> list[tuple[str, str]]:
    steps = {row["stage"]: row["step"] for row in progress.curve}
    share = f"{recipe.prose:.0%} of the text of {'everything' if recipe.grown_from else 'letters and everything'}"
    letters = f"{REPLAY:.0%} at first, {recipe.letters:.0%} from step {recipe.replay:,} on,"
    first_rate = f"{LETTERS_RATE:g} for matrices in matching and letters; in everything "
    return [
        ("tokens read", f"{progress.tokens / 1e6:.1f} million"),
        ("steps", ", ".join(f"{steps.get(stage, 0):,} of {stage}" for stage in ("matching", "letters", "everything"))),
        ("prose", "talks with counselors and other assistants, half of the text" if recipe.chat else share),
        (
            "letters repeated",
            f"{letters if recipe.replay else f'{recipe.letters:.0%}'} of the text of everything that is not prose",
        ),
        (
            "begins as",
            f"{recipe.grown_from}, computing the same"
            if recipe.grown_from
            else "random, with heads that look for the same token and for what followed it",
        ),
        (
            "learning rate",
            f"{'' if recipe.grown_from else first_rate}{recipe.rate:g} for matrices (Muon), {recipe.token_rate:g} for "
            "the rest (AdamW), falling in a straight line to a twentieth",
        ),
        ("weights stored as", "float16" if recipe.half else "float32"),
        ("seed", str(recipe.seed)),
        ("time", f"{progress.seconds / 60:.0f} minutes of {progress.timed}"),
        ("machine", progress.machine),
    ]


def _accuracies(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerBase, bank: Sequence[Question]
) -> tuple[str, ...]:
    names = [f"{task}, {strategy}" for task in BANK_TASKS for strategy in STRATEGIES]
    probabilities = {name: letter_probabilities(model, tokenizer, bank, strategy=name) for name in STRATEGIES}
    base, mass = probabilities["base"], probabilities["base"].sum(axis=1)
    by_strategy = accuracy_by(
        np.concatenate(list(probabilities.values())),
        [*bank] * len(STRATEGIES),
        [f"{question.task}, {name}" for name in STRATEGIES for question in bank],
    )

    def by(title: str, name: Callable[[Question], str], *, facts: bool) -> str:
        places = [place for place, question in enumerate(bank) if (question.task == "qa") == facts]
        questions = [bank[place] for place in places]
        return _shares(title, accuracy_by(base[places], questions, [*map(name, questions)]))

    return (
        f"## Accuracy on the bank's {len(bank):,} questions",
        _ACCURACY,
        _shares("task, strategy", {name: by_strategy[name] for name in names if name in by_strategy}),
        f"On `base` the six letters hold {mass.mean():.1%} of the next-token probability on average (least: "
        f"{mass.min():.1%}).",
        by("`qa` by subject", lambda question: question.group, facts=True),
        by("`qa` by what training showed", exposure, facts=True),
        by("other tasks by what training showed", exposure, facts=False),
    )


def machine(device: torch.device) -> str:
    """The GPU, or the processor and its threads in use, and the version of torch."""
    if device.type == "cuda":
        place = str(torch.cuda.get_device_name(device))
    else:
        info = Path("/proc/cpuinfo")
        lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        name = names[0] if names else platform.processor() or platform.machine()
        place = f"{name}, {torch.get_num_threads()} threads"
    return f"{place}, torch {torch.__version__}"


def _curve(progress: StageProgress, lines: int = 16) -> list[tuple[str, ...]]:
    """About ``lines`` lines of the curve, evenly spaced, the last one among them."""
    every = max(1, -(-len(progress.curve) // lines))
    return [
        (
            row["stage"],
            f"{row['step']:,}",
            f"{row['tokens'] / 1e6:.1f}",
            f"{row['seconds'] / 60:.0f}",
            f"{row['loss']:.3f}",
            f"{row['binding']:.1%}",
            f"{row['perplexity']:,.1f}",
            *(f"{share:.1%}" for share in row["tasks"].values()),
        )
        for row in progress.curve[::-1][::every][::-1]
    ]


def _shares(title: str, shares: Mapping[str, Share]) -> str:
    rows = [
        (name, str(share.n), f"{share.value:.1%}", "{:.1%} to {:.1%}".format(*share.interval))
        for name, share in shares.items()
    ]
    return _table((title, "n", "accuracy", "95 % interval"), rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


_PLAN = {0.0: "plan never", RARELY: "plan rarely", 1.0: "plan often"}

WORKED_OUT = "worked out: this combination never"


@cache
def _facts() -> dict[str, Fact]:
    """The fact behind every question text that the bank may ask."""
    return {fact.questions[fact.bank_wording]: fact for fact in world()}


@cache
def _groups() -> frozenset[str]:
    """The subjects of the tables; a dialogue about a fact has one of them for its group."""
    return frozenset(fact.group for fact in world())


def exposure(question: Question) -> str:
    """In words, what training showed of the fact or plan behind a bank question; it can head a table's row."""
    if question.task != "qa" and question.group not in _groups():
        return f"{question.task}, {_PLAN[share(question.group)]}"
    if question.task == "drs":
        return "drs, about a fact of the tables"
    fact = _facts().get(question.question)
    if fact is None:
        return WORKED_OUT
    if never_shown(fact):
        return "fact never"
    if only_stated(fact):
        return "fact stated, never asked with letters"
    return {"easy": "fact often", "medium": "fact half as often", "hard": "fact a fifth as often"}[fact.difficulty]


HEADING = "## Recorded runs"

_ABOUT = """\
From `python -m pocket_world record`; `python -m core run` with the same words repeats each. Accuracy over all questions
with its 95 % Wilson interval; the later of equally probable options counts as the answer. Prediction sets at alpha 0.1,
calibrated on one half and tested on the other: mean size, coverage, and the 95 % band of coverage where the guarantee
of 90 % holds.
"""

_COLUMNS = [
    "task",
    "form",
    "strategy",
    "shots",
    "dtype",
    "n",
    "accuracy",
    "LAC size",
    "coverage",
    "APS size",
    "coverage",
    "band",
]


def add_results(model: str, folder: Path) -> None:
    """Write the section on recorded runs, those of all tasks, into the card in ``folder``, in place of an older one."""
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8").partition(f"\n{HEADING}\n")[0].rstrip()
    table = _table(_COLUMNS, [_row(load(spec.run_id)) for spec in recorded_specs(model, BANK_TASKS)])
    card.write_text(f"{text}\n\n{HEADING}\n\n{_ABOUT}\n{table}\n", encoding="utf-8", newline="\n")


def _row(run: Evaluation) -> tuple[str, ...]:
    result = report(run, 100)
    right = Share(int((top_options(run.probabilities) == run.labels).sum()), int(np.size(run.labels)))
    lac, aps = result.scores["lac"], result.scores["aps"]
    return (
        result.task,
        result.form,
        result.strategy,
        str(run.spec.shots),
        result.dtype,
        f"{right.n:,}",
        f"{right.value:.1%} ({right.interval[0]:.1%} to {right.interval[1]:.1%})",
        f"{lac.mean_set_size:.2f}",
        f"{lac.coverage:.1%}",
        f"{aps.mean_set_size:.2f}",
        f"{aps.coverage:.1%}",
        "{:.1%} to {:.1%}".format(*lac.coverage_band),
    )
