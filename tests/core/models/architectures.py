"""Tiny random models of many architectures: small enough to build in milliseconds, wild enough to show a mistake."""

from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

VOCABULARY = 96
WINDOW = 24

_LLAMA = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "initializer_range": 0.3,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_HEADS = {"head_dim": 8}
_WINDOWS = {"sliding_window": WINDOW}
_MAMBA = {"state_size": 8, "conv_kernel": 4, "expand": 2, "time_step_rank": 4}
_ONE_OF_EACH = {"layer_types": ["sliding_attention", "full_attention"]}

SETTINGS: dict[str, dict] = {
    "gpt2": {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 512},
    "gpt_neox": _LLAMA,
    "llama": _LLAMA,
    "qwen2": _LLAMA,
    "qwen3": _LLAMA | _HEADS,
    "mistral": _LLAMA | _WINDOWS,
    "gemma2": _LLAMA | _HEADS | _WINDOWS | _ONE_OF_EACH | {"query_pre_attn_scalar": 8, "final_logit_softcapping": 2.0},
    "gemma3_text": _LLAMA | _HEADS | _WINDOWS | _ONE_OF_EACH | {"query_pre_attn_scalar": 8},
    "phi": _LLAMA,
    "phi3": _LLAMA,
    "falcon": _LLAMA | {"alibi": False, "new_decoder_architecture": True, "num_kv_heads": 2},
    "mpt": {"vocab_size": VOCABULARY, "d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 512},
    "stablelm": _LLAMA,
    "olmo2": _LLAMA,
    "smollm3": _LLAMA | {"no_rope_layers": [1, 0]},
    "granite": _LLAMA | {"logits_scaling": 4.0, "embedding_multiplier": 3.0},
    "bloom": {"vocab_size": VOCABULARY, "hidden_size": 32, "n_layer": 2, "n_head": 4},
    "opt": _LLAMA | {"ffn_dim": 48, "word_embed_proj_dim": 32},
    "mamba": _LLAMA | _MAMBA,
    "falcon_mamba": _LLAMA | _MAMBA,
    "jamba": _LLAMA
    | {
        "use_mamba_kernels": False,
        "attn_layer_period": 2,
        "attn_layer_offset": 1,
        "expert_layer_period": 2,
        "expert_layer_offset": 1,
        "num_experts": 2,
        "num_experts_per_tok": 1,
        "mamba_d_state": 8,
        "mamba_dt_rank": 4,
    },
    "falcon_h1": _LLAMA
    | _HEADS
    | {"mamba_d_ssm": 32, "mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 8, "mamba_chunk_size": 8},
    "lfm2": _LLAMA | {"layer_types": ["conv", "full_attention"], "conv_L_cache": 3},
    # Beyond the list: other ways to go wrong.
    "falcon_alibi": _LLAMA | {"alibi": True, "new_decoder_architecture": False, "multi_query": True},
    "phi3_window": _LLAMA | _WINDOWS,
    "qwen2_window": _LLAMA | _WINDOWS | {"use_sliding_window": True, "max_window_layers": 1},
    "cohere2": _LLAMA | _WINDOWS | _ONE_OF_EACH,
    "gpt_oss": _LLAMA | _HEADS | _WINDOWS | _ONE_OF_EACH | {"num_local_experts": 2, "num_experts_per_tok": 1},
    "rwkv": {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "attention_hidden_size": 32},
    "mamba2": _LLAMA | {"state_size": 8, "num_heads": 8, "head_dim": 8, "n_groups": 1, "chunk_size": 8},
}
"""Name → what makes it tiny. A name is a model type, or one of those in :data:`TYPES`."""

TYPES = {"falcon_alibi": "falcon", "phi3_window": "phi3", "qwen2_window": "qwen2"}


def tiny(name: str) -> PreTrainedModel:
    """A model of this name."""
    return build(TYPES.get(name, name), SETTINGS[name])


def build(model_type: str, settings: dict[str, Any], *, auto: Any = AutoModelForCausalLM) -> PreTrainedModel:
    """A model in evaluation mode, its weights drawn wide so that no two positions look alike."""
    config = AutoConfig.for_model(model_type, **settings)
    with torch.random.fork_rng():
        torch.manual_seed(7)
        model = auto.from_config(config).eval()
        with torch.no_grad():
            for name, weight in model.named_parameters():
                if weight.ndim == 2 and "A_log" not in name:
                    weight.normal_(0, 0.3)
                elif weight.ndim == 1 and name.endswith("bias"):
                    weight.normal_(0, 0.1)
    return model
