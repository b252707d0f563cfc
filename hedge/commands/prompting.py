"""``hedge prompting``: prompting methods compared, with the figures of the Prompting page."""

from argparse import Namespace
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from core.conformal.alpha import thousandths
from core.errors import InputError
from core.exchange.workbook import workbook
from core.questions.bank_names import bank_of_task, task_title
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import load
from core.reports.prompting import experiments, letter_answers
from core.reports.prompting.experiments import LETTERS_METHOD, PromptingExperiment, PromptingMethod
from core.reports.prompting.option_order import option_order
from core.reports.report import finite
from core.reports.titles import weights_apart
from core.runs import store
from core.runs.store import RunRecord
from hedge.commands.answer import CommandResult, of_runs


def compare_ways(arguments: Namespace) -> CommandResult:
    """Every way of asking of the named runs, or of all finished ones: figures, paired tests against the first way,
    invalid answers, orders and written answers; ``--out`` writes the table as XLSX.

    Without names, runs that have no other way of asking beside them are left out, unless all are like that: a home with
    a thousand of them has nothing to compare, and their figures would take a minute.

    Raises :class:`InputError` if there is no such run, and where the workbook can't be written.
    """
    names = [store.folder_of(name).name for name in arguments.run] or store.run_ids()
    read = of_runs(names, _whole)
    all_experiments = experiments.experiments(read.values)
    if not all_experiments:
        raise InputError("there is no finished run to compare; make some with `hedge run --form letters cloze`")
    compared = {
        experiment: records for experiment, records in all_experiments.items() if len(experiments.readings(records)) > 1
    }
    chosen = all_experiments
    lone = len(all_experiments) - len(compared) if compared and not arguments.run else 0
    if lone:
        all_experiments = compared
    alpha = thousandths(arguments.alpha)
    apart = weights_apart({experiment.key: records[0].spec for experiment, records in chosen.items()})
    results = [
        _experiment(experiment, records, alpha, arguments.score) | {"weights": apart[experiment.key]}
        for experiment, records in all_experiments.items()
    ]
    if arguments.out:
        _write(arguments, [values["rows"] for values in results])
    values = [{**figures, "rows": finite(figures["rows"].to_dict("records"))} for figures in results]
    texts = [_text(figures) for figures in results]
    differ = {experiment.model for experiment in chosen if apart[experiment.key]}
    texts += [f"Runs of {model} have different weights, so they are not compared as one model." for model in differ]
    if lone:
        texts.append(f"Left out, because nothing is beside them to compare: {lone:,}; name runs to see their figures.")
    return CommandResult({"experiments": values, "left_out": lone}, "\n\n".join(texts)).beside(read)


def _whole(run_id: str) -> RunRecord:
    record = store.read_record(run_id)
    store.check_files(record)
    return record


def _experiment(
    experiment: PromptingExperiment, records: tuple[RunRecord, ...], alpha: int, score: str
) -> dict[str, Any]:
    chosen = experiments.readings(records)
    runs = {reading: experiments.evaluate(reading) for reading in chosen}
    rows = experiments.figures(chosen, list(runs.values()), SetRule(alpha, (score,)))
    return {
        "model": experiment.model,
        "task": experiment.task,
        "bank": bank_of_task(experiment.task),
        "key": experiment.key,
        "rows": experiments.aggregate(rows),
        "tests": finite(_tests(chosen, runs, alpha, score)),
        "letters": {_asked(way): _letters(way, alpha, score) for way in chosen if way.method == LETTERS_METHOD},
        "against_guessing": experiments.against_guessing(rows),
    }


def _tests(
    chosen: list[PromptingMethod], runs: dict[PromptingMethod, Any], alpha: int, score: str
) -> list[dict[str, Any]]:
    """Against the first way with the same shots."""
    rows: list[dict[str, Any]] = []
    for shots in sorted({reading.shots for reading in chosen}):
        first, *others = [reading for reading in chosen if reading.shots == shots]
        try:
            table = experiments.against(first, others, runs, alpha, score=score)
        except InputError as error:  # too few questions to test a difference; the figures are shown anyway
            rows.append({"first": first.title, "shots": shots, "refused": str(error)})
            continue
        rows += [{"first": first.title, **{str(k): v for k, v in row.items()}} for row in table.to_dict("records")]
    return rows


def _asked(way: PromptingMethod) -> str:
    return f"{way.shots}" if way.strategy == "base" else f"{way.shots} {way.strategy}"


def _letters(reading: PromptingMethod, alpha: int, score: str) -> dict[str, Any]:
    order, spread = option_order(load(reading.run_id), alpha, scores=(score,)), letter_answers.spread(reading.run_id)
    return {
        "invalid": finite(asdict(letter_answers.invalid_answers(reading.run_id))),
        "option_order": finite(asdict(order)) if order else None,
        "written": finite({**asdict(spread), "deviation": spread.deviation}) if spread else None,
    }


def _write(arguments: Namespace, tables: list[Any]) -> None:
    sheets = {
        f"{i} {table['task'].iloc[0].rpartition('/')[2]}": pa.Table.from_pandas(table, preserve_index=False)
        for i, table in enumerate(tables, start=1)
    }
    try:
        arguments.out.write_bytes(workbook(sheets))
    except OSError as error:
        raise InputError(
            f"{arguments.out} can't be written ({error.strerror}); give a file in a folder that exists"
        ) from error


def _text(values: dict[str, Any]) -> str:
    weights = f" ({values['weights']})" if values["weights"] else ""
    lines = [f"{values['model']}{weights} on {task_title(values['task'], values['bank'])}"]
    lines += [
        f"  {row['method']:<32} {row['shots']:>2} shots  accuracy {row['accuracy']:.3f} ({row['accuracy_low']:.3f} to "
        f"{row['accuracy_high']:.3f})  coverage {row['coverage']:.3f}  set size {row['mean_set_size']:.2f} "
        f"({row['set_size_low']:.2f} to {row['set_size_high']:.2f})"
        for row in values["rows"].to_dict("records")
    ]
    for shots, figures in values["letters"].items():
        rate, orders, written = figures["invalid"]["rate"], figures["option_order"], figures["written"]
        parts = ["not known" if rate is None else f"{rate:.1%}"]
        if orders:
            low, high = orders["plurality_interval"]
            parts.append(
                f"PPA of {orders['questions']} questions, each in {orders['orders']} orders, "
                f"{orders['plurality']:.3f} ({low:.3f} to {high:.3f})"
            )
        parts += [f"right in writing {', '.join(f'{a:.3f}' for a in written['accuracy'])}"] if written else []
        lines.append(f"  letters, {shots} shots: no letter {'; '.join(parts)}")
    return "\n".join([*lines, f"  {values['against_guessing']}" if values["against_guessing"] else ""]).rstrip()
