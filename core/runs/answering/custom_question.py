"""A question that a person typed, the progress of its answer, and the answer itself, which is kept on disk. Answers are
in ``HEDGE_HOME/answers/<id>.json``, the latest 500, so that a link can show one again.
"""

import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from core.errors import InputError
from core.models.letter_mass import LetterMass
from core.records import DONT_KNOW, NONE_OF_ABOVE, Question
from core.settings import settings
from core.storage.kinds import check_kinds
from core.storage.sealed import DamagedError, damage, read_json, write_json

FEWEST_OPTIONS = 2
MOST_OPTIONS = 10
"""Options that a person types; "I don't know" and "None of the above" may be added to them."""
LONGEST = {"question": 10_000, "context": 50_000, "option": 2_000}
"""Characters."""
SHOWN = 40

KEPT = 500
LOOKED_AT = 100
"""The number of latest answers among which the last loading time of a model is looked up."""
ID = re.compile(r"^[0-9a-f]{16}$")

Stage = Literal["waiting", "starting", "downloading", "loading", "checking", "answering", "answered", "failed"]


@dataclass(frozen=True, slots=True)
class CustomQuestion:
    """A question for ``model``, asked in the same way as the questions of the finished run ``run_id``.

    ``options`` are those that a person typed; ``extra`` adds "I don't know" and "None of the above" after them. Raises
    :class:`InputError` with one sentence for a question that can't be asked.
    """

    model: str
    run_id: str
    question: str
    options: tuple[str, ...]
    context: str = ""
    extra: bool = True

    def __post_init__(self) -> None:
        by_field = problems(self.model, self.run_id, self.question, self.context, self.options, extra=self.extra)
        if by_field:
            raise InputError(next(iter(by_field.values())))

    @property
    def all_options(self) -> tuple[str, ...]:
        """The options as they are asked, in the order of their letters."""
        return (*self.options, DONT_KNOW, NONE_OF_ABOVE) if self.extra else self.options

    @property
    def answer_id(self) -> str:
        """Sixteen hexadecimal digits, a hash of what is asked; the same question again has the same."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def as_question(self, task: str, *, ordered: bool = False) -> Question:
        """The question in the form of the task's questions. Its label has no meaning, because the truth is unknown."""
        options = self.all_options
        return Question(self.answer_id, task, "", self.context, self.question, options, 0, ordered=ordered)


def problems(
    model: str, run_id: str, question: str, context: str, options: Sequence[str], *, extra: bool
) -> dict[str, str]:
    """Why this can't be asked: one sentence for each field that has to be changed, by the field's name.

    The fields are ``model``, ``run_id``, ``question``, ``context`` and ``options``, in this order; ``extra`` as in
    :class:`CustomQuestion`. Empty if the question can be asked.
    """
    sentences = {
        "model": "" if model.strip() else "choose a model to ask",
        "run_id": "" if run_id.strip() else "choose a run whose calibration forms the set",
        "question": (
            _text_problem("the question", question, LONGEST["question"])
            if question.strip()
            else "the question is empty; type one"
        ),
        "context": _text_problem("the context", context, LONGEST["context"]),
        "options": _options_problem(options, extra=extra),
    }
    return {name: problem for name, problem in sentences.items() if problem}


def _options_problem(options: Sequence[str], *, extra: bool) -> str:
    """Why these are not two to ten different options, none of them too long; empty if they are."""
    count = len(options)
    if count < FEWEST_OPTIONS:
        too_few = "is only 1" if count == 1 else "are none"
        return f"a question needs at least {FEWEST_OPTIONS} options, one per line; there {too_few}"
    if count > MOST_OPTIONS:
        return (
            f"a question can have at most {MOST_OPTIONS} options, and there are {count}; remove {count - MOST_OPTIONS}"
        )
    seen: dict[str, int] = {}
    for number, option in enumerate(options, start=1):
        if not option.strip():
            return f"option {number} is empty; type it or remove its line"
        if problem := _text_problem(f"option {number}", option, LONGEST["option"]):
            return problem
        text = " ".join(option.split())
        if text in seen:
            shown = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
            return f"options {seen[text]} and {number} are both “{shown}”; change or remove one of them"
        if extra and text in (DONT_KNOW, NONE_OF_ABOVE):
            return f"option {number} is “{text}”, which is added anyway; remove it, or switch the added options off"
        seen[text] = number
    return ""


def _text_problem(name: str, text: str, longest: int) -> str:
    if len(text) > longest:
        return f"{name} has {len(text):,} characters, but at most {longest:,} are allowed; shorten it"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"{name} has a broken character at position {error.start + 1}; type it again"
    return ""


@dataclass(frozen=True, slots=True)
class AnswerProgress:
    """The progress of an answer. ``ahead`` is the number of questions before one that waits. ``done_bytes`` of the
    ``total_bytes`` of a download are on this machine (0: not known). ``seconds`` have passed since the stage began;
    once there is an answer, they are what loading the model took. ``message`` is the sentence of a failure.
    """

    answer_id: str
    stage: Stage
    message: str = ""
    ahead: int = 0
    done_bytes: int = 0
    total_bytes: int = 0
    seconds: float = 0.0

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.stage in ("answered", "failed")


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model answered.

    ``options`` (k,) are those that were asked, ``logits`` (k,) their unnormalised log-probabilities. ``letter_mass``
    is the share of all probability that fell on the letters, or its upper bound (NaN where texts were scored), and
    ``first`` the most probable token (empty if it is not known). The answer took
    ``milliseconds``, and loading the model before it ``loading_s`` (0: it was loaded already).

    A few of the run's own calibration questions are asked again first. ``recorded_difference`` is the largest
    difference in log-probability from what the run recorded (NaN if another model calibrated), and ``tolerance`` the
    largest allowed one. ``dropped`` counts the demonstrations that were left out so that the prompt fits. ``bounded``
    (k,) marks letters that a server did not list, whose logits are upper bounds; it is empty if there is none.
    ``weights`` is the fingerprint of the model that answered; empty if it is not known, as in older answers.
    """

    own: CustomQuestion
    options: tuple[str, ...]
    logits: tuple[float, ...]
    letter_mass: float
    milliseconds: float
    loading_s: float
    prompt: str
    device: str
    rung: str
    recorded_difference: float
    tolerance: float
    dropped: int
    asked_at: float
    bounded: tuple[bool, ...] = ()
    weights: str = ""
    first: str = ""

    def __post_init__(self) -> None:
        check_kinds(self)

    @property
    def mass(self) -> LetterMass | None:
        """How much probability the letters have; None if it is not known."""
        return LetterMass.of_one(self.letter_mass, is_bound=any(self.bounded), first=self.first)

    @property
    def answer_id(self) -> str:
        """The id of the question."""
        return self.own.answer_id

    @property
    def is_as_recorded(self) -> bool:
        """Whether the model still answers the run's questions as recorded; True if this was not checked."""
        return math.isnan(self.recorded_difference) or self.recorded_difference <= self.tolerance


def write_answer(answer: ModelAnswer) -> None:
    """Keep an answer, and delete the oldest ones beyond the latest 500."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    values = asdict(answer)
    for name in ("letter_mass", "recorded_difference"):
        values[name] = None if math.isnan(values[name]) else values[name]
    values["logits"] = [None if math.isinf(value) else value for value in answer.logits]
    write_json(folder / f"{answer.answer_id}.json", values | {"answer_id": answer.answer_id}, lasting=False)
    keep_latest(folder, KEPT)


def keep_latest(folder: Path, count: int) -> None:
    """Delete the oldest files of a folder beyond this many."""
    for path in sorted(folder.glob("*.json"), key=_written_at)[:-count]:
        path.unlink(missing_ok=True)


def read_answer(answer_id: str) -> ModelAnswer:
    """The answer with this id. Raises :class:`InputError` if that is no id, or the answer is gone or can't be read."""
    if not ID.match(answer_id):
        raise InputError(f"{answer_id[:40]!r} is not the id of an answer; ask the question again")
    try:
        values = read_json(_folder() / f"{answer_id}.json")
        own: dict[str, Any] = values.pop("own")
        options, logits = values.pop("options"), values.pop("logits")
        unknown = {name: math.nan for name in ("letter_mass", "recorded_difference") if values[name] is None}
        if values.pop("answer_id", answer_id) != answer_id:
            raise DamagedError("it is the answer to another question")
        return ModelAnswer(
            own=CustomQuestion(**own | {"options": tuple(own["options"])}),
            options=tuple(options),
            logits=tuple(-math.inf if value is None else float(value) for value in logits),
            bounded=tuple(map(bool, values.pop("bounded", ()))),
            **values | unknown,
        )
    except FileNotFoundError as error:
        raise InputError(f"the answer {answer_id} is no longer here; ask the question again") from error
    except (OSError, AttributeError, KeyError, TypeError, ValueError, InputError) as error:
        raise InputError(f"the answer {answer_id} can't be read ({damage(error)}); ask the question again") from error


def last_loading_s(model: str) -> float | None:
    """The seconds that loading this model took before one of the latest answers on this machine, or None."""
    for path in sorted(_folder().glob("*.json"), key=_written_at, reverse=True)[:LOOKED_AT]:
        try:
            answer = read_answer(path.stem)
        except InputError:
            continue
        if answer.own.model == model and answer.loading_s > 0:
            return answer.loading_s
    return None


def _folder() -> Path:
    return settings().home / "answers"


def _written_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process has just deleted it
        return 0.0
