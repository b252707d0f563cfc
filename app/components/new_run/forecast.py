"""What the requested runs will take, and which of them exist already, before anything is launched."""

from typing import Any

import streamlit as st

from app.caches import forecast_cache
from app.caches.forecast_cache import Plan
from app.components.new_run import question_counts
from app.components.shared.resume import resume_button
from app.components.shared.runs import links_to, open_run, titles
from app.errors import spoken
from app.formatting import counted, duration, plain, size
from core.progress import rate_in_words
from core.questions.bank_names import bank_name, task_title
from core.reports.forecast import Forecast
from core.reports.titles import FORM_TITLES, PRECISION_TITLES, STRATEGY_TITLES
from core.runs import actions, store
from core.runs.caveats import Caveat
from core.runs.prompts import Combination
from core.runs.store import STATE_WORDS, RunRecord

MOST_SHOWN = 4
TIME_HELP = (
    "Estimated from the speed of an earlier run of the same model, in the same precision and form, with one run at a "
    "time on each device. It includes the time to load the model and to check it."
)
TOKENS_HELP = "The number of tokens in all prompts together, counted with each model's own tokenizer."
USUAL_HELP = "The number of tokens in all prompts together, at four characters a token: a tokenizer is not here yet."
SERVED_TOKENS_HELP = (
    "What the server reads and writes, estimated by the length of the texts (three bytes a token, which is rather too "
    "many). Where texts are scored, each option is sent with its whole prompt. Decisions are checked with up to 72 "
    "more requests: 12 before the run, and 20 questions three times after it."
)
COST_HELP = (
    "These tokens at your prices. Letters that the server does not list, and decisions without a valid answer, may "
    "cost another request."
)
NO_RATE = "not known"
NO_RATE_HELP = "No run of this model in this precision and form has finished yet. The first one measures the speed."


def forecast(combination: Combination | None) -> Plan | None:
    """Say what the requested runs will do and how long they take, and return their plan. None if nothing is requested
    or such runs are not possible."""
    if combination is None:
        return None
    plan: Plan | None = None
    with spoken(), st.container(gap="small"):
        plan = forecast_cache.plan(combination)
        st.markdown(f"**{plain(_in_words(plan))}**")
        question_counts.words(plan)
        _warnings(plan)
        _caveats(plan)
        _existing(plan)
    return plan


def details(plan: Plan | None) -> None:
    """Show, folded, what numbers of questions show; tokens, memory, disk space and speed; and a row for each of several
    runs."""
    if plan is None:
        return
    question_counts.curve(plan)
    with st.expander("Tokens, memory, disk, speed"):
        _figures(plan)
        _room(plan)
        if len(plan.runs) > 1:
            numbers = dict.fromkeys(("Questions", "Tokens"), st.column_config.NumberColumn(format="%,d"))
            rows = [_row(run, plan) for run in plan.runs]
            st.dataframe(rows, hide_index=True, height="auto", column_config=numbers)


def _in_words(plan: Plan) -> str:
    """What the runs do, and what they take."""
    runs, spec = plan.to_time, plan.to_time[0].spec
    questions = f"{_questions(plan)} questions"
    if len(runs) > 1:
        words = f"{len(runs):,} runs answer {questions}."
    else:
        answers = "answers" if plan.new else "has answered"
        words = f"{spec.model_name} {answers} {questions} of {task_title(spec.task, bank_name(spec))}."
    cost = "" if plan.cost is None else f" The server costs {plan.cost:,.4g}."
    if plan.seconds is None:
        return f"{words} The time is not known before a first run of such a model.{cost}"
    takes = "This takes" if plan.new else "A repeat takes"
    return f"{words} {takes} about {duration(plan.seconds)}.{cost}"


def _questions(plan: Plan) -> str:
    works = [run.work for run in plan.to_time]
    known = [work.questions for work in works if work]
    return f"{sum(known):,}{'+' if len(known) < len(works) else ''}"


def _figures(plan: Plan) -> None:
    runs = plan.to_time
    works = [run.work for run in runs]
    more = "" if all(works) else "+"
    with st.container(horizontal=True, gap="medium"):
        st.metric("Runs", f"{len(runs):,}", width="content")
        st.metric("Questions", _questions(plan), width="content")
        tokens = sum(run.tokens or 0 for run in runs)
        counted_all = all(run.counted for run in runs)
        counting = SERVED_TOKENS_HELP if plan.on_servers else TOKENS_HELP if counted_all else USUAL_HELP
        st.metric("Tokens in all", f"{_short(tokens)}{more}", help=counting, width="content")
        if plan.cost is not None:
            st.metric("Cost", f"{plan.cost:,.4g}", help=COST_HELP, width="content")
        seconds = plan.seconds
        if seconds is None:
            st.metric("Time", NO_RATE, help=NO_RATE_HELP, width="content")
        else:
            about = "about " if any(run.is_rough for run in runs) else ""
            st.metric("Time", f"{about}{duration(seconds)}", help=TIME_HELP, width="content")


def _room(plan: Plan) -> None:
    """Show the memory, the disk space, and where the rate was measured."""
    sizes = [run.memory_gib for run in plan.runs if run.memory_gib]
    device = max(plan.devices, key=lambda slot: slot.memory_gib)
    sentences = []
    if plan.on_servers:
        sentences.append("Memory: none here, because the server has loaded the model")
    elif sizes:
        most = "up to " if len(plan.runs) > 1 else ""
        needed = max(run.devices for run in plan.runs)
        each = f"{device.memory_gib:.0f} GiB ({device.label or device.name})"
        where = f"of {each}" if needed == 1 else f"GiB on {needed} devices of {each}"
        sentences.append(f"Memory: {most}{max(sizes):.1f} {where}")
    else:
        sentences.append("Memory: not known before the model is loaded")
    disk, download = _disk(plan)
    room = [f"about {size(disk)}"] * bool(disk) + [f"{size(download)} to download"] * bool(download)
    sentences.append(f"disk: {', '.join([*room, f'{size(plan.free_disk)} free'])}")
    sentences.append(_rate(plan))
    st.caption(plain("; ".join(sentences) + "."))


def _disk(plan: Plan) -> tuple[int, int]:
    """The bytes that the new runs write, and those that they download."""
    downloads = {run.spec.model: run.download for run in plan.new}
    return sum(run.disk or 0 for run in plan.new), sum(downloads.values())


def _warnings(plan: Plan) -> None:
    """Say what keeps the runs from ending well: too little disk, budget or memory."""
    if sum(_disk(plan)) > plan.free_disk:
        st.warning("The disk has less free space than these runs need. Free some space first.")
    _budget(plan)
    refused = [run for run in plan.runs if run.too_large]
    if refused:
        specs = [run.spec for run in refused]
        names = ", ".join(dict.fromkeys(f"{spec.model_name} ({PRECISION_TITLES[spec.dtype]})" for spec in specs))
        st.warning(plain(f"No device here has room for {names}: {refused[0].too_large}."))
    if any(run.work is None for run in plan.runs):
        st.caption("Questions from the hub are counted after their download, which begins with the launch.")


def _caveats(plan: Plan) -> None:
    """Show the caveats that new runs will probably have, each kind once: those that can be avoided as warnings."""
    by_kind: dict[str, list[Caveat]] = {}
    for run in plan.new:
        for caveat in run.caveats:
            by_kind.setdefault(caveat.kind, []).append(caveat)
    for kind, caveats in by_kind.items():
        more = f" The same holds for {counted(len(caveats) - 1, 'more run')}." if len(caveats) > 1 else ""
        (st.warning if kind == "cut" else st.caption)(plain(f"{caveats[0].text}{more}"))


def _budget(plan: Plan) -> None:
    """Warn if a run that does not exist yet would reach its budget before its last question."""
    for run in plan.runs:
        if run.spec.run_id in plan.existing:
            continue
        price = run.spec.price
        cost = price.cost(*run.work.sent) if run.work else 0.0
        if price.budget is not None and cost > price.budget:
            st.warning(
                f"A run costs about {price.in_words(cost)}, and the budget is {price.in_words(price.budget)}. It would "
                "stop there, and keep what has finished."
            )
            return


def _rate(plan: Plan) -> str:
    """The plan's questions per second of its time, and where that was measured."""
    runs, seconds = plan.to_time, plan.seconds
    missing = list(dict.fromkeys(run.spec.model_name for run in runs if run.rate is None))
    if missing:
        return f"no speed is known yet for {', '.join(missing[:3])}{' …' if len(missing) > 3 else ''}"
    questions = sum(run.work.questions for run in runs if run.work)
    if not (seconds and questions):
        return "the speed is not known before the questions are here"
    here = [run.rate.here for run in runs if run.rate]
    where = "here" if all(here) else "partly on another machine" if any(here) else "on another machine"
    rough = sorted({run.rate.shots for run in runs if run.rate and run.is_rough})
    shots = counted(rough[0], "shot") if len(rough) == 1 else "other numbers of shots"
    by = f" with {shots}, so this is rough" if rough else ""
    return f"speed: {rate_in_words(questions / seconds, 'question')} with loading, measured {where}{by}"


def _row(run: Forecast, plan: Plan) -> dict[str, Any]:
    spec = run.spec
    before = plan.existing.get(spec.run_id)
    return {
        "Model": spec.model_name,
        "Task": task_title(spec.task, bank_name(spec)),
        "Options": FORM_TITLES[spec.form],
        "Shots": spec.shots,
        "Strategy": STRATEGY_TITLES[spec.strategy],
        "Precision": PRECISION_TITLES[spec.dtype],
        "Questions": run.work.questions if run.work else None,
        "Tokens": run.tokens,
        "Memory": f"{run.memory_gib:.1f} GiB" + (" (too large)" if run.too_large else "") if run.memory_gib else "?",
        "Time": NO_RATE if run.seconds is None else duration(run.seconds),
        "Exists": STATE_WORDS[before.state] if before else "",
    }


def _existing(plan: Plan) -> None:
    """Show which runs exist already, with buttons to open, repeat or resume them."""
    if not plan.existing:
        return
    words = titles(tuple(plan.existing.values()))
    st.markdown(f"**{_existing_words(len(plan.existing), len(plan.runs))}**")
    for record in list(plan.existing.values())[:MOST_SHOWN]:
        words_of_run = plain(f"{words[record.run_id]}: {STATE_WORDS[record.state]}")
        if record.at_budget:  # the field of its new budget leaves no room beside it
            st.caption(words_of_run)
            with st.container(horizontal=True, vertical_alignment="bottom"):
                _choices(record)
            continue
        with st.container(horizontal=True, vertical_alignment="center", wrap=False):
            st.caption(words_of_run, width="stretch")
            _choices(record)
    if len(done := [record.spec for record in plan.existing.values() if record.state == "done"]) > 1:
        with st.container(horizontal=True):
            links_to(done)
    if len(plan.existing) > MOST_SHOWN:
        st.caption(f"… and {len(plan.existing) - MOST_SHOWN:,} more. The folded table lists all of them.")


def _existing_words(there: int, runs: int) -> str:
    if runs == 1:
        return "This run already exists."
    if there == runs:
        return f"{'Both' if runs == 2 else f'All {runs:,}'} runs already exist."
    return f"{there:,} of these {runs:,} runs already {'exists' if there == 1 else 'exist'}."


def _choices(record: RunRecord) -> None:
    run_id = record.run_id
    if record.state == "done":
        if st.button("Open", key=f"exists-open-{run_id}"):
            open_run(run_id)
        if st.button(
            "Repeat", key=f"exists-repeat-{run_id}", help="Runs it again. Its present results move to the bin."
        ):
            with spoken():
                refused = actions.repeat([run_id]).refused
                if refused:
                    st.error(plain(refused[run_id]))
    elif record.state in store.RESUMABLE:
        with spoken():
            resume_button(record, key=f"exists-resume-{run_id}")


def _short(number: float) -> str:
    for unit, name in ((1e9, "billion"), (1e6, "million")):
        if number >= unit:
            return f"{number / unit:,.1f} {name}"
    return f"{number:,.0f}"
