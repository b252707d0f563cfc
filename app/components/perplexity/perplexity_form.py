"""The form of the Perplexity page: which models, which two prompts, which conversations, and how words are scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from app import data, live, state
from app.components.new_run.form import MODEL_HELP, known_models, precisions
from app.errors import spoken
from app.formatting import counted, duration, plain, sentence
from app.live import LiveRuns
from app.perplexity_library import Library, Way, library
from app.state import OF_PERPLEXITY, WINDOWS, View
from core.errors import HedgeError, InputError
from core.inference.models import bundled_models, canonical
from core.perplexity import conversations as talks
from core.perplexity.conversations import Conversation
from core.perplexity.layout import MODES
from core.perplexity.prompts import EMPTY, FITTING, UNFITTING, SystemPrompt, named
from core.perplexity.request import Request
from core.runs.execution import perplexity_run
from core.runs.spec import RunSpec
from core.runs.status import RunStatus

NAMES = (*OF_PERPLEXITY, "alpha")
UPLOADED = "words_uploaded"
TAKEN = "words_taken"
LAUNCHED = "words_launched"
MODELS_KEY = "words_models"
TALKS_KEY = "words_talks"
MODE_KEY = "words_mode"
WINDOW_KEY = "words_window"
DTYPE_KEY = "words_dtype"
FILES_KEY = "words_files"
POLL_S = 1.0
DEFAULTS = {"a": FITTING, "b": UNFITTING}
MODE_WORDS = {"standard": "Standard", "published": "As published"}
MODE_HELP = (
    "Standard: the model's chat template where it has one, every token of the message. As published: plain text, the "
    "counselor's role scored too, the last token of each message missed."
)
WINDOW_HELP = "How many exchanges before a message the model sees. The system prompt and the message's request always."
DTYPE_HELP = "The numbers the model computes with; float32 is exact, the others are for models too large for it."
CHAT = "-instruct"
"""What a bundled model's name ends with that was tuned to chat; it is offered first."""


@dataclass(frozen=True, slots=True)
class PerplexityForm:
    """What the form asks for: the models as they are typed, prompts A and B, and conversations by hash."""

    models: tuple[str, ...]
    a: SystemPrompt
    b: SystemPrompt
    talks: tuple[str, ...]
    mode: str
    exchanges: int | None
    dtype: str

    @property
    def prompts(self) -> tuple[SystemPrompt, ...]:
        """A, B and the empty baseline, each once."""
        return tuple({one.digest: one for one in (self.a, self.b, EMPTY)}.values())

    def way(self, model: str) -> Way:
        """How a model's words are measured."""
        return Way(model, self.dtype, self.mode, self.exchanges)


def known() -> Library:
    """What is known, with what was uploaded in this window."""
    found = library()
    found.conversations |= st.session_state.get(UPLOADED, {})
    for problem in found.problems:
        st.warning(plain(sentence(problem)))
    return found


def form(view: View, found: Library) -> PerplexityForm:
    """Prompts A and B side by side; models, conversations and the way below them."""
    left, right = st.columns(2, gap="medium")
    with left:
        a = _prompt("a", view, found)
    with right:
        b = _prompt("b", view, found)
    models, chosen = st.columns([2, 3], gap="medium")
    with models:
        of = _models(view)
    with chosen:
        sources = _talks(view, found)
    with st.expander("How words are scored, and conversations of your own"):
        mode, exchanges, dtype = _way(view)
        _upload(found)
    return PerplexityForm(of, a, b, sources, mode, exchanges, dtype)


def _prompt(place: str, view: View, found: Library) -> SystemPrompt:
    """A prompt to choose and to edit; an edited text is a version of its own, told by its hash."""
    asked: str = getattr(view, place)
    if asked and asked not in found.prompts:
        st.warning(f"The link's prompt {place.upper()} is not here (any more); a prompt that ships is shown instead.")
    digest = asked if asked in found.prompts else DEFAULTS[place].digest
    pick, text, of = f"words_{place}", f"words_{place}_text", f"words_{place}_of"
    if st.session_state.get(of) != digest or text not in st.session_state:
        st.session_state[text] = found.prompts[digest].text
        st.session_state[of] = digest
    st.session_state[pick] = digest
    st.selectbox(
        f"Prompt {place.upper()}",
        list(found.prompts),
        format_func=lambda each: found.prompts[each].name,
        key=pick,
        on_change=state.taking(place, pick),
    )
    st.text_area(
        f"What prompt {place.upper()} says", key=text, height=190, persist_state="session", placeholder="no prompt"
    )
    typed = named(st.session_state[text] or "", f"{found.prompts[digest].name.partition(', edited')[0]}, edited")
    made = found.prompts.get(typed.digest, SystemPrompt(f"{typed.name} {typed.digest[:4]}", typed.text))
    if made.digest != digest:
        st.caption(f"Edited: version {made.digest}.")
    return made


def _models(view: View) -> tuple[str, ...]:
    shipped = bundled_models()
    tuned = [name for name in shipped if name.endswith(CHAT)]
    asked = [name for name in view.models.split(",") if name] or tuned[-1:] or shipped[-1:]
    st.session_state[MODELS_KEY] = asked
    chosen = st.multiselect(
        "Models",
        list(dict.fromkeys([*asked, *tuned, *known_models()])),
        accept_new_options=True,
        placeholder="a folder or a hub id",
        key=MODELS_KEY,
        on_change=_models_chosen,
        help=MODEL_HELP,
    )
    return tuple(map(str, chosen))


def _models_chosen() -> None:
    state.change(models=",".join(st.session_state[MODELS_KEY]))


def _talks(view: View, found: Library) -> tuple[str, ...]:
    shipped = [conversation.digest for conversation in talks.bundled()]
    asked = [name for name in view.talks.split(",") if name in found.conversations] or shipped
    st.session_state[TALKS_KEY] = asked
    return tuple(
        st.multiselect(
            "Conversations",
            list(found.conversations),
            format_func=lambda digest: found.conversations[digest].name,
            key=TALKS_KEY,
            on_change=_talks_chosen,
            help="The nine that ship were written for Hedge; bring your own below.",
        )
    )


def _talks_chosen() -> None:
    chosen = st.session_state[TALKS_KEY]
    shipped = [conversation.digest for conversation in talks.bundled()]
    state.change(talks="" if set(chosen) == set(shipped) else ",".join(chosen), talk="", message=1)


def _way(view: View) -> tuple[str, int | None, str]:
    st.session_state[MODE_KEY], st.session_state[WINDOW_KEY] = view.mode, view.window
    offered = list(dict.fromkeys([*precisions(), view.dtype]))
    st.session_state[DTYPE_KEY] = view.dtype
    left, right, third = st.columns(3)
    mode = left.segmented_control(
        "Mode",
        MODES,
        format_func=MODE_WORDS.__getitem__,
        required=True,
        key=MODE_KEY,
        on_change=state.taking("mode", MODE_KEY),
        help=MODE_HELP,
    )
    window = right.segmented_control(
        "Exchanges before a message",
        WINDOWS,
        required=True,
        key=WINDOW_KEY,
        on_change=state.taking("window", WINDOW_KEY),
        help=WINDOW_HELP,
    )
    dtype = third.segmented_control(
        "Precision", offered, required=True, key=DTYPE_KEY, on_change=state.taking("dtype", DTYPE_KEY), help=DTYPE_HELP
    )
    return str(mode), None if window == "all" else int(str(window)), str(dtype)


def _upload(found: Library) -> None:
    """Conversations of one's own: kept for the window, and with the run once they are measured."""
    files = st.file_uploader(
        "Conversations: text with a message a line (assistant: … or user: …), or JSON lines with roles",
        type=["txt", "jsonl"],
        accept_multiple_files=True,
        key=FILES_KEY,
    )
    fresh: dict[str, Conversation] = {}
    taken: set[str] = st.session_state.setdefault(TAKEN, set())
    for file in files:
        if file.file_id in taken:
            continue
        try:
            fresh |= {one.digest: one for one in talks.parse(file.getvalue().decode("utf-8"), file.name)}
            taken.add(file.file_id)
        except UnicodeDecodeError:
            st.error(plain(f"{file.name} is no UTF-8 text; save it as UTF-8."))
        except InputError as error:
            st.error(plain(sentence(str(error))))
    if fresh:  # chosen once, also where they were known already
        new = {digest: one for digest, one in fresh.items() if digest not in found.conversations}
        st.session_state[UPLOADED] = st.session_state.get(UPLOADED, {}) | new
        state.change(talks=",".join(fresh), talk="", message=1)
        st.rerun()


# ---------------------------------------------------------------- measuring


def measure(asked: PerplexityForm, found: Library) -> None:
    """The button that asks for what has not been measured yet, and how far that is."""
    missing = {model: _request(asked, model, found) for model in asked.models}
    wanted = {model: request for model, request in missing.items() if request}
    if not asked.models or not asked.talks:
        st.info("Choose at least one model and one conversation.")
        return
    busy = _at_work(live.standing(anew=True))
    if wanted and not busy:
        count = sum(len(list(request.parts())) for request in wanted.values())
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button("Measure", key="words_measure"):
                _launch(asked, wanted)
            st.caption(
                f"{counted(count, 'conversation under a prompt', 'conversations under a prompt')} not measured yet; "
                "a pocket model takes some seconds."
            )
    st.fragment(_watch, run_every=POLL_S if busy else None)(bool(busy))


def _request(asked: PerplexityForm, model: str, found: Library) -> Request | None:
    """What is missing of a model, None where nothing is."""
    gaps = found.missing(asked.way(model), [one.digest for one in asked.prompts], asked.talks)
    if not gaps:
        return None
    return Request(
        tuple(one for one in asked.prompts if any(p == one.digest for p, _ in gaps)),
        tuple(found.conversations[source] for source in dict.fromkeys(source for _, source in gaps)),
        mode=asked.mode,
        exchanges=asked.exchanges,
    )


def _launch(asked: PerplexityForm, wanted: dict[str, Request]) -> None:
    names = [canonical(model) for model in asked.models]
    specs = [perplexity_run.spec_of(wanted[model], canonical(model), dtype=asked.dtype) for model in wanted]
    launch(specs)
    for place, prompt in (("a", asked.a), ("b", asked.b)):
        st.session_state[f"words_{place}_of"] = prompt.digest
    state.change(models=",".join(names), a=asked.a.digest, b=asked.b.digest)
    st.rerun()


def launch(specs: Sequence[RunSpec]) -> None:
    """Hand runs in to the engine and remember them for this window."""
    from core.runs import actions

    with st.spinner("Asking for the runs …"):
        _, outcome = actions.launch(specs, name="Perplexity")
    st.session_state[LAUNCHED] = tuple(spec.run_id for spec in specs)
    if outcome.refused:
        raise InputError(next(iter(outcome.refused.values())))


def _at_work(standing: LiveRuns) -> list[RunStatus]:
    return [now for now in standing.statuses if not now.ended and now.record.spec.measures_perplexity]


def _watch(was_busy: bool) -> None:
    with spoken():
        _progress(was_busy)


def _progress(was_busy: bool) -> None:
    from core.runs import engine

    busy = _at_work(live.standing())
    if was_busy and not busy:
        st.rerun()
    for now in busy:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.progress(_share(now), text=plain(_progress_words(now)))
            if st.button("Cancel", key=f"cancel-{now.run_id}"):
                engine.cancel(now.run_id)
                st.rerun()
    for run_id in st.session_state.get(LAUNCHED, ()):
        try:
            record = data.record(run_id)
        except HedgeError:
            continue
        if record.state == "failed":
            st.error(plain(f"{record.spec.model_name}: {sentence(record.message)}"))
        elif record.state == "cancelled":
            st.info(plain(f"{record.spec.model_name}: cancelled; “Measure” goes on with what is missing."))


def _share(now: RunStatus) -> float:
    progress = now.progress
    return min(1.0, progress.done / progress.total) if progress and progress.total else 0.0


def _progress_words(now: RunStatus) -> str:
    said = [now.record.spec.model_name]
    if now.state == "queued":
        return " · ".join([*said, now.message or "waiting"])
    if now.progress and now.progress.total:
        said += [f"{now.progress.done:,} of {counted(now.progress.total, 'message')}", now.progress.stage]
        if now.progress.remaining_s is not None:
            said.append(f"{duration(now.progress.remaining_s)} left")
    else:
        said.append("starting")
    return " · ".join(said)
