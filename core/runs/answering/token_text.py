"""A text that a person typed, to be read token by token, and the token view of a model, which is kept on disk. Views
are in ``HEDGE_HOME/answers/tokens/<id>.json``, the latest 30.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.models.model_sources import check_named
from core.models.replaced_weights import is_here, weights_of
from core.models.server_address import ServedWeights, served_model
from core.runs.answering.custom_question import keep_latest
from core.settings import settings
from core.storage.sealed import read_json, write_json

KEPT = 30
"""A view takes 5 kB for a short text and 2 MB for the longest."""
BY_TOKEN = "by token"
"""Used instead of a dtype: the model is loaded to read texts token by token, with its adapter if it has one."""


@dataclass(frozen=True, slots=True)
class TokenText:
    """A text for ``model``, which is a name, a folder, an adapter's folder, or ``NAME@URL`` for a model on a server.

    ``version`` is the model's fingerprint (:mod:`core.models.model_fingerprint`), so that a model that was trained
    again is asked again. ``weights`` does the same for a model on a server: it identifies the weights at the time of
    the last connection.
    ``key_variable`` is the environment variable of the server's key and ``asker`` the person who asks; neither belongs
    to the text's identity. Raises
    :class:`InputError` if no model is named or the text has a broken character.
    """

    model: str
    text: str
    version: str = ""
    key_variable: str = ""
    weights: ServedWeights | None = None
    asker: str = ""

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise InputError("choose a model to read the text")
        try:
            self.text.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"the text has a broken character at position {error.start + 1}; type it again") from error

    @property
    def answer_id(self) -> str:
        """Sixteen hexadecimal digits, a hash of what is asked; the same text again has the same."""
        content = asdict(self)
        del content["key_variable"], content["asker"]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def token_text(model: str, text: str, *, key_variable: str = "", weights: ServedWeights | None = None) -> TokenText:
    """A text for a model as its files are now, or with the weights that its server holds."""
    if not served_model(model):
        check_named(model)
    version = weights_of(model) if is_here(model) else ""  # the hub is asked by the process that loads the model
    return TokenText(model, text, version, key_variable, weights)


def write_view(text: TokenText, view: dict[str, Any]) -> None:
    """Keep a token view (:func:`core.models.adapters.token_view.view_tokens`), and delete the oldest beyond the latest
    30.
    """
    folder = view_file(text).parent
    folder.mkdir(parents=True, exist_ok=True)
    write_json(view_file(text), {"answer_id": text.answer_id, **view}, lasting=False)
    keep_latest(folder, KEPT)


def read_view(text: TokenText) -> dict[str, Any] | None:
    """The token view of a text, or None if there is none that can be read."""
    try:
        values = read_json(view_file(text))
    except (OSError, ValueError):
        return None
    return values if values.pop("answer_id", text.answer_id) == text.answer_id else None


def view_file(text: TokenText) -> Path:
    """Where the view of a text is kept."""
    return settings().home / "answers" / "tokens" / f"{text.answer_id}.json"
