"""Runs with every kind of trouble, and what Python makes of them: the golden values of the browser's arithmetic."""

import gzip
import itertools
import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from core.conformal.alpha import ALPHAS
from core.conformal.coverage import (
    Ties,
    beta_binomial,
    beta_binomial_band,
    beta_parameters,
    guarantee_p_value,
    share_interval,
    strata_band,
)
from core.conformal.curve import thresholds
from core.conformal.draws import first_part, hashes, uniforms
from core.conformal.mondrian import BY
from core.conformal.probabilities import frequencies, top_options
from core.conformal.published import scores_for
from core.conformal.scores import SCORES, Parameters, offered_scores, true_scores
from core.conformal.scores.table import score_table
from core.conformal.sets import EMPTY_POLICIES
from core.conformal.tuning import tune
from core.questions.option_names import of_order
from core.records import DONT_KNOW, NONE_OF_ABOVE, BoolArray, FloatArray, IntArray, OptionLogits, Question
from core.reports import frames
from core.reports.alpha_lab.saturation import saturation_note
from core.reports.alpha_lab.view import SplitView, look
from core.reports.evaluation import Evaluation, load
from core.reports.report import report
from core.reports.thresholds import threshold_decimals
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from tests.reference.redraw import PROCEDURES, beta_band, redraw

MEMBER_ALPHAS = (1, 100, 250, 500, 999)
REPORTED = ((100, "allow"), (400, "top1"))
REDRAWN, RARE, DRAWS = 150, 10, 12
BAND_SIZES = ((1, 39), (5, 9), (19, 200), (160, 57), (999, 1000), (30, 9000), (10_000, 10_000), (50_000, 3))


@dataclass(frozen=True, slots=True)
class Case:
    """A run of ``own`` calibration and ``tested`` test questions with k options, and the ways to look at it.

    ``most`` makes its probabilities of counts from 0 to that, full of ties, zeros and ones; without it they are
    continuous. Every fourth question has a twin, which differs in punctuation alone. Subjects are unlike in size,
    one is never calibrated and one never tested, and rows that neither calibrate nor test lie between the others.
    ``votes`` draws its probabilities from this many picks per question. ``extra`` are the places of E and F.
    With ``fewest`` questions have from ``fewest`` to k options, which are ``ordered`` or not. A normal run takes the
    first ``short`` views.
    """

    own: int
    tested: int
    k: int
    seed: int
    most: int | None = None
    votes: int = 0
    extra: tuple[int, ...] = ()
    fewest: int | None = None
    ordered: bool = False
    views: tuple[SplitView, ...] = (SplitView(),)
    short: int = 1

    def write(self, name: str) -> Evaluation:
        """Write the run into HEDGE_HOME and read it back."""
        rng = np.random.default_rng([self.seed, 1])
        roles = np.array(["calibration"] * self.own + ["test"] * self.tested + ["rotation"] * 5)
        rng.shuffle(roles)
        n = len(roles)
        answers = [j for j in range(self.fewest or self.k) if j not in self.extra]
        labels = rng.choice(answers, n)
        own = np.full(n, self.k) if self.fewest is None else rng.integers(self.fewest, self.k + 1, n)
        samples = None
        if self.votes:
            picks = rng.multinomial(self.votes, rng.dirichlet(np.full(self.k, 0.6), n))
            shares, samples = frequencies(picks)
            logits = np.log(picks, out=np.full((n, self.k), -np.inf), where=picks > 0)
        elif self.most is None:
            logits = rng.normal(0, 2, (n, self.k))
            logits[np.arange(n), labels] += 1.5
        else:
            counts = rng.integers(0, self.most + 1, (n, self.k))
            counts[counts[:, : self.fewest].sum(axis=1) == 0, 0] = 1
            logits = np.log(counts, out=np.full((n, self.k), -np.inf), where=counts > 0)
        logits[np.arange(self.k) >= own[:, None]] = -np.inf
        questions = [self._question(i, str(roles[i]), int(labels[i]), int(own[i]), rng) for i in range(n)]
        spec = RunSpec(model=name.replace(" ", "-"), task="qa", seed=self.seed)
        record = RunRecord(spec=spec, state="queued", created=time.time(), provenance=of_order(questions))
        folder = store.create(record)
        store.write_questions(folder, questions, roles.tolist())
        ids = tuple(question.id for question in questions)
        given = {} if samples is None else {"probabilities": shares, "samples": samples}
        store.write_logits(folder, OptionLogits(ids, logits.astype(np.float32), np.ones(n, dtype=np.float32), **given))
        store.update_record(spec.run_id, state="done", ended=time.time())
        return load(spec.run_id)

    def _question(self, i: int, role: str, label: int, own: int, rng: np.random.Generator) -> Question:
        texts = iter(f"option {j} of {i - i % 4 // 3}" for j in range(self.k))
        words = dict(zip(self.extra, (DONT_KNOW, NONE_OF_ABOVE), strict=False))
        options = tuple(words.get(j) or next(texts) for j in range(own))
        alone = {"calibration": "only calibrated", "test": "only tested"}.get(role, "sums")
        group = alone if i % 7 == 0 else ("colours", "sums")[int(rng.random() < 0.2)]
        text = f"what is {i - i % 4 // 3}?{'!' * (i % 4 // 3)}"
        return Question(f"q{i}", "qa", group, "", text, options, label, ordered=self.ordered)


ALL = SplitView(drop_extra=True, n_calibration=20, split_seed=2)
CASES = {
    "ties": Case(
        61,
        47,
        6,
        3,
        most=3,
        extra=(4, 5),
        views=(SplitView(), ALL, SplitView(split_seed=1), SplitView(n_calibration=9)),
        short=2,
    ),
    "ones and zeros": Case(40, 33, 4, 4, most=1, extra=(1,), views=(SplitView(), SplitView(drop_extra=True)), short=2),
    "thirty votes": Case(70, 60, 5, 21, votes=30, ordered=True),
    "two options": Case(5, 20, 2, 5, views=(SplitView(), SplitView(n_calibration=5), SplitView(split_seed=7))),
    "four calibrated": Case(4, 9, 3, 6, views=(SplitView(), SplitView(n_calibration=4))),
    "twenty-six options": Case(80, 40, 26, 2**33 + 7, extra=(24, 25), views=(SplitView(), SplitView(True, 30, 4))),
    "unlike numbers of options": Case(
        70, 55, 7, 10, most=3, extra=(0, 1), fewest=4, views=(SplitView(), SplitView(split_seed=3), ALL)
    ),
    "two to five options": Case(90, 44, 5, 13, fewest=2, ordered=True),
    "rank at the edge": Case(999, 60, 6, 9, extra=(4, 5), views=(SplitView(), SplitView(True, 502, 8))),
    "many ties": Case(1000, 64, 4, 11, most=2, ordered=True, views=(SplitView(), SplitView(split_seed=12)), short=0),
}


@dataclass(slots=True)
class Numbers:
    """Arrays of float64 one after the other, each named by where it begins and how long it is."""

    parts: list[FloatArray] = field(default_factory=list)
    length: int = 0

    def add(self, values: Any) -> list[int]:
        array = np.asarray(values, dtype=np.float64).ravel()
        self.parts.append(array)
        self.length += len(array)
        return [self.length - len(array), len(array)]


@dataclass(frozen=True, slots=True)
class Sent:
    """What the component gets of a run: its rows' places in the run's arrays, their clusters, the subjects' names."""

    places: IntArray
    clusters: IntArray
    group_names: list[str]


def written(name: str, case: Case, views: tuple[SplitView, ...], numbers: Numbers) -> dict[str, Any]:
    """One run as the component gets it, with what Python makes of each view."""
    run = case.write(name)
    tables = frames.lab_tables(run)
    rows = tables["rows"]
    sent = Sent(rows["place"].to_numpy(), rows["cluster"].to_numpy(), tables["group_names"])
    return {
        "name": name,
        "k": run.k,
        "p": numbers.add(np.stack([rows[f"p{j}"].to_numpy() for j in range(run.k)], axis=1)),
        **{key: rows[key].to_pylist() for key in ("y", "group", "cluster", "own", "place")},
        **{key: tables[key] for key in ("group_names", "extra", "seed")},
        "looks": [looked(run, view, sent, numbers) for view in views],
    }


def looked(run: Evaluation, view: SplitView, sent: Sent, numbers: Numbers) -> dict[str, Any]:
    """A view of the run: its rows, every score, and the reports."""
    seen, names = look(run, view), offered_scores(ordered=run.ordered)

    def reported(alpha: int, empty: str, by: str) -> dict[str, Any]:
        figures = report(seen, alpha, scores=names, empty=empty, by=by).to_json()
        return {"alpha": alpha, "empty": empty, "by": by, "figures": figures}

    return {
        "view": asdict(view),
        "k": seen.k,
        "letters": list(seen.letters),
        "calibration": np.searchsorted(sent.places, seen.calibration).tolist(),
        "test": np.searchsorted(sent.places, seen.test).tolist(),
        "p": numbers.add(seen.option_probabilities[sent.places]),
        "scores": [scored(seen, name, sent, numbers) for name in names],
        "reports": [reported(alpha, empty, by) for alpha, empty in REPORTED for by in BY],
    }


def scored(seen: Evaluation, name: str, sent: Sent, numbers: Numbers) -> dict[str, Any]:
    """One score: its values, and all figures at all alphas for every policy and all strata."""
    tuned = tune(name, seen.option_probabilities, seen.labels, seen.calibration, seed=seen.spec.seed)
    rows, test = tuned.calibration, seen.test
    own, option_scores = scores_for(
        name,
        seen.option_probabilities,
        seen.labels,
        calibration=rows,
        test=test,
        seed=seen.spec.seed,
        parameters=tuned.parameters,
    )
    codes = np.searchsorted(sent.group_names, seen.groups)
    counts = {"all": 1, "group": len(sent.group_names), "class": seen.k}
    strata = {"all": np.zeros_like(rows), "group": codes[rows], "class": seen.labels[rows]}
    policies = []
    for by in BY:
        limits = np.stack([_thresholds(own[strata[by] == s]) for s in range(counts[by])], axis=1)  # (999, strata)
        used = limits[:, codes[test], None] if by == "group" else limits[:, None, :]  # that of each option of each row
        for empty in EMPTY_POLICIES:
            sets, columns = _figures(seen, option_scores[None] <= used, empty)
            full = np.isinf(used).any(axis=(1, 2))
            policies.append(
                {
                    "by": by,
                    "empty": empty,
                    "strata": counts[by],
                    "figures": numbers.add(np.column_stack([limits, *columns, full])),
                    "members": {a: ["".join(map(str, row)) for row in sets[a - 1].astype(int)] for a in MEMBER_ALPHAS},
                }
            )
    return {
        "name": name,
        "n": len(rows),
        "own": numbers.add(own),
        "asked": numbers.add(option_scores),
        "policies": policies,
        "redraws": [
            _redrawn(seen, name, rows, own, option_scores, sent, numbers, n=n, alpha=alpha)
            for n, alpha in ((len(own), REDRAWN), (max(1, len(own) // 3), RARE))
        ],
    }


def _thresholds(own: FloatArray) -> FloatArray:
    """At every alpha; endless where nothing calibrates."""
    return thresholds(own) if len(own) else np.full(len(ALPHAS), np.inf)


def _figures(seen: Evaluation, members: BoolArray, empty: str) -> tuple[BoolArray, list[FloatArray]]:
    """The sets (999, m, k) after the policy; coverage, mean size, empty rate, sizes, covered by size, (999,) each."""
    labels, top = seen.labels[seen.test], top_options(seen.probabilities[seen.test])
    m, k = members.shape[1:]
    lonely = ~members.any(axis=2)
    if empty == "top1":
        alpha, i = np.nonzero(lonely)
        members[alpha, i, top[i]] = True
    sizes = members.sum(axis=2)
    covered = members[:, np.arange(m), labels]
    counted = [(sizes == j).sum(axis=1) for j in range(k + 1)]
    held = [((sizes == j) & covered).sum(axis=1) for j in range(k + 1)]
    return members, [covered.mean(axis=1), sizes.mean(axis=1), (sizes == 0).mean(axis=1), *counted, *held]


def _redrawn(
    seen: Evaluation,
    name: str,
    calibration: IntArray,
    own: FloatArray,
    option_scores: FloatArray,
    sent: Sent,
    numbers: Numbers,
    *,
    n: int,
    alpha: int,
) -> dict[str, Any]:
    """Coverages of the procedures that are for the score, over repeated draws of the case's questions; where n of them
    calibrate."""
    rows = np.concatenate([calibration, seen.test])
    fits = tuple(procedure for procedure, how in PROCEDURES.items() if how.fits(name))
    coverages = redraw(
        np.concatenate([own, true_scores(option_scores, seen.labels[seen.test])]),
        seen.probabilities[rows, seen.labels[rows]],
        n=n,
        alpha=alpha,
        draws=DRAWS,
        clusters=sent.clusters[np.searchsorted(sent.places, rows)],
        seed=seen.spec.seed,
        procedures=fits,
    )
    coverage = np.stack([coverages[procedure] for procedure in fits], axis=1)
    return {"n": n, "alpha": alpha, "draws": DRAWS, "procedures": fits, "coverage": numbers.add(coverage)}


def ranges() -> list[list[Any]]:
    """The range of every score, for some numbers of options and every choice of its parameters."""
    return [
        [row["name"], k, parameters, list(SCORES[row["name"]].range(k, Parameters(*parameters.values())))]
        for row in score_table(ordered=True)
        for parameters in row["grid"] or [row["untuned"]]
        for k in (2, 4, 26)
    ]


def laws() -> dict[str, Any]:
    """Bands at every alpha, intervals, densities, laws and p-values, also where they are extreme."""
    bands = []
    for n, m in BAND_SIZES:
        ends = [(*beta_band(n, alpha), *beta_binomial_band(n, m, alpha)) for alpha in ALPHAS.tolist()]
        columns = dict(zip(("beta_low", "beta_high", "test_low", "test_high"), zip(*ends, strict=True), strict=True))
        bands.append({"n": n, "m": m, **columns})
    intervals = [(0, 0), (0, 5), (5, 5), (3, 8), (1, 20_000), (19_999, 20_000), (180, 200), (9000, 10_000)]
    points = [(n, m, alpha) for n, m in ((19, 30), (400, 350), (10_000, 10_000)) for alpha in (1, 60, 100, 500, 970)]
    strata = [([30, 7, 100, 20], [12, 30, 40, 0]), ([0, 50], [10, 50]), ([170] * 57, [175] * 57), ([9], [11])]
    return {
        "bands": bands,
        "tied": [_tied(n, m, votes) for n, m, votes in ((40, 30, 5), (150, 160, 10), (700, 300, 30), (2000, 2500, 3))],
        "intervals": [[hits, n, *share_interval(hits, n)] for hits, n in intervals],
        "p_values": [
            [hits, n, m, alpha, guarantee_p_value(hits, n, m, alpha)]
            for n, m, alpha in points
            for hits in (0, round(m * (980 - alpha) / 1000), m)
            if hits >= 0
        ],
        "laws": [[n, m, alpha, _law(n, m, alpha)] for n, m, alpha in points if m < 1000],
        "densities": [
            [n, alpha, x, _density(n, alpha, x)] for n, _, alpha in points for x in (0.0, 0.02, 0.4, 0.9, 0.95, 1.0)
        ],
        "strata": [
            [n, m, alpha, *strata_band(dict(enumerate(n)), dict(enumerate(m)), alpha)]
            for n, m in strata
            for alpha in (1, 20, 100, 333, 500, 900)
        ],
        "saturated": [
            [limits, strata, saturation_note(limits, strata)]
            for limits, strata in (
                *(([1 - distance], "") for distance in (0.0, 2.0**-53, 3.14e-12, 1e-11, 9.96e-10, 9.9e-7, 1e-6, 0.3)),
                ([0.5, 1 - 1e-9, 1.0], "subjects"),
                ([0.5, 0.9], "letters"),
            )
        ],
        "decimals": [
            [threshold, scores, digits, threshold_decimals(threshold, scores, digits=digits)]
            for threshold in (0.0, 2.0**-30, 0.25, 0.8965, 0.99996, 1 - 7.3e-7, 1 - 2.0**-45, 1.0, 1.99999)
            for scores in ([], [0.25, 0.89651, 1.0], [1 - 3e-8, 1 - 7.4e-7, 1.0])
            for digits in (3, 4)
        ],
    }


def _tied(n: int, m: int, votes: int) -> dict[str, Any]:
    """Bands and p-values of scores that are shares of a few votes."""
    scores = np.random.default_rng([n, votes]).binomial(votes, 0.3, n + m) / votes
    ties, alphas = Ties.of(scores[:n], scores[n:]), [1, 30, 50, 100, 101, 250, 500, 900]
    ends = [beta_binomial_band(n, m, alpha, ties=ties) for alpha in alphas]
    return {
        "calibration": scores[:n].tolist(),
        "test": scores[n:].tolist(),
        "alphas": alphas,
        "low": [low for low, _ in ends],
        "high": [high for _, high in ends],
    }


def _law(n: int, m: int, alpha: int) -> list[float]:
    a, b = beta_parameters(n, alpha)
    return beta_binomial(m, a, b).tolist() if b else [0.0] * m + [1.0]


def _density(n: int, alpha: int, x: float) -> float | None:
    """None, which JSON has for infinity, at coverage 1 where every set is full."""
    a, b = beta_parameters(n, alpha)
    if b == 0:
        return None if x == 1 else 0.0
    return float(stats.beta(a, b).pdf(x))


def draws() -> list[dict[str, Any]]:
    """Hashes, uniform numbers and parts for some seeds, purposes and draws."""
    paths = []
    places = np.array([0, 0, 1, 2, 3, 5, 8, 8, 8, 13, 70_000, 2**31 - 1])
    for seed, purpose, draw in itertools.product((0, 1, 2**32 - 1), (1, 5), (0, 1, 999)):
        parts = [first_part(places, size, seed=seed, purpose=purpose, draw=draw) for size in range(len(places) + 1)]
        paths.append(
            {
                "places": places.tolist(),
                "seed": seed,
                "purpose": purpose,
                "draw": draw,
                "hashes": hashes(places, seed=seed, purpose=purpose, draw=draw).tolist(),
                "uniforms": uniforms(places, seed=seed).tolist(),
                "parts": np.array(parts).astype(int).tolist(),
            }
        )
    return paths


def views(*, short: bool) -> dict[str, tuple[SplitView, ...]]:
    """The views of each case, all of them or those of a normal run."""
    return {name: case.views[: case.short] if short else case.views for name, case in CASES.items()}


def write(folder: Path, *, short: bool) -> Path:
    """Write the golden values into a folder; returns the file that names them."""
    numbers = Numbers()
    cases = [written(name, CASES[name], chosen, numbers) for name, chosen in views(short=short).items() if chosen]
    (folder / "golden.gz").write_bytes(gzip.compress(np.concatenate(numbers.parts).tobytes(), compresslevel=1))
    path = folder / "golden.json"
    path.write_text(
        json.dumps(
            {
                "cases": cases,
                "laws": laws(),
                "draws": draws(),
                "scores": score_table(ordered=True),
                "ranges": ranges(),
                "numbers": "golden.gz",
            }
        )
    )
    return path
