"""The stages of a jury pipeline (:mod:`core.runs.juries.jury_pipeline`); each goes on where it was stopped."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import RunBusyError, RunCancelled
from core.jury.judgements import Judgements
from core.runs import store
from core.runs.agent.file_lock import take
from core.runs.juries import jury_store
from core.runs.juries.jury_pipeline import (
    PathSpec,
    PathState,
    answer_prompt,
    drawn,
    folder_of,
    own_part,
    read_spec,
    split,
)
from core.tasks import trivia
from core.tasks.trivia import ShortQuestion

WRITE_EVERY_S = 0.5


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
        note = f"All answers are by {self.spec.base}. {self._tuned_on(len(tuning))}"
        jury_id = jury_store.save(
            jury, name=self.spec.jury_name, origin=f"made here by path {self.folder.name}", notes=[note]
        )
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
            from core.inference.generation import Generator

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
