"""What a reader must know before trusting a run's figures: one record, which every place that shows the run shows too.

A caveat changes how a figure may be read: prompts were cut, questions are missing or few, some letters are only known
within bounds. How a run was asked (its precision, strategy, shots, origin) is a fact; its title and its provenance say
it. Here are the caveats that ``run.json`` knows. :mod:`core.reports.caveats` adds those that depend on the view of the
run, and shows them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import plain
from core.models import letter_mass
from core.models.engine import cut_short
from core.models.letter_mass import LetterMass
from core.models.model_sources import FAKE_MODEL
from core.questions.rotation import MARK, ORDER_MARK
from core.runs.spec import RunSpec
from core.runs.store import RunRecord

COLUMN = "caveats"
"""The column of a table, and the key of ``run.json``, that holds them as text."""
PICKS = "picks"
"""The key of ``run.json`` that says how many picks the frequencies of a run are made of, as :func:`picked`."""
VARIATION = "variation"
"""The key of ``run.json`` that says how much a server's answers to identical requests vary
(:meth:`~core.models.server.decisions.DecisionEngine.variation`)."""
MISSING = ("errors", "without an answer", "failed", "picks alone", "without a letter", "unsupported", "abstained")
"""What an importer counts as left out; everything else that it counts is in the run or is asked again."""
NO_ANSWER = "no answer"
"""The kind of the caveat of a run that has no figures, because its letters have almost no probability."""
BELOW_CHANCE = "below_chance"
"""The key of ``run.json`` of a run that is right far less often than guesses (:mod:`core.exchange.below_chance`)."""
NAMED, LONGEST_ID = 5, 60
"""How many missing questions a caveat names, and the characters of each name."""
CONTRADICTION = (
    "the choice is not the most probable option, the score is not the mean of its levels, or the probability of yes is "
    "given twice and differs; figures go by the probability of yes, or else by those of the options"
)
"""A clause about answers that contradict themselves."""
LONGEST = 1_000
"""Characters of a caveat that a file states."""


@dataclass(frozen=True, slots=True)
class Caveat:
    """One caveat: its ``kind``, a ``sentence``, and the ``way_out``, which may be empty.

    The kinds are ``cut`` (prompts), ``missing`` (questions), ``bounded`` and ``letters`` (their probabilities),
    ``no answer`` (the letters have almost none, so the run has no figures), ``chance`` (fewer right answers than by
    guessing), ``base`` (an adapter was trained on
    another), ``template`` (what a chat template writes), ``sampling`` (of written answers), ``unchecked`` (the list
    of a server that echoes nothing), ``demonstration`` (no model answered), ``stated`` (by the file that was imported),
    ``few`` and ``repeated`` (questions), ``orders`` (of options, in rows that repeat a question), ``options`` (their
    number differs), ``ties`` (at the top), ``infinite`` (NLL), ``frequencies`` (of picks, in place of
    probabilities), ``variation`` (of answers to identical requests), ``choices`` (a server's answers contradict
    themselves), and ``models`` (several, by the names in a server's replies).
    """

    kind: str
    sentence: str
    way_out: str = ""

    @property
    def text(self) -> str:
        """The sentence and the way out."""
        return f"{self.sentence} {self.way_out}".rstrip()


Caveats = tuple[Caveat, ...]


def of_record(spec: RunSpec, provenance: Mapping[str, Any], *, questions: int = 0) -> Caveats:
    """The caveats that ``run.json`` knows; ``questions`` is the number that were scored (0: not known).

    >>> of_record(RunSpec(model="m", task="qa"), {"bounded_questions": 3}, questions=9)[0].sentence
    'The server gave only an upper bound of some letters for 3 of 9 questions, so each figure lies between two ends.'
    """
    caveats = []
    prompts = _numbers(provenance.get("prompts"))  # older runs counted in the engine's description
    counted = _numbers(provenance.get("engine")) | prompts
    if sentence := cut_short(counted, prompts=prompts.get("asked", questions)):
        caveats.append(Caveat("cut", sentence, "Ask with fewer shots, or choose a model that reads more."))
    counts = _numbers(provenance.get("counts"))
    missing = {name: counts[name] for name in MISSING if counts.get(name)}
    if missing:
        why = ", ".join(f"{n:,} {name}" for name, n in missing.items())
        number, are = sum(missing.values()), "is" if sum(missing.values()) == 1 else "are"
        caveats.append(
            Caveat(
                "missing",
                f"{number:,} question{'s' * (number != 1)} of the evaluation {are} missing ({why}); "
                "figures are those of the others, which may be easier.",
                "Evaluate the missing ones again.",
            )
        )
    if (left_out := provenance.get("missing")) and isinstance(left_out, Mapping):
        turned = spec.rotations or spec.orders or not questions  # other orders are rows, and no questions
        caveats.append(_not_answered(left_out, 0 if turned else questions + len(left_out)))
    if bounded := _numbers(provenance).get("bounded_questions", 0):
        what, way_out = (
            ("The server gave only an upper bound of some letters", "A server that lists more tokens, or that scores "
             "texts, gives every letter.")
            if not spec.decisions
            else ("Some probabilities were rounded to 0", "Probabilities with more decimals give exact figures.")
        )  # fmt: skip
        where = f"{_of(bounded, questions)} question{'s' if (questions or bounded) != 1 else ''}"
        caveats.append(Caveat("bounded", f"{what} for {where}, so each figure lies between two ends.", way_out))
    if isinstance(below := provenance.get(BELOW_CHANCE), Mapping):
        caveats += _of_chance(below)
    if spec.picks:
        caveats.append(frequencies_caveat(_numbers(provenance.get(PICKS)), spec.picks))
    if isinstance(varied := provenance.get(VARIATION), Mapping):
        caveats += _of_variation(varied)
    engine = provenance.get("engine")
    if isinstance(engine, Mapping) and not spec.is_imported:
        caveats += _of_engine(spec, engine)
    if spec.model == FAKE_MODEL and not spec.is_imported:
        caveats.append(Caveat("demonstration", "No model answered: the figures are made up, for trying Hedge out."))
    if stated := provenance.get(COLUMN):
        caveats.append(Caveat("stated", _text(stated)))
    return tuple(caveats)


def _of_chance(below: Mapping[str, Any]) -> list[Caveat]:
    """A caveat on a run that is right far less often than guesses are."""
    right, questions, chance = (below.get(name) for name in ("right", "questions", "chance"))
    if not (isinstance(right, int) and isinstance(questions, int) and isinstance(chance, float) and questions > 0):
        return []
    return [
        Caveat(
            "chance",
            f"Only {right:,} of {questions:,} answers ({right / questions:.1%}) are right, far fewer than by guessing "
            f"({chance:.1%}).",
            "Check the file: its labels may count from another number, or its options may be in another order.",
        )
    ]


def largest_variation(provenance: Mapping[str, Any]) -> float:
    """How far apart the probabilities of one question were, asked again or alone, by what a run of decisions recorded;
    0 if that is not known."""
    varied = provenance.get(VARIATION)
    values = [varied.get("largest"), varied.get("apart")] if isinstance(varied, Mapping) else []
    return max((value for value in values if isinstance(value, float) and 0 < value <= 1), default=0.0)


def _of_variation(varied: Mapping[str, Any]) -> list[Caveat]:
    """Caveats on answers that vary between identical requests, and on those that are others alone than together.
    Nothing is ``varied`` if the server did not answer the requests."""
    if not varied:
        return [
            Caveat(
                "variation",
                "How much the server's answers to identical requests vary could not be measured, because it did not "
                "answer when all questions were answered and some were asked again.",
            )
        ]
    numbers = _numbers(varied)
    questions, requests, changed = (numbers.get(name, 0) for name in ("questions", "requests", "changed"))
    largest, mean, apart = (
        value if isinstance(value := varied.get(name), float) and 0 < value <= 1 else 0.0
        for name in ("largest", "mean", "apart")
    )
    caveats = []
    if apart:
        caveats.append(
            Caveat(
                "variation",
                f"Up to {numbers.get('together', 0):,} questions went into one request. Asked again alone, some got "
                f"probabilities up to {apart:.2g} away, so the figures depend on what was asked together.",
                "Ask another server, or take questions with different contexts, which are asked one by one.",
            )
        )
    if largest:
        flips = f"; for {changed:,} of them, the most probable option changed" if changed else ""
        caveats.append(
            Caveat(
                "variation",
                f"Identical requests get different answers: asked {requests} times, {questions:,} questions gave an "
                f"option probabilities that lie up to {largest:.2g} apart, on average {mean:.2g}{flips}.",
                "Differences between runs that are no larger say nothing.",
            )
        )
    return caveats


def picked(samples: npt.NDArray[np.int64], *, unread: int = 0) -> dict[str, int]:
    """The fewest and the most samples of a question, of (n,), and how many picks beside them name no option."""
    return {"least": int(samples.min()), "most": int(samples.max()), "unread": unread}


def frequencies_title(least: int, most: int) -> str:
    """What probabilities are that are frequencies of this many samples.

    >>> frequencies_title(30, 30), frequencies_title(27, 30)
    ('frequencies of 30 samples', 'frequencies of 27 to 30 samples')
    """
    return f"frequencies of {f'{least:,} to ' if least < most else ''}{most:,} samples"


def frequencies_caveat(picks: Mapping[str, int], most: int) -> Caveat:
    """A caveat on probabilities that are frequencies of the model's picks."""
    title = frequencies_title(picks.get("least", most), picks.get("most", most))
    unread = picks.get("unread", 0)
    named = f"; {unread:,} more pick{'s' if unread != 1 else ''} named no option and do not count" if unread else ""
    return Caveat(
        "frequencies",
        f"Probabilities are {title}: each option's share of the model's picks{named}. Figures and their intervals are "
        "those of such frequencies, noise of the samples included.",
        "With more samples, frequencies come closer to the model's probabilities, and fewer options tie at 0.",
    )


def _of_engine(spec: RunSpec, engine: Mapping[str, Any]) -> list[Caveat]:
    """The caveats that an engine's description holds."""
    caveats = []
    if engine.get("lists_unchecked") is True:
        caveats.append(
            Caveat(
                "unchecked",
                "The server's list of next tokens could not be checked against an echo. If its sampler always has a "
                "temperature or penalties of its own, all probabilities are wrong.",
                "Start the server without them, or ask a server that echoes texts in the plain format.",
            )
        )
    if clause := _text(engine.get("other_base")):
        way_out = "Put those weights back, or train the adapter again."
        caveats.append(Caveat("base", f"{clause[0].upper()}{clause[1:]}.", way_out))
    if isinstance(notes := engine.get("template_notes"), list):
        caveats += [Caveat("template", _text(note)) for note in notes]
    if (spec.repeats or spec.picks) and (unstated := _text(engine.get("sampling_unstated"))):
        caveats.append(
            Caveat(
                "sampling",
                f"The server does not accept {unstated}, so its own values may have changed the written answers.",
                "A server such as vLLM accepts all of these.",
            )
        )
    if isinstance(contradictions := engine.get("contradictions"), int) and contradictions > 0:
        caveats.append(
            Caveat(
                "choices",
                f"In at least {contradictions:,} of the answers, {CONTRADICTION}.",
                "Check that the server gives each option its own probability.",
            )
        )
    if isinstance(names := engine.get("answered_as"), list) and len(names) > 1:
        caveats.append(
            Caveat(
                "models",
                f"The server called the model by at least {len(names)} names in its replies "
                f"({_text(', '.join(map(str, names)))}), so several models may have answered.",
                "Ask for a model by a name that stands for one version of it.",
            )
        )
    return caveats


def of_run_record(record: RunRecord) -> Caveats:
    """The caveats that the ``run.json`` of a finished run knows; none of a run that answers no questions."""
    if record.state != "done" or not record.spec.answers:
        return ()
    return (*of_letters(record.letter_mass, record.spec), *of_record(record.spec, record.provenance))


def of_letters(mass: LetterMass | None, spec: RunSpec) -> Caveats:
    """A caveat on letters that have little of the next token's probability, or that are no answer; none where their
    mass is not known (None)."""
    if mass is None or not mass.is_small:
        return ()
    clause = letter_mass.way_out(mass.first, chat=spec.prompt_format == "chat", decides=bool(spec.decisions))
    way_out = f"{clause[0].upper()}{clause[1:]}."
    if mass.is_no_answer:
        return (Caveat(NO_ANSWER, f"No answer: {mass.without}.", way_out),)
    if mass.mean < letter_mass.LITTLE:
        share = f"and less than {letter_mass.LEAST:.0%} for {_of(mass.without_answer, mass.questions)} questions"
        so = share if mass.without_answer else "so the model hardly reads these as questions with options"
        sentence = (
            f"On average, only {mass.known(mass.mean)} of the next token's probability falls on the letters of the "
            f"options, {so}{mass.instead}."
        )
        return (Caveat("letters", sentence, way_out),)
    return (Caveat("letters", f"Some questions have no answer: {mass.without}.", way_out),)


def of_other_orders(ids: npt.NDArray[np.str_]) -> Caveats:
    """A caveat on rows, by their ids, that ask a question of the file again with its options in another order. Rows
    that Hedge itself asked in other orders have marked ids, and figures of their own."""
    rows = sum(MARK not in name and ORDER_MARK not in name for name in ids.tolist())
    if not rows:
        return ()
    what = "row asks" if rows == 1 else "rows ask"
    return (
        Caveat(
            "orders",
            f"{rows:,} {what} a question again with its options in another order; the figures count each question in "
            "its first order.",
        ),
    )


def _not_answered(left_out: Mapping[str, Any], total: int) -> Caveat:
    """A caveat on the questions that a server did not answer, of ``total`` (0: not known): the kind and the reason of
    each, by its id."""
    kinds: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        kinds.setdefault(str(reason[0]) if isinstance(reason, list) and reason else "refused", []).append(str(name))
    why = ", ".join(f"{kind}: {_named(names)}" for kind, names in sorted(kinds.items()))
    noun = "question" if (total or len(left_out)) == 1 else "questions"
    return Caveat(
        "missing",
        plain(
            f"The server did not answer {_of(len(left_out), total)} {noun} ({why}), so figures are those of the "
            "others, which may be easier.",
            one_line=True,
        ),
        "The log has the server's reason for each.",
    )


def _named(names: Sequence[str]) -> str:
    """The first of these names, each cut, and how many more there are."""
    more = len(names) - NAMED
    return ", ".join(name[:LONGEST_ID] for name in names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _numbers(values: object) -> dict[str, int]:
    """The whole numbers of a mapping, which may come from a file of another person."""
    pairs = values.items() if isinstance(values, Mapping) else ()
    return {name: value for name, value in pairs if isinstance(value, int) and value >= 0}


def _text(value: object) -> str:
    """A text, which may come from a file of another person, as a caveat can hold it."""
    return plain(str(value or ""), one_line=True)[:LONGEST]


def _of(number: int, total: int) -> str:
    return f"{number:,} of {total:,}" if total else f"{number:,}"
