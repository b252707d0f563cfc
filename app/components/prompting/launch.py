"""Launch a whole experiment from one form: models × questions × shots × prompt forms, as one group."""

import shlex
from dataclasses import replace
from typing import Any

import streamlit as st

from app import navigation
from app.components.new_run import form, launch, server_form
from app.components.new_run.forecast import forecast
from app.components.prompting.experiment import ShownExperiment
from app.components.shared.controls import REFUSED, choice, whole_number
from app.formatting import plain
from core.questions import catalogue
from core.questions.prompting.forms import FORMATS, FORMS, TEXT_FORMS
from core.questions.prompting.strategies import STRATEGIES
from core.reports.titles import FORM_TITLES, FORMAT_TITLES, STRATEGY_TITLES
from core.runs.prompts import Combination
from core.runs.spec import MAX_SHOTS, MAX_SYSTEM, SERVED
from hedge.commands.run_words import run_words

SHOTS = (0, 1, 2, 5)
SAMPLES = 200
FORM_CHOICES = ("letters", "cloze")
BEGUN_WITH = "ways_begun_with"
ORDERS_HELP = (
    "Ask every test question by letter, in all orders of its options: 24 for four options, and a seeded "
    "sample of 25 for five. By text, the options are not shown, so they have no order."
)
REPEATS_HELP = "The number of answers that the model writes to each test question, sampled and by letter. 0 means none."
SYSTEM_HELP = "In a chat template this is the system message. In plain text it comes before everything else."


def section(shown: ShownExperiment | None) -> None:
    """Show the form, its forecast, and its button. The form begins with the experiment that is shown, if there is one,
    so that what is added joins it."""
    _begin_with(shown)
    combination = _form(shown)
    with st.container(border=True, gap="small"):
        pressed = launch.launch_button(forecast(combination))
    if pressed and combination:
        launch.launch(combination)
        navigation.link(navigation.NEW_RUN, "Watch the runs on New run")
    if combination:
        st.caption("The same on the command line:")
        st.code(f"hedge run {shlex.join(run_words(combination))} --queue", language=None, wrap_lines=True)


def _begin_with(shown: ShownExperiment | None) -> None:
    """Set the form to the experiment that is shown, once for each; later changes of a person stay."""
    key = shown.experiment.key if shown else ""
    if st.session_state.get(BEGUN_WITH) == key and "ways_shots" in st.session_state:
        return
    begin: dict[str, Any] = {
        "ways_models": form.known_models()[:1],
        "ways_tasks": list(catalogue.choices())[:1],
        "ways_forms": list(FORM_CHOICES),
        "ways_shots": list(SHOTS),
        "ways_samples": float(SAMPLES),
        "ways_strategy": STRATEGIES[0],
        "ways_format": FORMATS[0],
        "ways_system": "",
    }
    if shown:
        specs, same = [record.spec for record in shown.records], shown.experiment
        forms = {spec.form for spec in specs}
        server_form.offer("ways", specs[0])
        begin |= {"ways_models": [same.model]} if not specs[0].servers else {}
        begin |= {
            "ways_tasks": [same.task],
            "ways_forms": [name for name in FORMS if name in forms],
            "ways_shots": list(shown.shots),
            "ways_samples": None if same.samples is None else float(same.samples),
            "ways_strategy": same.strategy,
            "ways_format": same.prompt_format,
            "ways_system": same.system,
        }
    st.session_state.update({BEGUN_WITH: key, **begin})


def _form(shown: ShownExperiment | None) -> Combination | None:
    left, right = st.columns(2, gap="medium")
    offered, titles = form.known_models(), catalogue.choices()
    with left:
        served, on_server = None, server_form.is_on_server("ways")
        if on_server:
            served = server_form.served_models("ways")
            models = list(served.models) if served else []
        else:
            st.session_state.setdefault("ways_models", offered[:1])
            models = st.multiselect(
                "Models", offered, accept_new_options=True, key="ways_models", help=form.model_help(), wrap=True
            )
    able_forms, formats = (served.forms, served.formats) if served else (FORMS, FORMATS)
    st.session_state["ways_forms"] = [name for name in st.session_state["ways_forms"] if name in able_forms]
    if served and set(st.session_state["ways_forms"]) & set(TEXT_FORMS):
        formats = ("plain",)  # a server does not say how likely a text is in its chat format
    if st.session_state["ways_format"] not in formats:
        st.session_state["ways_format"] = formats[0]
    tasks = right.multiselect(
        "Questions",
        list(titles),
        format_func=lambda name: titles.get(name, name),
        accept_new_options=True,
        key="ways_tasks",
        help=form.task_help(),
        wrap=True,
    )
    forms = left.segmented_control(
        "Options are scored",
        able_forms,
        selection_mode="multi",
        format_func=FORM_TITLES.__getitem__,
        key="ways_forms",
        help=form.FORM_HELP,
        wrap=True,
    )
    shots = right.multiselect(
        "Shots", range(MAX_SHOTS + 1), select_all=False, key="ways_shots", help=form.SHOTS_HELP, wrap=True
    )
    samples = whole_number(
        "Maximum number of questions",
        value=None,
        step=100,
        placeholder="All questions",
        place=left,
        key="ways_samples",
    )
    strategy = choice(
        "Strategy", STRATEGY_TITLES, STRATEGIES, place=right, key="ways_strategy", help=form.STRATEGY_HELP, wrap=True
    )
    prompt_format = choice(
        "Format", FORMAT_TITLES, formats, place=left, key="ways_format", help=form.FORMAT_HELP, wrap=True
    )
    repeats = whole_number("Written answers", value=0.0, place=right, key="ways_repeats", help=REPEATS_HELP)
    system = st.text_area(
        "Your own system prompt", key="ways_system", height=68, max_chars=MAX_SYSTEM, help=SYSTEM_HELP
    )
    orders = st.checkbox("By letter, in all orders of the options", key="ways_orders", help=ORDERS_HELP)
    if REFUSED in (samples, repeats):
        return None
    if not (models and tasks and forms):
        st.caption(plain("Choose a model, questions and a way of scoring."))
        return None
    combination = Combination(
        models=tuple(map(str, models)),
        tasks=tuple(map(str, tasks)),
        strategies=(strategy,),
        forms=tuple(name for name in FORMS if name in forms),
        formats=(prompt_format,),
        shots=tuple(sorted(shots)) or (0,),
        samples=samples,
        orders=orders,
        system=system.strip(),
        repeats=repeats or 0,
        **_unchanged(shown),
    )
    server_form.letters_warning(served, combination)
    return replace(combination, **served.fields()) if served else combination


def _unchanged(shown: ShownExperiment | None) -> dict[str, Any]:
    """What the form does not ask for and an experiment's runs share: precision, seed, and share for calibration."""
    if shown is None:
        return {}
    same = shown.experiment
    precision = {"dtypes": (same.dtype,)} if same.dtype != SERVED else {}
    return {**precision, "seed": same.seed, "calibration_share": same.calibration_share}
