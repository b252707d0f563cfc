"""The Llama that a recipe describes."""

from __future__ import annotations

from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from pocket_world.recipes import Recipe
from pocket_world.tokens import CONTEXT


def new_config(recipe: Recipe, tokenizer: PreTrainedTokenizerFast) -> LlamaConfig:
    """A Llama of the recipe's size, input and output embeddings tied."""
    return LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=recipe.hidden,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        num_key_value_heads=recipe.heads,
        intermediate_size=recipe.intermediate,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        dtype="float32",
    )


def set_epsilon(model: LlamaForCausalLM, epsilon: float) -> None:
    """Give every norm of a model this epsilon: growing scales it."""
    model.config.rms_norm_eps = epsilon
    for module in model.modules():
        if hasattr(module, "variance_epsilon"):
            module.variance_epsilon = epsilon
