"""The state in a link to the Perplexity page."""

from dataclasses import dataclass
from typing import Annotated

from app.state.fields import Names, Ordinal, Text, one_of
from app.state.shared import SharedView
from core.models.model_sources import DTYPES
from core.models.perplexity.layout import MODES

WINDOWS = ("0", "1", "2", "4", "8", "all")
"""How many exchanges before a message the model may see."""


@dataclass(frozen=True, slots=True)
class PerplexityView(SharedView):
    """Models, two system prompts, conversations, and how their words are scored."""

    LEADS = ("alpha",)

    models: Names = ""
    """The models ("": one of the shipped ones)."""
    a: Text = ""
    """The hash of prompt A ("": one of the shipped ones)."""
    b: Text = ""
    """The hash of prompt B ("": one of the shipped ones)."""
    talks: Names = ""
    """The hashes of the conversations ("": the shipped ones)."""
    talk: Text = ""
    """The hash of the conversation whose message is shown ("": the first one)."""
    message: Ordinal = 1
    """The position of that message among the scored ones, from 1."""
    mode: Annotated[str, one_of(MODES)] = "standard"
    """Whether words are scored in the standard way or as published."""
    window: Annotated[str, one_of(WINDOWS)] = "2"
    """The exchanges before a message that the model sees."""
    dtype: Annotated[str, one_of(DTYPES)] = "float32"
    """The precision with which the model computes."""
