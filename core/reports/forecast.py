"""Forecasts of runs before they are launched: questions, tokens, memory, disk space and time.

Questions and characters are counted on the prompts themselves, tokens by the model's tokenizer on a sample of them.
Time is measured, never guessed: an earlier run of the same model, dtype and form gives

    seconds = seconds until its first question + characters · (its seconds of scoring / its characters)

and without such a run no time is given.
"""

import json
import math
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.errors import HedgeError
from core.models import counting
from core.models.devices.fitting import devices_needed, too_large, way_out
from core.models.devices.slots import Slot
from core.models.memory_estimate import parameters
from core.models.server.spending import estimate
from core.questions import catalogue
from core.questions.rotation import answers_only
from core.questions.split import Draw
from core.records import DONT_KNOW, NONE_OF_ABOVE, Prompt
from core.reports.caveats import few_questions
from core.runs import store
from core.runs.caveats import Caveat, Caveats
from core.runs.execution.execute import memory_gib
from core.runs.prompts import draw_questions, load_data, prompts
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from core.storage import disk

USUAL = 4.0
"""Characters per token if the tokenizer is not on this machine: the usual value for English text."""
SAMPLE = 32
LENGTHS = 200
USUAL_DISK = 700
"""Bytes per question if no run of its task has ended yet: text, options and logits of the bundled tasks."""
FEWEST_MEASURED = 10
"""Questions from which a rate is taken."""
HUB_BYTES = 2.0
"""Bytes per parameter of a file on the hub. Nearly all files store 16 bits per parameter."""


@dataclass(frozen=True, slots=True)
class Work:
    """A run's prompts: how many, their characters in total, and a sample of them.

    ``sent`` is the number of tokens that a server would read and write for them, estimated as for a budget: an option
    whose text is scored is sent with the whole prompt. ``lengths`` are the characters of up to :data:`LENGTHS` prompts
    from the longest to the shortest, each with its longest continuation, and ``sides`` counts the calibration and test
    questions. ``options`` is the largest number of options that the form offers, and ``other_options`` that of the
    forms that do or do not ask for texts.
    """

    questions: int
    characters: int
    sample: tuple[str, ...]
    sent: tuple[int, int] = (0, 0)
    lengths: tuple[int, ...] = ()
    sides: tuple[int, int] | None = None
    options: int = 0
    other_options: int = 0


@dataclass(frozen=True, slots=True)
class Rate:
    """The measurements of an earlier run with ``shots``. ``begins_s`` is the time before its first question, and
    ``here`` says whether it ran on this machine."""

    run_id: str
    begins_s: float
    characters_s: float
    shots: int
    here: bool


@dataclass(frozen=True, slots=True)
class Forecast:
    """The time and space that one run will need. ``tokens`` are ``counted`` by its model's tokenizer or estimated from
    the usual length. ``memory_gib`` is 0 if the model's size is not known. ``devices`` is the number of devices that it
    needs together. ``too_large`` says why none can hold it and what could; it is empty if some can. ``disk`` is in
    bytes, and so is ``download``, what is still to be fetched from the hub (0 if its size is not known). Unknown values
    are None. ``caveats`` are those that the run will probably have."""

    spec: RunSpec
    work: Work | None
    tokens: int | None
    counted: bool
    memory_gib: float
    devices: int
    too_large: str
    disk: int | None
    download: int
    rate: Rate | None
    caveats: Caveats = ()

    @property
    def seconds(self) -> float | None:
        """The duration by the measured rate."""
        if self.rate is None or self.work is None:
            return None
        return self.rate.begins_s + self.work.characters / self.rate.characters_s

    @property
    def is_rough(self) -> bool:
        """Whether the rate is that of a run with fewer or more shots, whose prompts have another length."""
        return self.rate is not None and self.rate.shots != self.spec.shots

    @property
    def cost(self) -> float | None:
        """The cost of a model on a server by its prices. None if it has no price, or if its questions have not been
        downloaded yet."""
        price = self.spec.price
        return price.cost(*self.work.sent) if self.work and (price.read or price.written) else None


Worked = Callable[[RunSpec], Work | None]


def work_of(spec: RunSpec) -> Work | None:
    """The prompts of the run; None if its questions are still to be downloaded. Raises :class:`~core.errors.InputError`
    if the spec is not possible.
    """
    if not catalogue.at_hand(spec.task):
        return None
    data = load_data(spec)
    drawn = draw_questions(spec, data)
    requests = prompts(spec, drawn)
    texts = [prompt.text + "".join(prompt.continuations) for prompt in requests]
    sample = tuple(texts[:: max(1, len(texts) // SAMPLE)][:SAMPLE])
    lengths = [len(prompt.text) + max(map(len, prompt.continuations), default=0) for prompt in requests]
    offered = max(len(question.options) for question in data.questions)
    answers = max(len(answers_only(question).options) for question in data.questions)
    return Work(
        len(texts),
        sum(map(len, texts)),
        sample,
        tokens_sent(spec, requests, drawn),
        tuple(lengths[:: -(-len(lengths) // LENGTHS)]),
        (drawn.roles.count("calibration"), drawn.roles.count("test")),
        *((answers, offered) if spec.asks_texts else (offered, answers)),
    )


def tokens_sent(spec: RunSpec, requests: Sequence[Prompt], drawn: Draw) -> tuple[int, int]:
    """The tokens that a server reads and writes: it writes one token after each text, and all tokens of a written
    answer. Of picks, the tokens written are the most that they may have. Decisions are checked by requests beside
    those of the questions."""
    if spec.decisions:  # the text of a prompt is the request, with spaces and new lines that are not sent
        read = [estimate({"model": spec.model, **json.loads(prompt.text)})[0] for prompt in requests]
    else:
        read = [
            estimate({"prompt": prompt.text + continuation})[0]
            for prompt in requests
            for continuation in prompt.continuations or ("",)
        ]
    if spec.picks:
        from core.models.server.picks import most_tokens  # imports an HTTP client that nothing else here needs

        written = most_tokens(chat=spec.prompt_format == "chat")
        return spec.picks * sum(read), spec.picks * len(read) * written
    if spec.decisions:
        from core.models.server.decisions import beside  # imports an HTTP client that nothing else here needs

        more = beside(len(read), max(1, len(spec.servers)))
        return sum(read) + round(more * sum(read) / max(1, len(read))), len(read) + more
    tests = drawn.roles.count("test") * spec.repeats
    if not tests:
        return sum(read), len(read)
    from core.models.server.engine import WRITTEN  # imports an HTTP client that nothing else here needs

    return sum(read) + round(tests * sum(read) / max(1, len(read))), len(read) + tests * WRITTEN


def forecast(
    spec: RunSpec,
    *,
    earlier: Sequence[RunRecord],
    devices: Sequence[Slot],
    worked: Worked = work_of,
    text_of_token: Callable[[str, Work], float | None] = lambda model, work: None,
) -> Forecast:
    """The time and space that the run will need on one of these devices, from ``earlier`` runs.

    ``worked`` and ``text_of_token`` (characters per token) compute what takes a while, so that a caller can cache it.
    Raises :class:`~core.errors.InputError` if the spec is not possible.
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
        devices=max(1, devices_needed(needed, devices)) if needed else 1,
        too_large=_too_large(spec, needed, devices),
        disk=_disk(spec, work, earlier, worked),
        download=0 if spec.servers or counting.is_here(spec.model) else round(parameters(spec.model) * HUB_BYTES),
        rate=rate(spec, earlier, worked=worked),
        caveats=expected_caveats(spec, work, earlier=earlier, text_of_token=held) if work else (),
    )


def expected_caveats(
    spec: RunSpec, work: Work, *, earlier: Sequence[RunRecord], text_of_token: float | None, alpha: int = 100
) -> Caveats:
    """The caveats that the run will probably have at ``alpha`` thousandths, so that a person can change its settings
    first. ``text_of_token`` is the number of characters per token, None if it is not known."""
    return (
        *_cut(spec, work, earlier, text_of_token or USUAL),
        *(few_questions(*work.sides, alpha=alpha) if work.sides else ()),
        *_other_options(spec, work, earlier),
    )


def _cut(spec: RunSpec, work: Work, earlier: Sequence[RunRecord], text_of_token: float) -> Caveats:
    """A caveat on prompts that are longer than the model's context, which its files or an earlier run state."""
    engines = (record.provenance.get("engine") or {} for record in earlier if _loads_same(record.spec, spec))
    stated = (limit for engine in engines if isinstance(limit := engine.get("context"), int) and limit)
    context = (0 if spec.servers else counting.context(spec.model)) or next(stated, 0)
    long = sum(length > context * text_of_token for length in work.lengths)
    if not context or not long:
        return ()
    about = max(1, round(long / len(work.lengths) * work.questions))
    what = "demonstrations will be dropped" if spec.shots else "they will lose the beginning of their contexts"
    what = "the server may refuse or cut them" if spec.servers else what
    return (
        Caveat(
            "cut",
            f"About {about:,} of {work.questions:,} prompts are longer than the {context:,} tokens that "
            f"{spec.model_name} reads, so {what}.",
            f"{'Take fewer shots' if spec.shots else 'Take shorter questions'}, or a model that reads more.",
        ),
    )


def _loads_same(a: RunSpec, b: RunSpec) -> bool:
    return (a.model, a.servers) == (b.model, b.servers)


def _other_options(spec: RunSpec, work: Work, earlier: Sequence[RunRecord]) -> Caveats:
    """A caveat on a run that offers other options than every finished run of its task."""
    alike = [record.spec for record in earlier if record.state == "done" and record.spec.task == spec.task]
    alike = [other for other in alike if other.answers]
    if (
        work.options == work.other_options
        or not alike
        or any(earlier_record.asks_texts == spec.asks_texts for earlier_record in alike)
    ):
        return ()
    offers = "does not offer" if spec.asks_texts else "also offers"
    return (
        Caveat(
            "options",
            f"This form {offers} “{DONT_KNOW}” and “{NONE_OF_ABOVE}”, so its questions have up to {work.options} "
            f"options, and those of the finished runs of this task {work.other_options}. Their set sizes and UAcc "
            "can't be compared.",
            "Compare on the Prompting page, which leaves these options out, or ask in the same form.",
        ),
    )


def _tokens(spec: RunSpec, work: Work | None, held: float | None) -> int | None:
    if work is None:
        return None
    return sum(work.sent) if spec.servers else round(work.characters / (held or USUAL))


def rate(spec: RunSpec, earlier: Sequence[RunRecord], *, worked: Worked = work_of) -> Rate | None:
    """The measurements of a run of this model, dtype and form. A run on this machine comes before one on another, one
    with as many shots before one with fewer or more, one of this task before one of another, and then the first in
    ``earlier``. None if there is no such run."""
    alike = [record for record in earlier if _kind(record.spec) == _kind(spec) and _measured(record)]
    alike.sort(
        key=lambda record: (not _here(record), record.spec.shots != spec.shots, record.spec.task != spec.task),
    )
    for record in alike:
        try:
            work = worked(record.spec)
        except HedgeError:  # its questions were deleted or have changed
            continue
        if work:
            scoring = record.provenance["scoring_seconds"]
            scored = record.provenance.get("scored") or {"characters": work.characters}
            whole = (record.ended or 0) - (record.started or 0)
            return Rate(
                record.run_id,
                max(0.0, whole - scoring),
                scored["characters"] / scoring,
                record.spec.shots,
                _here(record),
            )
    return None


def larger_budget(record: RunRecord, *, worked: Worked = work_of) -> float:
    """A budget with which a run that reached its own can end: twice what it had, and at least what it has cost so far
    and all its questions once more, with two digits."""
    price = record.spec.price
    least = 2 * (price.budget or 0.0)
    try:
        work = worked(record.spec) if record.spec.answers else None
    except HedgeError:  # its questions were deleted or have changed
        work = None
    if work:
        least = max(least, price.cost(*record.spent) + price.cost(*work.sent))
    digits = 1 - math.floor(math.log10(least)) if least > 0 else 0
    unit = math.pow(10, -digits)
    return round(math.ceil(round(least / unit, 6)) * unit, max(digits, 0))


def whole_time(forecasts: Sequence[Forecast], *, lanes: int) -> float | None:
    """Seconds until the last of these runs has ended if ``lanes`` of them run at a time. They are started in their
    order, each on the first lane that is free. None if one of them has no measured rate.
    """
    free = [0.0] * max(1, lanes)
    for run_forecast in forecasts:
        if run_forecast.seconds is None:
            return None
        first = free.index(min(free))
        free[first] += run_forecast.seconds
    return max(free)


def _kind(spec: RunSpec) -> tuple[object, ...]:
    return spec.model, spec.dtype, spec.form, spec.servers


def _measured(record: RunRecord) -> bool:
    """Whether it is known what was scored in the seconds of scoring. A run that was continued counts its last part, if
    that is no mere handful; older runs do not say how large it was."""
    ended = record.is_computed and record.state == "done"
    if not ended or not record.provenance.get("scoring_seconds") or not record.started:
        return False
    if scored := record.provenance.get("scored"):
        return int(scored["questions"]) >= FEWEST_MEASURED
    return not any("goes on after" in line for line in store.read_log(record.run_id))


def _here(record: RunRecord) -> bool:
    return bool(record.provenance.get("host") == platform.node()) and not store.is_bundled(record.run_id)


def _disk(spec: RunSpec, work: Work | None, earlier: Sequence[RunRecord], worked: Worked) -> int | None:
    """The disk space in bytes, from the bytes per question of an earlier run of the same task or from the usual
    ones."""
    for record in earlier:
        if work and record.state == "done" and record.spec.task == spec.task:
            try:
                before = worked(record.spec)
            except HedgeError:
                continue
            if before:
                used = disk.disk_use(store.folder_of(record.run_id))
                if store.is_bundled(record.run_id):
                    used += store.questions_path(record.run_id).stat().st_size
                return round(used / before.questions * work.questions)
    return work.questions * USUAL_DISK if work else None


def _too_large(spec: RunSpec, needed: float, devices: Sequence[Slot]) -> str:
    reason = too_large(needed, devices)
    if not reason:
        return ""
    way = way_out(devices, dtype=spec.dtype, needs_gib=lambda dtype: memory_gib(replace(spec, dtype=dtype)))
    return f"it {reason}; {way}"
