"""The stages of a jury pipeline; each continues where it was stopped."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import InputError, RunCancelled
from core.jury.judgements import Judgements
from core.jury.pipeline import jury_store
from core.jury.pipeline.jury_spec import (
    DECIDES,
    JurySpec,
    answer_prompt,
    drawn,
    folder_of,
    note_served,
    own_part,
    read_served,
    split,
)
from core.models.folders import TRAINING, check_digests
from core.models.imports import language_models
from core.models.model_fingerprint import ModelFiles, shipped
from core.models.price import Price
from core.models.server.left_out import NoAnswer
from core.models.server.spending import Spending
from core.models.server_address import TIMEOUT_S, served_model, short_name
from core.models.verdicts import Verdict, doubt, judge
from core.models.written import written_answers
from core.progress import Reporter
from core.questions import trivia
from core.questions.prompting.written import without_answer
from core.questions.trivia import ShortQuestion
from core.storage.atomic import guarded, write_atomically
from core.storage.sealed import json_line, read_json, read_lines, write_json

if TYPE_CHECKING:
    from core.models.server.engine import ServerEngine

WRITE_EVERY = 5
"""Steps of tuning after which the loss curve is written."""


def make(spec: JurySpec, reporter: Reporter, *, spending: Spending | None = None, timeout_s: float = TIMEOUT_S) -> str:
    """Do a pipeline, or what is left of it; returns the jury's id.

    ``spending`` counts what models on servers cost, and ``timeout_s`` is how long they may take for an answer. Raises
    :class:`~core.errors.InputError` for what can't be done.
    """
    return _Pipeline(spec, reporter, spending or Spending(Price()), timeout_s).run()


class _Pipeline:
    """A path in progress in its folder."""

    def __init__(self, spec: JurySpec, reporter: Reporter, spending: Spending, timeout_s: float) -> None:
        self.spec = spec
        self.spending = spending
        self.timeout_s = timeout_s
        self.folder = folder_of(spec.path_id)
        self.doubts: list[str] = []
        self.reporter = reporter

    def run(self) -> str:
        drawn_questions = drawn(self.spec)
        answers = self._answers(drawn_questions)
        tuning, calibration, test = ([q for q in side if q.id in answers] for side in split(drawn_questions, self.spec))
        questions = [*tuning, *calibration, *test]
        self._check_sides(tuning, calibration, test)
        right = {q.id: trivia.is_right(answers[q.id], q.normalized_aliases) for q in questions}
        self.reporter.log(
            f"{sum(right.values())} of {len(questions)} answers are right{without_answer(answers.values())}"
        )
        judged = [*calibration, *test]
        judged_by = [
            self._judge(place, name, self._juror(place, tuning, answers, right), judged, answers)
            for place, name in enumerate(self.spec.juror_names)
        ]
        by_question = dict(zip([q.id for q in judged], zip(*judged_by, strict=True), strict=True))
        calibration, test = ([q for q in side if None not in by_question[q.id]] for side in (calibration, test))
        self._check_sides(tuning, calibration, test)
        lost = len(judged) - len(calibration) - len(test)
        judged = [*calibration, *test]
        probabilities = np.array([by_question[q.id] for q in judged])  # (rows, jurors, 2)
        jury = Judgements(
            self.spec.juror_names,
            tuple(q.id for q in judged),
            tuple(q.question for q in judged),
            tuple(answers[q.id] for q in judged),
            np.array([right[q.id] for q in judged]),
            probabilities[:, :, 0].copy(),
            probabilities[:, :, 1].copy(),
            ("calibration",) * len(calibration) + ("test",) * len(test),
        )
        note = f"All answers are by {self.spec.base}. {self._tuned_on(len(tuning))}"
        notes = [note, *filter(None, [self._asked_for_decisions()]), *self.doubts]
        if missing := len(drawn_questions) - len(questions) + lost:
            notes.append(
                f"{missing:,} of {len(drawn_questions):,} questions are missing, because a server did not answer them "
                "or gave no verdict; figures are those of the others, which may be easier. The log names them."
            )
        jury_id = jury_store.save(
            jury, name=self.spec.jury_name, origin=jury_store.MADE_HERE, notes=notes, weights=self._weights()
        )
        self.reporter.log(f"jury {jury_id}")
        return jury_id

    def _weights(self) -> dict[str, str]:
        """The fingerprints of the base and of each juror by their names; empty where they are not known."""
        names = (f"{short_name(self.spec.base)} (answers)", *self.spec.juror_names)
        models = (self.spec.base, *self.spec.jurors)
        recorded = self.spec.weights or ("",) * len(models)
        rows = zip(names, models, recorded, strict=True)
        return {name: own or shipped().get(model, "") for name, model, own in rows}

    def _check_sides(self, *sides: Sequence[ShortQuestion]) -> None:
        """Raise :class:`~core.errors.InputError` if the server's missing answers leave one of the sides empty."""
        if not all(sides):
            counts = ", ".join(map(str, map(len, sides)))
            raise InputError(
                f"without the questions that the server does not answer, {counts} are left to tune, calibrate and "
                "test; take more questions"
            )

    def _waiting(self, reason: str) -> None:
        """Called while a server does not answer."""
        self.reporter.stop_if_cancelled()
        if reason:
            self.reporter.report(f"waiting: {reason}")

    @contextmanager
    def _unchanged(self, place: int) -> Iterator[Callable[[], None]]:
        """Raise :class:`~core.errors.InputError` if the base (0) or a juror (from 1 on) is not the model with which the
        jury was begun: before and after the body, before each lasting write in it, and whenever the yielded function
        is called. Answers, tuning and verdicts of different weights are not mixed."""
        model = (self.spec.base, *self.spec.jurors)[place]
        if served_model(model):
            yield lambda: None
            return
        recorded = self.spec.weights[place] if self.spec.weights else "" if model in shipped() else None
        files = ModelFiles(model, recorded, report=self.reporter.report)
        with guarded(files.check):
            yield files.check
            files.check()

    def _check_served(self, engine: ServerEngine) -> None:
        """Raise :class:`~core.errors.InputError` if a server holds other weights than at an earlier try."""
        name = f"{engine.model}@{engine.client.urls[0]}"
        if engine.decisions:  # whose answer to another question tells the weights apart
            name = f"{name} {DECIDES}"
        known = read_served(self.folder)
        engine.check_weights({"weights": known.get(name)}, what="jury")
        if name not in known:
            known[name] = asdict(engine.able.weights)
            note_served(self.folder, known)

    def _say_missing(self, name: str, missing: NoAnswer) -> None:
        self.reporter.log(f"question {name} is left out ({missing.kind}): {missing.reason}")

    # ---- the three stages

    def _answers(self, questions: Sequence[ShortQuestion]) -> dict[str, str]:
        path = self.folder / "answers.jsonl"
        known: dict[str, str] = {row["id"]: row["answer"] for row in _read_lines(path, "answer")}
        waiting = [q for q in questions if q.id not in known]
        if waiting:
            self._load(self.spec.base, done=len(known), total=len(questions))
            spec, prompts = self.spec, [answer_prompt(q.question) for q in waiting]
            coming = written_answers(
                spec.base,
                prompts,
                dtype=spec.dtype,
                key_variable=spec.key_variable,
                timeout_s=self.timeout_s,
                spending=self.spending,
                on_wait=self._waiting,
                on_server=self._check_served,
                on_missing=lambda place, missing: self._say_missing(waiting[place].id, missing),
            )
            with self._unchanged(0) as check, path.open("a", encoding="utf-8", newline="\n") as out:
                for place, text in coming:
                    check()
                    known[waiting[place].id] = text
                    out.write(json_line({"id": waiting[place].id, "answer": text}))
                    out.flush()
                    self.reporter.done += 1
                    self.reporter.report(f"answers of {self.spec.base}")
        return known

    def _juror(
        self, place: int, tuning: Sequence[ShortQuestion], answers: dict[str, str], right: dict[str, bool]
    ) -> str:
        """The model that judges as juror number ``place``; tuned first where it is no adapter yet."""
        from core.models.model_sources import resolve

        model, name = self.spec.jurors[place], self.spec.juror_names[place]
        folder = self.folder / "jurors" / name
        if served_model(model) or resolve(model).is_adapter:
            return model
        if self._is_tuned(name, folder):
            return str(folder)
        self._load(name, total=self.spec.steps)
        from core.models.adapters.juror import Example, Tuning, fine_tune

        examples = [Example(q.question, answers[q.id], right[q.id]) for q in own_part(tuning, self.spec, place)]
        tuned = Tuning(
            rank=self.spec.rank,
            steps=self.spec.steps,
            rows=self.spec.rows,
            rate=self.spec.rate,
            seed=self.spec.seed + place,
        )
        losses: list[float] = []

        def report(done: int, total: int, loss: float) -> None:
            check()
            losses.append(loss)
            if done in (2, total) or done % WRITE_EVERY == 0:
                write_json(self.folder / "losses.json", {"losses": losses}, lasting=False)
            self.reporter.done = done
            with suppress(RunCancelled):  # the tuning asks by itself, and writes a checkpoint before it stops
                self.reporter.report(f"tuning {name}")

        dtype = self.spec.dtype
        with self._unchanged(1 + place) as check:
            fine_tune(
                model,
                examples,
                folder,
                tuned,
                dtype=dtype,
                on_step=report,
                cancelled=self.reporter.cancelled,
                log=self.reporter.log,
            )
        self.reporter.log(f"juror {name}: {self.spec.steps} steps on {len(examples)} answers")
        return str(folder)

    def _is_tuned(self, name: str, folder: Path) -> bool:
        """Whether an earlier try has tuned this juror. A damaged one is deleted, and tuned again."""
        if not (folder / TRAINING).is_file():
            return False
        try:
            check_digests(folder)
        except InputError as error:
            self.reporter.log(f"juror {name} is tuned again, because {error}")
            shutil.rmtree(folder)
            return False
        return True

    def _tuned_on(self, answers: int) -> str:
        """How many other answers tuned which jurors, in words."""
        from core.models.model_sources import resolve

        names = zip(self.spec.juror_names, self.spec.jurors, strict=True)
        as_they_were = [name for name, model in names if served_model(model) or resolve(model).is_adapter]
        if len(as_they_were) == len(self.spec.jurors):
            return f"The jurors judged as they were; {answers} other answers, kept for tuning, were not judged."
        it_was = "it was" if len(as_they_were) == 1 else "they were"
        exceptions = f"; {', '.join(as_they_were)} judged as {it_was}" if as_they_were else ""
        return f"{answers} other answers tuned the jurors{exceptions}."

    def _asked_for_decisions(self) -> str:
        """Which jurors answered yes-or-no questions, in a sentence; the others had to go on after a text."""
        served = read_served(self.folder)
        names = zip(self.spec.juror_names, self.spec.jurors, strict=True)
        deciding = [name for name, model in names if f"{served_model(model)} {DECIDES}" in served]
        if not deciding:
            return ""
        others = "; the others' are of the next word after a text" if len(deciding) < len(self.spec.jurors) else ""
        return f"The probabilities of {', '.join(deciding)} are a server's answers to yes-or-no questions{others}."

    def _judge(
        self, place: int, name: str, model: str, judged: Sequence[ShortQuestion], answers: dict[str, str]
    ) -> list[Verdict | None]:
        """A juror's probabilities of True and False, through the engine that scores options; None where a server gives
        none."""
        path = self.folder / f"judged-{name}.jsonl"
        known = _kept_verdicts(path, judged, answers)
        waiting = [(q.id, q.question, answers[q.id]) for q in judged if q.id not in known]
        if waiting:
            self._load(name, done=len(known), total=len(judged))
            with self._unchanged(1 + place) as check:
                self._ask_juror(name, model, waiting, path, known, check)
        masses = [row["mass"] for row in known.values() if row.get("mass") is not None]
        older = path.with_suffix(".txt")
        contradictions = sum(row.get("contradiction") is True for row in known.values())
        note = doubt(name, masses, contradictions) or (
            older.read_text(encoding="utf-8", errors="replace") if older.is_file() else ""
        )
        if note:
            self.reporter.log(note)
            self.doubts.append(note)
        verdicts = [known.get(q.id, {}).get("verdict") for q in judged]
        return [None if verdict is None else (verdict[0], verdict[1]) for verdict in verdicts]

    def _ask_juror(
        self,
        name: str,
        model: str,
        waiting: Sequence[tuple[str, str, str]],
        path: Path,
        known: dict[str, dict[str, Any]],
        check: Callable[[], None],
    ) -> None:
        """Add the verdicts on answers (id, question, answer) to those that are ``known``, and to their file;
        None where a server gives none. ``check`` is called before each is written."""
        judging = judge(
            model,
            waiting,
            dtype=self.spec.dtype,
            key_variable=self.spec.key_variable,
            timeout_s=self.timeout_s,
            spending=self.spending,
            on_wait=self._waiting,
            on_server=self._check_served,
            decides=f"{served_model(model)} {DECIDES}" in read_served(self.folder) or (False if known else None),
        )
        checked = judging.checked
        self.reporter.log(f"juror {name}: judged {checked.rung}, off by {checked.largest_difference:.2g} at most")
        judged = {question: answer for question, _, answer in waiting}

        def keep(question: str, verdict: Verdict | None, **more: Any) -> None:
            check()
            known[question] = {"id": question, "answer": judged[question], "verdict": verdict, **more}
            out.write(json_line(known[question]))
            out.flush()

        with path.open("a", encoding="utf-8", newline="\n") as out:
            for place, (question, verdict) in enumerate(judging.verdicts()):
                keep(question, verdict, mass=judging.masses[place], contradiction=judging.contradictions[place])
                self.reporter.done = len(known)
                self.reporter.report(f"verdicts of {name}")
            for question, missing in judging.missing.items():
                self._say_missing(question, missing)
                keep(question, None)

    def _load(self, name: str, *, total: int, done: int = 0) -> None:
        """Begin a stage, whose first part is always to load a model."""
        self.reporter.done, self.reporter.total = done, total
        self.reporter.report(f"loading {name}")
        # Before any other import of transformers: the worker imports it beside, and one must wait for the other.
        language_models()


def _read_lines(path: Path, what: str) -> list[dict[str, Any]]:
    """The lines with answers or verdicts that are on disk; a line that is damaged or was cut off is none."""
    rows = [row for row in read_lines(path) if isinstance(row.get("id"), str) and what in row]
    if path.is_file():
        write_atomically(path, "".join(map(json_line, rows)).encode())
    return rows


def _kept_verdicts(path: Path, judged: Sequence[ShortQuestion], answers: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The lines of a juror's verdicts on these answers by the question's id. An answer that was damaged, and has
    been written again in other words, is judged again."""
    older = path.with_suffix(".json")
    if older.is_file():  # a verdict for each question, by an older version
        with suppress(OSError, ValueError, KeyError):
            rows = read_json(older, of_list="rows")["rows"]
            return {q.id: {"verdict": row} for q, row in zip(judged, rows, strict=True)}
    rows = [row for row in _read_lines(path, "verdict") if row["id"] in answers]
    return {row["id"]: row for row in rows if row.get("answer", answers[row["id"]]) == answers[row["id"]]}
