"""HELM: ``scenario_state.json`` of a multiple-choice scenario.

``request_states`` has one entry for each request. With ``multiple_choice_joint`` it asks for a letter: the options'
log-probabilities are those of the letters in ``top_logprobs`` of the first token of the completion
(:mod:`core.exchange.listed_letters`). With ``multiple_choice_separate_original`` it scores one option
(``reference_index``): its log-probability is the sum over the last tokens, those that spell the option. With
``multiple_choice_separate_calibrated`` every option is scored a second time without the question, which is taken off.
The right option is the reference with the tag ``correct``. Perturbed instances and further training sets ask the same
questions again and are left out.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.exchange.build_run import ScoredRow, assemble, check_row
from core.exchange.cited_work import CitedWork
from core.exchange.dropped.examples import OPTIONS, N, as_json, example
from core.exchange.dropped.kind import Kind
from core.exchange.imported import ImportedRun
from core.exchange.listed_letters import bounded
from core.records import LETTERS, Question
from core.runs.spec import MAX_FOREIGN_SHOTS, RunSpec
from core.tables.safe_read import json_document, number, shown

ORIGIN = "helm"


def is_result(values: Any) -> bool:
    """Whether a JSON document is such a file."""
    return isinstance(values, dict) and isinstance(values.get("request_states"), list) and "adapter_spec" in values


def read(path: Path) -> ImportedRun:
    """The run of a file; :class:`InputError` names the file and the request, what was expected and found."""
    values = json_document(path)
    if not is_result(values):
        raise InputError(
            f"{path}: expected a scenario_state.json of HELM with 'adapter_spec' and 'request_states', found the keys "
            f"{shown(', '.join(values))}"
        )
    adapter: dict[str, Any] = values["adapter_spec"] if isinstance(values["adapter_spec"], dict) else {}
    method = str(adapter.get("method"))
    if not method.startswith("multiple_choice"):
        raise InputError(
            f"{path}: expected a multiple-choice scenario, found the method {shown(method)}, which does not say how "
            "probable each option is"
        )
    counts: Counter[str] = Counter()
    requests: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for place, state in enumerate(values["request_states"], start=1):
        where = f"{path}, request {place}"
        if not isinstance(state, dict) or not isinstance(state.get("instance"), dict):
            raise InputError(f"{where}: expected a request with its 'instance', found {shown(state)}")
        if state["instance"].get("perturbation") or state.get("train_trial_index"):
            counts["asked again"] += 1
            continue
        requests.setdefault(str(state["instance"].get("id", place)), []).append((where, state))
    task = _task(path)
    is_joint = method == "multiple_choice_joint"
    read_question = _joint if is_joint else _separate
    rows = [row for name, states in requests.items() if (row := read_question(name, states, task, counts)) is not None]
    if not rows:
        raise InputError(
            f"{path}: expected the log-probability of every option, found only the model's picks in {len(requests)} "
            "questions; HELM logs it with the adapter multiple_choice_separate_original, or with top_k_per_token"
        )
    model, shots = adapter.get("model") or adapter.get("model_deployment"), adapter.get("max_train_instances")
    shots = min(shots, MAX_FOREIGN_SHOTS) if isinstance(shots, int) and shots >= 0 else 0
    about = {
        "method": method,
        "counts": dict(counts),
        "bounded_questions": counts["questions with a letter that is not listed"],
        "lacks": ["model"] * (not model) + ["task"] * (task == "helm"),
    }
    form = "letters" if is_joint else "cloze"
    return assemble(path, rows, RunSpec(str(model or "unknown"), task, shots=shots, form=form, origin=ORIGIN), about)


def _task(path: Path) -> str:
    """HELM names a run's folder ``mmlu:subject=anatomy,method=…,model=…``."""
    scenario, _, arguments = path.resolve().parent.name.partition(":")
    if not arguments:
        return "helm"
    values = dict(part.partition("=")[::2] for part in arguments.split(","))
    subject = values.get("subject") or values.get("dataset") or values.get("task")
    return f"{scenario}-{subject}" if subject else scenario


def _references(state: dict[str, Any], where: str) -> tuple[list[str], int]:
    references = state["instance"].get("references")
    if not isinstance(references, list) or not references:
        raise InputError(f"{where}: expected options in 'references', found {shown(references)}")
    texts = [_text(item.get("output")) if isinstance(item, dict) else str(item) for item in references]
    right = [i for i, item in enumerate(references) if isinstance(item, dict) and "correct" in (item.get("tags") or [])]
    if len(right) != 1:
        raise InputError(
            f"{where}: expected one reference with the tag 'correct', found {len(right)}; sets need questions with one "
            "right answer"
        )
    return texts, right[0]


def _text(value: Any) -> str:
    return str(value.get("text", "")) if isinstance(value, dict) else str(value or "")


def _completion(state: dict[str, Any], where: str) -> dict[str, Any] | None:
    """The first completion, None if the request failed."""
    reply = state.get("result")
    if not isinstance(reply, dict) or not reply.get("success", True) or not reply.get("completions"):
        return None
    completion = reply["completions"][0]
    if not isinstance(completion, dict):
        raise InputError(f"{where}: expected a completion, found {shown(completion)}")
    return completion


def _question(name: str, state: dict[str, Any], texts: Sequence[str], label: int, task: str) -> Question:
    instance = state["instance"]
    group, question = str(instance.get("sub_split") or task), _text(instance.get("input")) or name
    return Question(name, task, group, "", question, tuple(texts), label)


def _joint(
    name: str, states: Sequence[tuple[str, dict[str, Any]]], task: str, counts: Counter[str]
) -> ScoredRow | None:
    where, state = states[0]
    texts, right = _references(state, where)
    mapping = state.get("output_mapping")
    if isinstance(mapping, dict) and mapping:  # the order in which the options were asked
        letters = sorted(mapping)
        if letters != list(LETTERS[: len(letters)]) or sorted(map(str, mapping.values())) != sorted(texts):
            raise InputError(f"{where}: expected a letter for each of the options, found {shown(mapping)}")
        truth = texts[right]
        texts = [str(mapping[letter]) for letter in letters]
        right = texts.index(truth)
    check_row(where, len(texts), right, texts)
    completion = _completion(state, where)
    if completion is None:
        counts["failed"] += 1
        return None
    token = next((token for token in _tokens(completion) if str(token.get("text", "")).strip(" ▁Ġ\n")), {})
    logprobs = token.get("top_logprobs")
    if not isinstance(logprobs, dict) or len(logprobs) < 2:
        counts["picks alone"] += 1
        return None
    listed = {str(text): number(value, where, "a log-probability") for text, value in logprobs.items()}
    logits, missing, mass = bounded(listed, len(texts), where)
    if missing == len(texts):
        counts["without a letter"] += 1
        return None
    counts["questions with a letter that is not listed"] += missing > 0
    return ScoredRow(_question(name, state, texts, right, task), tuple(logits), where, mass)


def _separate(
    name: str, states: Sequence[tuple[str, dict[str, Any]]], task: str, counts: Counter[str]
) -> ScoredRow | None:
    where, first = states[0]
    texts, right = _references(first, where)
    check_row(where, len(texts), right, texts)
    likelihoods: dict[tuple[str, int], float] = {}
    for at, state in states:
        place, completion = state.get("reference_index"), _completion(state, at)
        if completion is None:
            counts["failed"] += 1
            return None
        if not isinstance(place, int) or not 0 <= place < len(texts):
            raise InputError(f"{at}: expected 'reference_index' from 0 to {len(texts) - 1}, found {shown(place)}")
        likelihoods[str(state.get("request_mode") or "original"), place] = _likelihood(completion, texts[place], at)
    lacking = [i for i in range(len(texts)) if ("original", i) not in likelihoods]
    if lacking:
        raise InputError(f"{where}: expected a request for each of {len(texts)} options, found none for {lacking[0]}")
    logits = tuple(likelihoods["original", i] - likelihoods.get(("calibration", i), 0.0) for i in range(len(texts)))
    return ScoredRow(_question(name, first, texts, right, task), logits, where)


def _tokens(completion: dict[str, Any]) -> list[dict[str, Any]]:
    return [token for token in completion.get("tokens") or [] if isinstance(token, dict)]


def _likelihood(completion: dict[str, Any], text: str, where: str) -> float:
    """The sum over the last tokens, back to where they spell the option."""
    wanted = text.strip()
    total, spelled = 0.0, ""
    for token in reversed(_tokens(completion)):
        total += number(token.get("logprob"), where, "a log-probability")
        spelled = str(token.get("text", "")).replace("Ġ", " ").replace("▁", " ") + spelled
        if spelled.strip().endswith(wanted) and wanted:
            return total
    raise InputError(f"{where}: expected tokens that end with the option {shown(text)}, found {shown(spelled)}")


# ---------------------------------------------------------------- its record, with an example


def _helm() -> dict[str, Any]:
    states = []
    for i in range(N):
        listed = {" A": -0.5, " B": -1.2, " C": -2.4}
        options = [f"{word} {i}" for word in OPTIONS]
        references = [{"output": {"text": t}, "tags": ["correct"] * (j == i % 3)} for j, t in enumerate(options)]
        token = {"text": " A", "logprob": -0.5, "top_logprobs": listed}
        states.append(
            {
                "instance": {"input": {"text": f"{i}?"}, "references": references, "split": "test", "id": f"id{i}"},
                "train_trial_index": 0,
                "result": {"success": True, "completions": [{"text": " A", "logprob": -0.5, "tokens": [token]}]},
                "output_mapping": dict(zip("ABC", options, strict=True)),
                "reference_index": None,
            }
        )
    about = {"method": "multiple_choice_joint", "model": "openai/small", "max_train_instances": 5}
    return {"adapter_spec": about, "request_states": states}


KIND = Kind(
    title="scenario state of HELM",
    place="runs",
    listed="HELM `scenario_state.json`",
    document=is_result,
    read=read,
    origin=ORIGIN,
    cited=CitedWork(
        "liang2023holistic",
        "article",
        "Liang, Percy and Bommasani, Rishi and Lee, Tony and Tsipras, Dimitris and others",
        "Holistic Evaluation of Language Models",
        2023,
        "Transactions on Machine Learning Research",
        "2211.09110",
    ),
    examples=(example("The requests of a scenario", "scenario_state.json", lambda: as_json(_helm())),),
)
