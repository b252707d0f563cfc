"""The measured messages of the form's models and prompts, by prompt and conversation."""

from app.components.perplexity.perplexity_form import PerplexityForm
from app.components.perplexity.perplexity_library import Library, ScoringSetup
from core.models.perplexity.figures import ScoredMessage
from core.models.perplexity.prompts import EMPTY

DIFFERENCE_HELP = (
    "The mean over messages of A's loss minus B's, in nats per token, with a 95% t interval over "
    "conversations, because messages of one conversation are alike (cluster-robust, Bell & McCaffrey "
    "2002). The interval of a single conversation is over its messages and says nothing about other "
    "conversations. With few conversations of different lengths, the interval is wider than necessary. "
    "Below 0, the counselor's words are more likely under A."
)
P_HELP = (
    "The p-value of a sign-flip test over conversations, or over messages for one conversation: how "
    "often a difference this large would occur if the prompts had no effect."
)
UNIFORM_HELP = "The value of a model that finds all of its tokens equally likely."
MeasuredMessages = dict[str, dict[str, tuple[ScoredMessage, ...]]]


def names(chosen: PerplexityForm) -> dict[str, str]:
    """Maps "A", "B" and "none" to the prompt's name in figures."""
    called = {"A": f"A: {chosen.a.name}", "B": f"B: {chosen.b.name}"}
    return called if EMPTY.digest in (chosen.a.digest, chosen.b.digest) else {**called, "none": EMPTY.name}


def measured_messages(chosen: PerplexityForm, library: Library, setup: ScoringSetup) -> MeasuredMessages:
    """Messages by prompt name and conversation name, for conversations measured under both A and B. May be empty."""
    digests = {"A": chosen.a.digest, "B": chosen.b.digest, "none": EMPTY.digest}
    shared = [s for s in chosen.talks if not library.missing(setup, [digests["A"], digests["B"]], [s])]
    if not shared:
        return {}
    by_name = {name: library.by_conversation(setup, digests[place], shared) for place, name in names(chosen).items()}
    # A baseline that was measured on fewer conversations would be computed from other words.
    return {name: messages for name, messages in by_name.items() if len(messages) == len(shared)}
