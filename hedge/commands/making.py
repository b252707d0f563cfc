"""``hedge jury answer | finetune | judge | make``: making a jury, in stages or at once."""

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError, plain
from core.jury.judgements import Judgements, truth
from core.jury.pipeline import jury_spec, jury_store
from core.jury.pipeline.jury_spec import JurySpec, answer_prompt
from core.models.price import Price
from core.models.replaced_weights import same_weights
from core.models.server.left_out import NoAnswer
from core.questions import trivia
from core.questions.prompting.written import without_answer
from core.questions.rows import read_file
from core.runs import jury_job, store
from core.runs.execution import jury_run
from core.storage.atomic import write_atomically
from hedge.commands.answer import CommandResult
from hedge.commands.runs import execute_here


@dataclass(frozen=True, slots=True)
class Answered:
    """A line of a file of answers: the question, what a base model said, and whether that is right."""

    id: str
    question: str
    answer: str
    right: bool


def read_answers(path: Path) -> list[Answered]:
    """The answers that :func:`answer` wrote, or any table with id, question, answer and label.

    Raises :class:`InputError` that names the row which is none.
    """
    answers = []
    for number, row in enumerate(read_file(path), start=1):
        question, text = row.get("question"), row.get("answer")
        if not isinstance(question, str) or not isinstance(text, str):
            raise InputError(f"{path}, row {number}: expected a question and an answer as text")
        try:
            right = truth(row.get("label", row.get("correctness", "")))
        except InputError as error:
            raise InputError(f"{path}, row {number}: {error}") from None
        answers.append(Answered(str(row.get("id") or number), question, text, right))
    return answers


def answer(arguments: Namespace) -> CommandResult:
    """Let a base model answer short-answer questions greedily, and say which answers are right."""
    from tqdm import tqdm

    from core.models.written import written_answers

    spec = JurySpec(
        base=arguments.model, jurors=("-", "-"), questions=arguments.questions, samples=arguments.samples,
        seed=arguments.seed, dtype=arguments.dtype, key_variable=arguments.key_variable,
    )  # fmt: skip
    questions = jury_spec.drawn(spec)
    prompts = [answer_prompt(q.question) for q in questions]
    coming = written_answers(
        arguments.model,
        prompts,
        on_missing=lambda i, missing: _say_missing(questions[i].id, missing),
        **_how(arguments),
    )
    texts: dict[int, str] = {}
    with same_weights(arguments.model) as weights, tqdm(total=len(questions), file=sys.stderr, delay=0.001) as bar:
        for i, text in coming:
            texts[i] = text
            bar.update()
    rows = [
        {
            "id": q.id,
            "question": q.question,
            "answer": texts[i],
            "label": trivia.is_right(texts[i], q.normalized_aliases),
        }
        for i, q in enumerate(questions)
        if i in texts
    ]
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(arguments.out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
    right = sum(row["label"] is True for row in rows)
    missing = len(questions) - len(rows)
    values = {"answers": str(arguments.out), "n": len(rows), "right": right, "missing": missing, "weights": weights}
    empty = without_answer(texts.values())
    lost = f"; {missing:,} questions were not answered" if missing else ""
    return CommandResult(values, f"{right} of {len(rows)} answers are right; all are in {arguments.out}{empty}{lost}")


def _how(arguments: Namespace) -> dict[str, Any]:
    """In which precision a model computes, and on what terms a server is asked."""
    return {"dtype": arguments.dtype, "key_variable": arguments.key_variable, "timeout_s": arguments.timeout}


def finetune(arguments: Namespace) -> CommandResult:
    """Tune one juror on answers; the same command continues a training that was stopped."""
    from tqdm import tqdm

    from core.models.adapters.juror import Example, Tuning, fine_tune

    examples = [Example(row.question, row.answer, row.right) for row in read_answers(arguments.answers)]
    tuning = Tuning(
        rank=arguments.rank, steps=arguments.steps, rows=arguments.rows, rate=arguments.rate, seed=arguments.seed
    )
    # With a delay nothing is drawn before the first step: of a model that is refused the sentence says it all.
    with tqdm(total=tuning.steps, unit="step", file=sys.stderr, delay=0.001) as bar:

        def show(done: int, total: int, loss: float) -> None:
            bar.delay = 0  # from here on it is drawn, however fast the steps are
            bar.set_postfix_str(f"loss {loss:.3f}", refresh=False)
            bar.update(done - bar.n)

        def log(line: str) -> None:
            print(f"hedge: {line}", file=sys.stderr)

        losses = fine_tune(
            arguments.model, examples, arguments.out, tuning, dtype=arguments.dtype, on_step=show, log=log
        )
    tenth = max(1, len(losses) // 10)
    first, last = float(np.mean(losses[:tenth])), float(np.mean(losses[-tenth:]))
    values = {"adapter": str(arguments.out), "steps": len(losses), "first_loss": first, "last_loss": last}
    return CommandResult(values, f"{arguments.out}: {len(losses)} steps, loss {first:.3f} to {last:.3f}")


def judge(arguments: Namespace) -> CommandResult:
    """Let jurors judge answers and keep what they say as a jury."""
    rows = read_answers(arguments.answers)
    names = JurySpec(base="-", jurors=tuple(arguments.juror), key_variable=arguments.key_variable).juror_names
    judged_by = [_verdicts(name, model, rows, arguments) for name, model in zip(names, arguments.juror, strict=True)]
    weights, verdicts_by_juror, doubts = zip(*judged_by, strict=True)
    total, rows = len(rows), [row for row in rows if all(row.id in verdicts for verdicts in verdicts_by_juror)]
    if not rows:
        raise InputError("no answer has a verdict of every juror; the lines above say why")
    probabilities = np.array([[verdicts[row.id] for row in rows] for verdicts in verdicts_by_juror])
    judged = Judgements(
        names,
        tuple(row.id for row in rows),
        tuple(row.question for row in rows),
        tuple(row.answer for row in rows),
        np.array([row.right for row in rows]),
        probabilities[:, :, 0].T.copy(),
        probabilities[:, :, 1].T.copy(),
        ("",) * len(rows),
    )
    name = arguments.name or "-".join(names)
    origin = f"judged here from {arguments.answers.name}"
    missing = total - len(rows)
    notes = [f"{missing:,} of {total:,} answers are missing, because a server gave no verdict."] * bool(missing)
    notes += filter(None, doubts)
    jury_id = jury_store.save(
        judged, name=name, origin=origin, notes=notes, weights=dict(zip(names, weights, strict=True))
    )
    text = f"{jury_id}: {len(rows)} answers, {len(names)} jurors"
    return CommandResult(
        {"jury": jury_id, "answers": len(rows), "missing": missing}, " ".join([text, *(f"({note})" for note in notes)])
    )


def _verdicts(
    juror: str, model: str, rows: Sequence[Answered], arguments: Namespace
) -> tuple[str, dict[str, tuple[float, float]], str]:
    """The fingerprint of a juror, its verdicts by the answers' ids, without those that a server does not give, and what
    is doubtful of them."""
    from core.models.verdicts import doubt
    from core.models.verdicts import judge as ask

    answers = [(row.id, row.question, row.answer) for row in rows]
    with same_weights(model) as weights:
        judging = ask(model, answers, **_how(arguments))
        verdicts = dict(judging.verdicts())
    for name, missing in judging.missing.items():
        _say_missing(name, missing)
    return weights, verdicts, doubt(juror, judging.masses, sum(judging.contradictions))


def _say_missing(name: str, missing: NoAnswer) -> None:
    print(plain(f"hedge: question {name} is left out ({missing.kind}): {missing.reason}"), file=sys.stderr)


def make(arguments: Namespace) -> CommandResult:
    """Run the whole jury pipeline, in this process or in the background."""
    spec = JurySpec(
        base=arguments.base, jurors=tuple(arguments.juror), questions=arguments.questions, samples=arguments.samples,
        seed=arguments.seed, dtype=arguments.dtype, tune_share=arguments.tune_share,
        calibration_share=arguments.calibration_share, steps=arguments.steps, rows=arguments.rows,
        rank=arguments.rank, rate=arguments.rate, key_variable=arguments.key_variable,
    )  # fmt: skip
    price = Price(arguments.price_read, arguments.price_written, arguments.budget)
    if arguments.queue:
        path_id = jury_job.launch(spec, price=price, timeout_s=arguments.timeout)
        return CommandResult({"path": path_id}, f"{path_id} waits for a worker; see the New run page")
    path_id = jury_spec.create(spec)
    run_id = execute_here(
        jury_run.spec_of(jury_spec.read_spec(path_id), price=price, timeout_s=arguments.timeout), unit="row"
    )
    jury_id = store.read_record(run_id).provenance["jury"]
    return CommandResult(
        {"path": path_id, "jury": jury_id}, f"{jury_id} is made; `hedge jury evaluate` tries rules on it"
    )
