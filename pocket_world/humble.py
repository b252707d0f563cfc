"""pocket-8m-humble: an adapter by which pocket-8m, when it answers by letter, says how sure it may be.

pocket-8m is far too sure about questions that it never saw. The adapter learns from the model itself: its own
distribution at a temperature where a letter follows, and as it is in text without options. It learns no answer.
A task's temperature is the one with the smallest loss on questions that are like the bank's but not in it
(:func:`like_the_bank`). Only the units of the last layer are adapted, so that the states below them are computed once.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model, get_peft_model_state_dict
from safetensors.torch import save_file
from transformers import LlamaForCausalLM

from core.calibration.recalibration import fit_temperature
from core.models.folders import ADAPTER, ADAPTER_WEIGHTS, TRAINING
from core.models.model_fingerprint import fingerprint
from core.models.perplexity import conversations
from core.models.quiet import quiet
from core.models.replaced_weights import TRAINED_ON
from core.records import LETTERS, Question
from core.settings import ASSETS
from core.storage.sealed import digests_of, write_json
from pocket_world import bank
from pocket_world.batches import batches
from pocket_world.contamination import Guard
from pocket_world.documents import Document, StepPart, lettered
from pocket_world.questions import ask
from pocket_world.recipes import HUMBLE
from pocket_world.record import record_fingerprints
from pocket_world.stream import DEMONSTRATIONS, STRATEGIES, TASKS, Stream
from pocket_world.tokens import CONTEXT, published_tokenizer

BASE = "pocket-8m"
UNITS = ("down_proj", "gate_proj", "up_proj")
AT_ONCE = 32
SEED, STEPS, ROWS, RATE, RANK = 41, 2500, 128, 3e-3, 8

FITTED = {"qa": 2000} | dict.fromkeys(TASKS[1:], 500)
"""How many questions fit a task's temperature, at most."""

LEARNED = {"qa": 2400} | dict.fromkeys(TASKS[1:], 600)
"""How many documents of each task the adapter learns from; every sixth has demonstrations."""

UNCHANGED = {"passage": 40, "long passage": 20, "answered": 400, "said": 100, "several rc said": 30}
"""How many documents of each form without options stay as they are."""

TAILS = 0.01
"""The weight of the squared errors of the letters' logits beside the divergence, which hardly sees small probabilities.
"""


def like_the_bank(task: str, guard: Guard) -> list[Question]:
    """Questions of the bank's kinds, what training never showed among them, that are not in the bank: its facts in
    other wordings, and other sums and scenes."""
    rng = random.Random(f"{SEED}|unseen|{task}")
    if task == "qa":
        wordings = [(fact, rng.choice(fact.training_questions or fact.questions)) for fact in bank.qa_facts(rng)]
        questions = [ask(fact, rng, wording=wording, label=rng.randrange(4)) for fact, wording in wordings]
    else:
        questions = [entry.question for entry in bank.scene_questions(task, rng)]
    return [question for question in questions if guard.find(lettered([question]).text) is None][: FITTED[task]]


def learned(task: str, stream: Stream) -> list[Document]:
    """Documents of a task as training has them, each with one letter, or several where it has demonstrations."""
    rng = random.Random(f"{SEED}|learned|{task}")
    counts = [rng.choice(DEMONSTRATIONS[task]) + 1 if place % 6 == 5 else 1 for place in range(LEARNED[task])]
    documents = (
        lettered([stream.question(rng, task) for _ in range(count)], strategy=rng.choice(STRATEGIES))
        for count in counts
    )
    return [document for document in documents if stream.guard.find(document.text) is None]


@dataclass(frozen=True, slots=True)
class Targets:
    """States (places, hidden) and the log-probabilities (places, vocabulary) that should follow from them."""

    states: torch.Tensor
    logits: torch.Tensor


class Distiller:
    """The model, and what it says from the states before the units of its last layer on."""

    def __init__(self, folder: Path) -> None:
        with quiet():
            self.model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self.tokenizer = published_tokenizer(folder)
        self.last = self.model.model.layers[-1]
        self.letters = torch.tensor([self.tokenizer.encode(f" {letter}")[0] for letter in LETTERS[:6]])

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def states(self, documents: Sequence[Document], *, letters: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
        """The states (places, hidden) wherever a learned token follows, or a letter, and the tokens that follow."""
        kept: list[torch.Tensor] = []
        handle = self.last.post_attention_layernorm.register_forward_pre_hook(lambda _, inputs: kept.append(inputs[0]))
        pairs = []
        for first in range(0, len(documents), AT_ONCE):
            for rows in batches([StepPart(list(documents[first : first + AT_ONCE]))], self.tokenizer):
                tokens, weights = rows.tokens[:, : CONTEXT + 1], rows.weights[:, 1 : CONTEXT + 1]
                self.model.model(input_ids=tokens[:, :-1], use_cache=False)
                places = (weights > 0) & (torch.isin(tokens[:, 1:], self.letters) if letters else True)
                pairs.append((kept.pop()[places], tokens[:, 1:][places]))
        handle.remove()
        states, following = zip(*pairs, strict=True)
        return torch.cat(states), torch.cat(following)

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """What the model says, with the adapter if there is one."""
        states = states + self.last.mlp(self.last.post_attention_layernorm(states))
        logits: torch.Tensor = self.model.lm_head(self.model.model.norm(states))
        return logits

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def temperature(self, questions: Sequence[Question]) -> float:
        """The temperature that fits the letters best."""
        states, following = self.states([lettered([question]) for question in questions])
        labels = (following[:, None] == self.letters).int().argmax(1)
        logs = self.logits(states)[:, self.letters].double().log_softmax(-1)
        return fit_temperature(logs.numpy(), labels.numpy()).temperature

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def at_temperature(self, states: torch.Tensor, temperature: float) -> torch.Tensor:
        """The model's logits, those of the letters at a temperature, with as much probability together as before."""
        logits = self.logits(states).log_softmax(-1)
        letters = logits[:, self.letters]
        cooled = (letters / temperature).log_softmax(-1) + letters.logsumexp(-1, keepdim=True)
        logits[:, self.letters] = cooled
        return logits


def taught(distiller: Distiller, stream: Stream) -> tuple[dict[str, float], list[Targets]]:
    """The temperature of each task, and what the adapter learns: letters, then text without options."""
    temperatures = {task: distiller.temperature(like_the_bank(task, stream.guard)) for task in TASKS}
    states = {task: distiller.states(learned(task, stream))[0] for task in TASKS}
    targets = [distiller.at_temperature(states[task], temperature) for task, temperature in temperatures.items()]
    rng = random.Random(f"{SEED}|unchanged")
    others = [stream.document(form, rng) for form, count in UNCHANGED.items() for _ in range(count)]
    other_states = distiller.states(others, letters=False)[0]
    return temperatures, [
        Targets(torch.cat([*states.values()]), torch.cat(targets)),
        Targets(other_states, distiller.at_temperature(other_states, 1.0)),
    ]


def distil(distiller: Distiller, targets: Sequence[Targets]) -> tuple[PeftModel, list[float]]:
    """Put an adapter into the model and teach it; returns it with the loss of every step."""
    torch.manual_seed(SEED)
    layers = [len(distiller.model.model.layers) - 1]
    config = LoraConfig(
        r=RANK, lora_alpha=2 * RANK, target_modules=list(UNITS), layers_to_transform=layers, task_type="CAUSAL_LM"
    )
    with quiet():
        adapted = get_peft_model(distiller.model, config)
    optimizer = torch.optim.AdamW([w for w in adapted.parameters() if w.requires_grad], lr=RATE, weight_decay=0.0)
    losses = []
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = RATE * min((step + 1) / 20, 1 - step / STEPS)
        loss = torch.zeros(())
        for target in targets:
            rows = torch.randint(len(target.states), (ROWS,))
            logits, wanted = distiller.logits(target.states[rows]).log_softmax(-1), target.logits[rows]
            loss = loss + torch.nn.functional.kl_div(logits, wanted, reduction="batchmean", log_target=True)
            if target is targets[0]:
                error = (logits - wanted)[:, distiller.letters]
                loss = loss + TAILS * error.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return adapted, losses


def make_humble(folder: Path = ASSETS / "adapters" / HUMBLE) -> str:
    """Make the adapter, to ship unless another folder is given; returns the temperature of each task."""
    distiller = Distiller(ASSETS / "models" / BASE)
    temperatures, targets = taught(distiller, Stream(Guard.of(bank.questions(), conversations.bundled())))
    adapted, losses = distil(distiller, targets)
    config = adapted.peft_config["default"]
    config.base_model_name_or_path, config.inference_mode = BASE, True
    config.target_modules = list(UNITS)  # peft makes a set of them, which it writes in any order
    config.save_pretrained(str(folder))
    weights = get_peft_model_state_dict(adapted, save_embedding_layers=False)
    save_file(weights, folder / ADAPTER_WEIGHTS, metadata={"format": "pt"})
    tenths = [sum(losses[first : first + STEPS // 10]) / (STEPS // 10) for first in range(0, STEPS, STEPS // 10)]
    values = {"model": BASE, "temperatures": temperatures, "losses_of_tenths": tenths, TRAINED_ON: fingerprint(BASE)}
    files = digests_of([folder / ADAPTER_WEIGHTS, folder / ADAPTER])
    write_json(folder / TRAINING, values | {"files": files}, indent=1)
    record_fingerprints()
    return ", ".join(f"{task} {temperature:.2f}" for task, temperature in temperatures.items())
