"""Measure what has not been measured yet, and show the progress."""

from collections.abc import Sequence

import streamlit as st

from app import state
from app.caches import live_runs, run_cache
from app.caches.live_runs import LiveRuns
from app.components.perplexity import perplexity_form
from app.components.perplexity.perplexity_form import PerplexityForm
from app.components.perplexity.perplexity_library import Library
from app.components.shared.only_looking import only_looking
from app.components.shared.reading import reading
from app.components.shared.resume import resume_button
from app.errors import spoken
from app.formatting import counted, duration, plain, sentence
from app.state.perplexity import PerplexityView
from core import access
from core.access import UserRole
from core.errors import HedgeError, InputError
from core.models.models import canonical
from core.models.perplexity.request import Request
from core.models.perplexity.server_scoring import estimated_tokens
from core.models.server_address import asked_parts
from core.runs.spec import RunSpec
from core.runs.status import RunStatus

LAUNCHED = "words_launched"
POLL_S = 1.0


def measure(chosen: PerplexityForm, library: Library) -> bool:
    """Show the button that measures what has not been measured yet, and the progress; whether anything is measured
    now."""
    missing = {model: _request(chosen, model, library) for model in chosen.models}
    wanted = {model: request for model, request in missing.items() if request}
    if not chosen.models or not chosen.talks:
        st.info("Choose at least one model and one conversation.")
        return False
    busy = _unfinished(live_runs.current(refresh=True))
    if wanted and not busy:
        count = sum(len(list(request.parts())) for request in wanted.values())
        sentence = (
            f"{counted(count, 'conversation under a prompt', 'conversations under a prompt')} "
            f"{'is' if count == 1 else 'are'} not measured yet."
        )
        if access.may(UserRole.LAUNCHER):
            with st.container(horizontal=True, vertical_alignment="center"):
                if st.button("Measure", key="words_measure"):
                    _launch(chosen, wanted)
                st.caption(f"{sentence} {_cost(chosen, wanted)}")
        else:
            st.caption(sentence)
            only_looking("measure what has not been measured")
    st.fragment(_watch_progress, run_every=POLL_S if busy else None)(bool(busy))
    return bool(busy)


def _request(chosen: PerplexityForm, model: str, library: Library) -> Request | None:
    """The request for a model's missing measurements, or None if nothing is missing."""
    gaps = library.to_measure(chosen.setup(model), [prompt.digest for prompt in chosen.prompts], chosen.talks)
    if not gaps:
        return None
    return Request(
        tuple(prompt for prompt in chosen.prompts if any(p == prompt.digest for p, _ in gaps)),
        tuple(library.conversations[source] for source in dict.fromkeys(source for _, source in gaps)),
        mode=chosen.mode,
        exchanges=chosen.exchanges,
    )


def _cost(chosen: PerplexityForm, wanted: dict[str, Request]) -> str:
    """A sentence on what measuring takes: tokens and their price on a server, otherwise time."""
    if not chosen.served:
        return "A pocket model takes a few seconds."
    read, written = 0, 0
    for request in wanted.values():
        more = estimated_tokens(request)
        read, written = read + more[0], written + more[1]
    price = chosen.served.price
    cost = f", which cost about {price.of(read, written):.3g}" if price.is_known else ""
    return f"The server reads about {read:,} tokens{cost}."


def _launch(chosen: PerplexityForm, wanted: dict[str, Request]) -> None:
    launch([chosen.spec(request, model) for model, request in wanted.items()])
    names = [model if asked_parts(model)[1] else canonical(model) for model in chosen.models]
    for place, prompt in (("a", chosen.a), ("b", chosen.b)):
        st.session_state[f"words_{place}_of"] = prompt.digest
    state.change(PerplexityView, models=perplexity_form.in_link(names), a=chosen.a.digest, b=chosen.b.digest)
    st.rerun()


def launch(specs: Sequence[RunSpec]) -> None:
    """Submit runs to the engine and remember them for this window."""
    from core.models.server import permission
    from core.runs import actions

    for spec in specs:  # a link may name a server that nobody has connected to
        permission.check_recorded(spec.servers, spec.key_variable, launched_by=access.actor().name)
    with st.spinner("Asking for the runs …"), reading() as report:
        _, outcome = actions.launch(specs, name="Perplexity", report=report)
    st.session_state[LAUNCHED] = outcome.done
    if outcome.refused:
        raise InputError(next(iter(outcome.refused.values())))


def _unfinished(standing: LiveRuns) -> list[RunStatus]:
    return [now for now in standing.statuses if not now.ended and now.record.spec.measures_perplexity]


def _watch_progress(was_busy: bool) -> None:
    with spoken():
        _progress(was_busy)


def _progress(was_busy: bool) -> None:
    from core.runs import engine

    busy = _unfinished(live_runs.current())
    if was_busy and not busy:
        st.rerun()
    for now in busy:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.progress(_share(now), text=plain(_progress_words(now)))
            if access.owns(now.record.launched_by) and st.button("Cancel", key=f"cancel-{now.run_id}"):
                engine.cancel(now.run_id)
                st.rerun()
    for run_id in st.session_state.get(LAUNCHED, ()):
        try:
            record = run_cache.record(run_id)
        except HedgeError:
            continue
        if record.state == "failed":
            st.error(plain(f"{record.spec.model_name}: {sentence(record.message)}"))
        elif record.state == "paused":
            with st.container(border=True, gap="small"):
                st.warning(plain(f"{record.spec.model_name}: {sentence(record.message)}"))
                with st.container(horizontal=True, vertical_alignment="bottom"):
                    if resume_button(record, key=f"resume-{run_id}"):
                        st.rerun()
        elif record.state == "cancelled":
            st.info(plain(f"{record.spec.model_name}: cancelled. “Measure” continues with what is missing."))


def _share(now: RunStatus) -> float:
    progress = now.progress
    return min(1.0, progress.done / progress.total) if progress and progress.total else 0.0


def _progress_words(now: RunStatus) -> str:
    words = [now.record.spec.model_name]
    if now.state == "queued":
        return " · ".join([*words, now.message or "waiting"])
    if now.progress and now.progress.total:
        words += [f"{now.progress.done:,} of {counted(now.progress.total, 'message')}", now.progress.stage]
        if now.progress.remaining_s is not None:
            words.append(f"{duration(now.progress.remaining_s)} left")
    else:
        words.append("starting")
    return " · ".join(words)
