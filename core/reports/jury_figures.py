"""The figures of the juries that ship: computed once, and kept beside their judgements as ``figures.json``.

They are those of the view with which the Jury page opens a jury, and are read only for the table and the protocol that
they were computed from. The code that computes them ships with them, and a test computes them again, so no release has
figures of other code. ``python -m pocket_world figures`` writes them after a change. A person's own juries have none.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from core.estimates import Estimate
from core.jury.experiment import JurorOutcome, JuryExperiment, Protocol, RuleResult
from core.jury.judgements import Judgements
from core.jury.pipeline import jury_store
from core.reports import jury
from core.reports.jury import Confidences, RulesOfJury
from core.storage.sealed import read_json, write_json

FILE = "figures.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class JuryFigures:
    """What takes long to compute of a jury: every rule with its intervals, what each juror adds
    (:func:`core.reports.jury.left_out`), and how far its confidence can be trusted."""

    rules: RulesOfJury
    left_out: pd.DataFrame
    confidences: Confidences


def protocol_of(judgements: Judgements, judged: str = "disputed", confidence: str = "published") -> Protocol:
    """How the Jury page evaluates rules: on the source's own split if it has one, else on random halves."""
    own = {"calibration", "test"} <= set(judgements.parts)
    return Protocol(share=None if own else 0.5, disagreement=judged == "disputed", confidence=confidence)


def computed(judgements: Judgements, protocol: Protocol) -> JuryFigures:
    """The figures, in some seconds. Raises :class:`~core.errors.InputError` as :func:`core.reports.jury.rules` does."""
    return JuryFigures(
        jury.rules(judgements, protocol),
        jury.left_out(judgements, protocol),
        jury.confidences(judgements, protocol),
    )


def write(jury_id: str) -> Path:
    """Compute the figures of a jury that ships, and write them beside it."""
    judgements = jury_store.read(jury_id)
    protocol = protocol_of(judgements)
    figures = computed(judgements, protocol)
    path = _file(jury_id)
    write_json(
        path,
        {
            "of": _of(jury_id, protocol),
            "experiment": asdict(figures.rules.experiment),
            "risk": figures.rules.risk.to_dict("list"),
            "left_out": figures.left_out.to_dict("list"),
            "bins": figures.confidences.bins.to_dict("list"),
            "errors": figures.confidences.errors.to_dict("list"),
        },
    )
    return path


def read(jury_id: str, protocol: Protocol) -> JuryFigures | None:
    """The figures of a jury that ships; None if none are kept for this table and protocol."""
    if not jury_store.ships(jury_id):
        return None
    try:
        content = read_json(_file(jury_id))
        if content["of"] != _of(jury_id, protocol):
            return None
        return JuryFigures(
            RulesOfJury(_experiment(content["experiment"], protocol), pd.DataFrame(content["risk"])),
            pd.DataFrame(content["left_out"]),
            Confidences(pd.DataFrame(content["bins"]), pd.DataFrame(content["errors"])),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _file(jury_id: str) -> Path:
    return jury_store.folder_of(jury_id) / FILE


def _of(jury_id: str, protocol: Protocol) -> dict[str, Any]:
    """What the figures are of, as JSON has it: the digest of the jury's table, and the protocol."""
    named = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(protocol).items()}
    return {"format": FORMAT, "files": jury_store.read_record(jury_id).files, "protocol": named}


def _experiment(values: dict[str, Any], protocol: Protocol) -> JuryExperiment:
    outcomes = tuple(
        RuleResult(outcome.pop("rule"), **{name: Estimate(**ends) for name, ends in outcome.items()})
        for outcome in values["outcomes"]
    )
    jurors = tuple(JurorOutcome(juror["juror"], Estimate(**juror["accuracy"])) for juror in values["jurors"])
    own = {"protocol": protocol, "outcomes": outcomes, "jurors": jurors, "notes": tuple(values["notes"])}
    return JuryExperiment(**values | own)
