"""The spec of a run: one model × task × strategy × shots × dtype × form, on a random sample with a random split.

What a run's identity contains; another value of any of it makes another run, with another id:

=========================  ==========================================================================================
the model's name           ``model``: a bundled name, a folder or a hub id; ``servers`` for a model on servers
the model's content        ``model_fingerprint``: weights, configuration, generation configuration, tokenizer, chat
                           template, an adapter and its base model, or the revisions on the hub
                           (:mod:`core.models.model_fingerprint`)
the precision              ``dtype``
the questions              ``task``, ``samples``, ``seed``, ``calibration_share``; ``fingerprint`` for a person's file
the prompt                 ``strategy``, ``shots``, ``form``, ``prompt_format``, ``system``
what else is asked         ``rotations``, ``orders``, ``repeats``, ``picks``
where it was computed      ``origin`` for imported runs
=========================  ==========================================================================================

The weights of a model on a server can't be read, so they are no part of it; a server that holds other weights under the
same name is noticed when the run is asked for again or resumed
(:class:`~core.models.server_address.ServedWeights`).
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from dataclasses import asdict, dataclass, field, fields
from pathlib import PurePath
from typing import Any

from core.errors import InputError, plain
from core.models.model_fingerprint import FINGERPRINT
from core.models.model_sources import DTYPES
from core.models.price import Price
from core.models.server_address import (
    TIMEOUT_S,
    check_timeout,
    key_variable,
    model_on_servers,
    served_model,
    server_url,
)
from core.questions import short_task
from core.questions.prompting.decision import DECISION_FORMATS
from core.questions.prompting.forms import FORMATS, FORMS, TEXT_FORMS
from core.questions.prompting.strategies import STRATEGIES
from core.storage.kinds import fits

PERPLEXITY = "losses"
"""The form of a run that scores every word of a counselor's messages instead of answering questions; its task is
``perplexity@`` and the hash of a :class:`~core.models.perplexity.request.Request`."""
JURY = "jury"
"""The form of a run that makes a jury; its task is ``jury@`` and the id of a
:class:`~core.jury.pipeline.jury_spec.JurySpec`."""
DEVICE = re.compile(r"^(?:cuda(?::\d+)?|cpu|mps)\Z")
"""The names of devices in torch's spelling."""
HOW = ("batch_size", "device", "key_variable", "price_read", "price_written", "budget", "timeout_s")
"""Fields that say how a run is executed and do not belong to its identity."""
MODES = {"short": 100, "long": 10_000}
"""The most questions of a run, by mode."""

SERVED = "served"
"""The dtype of a model on a server: whatever the server loaded it in."""
MAX_SHOTS = 16
MAX_FOREIGN_SHOTS = 1000
"""The most demonstrations that an imported run may have had."""

MAX_REPEATS = 100
"""The most written answers to one question."""
MAX_PICKS = 1_000
"""The most picks of a question that a run asks for."""
MAX_FOREIGN_PICKS = 1_000_000
"""The most picks of a question that an imported run may have."""
MAX_SYSTEM = 4_000
"""The most characters of a system prompt."""

HEDGE = "hedge"
"""The origin of a run that Hedge computes. All others were imported."""
RUN_FOLDER = "run-folder"
"""The origin of a run of another Hedge, imported with its folder."""
FOLDER_DATA = "folder-"
"""How the fingerprint of a run begins that was imported with its folder. No computed run may have such a one."""

LATER: dict[str, Any] = {
    "prompt_format": "plain",
    "rotations": False,
    "orders": False,
    "system": "",
    "repeats": 0,
    "servers": (),
    "model_fingerprint": "",
    "picks": 0,
}
"""Keys added after the first version, with the value that older runs imply. That value does not change a run's id."""


@dataclass(frozen=True, slots=True)
class RunSpec:
    """A run's whole request; two equal specs are the same run.

    ``model`` is a bundled model's name, a folder, or a hub id. ``samples`` is the most questions to use (``None``:
    all), ``seed`` draws them and their split, ``calibration_share`` is the part in (0, 1) that calibrates. ``origin``
    names the format an imported run came from and ``fingerprint`` its data; Hedge's own runs have ``hedge`` and a
    fingerprint only where their questions lie in a person's file. An imported run only describes what was done
    elsewhere: it has none of the fields of :data:`HOW`, and no servers. ``prompt_format`` says whether the prompt is
    plain, in the model's chat template, or a request for a decision
    (:mod:`core.questions.prompting.decision`). ``rotations`` asks every test question in all rotations of its options,
    and ``orders`` in all their orders (:mod:`core.questions.rotation`). ``system`` is a person's own system prompt.
    ``repeats`` is the number of sampled answers that the model also writes to each test question. ``servers`` are the
    addresses of the servers that hold the model, whose dtype is then ``served``, whatever their precision is. The same
    model name on two servers means two models. ``picks`` is the largest number of samples of a question, where the
    probabilities are frequencies of the model's picks, and 0 in all other runs. ``model_fingerprint`` is that of the
    model's files; it is empty for models that are as they ship with Hedge, for those on servers, and for runs of older
    versions, whose weights were not recorded. The fields of :data:`HOW` do not belong to a run's identity, and two
    specs that differ only in them are equal: ``batch_size`` fixes the rows of a batch by hand, ``device`` names the one
    device that may execute the run (``cuda:1``) or several that share its questions (``cuda:0,cuda:1``),
    ``key_variable`` names the environment variable of the servers' key, and the prices and the budget are those of
    :class:`~core.models.server.spending.Price`.

    >>> RunSpec(model="pocket-1m", task="qa").run_id
    'pocket-1m-qa-base-0shot-float32-a28c452d31'
    """

    model: str
    task: str
    strategy: str = "base"
    shots: int = 0
    dtype: str = "float32"
    form: str = "letters"
    samples: int | None = None
    seed: int = 0
    calibration_share: float = 0.5
    origin: str = HEDGE
    fingerprint: str = ""
    prompt_format: str = "plain"
    rotations: bool = False
    orders: bool = False
    system: str = ""
    repeats: int = 0
    servers: tuple[str, ...] = ()
    model_fingerprint: str = ""
    picks: int = 0
    batch_size: int | None = field(default=None, compare=False)
    device: str = field(default="", compare=False)
    key_variable: str = field(default="", compare=False)
    price_read: float = field(default=0.0, compare=False)
    price_written: float = field(default=0.0, compare=False)
    budget: float | None = field(default=None, compare=False)
    timeout_s: float = field(default=TIMEOUT_S, compare=False)

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise InputError("a run needs a model; give a bundled model's name, a folder or a hub id")
        if not self.task.strip():
            raise InputError("a run needs a task")
        self._check_origin()
        for what, name in (("model", self.model), ("task", self.task)):
            if plain(name, one_line=True) != name:
                raise InputError(f"the name of a {what} holds a control character, got {name[:80]!r}; rename it")
        _among("strategy", self.strategy, STRATEGIES)
        _among("dtype", self.dtype, (SERVED,) if self.servers else (*DTYPES, *[SERVED] * self.is_imported))
        _among("form", self.form, (*FORMS, PERPLEXITY, JURY))
        _among("format", self.prompt_format, (*FORMATS, *DECISION_FORMATS))
        if self.model_fingerprint and (self.servers or not FINGERPRINT.match(self.model_fingerprint)):
            raise InputError(f"{self.model_fingerprint[:80]!r} is no fingerprint of a model's files; leave it out")
        self._check_asking()
        self._check_decisions()
        self._check_servers()
        if self.batch_size is not None and self.batch_size < 1:
            raise InputError(
                f"a batch size must be at least 1, got {self.batch_size}; leave it out to let memory decide"
            )
        _check_device(self.device)
        if self.device and self.servers:
            raise InputError("a model on a server is not loaded here; leave the device out")
        most = MAX_FOREIGN_SHOTS if self.is_imported else MAX_SHOTS
        if not 0 <= self.shots <= most:
            raise InputError(f"shots must lie from 0 to {most}, got {self.shots}")
        if self.samples is not None and self.samples < 2:
            raise InputError(f"samples must be at least 2, one to calibrate and one to test, got {self.samples}")
        if self.seed < 0:
            raise InputError(f"a seed must be at least 0, got {self.seed}")
        if not 0 < self.calibration_share < 1:
            raise InputError(
                f"the calibration share must lie in (0, 1), got {self.calibration_share}; 0.5 is a good choice"
            )

    def _check_origin(self) -> None:
        """Raise :class:`InputError` unless the spec is that of a computed run or a mere description of another."""
        if self.is_imported and any(getattr(self, name) != nothing for name, nothing in INSTRUCTIONS.items()):
            raise InputError(
                f"a run from {self.origin[:80]!r} was not computed here, so it names no server, key, price, budget or "
                "device; import its file again"
            )
        if not self.is_imported and self.fingerprint.startswith(FOLDER_DATA):
            raise InputError(f"only an imported run has a fingerprint that begins with {FOLDER_DATA!r}")

    def _check_asking(self) -> None:
        if self.rotations and self.orders:
            raise InputError("all orders of the options hold all their rotations; ask for one of the two")
        if self.form in TEXT_FORMS and (self.orders or self.repeats):  # older runs of texts may have rotations
            raise InputError(
                f"form {self.form} does not show the options, so there is no order of theirs to change and no answer "
                "to choose in writing; use the form letters"
            )
        if not 0 <= self.repeats <= MAX_REPEATS:
            raise InputError(f"repeats must lie from 0 to {MAX_REPEATS}, got {self.repeats}")
        most_picks = MAX_FOREIGN_PICKS if self.is_imported else MAX_PICKS
        if self.picks and not 2 <= self.picks <= most_picks:
            raise InputError(f"picks must lie from 2 to {most_picks:,}, got {self.picks}; one pick can't form sets")
        if self.picks and (self.form != "letters" or self.rotations or self.orders or self.repeats):
            raise InputError(
                "picks are answers in writing, each question in one order of its options; leave out the other forms, "
                "rotations, orders and repeats"
            )
        if len(self.system) > MAX_SYSTEM:
            raise InputError(f"a system prompt may have {MAX_SYSTEM:,} characters, got {len(self.system):,}")

    def _check_decisions(self) -> None:
        """Raise :class:`InputError` for what a request for a decision has no place for."""
        if self.prompt_format not in DECISION_FORMATS or self.is_imported:
            return
        for what, asked in (
            ("demonstrations (shots)", self.shots),
            ("a system prompt", self.system),
            ("answers in writing (repeats or picks)", self.repeats or self.picks),
            ("options that are not shown", self.form != "letters"),
        ):
            if asked:
                raise InputError(f"a request for a decision has no place for {what}; leave that out")

    def _check_servers(self) -> None:
        if not self.servers:
            paid = self.budget is not None or self.price_read or self.price_written
            if self.form == JURY:  # its models name their servers themselves
                check_timeout(self.timeout_s)
                _ = self.price
            elif self.key_variable or paid or self.timeout_s != TIMEOUT_S:
                raise InputError(
                    "a key, prices, a budget and a timeout belong to a model on a server; give its address (--server)"
                )
            return
        if self.form == JURY:
            raise InputError("a jury names the servers of its models itself, as NAME@URL; leave the servers out")
        object.__setattr__(self, "servers", tuple(sorted({server_url(url) for url in self.servers})))
        key_variable(self.key_variable)
        check_timeout(self.timeout_s)
        _ = self.price

    @property
    def is_imported(self) -> bool:
        """Whether the run was imported, so that the spec only describes it."""
        return self.origin != HEDGE

    @property
    def asked_model(self) -> str:
        """The model as a person chooses it: with the servers that hold it, because two of them are two models."""
        return model_on_servers(self.model, self.servers)

    @property
    def price(self) -> Price:
        """The prices of requests to the servers."""
        return Price(self.price_read, self.price_written, self.budget)

    @property
    def draws_by_default(self) -> bool:
        """Whether the run uses all questions, split as they are by default."""
        return (self.samples, self.seed, self.calibration_share) == (None, 0, 0.5)

    @property
    def asks_texts(self) -> bool:
        """Whether the options' texts are scored, which the model does not see, and not their letters."""
        return self.form in TEXT_FORMS

    @property
    def decisions(self) -> str:
        """The format of the requests if the model is asked for decisions, else empty."""
        return self.prompt_format if self.prompt_format in DECISION_FORMATS else ""

    @property
    def answers(self) -> bool:
        """Whether the run answers questions, and so has figures of accuracy and sets."""
        return self.form in FORMS

    @property
    def makes_jury(self) -> bool:
        """Whether the run makes a jury, which the Jury page shows."""
        return self.form == JURY

    @property
    def measures_perplexity(self) -> bool:
        """Whether the run scores every word of a counselor's messages, which the Perplexity page shows."""
        return self.form == PERPLEXITY

    @property
    def model_name(self) -> str:
        """The model's short name: the last part of a folder or hub id."""
        there = served_model(self.model)  # the base model of a jury
        return PurePath(there.name if there else self.model).name

    @property
    def task_name(self) -> str:
        """The task without the location of its questions (:func:`~core.questions.short_task`)."""
        return short_task(self.task)

    @property
    def run_id(self) -> str:
        """The name of the run's folder: readable first, content hash last."""
        return _run_id(self)

    def to_json(self) -> dict[str, Any]:
        """The spec as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> RunSpec:
        """The spec that :meth:`to_json` wrote; unknown keys, and values of another kind, are refused."""
        unknown = set(values) - {field.name for field in fields(cls)}
        if unknown:
            raise InputError(f"a run's spec has unknown keys {sorted(unknown)}; it was written by a newer Hedge")
        values = values | {"servers": tuple(values.get("servers", ()))}
        for each in fields(cls):
            if each.name in values and not fits(values[each.name], str(each.type)):
                raise InputError(f"a run's {each.name} must be of the kind {each.type}, got {values[each.name]!r:.80}")
        return cls(**values)


INSTRUCTIONS: dict[str, Any] = {each.name: each.default for each in fields(RunSpec) if each.name in (*HOW, "servers")}
"""The fields that only a computed run may set, with their defaults."""


LONGEST_READABLE = 220
"""Letters of a run's folder before its hash: it is written under a longer name, and lies in the bin under one."""


@functools.lru_cache(maxsize=4096)  # pages sort and look up all runs by their ids several times each time they run
def _run_id(spec: RunSpec) -> str:
    unusual = [spec.form] * (spec.form != "letters") + [spec.prompt_format] * (spec.prompt_format != "plain")
    settings = "-".join([spec.task_name, spec.strategy, f"{spec.shots}shot", spec.dtype, *unusual])
    settings = settings if spec.answers else f"{spec.task_name}-{spec.dtype}"
    readable = f"{spec.model_name}-{settings}{'-imported' * spec.fingerprint.startswith(FOLDER_DATA)}"
    return f"{re.sub(r'[^a-z0-9]+', '-', readable.lower()).strip('-')[:LONGEST_READABLE]}-{_fingerprint_hash(spec)}"


@functools.lru_cache(maxsize=4096)
def _fingerprint_hash(spec: RunSpec) -> str:
    content = asdict(spec)
    for name in HOW:
        del content[name]
    content = {key: value for key, value in content.items() if key not in LATER or value != LATER[key]}
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def _check_device(device: str) -> None:
    """Raise :class:`InputError` unless this names no device, one, or several of one kind that can share questions."""
    names = device.split(",") if device else []
    for name in names:
        if not DEVICE.match(name):
            raise InputError(f"unknown device {name!r}; give cpu, cuda, cuda:N (a GPU's number, from 0) or mps")
    if len({name.partition(":")[0] for name in names}) > 1:
        raise InputError(f"{device} are of different kinds, which round differently; name devices of one kind")
    numbers = [name.partition(":")[2] or "0" for name in names]
    if len(set(numbers)) < len(numbers) and names[0] != "cpu":
        raise InputError(f"{device} names a device twice; name each one once")


def _among(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(f"unknown {name} {value!r}; choose from {', '.join(allowed)}")
