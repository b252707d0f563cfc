"""The choice benchmark on the Perplexity page: which ending is the counselor's own, and sets of endings."""

from typing import Any

import pandas as pd
import streamlit as st

from app import state
from app.components.perplexity.measuring import launch
from app.components.perplexity.perplexity_form import PerplexityForm
from app.components.perplexity.perplexity_library import Library
from app.components.shared import figures, wrong_place
from app.components.shared.controls import choice
from app.components.shared.only_looking import may_launch
from app.components.shared.static_table import static_table
from app.formatting import counted, plain, sentence
from app.state.perplexity import PerplexityView
from core import access
from core.access import UserRole
from core.errors import InputError
from core.exchange.dropped.apart import apart
from core.models.model_sources import bundled_models
from core.models.perplexity import choices
from core.models.perplexity.choices import Choice, digest_of
from core.models.perplexity.prompts import SystemPrompt
from core.models.perplexity.request import Request
from core.reports import perplexity as reports
from core.reports.file_names import About

OPEN_KEY = "choices_open"
SOURCE_KEY = "choices_of"
RULE_KEY = "choices_rule"
ALPHA_KEY = "choices_alpha"
FILE_KEY = "choices_file"
UPLOADED = "choices_uploaded"
TAKEN = "choices_taken"
RULE_WORDS = {"mean": "mean loss", "sum": "sum of losses", "bytes": "bits per byte"}
RULE_HELP = "The ending with the lowest loss is chosen. A sum favours short endings; the mean and bits per byte do not."
OWN = "The file's own"


def section(chosen: PerplexityForm, view: PerplexityView, library: Library) -> None:
    """Show, folded away, whether each model picks the real reply under each prompt."""
    with st.expander("Which reply is the counselor's own?", key=OPEN_KEY, on_change="rerun") as folded:
        if not folded.open:
            return
        st.caption(
            "Each choice is a context with four endings: one by the counselor, and three that models wrote. The "
            "model is not asked directly. Its choice is the ending that it finds most likely."
        )
        library.choices |= st.session_state.get(UPLOADED, {})
        _upload(library)
        if set(chosen.models) <= set(bundled_models()):  # they find every text by a model more likely
            library.choices.pop(_shipped(), None)
        if not library.choices:
            if access.may(UserRole.LAUNCHER):
                st.info(
                    "Upload a file of choices, or make one with `hedge perplexity endings`. Hedge has some, too, which "
                    "are offered for models other than the pocket models: those are too small to tell."
                )
            return
        source = _source(library)
        own_choices = library.choices[source]
        prompts = _prompts(chosen, own_choices)
        missing = {model: _missing(chosen, model, prompts, source, library) for model in chosen.models}
        wanted = {model: prompts_missing for model, prompts_missing in missing.items() if prompts_missing}
        if wanted and may_launch("measure the endings") and st.button("Measure the endings", key="choices_measure"):
            requests = {
                model: Request(tuple(prompts_missing), choices=own_choices, mode=chosen.mode)
                for model, prompts_missing in wanted.items()
            }
            launch([chosen.spec(request, model) for model, request in requests.items()])
            st.rerun()
        _figures(chosen, view, library, source, prompts)


def _upload(library: Library) -> None:
    if not may_launch("upload a file of choices"):
        return
    file = st.file_uploader(
        "Choices: a CSV file with context, A, B, C, D and label (1 to 4), or JSON lines with context, "
        "endings and label",
        key=FILE_KEY,
    )
    if file is None:
        return
    try:
        parsed = apart(choices.parse, file.getvalue().decode("utf-8"), file.name, name=file.name)
    except UnicodeDecodeError:
        if not wrong_place.hint(file.name, file.getvalue(), here="choices"):
            st.error(plain(f"{file.name} is not UTF-8 text. Save it as UTF-8."))
    except InputError as error:
        if not wrong_place.hint(file.name, file.getvalue(), here="choices"):
            st.error(plain(sentence(str(error))))
    else:
        library.choices |= {digest_of(parsed): parsed}
        st.session_state[UPLOADED] = {digest_of(parsed): parsed}
        if st.session_state.get(TAKEN) != file.file_id:  # only once: a person may choose another afterwards
            st.session_state[TAKEN] = file.file_id
            st.session_state[SOURCE_KEY] = digest_of(parsed)


def _shipped() -> str:
    """The hash of the choices that ship with Hedge."""
    return digest_of(choices.read(choices.BUNDLED)) if choices.BUNDLED.is_file() else ""


def _source(library: Library) -> str:
    shipped = _shipped()
    return str(
        st.selectbox(
            "Choices",
            list(library.choices)[::-1],
            format_func=lambda digest: (
                f"{'shipped with Hedge' if digest == shipped else 'your own file'}: {len(library.choices[digest])} "
                f"contexts, {len(library.choices[digest][0].endings)} endings each"
            ),
            key=SOURCE_KEY,
        )
    )


def _prompts(chosen: PerplexityForm, benchmark: tuple[Choice, ...]) -> tuple[SystemPrompt, ...]:
    """Prompts A, B and the empty one, and the file's own prompt if all of its contexts share one."""
    own = {choice.system for choice in benchmark if choice.system}
    more = (SystemPrompt(OWN, own.pop()),) if len(own) == 1 else ()
    return tuple({prompt.digest: prompt for prompt in (*more, *chosen.prompts)}.values())


def _missing(
    chosen: PerplexityForm, model: str, prompts: tuple[SystemPrompt, ...], source: str, library: Library
) -> list[SystemPrompt]:
    gaps = library.to_measure(chosen.setup(model).of_choices, [prompt.digest for prompt in prompts], [source])
    return [prompt for prompt in prompts if (prompt.digest, source) in gaps]


def _alpha_moved() -> None:
    state.change(PerplexityView, alpha=round(st.session_state[ALPHA_KEY] * 1000))


def _figures(
    chosen: PerplexityForm, view: PerplexityView, library: Library, source: str, prompts: tuple[SystemPrompt, ...]
) -> None:
    labels = [choice.label for choice in library.choices[source]]
    left, right = st.columns(2)
    rule = choice("Chosen by", RULE_WORDS, place=left, default="mean", key=RULE_KEY, help=RULE_HELP, wrap=True)
    st.session_state[ALPHA_KEY] = view.alpha / 1000
    alpha = right.slider(
        "alpha",
        0.01,
        0.99,
        step=0.01,
        format="%g",
        key=ALPHA_KEY,
        on_change=_alpha_moved,
        help="Sets of endings hold the counselor's own ending with a probability of at least 1 − alpha.",
    )
    rows, note = [], ""
    for model in chosen.models:
        for prompt in prompts:
            messages = library.messages(chosen.setup(model).of_choices, prompt.digest, source)
            if messages is None:
                continue
            chosen_figures = reports.chosen(messages, labels, rule=rule)
            row = {
                "Model": model,
                "Prompt": prompt.name,
                "accuracy": chosen_figures.accuracy,
                "low": chosen_figures.interval[0],
                "high": chosen_figures.interval[1],
            }
            if len(labels) >= reports.FEWEST:
                for name in ("lac", "aps"):
                    sets = reports.choice_sets(chosen_figures, round(1000 * alpha), name=name)
                    row |= {
                        f"{name}_size": sets.mean_size,
                        f"{name}_size_low": sets.size_interval[0],
                        f"{name}_size_high": sets.size_interval[1],
                        f"{name}_coverage": sets.coverage,
                    }
                    note = sets.note
            rows.append(row)
    if not rows:
        st.info("The choices are not measured yet. Once they are, their accuracy is shown here.")
        return
    table = pd.DataFrame(rows)
    alt = "Accuracy of the choices, and sets of endings"
    static_table(pd.DataFrame([_in_words(row) for row in rows]), alt=alt, texts=2)
    endings, n = len(library.choices[source][0].endings), len(labels)
    half = n // 2
    st.caption(
        f"There are {counted(n, 'choice')} with {endings} endings each, so guessing is right on "
        f"{100 / endings:.0f}%. A model that is right less often finds text by models more likely than text by a "
        "person. It likes its own text most, so let other models write the endings. "
        f"For the sets, a seeded half ({half}) sets the threshold and the other {n - half} are tested. Brackets hold "
        "95% intervals: of the accuracy by Clopper and Pearson, and of the mean size with the draw of calibration "
        "and of the test choices."
    )
    if note:
        st.caption(note.replace("questions", "choices"))
    figures.download("Figures as CSV", table, "choices", About(chosen.models, alpha=round(1000 * alpha)))


def _in_words(row: dict[str, Any]) -> dict[str, str]:
    """A row of the table as a person reads it."""
    cells = {
        "Model": row["Model"],
        "Prompt": row["Prompt"],
        "Accuracy": f"{row['accuracy']:.1%} ({row['low']:.1%} to {row['high']:.1%})",
    }
    for name in ("lac", "aps"):
        if f"{name}_size" in row:
            size, low, high = (row[f"{name}_size{end}"] for end in ("", "_low", "_high"))
            cells |= {
                f"{name.upper()} set size": f"{size:.2f} ({low:.2f} to {high:.2f})",
                f"{name.upper()} coverage": f"{row[f'{name}_coverage']:.1%}",
            }
    return cells
