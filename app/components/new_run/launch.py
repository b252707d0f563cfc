"""Launch the requested runs, and report the outcome of each."""

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from app.caches import run_cache
from app.caches.forecast_cache import Plan
from app.components.shared.reading import reading
from app.formatting import counted, plain, sentence, shortened
from core.questions.bank_names import bank_name, bank_of_task, task_title
from core.runs import store
from core.runs.model_files import identified
from core.runs.prompts import Combination
from core.runs.spec import RunSpec
from core.runs.store import RunRecord

EXISTING_HELP = (
    "Nothing is left to launch, because all of these runs exist. The buttons above open, repeat or resume them."
)


def launch_button(plan: Plan | None) -> bool:
    """Show the button, with the number of runs that it begins. Returns whether it was pressed.

    If all of the runs exist, it resumes those that stopped, with the form's budget and key, or is disabled.
    """
    if plan is None:
        return st.button("Launch", key="launch", disabled=True, width="stretch")
    stopped = sum(_can_resume(run.spec, plan.existing.get(run.spec.run_id)) for run in plan.runs)
    new = len(plan.runs) - len(plan.existing)
    if new:
        label = f"Launch {counted(new + stopped, 'run')}" if len(plan.runs) > 1 else "Launch"
        return st.button(label, key="launch", width="stretch")
    if stopped:
        label = "Resume with these settings" if stopped == 1 else f"Resume the {stopped:,} runs that stopped"
        return st.button(label, key="launch", width="stretch")
    return st.button("Launch", key="launch", disabled=True, width="stretch", help=EXISTING_HELP)


def _can_resume(spec: RunSpec, record: RunRecord | None) -> bool:
    """Whether the run stopped and can continue with the form's settings; at its budget it needs a larger one."""
    if record is None or record.state not in store.RESUMABLE:
        return False
    return not record.at_budget or spec.budget is None or spec.budget > (record.spec.budget or 0.0)


def launch(combination: Combination) -> None:
    """Submit the runs to the engine and report the outcome of each. Submits none if any of them can't start."""
    from core.runs import actions, engine
    from core.runs.execution.execute import preflight
    from core.runs.execution.served import check_finished

    with st.spinner("Launching …"), reading() as report:
        specs = identified(combination.specs(), report=report)
        for note in check_finished(specs):
            st.info(plain(sentence(note)))
        known = {record.run_id for record in run_cache.runs().records if record.state in actions.SETTLED}
        new = [spec for spec in specs if spec.run_id not in known]
        for spec in _one_of_each(new) if len(new) > 1 else ():  # a single run is checked when it is submitted
            preflight(spec)
        if len(specs) == 1:
            engine.submit(specs[0])
            refused: dict[str, str] = {}
        else:
            _, outcome = actions.launch(specs, name=group_name(combination))
            refused = outcome.refused
    begun = [spec for spec in specs if spec.run_id not in known and spec.run_id not in refused]
    if len(begun) == 1:
        st.success(f"Launched {plain(title_of(begun[0]))}.")
    elif begun:
        st.success(f"Launched {len(begun)} runs.")
    for reason, number in Counter(refused.values()).items():
        st.error(plain(f"{sentence(reason)} ({counted(number, 'run')} not launched)"))


def _one_of_each(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """The fewest runs that contain each model and each set of questions at least once."""
    models: dict[str, RunSpec] = {}
    questions: dict[tuple[object, ...], RunSpec] = {}
    for spec in specs:
        models.setdefault(spec.model, spec)
        questions.setdefault((spec.task, spec.shots, spec.form), spec)
    return list(dict.fromkeys([*models.values(), *questions.values()]))


def group_name(combination: Combination) -> str:
    """The name of a group, for example ``2 models × 3 tasks × 2 strategies``."""
    axes = {
        "model": combination.models,
        "task": combination.tasks,
        "strategy": combination.strategies,
        "precision": combination.dtypes,
        "number of shots": combination.shots,
    }
    many = {"strategy": "strategies", "number of shots": "numbers of shots"}
    several = [counted(len(values), name, many.get(name, "")) for name, values in axes.items() if len(values) > 1]
    single = [shortened(combination.models[0].rpartition("/")[2], 24)] * (len(combination.models) == 1)
    single += [shortened(task_title(combination.tasks[0], bank_of_task(combination.tasks[0])), 48)] * (
        len(combination.tasks) == 1
    )
    return " · ".join([*single, " × ".join(several)])


def title_of(spec: RunSpec) -> str:
    """A short description of a spec."""
    amount = f"{counted(spec.samples, 'question')} at most" if spec.samples else "all questions"
    return f"{spec.model_name} on {task_title(spec.task, bank_name(spec))}, {amount}"
