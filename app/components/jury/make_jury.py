"""Make a jury: the form, and the juries that are being made, with their progress and loss."""

import pandas as pd
import streamlit as st

from app import navigation, style
from app.components.new_run import server_form
from app.components.new_run.form import known_models
from app.components.new_run.server_form import ServedModels
from app.components.shared.controls import REFUSED, whole_number
from app.components.shared.figures import draw
from app.components.shared.resume import resume_button
from app.errors import spoken
from app.formatting import counted, plain, sentence
from charts.tuning_loss import tuning_loss
from core.errors import InputError
from core.jury.pipeline import jury_spec
from core.jury.pipeline.jury_spec import JurySpec
from core.models.model_sources import DTYPES
from core.models.server_address import model_on_servers, served_model
from core.questions import trivia
from core.reports.titles import PRECISION_TITLES
from core.runs import jury_job, store
from core.runs.jury_job import JuryProgress

POLL_S = 1.0
SHOWN = 4
OFFERED = JurySpec(base="pocket-3m-instruct", jurors=("pocket-8m",) * 3, samples=2500)
"""The form's default values: the bundled models, tuned long enough to learn something."""
JURORS_HELP = (
    "Each model is tuned with LoRA to say True or False, on its own part of the answers. Separate the "
    "names by spaces or commas. Name a model twice to get two jurors of it. An adapter that is already "
    "tuned judges at once: give its folder, or one that ships with Hedge (juror-3m, juror-3m-instruct, "
    "juror-8m)."
)
SERVED_HELP = "They are not fine-tuned. Jurors that Hedge loads are tuned first."
NO_JURORS = (
    "This server does not give the log-probabilities of a text that it was sent, and answers no decisions, so its "
    "models can't be jurors. They can give the answers. A server that gives them, such as vLLM, can hold jurors too."
)
REQUESTS = (
    "A model on the server gets one request for each question if it gives the answers, and one for each verdict if it "
    "is a juror. A budget beside the server's prices limits what they cost."
)
SERVER = "jury"
"""The beginning of the widget keys of the server form."""
QUESTIONS_HELP = (
    "trivia ships with Hedge. trivia_qa@hub is TriviaQA from the Hugging Face hub. You can also give the "
    "path of a file in the same format."
)


def section() -> None:
    """Show the form, and the juries that are being made or were made here."""
    with st.expander("Make a jury", on_change="rerun", key="make_jury_open") as folded:
        if not folded.open:
            return
        st.caption(
            "A base model answers short questions. Jurors are tuned on a part of its answers and judge the rest. "
            "This page then shows how good their verdicts are. With the values below and models that Hedge loads, this "
            "takes about ten minutes on two cores. It continues when you close the page."
        )
        with style.stacked_when_narrow("make_jury"):
            left, right = st.columns(2, gap="medium")
        served = None
        with left:
            if server_form.is_on_server(SERVER, "Where the models are"):
                served = server_form.served_models(SERVER, instead=(server_form.DECIDED,))
                if served is None:
                    st.caption("Connect to a server and choose a model there, or let Hedge load all models.")
        with right:
            _form(served)
        busy = any(jury_job.read_state(name).state in ("running", "queued") for name in jury_spec.path_ids()[:SHOWN])
        st.fragment(_live, run_every=POLL_S if busy else None)(busy)


def _form(served: ServedModels | None) -> None:
    """Show the form. Models of a server that is connected can give the answers if it gives log-probabilities, and judge
    if it scores texts or answers decisions."""
    models = served.jury_models if served else {}
    judges = [model for model, able in models.items() if able.echo or able.decisions]
    there = [model for model, able in models.items() if able.listed or able.chat_listed]
    if served and not judges:
        st.caption(NO_JURORS)
    if served:
        st.caption(REQUESTS)
    offered = [*there, *known_models()]
    first = 0 if there else offered.index(OFFERED.base) if OFFERED.base in offered else 0
    with st.form("make_jury", border=False, enter_to_submit=False):
        base = st.selectbox(
            "Base model (gives the answers)",
            offered,
            first,
            format_func=_model_words,
            accept_new_options=True,
            key="jury_base_served" if there else "jury_base",
        )
        on_server = _served_jurors(judges) if judges else ()
        jurors = st.text_input(
            "Jurors that Hedge loads" if judges else "Jurors",
            " ".join(OFFERED.jurors),
            key="jury_jurors",
            help=JURORS_HELP,
        )
        questions = st.selectbox(
            "Questions",
            [trivia.BUNDLED, *trivia.HUB],
            accept_new_options=True,
            key="jury_questions",
            help=QUESTIONS_HELP,
        )
        a, b, c = st.columns(3, vertical_alignment="bottom")
        samples = whole_number(
            "Maximum number of questions", value=float(OFFERED.samples or 0), place=a, key="jury_samples"
        )
        steps = whole_number(
            "Tuning steps", value=float(OFFERED.steps), place=b, key="jury_steps", help="Each step uses 32 judgements."
        )
        dtype = c.selectbox(
            "Precision",
            DTYPES,
            format_func=PRECISION_TITLES.__getitem__,
            key="jury_dtype",
            help="4-bit means QLoRA and needs an NVIDIA GPU.",
        )
        if not st.form_submit_button("Make this jury", key="jury_launch") or REFUSED in (samples, steps):
            return
        with spoken(), st.spinner("Starting …"):
            names = (*on_server, *jurors.replace(",", " ").split())
            if not base:
                raise InputError("choose a base model to answer the questions")
            spec = JurySpec(
                base=base,
                jurors=names,
                questions=str(questions),
                samples=samples or 0,
                steps=steps or 0,
                dtype=dtype,
                key_variable=served.connection.key_variable if served else "",
            )
            if served:
                jury_job.launch(spec, price=served.price, timeout_s=served.timeout_s)
            else:
                jury_job.launch(spec)


def _served_jurors(judges: list[str]) -> tuple[str, ...]:
    chosen = st.multiselect(
        "Jurors on the server",
        judges,
        judges,
        format_func=_model_words,
        key="jury_jurors_served",
        wrap=True,
        help=SERVED_HELP,
    )
    return tuple(map(str, chosen))


def _model_words(model: str) -> str:
    """A model's name, with the server's address if it is on a server."""
    there = served_model(model)
    return model_on_servers(there.name, (there.url,)) if there else model


def _live(was_busy: bool) -> None:
    with spoken():
        names = jury_spec.path_ids()
        states = [(name, jury_job.read_state(name)) for name in names[:SHOWN]]
        busy = any(state.state in ("running", "queued") for _, state in states)
        if was_busy and not busy:
            st.rerun()
        for name, state in states:
            with spoken():  # one that is damaged takes no other away
                _card(name, state)


def _card(name: str, state: JuryProgress) -> None:
    spec = jury_spec.read_spec(name)
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, wrap=False):
            st.markdown(
                f"**{plain(', '.join(spec.juror_names))}** on answers of {plain(_model_words(spec.base))}",
                width="stretch",
            )
            st.markdown(f"**{store.STATE_WORDS[state.state]}**", width="content")
        amount = f"at most {counted(spec.samples, 'question')}" if spec.samples else "all questions"
        st.caption(
            plain(f"{spec.questions}, {amount}, {counted(spec.steps, 'tuning step')}, {PRECISION_TITLES[spec.dtype]}")
        )
        if state.state == "running" and state.total:
            words = f"{state.stage} · {state.done:,} of {state.total:,}"
            st.progress(min(1.0, state.done / state.total), text=plain(words))
        if state.message and state.state == "paused":
            st.warning(plain(sentence(state.message)))
        elif state.message:
            st.caption(plain(sentence(state.message)))
        if len(state.losses) > 1:
            figure = tuning_loss(pd.DataFrame({"step": range(1, len(state.losses) + 1), "loss": state.losses}))
            draw(figure, key=f"losses-{name}")
        if state.state == "done":
            navigation.link(navigation.JURY, "Show this jury", jury=state.jury)
        elif state.state in ("running", "queued"):
            st.button("Cancel", key=f"cancel-{name}", on_click=_cancel, args=(name,))
        else:
            _resume(name)


def _cancel(name: str) -> None:
    with spoken():
        jury_job.cancel(name)


def _resume(name: str) -> None:
    """Show the button that continues a jury, with a larger budget if it needs one."""
    with spoken(), st.container(horizontal=True, vertical_alignment="bottom"):
        if (record := jury_job.record_of(name)) and resume_button(record, key=f"resume-{name}"):
            st.rerun()
        if record is None and st.button("Resume", key=f"resume-{name}"):
            jury_job.resume(name)
            st.rerun()
