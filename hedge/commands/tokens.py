"""The commands about tokens, adapters and calibration: arguments in, an :class:`Answer` out."""

import json
import math
import sys
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.conformal.alpha import thousandths
from core.errors import InputError, plain
from core.models.server_address import served_model
from core.models.spelling import in_words, token_names
from core.reports.calibration.calibrated import CalibrationFigures, calibrated, tests_in_words
from core.reports.calibration.recalibrated import Recalibrated, recalibrated
from core.reports.evaluation import load
from core.reports.repeated import counted
from core.reports.report import finite, shown
from hedge.commands.answer import CommandResult, of_runs


def calibration(arguments: Namespace) -> CommandResult:
    """Print the calibration of runs; with ``--recalibrate`` also before and after recalibration."""
    alpha = thousandths(arguments.alpha)
    values, lines = [], []
    read = of_runs(arguments.run, load)
    for run in read.values:
        strata = calibrated(run, within=arguments.within, bins=arguments.bins, by=arguments.edges)
        wanted = arguments.recalibrate
        recalibrations = [] if wanted is None else recalibrated(run, alpha, methods=wanted)
        values.append(
            {
                "run": run.run_id,
                "strata": [finite(figures.to_json()) for figures in strata],
                "recalibrated": [finite(asdict(figures)) for figures in recalibrations],
            }
        )
        lines += [
            run.run_id,
            *(line for figures in strata for line in _lines(figures)),
            *map(_recalibrated_line, recalibrations),
        ]
    return CommandResult(values, "\n".join(lines)).beside(read)


def _recalibrated_line(figures: Recalibrated) -> str:
    sizes = ", ".join(
        f"{name} coverage {figures.coverage[name]:.3f} size {size:.2f}" for name, size in figures.mean_set_size.items()
    )
    nll = shown(figures.nll) + (
        f" ({figures.nll_infinite:,} of {figures.n_test:,} infinite)" if figures.nll_infinite else ""
    )
    notes = "".join(f"\n    {note}" for note in figures.notes)
    return f"  {figures.method:<12} accuracy {figures.accuracy:.3f}, ECE {figures.ece:.3f}, NLL {nll}; {sizes}{notes}"


def _lines(figures: CalibrationFigures) -> list[str]:
    repeats = figures.questions < figures.n
    questions = (
        counted(figures.n, figures.questions) if repeats else f"{figures.n} test question{'s' * (figures.n != 1)}"
    )
    tests = tests_in_words(figures)
    lines = [f"  {figures.stratum or 'all'}: {questions}, {figures.bins} bins of equal {figures.by}. {tests}"]
    lines.append("    error beyond chance (95% interval); error seen, error of a calibrated model by chance")
    for name, estimate in figures.estimates.items():
        lines.append(f"    {name:<14} {estimate.text(digits=4)}")
    return lines


def train_adapter(arguments: Namespace) -> CommandResult:
    """Train an adapter here, with progress; the same folder again continues where a training stopped."""
    from tqdm import tqdm

    from core.models.adapters.inject import trainable
    from core.models.adapters.texts import load_texts, split, tokenize
    from core.models.adapters.train import AdapterRecipe, AdapterTrainer
    from core.models.encoding import context_of
    from core.models.model_loading import load_model
    from core.models.model_sources import canonical
    from core.models.replaced_weights import weights_of
    from core.models.rows import check_vocabulary

    recipe = AdapterRecipe(
        kind=arguments.kind,
        rank=arguments.rank,
        alpha=arguments.adapter_alpha,
        targets=tuple(arguments.targets),
        epochs=arguments.epochs,
        rows=arguments.batch_size,
        rate=arguments.rate,
        kl=arguments.kl,
        warmup=arguments.warmup,
        prior_share=arguments.prior_share,
        seed=arguments.seed,
    )
    out: Path = arguments.out
    train, _ = split(load_texts(arguments.data), seed=arguments.seed)
    if arguments.samples is not None:
        if arguments.samples < 1:
            raise InputError(f"training needs at least one text, got {arguments.samples}")
        train = train[: arguments.samples]
    source = trainable(arguments.model)
    weights = weights_of(arguments.model)
    model, tokenizer = load_model(source, dtype="float32")
    rows = tokenize(train, tokenizer, context=context_of(model.config))
    highest = max(max(row.tokens) for row in rows)
    check_vocabulary(highest, vocabulary=model.get_input_embeddings().weight.shape[0])
    base = canonical(arguments.model)
    trainer = AdapterTrainer(model, rows, recipe, folder=out, base=base, base_weights=weights)
    if trainer.note:
        print(f"hedge: {trainer.note}", file=sys.stderr)
    with tqdm(desc=f"{recipe.kind} {out.name}", unit="step", file=sys.stderr) as bar:

        def show_progress(done: int, total: int, loss: float) -> None:
            bar.total = total
            bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
            bar.update(done - bar.n)

        trainer.run(show_progress)
    lines = [f"{out}: {recipe.kind} of {arguments.model}, {len(rows)} texts, {recipe.epochs} epochs"]
    for row in trainer.progress.rows:
        ranks = f", KL {row.kl:.3f}, {row.active} of {row.ranks} ranks active" if row.ranks else ""
        lines.append(f"  epoch {row.epoch + 1}: loss {row.loss:.4f}{ranks}, {row.seconds:.0f} s")
    return CommandResult({"adapter": str(out), "texts": len(rows), "epochs": trainer.rows()}, "\n".join(lines))


def _entropy(value: float | None) -> str:
    return "entropy not known" if value is None else f"entropy {value:5.2f}"


def tokens_evaluate(arguments: Namespace) -> CommandResult:
    """Accuracy, NLL and ECE of next tokens, or of option letters (``--letters``)."""
    if served_model(arguments.model):
        raise InputError(
            "a server lists only the most probable next tokens, and an evaluation needs the probabilities of all; look "
            "at single texts with `tokens view`, or evaluate answers with `run --server`"
        )
    from tqdm import tqdm

    from core.models.adapters import token_evaluation as evaluation

    loaded = evaluation.load(arguments.model, base=arguments.base_model, alpha=arguments.adapter_alpha)
    count = None if arguments.num_samples == 0 else arguments.num_samples
    shared = {"count": count, "bins": arguments.n_bins, "rows": arguments.batch_size, "seed": arguments.seed}
    if arguments.letters:
        values = evaluation.evaluate_letters(loaded, arguments.data, **shared)
    else:
        with tqdm(desc=plain(f"{loaded.name} {arguments.data}", one_line=True), unit="token", file=sys.stderr) as bar:

            def show_progress(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            values = evaluation.evaluate(
                loaded, arguments.data, passes=arguments.passes, part=arguments.part, report=show_progress, **shared
            )
    values = finite(values)
    paths = evaluation.write(values, loaded, arguments.output)
    return CommandResult({**values, "files": [str(path) for path in paths]}, _evaluation_text(values, paths))


def _evaluation_text(values: dict[str, Any], paths: list[Path]) -> str:
    """The documents' layout, with what they lack: intervals, and what chance alone adds."""
    rule = "=" * 60
    figures = values["figures"]

    def interval(name: str) -> str:
        if figures[name]["infinite"]:
            return f"({figures[name]['infinite']:,} have probability 0 of the truth)"
        if figures[name]["low"] is None:
            return f"(no interval: {figures[name]['reason']})"
        return f"(95% {figures[name]['low']:.4f} to {figures[name]['high']:.4f})"

    nll = shown(math.inf if values["nll_infinite"] else values["nll"], 4)
    lines = [
        rule,
        "UNCERTAINTY EVALUATION RESULTS",
        rule,
        f"Accuracy (ACC):                    {values['accuracy']:.4f} {interval('accuracy')}",
        "  Higher is better (perfect = 1.0)",
        f"Negative Log-Likelihood (NLL):     {nll} {interval('nll')}",
        "  Lower is better (perfect = 0.0)",
        f"Expected Calibration Error (ECE):  {values['ece']:.4f}",
        f"  Lower is better (perfect = 0.0); chance alone adds {figures['ece']['bias']:.4f}",
        f"  Beyond chance:                    {shown(figures['ece']['excess'], 4)} {interval('ece')}",
        "Dataset Info:",
        f"  Evaluated samples: {values['n_samples']:,}",
        f"  Vocabulary size: {values['vocabulary']:,}",
    ]
    if values["ranks"]:
        lines.append(f"  Active ranks: {values['active_ranks']} of {values['ranks']}")
    if values.get("passes"):
        parts = values["uncertainty"]
        lines.append(f"  Aleatoric {parts['aleatoric']:.4f} and epistemic {parts['epistemic']:.4f} nats a token")
    return "\n".join([*values["notes"], *lines, rule, *(f"Written to {path}" for path in paths)])


def tokens_view(arguments: Namespace) -> CommandResult:
    """A text token by token."""
    from core.models.adapters.token_evaluation import load as load_tokens_model
    from core.models.adapters.token_view import view_tokens

    if there := served_model(arguments.model):
        from core.models.server.token_view import view_served_tokens

        values = view_served_tokens(
            there, arguments.text, key_variable=arguments.key_variable, timeout_s=arguments.timeout
        )
    else:
        values = view_tokens(load_tokens_model(arguments.model, base=arguments.base_model), arguments.text)
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(json.dumps(values, indent=1, allow_nan=False), encoding="utf-8")
    return CommandResult(values, "\n".join([*values.get("notes", ()), *_token_lines(values)]))


def _token_lines(values: dict[str, Any]) -> list[str]:
    names = token_names([row["text"] for row in values["tokens"]])
    return [
        f"{f'{name!r} {part}'.strip():<20} "
        + (
            "nothing is before it"
            if row["loss"] is None
            else f"{row['loss']:6.2f} nats, {_entropy(row['entropy'])}; "
            + ", ".join(f"{in_words(text)!r} {p:.2f}" for text, p in row["alternatives"][:3])
        )
        for (name, part), row in zip(names, values["tokens"], strict=True)
    ]
