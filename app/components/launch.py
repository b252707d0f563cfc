"""The form that asks for runs: what is asked of which model, how, and how it is computed."""

from __future__ import annotations

import os
from dataclasses import replace

import streamlit as st

from app import data, navigation
from app.components.runs import title
from app.words import counted, plain
from core.inference import models
from core.inference.registry import BY_ID, MODELS
from core.prompting.strategies import STRATEGIES
from core.runs.asked import Combination
from core.runs.slots import CPU, slots
from core.runs.spec import DTYPES, FORMS, MAX_SHOTS, MODES, QUANTIZED, RunSpec
from core.settings import settings
from core.tasks import TASKS, catalogue

NUMBER = "number"
ALL = "all"
AMOUNTS = {mode: f"{number:,}" for mode, number in MODES.items()} | {ALL: "all", NUMBER: "other"}
AMOUNT_HELP = (
    f"{' and '.join(f'{number:,}' for number in MODES.values())} are the short and the long mode of the papers."
)

MODEL_HELP = (
    "A model that ships with Hedge or one of the Hugging Face hub; or type a hub id, or a local folder with a model or "
    "a PEFT adapter, and press Enter."
)
TASK_HELP = (
    "Tasks that ship with Hedge, or their full data sets on the hub; or type the path of a file of your own (JSON "
    "lines, CSV or Parquet with question, options and label) and press Enter."
)
FORM_WORDS = {"letters": "by letter", "cloze": "by text (cloze)"}
FORM_HELP = (
    "By letter: the options are shown and the probability of each letter counts. By text: the options are not shown, "
    "and the probability of each option's own words after the question counts."
)
STRATEGY_HELP = "base: no instruction; shared: one instruction for every task; task: one that names the task's kind."
SHOTS_HELP = "Answered examples before each question; they come from neither the calibration nor the test questions."
FORMAT_WORDS = {"plain": "plain text", "chat": "chat"}
FORMAT_HELP = "Chat puts the prompt into the model's own chat template, where it has one."
ROTATIONS_HELP = (
    "Every test question is asked once for each rotation of its options, which shows whether the model prefers a "
    "letter: four times for four options."
)
DTYPE_HELP = (
    "The numbers the model computes with. int8 and int4 are weights of 8 and 4 bits, which need an NVIDIA GPU and the "
    "package bitsandbytes."
)
BATCH_HELP = "Questions computed at once. Left empty, free memory decides; it changes the speed, not the result."
SEED_HELP = "Draws the questions, the examples and the split."
SHARE_HELP = "The share of the questions that sets the threshold; the others are the test."


def form() -> Combination | None:
    """The form; what it asks for now, None while there is no model or no task in it."""
    model = st.selectbox(
        "Model",
        known_models(),
        index=0 if known_models() else None,
        accept_new_options=True,
        placeholder="a folder or a hub id",
        key="launch_model",
        persist_state="session",
        help=MODEL_HELP,
    )
    if model in BY_ID:
        st.caption(plain(about(str(model))))
    titles = catalogue.choices()
    tasks = st.multiselect(
        "Tasks",
        list(titles),
        default=list(titles)[:1],
        format_func=lambda name: titles.get(name, name),
        accept_new_options=True,
        placeholder="a task or a file",
        key="launch_tasks",
        persist_state="session",
        help=TASK_HELP,
    )
    samples = _samples()
    with st.expander("How it is asked"):
        asked = _asking(Combination(models=(str(model),), tasks=tuple(map(str, tasks)), samples=samples))
    with st.expander("How it is computed and split"):
        asked = _computing(asked)
    return asked if model and tasks else None


def _samples() -> int | None:
    amount = st.segmented_control(
        "Questions at most",
        list(AMOUNTS),
        format_func=AMOUNTS.__getitem__,
        default="short",
        required=True,
        key="launch_mode",
        help=AMOUNT_HELP,
    )
    if amount == ALL:
        return None
    if amount != NUMBER:
        return MODES[str(amount)]
    return int(st.number_input("Number of questions", 2, 1_000_000, 1000, step=100, key="launch_samples"))


def _asking(asked: Combination) -> Combination:
    """With the choices that change the prompt."""
    scored = st.segmented_control(
        "Options are scored",
        FORMS,
        format_func=FORM_WORDS.__getitem__,
        default=FORMS[0],
        required=True,
        key="launch_form",
        help=FORM_HELP,
    )
    strategy = st.segmented_control(
        "Strategy", STRATEGIES, default=STRATEGIES[0], required=True, key="launch_strategy", help=STRATEGY_HELP
    )
    shots = st.number_input("Shots", 0, MAX_SHOTS, 0, key="launch_shots", help=SHOTS_HELP)
    prompt_format = st.segmented_control(
        "Format",
        list(FORMAT_WORDS),
        format_func=FORMAT_WORDS.__getitem__,
        default="plain",
        required=True,
        key="launch_format",
        help=FORMAT_HELP,
    )
    rotations = st.checkbox("Ask with the options rotated too", key="launch_rotations", help=ROTATIONS_HELP)
    return replace(
        asked,
        forms=(str(scored),),
        strategies=(str(strategy),),
        shots=int(shots),
        formats=(str(prompt_format),),
        rotations=rotations,
    )


def _computing(asked: Combination) -> Combination:
    """With the choices that change how the answers are computed, and which questions calibrate."""
    dtype = st.selectbox("Precision", precisions(), key="launch_dtype", help=DTYPE_HELP)
    batch = st.number_input(
        "Batch size", 1, 4096, None, placeholder="memory decides", key="launch_batch", help=BATCH_HELP
    )
    seed = st.number_input("Seed", 0, 2**31 - 1, 0, key="launch_seed", help=SEED_HELP)
    share = st.slider("Calibration share", 0.1, 0.9, 0.5, 0.05, key="launch_share", help=SHARE_HELP)
    return replace(
        asked,
        dtypes=(str(dtype),),
        batch_size=None if batch is None else int(batch),
        seed=int(seed),
        calibration_share=float(share),
    )


def known_models() -> list[str]:
    """The bundled models, those of earlier runs of one's own, then those of the table that can be run."""
    earlier = [record.spec.model for record in data.runs().records if record.spec.origin == "hedge"]
    fake = [models.FAKE_MODEL] if os.environ.get(models.FAKE_ENGINE_VARIABLE) else []
    listed = [model.id for model in MODELS if not model.instead]
    return list(dict.fromkeys([*models.bundled_models(), *fake, *earlier, *listed]))


def about(model: str) -> str:
    """What the table says of a model of the hub."""
    listed = BY_ID[model]
    parts = [f"{listed.millions:,} million parameters", listed.kind, f"{listed.licence} licence"]
    parts += ["gated: accept its terms on the hub and set HF_TOKEN"] * listed.gated
    return " · ".join(parts)


def precisions() -> list[str]:
    """The precisions that a worker here may have; where others may join through a database, all of them."""
    if settings().database_url or _has_gpu():
        return list(DTYPES)
    return [dtype for dtype in DTYPES if dtype not in QUANTIZED]


@st.cache_resource(ttl=600, show_spinner=False)
def _has_gpu() -> bool:
    return slots()[0].name != CPU


def launch_button(asked: Combination | None) -> bool:
    """The button; whether it was pressed."""
    return st.button("Launch", disabled=asked is None, width="stretch")


def launch(asked: Combination) -> None:
    """Ask the engine for the runs, all of them or none, and say what became of each."""
    from core.runs import engine
    from core.runs.execute import preflight

    with st.spinner("Asking for the run …"):
        specs = asked.specs()
        known = {record.run_id: record for record in data.runs().finished}
        for spec in specs if len(specs) > 1 else ():  # a single one is looked at when it is handed in
            if spec.run_id not in known:
                preflight(spec)
        for spec in specs:
            engine.submit(spec)
    for spec in specs:
        if spec.run_id in known:
            st.info(
                f"This run has been done before, and a repeat would give the same: {plain(title(known[spec.run_id]))}."
            )
            navigation.link(navigation.ALPHA_LAB, "Open it in the Alpha lab", run=spec.run_id)
        else:
            st.success(f"Asked for {plain(title_of(spec))}.")


def title_of(spec: RunSpec) -> str:
    """A spec in a few words."""
    amount = f"{counted(spec.samples, 'question')} at most" if spec.samples else "all questions"
    return f"{spec.model_name} on {TASKS.get(spec.task, spec.task)}, {amount}"
