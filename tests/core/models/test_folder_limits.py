"""Model folders made to fill the memory or to run without end, and honest ones that are as large as models get."""

import base64
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.models import counting, model_sources
from core.models.folder_limits import check_configuration, tokenizer_problem
from core.settings import ASSETS
from tests.light_environment import needs_models

SMALL = ASSETS / "models" / "pocket-1m"
STRANGER = ASSETS / "models" / "pocket-3m-instruct"


def changed(folder: Path, name: str, values: dict[str, Any]) -> Path:
    """A copy of the smallest model with other values in one of its files."""
    shutil.copytree(SMALL, folder)
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | values))
    return folder


def replacement(old: str, new: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


def split(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def sequence(name: str, steps: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "Sequence", name: steps}


CHARSMAP = base64.b64encode((4).to_bytes(4, "little") + b"\0" * 4 + b"x" * 5000 + b"\0").decode()
TOKENIZERS: dict[str, tuple[dict[str, Any], str]] = {
    "a text is doubled 40 times": (
        {"normalizer": sequence("normalizers", [replacement("a", "aa")] * 40)},
        "makes a text up to 1.1e+12 times longer in its normalizer, and 64 times is the most",
    ),
    "doubled in sequences of sequences": (
        {"normalizer": sequence("normalizers", [sequence("normalizers", [replacement("a", "aa")] * 2)] * 20)},
        "makes a text up to 1.1e+12 times longer",
    ),
    "one letter becomes a megabyte": ({"normalizer": replacement("a", "b" * 1_000_000)}, "up to 1e+06 times longer"),
    "an empty match becomes a text": (
        {"normalizer": {"type": "Replace", "pattern": {"Regex": "x*"}, "content": "b" * 100}},
        "up to 101 times longer",
    ),
    "a long beginning": ({"normalizer": {"type": "Prepend", "prepend": "x" * 10**6}}, "adds 1,000,000 characters"),
    "long beginnings": (
        {"normalizer": sequence("normalizers", [{"type": "Prepend", "prepend": "x" * 900}] * 2)},
        "adds 1,800 characters",
    ),
    "a map of characters": (
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": CHARSMAP}},
        "adds 5,000 characters",
    ),
    "bytes of bytes of bytes": (
        {"pre_tokenizer": sequence("pretokenizers", [{"type": "ByteLevel", "add_prefix_space": False}] * 30)},
        "rewrites a text 30 times in its pre-tokenizer",
    ),
    "ten thousand steps": (
        {"pre_tokenizer": sequence("pretokenizers", [{"type": "Whitespace"}] * 10_000)},
        "has a pre-tokenizer of 10,000 steps, and at most 200 can be",
    ),
    "repeats of repeats": ({"pre_tokenizer": split(r"(\p{L}+\s?)+$")}, "a pattern that repeats what repeats"),
    "a pattern of a megabyte": ({"pre_tokenizer": split("a" * 10**6)}, "a pattern that has 1,000,000 characters"),
    "a billion repeats": ({"pre_tokenizer": split("((a{1000}){1000}){1000}")}, "a pattern that repeats 1,000,000"),
    "a decoder that grows": (
        {"decoder": sequence("decoders", [replacement("a", "aa")] * 40)},
        "times longer in its decoder",
    ),
    "a template of a million tokens": (
        {
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [{"Sequence": {"id": "A", "type_id": 0}}],
                "pair": [],
                "special_tokens": {"s": {"id": "s", "ids": [0] * 10**6, "tokens": ["s"] * 10**6}},
            }
        },
        "characters to each text in its post-processor",
    ),
    "padding to a billion tokens": (
        {"padding": {"strategy": {"Fixed": 10**9}, "direction": "Right", "pad_id": 0, "pad_token": "x"}},
        "fills each text up to 1,000,000,000 tokens",
    ),
    "added tokens": ({"added_tokens": [{}] * 300_001}, "has 300,001 added tokens, and at most 300,000 can be read"),
    "words without end": ({"model": {"type": "WordPiece", "max_input_chars_per_word": 10**12}}, "reads words of 1"),
}


@pytest.mark.quick
@pytest.mark.parametrize("attack", TOKENIZERS)
def test_a_tokenizer_beyond_the_limits_is_one_sentence(tmp_path: Path, attack: str):
    values, problem = TOKENIZERS[attack]
    folder = changed(tmp_path / "model", "tokenizer.json", values)
    with pytest.raises(InputError) as refused:
        model_sources.resolve(str(folder))
    assert problem in str(refused.value)
    assert str(refused.value).endswith("; take the file that came with the model")
    assert counting.characters_per_token(str(folder), ["aaaa"]) is None  # what the page of a new run asks


@pytest.mark.quick
@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"num_hidden_layers": 10**9}, "has 1e+09 as 'num_hidden_layers', and at most 1,000 can be"),
        ({"num_hidden_layers": 1e9}, "as 'num_hidden_layers'"),
        ({"num_hidden_layers": 10**400}, "has inf as 'num_hidden_layers'"),
        ({"text_config": {"deep": [{"n_layer": 10**7}]}}, "has 10,000,000 as 'n_layer'"),
        ({"hidden_size": 10**12}, "as 'hidden_size', and at most 1,000,000 can be"),
        ({"vocab_size": 10**12}, "as 'vocab_size', and at most 10,000,000"),
        ({"num_local_experts": 10**9}, "as 'num_local_experts', and at most 4,096"),
        ({"num_attention_heads": 10**9}, "as 'num_attention_heads'"),
        ({"num_labels": 10**9}, "as 'num_labels', and at most 100,000"),
        ({"num_anything_else": 10**9}, "as 'num_anything_else'"),
        ({"num_hidden_layers": 900, "n_routed_experts": 4_000}, "asks for 900 layers with 4,000 experts each"),
        ({"num_hidden_layers": 900, "hidden_size": 60_000, "intermediate_size": 200_000}, "and the weights beside it"),
    ],
)
def test_a_configuration_beyond_the_limits_is_one_sentence(tmp_path: Path, values: dict[str, Any], problem: str):
    folder = changed(tmp_path / "model", "config.json", values)
    with pytest.raises(InputError) as refused:
        model_sources.resolve(str(folder))
    assert problem in str(refused.value)


@pytest.mark.quick
def test_files_too_large_to_be_read_are_not_read(tmp_path: Path):
    for name, size, problem in (
        ("config.json", 11_000_000, "11 MB, and such a file may have 10 MB"),
        ("tokenizer.json", 101_000_000, "101 MB, and such a file may have 100 MB"),
        ("tokenizer.model", 101_000_000, "101 MB, and such a file may have 100 MB"),
    ):
        folder = tmp_path / name
        shutil.copytree(SMALL, folder)
        with (folder / name).open("wb") as file:
            file.truncate(size)  # a sparse file
        with pytest.raises(InputError, match=problem):
            model_sources.resolve(str(folder))
    beside = tmp_path / "beside"
    shutil.copytree(SMALL, beside)
    with (beside / "training_log.txt").open("wb") as file:
        file.truncate(500_000_000)
    assert model_sources.resolve(str(beside)).location == str(beside)


@pytest.mark.quick
def test_an_adapter_has_the_same_limits(tmp_path: Path):
    folder = tmp_path / "adapter"
    shutil.copytree(next((ASSETS / "adapters").iterdir()), folder)
    path = folder / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"r": 10**9}))
    with pytest.raises(InputError, match=r"has 1e\+09 as 'r', and at most 8,192 can be"):
        model_sources.resolve(str(folder))


LARGEST: dict[str, dict[str, Any]] = {
    "Llama 3.1 405B": {
        "num_hidden_layers": 126, "hidden_size": 16384, "intermediate_size": 53248, "num_attention_heads": 128,
        "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072, "rope_theta": 500000.0,
        "eos_token_id": [128001, 128008, 128009], "torch_dtype": "bfloat16",
    },
    "DeepSeek V3": {
        "num_hidden_layers": 61, "n_routed_experts": 256, "num_experts_per_tok": 8, "q_lora_rank": 1536, "n_group": 8,
        "kv_lora_rank": 512, "vocab_size": 129280, "max_position_embeddings": 163840, "hidden_size": 7168,
        "quantization_config": {"weight_block_size": [128, 128], "quant_method": "fp8"}, "first_k_dense_replace": 3,
    },
    "Kimi K2": {"num_hidden_layers": 61, "n_routed_experts": 384, "vocab_size": 163840, "num_nextn_predict_layers": 1},
    "Qwen3-Next": {"num_hidden_layers": 48, "num_experts": 512, "linear_num_value_heads": 32, "vocab_size": 151936},
    "Gemma 3": {
        "text_config": {"num_hidden_layers": 62, "vocab_size": 262208, "sliding_window": 1024, "head_dim": 128},
        "vision_config": {"num_hidden_layers": 27, "image_size": 896}, "image_token_index": 262144,
    },
    "Falcon-H1": {"rope_theta": 100000000000.0, "num_hidden_layers": 72, "time_step_limit": [0.0, float("inf")]},
    "Llama 4 Scout": {"max_position_embeddings": 10485760, "num_local_experts": 16, "num_hidden_layers": 48},
    "OpenELM": {"num_kv_heads": [4] * 36, "num_transformer_layers": 36, "ffn_multipliers": [0.5, 4.0]},
    "a classifier": {"id2label": {str(i): f"LABEL_{i}" for i in range(1000)}, "num_labels": 1000},
}  # fmt: skip


@pytest.mark.quick
@pytest.mark.parametrize("model", LARGEST)
def test_the_largest_models_pass(model: str):
    check_configuration(LARGEST[model], where="config.json")


O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@pytest.mark.quick
@pytest.mark.parametrize(
    "values",
    [
        {"pre_tokenizer": sequence("pretokenizers", [split(O200K), {"type": "ByteLevel", "use_regex": False}])},
        {"pre_tokenizer": split(r"\p{N}{1,3}(?=(?:\p{N}{3})*\b)")},
        {"pre_tokenizer": split(" ?[^(\\s|[.,!?…。，、।۔،])]+")},
        {
            "normalizer": sequence(
                "normalizers",
                [
                    *(replacement(quotes, '"') for quotes in ("``", "''")),
                    *({"type": name} for name in ("NFKD", "StripAccents", "Lowercase")),
                    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
                ],
            )
        },
        {"normalizer": sequence("normalizers", [{"type": "Prepend", "prepend": "▁"}, replacement(" ", "▁")])},
        {"normalizer": sequence("normalizers", [replacement(letter, "a") for letter in "àáâãäåāăą" * 15])},
        {"padding": {"strategy": {"Fixed": 512}, "pad_id": 0}, "added_tokens": [{}] * 66_000},
    ],
)
def test_tokenizers_of_published_models_pass(values: dict[str, Any]):
    assert tokenizer_problem(values) == ""


@needs_models
def test_a_loaded_tokenizer_is_checked_and_a_panic_is_a_sentence(tmp_path: Path):
    """By a file that only the library reads, and by a pattern that is found out only on some text."""
    from core.models.encoding import Encoder
    from core.models.tokenizers import read_tokenizer

    folder = changed(tmp_path / "hidden", "tokenizer.json", {})
    grown = json.loads((folder / "tokenizer.json").read_text())
    grown["normalizer"] = sequence("normalizers", [replacement("x", "xx")] * 40)
    source = model_sources.resolve(str(folder))
    (folder / "tokenizer.json").write_text(json.dumps(grown))  # after the check of the folder
    with pytest.raises(InputError, match=r"makes a text up to 1.1e\+12 times longer in its normalizer"):
        read_tokenizer(source)
    slow = changed(tmp_path / "slow", "tokenizer.json", {"pre_tokenizer": split("(aa*)+$"), "normalizer": None})
    encoder = Encoder(read_tokenizer(model_sources.resolve(str(slow))), context=0, vocabulary=None)
    with pytest.raises(InputError, match="can't write this text as tokens, because its library stopped"):
        encoder.ids(["a" * 60 + "b"])
