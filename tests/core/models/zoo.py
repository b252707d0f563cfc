"""A zoo of model folders: whole ones, and ones that are broken in every way that has come up.

Every folder is made from a tiny configuration, seeded. Each either gives the same scores as transformers' own call,
one option at a time, or is refused in one sentence. As a command it prints the zoo as a table, with what Hedge makes
of each folder; ``PYTHONPATH`` decides whose Hedge that is:

    python -m tests.core.models.zoo [NAME …]
    cd /an/older/checkout && PYTHONPATH=. python /this/tests/core/models/zoo.py
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from tests.core.models.architectures import SETTINGS, TYPES, VOCABULARY

SAMPLES = 8
TASK = "qa"
CLOSE = 1e-4
LLAMA = SETTINGS["llama"]
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"

Make = Callable[[Path], None]


@dataclass(frozen=True)
class Kept:
    """A folder of the zoo: what is wrong with it, how it is made, and what Hedge says (None: the right scores)."""

    name: str
    about: str
    make: Make
    says: str | None = None


# ---------------------------------------------------------------- parts


@cache
def bank_words() -> tuple[str, ...]:
    """The commonest words and marks of the task's questions."""
    from collections import Counter

    from core.runs.prompts import draw_questions, prompts
    from core.runs.spec import RunSpec

    spec = RunSpec(model="pocket-1m", task=TASK, samples=200)
    texts = [one.text for one in prompts(spec, draw_questions(spec))]
    return tuple(word for word, _ in Counter(w for t in texts for w in re.findall(r"\w+|[^\w\s]+", t)).most_common(200))


def words_tokenizer(folder: Path, *, size: int = 80) -> None:
    """One token a word: letters are one token, unknown words all the same."""
    kept = ["<unk>", "<bos>", *"ABCDEFGH", *(word for word in bank_words() if word not in set("ABCDEFGH"))][:size]
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(kept)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    _save(made, folder)


def pieces_tokenizer(folder: Path) -> None:
    """As sentencepiece writes: a space is ▁ and belongs to the next word; single characters and a few pieces."""
    marks = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.,:?'"]
    pieces = ["▁", *marks, "▁A", "▁B", "▁C", "▁D", "▁E", "▁F", "▁the", "▁of", "er", "in", "Answer", "▁Question"]
    made = Tokenizer(
        models.Unigram(
            [("<unk>", 0.0), ("<bos>", 0.0), *((p, -3.0 - 0.01 * i) for i, p in enumerate(pieces))], unk_id=0
        )
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    _save(made, folder)


def characters_tokenizer(folder: Path) -> None:
    """One token a character, the space too: no letter is one token after a colon."""
    kept = ["<unk>", "<bos>", *(chr(i) for i in range(32, 124))]
    made = Tokenizer(models.WordLevel({one: i for i, one in enumerate(kept)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    _save(made, folder)


def ended_tokenizer(folder: Path) -> None:
    """The tokenizer of words, which begins and ends every text with tokens of its own."""
    words_tokenizer(folder)
    made = Tokenizer.from_file(str(folder / "tokenizer.json"))
    made.post_processor = processors.TemplateProcessing(
        single="<bos> $A E", special_tokens=[(name, made.token_to_id(name)) for name in ("<bos>", "E")]
    )
    _save(made, folder)


def _save(made: Tokenizer, folder: Path) -> None:
    PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", bos_token="<bos>").save_pretrained(folder)


def build(model_type: str, settings: dict[str, Any], *, auto: Any = AutoModelForCausalLM) -> Any:
    """A model in evaluation mode, its matrices drawn wide so that no two positions look alike."""
    config = AutoConfig.for_model(model_type, **settings)
    with torch.random.fork_rng():
        torch.manual_seed(7)
        made = auto.from_config(config).eval()
        with torch.no_grad():
            for name, weight in made.named_parameters():
                if weight.ndim == 2 and "A_log" not in name:
                    weight.normal_(0, 0.3)
                elif weight.ndim == 1 and name.endswith("bias"):
                    weight.normal_(0, 0.1)
    return made


def model(model_type: str, settings: dict[str, Any], *, auto: Any = AutoModelForCausalLM) -> Make:
    """A whole model with a tokenizer of words."""

    def make(folder: Path) -> None:
        build(model_type, settings, auto=auto).save_pretrained(folder)
        words_tokenizer(folder)

    return make


llama = model("llama", LLAMA)
TIED = LLAMA | {"tie_word_embeddings": True}
TIED_LLAMA = model("llama", TIED)
SOME_TOKENS = {"trainable_token_indices": [3, 40]}
ROPE_LIMIT = 40
_ROPE = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "short_factor": [1.0] * 4,
    "long_factor": [4.0, 5.0, 6.0, 7.0],
    "original_max_position_embeddings": ROPE_LIMIT,
    "factor": 8.0,
}
LONGROPE = {"rope_parameters": _ROPE, "original_max_position_embeddings": ROPE_LIMIT}
LONGROPE_SCALED = {"rope_parameters": _ROPE | {"short_mscale": 1.0, "long_mscale": 1.7}}
LONGROPE_GEMMA = SETTINGS["gemma3_text"] | {
    "rope_parameters": {
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
        "full_attention": _ROPE,
    }
}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 4.0}
CHUNKS = {
    "head_dim": 8,
    "attention_chunk_size": ROPE_LIMIT,
    "floor_scale": 24,
    "attn_scale": 0.5,
    "num_local_experts": 2,
    "num_experts_per_tok": 1,
    "intermediate_size_mlp": 48,
    "no_rope_layers": [1, 0],
    "layer_types": ["chunked_attention", "full_attention"],
}


def configured(make: Make, **changes: Any) -> Make:
    """The same with keys of config.json changed, or removed where None."""

    def changed(folder: Path) -> None:
        make(folder)
        path = folder / "config.json"
        values = json.loads(path.read_text()) | changes
        path.write_text(json.dumps({key: value for key, value in values.items() if value is not None}))

    return changed


def weighed(make: Make, change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> Make:
    """The same with its tensors changed."""

    def changed(folder: Path) -> None:
        make(folder)
        tensors = change(load_file(folder / WEIGHTS))
        save_file({name: one.contiguous() for name, one in tensors.items()}, folder / WEIGHTS, {"format": "pt"})

    return changed


def without(make: Make, pattern: str) -> Make:
    return weighed(make, lambda all_: {name: one for name, one in all_.items() if not re.search(pattern, name)})


def besides(make: Make, more: dict[str, torch.Tensor]) -> Make:
    return weighed(make, lambda all_: all_ | more)


def filed(make: Make, change: Callable[[Path], object]) -> Make:
    """The same with its files changed."""

    def changed(folder: Path) -> None:
        make(folder)
        change(folder)

    return changed


def sharded(change: Callable[[Path], object] = lambda folder: None) -> Make:
    """A Llama in four files and an index."""

    def make(folder: Path) -> None:
        build("llama", LLAMA).save_pretrained(folder, max_shard_size="20KB")
        words_tokenizer(folder)
        assert len(list(folder.glob("model-*.safetensors"))) > 2
        change(folder)

    return make


def reindexed(change: Callable[[dict[str, str]], dict[str, str]]) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        values = json.loads((folder / INDEX).read_text())
        (folder / INDEX).write_text(json.dumps(values | {"weight_map": change(values["weight_map"])}))

    return make


def adapted(
    base: Make = llama,
    *,
    change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]] = lambda all_: all_,
    config: dict[str, Any] | None = None,
    under: Make | None = None,
    kind: str = "Lora",
    tokens: int = VOCABULARY,
    **how: Any,
) -> Make:
    """An adapter of ``base``, which lies beside it; ``under`` is another model put in its place afterwards. ``kind``
    and ``how`` name a configuration of peft and its values; ``tokens`` is the number of tokens after some were added.
    """

    def make(folder: Path) -> None:
        import peft

        place = folder.parent / f"{folder.name}-base"
        base(place)
        values = ({"r": 2} if kind == "Lora" else {}) | {"target_modules": ["q_proj", "v_proj"]} | how
        adapter = getattr(peft, f"{kind}Config")(**{name: value for name, value in values.items() if value is not None})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = AutoModelForCausalLM.from_pretrained(place)
            with torch.random.fork_rng(), torch.no_grad():
                torch.manual_seed(8)
                if tokens != VOCABULARY:
                    plain.resize_token_embeddings(tokens)
                made = peft.get_peft_model(plain, adapter)
                for weight in made.parameters():
                    if weight.requires_grad:
                        weight.add_(torch.randn_like(weight), alpha=0.3)
            made.save_pretrained(folder)
        path = folder / "adapter_model.safetensors"
        save_file(change(load_file(path)), path, {"format": "pt"})
        if config:
            values = json.loads((folder / "adapter_config.json").read_text()) | config
            (folder / "adapter_config.json").write_text(json.dumps(values))
        if under is not None:
            shutil.rmtree(place)
            under(place)

    return make


def _cut(folder: Path) -> None:
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(content[: len(content) * 2 // 3])


def _pickled(folder: Path) -> None:
    torch.save(load_file(folder / WEIGHTS), folder / "pytorch_model.bin")
    (folder / WEIGHTS).unlink()


def _pointer(path: Path) -> None:
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0a1b\nsize 12345\n")


def _without_tokenizer(folder: Path) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()


def _spoiled(name: str, value: float) -> Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]:
    def change(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        tensors[name].view(-1)[5] = value
        return tensors

    return change


def _quantised(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {n: (t * 100).round().to(torch.int8) if "_proj" in n else t for n, t in tensors.items()}


def _mask(layers: str) -> dict[str, torch.Tensor]:
    made = {}
    for i in range(2):
        made[layers.format(i) + ".bias"] = torch.ones(1, 1, 8, 8, dtype=torch.bool).tril()
        made[layers.format(i) + ".masked_bias"] = torch.tensor(-1e4)
    return made


_VISION = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "image_size": 16,
    "patch_size": 8,
}
_ENCODES = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 512,
}
_FILLS = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 512,
}
_EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
_NEXT = {
    "first_k_dense_replace": 1,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "moe_intermediate_size": 16,
    "kv_lora_rank": 8,
    "q_lora_rank": 8,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 8,
    "v_head_dim": 8,
    "num_key_value_heads": 4,
    "num_nextn_predict_layers": 1,
}
_MOST = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16}


def auto(name: str) -> Any:
    """An AutoModel of transformers by its name's end."""
    import transformers

    return getattr(transformers, f"AutoModel{name}")


def _an_expert_less(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    gone = [name for name in tensors if re.search(r"layers\.1\..*experts\.3\.", name)]
    assert gone, sorted(tensors)
    return {name: one for name, one in tensors.items() if name not in gone}


# ---------------------------------------------------------------- the zoo

TRIED = (
    *("gpt2", "gpt_neox", "qwen2", "qwen3", "mistral", "gemma2", "gemma3_text", "phi3", "olmo2", "opt", "bloom", "mpt"),
    *("falcon", "mamba", "stablelm"),
)

WHOLE = (
    *(Kept(name, "whole", model(TYPES.get(name, name), SETTINGS[name])) for name in TRIED),
    Kept("gptj", "whole", model("gptj", SETTINGS["gpt2"] | {"rotary_dim": 4})),
    Kept("mixtral", "whole, with experts", model("mixtral", LLAMA | _EXPERTS)),
    Kept("qwen2_moe", "whole, with experts", model("qwen2_moe", LLAMA | _MOST)),
    Kept("granitemoe", "whole, with experts", model("granitemoe", LLAMA | _EXPERTS)),
    Kept("untied", "a Llama with a head of its own", llama),
    Kept("tied", "tied embeddings, stored once", model("llama", TIED)),
    Kept(
        "tied, stored twice",
        "tied embeddings, stored twice and equal",
        weighed(model("llama", TIED), lambda t: t | {"lm_head.weight": t["model.embed_tokens.weight"].clone()}),
    ),
    Kept(
        "tied, two unlike",
        "config.json ties what is stored as two unlike matrices; transformers does not tie them",
        configured(llama, tie_word_embeddings=True),
    ),
    Kept(
        "body of a tied model", "saved without a head, which is tied", model("gpt2", SETTINGS["gpt2"], auto=AutoModel)
    ),
    Kept("shards", "four files and an index", sharded()),
    Kept(
        "stale index",
        "the index names a tensor that is not needed and not there",
        sharded(reindexed(lambda named: named | {"lm_head.bias": next(iter(named.values()))})),
    ),
    Kept(
        "stored as float64",
        "stored in double precision",
        weighed(llama, lambda t: {n: w.double() for n, w in t.items()}),
    ),
    Kept(
        "stored as float16", "stored in half precision", weighed(llama, lambda t: {n: w.half() for n, w in t.items()})
    ),
    Kept("no architectures", "config.json does not name a class", configured(llama, architectures=None)),
    Kept(
        "rotary buffers",
        "rotary frequencies left over in every layer",
        besides(llama, {f"model.layers.{i}.self_attn.rotary_emb.inv_freq": torch.ones(4) for i in range(2)}),
    ),
    Kept(
        "masks of gpt2",
        "causal masks left over",
        besides(model("gpt2", SETTINGS["gpt2"]), _mask("transformer.h.{}.attn")),
    ),
    Kept(
        "masks of gpt_neo",
        "causal masks left over",
        besides(
            model(
                "gpt_neo",
                {
                    "vocab_size": VOCABULARY,
                    "hidden_size": 32,
                    "num_layers": 2,
                    "num_heads": 4,
                    "attention_types": [[["global", "local"], 1]],
                    "window_size": 24,
                    "max_position_embeddings": 512,
                },
            ),
            _mask("transformer.h.{}.attn.attention"),
        ),
    ),
    Kept(
        "layers that predict more",
        "a layer for the token after the next is left over",
        besides(
            model("deepseek_v3", LLAMA | _NEXT),
            {"model.layers.2.eh_proj.weight": torch.ones(32, 64), "model.layers.2.enorm.weight": torch.ones(32)},
        ),
    ),
    Kept("pieces", "a tokenizer like sentencepiece's", filed(llama, pieces_tokenizer)),
    Kept("characters", "a tokenizer of characters: letters are two tokens", filed(llama, characters_tokenizer)),
    Kept("tuples", "return_dict: false, so its outputs have no names", configured(llama, return_dict=False)),
    Kept("ended", "a tokenizer that ends every text with a token", filed(llama, ended_tokenizer)),
    Kept("few words", "a vocabulary far smaller than the model's", filed(llama, lambda f: words_tokenizer(f, size=30))),
    Kept(
        "sees images",
        "a Gemma 3 of text and images, asked with text alone",
        model(
            "gemma3",
            {
                "text_config": SETTINGS["gemma3_text"],
                "vision_config": _VISION,
                "mm_tokens_per_image": 4,
                "image_token_index": 90,
                "boi_token_index": 91,
                "eoi_token_index": 92,
            },
            auto=auto("ForImageTextToText"),
        ),
    ),
    Kept("adapter", "a LoRA adapter of the model beside it", adapted()),
    Kept("adapter of embeddings", "LoRA on the embeddings", adapted(target_modules=["embed_tokens", "lm_head"])),
    Kept("DoRA", "LoRA with magnitudes, which transformers loses", adapted(use_dora=True)),
    Kept("longrope", "other frequencies from 41 tokens on, and prompts on both sides", model("phi3", LLAMA | LONGROPE)),
    Kept("trained tokens", "a tied model, two tokens trained beside LoRA", adapted(TIED_LLAMA, **SOME_TOKENS)),
    Kept(
        "added tokens",
        "LoRA of a model with eight more tokens",
        adapted(tokens=VOCABULARY + 8, modules_to_save=["embed_tokens", "lm_head"]),
    ),
    Kept("chunks", "chunks of attention, and a scale that grows", model("llama4_text", LLAMA | CHUNKS)),
    Kept("VeRA", "vectors between random matrices", adapted(kind="Vera", target_modules=["q_proj"])),
    Kept(
        "a trained head",
        "LoRA of a tied model with a head of its own",
        adapted(TIED_LLAMA, modules_to_save=["lm_head"]),
    ),
    Kept("longrope in one layer", "a Gemma 3 whose full attention alone has it", model("gemma3_text", LONGROPE_GEMMA)),
    Kept("IA3", "factors of keys and values", adapted(kind="IA3", feedforward_modules=[])),
    Kept("OFT", "rotations", adapted(kind="OFT", oft_block_size=4)),
    Kept("phimoe", "longrope with another scale for long texts", model("phimoe", LLAMA | _EXPERTS | LONGROPE_SCALED)),
    Kept("dynamic", "frequencies for each length above 512", model("llama", LLAMA | {"rope_parameters": DYNAMIC})),
)

BROKEN = (
    Kept(
        "no head",
        "saved as a body, and the head is not tied",
        model("llama", LLAMA, auto=AutoModel),
        r"1 of 21 tensors is missing \(lm_head.weight\)",
    ),
    Kept(
        "no head, no word of it",
        "the same, said to be a LlamaForCausalLM",
        configured(model("llama", LLAMA, auto=AutoModel), architectures=["LlamaForCausalLM"]),
        r"1 of 21 tensors is missing \(lm_head.weight\)",
    ),
    Kept(
        "classifier",
        "with a classifier's head",
        model("llama", LLAMA, auto=auto("ForSequenceClassification")),
        "holds a classifier, whose head gives classes",
    ),
    Kept(
        "classifier, no word of it",
        "the same, said to be a GPT2LMHeadModel, tied",
        configured(
            model("gpt2", SETTINGS["gpt2"], auto=auto("ForSequenceClassification")), architectures=["GPT2LMHeadModel"]
        ),
        r"1 tensor is left over \((transformer\.)?score\.weight\)",
    ),
    Kept(
        "a layer missing",
        "the second layer is not there",
        without(llama, r"layers\.1\."),
        "9 of 21 tensors are missing",
    ),
    Kept(
        "a bias missing",
        "a Qwen 2 without a bias",
        without(model("qwen2", LLAMA), r"1.*k_proj.bias"),
        r"1 of 27 tensors",
    ),
    Kept(
        "a layer too many",
        "config.json has fewer layers",
        configured(llama, num_hidden_layers=1),
        "9 tensors are left over",
    ),
    Kept("no embeddings", "tied, and neither name is stored", without(model("llama", TIED), "embed"), "missing"),
    Kept(
        "another bias",
        "biases that a Llama has no place for",
        configured(model("qwen2", LLAMA), model_type="llama", architectures=None),
        "6 tensors are left over",
    ),
    Kept(
        "another width",
        "config.json has a wider layer",
        configured(llama, intermediate_size=64),
        "6 tensors have another shape",
    ),
    Kept(
        "another vocabulary",
        "config.json has more tokens",
        configured(llama, vocab_size=VOCABULARY + 8),
        r"2 tensors have another shape \(lm_head.weight is 96 × 32 and must be 104 × 32 and 1 more\)",
    ),
    Kept(
        "another kind",
        "a Gemma that says it is a Llama: the same names and shapes",
        configured(model("gemma", LLAMA), model_type="llama"),
        "contradicts itself: a llama is a LlamaForCausalLM.*GemmaForCausalLM",
    ),
    Kept(
        "an expert missing",
        "a Mixtral with three of four experts",
        weighed(model("mixtral", LLAMA | _EXPERTS), _an_expert_less),
        "the weights of model",
    ),
    Kept(
        "bart",
        "an encoder–decoder",
        model("bart", _ENCODES, auto=auto("ForSeq2SeqLM")),
        r"holds an encoder–decoder \(bart\)",
    ),
    Kept(
        "t5",
        "an encoder–decoder",
        model(
            "t5",
            {"vocab_size": VOCABULARY, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 1, "num_heads": 4},
            auto=auto("ForSeq2SeqLM"),
        ),
        r"holds an encoder–decoder \(t5\)",
    ),
    Kept(
        "bart, no word of it",
        "a BART whose config.json does not say what it is",
        configured(model("bart", _ENCODES, auto=auto("ForSeq2SeqLM")), is_encoder_decoder=None, architectures=None),
        r"holds an encoder–decoder \(bart\)",
    ),
    Kept("bert", "a masked model", model("bert", _FILLS, auto=auto("ForMaskedLM")), "holds a masked model"),
    Kept("roberta's body", "a masked model's body", model("roberta", _FILLS, auto=AutoModel), "holds a masked model"),
    Kept(
        "distilbert",
        "a masked model of a type that never decodes",
        configured(
            model(
                "distilbert",
                {"vocab_size": VOCABULARY, "dim": 32, "n_layers": 1, "n_heads": 4, "hidden_dim": 48},
                auto=auto("ForMaskedLM"),
            ),
            architectures=None,
        ),
        "holds a masked model",
    ),
    Kept(
        "xlnet",
        "a model that sees both sides, by its own forward alone",
        model("xlnet", {"vocab_size": VOCABULARY, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48}),
        "reads text in both directions",
    ),
    Kept(
        "llava",
        "text and images, of a type without a class for text alone",
        model(
            "llava",
            {
                "text_config": LLAMA | {"model_type": "llama"},
                "vision_config": _VISION | {"model_type": "clip_vision_model"},
                "image_token_index": 90,
            },
            auto=auto("ForImageTextToText"),
        ),
        r"a model of text and images \(llava\)",
    ),
    Kept(
        "qwen2_vl",
        "text and images, of a newer kind",
        configured(llama, model_type="qwen2_vl", architectures=["Qwen2VLForConditionalGeneration"]),
        r"a model of text and images \(qwen2_vl\)",
    ),
    Kept(
        "gguf",
        "weights in a GGUF file alone",
        filed(llama, lambda f: (f / WEIGHTS).rename(f / "model-q4.gguf")),
        r"a GGUF file \(model-q4.gguf\), which llama.cpp reads .* give its address with --server",
    ),
    Kept(
        "vit",
        "a classifier of images",
        model("vit", _VISION, auto=auto("ForImageClassification")),
        "a classifier of images",
    ),
    Kept(
        "a shard missing",
        "one file of four is gone",
        sharded(lambda f: sorted(f.glob("model-*"))[1].unlink()),
        "lacks 1 of the",
    ),
    Kept(
        "index of another",
        "the index names a tensor that no file has, and the model needs it",
        sharded(
            lambda folder: [
                save_file(
                    {n: t for n, t in load_file(path).items() if n != "model.norm.weight"}, path, {"format": "pt"}
                )
                for path in folder.glob("model-*")
            ]
        ),
        r"1 of 21 tensors is missing \(model.norm.weight\)",
    ),
    Kept(
        "index is no index",
        "the index has no map",
        sharded(lambda f: (f / INDEX).write_text("{}")),
        "does not say which tensor",
    ),
    Kept(
        "shards, no index",
        "the index is gone",
        sharded(lambda f: (f / INDEX).unlink()),
        "neither model.safetensors nor",
    ),
    Kept("cut short", "a third of the weights is gone", filed(llama, _cut), "should have"),
    Kept(
        "not a safetensors file",
        "the weights are text",
        filed(llama, lambda f: (f / WEIGHTS).write_text("not found")),
        "is not a safetensors file",
    ),
    Kept(
        "a pointer", "the weights were never fetched", filed(llama, lambda f: _pointer(f / WEIGHTS)), "Git LFS pointer"
    ),
    Kept("a pickle", "weights in pytorch_model.bin alone", filed(llama, _pickled), "as a pickle"),
    Kept(
        "not a number",
        "a NaN in a layer",
        weighed(llama, _spoiled("model.layers.1.mlp.up_proj.weight", np.nan)),
        r"no finite numbers \(model.layers.1.mlp.up_proj.weight\)",
    ),
    Kept(
        "infinite",
        "an infinite number in an embedding",
        weighed(llama, _spoiled("model.embed_tokens.weight", np.inf)),
        "no finite numbers",
    ),
    Kept(
        "too large",
        "finite numbers of 1e38 in the head",
        weighed(llama, lambda t: t | {"lm_head.weight": t["lm_head.weight"] * 1e38}),
        "gives no numbers",
    ),
    Kept("stored as int8", "integers, and no word of how they were made", weighed(llama, _quantised), "as I8"),
    Kept(
        "bitsandbytes",
        "quantised, 8 bits",
        configured(
            weighed(llama, _quantised), quantization_config={"quant_method": "bitsandbytes", "load_in_8bit": True}
        ),
        r"quantised \(bitsandbytes, 8 bits\)",
    ),
    Kept(
        "gptq",
        "quantised, 4 bits",
        configured(llama, quantization_config={"quant_method": "gptq", "bits": 4, "group_size": 32}),
        r"quantised \(gptq, 4 bits\)",
    ),
    Kept(
        "awq",
        "quantised, 4 bits",
        configured(llama, quantization_config={"quant_method": "awq", "bits": 4}),
        r"quantised \(awq, 4 bits\)",
    ),
    Kept("fp8", "quantised", configured(llama, quantization_config={"quant_method": "fp8"}), r"quantised \(fp8\)"),
    Kept(
        "some quantisation",
        "quantised in no known way",
        configured(llama, quantization_config={"bits": 3}),
        "quantised",
    ),
    Kept(
        "no config.json",
        "weights and a tokenizer alone",
        filed(llama, lambda f: (f / "config.json").unlink()),
        "has no config.json",
    ),
    Kept(
        "no model_type",
        "config.json does not say what it is",
        configured(llama, model_type=None),
        "which type of model",
    ),
    Kept(
        "an unknown type",
        "a type that transformers does not know",
        configured(llama, model_type="llama9"),
        r"does not know \(llama9\)",
    ),
    Kept(
        "no such values",
        "config.json with heads that do not divide",
        configured(llama, num_attention_heads="four"),
        "can make no llama",
    ),
    Kept(
        "code",
        "needs code of its makers",
        configured(llama, model_type="own", auto_map={"AutoConfig": "c.C", "AutoModelForCausalLM": "m.OwnModel"}),
        r"needs code of its makers to run, which Hedge never runs \(OwnModel\)",
    ),
    Kept(
        "code of a known type",
        "a Llama by type, and another class by its makers' code",
        configured(llama, architectures=["OwnModel"], auto_map={"AutoModelForCausalLM": "m.OwnModel"}),
        "needs code of its makers",
    ),
    Kept("no tokenizer", "weights alone", filed(llama, _without_tokenizer), "has no tokenizer"),
    Kept(
        "half a tokenizer",
        "tokenizer.json is cut short",
        filed(llama, lambda f: (f / "tokenizer.json").write_text('{"version": "1.0"')),
        "is not JSON",
    ),
    Kept(
        "no real tokenizer",
        "tokenizer.json is JSON and no tokenizer",
        filed(llama, lambda f: (f / "tokenizer.json").write_text("[]")),
        "must hold a JSON object",
    ),
    Kept(
        "sentencepiece",
        "only tokenizer.model, and no package that reads it",
        filed(filed(llama, _without_tokenizer), lambda f: (f / "tokenizer.model").write_bytes(b"\x0a\x0b")),
        "the tokenizer of",
    ),
    Kept(
        "more words",
        "the tokenizer has tokens that the model has not",
        configured(filed(model("llama", LLAMA | {"vocab_size": 40}), lambda f: words_tokenizer(f, size=200))),
        "the tokenizer has token",
    ),
    Kept(
        "adapter of another",
        "an adapter of a wider model",
        adapted(under=model("llama", LLAMA | {"hidden_size": 64})),
        "weights of adapter .* another shape",
    ),
    Kept(
        "adapter of another kind",
        "an adapter under a model without such layers",
        adapted(under=model("gpt2", SETTINGS["gpt2"])),
        "can't be put into its base model",
    ),
    Kept(
        "half an adapter",
        "an adapter without the second layer's matrices",
        adapted(change=lambda t: {n: w for n, w in t.items() if "layers.1." not in n}),
        "weights of adapter .* 4 of 8 tensors are missing",
    ),
    Kept(
        "adapter for more layers",
        "an adapter with matrices of a third layer",
        adapted(
            change=lambda t: (
                t | {n.replace("layers.1.", "layers.2."): w.clone() for n, w in t.items() if "layers.1." in n}
            )
        ),
        "weights of adapter .* 4 tensors are left over",
    ),
    Kept(
        "prompt tuning",
        "an adapter that is text in front of the text",
        adapted(kind="PromptTuning", target_modules=None, task_type="CAUSAL_LM", num_virtual_tokens=3),
        r"can't score \(PROMPT_TUNING\): it puts learned vectors in front of each text",
    ),
    Kept(
        "adapter of none",
        "an adapter whose base model is gone",
        adapted(config={"base_model_name_or_path": "/no/such/model"}),
        "belongs to the model '/no/such/model'",
    ),
    Kept(
        "adapter of a broken model",
        "an adapter under a model without its head",
        adapted(under=without(llama, "lm_head")),
        r"1 of 21 tensors is missing \(lm_head.weight\)",
    ),
    Kept(
        "adapter of NaN",
        "an adapter with a NaN",
        adapted(change=lambda t: {n: w * np.nan if "layers.1." in n else w for n, w in t.items()}),
        "no finite numbers",
    ),
    Kept(
        "a model and an adapter",
        "both in one folder",
        filed(adapted(), lambda f: shutil.copytree(f.parent / f"{f.name}-base", f, dirs_exist_ok=True)),
        "configurations of a model and of an adapter",
    ),
)

ZOO = WHOLE + BROKEN


# ---------------------------------------------------------------- what Hedge makes of a folder


@dataclass(frozen=True)
class Seen:
    """What came of a run: its exit status, all that reached the terminal, and the largest difference from
    transformers' own scores where there are any (None: no run, ∞: no numbers)."""

    status: int
    terminal: str
    difference: float | None

    @property
    def sentence(self) -> str:
        """The last line of what was said."""
        return ([line for line in re.split(r"[\r\n]+", self.terminal) if line.strip()] or [""])[-1]


THEIRS = re.compile(
    r"LOAD REPORT|UNEXPECTED|MISSING|newly initialized|Traceback|Unrecognized|\w+Error:|above report|does not appear|"
    r"size mismatch|trust_remote_code|Loading weights|[Ww]arning|pip install|from_pretrained\(|is_decoder=True|\x1b\["
)
"""What only other libraries say."""
CAVEAT = re.compile(r"^warning: run .*\n?", re.MULTILINE)
"""What Hedge says before the launch about a run of few questions."""
BAR = re.compile(r"question/s\]|s/question\]|question \[")
"""Hedge's own bar."""


def told(kept: Kept, seen: Seen) -> str:
    """``same`` (the right scores), ``refused`` (one sentence of ours, status 2), or what is wrong."""
    terminal = CAVEAT.sub("", seen.terminal)
    if seen.difference is not None:
        if kept.says is not None or not seen.difference <= CLOSE:
            return "meaningless figures"
        return "foreign messages" if THEIRS.search(terminal) else "same"
    lines = [line for line in re.split(r"[\r\n]+", terminal) if line.strip() and not BAR.search(line)]
    ours = [line for line in lines if line.startswith("hedge: ")]
    if THEIRS.search(terminal):
        return "foreign messages"
    return "refused" if seen.status == 2 and len(ours) == 1 and lines == ours else "no sentence, or another status"


@contextlib.contextmanager
def terminal() -> Iterator[Callable[[], str]]:
    """All that is written to file descriptors 1 and 2, whoever writes."""
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush(), sys.stderr.flush()
        kept = [os.dup(1), os.dup(2)]
        streams = sys.stdout, sys.stderr
        os.dup2(file.fileno(), 1), os.dup2(file.fileno(), 2)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))

        def written() -> str:
            sys.stdout.flush(), sys.stderr.flush()
            file.seek(0)
            return file.read().decode(errors="replace")

        try:
            yield written
        finally:
            sys.stdout, sys.stderr = streams
            for number, one in enumerate(kept, start=1):
                os.dup2(one, number)
                os.close(one)


def visit(folder: Path, *, report: bool = True) -> Seen:
    """Run the task on a folder as the command line does, in this process, and compare its scores.

    Without ``report`` the run alone is made, which is most of a visit's time for a folder that is whole.
    """
    from core.models.models import canonical
    from core.runs.execution.execute import execute
    from core.runs.spec import RunSpec
    from hedge.cli import main

    with terminal() as written:
        try:
            if report:
                status = main(["run", "--model", str(folder), "--task", TASK, "--samples", str(SAMPLES), "--json"])
            else:
                execute(RunSpec(model=canonical(str(folder)), task=TASK, samples=SAMPLES))
                status = 0
        except BaseException as error:
            print(f"Traceback: {type(error).__name__}: {error}")
            status = 1
        said = written()
    return Seen(status, said, _difference(folder) if status == 0 else None)


@cache
def _asked() -> dict[str, str]:
    """The text of every prompt by its question's id."""
    from core.runs.prompts import draw_questions, prompts
    from core.runs.spec import RunSpec

    spec = RunSpec(model="pocket-1m", task=TASK, samples=SAMPLES)
    return {one.question_id: one.text for one in prompts(spec, draw_questions(spec))}


def _difference(folder: Path) -> float:
    """The largest difference between the run's scores and transformers' own, one option at a time."""
    from core.models.models import canonical
    from core.runs import store
    from core.runs.spec import RunSpec
    from core.settings import settings

    begin = RunSpec(model=canonical(str(folder)), task=TASK, samples=SAMPLES).run_id.rpartition("-")[0]
    (place,) = (settings().home / "runs").glob(f"{begin}-*")  # the name ends with what the model's files hold
    scored = store.read_logits(place.name)
    asked = _asked()
    with warnings.catch_warnings(), terminal():
        warnings.simplefilter("ignore")
        truth = one_by_one(folder, [asked[name] for name in scored.ids], scored.logits.shape[1])
    difference = float(np.abs(scored.logits - truth).max())
    return difference if np.isfinite(difference) else np.inf


@torch.inference_mode()
def one_by_one(folder: Path, texts: Sequence[str], k: int) -> np.ndarray:
    """Σ log p of `` A``, `` B`` … after each text, (n, k), with nothing but transformers and peft.

    A folder whose weights are not its model's own has no truth: then NaN.
    """
    place = folder
    if not (folder / "config.json").is_file():
        place = Path(json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"])
    made, info = AutoModelForCausalLM.from_pretrained(
        place, dtype=torch.float32, output_loading_info=True, ignore_mismatched_sizes=True
    )
    made.config.return_dict = True
    if info["missing_keys"] or info["mismatched_keys"]:
        return np.full((len(texts), k), np.nan)
    if place != folder:
        from peft import PeftModel

        trained = load_file(folder / "adapter_model.safetensors").get("base_model.model.model.embed_tokens.weight")
        if trained is not None:
            made.resize_token_embeddings(len(trained))
        made = PeftModel.from_pretrained(made, folder)
    tokenizer = AutoTokenizer.from_pretrained(place)
    added = len(tokenizer(texts[0])["input_ids"]) - len(tokenizer(texts[0], add_special_tokens=False)["input_ids"])
    end = -1 if added == 2 else None  # one in front and one behind
    rows = np.empty((len(texts), k))
    for i, text in enumerate(texts):
        context = tokenizer(text)["input_ids"][:end]
        read: dict[tuple[int, ...], torch.Tensor] = {}
        for j, letter in enumerate("ABCDEFGHIJ"[:k]):
            whole = tokenizer(f"{text} {letter}")["input_ids"][:end]
            assert whole[: len(context)] == context
            before = tuple(whole[:-1])
            if before not in read:
                logits = made(input_ids=torch.tensor([before]), use_cache=False).logits[0].float()
                read[before] = torch.log_softmax(logits, dim=-1)
            rows[i, j] = sum(float(read[before][at - 1, whole[at]]) for at in range(len(context), len(whole)))
    return rows


def make(kept: Kept, root: Path) -> Path:
    """The folder of one of the zoo."""
    folder = root / re.sub(r"\W+", "-", kept.name)
    with warnings.catch_warnings(), terminal():
        warnings.simplefilter("ignore")
        kept.make(folder)
    return folder


def table() -> None:
    """Print the zoo: folder, what is wrong with it, what Hedge says or the largest difference."""
    counts: dict[str, int] = {}
    print("| folder | what it is | what Hedge makes of it | |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as root:
        os.environ["HEDGE_HOME"] = f"{root}/home"
        for kept in ZOO if len(sys.argv) < 2 else [one for one in ZOO if one.name in sys.argv[1:]]:
            folder = make(kept, Path(root))
            seen = visit(folder)
            verdict = told(kept, seen)
            counts[verdict] = counts.get(verdict, 0) + 1
            said = seen.sentence.removeprefix("hedge: ").replace(f"{root}/", "").replace("|", "\\|")
            shown = said if seen.difference is None else f"largest difference {seen.difference:.0e}"
            print(f"| {kept.name} | {kept.about} | {shown} | {verdict} |", flush=True)
    print(f"\n{len(ZOO)} folders: " + ", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())))


if __name__ == "__main__":
    table()
