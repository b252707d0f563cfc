"""The names that people read: a run's title, and its settings in words.

A run's title is its model and its task. A setting at its default is left out; any other is named in words. The names in
links, files and on the command line (``ds``, ``bfloat16``, ``cloze``) stay as they are.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from urllib.parse import urlsplit

from core.exchange.dropped.kinds import KINDS
from core.models.model_fingerprint import revisions, shipped, short
from core.models.model_sources import FAKE_MODEL
from core.models.replaced_weights import NOT_RECORDED
from core.questions import POCKET_BANK, TASKS, split_task
from core.questions.bank_names import ORIGINS, bank_name, task_title
from core.questions.option_names import OF_CLASSES
from core.runs.model_files import has_files, served_weights
from core.runs.spec import RUN_FOLDER, SERVED, RunSpec
from core.runs.store import RunRecord

STRATEGY_TITLES = {"base": "no instruction", "shared": "shared instruction", "task": "task instruction"}
"""Strategy → what the prompt begins with."""
PRECISION_TITLES = {
    "float32": "32-bit",
    "float16": "16-bit (fp16)",
    "bfloat16": "16-bit (bf16)",
    "int8": "8-bit",
    "int4": "4-bit",
    SERVED: "on a server",
}
"""Precision → the size of the numbers that the model computes with."""
FORM_TITLES = {"letters": "by letter", "cloze": "by text", "continuation": "as continuation"}
"""Form → how the model answers: with an option's letter, or by how likely each option's text is."""
FORMAT_TITLES = {
    "plain": "plain text",
    "chat": "chat format",
    "systemone": "System One decisions",
    "decisions": "OpenAI decisions",
}
"""Prompt format → whether the prompt stands in the model's chat template, or is a request for a decision."""
ORIGIN_TITLES = {
    "hedge": "run by Hedge",
    **{kind.origin: f"from {ORIGINS.get(kind.origin, kind.origin)}" for kind in KINDS.values() if kind.origin},
    "llm-uncertainty-bench": "from LLM-Uncertainty-Bench",
    "table": "from a table",
    RUN_FOLDER: "from a run folder",
}
STUDY_TITLES = {"perplexity": "Perplexity", "jury": "Jury"}
"""The task's name of a run that answers no questions → its title."""
STUDY_DETAILS = {"perplexity": "every word scored", "jury": "answers, tuned jurors and their verdicts"}
"""The task's name of a run that answers no questions → what the run makes."""

ASKING = ("strategy", "shots", "form", "dtype")
"""The settings that a title names where they are not at their defaults."""
DEFAULTS = RunSpec(model="any", task="any")
"""A run with every setting at its default."""
SHORT_ID = 4
"""The number of characters at the end of a run's id that distinguish it from others with the same title."""


def shots_title(shots: int) -> str:
    """The number of demonstrations in words.

    >>> shots_title(0), shots_title(1)
    ('0 shots', '1 shot')
    """
    return _counted(shots, "shot")


def setting_title(setting: str, value: object) -> str:
    """A setting's value in words; a value that has no words is returned as text.

    ``setting`` is a field of :class:`RunSpec`: ``strategy``, ``shots``, ``dtype``, ``form`` or ``prompt_format``.

    >>> setting_title("dtype", "bfloat16"), setting_title("form", "cloze")
    ('16-bit (bf16)', 'by text')
    """
    if setting == "shots":
        return shots_title(int(str(value)))
    words = {
        "strategy": STRATEGY_TITLES,
        "dtype": PRECISION_TITLES,
        "form": FORM_TITLES,
        "prompt_format": FORMAT_TITLES,
    }
    return words.get(setting, {}).get(str(value), str(value))


def spec_task_title(spec: RunSpec, bank: str) -> str:
    """The title of a run's task, whose questions come from ``bank``; the title of the study if the run answers no
    questions.

    >>> spec_task_title(RunSpec(model="m", task="ds"), "pocket bank")
    'Summaries'
    """
    return task_title(spec.task, bank) if spec.answers else STUDY_TITLES.get(spec.task_name, spec.task_name)


def record_task_title(record: RunRecord) -> str:
    """The title of the task of a stored run, with its bank (:func:`spec_task_title`)."""
    return spec_task_title(record.spec, bank_name(record.spec, record.provenance))


CLASSES_TITLE = "probabilities of classes"
"""In place of a strategy, for a classifier: it gets no prompt and no examples."""


def record_details(record: RunRecord) -> str:
    """All settings of a stored run in words (:func:`details`)."""
    return details(record.spec, classes=bool(record.provenance.get(OF_CLASSES)))


def details(spec: RunSpec, *, classes: bool = False) -> str:
    """All settings of a run in words, including those at their defaults, as secondary text next to a title; and which
    files its model had, unless they are those that ship with Hedge. A run with ``classes`` is of a classifier.

    >>> details(RunSpec(model="pocket-1m", task="qa"))
    'no instruction · 0 shots · by letter · 32-bit'
    >>> details(RunSpec(model="m", task="qa", model_fingerprint="3f2a91" + 26 * "0"))
    'no instruction · 0 shots · by letter · 32-bit · weights 3f2a91'
    """
    if classes:
        return CLASSES_TITLE
    weights = weights_title(spec) if spec.model_fingerprint or spec.model not in shipped() else ""
    if not spec.answers:
        study = STUDY_DETAILS.get(spec.task_name)
        return " · ".join(filter(None, (study, PRECISION_TITLES[spec.dtype], weights)))
    parts = [STRATEGY_TITLES[spec.strategy], shots_title(spec.shots), FORM_TITLES[spec.form]]
    return " · ".join(filter(None, (*parts, PRECISION_TITLES[spec.dtype], *_additions(spec), weights)))


def differences(spec: RunSpec) -> list[str]:
    """The settings that are not at their defaults, in words and in the order of a title.

    >>> differences(RunSpec(model="m", task="qa", strategy="task", shots=4, form="cloze"))
    ['task instruction', '4 shots', 'by text']
    """
    asking = ["strategy", "shots", "form"] * spec.answers
    changed = [name for name in [*asking, "dtype"] if getattr(spec, name) != getattr(DEFAULTS, name)]
    return [setting_title(name, getattr(spec, name)) for name in changed] + _additions(spec)


def run_title(spec: RunSpec, bank: str) -> str:
    """A run's title: its model, its task, and the settings that are not at their defaults.

    >>> run_title(RunSpec(model="org/phi-2", task="qa", dtype="float16"), "MMLU 10k")
    'phi-2 · Question answering · MMLU 10k · 16-bit (fp16)'
    """
    return " · ".join([spec.model_name, spec_task_title(spec, bank), *differences(spec)])


def weights_title(spec: RunSpec) -> str:
    """Which files of its model a run was computed with, in words; empty for a model on a server and imported runs
    without a fingerprint.

    >>> weights_title(RunSpec(model="m", task="qa", model_fingerprint="3f2a91" + 26 * "0"))
    'weights 3f2a91'
    >>> weights_title(RunSpec(model="org/m", task="qa", model_fingerprint="1a2b3c" + 34 * "0"))
    'revision 1a2b3c'
    >>> weights_title(RunSpec(model="/models/m", task="qa"))
    'weights not recorded'
    """
    if spec.model_fingerprint:
        of_hub = all(revisions(spec.model_fingerprint))
        return f"{'revision' if of_hub else 'weights'} {short(spec.model_fingerprint)}"
    if not has_files(spec) or spec.model == FAKE_MODEL:
        return ""
    return "weights as shipped" if spec.model in shipped() else NOT_RECORDED


def weights_apart(specs: Mapping[str, RunSpec]) -> dict[str, str]:
    """Words that distinguish runs of one model with different weights, by the keys of ``specs``; empty for all other
    runs."""
    fingerprints: dict[str, set[str]] = defaultdict(set)
    for spec in specs.values():
        fingerprints[spec.asked_model].add(spec.model_fingerprint)
    return {key: weights_title(spec) if len(fingerprints[spec.asked_model]) > 1 else "" for key, spec in specs.items()}


def model_titles(specs: Mapping[str, RunSpec]) -> dict[str, str]:
    """The name of each run's model, with its weights where runs of one model have different ones."""
    apart = weights_apart(specs)
    return {key: " · ".join(filter(None, (spec.model_name, apart[key]))) for key, spec in specs.items()}


def record_title(record: RunRecord) -> str:
    """The title of a stored run."""
    return run_title(record.spec, bank_name(record.spec, record.provenance))


def distinct_titles(
    runs: Mapping[str, tuple[RunSpec, str]], *, served: Mapping[str, str] | None = None
) -> dict[str, str]:
    """A title for each run, no two of them alike. ``runs`` maps each run's id to its spec and its questions' bank, and
    ``served`` to what :func:`~core.runs.model_files.served_weights` says about it.

    If runs of one model have different weights, each of them says which. If two runs have the same title, what differs
    between them is added: the location of the model or the questions, the seed, the share of calibration questions, or
    the tool that made the run. If nothing of this differs, the end of the id is added.
    """
    weights = weights_apart({run_id: spec for run_id, (spec, _) in runs.items()})
    weights |= {run_id: words for run_id, words in (served or {}).items() if words}
    titles = {
        run_id: " · ".join(filter(None, (run_title(spec, bank), weights[run_id])))
        for run_id, (spec, bank) in runs.items()
    }
    alike: dict[str, list[str]] = defaultdict(list)
    for run_id, title in titles.items():
        alike[title].append(run_id)
    for run_ids in alike.values():
        if len(run_ids) > 1:
            for say in APART:
                words = {run_id: say(runs[run_id][0]) for run_id in run_ids}
                if len(set(words.values())) > 1:
                    titles |= {run_id: " · ".join(filter(None, (titles[run_id], words[run_id]))) for run_id in run_ids}
    for length in (SHORT_ID, None):
        seen = Counter(titles.values())
        ends = {run_id: run_id[-length:] if length else run_id for run_id in runs}
        titles = {name: f"{title} · {ends[name]}" if seen[title] > 1 else title for name, title in titles.items()}
    return titles


def record_titles(records: Sequence[RunRecord]) -> dict[str, str]:
    """Maps each stored run's id to its title, no two of them alike (:func:`distinct_titles`)."""
    runs = {record.run_id: (record.spec, bank_name(record.spec, record.provenance)) for record in records}
    return distinct_titles(runs, served=served_weights(records))


def row_names(records: Sequence[RunRecord]) -> tuple[str, dict[str, str]]:
    """What runs have in common, for a heading, and the name of each by what differs between them, by the runs' ids.

    Runs that differ in their models are called by their models; runs of one model by the setting that differs. As in
    titles, settings at their defaults are left out, unless nothing else would be left of a name.
    """
    titles = record_titles(records)
    parts_by_run = {record.run_id: _title_parts(record, titles[record.run_id]) for record in records}
    every = list(dict.fromkeys(part for parts in parts_by_run.values() for part in parts))
    values = {part: {parts.get(part, "") for parts in parts_by_run.values()} for part in every}
    own = [part for part in every if len(values[part]) > 1 or (len(records) == 1 and part == "model")]
    defaults = {"", *(setting_title(name, getattr(DEFAULTS, name)) for name in ASKING)}
    names = {}
    for run_id, parts in parts_by_run.items():
        words = [parts[part] for part in own if part in parts]
        names[run_id] = " · ".join([word for word in words if word not in defaults] or words)
    common = [value for part in every if part not in own for value in values[part] - defaults]
    distinct = all(names.values()) and len(set(names.values())) == len(names)
    return " · ".join(common), names if distinct else titles


def _title_parts(record: RunRecord, title: str) -> dict[str, str]:
    """The parts of a run's title by their names, with the settings that a title leaves out. Other words, such as a
    seed, are their own names."""
    parts = {"model": record.spec.model_name, "task": record_task_title(record)}
    rest = title.removeprefix(" · ".join(parts.values())).split(" · ")
    parts |= {name: setting_title(name, getattr(record.spec, name)) for name in ASKING}
    return parts | {word: word for word in rest if word and word not in parts.values()}


def reading_order(record: RunRecord) -> tuple[object, ...]:
    """The place of a run in a list that is grouped by task, then by model; the plainest way of asking comes first.

    Tasks have the order of :data:`core.questions.TASKS`, and numbers in a model's name count as numbers.
    """
    spec, bank = record.spec, bank_name(record.spec, record.provenance)
    tasks = list(TASKS)
    place = tasks.index(spec.task_name) if spec.task_name in tasks else len(tasks)
    model = [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", spec.model_name)]
    return place, bank != POCKET_BANK, spec_task_title(spec, bank), model, len(differences(spec)), run_title(spec, bank)


def _folder_of_model(spec: RunSpec) -> str:
    folder = PurePath(spec.model).parent
    return str(folder) if folder.name else ""


def _host(url: str) -> str:
    return urlsplit(url).netloc


def _place_of_questions(spec: RunSpec) -> str:
    return split_task(spec.task)[1] or spec.task if spec.answers else ""


APART: tuple[Callable[[RunSpec], str], ...] = (
    _folder_of_model,
    lambda spec: ", ".join(_host(url) for url in spec.servers),
    _place_of_questions,
    lambda spec: f"seed {spec.seed}",
    lambda spec: f"{spec.calibration_share:.0%} calibration questions",
    lambda spec: ORIGIN_TITLES.get(spec.origin, f"from {spec.origin}"),
)
"""Properties that are added to the titles of two runs with the same title, if they differ."""


def _additions(spec: RunSpec) -> list[str]:
    """The settings that are named only for runs that use them."""
    parts = [FORMAT_TITLES[spec.prompt_format]] * (spec.prompt_format != "plain")
    parts += ["options rotated"] * spec.rotations + ["all orders"] * spec.orders
    parts += ["own system prompt"] * bool(spec.system)
    parts += [_counted(spec.repeats, "written answer")] * bool(spec.repeats)
    parts += [f"frequencies of {spec.picks:,} samples"] * bool(spec.picks)
    return parts + ([f"up to {_counted(spec.samples, 'question')}"] if spec.samples else [])


def _counted(number: int, singular: str) -> str:
    return f"{number:,} {singular if number == 1 else singular + 's'}"
