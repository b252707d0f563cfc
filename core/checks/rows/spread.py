"""A model that is spread over two devices gives the scores that it gives on one."""

from core.checks.outcome import CheckOutcome, Figure, NotHereError, Place
from core.models.imports import language_models

MODEL = "pocket-8m"
ASKED = 24
SAME = 1e-3


def spread(place: Place) -> CheckOutcome:
    """The half of the layers on each of two GPUs, in float32."""
    language_models()
    import torch
    from transformers import AutoModelForCausalLM

    from core.checks.rows.bank_prompts import prompts_for
    from core.checks.rows.path_differences import differences, one_by_one, path_differences, picked
    from core.models.model_loading import load_model
    from core.models.model_sources import resolve
    from core.models.transformers_engine import TransformersEngine

    if torch.cuda.device_count() < 2:
        raise NotHereError(f"torch sees {torch.cuda.device_count()} GPU, and this needs two.")
    source = resolve(MODEL)
    alone, tokenizer = load_model(source, dtype="float32")
    whole = TransformersEngine(alone.to("cuda:0"), tokenizer, name=MODEL, dtype="float32")
    halves = AutoModelForCausalLM.from_pretrained(
        source.location,
        dtype=torch.float32,
        device_map=halved(alone.config.num_hidden_layers),
        use_safetensors=True,
        trust_remote_code=False,
    )
    spread_out = TransformersEngine(halves.eval(), tokenizer, name=MODEL, dtype="float32")
    prompts = prompts_for("letters", 5, questions=ASKED)
    wanted = one_by_one(whole, picked(whole, prompts))
    rows = picked(spread_out, prompts)
    truth = one_by_one(spread_out, rows)
    off = max(differences(truth, wanted))
    paths = list(path_differences(spread_out, rows, truth=truth))
    figures: dict[str, Figure] = {"off one device": off, "devices": len(set(halves.hf_device_map.values()))}
    figures |= {f"{path.path}, largest difference": path.difference for path in paths}
    wrong = [path.in_words for path in paths if path.wrong]
    wrong += [f"one by one is off by {off:.3g}"] if not off <= SAME else []
    if wrong:
        return CheckOutcome(False, f"Wrong over two devices: {'; '.join(wrong)}.", figures)
    return CheckOutcome(True, f"{MODEL} over two GPUs is off by {off:.2g} from one; its paths agree.", figures)


def halved(layers: int) -> dict[str, int]:
    """Where the parts of a Llama go: the embeddings and the first half of the layers to device 0, the rest to 1."""
    parts = {f"model.layers.{i}": int(i >= layers // 2) for i in range(layers)}
    return {"model.embed_tokens": 0, "model.rotary_emb": 0, **parts, "model.norm": 1, "lm_head": 1}
