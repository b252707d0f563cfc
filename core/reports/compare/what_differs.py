"""What else differs between compared runs, so that a reader does not mistake it for the compared setting."""

from collections.abc import Sequence

from core.reports.titles import setting_title, weights_apart
from core.runs.spec import RunSpec

SETTINGS = {
    "strategy": "instruction",
    "shots": "shots",
    "form": "form",
    "prompt_format": "prompt format",
    "system": "system prompt",
    "dtype": "precision",
    "samples": "most questions",
    "seed": "seed of draw and split",
    "calibration_share": "share that calibrates",
}
"""A field of a run's spec → its name in the sentence."""
ABOUT = 1.05
"""Numbers of calibration questions whose ratio is at most this are about the same."""
LONGEST = 40
"""Characters of a system prompt that are shown."""


def what_differs(
    specs: Sequence[RunSpec],
    *,
    calibrate: Sequence[int] = (),
    normalisations: Sequence[str] = (),
    served: Sequence[str] = (),
) -> str:
    """A sentence on the settings in which runs differ besides what is compared: their models, or the one setting in
    which runs of one model differ. It is empty if there is nothing else. Weights are always named, because a run's id
    does not say them.

    ``calibrate`` has the numbers of the runs' calibration questions, ``normalisations`` how they score texts, and
    ``served`` what :func:`~core.runs.model_files.served_weights` says about them.

    >>> a, b = RunSpec(model="a", task="qa"), RunSpec(model="b", task="qa", shots=5)
    >>> what_differs([a, b], calibrate=[100, 60])
    'Besides their models, these runs differ in shots (0, 5) and calibration questions (100, 60).'
    """
    values: dict[str, list[str]] = {
        title: [_words(field, getattr(spec, field)) for spec in specs] for field, title in SETTINGS.items()
    }
    apart = list(weights_apart({str(i): spec for i, spec in enumerate(specs)}).values())
    apart = [words or of for words, of in zip(apart, served or [""] * len(apart), strict=True)]
    values["weights"] = [words.removeprefix("weights ").removeprefix("revision ") for words in apart]
    values["normalisation of texts"] = list(normalisations)
    if max(calibrate, default=1) > ABOUT * min(calibrate, default=1):
        values["calibration questions"] = [f"{n:,}" for n in calibrate]
    different = {title: list(dict.fromkeys(filter(None, each))) for title, each in values.items() if len(set(each)) > 1}
    models = len({spec.asked_model for spec in specs}) > 1
    if not different or (not models and len(different) == 1 and "weights" not in different):
        return ""
    *others, last = [f"{title} ({', '.join(each)})" for title, each in different.items()]
    settings = f"{', '.join(others)} and {last}" if others else last
    return f"{'Besides their models, these' if models else 'These'} runs differ in {settings}."


def _words(field: str, value: object) -> str:
    if field == "shots":
        return str(value)
    if field == "system":
        text = str(value)
        return f"“{text[:LONGEST]}{'…' * (len(text) > LONGEST)}”" if text else "none"
    return "all" if value is None else setting_title(field, value)
