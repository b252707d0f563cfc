"""The form of the Perplexity page: which models, which two prompts, which conversations, and how words are scored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import state, style
from app.caches import run_cache
from app.components.new_run import server_form
from app.components.new_run.form import known_models, model_help, precisions
from app.components.new_run.server_form import ServedModels
from app.components.perplexity.perplexity_library import Library, ScoringSetup, library
from app.components.shared import controls, wrong_place
from app.components.shared.only_looking import may_launch, others_are_served
from app.formatting import plain, sentence
from app.state.perplexity import WINDOWS, PerplexityView
from core.errors import InputError
from core.exchange.dropped.apart import apart
from core.models.model_sources import bundled_models, canonical
from core.models.perplexity import conversation_files
from core.models.perplexity import conversations as talks
from core.models.perplexity.conversations import Conversation
from core.models.perplexity.prompts import EMPTY, FITTING, UNFITTING, SystemPrompt, named
from core.models.perplexity.request import Request
from core.models.server_address import ServedWeights, asked_parts
from core.reports.titles import PRECISION_TITLES
from core.runs.execution import perplexity_run
from core.runs.spec import SERVED, RunSpec

UPLOADED = "words_uploaded"
TAKEN = "words_taken"
NOTES = "words_notes"
"""How the files of a window's conversations were read."""
MOST_CHOSEN = 50
"""Conversations of an upload that are chosen at once. All of them can be chosen."""
MODELS_KEY = "words_models"
MOST_CHARACTERS = 50_000_000
TALKS_KEY = "words_talks"
MODE_KEY = "words_mode"
WINDOW_KEY = "words_window"
DTYPE_KEY = "words_dtype"
FILES_KEY = "words_files"
DEFAULTS = {"a": FITTING, "b": UNFITTING}
MODE_WORDS = {"standard": "Standard", "published": "As published"}
MODE_HELP = (
    "Standard: uses the model's chat template if it has one, and scores every token of the message. As "
    "published: uses plain text, scores the counselor's role too, and misses the last token of each "
    "message."
)
WINDOW_HELP = (
    "How many exchanges before a message the model sees. It always sees the system prompt and the "
    "request that the message answers."
)
DTYPE_HELP = (
    "The size of the numbers that the model computes with. 32-bit is exact; choose a smaller size for a model that is "
    "too large for it."
)
SERVER = "words"
"""The beginning of the widget keys of the server form."""
TERMS = ("key_variable", "price_read", "price_written", "timeout_s")
"""The settings that a run on a server copies from an earlier one."""
CHAT = "-instruct"
"""The suffix of bundled models that were tuned to chat. They are offered first."""


@dataclass(frozen=True, slots=True)
class PerplexityForm:
    """The form's request: the models as they are typed, prompts A and B, and conversations by hash.

    ``weights`` are those of each model as they are now, and ``served`` is the server that is connected, if its models
    are chosen.
    """

    models: tuple[str, ...]
    a: SystemPrompt
    b: SystemPrompt
    talks: tuple[str, ...]
    mode: str
    exchanges: int | None
    dtype: str
    weights: Mapping[str, str]
    served: ServedModels | None = None

    @property
    def prompts(self) -> tuple[SystemPrompt, ...]:
        """Prompts A, B and the empty baseline, without duplicates."""
        return tuple({prompt.digest: prompt for prompt in (self.a, self.b, EMPTY)}.values())

    def setup(self, model: str) -> ScoringSetup:
        """How a model's words are scored."""
        return ScoringSetup(model, self.precision(model), self.mode, self.exchanges, self.weights[model])

    def precision(self, model: str) -> str:
        """The precision in which a model computes: a server's own, or the chosen one."""
        return SERVED if asked_parts(model)[1] else self.dtype

    def served_weights(self, model: str) -> ServedWeights | None:
        """The weights of a model on the server that is connected; None for any other."""
        if self.served is None or model not in self.served.asked_models:
            return None
        return self.served.able[self.served.asked_models.index(model)].weights

    def spec(self, request: Request, model: str) -> RunSpec:
        """The spec of a run that measures a request."""
        name, servers = asked_parts(model)
        if not servers:
            return perplexity_run.spec_of(request, canonical(model), dtype=self.dtype)
        if self.served and self.served.connection.servers == servers:
            how = {key: value for key, value in self.served.fields().items() if key != "models"}
        else:
            before = next((item.spec for item in run_cache.runs().records if item.spec.asked_model == model), None)
            how = {"servers": servers} | {item: getattr(before, item) for item in TERMS if before}
        return perplexity_run.spec_of(request, name, dtype=SERVED, **how)


def known() -> Library:
    """The library, with the conversations that were uploaded in this window."""
    known_library = library()
    known_library.conversations |= st.session_state.get(UPLOADED, {})
    return known_library


def form(view: PerplexityView, library: Library) -> PerplexityForm:
    """Show prompts A and B and the models in a row, and the prompts' texts, the conversations and how words are scored
    below it, folded away."""
    with style.stacked_when_narrow("prompts"):
        left, middle, right = st.columns([1, 1, 1], gap="medium")
    with st.expander("More: the prompts' texts, conversations, servers and scoring"):
        texts = st.columns(2, gap="medium")
        a = _prompt("a", view, library, left, texts[0])
        b = _prompt("b", view, library, middle, texts[1])
        sources = _talks(view, library)
        mode, exchanges, dtype = _setup(view)
        chosen_models, served = _models(view, library, right)
        _upload(library)
    weights = {model: library.weights_of(model) for model in chosen_models}
    return PerplexityForm(chosen_models, a, b, sources, mode, exchanges, dtype, weights, served)


def _prompt(
    place: str, view: PerplexityView, library: Library, choices: DeltaGenerator, texts: DeltaGenerator
) -> SystemPrompt:
    """Show a prompt to choose, and its text to edit. An edited text is a version of its own, identified by its hash."""
    linked: str = getattr(view, place)
    if linked and linked not in library.prompts:
        choices.warning(
            f"Prompt {place.upper()} of the link is not here (it may have been deleted). A prompt that ships with "
            "Hedge is shown."
        )
    digest = linked if linked in library.prompts else DEFAULTS[place].digest
    pick, text, owner = f"words_{place}", f"words_{place}_text", f"words_{place}_of"
    if st.session_state.get(owner) != digest or text not in st.session_state:
        st.session_state[text] = library.prompts[digest].text
        st.session_state[owner] = digest
    st.session_state[pick] = digest
    choices.selectbox(
        f"Prompt {place.upper()}",
        list(library.prompts),
        format_func=lambda each: library.prompts[each].name,
        key=pick,
        on_change=state.taking(PerplexityView, place, pick),
    )
    texts.text_area(
        f"Text of prompt {place.upper()}", key=text, height=155, persist_state="session", placeholder="no prompt"
    )
    typed = named(st.session_state[text] or "", f"{library.prompts[digest].name.partition(', edited')[0]}, edited")
    edited = library.prompts.get(typed.digest, SystemPrompt(f"{typed.name} {typed.digest[:4]}", typed.text))
    if edited.digest != digest:
        choices.caption(f"This is an edited prompt, version {edited.digest}.")
    return edited


def _models(
    view: PerplexityView, library: Library, choices: DeltaGenerator
) -> tuple[tuple[str, ...], ServedModels | None]:
    """Show the choice of models: those that Hedge loads in ``choices``, those of a server here. The models, and the
    server that is connected."""
    if server_form.is_on_server(SERVER):
        served = server_form.served_models(SERVER, without_texts="the words of a conversation can't be scored")
        models = served.asked_models if served else ()
        choices.caption("The models are on a server: see below." if models else "Connect to a server below.")
        if models and in_link(models) != view.models:
            state.change(PerplexityView, models=in_link(models))
        return models, served
    shipped = bundled_models()
    tuned = [name for name in shipped if name.endswith(CHAT)]
    linked = _of_link(view.models) or tuned[-1:] or shipped[-1:]
    measured = [setup.model for setup, _, _ in library.cells if setup.dtype == SERVED]
    st.session_state[MODELS_KEY] = linked
    chosen = choices.multiselect(
        "Models",
        list(dict.fromkeys([*linked, *tuned, *measured, *known_models()])),
        accept_new_options=True,
        placeholder="a hub id" if others_are_served() else "a folder or a hub id",
        key=MODELS_KEY,
        on_change=_models_chosen,
        help=model_help(),
        wrap=True,
    )
    return tuple(map(str, chosen)), None


def _models_chosen() -> None:
    state.change(PerplexityView, models=in_link(st.session_state[MODELS_KEY]))


def in_link(models: Sequence[str]) -> str:
    """Models as a link holds them: separated by commas, so the addresses of one model's servers are by spaces."""
    return ",".join(model.replace(", ", " ") for model in models)


def _of_link(text: str) -> list[str]:
    """The models of a link."""
    return [name.replace(" http", ", http").replace(" on, ", " on ") for name in text.split(",") if name]


def _talks(view: PerplexityView, library: Library) -> tuple[str, ...]:
    shipped = [conversation.digest for conversation in talks.bundled()]
    linked = [name for name in view.talks.split(",") if name in library.conversations] or shipped
    st.session_state[TALKS_KEY] = linked
    return tuple(
        st.multiselect(
            "Conversations",
            list(library.conversations),
            format_func=lambda digest: library.conversations[digest].name,
            key=TALKS_KEY,
            on_change=_talks_chosen,
            help="The nine that ship were written for Hedge. You can add your own below.",
            wrap=True,
        )
    )


def _talks_chosen() -> None:
    chosen = st.session_state[TALKS_KEY]
    shipped = [conversation.digest for conversation in talks.bundled()]
    state.change(PerplexityView, talks="" if set(chosen) == set(shipped) else ",".join(chosen), talk="", message=1)


def _setup(view: PerplexityView) -> tuple[str, int | None, str]:
    precision = list(dict.fromkeys([*precisions(), view.dtype]))
    with st.container(horizontal=True, gap="medium"):
        controls.switch(view, "mode", "Mode", MODE_WORDS, key=MODE_KEY, help=MODE_HELP)
        windows = {name: name for name in WINDOWS}
        controls.switch(view, "window", "Exchanges before a message", windows, key=WINDOW_KEY, help=WINDOW_HELP)
        offered = {name: PRECISION_TITLES[name] for name in precision}
        controls.switch(view, "dtype", "Precision", offered, key=DTYPE_KEY, help=DTYPE_HELP)
    return view.mode, None if view.window == "all" else int(view.window), view.dtype


def _latest(uploaded: dict[str, Conversation]) -> dict[str, Conversation]:
    """The latest of a person's conversations, as many as the page may hold after their files were removed."""
    latest: dict[str, Conversation] = {}
    room = MOST_CHARACTERS
    for digest, conversation in reversed(uploaded.items()):
        room -= sum(len(message.text) for message in conversation.messages)
        if latest and room < 0:
            break
        latest[digest] = conversation
    return dict(reversed(latest.items()))


def _upload(library: Library) -> None:
    """Upload a person's own conversations. They are kept for the window, and with the run once they are measured."""
    if not may_launch("upload conversations"):
        return
    files = st.file_uploader(
        "Conversations: text with a role before each message (user: …), JSON with messages, or a table",
        accept_multiple_files=True,
        key=FILES_KEY,
    )
    fresh: dict[str, Conversation] = {}
    read_as: list[str] = []
    taken: set[str] = st.session_state.setdefault(TAKEN, set())
    for file in files:
        if file.file_id in taken:
            continue
        try:
            read = apart(conversation_files.parse, file.getvalue(), file.name, name=file.name)
            fresh |= {conversation.digest: conversation for conversation in read.conversations}
            read_as.append(f"{file.name}: {read.read_as}.")
            taken.add(file.file_id)
        except InputError as error:
            if not wrong_place.hint(file.name, file.getvalue(), here="conversation"):
                st.error(plain(sentence(str(error))))
    if fresh:  # select each upload once, even if it was known already
        state.change(PerplexityView, talks=",".join(keep(fresh, read_as)), talk="", message=1)
        st.rerun()
    for note in st.session_state.get(NOTES, ()):
        st.caption(plain(note))


def keep(fresh: Mapping[str, Conversation], read_as: Sequence[str]) -> list[str]:
    """Add conversations, by their hashes, to those of this window, with how their files were read. The hashes of those
    to show: the first :data:`MOST_CHOSEN`."""
    earlier: dict[str, Conversation] = st.session_state.get(UPLOADED, {})
    new = {digest: conversation for digest, conversation in fresh.items() if digest not in earlier}
    st.session_state[UPLOADED] = _latest(earlier | new)
    notes = list(read_as)
    if len(fresh) > MOST_CHOSEN:
        notes.append(f"The first {MOST_CHOSEN} of {len(fresh):,} conversations are chosen; choose others above.")
    st.session_state[NOTES] = notes
    return list(fresh)[:MOST_CHOSEN]
