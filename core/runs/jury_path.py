"""The whole path to a jury: a base model's answers, jurors tuned on a part of them, their verdicts on the rest.

A path is a folder, ``HEDGE_HOME/jury-paths/<id>/``:

=====================  ================================================================================
``path.json``          what was asked (:class:`PathSpec`)
``state.json``         how far it is: stage, done, total, message, the loss curve of the juror at work
``answers.jsonl``      a line an answer as soon as it is there
``jurors/<name>/``     the adapters that were tuned, as safetensors
``judged-<name>.json`` a juror's probabilities
``log.txt``            what was done when
=====================  ================================================================================

Each stage goes on where it was stopped. The result is a jury (:mod:`core.runs.juries`), which the Jury page and
``jury evaluate`` take from there.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError, RunBusyError, RunCancelled
from core.jury.judgements import Judgements
from core.runs import juries, store
from core.runs.lock import is_held, take
from core.runs.spec import DTYPES
from core.settings import settings
from core.tasks import trivia
from core.tasks.trivia import ShortQuestion

WRITE_EVERY_S = 0.5
STAGES = ("answer", "tune", "judge", "done")


@dataclass(frozen=True, slots=True)
class PathSpec:
    """What a path is asked for; equal ones are one path.

    ``base`` answers at most ``samples`` of the ``questions`` (``trivia``, ``trivia_qa@hub`` or a file in TriviaQA's
    shape). ``jurors`` are models to tune, or adapters that are judges already. ``tune_share`` of the answers tunes,
    where the questions do not say themselves which ones do; ``calibration_share`` of the others calibrates. Raises
    :class:`InputError` for what can't be.
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
        if not 0 < self.rate < 1:
            raise InputError(f"the learning rate must lie in (0, 1), got {self.rate}")

    @property
    def path_id(self) -> str:
        """The name of the path's folder: readable first, content hash last."""
        digest = hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:8]
        words = f"{Path(self.base).name}-{Path(self.questions.partition('@')[0]).stem}-{len(self.jurors)}-jurors"
        return f"{re.sub(r'[^a-z0-9]+', '-', words.lower()).strip('-')}-{digest}"

    @property
    def juror_names(self) -> tuple[str, ...]:
        """A name for each juror: its model's, numbered where one is named twice."""
        names = [Path(model).name for model in self.jurors]
        return tuple(
            f"{name}-{names[: i + 1].count(name)}" if names.count(name) > 1 else name for i, name in enumerate(names)
        )


@dataclass(frozen=True, slots=True)
class PathState:
    """How far a path is; ``losses`` are those of the juror that is or was tuned last, ``jury`` the result's id."""

    stage: str = "answer"
    state: str = "queued"
    done: int = 0
    total: int = 0
    what: str = ""
    message: str = ""
    losses: tuple[float, ...] = ()
    jury: str = ""
    updated: float = 0.0


def folder_of(path_id: str) -> Path:
    """A path's folder, whether it is there or not; :class:`InputError` for what can be no name of one."""
    if not re.fullmatch(r"[a-z0-9-]+", path_id):
        raise InputError(f"{path_id!r} is no jury path; the New run page lists them")
    return settings().home / "jury-paths" / path_id


def path_ids() -> list[str]:
    """All paths, the latest first."""
    parent = settings().home / "jury-paths"
    found = [path.parent for path in parent.glob("*/path.json")]
    return [path.name for path in sorted(found, key=lambda path: -(path / "path.json").stat().st_mtime)]


def read_spec(path_id: str) -> PathSpec:
    """What was asked; :class:`InputError` where there is no such path."""
    path = folder_of(path_id) / "path.json"
    try:
        values = json.loads(path.read_bytes())
        return PathSpec(**values | {"jurors": tuple(values["jurors"])})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"there is no jury path {path_id!r} ({type(error).__name__})") from error


def read_state(path_id: str) -> PathState:
    """How far a path is; one whose process has gone without a word has failed."""
    folder = folder_of(path_id)
    try:
        values = json.loads((folder / "state.json").read_bytes())
        known = {one.name for one in fields(PathState)}
        found = PathState(**{k: v for k, v in values.items() if k in known} | {"losses": tuple(values["losses"])})
    except (OSError, ValueError, KeyError, TypeError):
        found = PathState()
    if found.state == "running" and not is_held(folder / "lock"):
        return replace(found, state="failed", message="its process was stopped; launch it again to go on")
    return found


def create(spec: PathSpec) -> str:
    """Write a path's folder, after a look at its models and questions, and return its id."""
    from core.inference.models import canonical

    spec = replace(spec, base=canonical(spec.base), jurors=tuple(canonical(model) for model in spec.jurors))
    if spec.questions not in (trivia.BUNDLED, *trivia.HUB):
        place = Path(spec.questions).expanduser().resolve()
        trivia.read(str(place))
        spec = replace(spec, questions=str(place))
    folder = folder_of(spec.path_id)
    folder.mkdir(parents=True, exist_ok=True)
    store.write_atomically(folder / "path.json", json.dumps(asdict(spec), indent=1).encode())
    return spec.path_id


def cancel(path_id: str) -> None:
    """Ask a path to stop; what it has is kept."""
    (folder_of(path_id) / "cancel").touch()


def perform(path_id: str, *, on_state: Callable[[PathState], None] = lambda state: None) -> str:
    """Do a path, or what is left of it, and return its jury's id.

    Raises :class:`RunBusyError` where another process is at it, :class:`RunCancelled` where it was cancelled, and
    :class:`InputError` for what can't be done; the folder's state says the same.
    """
    spec, folder = read_spec(path_id), folder_of(path_id)
    lock = take(folder / "lock")
    if lock is None:
        raise RunBusyError(f"another process is at jury path {path_id}; wait for it, or cancel it")
    with lock:
        (folder / "cancel").unlink(missing_ok=True)
        at_work = _Path(spec, folder, on_state)
        try:
            return at_work.run()
        except BaseException as error:
            cancelled = isinstance(error, (RunCancelled, KeyboardInterrupt))
            said = str(error) or type(error).__name__
            at_work.say(state="cancelled" if cancelled else "failed", message=said)
            store.log(folder, said)
            raise


class _Path:
    """A path at work in its folder."""

    def __init__(self, spec: PathSpec, folder: Path, on_state: Callable[[PathState], None]) -> None:
        self.spec = spec
        self.folder = folder
        self.on_state = on_state
        self.state = PathState(state="running")
        self.written = 0.0

    def run(self) -> str:
        questions = drawn(self.spec)
        answers = self._answers(questions)
        tuning, calibration, test = split(questions, self.spec)
        right = {q.id: trivia.is_right(answers[q.id], q.normalized_aliases) for q in questions}
        store.log(self.folder, f"{sum(right.values())} of {len(questions)} answers are right")
        judged = [*calibration, *test]
        found = [
            self._judge(name, self._juror(place, tuning, answers, right), judged, answers)
            for place, name in enumerate(self.spec.juror_names)
        ]
        both = np.array(found)  # (jurors, rows, 2)
        jury = Judgements(
            self.spec.juror_names,
            tuple(q.id for q in judged),
            tuple(q.question for q in judged),
            tuple(answers[q.id] for q in judged),
            np.array([right[q.id] for q in judged]),
            both[:, :, 0].T.copy(),
            both[:, :, 1].T.copy(),
            ("calibration",) * len(calibration) + ("test",) * len(test),
        )
        note = f"{self.spec.base} answered all of them. {self._tuned_on(len(tuning))}"
        jury_id = juries.save(jury, name=self.folder.name, origin=f"made here by path {self.folder.name}", notes=[note])
        self.say(stage="done", state="done", message="", what="", done=1, total=1, jury=jury_id)
        store.log(self.folder, f"done: jury {jury_id}")
        return jury_id

    # ---- the three stages

    def _answers(self, questions: Sequence[ShortQuestion]) -> dict[str, str]:
        path = self.folder / "answers.jsonl"
        known = _read_answers(path)
        waiting = [q for q in questions if q.id not in known]
        self.say(stage="answer", what=self.spec.base, done=len(questions) - len(waiting), total=len(questions))
        if waiting:
            from core.inference.generating import Generator

            generator = Generator.load(self.spec.base, dtype=self.spec.dtype)
            with path.open("a", encoding="utf-8", newline="\n") as out:
                for place, text in generator.answers([answer_prompt(q.question) for q in waiting]):
                    known[waiting[place].id] = text
                    out.write(json.dumps({"id": waiting[place].id, "answer": text}, ensure_ascii=False) + "\n")
                    out.flush()
                    self._check_wanted()
                    self.say_now_and_then(done=self.state.done + 1)
        return known

    def _juror(
        self, place: int, tuning: Sequence[ShortQuestion], answers: dict[str, str], right: dict[str, bool]
    ) -> str:
        """The model that judges as juror number ``place``; tuned first where it is no adapter yet."""
        from core.inference.models import resolve

        model, name = self.spec.jurors[place], self.spec.juror_names[place]
        folder = self.folder / "jurors" / name
        if resolve(model).is_adapter:
            return model
        if (folder / "adapter_config.json").is_file():
            return str(folder)
        from core.adapters.juror import Example, Tuning, fine_tune

        examples = [Example(q.question, answers[q.id], right[q.id]) for q in own_part(tuning, self.spec, place)]
        tuned = Tuning(
            rank=self.spec.rank,
            steps=self.spec.steps,
            rows=self.spec.rows,
            rate=self.spec.rate,
            seed=self.spec.seed + place,
        )
        self.say(stage="tune", what=name, done=0, total=self.spec.steps, losses=())

        def report(done: int, total: int, loss: float) -> None:
            self.say_now_and_then(done=done, total=total, losses=(*self.state.losses, loss))

        dtype = self.spec.dtype
        fine_tune(model, examples, folder, tuned, dtype=dtype, on_step=report, cancelled=self._unwanted)
        store.log(self.folder, f"juror {name}: {self.spec.steps} steps on {len(examples)} answers")
        return str(folder)

    def _tuned_on(self, answers: int) -> str:
        """How many other answers tuned which jurors, in words."""
        from core.inference.models import resolve

        names = zip(self.spec.juror_names, self.spec.jurors, strict=True)
        as_they_were = [name for name, model in names if resolve(model).is_adapter]
        if len(as_they_were) == len(self.spec.jurors):
            return f"The jurors were adapters already; {answers} other answers, kept for tuning, were not judged."
        kept = f"; {', '.join(as_they_were)} judged as it was" if as_they_were else ""
        return f"{answers} other answers tuned the jurors{kept}."

    def _judge(
        self, name: str, model: str, judged: Sequence[ShortQuestion], answers: dict[str, str]
    ) -> list[tuple[float, float]]:
        """A juror's probabilities of True and False, through the engine that scores options."""
        from core.inference.verdicts import judge

        path = self.folder / f"judged-{name}.json"
        if path.is_file():
            known: list[tuple[float, float]] = [(p, q) for p, q in json.loads(path.read_bytes())]
            return known
        self.say(stage="judge", what=name, done=0, total=len(judged))
        judging = judge(model, [(q.id, q.question, answers[q.id]) for q in judged], dtype=self.spec.dtype)
        checked = judging.checked
        store.log(self.folder, f"juror {name}: judged {checked.rung}, off by {checked.largest_difference:.2g} at most")
        found: dict[str, tuple[float, float]] = {}
        for question, said in judging.verdicts():
            found[question] = said
            self._check_wanted()
            self.say_now_and_then(done=len(found))
        rows = [found[q.id] for q in judged]
        store.write_atomically(path, json.dumps(rows).encode())
        return rows

    # ---- what is said

    def say(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes, updated=time.time())
        values = asdict(self.state)
        store.write_atomically(self.folder / "state.json", json.dumps(values).encode(), sync=False)
        self.written = time.monotonic()
        self.on_state(self.state)

    def say_now_and_then(self, **changes: Any) -> None:
        if time.monotonic() - self.written >= WRITE_EVERY_S:
            self.say(**changes)
        else:
            self.state = replace(self.state, **changes)

    def _unwanted(self) -> bool:
        return (self.folder / "cancel").exists()

    def _check_wanted(self) -> None:
        if self._unwanted():
            raise RunCancelled("cancelled; launch it again to go on")


def answer_prompt(question: str) -> str:
    """What the base model reads.

    >>> answer_prompt("What is the capital of Peru?")
    'Question: What is the capital of Peru?\\nAnswer:'
    """
    return f"Question: {question}\nAnswer:"


def drawn(spec: PathSpec) -> list[ShortQuestion]:
    """The questions of a path, in a seeded order, whole clusters one after another."""
    clusters: dict[str, list[ShortQuestion]] = {}
    for question in trivia.read(spec.questions):
        clusters.setdefault(question.cluster, []).append(question)
    order = sorted(clusters)
    random.Random(f"{spec.seed}|questions").shuffle(order)
    found = [question for name in order for question in clusters[name]]
    return found[: spec.samples]


def split(
    questions: Sequence[ShortQuestion], spec: PathSpec
) -> tuple[list[ShortQuestion], list[ShortQuestion], list[ShortQuestion]]:
    """The questions that tune, calibrate and test; those of one cluster stay together.

    Where questions say themselves that they are for tuning, those tune, whatever ``tune_share`` says.

    Raises :class:`InputError` where one of the three would be empty.
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


def own_part(tuning: Sequence[ShortQuestion], spec: PathSpec, place: int) -> list[ShortQuestion]:
    """What a juror is tuned on: all of it but, of ``j`` jurors, every j-th question, so that they are not alike."""
    j = len(spec.jurors)
    return [question for i, question in enumerate(tuning) if i % j != place]


def _read_answers(path: Path) -> dict[str, str]:
    """Answers that are on disk; a line that was cut off is not one."""
    known: dict[str, str] = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
                known[row["id"]] = row["answer"]
            except (ValueError, KeyError, TypeError):
                continue
        text = "".join(json.dumps({"id": k, "answer": v}, ensure_ascii=False) + "\n" for k, v in known.items())
        store.write_atomically(path, text.encode())
    return known
