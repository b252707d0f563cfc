"""What a link to the Perplexity page holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from app.state.fields import Names, Ordinal, Text, one_of
from app.state.shared import SharedView
from core.perplexity.layout import MODES
from core.runs.spec import DTYPES

WINDOWS = ("0", "1", "2", "4", "8", "all")
"""How many exchanges before a message the model may see."""


@dataclass(frozen=True, slots=True)
class PerplexityView(SharedView):
    """Models, two system prompts, conversations, and how their words are scored."""

    LEADS = ("alpha",)

    models: Names = ""
    """The models ("": one that ships)."""
    a: Text = ""
    """The hash of prompt A ("": one that ships)."""
    b: Text = ""
    """The hash of prompt B ("": one that ships)."""
    talks: Names = ""
    """The hashes of the conversations ("": those that ship)."""
    talk: Text = ""
    """The hash of the conversation whose message is shown ("": the first)."""
    message: Ordinal = 1
    """The place of its message among those that were scored, from 1."""
    mode: Annotated[str, one_of(MODES)] = "standard"
    """Whether words are scored in the standard way or as published."""
    window: Annotated[str, one_of(WINDOWS)] = "2"
    """The exchanges before a message that the model sees."""
    dtype: Annotated[str, one_of(DTYPES)] = "float32"
    """The precision that the model computes with."""
