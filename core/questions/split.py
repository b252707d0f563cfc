"""The split of a run's questions into demonstrations, calibration and test.

Demonstrations are in neither part. Questions that say the same thing stay on one side: a question that calibrates the
threshold and is then tested would make the test too favourable.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import InputError
from core.questions.near_duplicates import clusters
from core.questions.rotation import asked_again, first_order
from core.records import Question, Role


@dataclass(frozen=True, slots=True)
class Draw:
    """A run's questions and their roles, one each; demonstrations come first. ``alike`` counts those of the whole task
    that say the same thing, or nearly the same, as an earlier one."""

    questions: tuple[Question, ...]
    roles: tuple[Role, ...]
    alike: int = 0

    @property
    def demonstrations(self) -> tuple[Question, ...]:
        """Those that are shown with their answers."""
        return tuple(q for q, role in zip(self.questions, self.roles, strict=True) if role == "demonstration")

    @property
    def scored(self) -> tuple[Question, ...]:
        """Those that the model answers."""
        return tuple(q for q, role in zip(self.questions, self.roles, strict=True) if role != "demonstration")


def draw(
    questions: Sequence[Question],
    *,
    samples: int | None,
    shots: int,
    calibration_share: float,
    seed: int,
    reserved: Sequence[str] = (),
) -> Draw:
    """Draw demonstrations, then up to ``samples`` questions, and split those.

    ``calibration_share`` in (0, 1) of the drawn questions calibrate, the rest test; questions alike go to one
    side together. The same seed draws the same demonstrations whatever the number of samples. ``reserved`` are ids of
    questions that are shown first, in this order, and are in no split even where fewer shots are asked for. A question
    that the task holds a second time, with its options in another order, is drawn once.

    Raises :class:`InputError` if either side would be empty.
    """
    cluster = dict(zip((q.id for q in questions), clusters(questions), strict=True))
    again = {q.id for q, is_again in zip(questions, asked_again(questions), strict=True) if is_again}
    asked_for = set(reserved)
    first = [q for name in reserved for q in questions if q.id == name]
    order = [questions[i] for i in np.random.default_rng([seed, 0xD4A]).permutation(len(questions))]
    others = [q for q in order if q.id not in asked_for and q.id not in again]
    shown = [*first, *others][:shots]
    taken = {cluster[q.id] for q in (*shown, *first)}
    rest = [q for q in others[max(0, shots - len(first)) :] if cluster[q.id] not in taken]
    drawn = rest[: len(rest) if samples is None else samples]
    calibration, test = _split(drawn, [cluster[q.id] for q in drawn], calibration_share)
    sides: tuple[tuple[Role, list[Question]], ...] = (
        ("demonstration", shown),
        ("calibration", calibration),
        ("test", test),
    )
    return Draw(
        questions=tuple(q for _, side in sides for q in side),
        roles=tuple(role for role, side in sides for _ in side),
        alike=len(cluster) - len(set(cluster.values())),
    )


def _split(
    questions: Sequence[Question], cluster: Sequence[int], calibration_share: float
) -> tuple[list[Question], list[Question]]:
    """Whole clusters to calibration, in the order of drawing, as long as they fit; all others to test."""
    groups: dict[int, list[Question]] = {}
    for question, number in zip(questions, cluster, strict=True):
        groups.setdefault(number, []).append(question)
    wanted = round(len(questions) * calibration_share)
    calibration: list[Question] = []
    test: list[Question] = []
    for alike in groups.values():
        (calibration if len(calibration) + len(alike) <= wanted else test).extend(alike)
    if not calibration or not test:
        raise InputError(
            f"a calibration share of {calibration_share} of {len(questions)} questions leaves {len(calibration)} "
            f"to calibrate and {len(test)} to test, and both need at least one; use more questions or another "
            "share"
        )
    return calibration, test


def without(drawn: Draw, names: Collection[str]) -> Draw:
    """The draw without these questions, each with all orders of its options. Raises :class:`InputError` if a side of
    the split would be empty."""
    pairs = list(zip(drawn.questions, drawn.roles, strict=True))
    first = {q.id: first_order(q.id) if role == "rotation" else q.id for q, role in pairs}
    remaining = [(q, role) for q, role in pairs if role == "demonstration" or first[q.id] not in names]
    for side in ("calibration", "test"):
        if side in drawn.roles and side not in (role for _, role in remaining):
            raise InputError(
                f"the server answered no {side} question ({len(names):,} of {len(drawn.scored):,} questions are left "
                "out), and both sides need at least one; use more questions"
            )
    return Draw(tuple(q for q, _ in remaining), tuple(role for _, role in remaining), drawn.alike)


def with_other_orders(drawn: Draw, others: Callable[[Question], list[Question]]) -> Draw:
    """The draw with every test question again for each of its ``others``; these copies are in no split."""
    with_roles = zip(drawn.questions, drawn.roles, strict=True)
    turned = [other for question, role in with_roles if role == "test" for other in others(question)]
    added: list[Role] = ["rotation"] * len(turned)
    return Draw((*drawn.questions, *turned), (*drawn.roles, *added), drawn.alike)
