"""Juries, perplexities and token evaluations for a paper."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from core.estimates import difference_shown
from core.jury.adjudication import rules_in_words
from core.jury.confidence import CONFIDENCES
from core.jury.experiment import BASELINES, JuryExperiment
from core.models.model_fingerprint import short
from core.reports import jury as jury_reports
from core.reports import perplexity as perplexities
from core.reports import tokens as token_reports
from core.reports.file_names import About
from core.reports.paper.results import Differences, Measure, PaperResults
from core.reports.perplexity import Messages
from core.reports.provenance import Provenance, made_by, today
from core.reports.token_pairs import TokenPair
from core.reports.tokens import KINDS, TokenResult

JURY_MEASURES = tuple(
    Measure(name, f"{title} (%)", 1, True, "high", f"{name}_low", f"{name}_high", first=first)
    for name, title, first in (
        ("accuracy", "Accuracy", True),
        ("precision", "Precision", False),
        ("recall", "Recall", False),
        ("f1", "F1", True),
    )
)


def of_jury(
    evaluated: JuryExperiment, jury_id: str, called: str, *, pairwise: bool, notes: Sequence[str] = ()
) -> PaperResults:
    """The rules of a jury that is ``called`` so, and its jurors. Differences are those from the majority, from the
    maximum probability and from the two constant rules."""
    words = rules_in_words(pairwise=pairwise)
    rows, by_rule = [], {outcome.rule: outcome for outcome in evaluated.outcomes}
    for outcome in evaluated.outcomes:
        row: dict[str, object] = {"name": words[outcome.rule].title, "kind": "Rule"}
        for measure in JURY_MEASURES:
            estimate = getattr(outcome, measure.name)
            row |= dict(zip(measure.columns, (estimate.value, estimate.low, estimate.high), strict=True))
        rows.append(row)
    for juror in evaluated.jurors:
        low, high = juror.accuracy.ends
        accuracy = {"accuracy": juror.accuracy.value, "accuracy_low": low, "accuracy_high": high}
        rows.append({"name": juror.juror, "kind": "Single juror", **accuracy})
    frame = pd.DataFrame(rows)
    rules = list(by_rule)
    references = {words[rule].title: rules.index(rule) for rule in BASELINES if rule in by_rule}

    def against(reference: str) -> Differences:
        base = rules[references[reference]]
        own = pd.DataFrame(math.nan, index=frame.index, columns=["accuracy", "accuracy_low", "accuracy_high", "shown"])
        for place, outcome in enumerate(evaluated.outcomes):
            estimate = getattr(outcome, f"to_{base}")
            terms = (100 * outcome.accuracy.value, 100 * by_rule[base].accuracy.value)
            shown = difference_shown(*terms, digits=1, exact=100 * estimate.value) / 100
            own.loc[place] = [estimate.value, estimate.low, estimate.high, shown]
        measure = Measure(
            "accuracy", "Δ Accuracy (points)", 1, True, "", "accuracy_low", "accuracy_high", signed=True, shown="shown"
        )
        return Differences((measure,), own, "They are on the same answers, with Tango's intervals.")

    protocol = evaluated.protocol
    kinds = "on which the jurors disagree" if protocol.disagreement else "of all kinds"
    splits = (
        f"Means over {len(protocol.seeds)} splits of {evaluated.n:,} answers {kinds} (of {evaluated.kept_of:,}) into "
        f"{evaluated.n_calibration:,} that calibrate and {evaluated.n_test:,} that test."
    )
    return PaperResults(
        subject=f"Rules of the jury “{called}”",
        keys={"name": "Rule or juror", "kind": "Kind"},
        rows=frame,
        measures=JURY_MEASURES,
        provenance=jury_reports.provenance(evaluated, called),
        about=About([called]),
        facts=(
            splits,
            f"The jury's id is {jury_id}.",
            f"Jurors: {', '.join(outcome.juror for outcome in evaluated.jurors)}.",
        ),
        notes=(
            f"The jurors' confidence: {CONFIDENCES[protocol.confidence].title.lower()}.",
            "Intervals cover the draw of calibration answers.",
            *notes,
        ),
        references=references,
        against=against,
    )


def of_perplexity(
    measured: Mapping[str, Mapping[str, Messages]],
    model: str,
    how: Mapping[str, str],
    *,
    vocabulary: int | None,
    runs: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> PaperResults:
    """Perplexities of a model: ``measured`` maps a prompt's name and then a conversation's name to messages. ``how``
    are the facts of the measurement by name, ``runs`` the ids of its runs, and ``notes`` sentences on it."""
    table = perplexities.by_conversation(measured, vocabulary=vocabulary)
    largest = float(table[["perplexity", "message_mean"]].to_numpy(float).max())
    digits = 2 if largest < 100 else 1 if largest < 10_000 else 0
    a, b = list(measured)[:2]
    tested = perplexities.differences(measured[a], measured[b])
    measures = [
        Measure("perplexity", "Perplexity", digits, best="low", reading=PERPLEXITY),
        Measure("message_mean", "Mean of messages", digits, best="low", first=False),
        Measure("bits_per_byte", "Bits per byte", 3, best="low"),
        Measure("messages", "Messages", 0, first=False),
        Measure("tokens", "Tokens", 0, first=False),
    ]
    places = {(row["conversation"], row["prompt"]): i for i, row in table.iterrows()}

    def against(reference: str) -> Differences:
        other = a if reference == b else b
        sign = 1 if reference == b else -1
        own = pd.DataFrame(math.nan, index=table.index, columns=["loss", "loss_low", "loss_high", "loss_p"])
        for row in tested.to_dict("records"):
            ends = sorted((sign * row["low"], sign * row["high"]))
            own.loc[places[row["conversation"], other]] = [sign * row["difference"], *ends, row["p"]]
        measure = Measure(
            "loss", "Δ Loss (nats per token)", 3, False, "", "loss_low", "loss_high", signed=True, p="loss_p"
        )
        return Differences((measure,), own, PAIRED_PROMPTS)

    origin = (("Made by", made_by()), ("Date", today()), ("Model", model))
    return PaperResults(
        subject=f"Perplexity of {model}",
        keys={"conversation": "Conversation", "prompt": "Prompt"},
        rows=table,
        measures=tuple(measures),
        provenance=Provenance((*origin, *how.items())),
        about=About([model]),
        facts=(f"{'; '.join(f'{what}: {value}' for what, value in how.items() if what in CAPTIONED)}.",),
        notes=tuple(notes),
        runs=tuple(runs),
        across=("prompt",),
        first_across="prompt",
        within=("conversation",),
        alike="of each conversation",
        references=dict.fromkeys((b, a), -1) if len(tested) else {},
        against=against,
    )


CAPTIONED = ("Mode", "Earlier exchanges", "Precision", "Digests of the prompts")
PERPLEXITY = (
    "Perplexity is the exponential of the mean loss over all tokens: the lower, the more the model expects the words. "
    "Perplexities of different models can't be compared, bits per byte can."
)
PAIRED_PROMPTS = (
    "They are the mean over messages of the loss of a token, with 95% t intervals over conversations (cluster-robust), "
    "or over messages for a single conversation; p is of a sign-flip test over the same units."
)


def of_tokens(picked: Sequence[TokenResult], names: Mapping[str, str], pairs: Sequence[TokenPair]) -> PaperResults:
    """Evaluations of token predictions by short ``names``, with the paired differences of their surprisal."""
    rows = []
    for result in picked:
        values = result.values
        row: dict[str, object] = {
            "model": names[result.name],
            "adapter": KINDS[result.kind],
            "tokens": values["n_samples"],
        }
        for figure in token_reports.FIGURES:
            estimate = token_reports.estimate_of(result, figure)
            has_chance = figure in ("ece", "smooth_ece")
            value = estimate.value if not has_chance else math.nan if estimate.excess is None else estimate.excess
            row |= {figure: value, f"{figure}_low": estimate.low, f"{figure}_high": estimate.high}
            row |= {f"{figure}_seen": estimate.value} if has_chance else {}
        rows.append(row | {"data": str(values["data"]), "active_ranks": values.get("active_ranks")})
    frame = pd.DataFrame(rows)
    frame["active_ranks"] = frame["active_ranks"].astype(float)
    measures = (
        Measure("accuracy", "Accuracy (%)", 1, True, "high", "accuracy_low", "accuracy_high", TOKEN_ACCURACY),
        Measure(
            "nll", "NLL (nats)", 3, False, "low", "nll_low", "nll_high", "Compare the NLL only within one tokenizer."
        ),
        Measure("ece", "ECE beyond chance", 3, False, "low", "ece_low", "ece_high", TOKEN_ECE),
        Measure(
            "smooth_ece", "Smooth ECE beyond chance", 3, False, "low", "smooth_ece_low", "smooth_ece_high", first=False
        ),
        Measure("ece_seen", "ECE seen", 3, first=False),
        Measure("active_ranks", "Active ranks", 0, first=False),
        Measure("tokens", "Tokens", 0, first=False),
    )
    references = {name: i for i, name in enumerate(frame["model"]) if any(name in (p.first, p.second) for p in pairs)}

    def against(reference: str) -> Differences:
        own = pd.DataFrame(math.nan, index=frame.index, columns=["nll", "nll_low", "nll_high", "nll_p"])
        for pair in pairs:
            if reference in (pair.first, pair.second):
                other = pair.second if reference == pair.first else pair.first
                sign = 1 if reference == pair.second else -1
                place = list(frame["model"]).index(other)
                own.loc[place] = [sign * pair.mean, *sorted((sign * pair.low, sign * pair.high)), pair.p]
        measure = Measure("nll", "Δ NLL (nats)", 3, False, "", "nll_low", "nll_high", signed=True, p="nll_p")
        return Differences((measure,), own, PAIRED_TOKENS)

    facts = {
        "Made by": made_by(),
        "Date": today(),
        "Evaluations": "; ".join(result.name for result in picked),
        "Weights": ", ".join(
            f"{names[result.name]} {'as shipped' if result.ships else short(result.weights) or 'not recorded'}"
            for result in picked
        ),
    }
    data = ", ".join(dict.fromkeys(frame["data"]))
    tokens = ", ".join(dict.fromkeys(f"{n:,}" for n in frame["tokens"]))
    notes = dict.fromkeys(note for result in picked for note in result.values.get("notes") or ())
    return PaperResults(
        subject=f"Token predictions on {data} ({tokens} tokens)",
        keys={"model": "Model", "adapter": "Adapter"},
        rows=frame,
        measures=measures,
        provenance=Provenance(tuple(facts.items())),
        about=About([result.name for result in picked]),
        facts=(f"Evaluations: {facts['Evaluations']}.", f"Weights: {facts['Weights']}."),
        notes=tuple(notes),
        within=("data",),
        references=references,
        against=against,
    )


TOKEN_ACCURACY = "Accuracy is how often the top token is right."
TOKEN_ECE = (
    "ECE beyond chance is the expected calibration error (15 bins) that chance does not explain. Tokens count as "
    "independent."
)
PAIRED_TOKENS = (
    "They are of the mean surprisal on the same tokens, with 95% intervals over texts; p is of a sign-flip test over "
    "texts. All p-values are corrected together (Holm)."
)
