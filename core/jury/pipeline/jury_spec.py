"""A jury pipeline: a base model's answers, jurors tuned on a part of them, and their verdicts on the rest.

The run engine executes it (:mod:`core.runs.execution.jury_run`); its stages are :mod:`core.jury.pipeline.jury_stages`.
The result is a jury (:mod:`core.jury.pipeline.jury_store`), which the Jury page and ``jury evaluate`` read.
"""

import hashlib
import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from core import access
from core.access import UserRole, quotas
from core.errors import HedgeError, InputError
from core.models.model_fingerprint import in_spec
from core.models.model_sources import DTYPES
from core.models.server import permission
from core.models.server_address import ServedWeights, check_key, key_variable, served_model, short_name
from core.questions import split_task, trivia
from core.questions.trivia import ShortQuestion
from core.settings import settings
from core.storage.atomic import write_atomically
from core.storage.names import named
from core.storage.sealed import DamagedError, damage, read_json, seal, unsealed, write_json

SERVED = "served.json"
"""The identity of the weights behind each model on a server, from its first request."""
DECIDES = "(decisions)"
"""Follows there the name of a juror that is asked for decisions, whose probe is another one."""


@dataclass(frozen=True, slots=True)
class JurySpec:
    """The settings of a path; equal settings are one path.

    ``base`` answers at most ``samples`` of the ``questions`` (``trivia``, ``trivia_qa@hub`` or a file in TriviaQA's
    shape). ``jurors`` are models to tune, or adapters that are judges already. ``tune_share`` of the answers tunes,
    where the questions do not say themselves which ones do; ``calibration_share`` of the others calibrates. The base
    and jurors may be on servers (``NAME@URL``), whose key is in the environment variable ``key_variable``; such jurors
    are not fine-tuned. ``weights`` are the fingerprints of the base and of each juror
    (:mod:`core.models.model_fingerprint`); an older pipeline has none. Raises :class:`InputError` for what can't be.
    """

    base: str
    jurors: tuple[str, ...]
    questions: str = trivia.BUNDLED
    samples: int | None = None
    seed: int = 0
    dtype: str = "float32"
    tune_share: float = 0.5
    calibration_share: float = 0.5
    steps: int = 300
    rows: int = 32
    rank: int = 8
    rate: float = 2e-3
    weights: tuple[str, ...] = ()
    key_variable: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if len(self.jurors) < 2:
            raise InputError(f"a jury needs at least two jurors, got {len(self.jurors)}; a model may be named twice")
        if self.dtype not in DTYPES:
            raise InputError(f"unknown dtype {self.dtype!r}; choose from {', '.join(DTYPES)}")
        if self.samples is not None and self.samples < 8:
            raise InputError(f"samples must be at least 8, got {self.samples}")
        for name in ("tune_share", "calibration_share"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(f"{name.replace('_', ' ')} must lie in (0, 1), got {getattr(self, name)}")
        for name in ("steps", "rows", "rank"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        key_variable(self.key_variable)
        if not 0 < self.rate < 1:
            raise InputError(f"the learning rate must lie in (0, 1), got {self.rate}")

    @property
    def path_id(self) -> str:
        """The name of the path's folder: readable first, content hash last."""
        content = asdict(self)
        del content["key_variable"]
        if not self.weights:  # as in older versions, and where no weights can be replaced
            del content["weights"]
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]
        words = f"{short_name(self.base)}-{self.questions_name}-{len(self.jurors)}-jurors"
        return f"{re.sub(r'[^a-z0-9]+', '-', words.lower()).strip('-')}-{digest}"

    @property
    def models(self) -> tuple[str, ...]:
        """The models that are loaded here, one after another."""
        return tuple(model for model in (self.base, *self.jurors) if not served_model(model))

    @property
    def questions_name(self) -> str:
        """The questions in a word: their set's name, or their file's."""
        return Path(split_task(self.questions)[0]).stem

    @property
    def jury_name(self) -> str:
        """The name of the jury that the path makes."""
        return f"Answers of {short_name(self.base)} to {self.questions_name}"

    @property
    def juror_names(self) -> tuple[str, ...]:
        """A name for each juror: its model's, numbered where one is named twice."""
        names = [short_name(model) for model in self.jurors]
        return tuple(
            f"{name}-{names[: i + 1].count(name)}" if names.count(name) > 1 else name for i, name in enumerate(names)
        )


def folder_of(path_id: str) -> Path:
    """A path's folder, whether it is there or not; :class:`InputError` for what can be no name of one."""
    if not re.fullmatch(r"[a-z0-9-]+", path_id):
        raise InputError(f"{path_id!r} is not a jury pipeline; the New run page lists them")
    return settings().home / "jury-paths" / path_id


def path_ids() -> list[str]:
    """All paths, the latest first."""
    parent = settings().home / "jury-paths"
    folders = [path.parent for path in parent.glob("*/path.json")]
    return [path.name for path in sorted(folders, key=lambda path: -(path / "path.json").stat().st_mtime)]


def read_spec(path_id: str) -> JurySpec:
    """The settings of a path. Raises :class:`InputError` if there is no such path, or it is damaged."""
    path = folder_of(path_id) / "path.json"
    try:
        values = read_json(path)
        return JurySpec(**values | {name: tuple(values.get(name, ())) for name in ("jurors", "weights")})
    except OSError as error:
        raise InputError(f"there is not a jury pipeline {path_id!r} ({type(error).__name__})") from error
    except (ValueError, KeyError, TypeError, InputError) as error:
        raise InputError(f"{path} is damaged ({damage(error)}); launch the jury pipeline again as it was") from error


@access.needs(UserRole.LAUNCHER, "make juries")
def checked(spec: JurySpec) -> JurySpec:
    """The spec with full paths, and with the weights that are there now. Raises :class:`InputError` or
    :class:`~core.errors.AccessError` if its models or its questions can't be used."""
    from core.models.model_sources import canonical

    def known(model: str) -> str:
        there = served_model(model)
        return str(there) if there else canonical(model)

    there = [server.url for server in map(served_model, (spec.base, *spec.jurors)) if server]
    permission.check(there, spec.key_variable)
    if spec.key_variable or any(map(served_model, (spec.base, *spec.jurors))):
        check_key(spec.key_variable)
    spec = replace(spec, base=known(spec.base), jurors=tuple(known(model) for model in spec.jurors))
    if spec.questions not in (trivia.BUNDLED, *trivia.HUB):
        place = named(spec.questions).resolve()
        trivia.read(str(place))
        spec = replace(spec, questions=str(place))
    weights = tuple(map(in_spec, (spec.base, *spec.jurors)))
    return replace(spec, weights=weights if any(weights) else ())


@access.needs(UserRole.LAUNCHER, "make juries")
def create(spec: JurySpec) -> str:
    """Write the folder of a path that can be made (:func:`checked`), and return its id."""
    spec = checked(spec)
    folder = folder_of(spec.path_id)
    _check_served(spec, folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "path.json", asdict(spec), indent=1)
    quotas.note_kept(folder)
    return spec.path_id


def _check_served(spec: JurySpec, folder: Path) -> None:
    """Raise :class:`InputError` if a server holds other weights than when a jury that is begun or done asked it."""
    known = read_served(folder)
    from core.models.server.connect import abilities_of

    for model, values in known.items():
        if model.endswith(DECIDES):  # the stages check it
            continue
        there, before = served_model(model), ServedWeights.from_json(values)
        if not there or not before:
            continue
        try:
            now = abilities_of(there.name, [there.url], key=spec.key_variable).weights
        except HedgeError:  # the stages say so if they need it
            continue
        before.check_still(
            now,
            model=there.name,
            url=there.url,
            since="this jury asked it",
            way_out="serve those again, or take another seed (--seed)",
        )


def read_served(folder: Path) -> dict[str, Any]:
    """The identity of the weights behind each model on a server; empty if no server was used. Raises
    :class:`InputError` if the file is damaged."""
    path = folder / SERVED
    try:
        return {model: _weights(model, values) for model, values in read_json(path).items()}
    except FileNotFoundError:
        return {}
    except (DamagedError, AttributeError) as error:
        raise InputError(
            f"{path} is damaged ({error}), so it is not known whose answers were kept; delete {folder} and launch the "
            "jury pipeline again"
        ) from error


def note_served(folder: Path, known: Mapping[str, Any]) -> None:
    """Write what is known of the weights behind each model on a server, each with a digest of its own: an older Hedge
    that continues the jury adds others and keeps these."""
    rows = {model: seal({**values, "model": model}) for model, values in known.items()}
    write_atomically(folder / SERVED, json.dumps(rows).encode())


def _weights(model: str, values: dict[str, Any]) -> dict[str, Any]:
    own = unsealed(values)
    if own.pop("model", model) != model or ServedWeights.from_json(own) is None:
        raise DamagedError("it does not say what the weights of its model are")
    return own


def answer_prompt(question: str) -> str:
    """The prompt of the base model.

    >>> answer_prompt("What is the capital of Peru?")
    'Question: What is the capital of Peru?\\nAnswer:'
    """
    return f"Question: {question}\nAnswer:"


def drawn(spec: JurySpec) -> list[ShortQuestion]:
    """The questions of a path, in a seeded order, whole clusters one after another."""
    clusters: dict[str, list[ShortQuestion]] = {}
    for question in trivia.read(spec.questions):
        clusters.setdefault(question.cluster, []).append(question)
    order = sorted(clusters)
    random.Random(f"{spec.seed}|questions").shuffle(order)
    questions = [question for name in order for question in clusters[name]]
    return questions[: spec.samples]


def split(
    questions: Sequence[ShortQuestion], spec: JurySpec
) -> tuple[list[ShortQuestion], list[ShortQuestion], list[ShortQuestion]]:
    """The questions that tune, calibrate and test; those of one cluster stay together.

    Where questions say themselves that they are for tuning, those tune, whatever ``tune_share`` says.

    Raises :class:`InputError` if one of the three would be empty.
    """
    if any(question.tuning for question in questions):
        questions = sorted(questions, key=lambda question: not question.tuning)
        first = sum(question.tuning for question in questions)
    else:
        first = _boundary(questions, round(spec.tune_share * len(questions)))
    second = _boundary(questions, first + round(spec.calibration_share * (len(questions) - first)))
    parts = list(questions[:first]), list(questions[first:second]), list(questions[second:])
    if not all(parts):
        raise InputError(
            f"of {len(questions)} questions {len(parts[0])} would tune, {len(parts[1])} calibrate and {len(parts[2])} "
            "test; take more questions or other shares"
        )
    return parts


def _boundary(questions: Sequence[ShortQuestion], at: int) -> int:
    """The place from ``at`` on where a cluster ends."""
    while 0 < at < len(questions) and questions[at].cluster == questions[at - 1].cluster:
        at += 1
    return at


def own_part(tuning: Sequence[ShortQuestion], spec: JurySpec, place: int) -> list[ShortQuestion]:
    """A juror's tuning questions: all but every j-th of ``j`` jurors, so that jurors differ."""
    j = len(spec.jurors)
    return [question for i, question in enumerate(tuning) if i % j != place]
