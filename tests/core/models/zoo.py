"""Model folders by name: whole ones, and ones that are broken in every way that has come up.

Every folder is made from a tiny configuration, seeded. Each either gives the same scores as transformers' own call,
one option at a time (:data:`WHOLE`), or is refused in one sentence (:data:`BROKEN`)."""

import contextlib
import json
import os
import re
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import peft
import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from core.models.model_sources import canonical
from core.runs import store
from core.runs.execution.execute import execute
from core.runs.prompts import draw_questions, prompts
from core.runs.spec import RunSpec
from hedge.cli import main
from tests.core.models.architectures import SETTINGS, TYPES, VOCABULARY, build

SAMPLES = 8
TASK = "qa"
LLAMA = SETTINGS["llama"]
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"

Make = Callable[[Path], None]
Tensors = dict[str, torch.Tensor]
Change = Callable[[Tensors], Tensors]


# ---------------------------------------------------------------- parts


@cache
def bank_words() -> tuple[str, ...]:
    """The commonest words and marks of the task's questions."""
    spec = RunSpec(model="pocket-1m", task=TASK, samples=200)
    texts = [prompt.text for prompt in prompts(spec, draw_questions(spec))]
    return tuple(word for word, _ in Counter(w for t in texts for w in re.findall(r"\w+|[^\w\s]+", t)).most_common(200))


def words_tokenizer(folder: Path, *, size: int = 80) -> None:
    """One token a word: letters are one token, unknown words all the same."""
    words = ["<unk>", "<bos>", *"ABCDEFGH", *(word for word in bank_words() if word not in set("ABCDEFGH"))][:size]
    _save(_word_level(words), folder, pre_tokenizers.Whitespace())


def pieces_tokenizer(folder: Path) -> None:
    """As sentencepiece writes: a space is ▁ and belongs to the next word; single characters and a few pieces."""
    letters = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.,:?'"]
    pieces = ["▁", *letters, "▁A", "▁B", "▁C", "▁D", "▁E", "▁F", "▁the", "▁of", "er", "in", "Answer", "▁Question"]
    scores = [("<unk>", 0.0), ("<bos>", 0.0), *((piece, -3.0 - 0.01 * i) for i, piece in enumerate(pieces))]
    tokenizer = Tokenizer(models.Unigram(scores, unk_id=0))
    tokenizer.decoder = decoders.Metaspace()
    _save(tokenizer, folder, pre_tokenizers.Metaspace())


def characters_tokenizer(folder: Path) -> None:
    """One token a character, the space too: no letter is one token after a colon."""
    characters = ["<unk>", "<bos>", *(chr(i) for i in range(32, 124))]
    _save(_word_level(characters), folder, pre_tokenizers.Split("", "isolated"))


def ended_tokenizer(folder: Path) -> None:
    """The tokenizer of words, which begins and ends every text with tokens of its own."""
    words_tokenizer(folder)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<bos> $A E", special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("<bos>", "E")]
    )
    _save(tokenizer, folder, pre_tokenizers.Whitespace())


def _word_level(words: Sequence[str]) -> Tokenizer:
    return Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))


def _save(tokenizer: Tokenizer, folder: Path, splitter: pre_tokenizers.PreTokenizer) -> None:
    tokenizer.pre_tokenizer = splitter
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<bos>").save_pretrained(folder)


def model(model_type: str, settings: dict[str, Any], *, auto: Any = AutoModelForCausalLM) -> Make:
    """A whole model with a tokenizer of words."""

    def make(folder: Path) -> None:
        build(model_type, settings, auto=auto).save_pretrained(folder)
        words_tokenizer(folder)

    return make


llama = model("llama", LLAMA)
TIED_LLAMA = model("llama", LLAMA | {"tie_word_embeddings": True})
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
    "rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}, "full_attention": _ROPE}
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

    def change(folder: Path) -> None:
        path = folder / "config.json"
        values = json.loads(path.read_text()) | changes
        path.write_text(json.dumps({key: value for key, value in values.items() if value is not None}))

    return filed(make, change)


def weighed(make: Make, change: Change) -> Make:
    """The same with its tensors changed."""

    return filed(make, lambda folder: rewritten(folder / WEIGHTS, change))


def rewritten(path: Path, change: Change) -> None:
    """Change the tensors of a file."""
    tensors = change(load_file(path))
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path, {"format": "pt"})


def without(make: Make, pattern: str) -> Make:
    return weighed(make, lambda all_: {name: tensor for name, tensor in all_.items() if not re.search(pattern, name)})


def besides(make: Make, more: Tensors) -> Make:
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
    change: Change = lambda all_: all_,
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
                trained = peft.get_peft_model(plain, adapter)
                for weight in trained.parameters():
                    if weight.requires_grad:
                        weight.add_(torch.randn_like(weight), alpha=0.3)
            trained.save_pretrained(folder)
        rewritten(folder / "adapter_model.safetensors", change)
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


def _spoiled(name: str, value: float) -> Change:
    def change(tensors: Tensors) -> Tensors:
        tensors[name].view(-1)[5] = value
        return tensors

    return change


def _quantised(tensors: Tensors) -> Tensors:
    return {n: (t * 100).round().to(torch.int8) if "_proj" in n else t for n, t in tensors.items()}


def _without_norm(tensors: Tensors) -> Tensors:
    return {name: tensor for name, tensor in tensors.items() if name != "model.norm.weight"}


def _mask(layers: str) -> Tensors:
    names = map(layers.format, range(2))
    masks = {"bias": torch.ones(1, 1, 8, 8, dtype=torch.bool).tril(), "masked_bias": torch.tensor(-1e4)}
    return {f"{name}.{end}": mask.clone() for name in names for end, mask in masks.items()}


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
    return getattr(transformers, f"AutoModel{name}")


def _an_expert_less(tensors: Tensors) -> Tensors:
    gone = [name for name in tensors if re.search(r"layers\.1\..*experts\.3\.", name)]
    assert gone, sorted(tensors)
    return {name: tensor for name, tensor in tensors.items() if name not in gone}


# ---------------------------------------------------------------- the zoo

TRIED = (
    *("gpt2", "gpt_neox", "qwen2", "qwen3", "mistral", "gemma2", "gemma3_text", "phi3", "olmo2", "opt", "bloom", "mpt"),
    *("falcon", "mamba", "stablelm"),
)

WHOLE = {
    **{name: model(TYPES.get(name, name), SETTINGS[name]) for name in TRIED},
    "gptj": model("gptj", SETTINGS["gpt2"] | {"rotary_dim": 4}),
    "mixtral": model("mixtral", LLAMA | _EXPERTS),
    "qwen2_moe": model("qwen2_moe", LLAMA | _MOST),
    "granitemoe": model("granitemoe", LLAMA | _EXPERTS),
    "untied": llama,
    "tied": TIED_LLAMA,
    "tied, stored twice": weighed(TIED_LLAMA, lambda t: t | {"lm_head.weight": t["model.embed_tokens.weight"].clone()}),
    "tied, two unlike": configured(llama, tie_word_embeddings=True),
    "body of a tied model": model("gpt2", SETTINGS["gpt2"], auto=AutoModel),
    "shards": sharded(),
    "stale index": sharded(reindexed(lambda named: named | {"lm_head.bias": next(iter(named.values()))})),
    "stored as float64": weighed(llama, lambda t: {n: w.double() for n, w in t.items()}),
    "stored as float16": weighed(llama, lambda t: {n: w.half() for n, w in t.items()}),
    "no architectures": configured(llama, architectures=None),
    "rotary buffers": besides(
        llama, {f"model.layers.{i}.self_attn.rotary_emb.inv_freq": torch.ones(4) for i in range(2)}
    ),
    "masks of gpt2": besides(model("gpt2", SETTINGS["gpt2"]), _mask("transformer.h.{}.attn")),
    "masks of gpt_neo": besides(
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
    "layers that predict more": besides(
        model("deepseek_v3", LLAMA | _NEXT),
        {"model.layers.2.eh_proj.weight": torch.ones(32, 64), "model.layers.2.enorm.weight": torch.ones(32)},
    ),
    "pieces": filed(llama, pieces_tokenizer),
    "characters": filed(llama, characters_tokenizer),
    "tuples": configured(llama, return_dict=False),
    "ended": filed(llama, ended_tokenizer),
    "few words": filed(llama, lambda f: words_tokenizer(f, size=30)),
    "sees images": model(
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
    "adapter": adapted(),
    "adapter of embeddings": adapted(target_modules=["embed_tokens", "lm_head"]),
    "DoRA": adapted(use_dora=True),
    "longrope": model("phi3", LLAMA | LONGROPE),
    "trained tokens": adapted(TIED_LLAMA, **SOME_TOKENS),
    "added tokens": adapted(tokens=VOCABULARY + 8, modules_to_save=["embed_tokens", "lm_head"]),
    "chunks": model("llama4_text", LLAMA | CHUNKS),
    "VeRA": adapted(kind="Vera", target_modules=["q_proj"]),
    "a trained head": adapted(TIED_LLAMA, modules_to_save=["lm_head"]),
    "longrope in one layer": model("gemma3_text", LONGROPE_GEMMA),
    "IA3": adapted(kind="IA3", feedforward_modules=[]),
    "OFT": adapted(kind="OFT", oft_block_size=4),
    "phimoe": model("phimoe", LLAMA | _EXPERTS | LONGROPE_SCALED),
    "dynamic": model("llama", LLAMA | {"rope_parameters": DYNAMIC}),
}

BROKEN = {
    "no head": (model("llama", LLAMA, auto=AutoModel), r"1 of 21 tensors is missing \(lm_head.weight\)"),
    "no head, no word of it": (
        configured(model("llama", LLAMA, auto=AutoModel), architectures=["LlamaForCausalLM"]),
        r"1 of 21 tensors is missing \(lm_head.weight\)",
    ),
    "classifier": (
        model("llama", LLAMA, auto=auto("ForSequenceClassification")),
        "holds a classifier, whose head gives classes",
    ),
    "classifier, no word of it": (
        configured(
            model("gpt2", SETTINGS["gpt2"], auto=auto("ForSequenceClassification")), architectures=["GPT2LMHeadModel"]
        ),
        r"1 tensor is left over \((transformer\.)?score\.weight\)",
    ),
    "a layer missing": (without(llama, r"layers\.1\."), "9 of 21 tensors are missing"),
    "a bias missing": (without(model("qwen2", LLAMA), r"1.*k_proj.bias"), r"1 of 27 tensors"),
    "a layer too many": (configured(llama, num_hidden_layers=1), "9 tensors are left over"),
    "no embeddings": (without(TIED_LLAMA, "embed"), "missing"),
    "another bias": (
        configured(model("qwen2", LLAMA), model_type="llama", architectures=None),
        "6 tensors are left over",
    ),
    "another width": (configured(llama, intermediate_size=64), "6 tensors have another shape"),
    "another vocabulary": (
        configured(llama, vocab_size=VOCABULARY + 8),
        r"2 tensors have another shape \(lm_head.weight is 96 × 32 and must be 104 × 32 and 1 more\)",
    ),
    "another kind": (
        configured(model("gemma", LLAMA), model_type="llama"),
        "contradicts itself: a llama is a LlamaForCausalLM.*GemmaForCausalLM",
    ),
    "an expert missing": (weighed(model("mixtral", LLAMA | _EXPERTS), _an_expert_less), "the weights of model"),
    "bart": (model("bart", _ENCODES, auto=auto("ForSeq2SeqLM")), r"holds an encoder–decoder \(bart\)"),
    "t5": (
        model(
            "t5",
            {"vocab_size": VOCABULARY, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 1, "num_heads": 4},
            auto=auto("ForSeq2SeqLM"),
        ),
        r"holds an encoder–decoder \(t5\)",
    ),
    "bart, no word of it": (
        configured(model("bart", _ENCODES, auto=auto("ForSeq2SeqLM")), is_encoder_decoder=None, architectures=None),
        r"holds an encoder–decoder \(bart\)",
    ),
    "bert": (model("bert", LLAMA, auto=auto("ForMaskedLM")), "holds a masked model"),
    "roberta's body": (model("roberta", LLAMA, auto=AutoModel), "holds a masked model"),
    "distilbert": (
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
    "xlnet": (
        model("xlnet", {"vocab_size": VOCABULARY, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48}),
        "reads text in both directions",
    ),
    "llava": (
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
    "qwen2_vl": (
        configured(llama, model_type="qwen2_vl", architectures=["Qwen2VLForConditionalGeneration"]),
        r"a model of text and images \(qwen2_vl\)",
    ),
    "gguf": (
        filed(llama, lambda f: (f / WEIGHTS).rename(f / "model-q4.gguf")),
        r"a GGUF file \(model-q4.gguf\), which llama.cpp reads .* give its address with --server",
    ),
    "vit": (model("vit", _VISION, auto=auto("ForImageClassification")), "a classifier of images"),
    "a shard missing": (sharded(lambda f: sorted(f.glob("model-*"))[1].unlink()), "lacks 1 of the"),
    "index of another": (
        sharded(lambda f: [rewritten(path, _without_norm) for path in f.glob("model-*")]),
        r"1 of 21 tensors is missing \(model.norm.weight\)",
    ),
    "index is no index": (sharded(lambda f: (f / INDEX).write_text("{}")), "does not say which tensor"),
    "shards, no index": (sharded(lambda f: (f / INDEX).unlink()), "neither model.safetensors nor"),
    "cut short": (filed(llama, _cut), "should have"),
    "not a safetensors file": (
        filed(llama, lambda f: (f / WEIGHTS).write_text("not found")),
        "is not a safetensors file",
    ),
    "a pointer": (filed(llama, lambda f: _pointer(f / WEIGHTS)), "Git LFS pointer"),
    "a pickle": (filed(llama, _pickled), "as a pickle"),
    "not a number": (
        weighed(llama, _spoiled("model.layers.1.mlp.up_proj.weight", np.nan)),
        r"no finite numbers \(model.layers.1.mlp.up_proj.weight\)",
    ),
    "infinite": (weighed(llama, _spoiled("model.embed_tokens.weight", np.inf)), "no finite numbers"),
    "too large": (weighed(llama, lambda t: t | {"lm_head.weight": t["lm_head.weight"] * 1e38}), "gives no numbers"),
    "stored as int8": (weighed(llama, _quantised), "as I8"),
    "bitsandbytes": (
        configured(
            weighed(llama, _quantised), quantization_config={"quant_method": "bitsandbytes", "load_in_8bit": True}
        ),
        r"quantised \(bitsandbytes, 8 bits\)",
    ),
    "gptq": (
        configured(llama, quantization_config={"quant_method": "gptq", "bits": 4, "group_size": 32}),
        r"quantised \(gptq, 4 bits\)",
    ),
    "awq": (configured(llama, quantization_config={"quant_method": "awq", "bits": 4}), r"quantised \(awq, 4 bits\)"),
    "fp8": (configured(llama, quantization_config={"quant_method": "fp8"}), r"quantised \(fp8\)"),
    "some quantisation": (configured(llama, quantization_config={"bits": 3}), "quantised"),
    "no config.json": (filed(llama, lambda f: (f / "config.json").unlink()), "has no config.json"),
    "half a config.json": (filed(llama, lambda f: (f / "config.json").write_text("{")), "is not JSON"),
    "no weights": (filed(llama, lambda f: (f / WEIGHTS).unlink()), "has no weights"),
    "no model_type": (configured(llama, model_type=None), "which type of model"),
    "an unknown type": (configured(llama, model_type="llama9"), r"does not know \(llama9\)"),
    "no such values": (configured(llama, num_attention_heads="four"), "values that transformers can't use for a llama"),
    "code": (
        configured(llama, model_type="own", auto_map={"AutoConfig": "c.C", "AutoModelForCausalLM": "m.OwnModel"}),
        r"needs code of its makers to run, which Hedge never runs \(OwnModel\)",
    ),
    "code of a known type": (
        configured(llama, architectures=["OwnModel"], auto_map={"AutoModelForCausalLM": "m.OwnModel"}),
        "needs code of its makers",
    ),
    "no tokenizer": (filed(llama, _without_tokenizer), "has no tokenizer"),
    "half a tokenizer": (filed(llama, lambda f: (f / "tokenizer.json").write_text('{"version": "1.0"')), "is not JSON"),
    "no real tokenizer": (filed(llama, lambda f: (f / "tokenizer.json").write_text("[]")), "must hold a JSON object"),
    "sentencepiece": (
        filed(filed(llama, _without_tokenizer), lambda f: (f / "tokenizer.model").write_bytes(b"\x0a\x0b")),
        "the tokenizer of",
    ),
    "more words": (
        configured(filed(model("llama", LLAMA | {"vocab_size": 40}), lambda f: words_tokenizer(f, size=200))),
        "the tokenizer has token",
    ),
    "adapter of another": (
        adapted(under=model("llama", LLAMA | {"hidden_size": 64})),
        "weights of adapter .* another shape",
    ),
    "adapter of another kind": (adapted(under=model("gpt2", SETTINGS["gpt2"])), "can't be put into its base model"),
    "half an adapter": (
        adapted(change=lambda t: {n: w for n, w in t.items() if "layers.1." not in n}),
        "weights of adapter .* 4 of 8 tensors are missing",
    ),
    "adapter for more layers": (
        adapted(
            change=lambda t: (
                t | {n.replace("layers.1.", "layers.2."): w.clone() for n, w in t.items() if "layers.1." in n}
            )
        ),
        "weights of adapter .* 4 tensors are left over",
    ),
    "prompt tuning": (
        adapted(kind="PromptTuning", target_modules=None, task_type="CAUSAL_LM", num_virtual_tokens=3),
        r"can't score \(PROMPT_TUNING\): it puts learned vectors in front of each text",
    ),
    "adapter of nothing": (adapted(config={"base_model_name_or_path": ""}), "does not name its base model"),
    "adapter of none": (
        adapted(config={"base_model_name_or_path": "/no/such/model"}),
        "belongs to the model '/no/such/model'",
    ),
    "adapter of a broken model": (
        adapted(under=without(llama, "lm_head")),
        r"1 of 21 tensors is missing \(lm_head.weight\)",
    ),
    "adapter of NaN": (
        adapted(change=lambda t: {n: w * np.nan if "layers.1." in n else w for n, w in t.items()}),
        "no finite numbers",
    ),
    "a model and an adapter": (
        filed(adapted(), lambda f: shutil.copytree(f.parent / f"{f.name}-base", f, dirs_exist_ok=True)),
        "configurations of a model and of an adapter",
    ),
}

ALL: dict[str, Make] = WHOLE | {name: make for name, (make, _) in BROKEN.items()}


# ---------------------------------------------------------------- the outcome of a command


THEIRS = re.compile(
    r"LOAD REPORT|UNEXPECTED|MISSING|newly initialized|Traceback|Unrecognized|\w+Error:|above report|does not appear|"
    r"size mismatch|trust_remote_code|Loading weights|[Ww]arning|pip install|from_pretrained\(|is_decoder=True|\x1b\["
)
"""What only other libraries write."""
CAVEAT = re.compile(r"^warning: run .*\n?", re.MULTILINE)
"""What Hedge writes before the launch about a run of few questions."""
BAR = re.compile(r"question/s\]|s/question\]|question \[")
"""Hedge's own progress bar."""


@contextlib.contextmanager
def terminal() -> Iterator[Callable[[], str]]:
    """All that is written to file descriptors 1 and 2, by any library."""
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush(), sys.stderr.flush()
        descriptors = [os.dup(1), os.dup(2)]
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
            for number, descriptor in enumerate(descriptors, start=1):
                os.dup2(descriptor, number)
                os.close(descriptor)


def refusal(*words: object) -> str:
    """The sentence with which a command of Hedge refuses, which is all that it writes to the terminal."""
    with terminal() as written:
        status = main([str(word) for word in words])
        text = CAVEAT.sub("", written())
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip() and not BAR.search(line)]
    assert status == 2, text
    assert len(lines) == 1, text
    assert lines[0].startswith("hedge: "), text
    assert not THEIRS.search(text), text
    return lines[0]


@torch.inference_mode()
def difference(folder: Path) -> tuple[float, str]:
    """The largest difference between the scores of a run and transformers' own, one option at a time, and what the run
    wrote to the terminal."""
    spec = RunSpec(model=canonical(str(folder)), task=TASK, samples=SAMPLES)
    with terminal() as written:
        scored = store.read_logits(execute(spec))
        text = written()
    texts = {prompt.question_id: prompt.text for prompt in prompts(spec, draw_questions(spec))}
    with quiet():
        truth = one_by_one(folder, [texts[name] for name in scored.ids], scored.logits.shape[1])
    return float(np.abs(scored.logits - truth).max()), text


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), terminal():
        warnings.simplefilter("ignore")
        yield


def one_by_one(folder: Path, texts: Sequence[str], k: int) -> np.ndarray:
    """Σ log p of `` A``, `` B`` … after each text, (n, k), with nothing but transformers and peft."""
    place = folder
    if not (folder / "config.json").is_file():
        place = Path(json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"])
    network, info = AutoModelForCausalLM.from_pretrained(
        place, dtype=torch.float32, output_loading_info=True, ignore_mismatched_sizes=True
    )
    network.config.return_dict = True
    assert not info["missing_keys"]
    assert not info["mismatched_keys"]
    if place != folder:
        trained = load_file(folder / "adapter_model.safetensors").get("base_model.model.model.embed_tokens.weight")
        if trained is not None:
            network.resize_token_embeddings(len(trained))
        network = peft.PeftModel.from_pretrained(network, folder)
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
                logits = network(input_ids=torch.tensor([before]), use_cache=False).logits[0].float()
                read[before] = torch.log_softmax(logits, dim=-1)
            rows[i, j] = sum(float(read[before][at - 1, whole[at]]) for at in range(len(context), len(whole)))
    return rows


def make(name: str, root: Path) -> Path:
    """The folder of this name."""
    folder = root / re.sub(r"\W+", "-", name)
    with quiet():
        ALL[name](folder)
    return folder
