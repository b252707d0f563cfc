"""What lm-evaluation-harness says of a whole evaluation: the model, and of each task its settings and its means.

It stands in ``results_<date>.json`` beside the samples, in the ``results.json`` of versions 0.4.0 to 0.4.2, or, with
the samples themselves, in a document that ``simple_evaluate()`` returned. The old versions name their samples by the
model's arguments and the task, ``pretrained__<organisation>__<model>_<task>.jsonl``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.models.model_sources import DTYPES
from core.tables.safe_read import json_document, shown

NAME = re.compile(r"^samples_(?P<task>.+?)(?:_(?P<date>\d{4}-\d\d-\d\dT[\d\-.:]+?))?\.jsonl?$")
DATED = re.compile(r"\d{4}-\d\d-\d\dT")
PLAIN = "results.json"
"""The name of the results in versions 0.4.0 to 0.4.2."""
NAMES_MODEL = ("peft", "delta", "pretrained", "model", "path", "engine")
"""The arguments that name the model; the first that is there counts, as in the harness."""
BACKENDS = re.compile(r"^(hf|hf-.+|huggingface|vllm.*|sglang.*|local-.+|openai-.+|dummy|gguf|ggml|.*LM)$")
"""How the harness calls the programs that run models, which name no model."""
WRITTEN_OUT = "_write_out_info"
"""How the names of files of 2023 end."""
ARGUMENTS = re.compile(rf"^(?:{'|'.join(NAMES_MODEL)})__(?P<rest>.+)$")
KNOWN_TASKS = re.compile(
    r"_(?=(?:mmlu|cmmlu|ceval|agieval|arc_|ai2_arc|hellaswag|winogrande|truthfulqa|piqa|siqa|social_iqa|boolq|openbookqa|"
    r"sciq|race|copa|xcopa|logiqa|medqa|medmcqa|pubmedqa|bbh|bbq|commonsense_qa|leaderboard|super_?glue|glue|anli|xnli|"
    r"lambada|gsm8k|belebele|kmmlu|kobest|haerae|wsc|wic|rte|cb$|mnli|qnli|sst2|mathqa|headqa|prost|swag|storycloze))"
)
"""Where the task may begin in a name of versions 0.4.0 to 0.4.2."""


@dataclass(frozen=True, slots=True)
class Results:
    """The results of one task; ``model`` is empty where it is not named. ``certain`` is false where nothing but lying
    beside the samples joins the two."""

    config: dict[str, Any]
    claims: dict[str, Any]
    model: str
    dtype: str
    shots: int | None
    path: Path
    task: str
    certain: bool = True


def of_task(values: Mapping[str, Any], task: str, path: Path, *, certain: bool = True) -> Results:
    """What ``values``, a document of the harness, say of a task that they name. Raises :class:`InputError` for a task
    that is not multiple choice."""
    config = _object(_object(values, "configs"), task)
    kind = config.get("output_type", "multiple_choice")
    if kind not in ("multiple_choice", "generate_until"):  # several answers in writing can be read
        raise InputError(
            f"{path}: expected a task of output_type multiple_choice, found {kind!r} for {task}; it does not say how "
            "probable each option is"
        )
    of_model = _object(values, "config")
    arguments = _arguments(of_model.get("model_args"))
    named = next((arguments[name] for name in NAMES_MODEL if arguments.get(name)), "")
    loaded = str(of_model.get("model") or "")
    dtype = str(of_model.get("model_dtype") or ("" if values.get("model_name") else arguments.get("dtype", "")))
    dtype = dtype.removeprefix("torch.")
    shots = _object(values, "n-shot").get(task, config.get("num_fewshot"))
    return Results(
        config=config,
        claims=_object(_object(values, "results"), task),
        model=str(values.get("model_name") or named or ("" if BACKENDS.match(loaded) else loaded)),
        dtype=dtype if dtype in DTYPES else "float32",
        shots=shots if isinstance(shots, int) and shots >= 0 else None,
        path=path,
        task=task,
        certain=certain,
    )


def find(path: Path, given: Sequence[Path] = ()) -> Results | None:
    """The results of a file of samples, among the ``given`` files of results or beside it. Raises :class:`InputError`
    for a file that holds none, and for a task that is not multiple choice."""
    name = NAME.match(path.name)
    date = name["date"] if name else None
    for candidate in _candidates(path, date, given):
        values = json_document(candidate)
        tasks = values.get("results")
        if not isinstance(tasks, dict):
            raise InputError(f"{candidate}: expected results of lm-eval, found the keys {shown(', '.join(values))}")
        task = (name["task"] if name["task"] in tasks else "") if name else _named_task(path.stem, tasks)
        if task:
            return of_task(values, task, candidate)
        if not name and len(tasks) == 1 and candidate == path.parent / PLAIN:
            return of_task(values, next(iter(tasks)), candidate, certain=False)
    return None


def _candidates(path: Path, date: str | None, given: Sequence[Path]) -> list[Path]:
    """The files of results that may be of these samples; those of the same folder come first."""
    if date is None:
        fitting = [file for file in given if file.parent == path.parent] or list(given)
        return fitting or _readable(path.parent / PLAIN)
    fitting = [file for file in given if date in file.name]
    if not fitting:  # a file that was renamed has no date to go by
        fitting = [file for file in given if file.parent == path.parent and not DATED.search(file.name)]
    return fitting or _readable(path.parent / f"results_{date}.json")


def beside(path: Path) -> list[Path]:
    """The results that lie beside a file which may be samples, by their names."""
    if not path.is_file():
        return []
    name = NAME.match(path.name)
    if name:  # a name of the person's own has the date at its end too
        files = sorted(path.parent.glob("*.json"))
        return [file for file in files if file.stem.endswith(name["date"] or "/") and not NAME.match(file.name)]
    plain = path.parent / PLAIN
    return [plain] if plain != path and plain.is_file() and b'"doc_id"' in _head(path) else []


def _readable(path: Path) -> list[Path]:
    """The file, unless there is none or this process may not read it."""
    return [path] if _head(path) else []


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except OSError:
        return b""


def _named_task(stem: str, tasks: Iterable[str]) -> str:
    """The longest of the tasks that a name is, or ends with."""
    fitting = [task for task in tasks if stem == task or stem.endswith(f"_{task}")]
    return max(fitting, key=len, default="")


def date_of(path: Path) -> str:
    """The date in a name of samples; empty if there is none."""
    name = NAME.match(path.name)
    return (name["date"] if name else "") or ""


def is_write_out(path: Path) -> bool:
    """Whether a file is one of 2023, whose folder a person named; later versions name it after the model."""
    return path.stem.endswith(WRITTEN_OUT)


def named_parts(path: Path) -> tuple[str, str]:
    """The model and the task that a file's name says; the model is empty where it says none.

    >>> named_parts(Path("pretrained__org__model-1b,dtype__auto_mmlu_anatomy.jsonl"))
    ('org/model-1b', 'mmlu_anatomy')
    >>> named_parts(Path("samples_piqa_2024-06-01T10-00-00.0.jsonl"))
    ('', 'piqa')
    >>> named_parts(Path("arc_easy_write_out_info.json"))
    ('', 'arc_easy')
    """
    name = NAME.match(path.name)
    arguments = ARGUMENTS.match(path.stem)
    if name or not arguments:
        return "", name["task"] if name else path.stem.removesuffix(WRITTEN_OUT)
    rest = arguments["rest"]
    begin = rest.rfind("__") + 2 if "__" in rest else 0
    cut = KNOWN_TASKS.search(rest, begin)
    at = cut.start() if cut else rest.find("_", begin)
    if at < 1:
        return "", path.stem
    return rest[:at].partition(",")[0].replace("__", "/").strip("/"), rest[at + 1 :]


def model_of(path: Path) -> str:
    """The model that a file's name says, or its folder, which the harness names so, with ``__`` for each ``/``."""
    return named_parts(path)[0] or path.resolve().parent.name.replace("__", "/").strip("/") or "unknown"


def _arguments(arguments: Any) -> dict[str, str]:
    """The model's arguments by name: an object, or ``pretrained=…,dtype=…``."""
    if isinstance(arguments, dict):
        return {str(key): str(value) for key, value in arguments.items() if value is not None}
    return dict(part.strip().partition("=")[::2] for part in str(arguments or "").split(","))


def _object(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = values.get(name)
    return value if isinstance(value, dict) else {}
