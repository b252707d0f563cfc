"""One run's questions are shared out over two devices, and every bit of its scores is that of one device."""

import shutil
from dataclasses import replace

from core.checks.outcome import CheckOutcome, Figure, NotHereError, Place
from core.models.devices.slots import CPU, slots
from core.records import OptionLogits
from core.runs import store
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from core.settings import settings

MODEL = "pocket-3m"
SAMPLES = 2000
"""Enough for both devices, and few enough for a minute."""
FORMS = ("letters", "cloze")


def shared(place: Place, *, model: str = MODEL, samples: int = SAMPLES, devices: str = "") -> CheckOutcome:
    """A run by letter and one by text, each on one device and on two; ``devices`` is a list such as ``cuda:0,cuda:1``,
    by default the first two GPUs."""
    gpus = [slot.name.replace("gpu", "cuda:") for slot in slots() if slot.name != CPU]
    if not devices and len(gpus) < 2:
        raise NotHereError("There are not two GPUs here.")
    devices = devices or ",".join(gpus[:2])
    figures: dict[str, Figure] = {}
    for form in FORMS:
        spec = RunSpec(model, "qa", samples=samples, form=form, shots=2, device=devices.partition(",")[0])
        alone, seconds, _ = _scored(spec)
        together, shared_s, by_device = _scored(replace(spec, device=devices))
        figures |= {f"{form}: scoring on one device, s": seconds, f"{form}: scoring on two, s": shared_s}
        figures |= {f"{form}: questions on {name}": count for name, count in by_device.items()}
        if wrong := judged(alone, together, by_device, log=store.read_log(spec.run_id)):
            return CheckOutcome(False, wrong, figures)
    return CheckOutcome(
        True, f"{devices.replace(',', ' and ')} scored each run together, and all bits are those of one.", figures
    )


def judged(alone: OptionLogits, together: OptionLogits, by_device: dict[str, int], *, log: list[str]) -> str:
    """What is wrong with the scores of two devices, or with the sharing; empty if nothing is."""
    if len(by_device) < 2:
        left = next((line.partition("Z ")[2] for line in log if " left: " in line), "nobody said why")
        return f"One device scored all questions: {left}."
    same = alone.ids == together.ids and alone.logits.tobytes() == together.logits.tobytes()
    return "" if same else "The scores of two devices are not those of one."


def _scored(spec: RunSpec) -> tuple[OptionLogits, float, dict[str, int]]:
    """The scores of the run, executed again, the seconds of scoring and the questions by device."""
    shutil.rmtree(settings().runs / spec.run_id, ignore_errors=True)
    provenance = store.read_record(execute(spec)).provenance
    return store.read_logits(spec.run_id), provenance["scoring_seconds"], provenance.get("devices", {})
