"""The perplexities of a model under two prompts for a paper."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.components.perplexity.measured_messages import MeasuredMessages, names
from app.components.perplexity.perplexity_form import MODE_WORDS, PerplexityForm
from app.components.perplexity.perplexity_library import Library
from app.components.shared.paper import Paper, for_paper
from charts.perplexity_dumbbell import MEASURES
from core.models.model_fingerprint import short
from core.reports import perplexity as reports
from core.reports.titles import PRECISION_TITLES
from core.runs.spec import SERVED

if TYPE_CHECKING:
    from charts.figure_files import FigureFile
    from charts.figure_style import FigureStyle

ALONG = "loss-along"


def perplexity_paper(
    measured: MeasuredMessages, chosen: PerplexityForm, model: str, vocabulary: int | None, library: Library
) -> None:
    """Show the dialog of the model's perplexities."""

    def make() -> Paper:
        from charts import paper_figures
        from core.reports.paper.measurements import of_perplexity

        digests = [prompt.digest for prompt in chosen.prompts]
        picked = chosen.setup(model), digests, chosen.talks
        notes = [
            *(f"{note[:1].upper()}{note[1:]}." for note in library.notes(*picked, served=chosen.served_weights(model))),
            reports.uniform_sentence(vocabulary, served=chosen.setup(model).dtype == SERVED),
        ]
        results = of_perplexity(
            measured, model, _how(chosen, model), vocabulary=vocabulary, runs=library.runs(*picked), notes=notes
        )
        here = {place: name for place, name in names(chosen).items() if name in measured}

        def draw(name: str, style: "FigureStyle") -> "Sequence[FigureFile]":
            if name == ALONG:
                places = dict(zip(("A", "B", "none"), measured, strict=False))
                frame = reports.along_conversation(measured)
                return (paper_figures.losses(frame, places, vocabulary, results, style),)
            return (paper_figures.perplexities(results.rows, name, here, results, style),)

        titles = {name: title for name, (title, _) in MEASURES.items()}
        return Paper(results, {**titles, ALONG: "Loss along the conversation"}, draw)

    for_paper("perplexity", make)


def _how(chosen: PerplexityForm, model: str) -> dict[str, str]:
    """How the words were scored, and digests of what was scored."""
    setup = chosen.setup(model)
    prompts = {f"A ({chosen.a.name})": chosen.a.digest, f"B ({chosen.b.name})": chosen.b.digest}
    return {
        "Mode": MODE_WORDS[setup.mode].lower(),
        "Earlier exchanges": "all" if setup.exchanges is None else str(setup.exchanges),
        "Precision": PRECISION_TITLES[setup.dtype],
        "Digests of the prompts": ", ".join(f"{name} {digest[:12]}" for name, digest in prompts.items()),
        "Weights": short(setup.weights) or "not recorded",
        "Prompt A": chosen.a.text,
        "Prompt B": chosen.b.text,
        "Digests of the conversations": ", ".join(digest[:12] for digest in chosen.talks),
    }
