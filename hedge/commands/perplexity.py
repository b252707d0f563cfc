"""``hedge perplexity``: measure, report, and write endings for the choice benchmark."""

import math
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.conformal.alpha import thousandths
from core.errors import InputError
from core.models.model_sources import canonical
from core.models.perplexity import choices, conversation_files, conversations
from core.models.perplexity.choices import Choice
from core.models.perplexity.conversations import Conversation
from core.models.perplexity.prompts import SHIPPED, SystemPrompt, named
from core.models.perplexity.request import Request
from core.reports import perplexity as reports
from core.reports import perplexity_results
from core.reports.p_values import p_said
from core.reports.report import finite
from core.runs.execution import perplexity_run
from core.runs.spec import SERVED
from hedge.commands.answer import CommandResult

BUNDLED = "bundled"
EVERY = "all"


def run(arguments: Namespace) -> CommandResult:
    """Measure every model, one after the other, or queue them."""
    talks, notes = conversations_of(arguments.conversation)
    request = Request(
        tuple(prompt_of(text) for text in arguments.prompt),
        talks,
        choices_of(arguments.choices),
        arguments.mode,
        exchanges_of(arguments.exchanges),
    )
    if arguments.server:
        served = {name: getattr(arguments, name) for name in ("key_variable", "price_read", "price_written", "budget")}
        served |= {"servers": tuple(arguments.server), "dtype": SERVED, "timeout_s": arguments.timeout}
        specs = [perplexity_run.spec_of(request, model, **served) for model in arguments.model]
    else:
        specs = [perplexity_run.spec_of(request, canonical(model), dtype=arguments.dtype) for model in arguments.model]
    from hedge.commands.runs import asked_for, execute_here, launched

    specs = launched(specs)
    if arguments.queue:
        from core.runs import engine

        ids = [engine.submit(spec) for spec in specs]
        return CommandResult({"runs": ids, "read": notes}, "\n".join([*notes, *map(asked_for, ids)]))
    ids = [execute_here(spec, unit="message") for spec in specs]
    reports = [_report(name, alpha=100, rule="mean") for name in ids]
    output = "\n\n".join([*(["\n".join(notes)] if notes else []), *map(_text, reports)])
    return CommandResult({"runs": ids, "read": notes, "reports": reports}, output)


def report(arguments: Namespace) -> CommandResult:
    """The figures of runs that have ended."""
    values = [_report(name, alpha=thousandths(arguments.alpha), rule=arguments.rule) for name in arguments.run]
    return CommandResult(values, "\n\n".join(map(_text, values)))


def endings(arguments: Namespace) -> CommandResult:
    """Write a file of choices."""
    from core.models.perplexity.scoring import Scorer

    count = 3
    if len(arguments.model) not in (1, count):
        raise InputError(f"give one model or {count}, got {len(arguments.model)}")
    scorers = [Scorer.load(model, dtype="float32") for model in arguments.model]
    prompt = prompt_of(arguments.prompt).text

    def write(contexts: Sequence[tuple[conversations.Message, ...]], each: int) -> list[list[str]]:
        per_model = each // len(scorers)
        written = [scorer.write(contexts, prompt=prompt, each=per_model, seed=arguments.seed) for scorer in scorers]
        return [[text for texts in written for text in texts[i]] for i in range(len(contexts))]

    written_choices = choices.make(
        conversations_of(arguments.conversation)[0], write, generated=count, seed=arguments.seed
    )
    if not written_choices:
        raise InputError("no context got three different endings; choose another model or seed")
    choices.write(written_choices, arguments.out)
    return CommandResult(
        {"choices": len(written_choices), "file": str(arguments.out)},
        f"{len(written_choices)} choices are in {arguments.out}",
    )


def prompt_of(text: str) -> SystemPrompt:
    """A shipped prompt by its name, or one from a file."""
    if text in SHIPPED:
        return SHIPPED[text]
    path = Path(text)
    if not path.is_file():
        raise InputError(f"there is no prompt {text!r}; give {', '.join(SHIPPED)}, or a file that holds one")
    try:
        return named(path.read_text(encoding="utf-8"), path.stem)
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error


def conversations_of(names: Sequence[str]) -> tuple[tuple[Conversation, ...], list[str]]:
    """The bundled conversations and those of files; and how each file was read."""
    talks: list[Conversation] = []
    notes = []
    for name in names:
        if name == BUNDLED:
            talks += conversations.bundled()
        else:
            read = conversation_files.read(Path(name))
            talks += read.conversations
            notes.append(f"{Path(name).name}: {read.read_as}")
    return tuple(talks), notes


def choices_of(name: str | None) -> tuple[Choice, ...]:
    """The bundled choices, those of a file, or none."""
    if name is None:
        return ()
    return choices.read(choices.BUNDLED if name == BUNDLED else Path(name))


def exchanges_of(text: str) -> int | None:
    """A number of exchanges, or None for all."""
    if text == EVERY:
        return None
    if not text.isdecimal():
        raise InputError(f"exchanges must be a number from 0, or {EVERY}; got {text!r}")
    return int(text)


def _report(name: str, *, alpha: int, rule: str) -> dict[str, Any]:
    results = perplexity_results.read(name)
    request = results.request
    names = reports.called({part.digest: part.name for part in request.conversations})
    prompts = reports.called({part.digest: part.name for part in request.prompts})
    measured = {
        prompts[digest]: {names[source]: results.messages[digest, source] for source in names} for digest in prompts
    }
    first, *others = measured
    pairs = [(first, other) for other in others] if names else []
    return {
        "run": results.spec.run_id,
        "mode": request.mode,
        "exchanges": request.exchanges,
        "notes": list(results.notes),
        "dropped_messages": results.dropped,
        "vocabulary": results.vocabulary,
        "served": bool(results.spec.servers),
        "perplexities": (
            reports.by_conversation(measured, vocabulary=results.vocabulary).to_dict("records") if names else []
        ),
        "differences": [
            finite({"a": a, "b": b, **row})
            for a, b in pairs
            for row in reports.differences(measured[a], measured[b]).to_dict("records")
        ],
        "choices": [_choices(results, digest, prompts[digest], alpha, rule) for digest in prompts if request.choices],
    }


def _against_uniform(row: dict[str, Any]) -> str:
    return ", worse than uniform" if row["perplexity"] > row.get("uniform", math.inf) else ""


def _choices(
    results: perplexity_results.PerplexityRun, prompt: str, name: str, alpha: int, rule: str
) -> dict[str, Any]:
    labels = [choice.label for choice in results.request.choices]
    chosen = reports.chosen(results.messages[prompt, choices.digest_of(results.request.choices)], labels, rule=rule)
    values = {"prompt": name, "n": len(labels), "accuracy": chosen.accuracy, "interval": list(chosen.interval)}
    if len(labels) >= reports.FEWEST:
        sets = reports.choice_sets(chosen, alpha)
        values |= {"coverage": sets.coverage, "mean_set_size": sets.mean_size, "note": sets.note}
        values["mean_set_size_interval"] = list(sets.size_interval)
    return values


def _ends(row: dict[str, Any]) -> str:
    known = row["low"] is not None and row["low"] == row["low"]
    return f"{row['low']:+.4f} to {row['high']:+.4f}" if known else "no interval: all messages differ by the same"


def _text(values: dict[str, Any]) -> str:
    window = "all exchanges" if values["exchanges"] is None else f"{values['exchanges']} exchanges before each message"
    lines = [f"{values['run']}\n  {values['mode']} mode, {window}"]
    lines += [f"  {note}" for note in values["notes"]]
    for row in values["perplexities"]:
        lines.append(
            f"  {row['conversation']:<30} {row['prompt']:<12} perplexity {row['perplexity']:>9.2f}, mean of messages "
            f"{row['message_mean']:>9.2f}, {row['bits_per_byte']:.3f} bits a byte" + _against_uniform(row)
        )
    if values["perplexities"]:
        lines.append(f"  {reports.uniform_sentence(values['vocabulary'], served=values['served'])}")
    for row in values["differences"]:
        lines.append(
            f"  {row['a']} − {row['b']}, {row['conversation']}: {row['difference']:+.4f} nats a token "
            f"({_ends(row)}), {p_said(row['p'])}, {row['n']} messages"
        )
    for row in values["choices"]:
        low, high = row["interval"]
        sets = ""
        if "coverage" in row:
            least, most = row["mean_set_size_interval"]
            sets = (
                f", sets of {row['mean_set_size']:.2f} ({least:.2f} to {most:.2f}) endings cover {row['coverage']:.2f}"
            )
        lines.append(
            f"  {row['prompt']:<12} {row['accuracy']:.3f} of {row['n']} choices right ({low:.3f} to {high:.3f}){sets}"
        )
    return "\n".join(lines)
