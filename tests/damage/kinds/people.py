"""Classes, and the queue of runs."""

from typing import Any

from tests.damage.kinds.common import QUESTIONS, Names, other_run
from tests.damage.looks import Look, Refused, command, listed, pages, report, run
from tests.damage.tries import Kind

# ---------------------------------------------------------------- classes


def _classes() -> Names:
    from core.serving.classroom import class_store, lecture, quiz

    names = {}
    for name, seed in (("first", 1), ("second", 2)):
        live = lecture.open_class(quiz.draw("qa", n=6, calibration=3, seed=seed))
        names[name] = live.code
        for seat in range(6):
            live.join(f"{seed}{seat:031x}", f"Ada {seat}")
        for question in range(6):
            lecture.ask_next(live.code)
            for seat in range(6):
                shares = [20] * 4
                shares[(seat + question) % 4] += 20
                live.answer(f"{seed}{seat:031x}", question=question, shares=shares, turn=1)
            lecture.show_answer(live.code)
    lecture.ask_next(names["first"])
    for connection in class_store._open.values():
        connection.close()
    return names | {"brook": other_run()}


def _of_classes(names: Names) -> list[Look]:
    def shown(code: str) -> Any:
        from core.serving.classroom import class_run, class_state, lecture
        from core.serving.classroom.refusals import ClassRefusal

        try:
            live = lecture.led(code)
            table = class_run.answers_table(code, names=True)
            return [class_state.for_phones(live), class_state.for_projector(live), table.to_json()]
        except ClassRefusal as error:
            raise Refused(f"classes.sqlite: {error}") from error

    def codes() -> Any:
        from core.serving.classroom import lecture

        return sorted(lecture.own_classes())

    files = ("classes.sqlite",)
    own = [Look(name, files, lambda code=names[name]: shown(code)) for name in ("first", "second")]
    return [report(names["brook"]), listed(names["brook"]), Look("codes", files, codes), *own]


# ---------------------------------------------------------------- the run engine's database


def _queued() -> Names:
    names = {"brook": other_run()}
    for seed in (1, 2, 3):
        (names[f"queued {seed}"],) = run(*QUESTIONS, "--samples", "60", "--seed", str(seed), "--queue")["runs"]
    return names


def _of_queue(names: Names) -> list[Look]:
    def queue() -> Any:
        from core.runs import engine

        return [[now.run_id, now.state, now.message] for now in engine.statuses()]

    files = ("engine.sqlite",)
    # Why a run waits is not known without the database; beside the list a sentence says that.
    waiting = map(listed, list(names.values())[1:])
    queued = [Look(look.name, (*look.paths, *files), lambda look=look: look.get()["state"]) for look in waiting]
    brook = names["brook"]
    first = Look("first", files, command("first", names["queued 3"]), costly=True)
    cancel = Look("cancel", files, command("cancel", names["queued 2"]), costly=True)
    new_run = pages({"brook": brook}, overview={}, compare={"runs": brook}, new_run={})
    return [report(brook), listed(brook), *queued, Look("queue", files, queue), first, cancel, new_run]


KINDS = {
    "class": Kind(_classes, _of_classes, ("classes.sqlite*",)),
    "database": Kind(_queued, _of_queue, ("engine.sqlite*",)),
}
