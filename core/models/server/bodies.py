"""The bodies of all requests for tokens. Each states how tokens are chosen, because servers fill gaps: vLLM and SGLang
from the model's ``generation_config.json``, llama.cpp from its command line, Ollama from the model's file. Penalties
also change the log-probabilities that some servers list.

Every field has its neutral value, which changes no probability. Servers write "off" in different ways, and strict ones
refuse fields that they do not know (:mod:`core.models.server.advice`):

- ``top_k``: vLLM, SGLang and llama.cpp accept −1. OpenRouter and llama-cpp-python refuse it and want 0.
- ``repetition_penalty`` (vLLM, SGLang, Together, OpenRouter) is ``repeat_penalty`` for llama.cpp and LM Studio.
- OpenAI refuses everything outside its protocol, and its reasoning models also refuse fields inside it. Ollama ignores
  what it does not know.
- Text Generation Inference refuses ``top_p`` 1, and reads ``presence_penalty`` 0 as a repetition penalty of 2.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Body = Mapping[str, Any]

PROTOCOL: Mapping[str, Any] = {"top_p": 1, "presence_penalty": 0, "frequency_penalty": 0}
"""Neutral values of the fields that OpenAI's protocol has."""
BESIDE: Mapping[str, Any] = {"top_k": -1, "min_p": 0, "typical_p": 1, "repetition_penalty": 1, "repeat_penalty": 1}
"""Neutral values of fields that servers have beside the protocol."""
NEUTRAL: Mapping[str, Any] = {**PROTOCOL, **BESIDE}
OTHERWISE: Mapping[str, Any] = {"top_k": 0}
"""A second neutral value, for servers that refuse the first."""


def letter_body(model: str, text: str, *, listed: int, temperature: int = 0) -> Body:
    """A request for the most probable tokens after ``text``."""
    return {"model": model, "prompt": text, "max_tokens": 1, "temperature": temperature, "logprobs": listed, **NEUTRAL}


def chat_body(model: str, messages: list[dict[str, str]], *, listed: int, temperature: int = 0) -> Body:
    """A request for the most probable first tokens of what the assistant says."""
    options = {"logprobs": True, "top_logprobs": listed}
    return {"model": model, "messages": messages, "max_tokens": 1, "temperature": temperature, **options, **NEUTRAL}


def id_body(model: str, text: str, ids: Sequence[int]) -> Body:
    """A request for the log-probabilities after ``text`` of the tokens with these ids, and of the most probable one."""
    return {**letter_body(model, text, listed=1), "logprob_token_ids": list(ids)}


def echo_body(model: str, text: str, *, listed: int = 1) -> Body:
    """A request for the log-probabilities of a text. One more token is written, because some servers read 0 as "no
    limit"."""
    return {**letter_body(model, text, listed=listed), "echo": True}


def greedy_body(model: str, prompt: Mapping[str, Any], *, most: int) -> Body:
    """A request for the most probable text of at most ``most`` tokens; ``asked`` is the prompt or the messages. It has
    no ``stop``: at a line break, an answer that begins with one would be empty."""
    return {"model": model, **prompt, "max_tokens": most, "temperature": 0, **NEUTRAL}


def sampled_body(model: str, prompt: Mapping[str, Any], *, most: int, seed: int) -> Body:
    """As :func:`greedy_body`, sampled at temperature 1 from the whole distribution."""
    return {"model": model, **prompt, "max_tokens": most, "temperature": 1, "seed": seed, **NEUTRAL}
