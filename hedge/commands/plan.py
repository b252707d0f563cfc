"""``hedge plan``: how many questions a wanted figure needs, and what a number of questions shows."""

import math
from argparse import Namespace
from dataclasses import asdict

from core.conformal.alpha import alpha_text, exact_alpha, thousandths
from core.conformal.question_counts import MOST, sides
from core.errors import InputError
from core.reports import question_plan
from core.reports.compare.power import ROUGH
from core.reports.evaluation import load
from core.reports.question_plan import DetectableFigures, Pilot, QuestionNeed
from core.reports.report import finite
from core.runs import store
from hedge.commands.answer import CommandResult


def plan(arguments: Namespace) -> CommandResult:
    """The questions that the wanted figures need; without any, those that an exact threshold needs.

    Raises :class:`InputError` for values that no run can have, and for figures that need more than a million questions.
    """
    alpha = exact_alpha(arguments.alpha)
    share, significance, power = arguments.calibration_share, arguments.significance, arguments.power
    _check_share("the calibration share", share)
    _check_share("the significance", significance)
    _check_share("the power", power)
    if power <= significance:
        raise InputError(f"the power must be above the significance, {significance:g}, got {power:g}; 0.8 is usual")
    if arguments.questions is not None and not 2 <= arguments.questions <= MOST:
        raise InputError(f"the number of questions must be from 2 to {MOST:,}, got {arguments.questions:,}")
    test = {"significance": significance, "power": power}
    pilot = _pilot(arguments)
    difference = arguments.difference if arguments.difference is not None else pilot.apart
    _check_guesses(arguments, pilot, difference)
    if not difference and arguments.difference is None:  # equal guesses
        difference = None
    threshold = question_plan.for_threshold(alpha, share)
    needs = {
        "width": None if arguments.width is None else question_plan.for_width(arguments.width, alpha, share),
        "accuracy": None if difference is None else question_plan.for_accuracy(pilot, difference, share, **test),
        "set_size": None
        if arguments.size_difference is None
        else question_plan.for_set_size(pilot, arguments.size_difference, share, **test),
    }
    chosen = None
    if arguments.questions is not None:
        chosen = question_plan.figures_of(pilot, *sides(arguments.questions, share), alpha, **test)
    own = None
    if pilot.tests is not None and pilot.calibration is not None:
        own = question_plan.figures_of(pilot, pilot.calibration, pilot.tests, alpha, **test)
    values = {
        "alpha": arguments.alpha,
        "calibration_share": share,
        **test,
        "assumed": pilot.says,
        "pilot": {name: getattr(pilot.spread, name) for name in ("differing", "growth", "rows", "worth")},
        "threshold": asdict(threshold),
        **{name: need and asdict(need) for name, need in needs.items()},
        "questions": chosen and asdict(chosen),
        "runs": own and asdict(own),
        "rough": False,
        "caveats": dict(pilot.caveats),
    }
    lines = [f"An exact threshold at alpha {alpha_text(arguments.alpha)} needs {_questions(threshold)}."]
    if width := needs["width"]:
        lines.append(f"A band of coverage at most {width.wanted:g} wide needs {_questions(width)}.")
    for name, title in (("accuracy", "accuracy"), ("set_size", "mean set size")):
        if need := needs[name]:
            lines.append(
                f"A difference of {need.wanted:g} in {title} needs {_questions(need)}, for a power of {power:g} at a "
                f"significance of {significance:g}."
            )
    lines += [_shown(chosen, arguments.questions, power)] if chosen else []
    lines += [_own(own, power)] if own else []
    sized = needs["set_size"]
    if (sized and pilot.spread.is_rough(sized.calibration)) or any(shown.rough for shown in (chosen, own) if shown):
        lines.append(ROUGH)
        values["rough"] = True
    if needs["accuracy"] or needs["set_size"] or chosen or own:
        lines.append(pilot.says)
        lines += [f"{name}: {text}" for name, text in pilot.caveats]
    return CommandResult(finite(values), "\n".join(lines))


def _pilot(arguments: Namespace) -> Pilot:
    if not arguments.runs:
        return question_plan.guess(arguments.accuracy, arguments.agreement)
    if arguments.accuracy or arguments.agreement is not None:
        raise InputError(
            "runs say how accurate they are and how often they agree; leave out --accuracy and --agreement"
        )
    runs = [load(store.folder_of(name).name) for name in arguments.runs]
    return question_plan.pilot_of(runs, thousandths(arguments.alpha), score=arguments.score)


def _check_guesses(arguments: Namespace, pilot: Pilot, difference: float | None) -> None:
    """Refuse guesses that no two models can have together, and two equal ones that leave nothing to find."""
    if pilot.apart == 0 == difference and arguments.questions is None:
        raise InputError(
            f"both accuracies are {arguments.accuracy[0]:g}, so there is no difference to find; name one as "
            "--difference, or a number of questions as --questions"
        )
    agreement = arguments.agreement
    if (arguments.accuracy or agreement is not None) and difference is None and arguments.questions is None:
        raise InputError(
            "an accuracy or an agreement alone asks for nothing; name a --difference or a second accuracy, or a number "
            "of questions as --questions"
        )
    if agreement is not None and difference is not None and difference > 1 - agreement + 1e-9:
        raise InputError(
            f"models that agree on {agreement:g} of the questions differ by at most {1 - agreement:g} in accuracy, got "
            f"{difference:g}; change the agreement or the difference"
        )


def _check_share(what: str, value: float) -> None:
    if not 0 < value < 1:
        raise InputError(f"{what} must lie in (0, 1), got {value:g}")


def _questions(need: QuestionNeed) -> str:
    rows = f" in {need.rows:,} rows" if need.rows != need.test else ""
    return f"{need.questions:,} questions, {need.calibration:,} to calibrate and {need.test:,} to test{rows}"


def _differences(shown: DetectableFigures) -> list[str]:
    accuracy = [f"{shown.accuracy:.3f} in accuracy"] * (not math.isnan(shown.accuracy))
    return accuracy + [f"{shown.set_size:.2f} in mean set size"] * (not math.isnan(shown.set_size))


def _shown(shown: DetectableFigures, questions: int, power: float) -> str:
    low, high = shown.band
    band = (
        "leave none to test"
        if not shown.test
        else "give no exact threshold at this alpha"
        if math.isnan(shown.width)
        else f"give a band of coverage from {low:.3f} to {high:.3f}, {shown.width:.3f} wide"
    )
    sizes = _differences(shown)
    differences = f"; they show a difference of {' or '.join(sizes)} with a power of {power:g}" if sizes else ""
    return (
        f"{questions:,} questions, {shown.calibration:,} to calibrate and {shown.test:,} to test, {band}{differences}."
    )


def _own(shown: DetectableFigures, power: float) -> str:
    sizes = _differences(shown)
    says = f"show a difference of {' or '.join(sizes)}" if sizes else "are too few to show any difference"
    return f"The pilot's own {shown.test:,} test questions {says} with a power of {power:g}."
