"""What a server says about itself outside the protocol: its version, and how the weights are stored."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from core.errors import ServerError
from core.models.server.bodies import Body
from core.models.server.client import ServerClient
from core.models.server.reply_body import clean, count, entries_of, mapping, number

TOLD = 60
"""The most characters of a version."""
QUANTISED = re.compile(
    r"(?<![a-z0-9])(I?Q\d_[a-z0-9_]+|AWQ|GPTQ|(?:NV|MX)?FP[48]|INT[48]|W\d+A\d+|BF16|F16|F32)(?![a-z0-9])",
    re.IGNORECASE,
)
"""The form in which names of models and files state the quantisation."""


def version_and_quantisation(client: ServerClient, url: str, model: str, entry: Mapping[str, Any]) -> tuple[str, str]:
    """The server's version and how the weights are stored; empty if it does not say. Each kind of server says it
    outside the protocol:

    - vLLM: ``/version``; Ollama: ``/api/version`` and ``/api/show``; llama.cpp: ``/props``; SGLang: ``/server_info``;
      LM Studio: ``/api/v0/models``.
    - llama.cpp also gives the size and the number of the weights with the model's name.

    Else the quantisation is what the model's name, or its file's, says, such as ``Q4_K_M`` or ``AWQ``.
    """
    parts = urlsplit(url)
    base = f"{parts.scheme}://{parts.netloc}"

    def ask(path: str, body: Body | None = None) -> Mapping[str, Any]:
        try:
            return client.get(path, url=base) if body is None else client.post(path, body, dict, url=base, paid=False)
        except ServerError:  # whatever this is, the server does not say its version
            return {}

    def first(*values: Any) -> str:
        texts = (str(value) if isinstance(value, float) or count(value) else value for value in values)
        return next(filter(None, (clean(text, TOLD) for text in texts)), "")

    quantisation = ""
    version = first(ask("/version").get("version"))
    props = {} if version else ask("/props")
    version = version or first(props.get("build_info"))
    if not version and (version := first(ask("/api/version").get("version"))):
        quantisation = first(mapping(ask("/api/show", {"model": model}).get("details")).get("quantization_level"))
    if not version:
        info = ask("/server_info")
        version, quantisation = first(info.get("version")), first(info.get("quantization"))
    if not version:
        entries = entries_of(ask("/api/v0/models").get("data"))
        quantisation = first(
            *(listed.get("quantization") for listed in map(mapping, entries) if listed.get("id") == model)
        )
    meta = mapping(entry.get("meta"))
    size, weights = number(meta.get("size")), number(meta.get("n_params"))
    bits = f"{8 * size / weights:.1f} bits a weight" if size > 0 and weights > 0 else ""
    named = QUANTISED.search(
        " ".join(clean(name, 1000) for name in (props.get("model_path"), entry.get("root"), model))
    )
    return version, quantisation or ", ".join(filter(None, (named[0] if named else "", bits)))
