"""What ``hedge jury estimate`` and ``hedge jury draw`` do."""

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from shlex import quote

from core.exchange import label_files
from core.jury.label_draw import JudgedAnswers, LabelSample, sample_of
from core.jury.pipeline import jury_store
from core.reports import label_budget as reports
from core.reports.label_budget import LabelBudget
from core.reports.provenance import today
from core.tables.read_as import counted
from hedge.commands.answer import CommandResult


def _judged(arguments: Namespace) -> JudgedAnswers:
    """The answers of a file, or those of a stored jury."""
    path = Path(arguments.judgements)
    if path.suffix or path.exists():
        judged = label_files.read_judged(path)
    else:
        judgements = jury_store.read(arguments.judgements)
        record = jury_store.read_record(jury_store.folder_of(arguments.judgements).name)
        judged = JudgedAnswers.of(judgements, record.sentences)
    return replace(judged, judgements=replace(judged.judgements, pairwise=True)) if arguments.pairwise else judged


def draw(arguments: Namespace) -> CommandResult:
    """Draw answers for people to label, and write them as a table."""
    judged = _judged(arguments)
    drawn = label_files.write_draw(judged, arguments.labels, arguments.out, seed=arguments.seed, date=today())
    text = (
        f"{arguments.out}: {arguments.labels:,} of {len(judged):,} answers, drawn at random with seed {drawn.seed}. "
        "Fill in the column label from the top. You may stop early, but skip no answer. Then run "
        f"`hedge jury estimate {quote(arguments.judgements)} --labelled {quote(str(arguments.out))}`."
    )
    values = {"file": str(arguments.out), "labels": arguments.labels, "draw": drawn.text}
    return CommandResult(values | {"answers": drawn.answers, "seed": drawn.seed, "digest": drawn.digest}, text)


def estimate(arguments: Namespace) -> CommandResult:
    """Estimate the share of right answers from labels and judges."""
    judged = _judged(arguments)
    sample = (
        label_files.read_labels(arguments.labelled, judged, seed=arguments.seed, declared=arguments.random)
        if arguments.labelled
        else sample_of(judged, seed=arguments.seed, declared=arguments.random)
    )
    n = _usual(sample, judged) if arguments.labels is None else arguments.labels
    budget = reports.label_budget(judged, sample, n=n, judges=arguments.judge or (), seed=arguments.seed)
    return CommandResult(reports.to_json(budget), _text(budget))


def _usual(sample: LabelSample, judged: JudgedAnswers) -> int:
    labels = len(sample.labels)
    return min(reports.USUAL, labels) if labels == len(judged) else labels


def _text(budget: LabelBudget) -> str:
    what, share = ("pairs", "how often the first answer is better") if budget.pairwise else ("answers", "share right")
    head = f"{share}, from {counted(budget.n, 'label')} of {budget.answers:,} {what}"
    if not budget.random:
        return "\n".join([f"{head}: {budget.alone.value:.1%} of the labelled {what}", *budget.notes])
    rows = reports.cells(budget)
    width = max(len(name) for name, *_ in rows)
    lines = [
        f"{head} (95% interval for new {what} like these)",
        "",
        f"{'':<{width}} uses           estimate                   λ     worth labels  less variance",
        *(
            f"{name:<{width}} {uses:<14} {shown:<26} {weight:<5} {worth:<13} {saved}"
            for name, uses, shown, weight, worth, saved in rows
        ),
    ]
    if any(each.variance_saved == each.variance_saved for each in budget.judges):
        lines += [
            "",
            f"Less variance: over random draws of {budget.n:,} of these labels, compared with the labels alone.",
        ]
    return "\n".join([*(line.rstrip() for line in lines), f"The labels: {budget.origin}.", *budget.notes])
