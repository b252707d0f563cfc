"""The form for new runs: which models, which tasks, how the questions are asked, and how answers are computed."""

from __future__ import annotations

import os
from dataclasses import replace

import streamlit as st

from app.caches import forecast_cache, run_cache
from app.formatting import plain
from core.inference import models
from core.inference.registry import BY_ID, MODELS
from core.prompting.strategies import STRATEGIES
from core.runs.prompts import Combination
from core.runs.spec import DTYPES, FORMATS, FORMS, MAX_SHOTS, MODES, QUANTIZED
from core.runs.titles import FORM_TITLES, FORMAT_TITLES, PRECISION_TITLES, STRATEGY_TITLES
from core.settings import settings
from core.tasks import catalogue

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
FORM_HELP = (
    "By letter: the options are shown and the probability of each letter counts. By text: the options are not shown, "
    "and the probability of each option's own words after the question and “Answer:” counts. As continuation: the same "
    "right after the question's text, for models that only ever read running text."
)
STRATEGY_HELP = (
    "One run for each that is chosen. No instruction: the prompt is the question alone. Shared instruction: every task "
    "has the same one. Task instruction: it names the kind of task."
)
SHOTS_HELP = (
    "How many answered examples stand before each question, 0 to 16, one run for each number; they come from neither "
    "the calibration nor the test questions."
)
FORMAT_HELP = "Chat puts the prompt into the model's own chat template, where it has one."
ROTATIONS_HELP = (
    "Every test question is asked once for each rotation of its options, which shows whether the model prefers a "
    "letter: four times for four options."
)
DTYPE_HELP = (
    "One run for each that is chosen: the size of the numbers that the model computes with. 8-bit and 4-bit weights "
    "need an NVIDIA GPU and the package bitsandbytes."
)
BATCH_HELP = "Questions computed at once. Left empty, free memory decides; it changes the speed, not the result."
SEED_HELP = "Draws the questions, the examples and the split."
SHARE_HELP = "The share of the questions that sets the threshold; the others are the test."


def form() -> Combination | None:
    """Show the form and return its current request, or None if it has no model or no task."""
    offered = known_models()
    chosen = st.multiselect(
        "Models",
        offered,
        default=offered[:1],
        accept_new_options=True,
        placeholder="a folder or a hub id",
        select_all=False,  # so typing and Enter choose the first match, not all of them
        key="launch_models",
        persist_state="session",
        help=MODEL_HELP,
    )
    with st.container():  # present even if empty, so that what follows keeps its place and its open list
        for model in chosen:
            if model in BY_ID:
                st.caption(plain(about(model, named=len(chosen) > 1)))
    titles = catalogue.choices()
    tasks = st.multiselect(
        "Tasks",
        list(titles),
        default=list(titles)[:1],
        format_func=lambda name: titles.get(name, name),
        accept_new_options=True,
        placeholder="a task or a file",
        select_all=False,
        key="launch_tasks",
        persist_state="session",
        help=TASK_HELP,
    )
    samples = _samples()
    with st.expander("How it is asked"):
        combination = _prompt_choices(
            Combination(models=tuple(map(str, chosen)), tasks=tuple(map(str, tasks)), samples=samples)
        )
    with st.expander("How it is computed and split"):
        combination = _computing_choices(combination)
    return combination if chosen and tasks else None


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


def _prompt_choices(combination: Combination) -> Combination:
    """Add the options that change the prompt."""
    scored = st.segmented_control(
        "Options are scored",
        FORMS,
        format_func=FORM_TITLES.__getitem__,
        default=FORMS[0],
        required=True,
        key="launch_form",
        help=FORM_HELP,
    )
    strategies = st.segmented_control(
        "Strategies",
        STRATEGIES,
        selection_mode="multi",
        default=[STRATEGIES[0]],
        format_func=STRATEGY_TITLES.__getitem__,
        key="launch_strategies",
        help=STRATEGY_HELP,
    )
    shots = st.multiselect(
        "Shots",
        range(MAX_SHOTS + 1),
        default=[0],
        placeholder="0 to 16",
        select_all=False,  # typing 2 and Enter chooses 2, not 12 as well
        key="launch_shots",
        help=SHOTS_HELP,
    )
    prompt_format = st.segmented_control(
        "Format",
        FORMATS,
        format_func=FORMAT_TITLES.__getitem__,
        default="plain",
        required=True,
        key="launch_format",
        help=FORMAT_HELP,
    )
    rotations = st.checkbox("Ask with the options rotated too", key="launch_rotations", help=ROTATIONS_HELP)
    return replace(
        combination,
        forms=(str(scored),),
        strategies=tuple(name for name in STRATEGIES if name in strategies) or STRATEGIES[:1],
        shots=tuple(sorted(shots)) or (0,),
        formats=(str(prompt_format),),
        rotations=rotations,
    )


def _computing_choices(combination: Combination) -> Combination:
    """Add the options that change how the answers are computed, and which questions calibrate."""
    offered = precisions()
    chosen = st.segmented_control(
        "Precision",
        offered,
        selection_mode="multi",
        default=offered[:1],
        format_func=PRECISION_TITLES.__getitem__,
        key="launch_dtypes",
        help=DTYPE_HELP,
    )
    batch = st.number_input(
        "Batch size", 1, 4096, None, placeholder="memory decides", key="launch_batch", help=BATCH_HELP
    )
    seed = st.number_input("Seed", 0, 2**31 - 1, 0, key="launch_seed", help=SEED_HELP)
    share = st.slider("Calibration share", 0.1, 0.9, 0.5, 0.05, key="launch_share", help=SHARE_HELP)
    return replace(
        combination,
        dtypes=tuple(name for name in offered if name in chosen) or tuple(offered[:1]),
        batch_size=None if batch is None else int(batch),
        seed=int(seed),
        calibration_share=float(share),
    )


def known_models() -> list[str]:
    """The bundled models, then those of a person's earlier runs, then those in the table that can be run."""
    earlier = [record.spec.model for record in run_cache.runs().records if record.spec.origin == "hedge"]
    fake = [models.FAKE_MODEL] if os.environ.get(models.FAKE_ENGINE_VARIABLE) else []
    listed = [model.id for model in MODELS if not model.instead]
    return list(dict.fromkeys([*models.bundled_models(), *fake, *earlier, *listed]))


def about(model: str, *, named: bool = False) -> str:
    """What the table says about a model of the hub."""
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
