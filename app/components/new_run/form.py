"""The form for new runs: which models, which tasks, how the questions are asked, and how answers are computed."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from app import state
from app.caches import forecast_cache, run_cache
from app.components.new_run import server_form
from app.components.new_run.server_form import ServedModels
from app.components.shared import wrong_place
from app.components.shared.controls import REFUSED, choice, whole_number
from app.components.shared.only_looking import others_are_served
from app.formatting import plain
from app.state.fields import amount_text, joined, split
from app.state.new_run import ALL, HERE, NUMBER, SERVER, NewRunView
from core.models import model_sources
from core.models.model_sources import DTYPES, QUANTIZED
from core.models.registry import BY_ID, MODELS
from core.questions import catalogue
from core.questions.prompting.decision import DECISION_FORMATS
from core.questions.prompting.forms import FORMATS, FORMS, TEXT_FORMS
from core.questions.prompting.strategies import STRATEGIES
from core.reports.titles import FORM_TITLES, FORMAT_TITLES, PRECISION_TITLES, STRATEGY_TITLES
from core.reports.toy_models import what_they_are
from core.runs.prompts import Combination
from core.runs.spec import MAX_SHOTS, MODES, RunSpec
from core.settings import settings

FIRST_MODEL = "pocket-8m"
"""The model that is chosen at first: the largest that ships, which still takes only seconds for 100 questions."""
AMOUNTS = {mode: f"{number:,}" for mode, number in MODES.items()} | {ALL: "all", NUMBER: "other"}
AMOUNT_HELP = (
    "More questions take longer and give narrower intervals. "
    f"{' and '.join(f'{number:,}' for number in MODES.values())} are the numbers used in the papers."
)
MODEL_HELP = (
    "A model that ships with Hedge, or one from the Hugging Face hub. You can also type a hub id, or a local folder "
    "with a model or a PEFT adapter, and press Enter."
)
SERVED_MODEL_HELP = (
    "A model that ships with Hedge, one from the Hugging Face hub, or one in a folder that the administrator of this "
    "server lists. You can also type a hub id and press Enter."
)
SERVED_TASK_HELP = (
    "Tasks that ship with Hedge, the full data sets on the hub, and files that the administrator of this server lists. "
    "Your own questions come in on the page Data."
)
TASK_HELP = (
    "Tasks that ship with Hedge, or the full data sets on the hub. You can also type the path of your own file "
    "(a table with the columns question, options and label, Moodle XML or GIFT) and press Enter."
)
FORM_HELP = (
    "By letter: the model sees the options and answers with a letter. By text: the model does not see the options, and "
    "each option's text is scored as the answer. As a continuation: the same, with the option right after the "
    "question's text, for models that have only read running text."
)
STRATEGY_HELP = (
    "Each one that you choose makes one run. No instruction: the prompt is the question alone. Shared instruction: the "
    "same one for every task. Task instruction: it names the kind of task."
)
SHOTS_HELP = (
    "How many answered examples come before each question, from 0 to 16. Each number makes one run. The examples are "
    "neither calibration nor test questions."
)
FORMAT_HELP = (
    "Chat puts the prompt into the model's chat template, if the model has one. Some servers answer requests for "
    "decisions, in the format of System One or of OpenAI: they give the probability of every option."
)
ROTATIONS_HELP = (
    "Asks every test question once for each rotation of its options, four times for four options. It shows whether the "
    "model prefers a letter."
)
DTYPE_HELP = (
    "Each one that you choose makes one run. It is the size of the numbers that the model computes with. 16-bit (bf16) "
    "halves the memory of 32-bit and is faster where the processor or the GPU computes in it. But it rounds: with "
    "pocket-8m, the most probable option changes on 0.4% to 0.8% of questions. 8-bit and 4-bit weights need an "
    "NVIDIA GPU and the package bitsandbytes."
)
BATCH_HELP = "How many questions are computed at once. If it is empty, free memory decides. It changes only the speed."
DEVICE_HELP = (
    "A run takes one GPU if its model fits on one, and as many as it needs otherwise. Here you can choose the one GPU "
    "that it must take."
)
SEED_HELP = "Decides which questions are drawn, which are examples, and which calibrate."
SHARE_HELP = "The share of the questions that calibrates, that is, sets the threshold. The others are the test."

WIDGETS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "launch_place": ("place", str),
    "launch_models": ("models", lambda text: split(text) or [_first_model()]),
    "launch_tasks": ("tasks", lambda text: split(text) or list(catalogue.choices())[:1]),
    "launch_mode": ("amount", str),
    "launch_samples": ("samples", float),
    "launch_form": ("form", str),
    "launch_strategies": ("strategies", split),
    "launch_shots": ("shots", lambda text: [int(number) for number in split(text)]),
    "launch_format": ("format", str),
    "launch_rotations": ("rotations", "on".__eq__),
    "launch_dtypes": ("precision", lambda text: _possible(split(text)) or [forecast_cache.default_dtype()]),
    "launch_batch": ("batch", lambda text: float(text) if text else None),
    "launch_seed": ("seed", float),
    "launch_share": ("share", lambda hundredths: min(max(hundredths, 10), 90) / 100),
    **{f"launch_{name}": (name, lambda text: float(text) if text else None) for name in server_form.LIMITS},
}
"""The key of each widget → the view's field, and its value for the widget."""


def form() -> Combination | None:
    """Show the form and return its current request, or None if it has no model or no task.

    The page's address says what the form holds when the page is opened. From then on the widgets know it, and the
    address follows them: a browser may send an address that is older than what a person has just typed.
    """
    if state.is_open(NewRunView):
        _fill(state.remembered(NewRunView), missing=True)
    else:
        _fill(state.view(NewRunView))
    combination = _request()
    values = {name: _text(name, st.session_state[key]) for key, (name, _) in WIDGETS.items() if key in st.session_state}
    state.read_changes(NewRunView, values)
    return combination


def fill(spec: RunSpec) -> None:
    """Put a run's choices into the form, so that one of them can be changed. For callbacks."""
    server_form.fill("launch", spec)
    amount = next((mode for mode, number in MODES.items() if number == spec.samples), NUMBER if spec.samples else ALL)
    models = state.remembered(NewRunView).models if spec.servers else joined([spec.model])
    view = NewRunView(
        place=SERVER if spec.servers else HERE,
        models=models,
        tasks=joined([spec.task]),
        amount=amount,
        samples=spec.samples or 1000,
        form=spec.form,
        strategies=spec.strategy,
        shots=str(spec.shots),
        format=spec.prompt_format,
        rotations="on" if spec.rotations else "off",
        precision=spec.dtype,
        batch=str(spec.batch_size or ""),
        seed=spec.seed,
        share=round(100 * spec.calibration_share),
        **server_form.limits_of(spec),
    )
    _fill(view)


def _fill(view: NewRunView, *, missing: bool = False) -> None:
    """Give the widgets the values of the view, or only those that are ``missing`` because they were not shown."""
    for key, (name, value) in WIDGETS.items():
        if not missing or key not in st.session_state:
            st.session_state[key] = value(getattr(view, name))


def _text(name: str, value: object) -> str:
    """A widget's value as the view's field ``name`` has it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return joined(map(str, value))
    if isinstance(value, float):
        return str(round(100 * value)) if name == "share" else amount_text(value)
    return "" if value is None else str(value)


def _request() -> Combination | None:
    """Show the form's widgets and return what they request."""
    served = None
    if on_server := server_form.is_on_server("launch"):
        served = server_form.served_models("launch", instead=(server_form.PICKED, server_form.DECIDED))
        chosen = list(served.models) if served else []
    else:
        chosen = _models()
    titles = catalogue.choices()
    tasks = st.multiselect(
        "Tasks",
        list(titles),
        format_func=lambda name: titles.get(name) or catalogue.file_title(name),
        accept_new_options=True,
        placeholder="Choose a task" if others_are_served() else "Choose a task, or type the path of a file",
        select_all=False,
        key="launch_tasks",
        wrap=True,
        help=task_help(),
    )
    for task in tasks:
        wrong_place.hint_of_task(task)
    samples = _samples()
    requested = Combination(models=tuple(map(str, chosen)), tasks=tuple(map(str, tasks)), samples=samples)
    if served:
        requested = replace(requested, **served.fields())
    with st.expander("More options"):
        st.markdown("**How the questions are asked**")
        combination = _prompt_choices(requested, served)
        st.markdown("**How the answers are computed**")
        combination = _computing_choices(combination, on_server=on_server)
    server_form.letters_warning(served, combination)
    if REFUSED in (combination.samples, combination.seed, combination.batch_size):
        return None
    if not (chosen and tasks):
        missing = "task" if chosen else "model"
        st.caption(
            "Connect to a server and choose a model there to launch a run."
            if on_server and not chosen
            else f"Choose at least one {missing} to launch a run."
        )
        return None
    return combination


def _models() -> list[str]:
    """Show and return the choice of models that Hedge loads."""
    offered, served = known_models(), others_are_served()
    chosen = st.multiselect(
        "Models",
        offered,
        accept_new_options=True,
        placeholder="Choose a model, or type a hub id" if served else "Choose a model, or type a folder or a hub id",
        select_all=False,  # so typing and Enter choose the first match, not all of them
        key="launch_models",
        wrap=True,
        help=model_help(),
    )
    with st.container():  # present even if empty, so that what follows keeps its place and its open list
        for model in chosen:
            if model in BY_ID:
                st.caption(plain(about(model, named=len(chosen) > 1)))
        if words := what_they_are(map(str, chosen)):
            st.caption(plain(words))
    return list(map(str, chosen))


def _samples() -> int | None:
    amount = choice("Number of questions, at most", AMOUNTS, key="launch_mode", help=AMOUNT_HELP)
    if amount == ALL:
        return None
    if amount != NUMBER:
        return MODES[amount]
    return whole_number("How many", step=100, key="launch_samples")


def _prompt_choices(combination: Combination, served: ServedModels | None) -> Combination:
    """Add the options that change the prompt; of a server, only those that it can answer."""
    forms, formats = (served.forms, (*served.formats, *served.decisions)) if served else (FORMS, FORMATS)
    for key, offered in (("launch_form", forms), ("launch_format", formats)):
        if st.session_state[key] not in offered:
            st.session_state[key] = offered[0]
    if served and st.session_state["launch_form"] in TEXT_FORMS:
        formats = ("plain",)  # a server does not say how likely a text is in its chat format
        st.session_state["launch_format"] = "plain"
    decides = st.session_state["launch_format"] in DECISION_FORMATS
    if decides:
        forms = ("letters",)
    scored = choice("Options are scored", FORM_TITLES, forms, key="launch_form", help=FORM_HELP)
    strategies = st.segmented_control(
        "Strategies",
        STRATEGIES,
        selection_mode="multi",
        format_func=STRATEGY_TITLES.__getitem__,
        key="launch_strategies",
        help=STRATEGY_HELP,
    )
    shots = (
        ()
        if decides  # a request for a decision has no place for demonstrations
        else st.multiselect(
            "Shots",
            range(MAX_SHOTS + 1),
            placeholder="0 to 16",
            select_all=False,  # typing 2 and Enter chooses 2, not 12 as well
            key="launch_shots",
            wrap=True,
            help=SHOTS_HELP,
        )
    )
    prompt_format = choice("Format", FORMAT_TITLES, formats, key="launch_format", help=FORMAT_HELP)
    rotations = st.checkbox("Ask with the options rotated too", key="launch_rotations", help=ROTATIONS_HELP)
    return replace(
        combination,
        forms=(scored,),
        strategies=tuple(name for name in STRATEGIES if name in strategies) or STRATEGIES[:1],
        shots=tuple(sorted(shots)) or (0,),
        formats=(prompt_format,),
        rotations=rotations,
    )


def _computing_choices(combination: Combination, *, on_server: bool) -> Combination:
    """Add the options that change how the answers are computed, and which questions calibrate."""
    if not on_server:
        combination = _precision_and_batch(combination)
    seed = whole_number("Seed", digits=10, key="launch_seed", help=SEED_HELP)
    share = st.slider("Calibration share", 0.1, 0.9, step=0.05, key="launch_share", help=SHARE_HELP)
    return replace(combination, seed=seed or 0, calibration_share=float(share))


def _precision_and_batch(combination: Combination) -> Combination:
    offered = precisions()
    chosen = st.segmented_control(
        "Precision",
        offered,
        selection_mode="multi",
        format_func=PRECISION_TITLES.__getitem__,
        key="launch_dtypes",
        help=DTYPE_HELP,
    )
    batch = whole_number(
        "Batch size", digits=6, value=None, placeholder="memory decides", key="launch_batch", help=BATCH_HELP
    )
    return replace(
        combination,
        dtypes=tuple(name for name in offered if name in chosen) or tuple(offered[:1]),
        batch_size=batch,
        device=_device(),
    )


def _device() -> str:
    """The device that the person chose, empty for any. There is nothing to choose with a single one."""
    offered = forecast_cache.devices_here()
    if not offered:
        return ""
    return st.selectbox(
        "Device",
        ["", *offered],
        format_func=lambda name: name or "any that is free",
        key="launch_device",
        help=DEVICE_HELP,
    )


def _first_model() -> str:
    """The model that is chosen at first."""
    offered = known_models()
    return FIRST_MODEL if FIRST_MODEL in offered else offered[0]


def _possible(names: Sequence[str]) -> list[str]:
    """Those of the precisions that are possible here."""
    return [name for name in precisions() if name in names]


def model_help() -> str:
    """What can be chosen as a model."""
    return SERVED_MODEL_HELP if others_are_served() else MODEL_HELP


def task_help() -> str:
    """What can be chosen as a task."""
    return SERVED_TASK_HELP if others_are_served() else TASK_HELP


def known_models() -> list[str]:
    """The bundled models, then those of a person's earlier runs, then those in the table that can be run."""
    own = [record.spec for record in run_cache.runs().records if record.is_computed]
    earlier = [spec.model for spec in own if not spec.servers]  # such a name has no meaning without its server
    fake = [model_sources.FAKE_MODEL] if os.environ.get(model_sources.FAKE_ENGINE_VARIABLE) else []
    listed = [model.id for model in MODELS if not model.instead]
    return list(
        dict.fromkeys([*model_sources.bundled_models(), *fake, *model_sources.listed_models(), *earlier, *listed])
    )


def about(model: str, *, named: bool = False) -> str:
    """The table's note on a model of the hub."""
    listed = BY_ID[model]
    parts = [model] * named
    parts += [f"{listed.millions:,} million parameters", listed.kind, f"{listed.licence} licence"]
    parts += ["gated: accept its terms on the hub and set HF_TOKEN"] * listed.gated
    return " · ".join(parts)


def precisions() -> list[str]:
    """The precisions that a worker on this host supports. All precisions if other hosts may join through a database."""
    if settings().database_url or forecast_cache.has_gpu():
        return list(DTYPES)
    return [dtype for dtype in DTYPES if dtype not in QUANTIZED]
