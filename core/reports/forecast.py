"""Forecasts of runs before they are launched: questions, tokens, memory, disk space and time.

Questions and characters are counted on the prompts themselves, tokens by the model's tokenizer on a sample of them.
Time is measured, never guessed: an earlier run of the same model, dtype and form gives

    seconds = seconds until its first question + characters · (its seconds of scoring / its characters)

and where there is no such run, no time is given.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.errors import HedgeError
from core.inference.counting import is_here
from core.inference.memory_estimate import parameters
from core.inference.server.spending import estimate
from core.records import Prompt
from core.runs import store
from core.runs.devices.slots import Slot
from core.runs.execution.execute import memory_gib
from core.runs.prompts import draw_questions, prompts
from core.runs.spec import RunSpec
from core.runs.storage import trash
from core.runs.store import RunRecord
from core.tasks import catalogue
from core.tasks.split import Draw

USUAL = 4.0
"""Characters per token if the tokenizer is not on this machine: the usual value for English text."""
SAMPLE = 32
USUAL_DISK = 700
"""Bytes per question if no run of its task has ended yet: text, options and logits of the bundled tasks."""
HUB_BYTES = 2.0
"""Bytes per parameter of a file on the hub. Nearly all files store 16 bits per parameter."""


@dataclass(frozen=True, slots=True)
class Work:
    """A run's prompts: how many, their characters in total, and a sample of them.

    ``sent`` are the tokens that a server would read and write for them, estimated as a budget counts them: an option
    whose text is scored is sent with the whole prompt.
    """

    questions: int
    characters: int
    sample: tuple[str, ...]
    sent: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Rate:
    """What an earlier run measured; ``begins_s`` is what it took before the first question, ``here`` whether it ran
    on this machine."""

    run_id: str
    begins_s: float
    characters_s: float
    questions_s: float
    here: bool


@dataclass(frozen=True, slots=True)
class Forecast:
    """What one run will take. ``tokens`` are ``counted`` by its model's tokenizer or taken from the usual length.

    ``memory_gib`` is 0 if the model's size is not known; ``too_large`` says why no device holds it, empty if one does.
    ``disk`` in bytes, ``download`` in bytes that the model still takes from the hub, 0 if its size is not known. What
    can't be told is None.
    """

    spec: RunSpec
    work: Work | None
    tokens: int | None
    counted: bool
    memory_gib: float
    too_large: str
    disk: int | None
    download: int
    rate: Rate | None

    @property
    def seconds(self) -> float | None:
        """The duration by the measured rate."""
        if self.rate is None or self.work is None:
            return None
        return self.rate.begins_s + self.work.characters / self.rate.characters_s

    @property
    def cost(self) -> float | None:
        """What a model on a server costs by its prices (None: it has no price, or its questions are not here yet)."""
        price = self.spec.price
        return price.of(*self.work.sent) if self.work and (price.read or price.written) else None


Worked = Callable[[RunSpec], Work | None]


def work_of(spec: RunSpec) -> Work | None:
    """What the run asks; None if its questions are still to be downloaded.

    Raises :class:`~core.errors.InputError` if it can't be asked.
    """
    if not catalogue.at_hand(spec.task):
        return None
    drawn = draw_questions(spec)
    asked = prompts(spec, drawn)
    texts = [prompt.text + "".join(prompt.continuations) for prompt in asked]
    sample = tuple(texts[:: max(1, len(texts) // SAMPLE)][:SAMPLE])
    return Work(len(texts), sum(map(len, texts)), sample, _sent(spec, asked, drawn))


def _sent(spec: RunSpec, asked: Sequence[Prompt], drawn: Draw) -> tuple[int, int]:
    """Tokens that a server reads and writes: one is written after each text, and the written answers are."""
    read = [estimate({"prompt": prompt.text + said})[0] for prompt in asked for said in prompt.continuations or ("",)]
    tests = drawn.roles.count("test") * spec.repeats
    if not tests:
        return sum(read), len(read)
    from core.inference.server.engine import WRITTEN  # with its HTTP client, which nothing else here needs

    return sum(read) + round(tests * sum(read) / max(1, len(read))), len(read) + tests * WRITTEN


def forecast(
    spec: RunSpec,
    *,
    earlier: Sequence[RunRecord],
    devices: Sequence[Slot],
    worked: Worked = work_of,
    text_of_token: Callable[[str, Work], float | None] = lambda model, work: None,
) -> Forecast:
    """What the run will take on one of these devices, by what ``earlier`` runs measured.

    ``worked`` and ``text_of_token`` (characters per token) are asked for what takes a while, so that whoever asks
    often can keep it. Raises :class:`~core.errors.InputError` if the run can't be asked.
    """
    work = worked(spec)
    held = text_of_token(spec.model, work) if work and not spec.servers else None
    needed = memory_gib(spec)
    return Forecast(
        spec=spec,
        work=work,
        tokens=_tokens(spec, work, held),
        counted=held is not None,
        memory_gib=needed,
        too_large=_too_large(needed, devices),
        disk=_disk(spec, work, earlier, worked),
        download=0 if spec.servers or is_here(spec.model) else round(parameters(spec.model) * HUB_BYTES),
        rate=rate(spec, earlier, worked=worked),
    )


def _tokens(spec: RunSpec, work: Work | None, held: float | None) -> int | None:
    if work is None:
        return None
    return sum(work.sent) if spec.servers else round(work.characters / (held or USUAL))


def rate(spec: RunSpec, earlier: Sequence[RunRecord], *, worked: Worked = work_of) -> Rate | None:
    """What a run of this model, dtype and form measured: here rather than elsewhere, this task's rather than
    another's, the first in ``earlier`` rather than a later one; None if there is none."""
    alike = [record for record in earlier if _kind(record.spec) == _kind(spec) and _measured(record)]
    alike.sort(key=lambda record: (not _here(record), record.spec.task != spec.task))
    for record in alike:
        try:
            work = worked(record.spec)
        except HedgeError:  # its questions were deleted or have changed
            continue
        if work:
            scoring = record.provenance["scoring_seconds"]
            whole = (record.ended or 0) - (record.started or 0)
            return Rate(
                record.run_id,
                max(0.0, whole - scoring),
                work.characters / scoring,
                work.questions / scoring,
                _here(record),
            )
    return None


def whole_time(found: Sequence[Forecast], *, lanes: int) -> float | None:
    """Seconds until the last of these runs has ended where ``lanes`` of them run at a time.

    They are taken in their order, each by whoever is free first. None if one has no measured rate.
    """
    free = [0.0] * max(1, lanes)
    for one in found:
        if one.seconds is None:
            return None
        first = free.index(min(free))
        free[first] += one.seconds
    return max(free)


def _kind(spec: RunSpec) -> tuple[object, ...]:
    return spec.model, spec.dtype, spec.form, spec.servers


def _measured(record: RunRecord) -> bool:
    """Whether the seconds of scoring are those of all its questions; a run that was continued counts only its last
    part."""
    if record.state != "done" or not record.provenance.get("scoring_seconds") or not record.started:
        return False
    return not any("goes on after" in line for line in store.read_log(record.run_id))


def _here(record: RunRecord) -> bool:
    return bool(record.provenance.get("host") == platform.node()) and not store.is_bundled(record.run_id)


def _disk(spec: RunSpec, work: Work | None, earlier: Sequence[RunRecord], worked: Worked) -> int | None:
    """By the bytes a question of an earlier run of the same task, or the usual ones."""
    for record in earlier:
        if work and record.state == "done" and record.spec.task == spec.task:
            try:
                before = worked(record.spec)
            except HedgeError:
                continue
            if before:
                return round(trash.disk_use(store.folder_of(record.run_id)) / before.questions * work.questions)
    return work.questions * USUAL_DISK if work else None


def _too_large(needed_gib: float, devices: Sequence[Slot]) -> str:
    largest = max(devices, key=lambda slot: slot.memory_gib, default=None)
    if largest is None or needed_gib <= largest.memory_gib:
        return ""
    return (
        f"{needed_gib:.1f} GiB are needed, and the largest device, {largest.label or largest.name}, has "
        f"{largest.memory_gib:.1f}"
    )
