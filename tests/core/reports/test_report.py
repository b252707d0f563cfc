import json
from dataclasses import replace

import numpy as np
import pytest

from core.calibration.metrics import TopTies
from core.conformal.alpha import ALPHAS
from core.conformal.coverage import beta_binomial_band, share_interval, strata_band, strata_p_value
from core.conformal.curve import alpha_curve
from core.conformal.probabilities import log, log_softmax, softmax
from core.conformal.scores import SCORE_NAMES, SCORES, score, true_scores
from core.errors import InputError
from core.reports import frames
from core.reports.alpha_lab.view import SplitView, look
from core.reports.evaluation import load
from core.reports.report import report
from core.reports.scored_sets import form
from core.runs import store
from hedge.commands.reports import report_table
from tests.conftest import synthetic_questions, synthetic_run

pytestmark = pytest.mark.quick


@pytest.fixture
def run(home):
    return load(synthetic_run(400))


@pytest.mark.parametrize("method", ["exact", "paper", "bluq"])
@pytest.mark.parametrize("empty", ["allow", "top1"])
def test_intervals_hold_the_figures_of_the_sets(run, method, empty):
    result = report(run, 100, scores=("lac", "aps"), method=method, empty=empty)
    for figures in result.scores.values():
        assert figures.uacc == pytest.approx(result.accuracy * np.sqrt(6) / figures.mean_set_size)
        for value, (low, high) in (
            (figures.mean_set_size, figures.mean_set_size_interval),
            (figures.uacc, figures.uacc_interval),
        ):
            assert low < value < high


@pytest.mark.parametrize("by", ["group", "class"])
def test_intervals_of_strata_hold_the_figures_of_their_sets(run, by):
    for name in ("lac", "raps"):
        figures = report(run, 100, scores=(name,), by=by, empty="top1").scores[name]
        low, high = figures.mean_set_size_interval
        assert low < figures.mean_set_size < high
        assert figures.uacc_interval[0] < figures.uacc < figures.uacc_interval[1]


def test_the_calibration_questions_widen_the_interval(run):
    """By test sets alone the interval is mean ± 1.96 s/√m; the variation of the threshold makes it more than half as
    wide again."""
    figures = report(run, 100, scores=("lac",)).scores["lac"]
    counts, sizes = np.array(figures.sizes), np.arange(7)
    spread = np.sqrt((counts * (sizes - figures.mean_set_size) ** 2).sum() / 199 / 200)
    low, high = figures.mean_set_size_interval
    assert high - low > 1.5 * 2 * 1.96 * spread


def test_figures_by_a_slow_loop(run):
    result = report(run, 100)
    figures = result.scores["lac"]
    p, y = run.probabilities, run.labels
    calibration = sorted(1 - p[i, y[i]] for i in run.calibration)
    q = calibration[int(np.ceil(201 * 900 / 1000)) - 1]
    sets = [[j for j in range(6) if 1 - p[i, j] <= q] for i in run.test]
    assert figures.threshold == round(q, 12)
    assert figures.coverage == np.mean([y[i] in s for i, s in zip(run.test, sets, strict=True)])
    assert figures.mean_set_size == np.mean([len(s) for s in sets])
    assert figures.sizes == tuple(sum(len(s) == j for s in sets) for j in range(7))
    assert figures.uacc == pytest.approx(result.accuracy * np.sqrt(6) / figures.mean_set_size)
    assert result.accuracy == np.mean([p[i].argmax() == y[i] for i in run.test])  # no ties here
    assert sum(result.letter_rates.values()) == pytest.approx(1)


@pytest.mark.parametrize("name", [name for name in SCORE_NAMES if not SCORES[name].tuned])
@pytest.mark.parametrize("empty", ["allow", "top1"])
def test_a_report_is_a_point_of_the_curve(run, name, empty):
    s = score(name, run.probabilities, seed=run.spec.seed)
    curve = alpha_curve(
        true_scores(s[run.calibration], run.labels[run.calibration]),
        s[run.test],
        run.labels[run.test],
        empty=empty,
        test_top=run.probabilities[run.test].argmax(axis=1),
    )
    for alpha in (1, 50, 100, 333, 900, 999):
        figures = report(run, alpha, scores=[name], empty=empty).scores[name]
        at = int(np.flatnonzero(alpha == ALPHAS)[0])
        assert figures.coverage == curve.coverage[at]
        assert figures.mean_set_size == curve.mean_set_size[at]
        assert figures.threshold == curve.thresholds[at]


def test_json_holds_the_keys_that_scripts_read(run):
    values = json.loads(json.dumps(report(run, 1).to_json(), allow_nan=False))
    names = (
        "run model task strategy dtype form n_calibration n_test k alpha accuracy top_ties nll nll_infinite brier ece"
    )
    assert set(names.split()) <= set(values)
    for key in (
        "threshold",
        "coverage",
        "coverage_band",
        "mean_set_size",
        "mean_set_size_interval",
        "empty_rate",
        "uacc",
        "uacc_interval",
    ):
        assert key in values["lac"]
    # ⌈201 · .999⌉ = 201 > 200: endless, the full set, and the reader is told.
    assert values["lac"]["threshold"] is None
    assert values["lac"]["mean_set_size"] == 6
    assert "every option stays" in values["lac"]["notes"][0]


def tied(run, *, labels=None):
    """The run where every test question has A and C on top alike, and every fourth has B alone."""
    logits = np.zeros(run.probabilities.shape)
    logits[:, [0, 2]] = 2.0
    logits[::4] = [0, 3, 0, 0, 0, 0]
    labels = run.labels if labels is None else np.full(len(run.labels), labels)
    return replace(run, probabilities=softmax(logits), log_probabilities=log_softmax(logits), labels=labels)


def test_the_later_of_equal_options_is_on_top_and_ties_are_said(run):
    result = report(tied(run, labels=2), 100)  # 200 test questions: 150 ties, and C takes all of them
    assert (result.accuracy, result.top_ties) == (0.75, TopTies(150, 0.0, 0.75))
    assert report(tied(run, labels=0), 100).accuracy == 0
    assert report(tied(run, labels=1), 100).top_ties == TopTies(150, 0.25, 0.25)
    note = result.notes[0]
    assert "On 150 of 200 test questions two or more options are equally and most probable; the later" in note
    assert "Accuracy is 0.750; it would be 0.000 with every tie lost and 0.750 with every tie won." in note
    assert result.to_json()["top_ties"] == {"n": 150, "lost": 0.0, "won": 0.75}
    assert report(run, 100).notes == ()


def test_letters_that_are_equally_probable_share_a_question(run):
    assert report(tied(run), 100).letter_rates == {"A": 0.375, "B": 0.25, "C": 0.375, "D": 0, "E": 0, "F": 0}


@pytest.mark.parametrize("method", ["paper", "bluq"])
def test_published_thresholds_take_the_first_of_equal_options(run, method):
    result = report(tied(run, labels=0), 100, method=method)
    assert result.accuracy == 0.75
    assert "the first of them counts as the model's choice, as in the published tool" in result.notes[0]
    assert result.scores["lac"].uacc == pytest.approx(0.75 * np.sqrt(6) / result.scores["lac"].mean_set_size)


@pytest.mark.parametrize(("method", "top"), [("exact", 2), ("paper", 0), ("bluq", 0)])
def test_an_empty_set_takes_the_same_top_option(run, method, top):
    seen = tied(run, labels=2)
    p = seen.probabilities.copy()
    p[run.calibration] = np.eye(6)[2]  # certain and right: every other question's LAC set is empty
    result = form(replace(seen, probabilities=p, log_probabilities=log(p)), "lac", 100, method=method, empty="top1")
    assert (result.members.sum(axis=1) == 1).all()
    assert result.members[1].nonzero()[0].tolist() == [top]


def test_a_truth_of_probability_0_makes_the_nll_infinite_and_is_counted(run):
    p = run.probabilities.copy()
    rows = run.test[:3]
    p[rows] = np.eye(6)[(run.labels[rows] + 1) % 6]
    result = report(replace(run, probabilities=p, log_probabilities=log(p)), 100)
    assert result.nll == np.inf
    assert result.nll_infinite == 3
    values = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert values["nll"] is None
    assert values["nll_infinite"] == 3
    assert values["notes"] == ["3 of 200 test questions give the truth a probability of 0, so the NLL is infinite (∞)."]
    assert "NLL ∞, ECE" in report_table([values])


def test_the_nll_of_a_run_is_that_of_its_logits_where_probabilities_are_none(home):
    name = synthetic_run(60)
    scored = store.read_logits(name)
    logits = scored.logits.copy()
    logits[-1] = [0, -2000, -2000, -2000, -2000, -2000]
    store.write_logits(store.folder_of(name), replace(scored, logits=logits))
    run = load(name)
    assert run.probabilities[-1].tolist() == [1, 0, 0, 0, 0, 0]
    truth = run.labels[run.test]
    by_hand = [
        np.log(np.exp(np.float64(row) - max(row)).sum()) + max(row) - row[y]
        for row, y in zip(logits[run.test].astype(np.float64), truth, strict=True)
    ]
    assert truth[-1] != 0
    assert report(run, 100).nll == pytest.approx(np.mean(by_hand))
    assert report(run, 100).nll > 2000 / 30


def test_log_probabilities_of_other_probabilities_are_refused(run):
    with pytest.raises(InputError, match="not the logarithms of probabilities"):
        replace(run, probabilities=np.full_like(run.probabilities, 1 / 6))


@pytest.mark.parametrize(("least", "notes"), [(0.0, 1), (2.5e-11, 2)])
def test_an_aps_threshold_just_below_1_leaves_options_out(home, least: float, notes: int):
    """Where two options have hardly any mass, that of the third is almost 1 but not 1, and the two are in no set."""
    shares = np.array([0.5, 0.3, 0.2 - 2 * least, least, least]) if least else np.array([0.5, 0.3, 0.2])
    name = synthetic_run(n=400, k=len(shares))
    run = load(name)
    alike = np.tile(shares, (400, 1))
    run = replace(run, probabilities=alike, log_probabilities=np.log(alike), labels=np.full(400, 2))
    figures = report(run, 100, scores=["aps"]).scores["aps"]
    assert figures.threshold == pytest.approx(1)
    assert (figures.threshold == 1) == (least == 0)
    assert figures.mean_set_size == 3
    assert len(figures.notes) == notes
    if least:
        assert figures.notes[0].startswith("The APS threshold is 5.0 × 10⁻¹¹ below 1.")
        assert "--drop-extra" in figures.notes[1]


def test_compatible_thresholds_are_marked_as_such(run):
    assert any("exact threshold" in note for note in report(run, 100, method="paper").scores["lac"].notes)


def test_a_run_that_has_not_ended_shows_no_figures(home):
    name = synthetic_run()
    store.update_record(name, state="running")
    with pytest.raises(InputError, match="is running; its figures are shown once it has finished successfully"):
        load(name)


def test_a_run_without_calibration_is_refused(home):
    name = synthetic_run(20)
    store.write_questions(store.folder_of(name), synthetic_questions(20), ["test"] * 20)
    with pytest.raises(InputError, match="0 calibration and 20 test"):
        report(load(name), 100)


def test_logits_that_fit_no_question_are_refused(home):
    name = synthetic_run(20)
    store.write_questions(store.folder_of(name), synthetic_questions(19), ["test"] * 19)
    with pytest.raises(InputError, match="fits no question"):
        load(name)


def test_arrays_can_not_be_changed_by_who_shares_them(run):
    with pytest.raises(ValueError, match="read-only"):
        run.probabilities[0, 0] = 1


def test_overview_has_a_row_a_run(home):
    runs = [load(synthetic_run(100, seed=seed, model=f"m{seed}")) for seed in range(3)]
    frame = frames.overview(runs, 100)
    assert frame["model"].tolist() == ["m0", "m1", "m2"]
    assert (frame["accuracy_low"] < frame["accuracy"]).all()
    assert frame["lac_coverage"].tolist() == [report(r, 100).scores["lac"].coverage for r in runs]
    assert frames.overview([], 100).empty


def test_lab_tables_hold_what_the_browser_needs(run):
    tables = frames.lab_tables(run)
    rows = tables["rows"]
    assert rows.column_names == ["p0", "p1", "p2", "p3", "p4", "p5", "y", "group", "cluster", "own", "place"]
    assert np.array_equal(rows["p3"].to_numpy(), run.probabilities[:, 3])
    assert rows["y"].to_pylist() == run.labels.tolist()
    assert [tables["group_names"][code] for code in rows["group"].to_pylist()] == run.groups.tolist()
    assert np.flatnonzero(rows["own"].to_numpy()).tolist() == run.calibration.tolist()
    assert rows["place"].to_pylist() == list(range(400))
    assert tables["questions"]["id"].to_pylist() == run.ids.tolist()
    assert tables["extra"] == [4, 5]
    assert tables["seed"] == 0


def test_lab_tables_leave_out_what_neither_calibrates_nor_tests(home):
    name = synthetic_run(20)
    roles = ["rotation", *["calibration"] * 9, *["test"] * 9, "demonstration"]
    store.write_questions(store.folder_of(name), synthetic_questions(20), roles)
    rows = frames.lab_tables(load(name))["rows"]
    assert rows["place"].to_pylist() == list(range(1, 19))
    assert rows["own"].to_pylist() == [1] * 9 + [0] * 9


@pytest.mark.parametrize("name", ["raps", "saps"])
def test_tuned_scores_set_questions_aside_and_say_so(run, name):
    figures = report(run, 100, scores=[name]).scores[name]
    (note,) = [note for note in figures.notes if "uned" in note]
    assert note.startswith("Tuned: λ")
    assert "at alpha 0.100 on 40 of the calibration questions" in note
    assert figures.coverage_band == beta_binomial_band(160, 200, 100)
    assert figures.tuned_on == 40
    # One score whatever alpha is shown: sets that nest.
    assert report(run, 500, scores=[name]).scores[name].parameters == figures.parameters


def test_too_few_to_tune_on_is_said(home):
    figures = report(load(synthetic_run(60)), 100, scores=["raps"]).scores["raps"]
    assert figures.tuned_on == 0
    assert any(note.startswith("Not tuned") for note in figures.notes)


@pytest.mark.parametrize("by", ["group", "class"])
def test_strata_by_a_slow_loop(run, by):
    result = report(run, 200, scores=["aps"], empty="top1", by=by)
    figures = result.scores["aps"]
    s = score("aps", run.probabilities)
    strata = run.groups if by == "group" else np.array(list("ABCDEF"))[run.labels]
    limits = {}
    for name in sorted(set(strata.tolist())):
        own = sorted(s[i, run.labels[i]] for i in run.calibration if strata[i] == name)
        limits[name] = own[int(np.ceil((len(own) + 1) * 0.8)) - 1]
        assert figures.thresholds[name] == limits[name]

    def options(i):
        keep = lambda j: limits[strata[i]] if by == "group" else limits.get("ABCDEF"[j], np.inf)  # noqa: E731
        return [j for j in range(6) if s[i, j] <= keep(j)] or [int(run.probabilities[i].argmax())]

    sets = {i: options(i) for i in run.test.tolist()}
    assert figures.mean_set_size == np.mean([len(members) for members in sets.values()])
    assert figures.coverage == np.mean([run.labels[i] in members for i, members in sets.items()])
    assert [row.stratum for row in figures.strata] == sorted(limits)
    for row in figures.strata:
        inside = [i for i in sets if strata[i] == row.stratum]
        hits = sum(run.labels[i] in sets[i] for i in inside)
        assert (row.m, row.n) == (len(inside), sum(strata[i] == row.stratum for i in run.calibration))
        assert row.coverage == hits / row.m
        assert (row.low, row.high) == share_interval(hits, row.m)
        assert row.mean_set_size == np.mean([len(sets[i]) for i in inside])
        assert row.threshold == limits[row.stratum]
    values = result.to_json()
    assert values["by"] == by
    assert values["aps"]["threshold"] is None
    json.dumps(values, allow_nan=False)


def test_coverage_by_size_counts_every_set_once(run):
    figures = report(run, 200).scores["lac"]
    assert [row.size for row in figures.by_size] == list(range(7))
    assert tuple(row.m for row in figures.by_size) == figures.sizes
    hits = [round(row.coverage * row.m) for row in figures.by_size if row.m]
    assert sum(hits) == round(figures.coverage * 200)
    values = report(run, 999).to_json()["lac"]  # nearly all sets are empty
    assert values["by_size"][0]["coverage"] == 0
    assert values["by_size"][6] == {"size": 6, "m": 0, "coverage": None, "low": 0.0, "high": 1.0}


def test_letters_that_are_never_true_are_named_with_the_way_out(run):
    notes = report(run, 200, scores=["lac"], by="class").scores["lac"].notes
    assert any("E, F" in note and "they stay in every set" in note and "--drop-extra" in note for note in notes)
    dropped = look(run, SplitView(drop_extra=True))
    assert not report(dropped, 200, scores=["lac"], by="class").scores["lac"].notes


def test_subjects_without_enough_to_calibrate_on_are_named(run):
    few = replace(run, calibration=run.calibration[run.groups[run.calibration] == "sums"])
    notes = report(few, 200, scores=["lac"], by="group").scores["lac"].notes
    assert notes == ("Without calibration questions: colours; their sets are full.",)
    notes = report(look(run, SplitView(n_calibration=5)), 100, scores=["lac"], by="group").scores["lac"].notes
    assert notes == ("With too few calibration questions for this alpha: colours, sums; their sets are full.",)


def test_strata_take_the_exact_threshold_alone(run):
    with pytest.raises(InputError, match="strata take the exact one"):
        report(run, 100, method="paper", by="group")
    with pytest.raises(InputError, match="unknown strata 'letter'"):
        report(run, 100, by="letter")


def test_the_band_of_strata_is_that_of_their_sum(run):
    figures = report(run, 100, scores=["lac"], by="group").scores["lac"]
    sides = [
        {g: int((run.groups[rows] == g).sum()) for g in ("colours", "sums")} for rows in (run.calibration, run.test)
    ]
    assert figures.coverage_band == strata_band(*sides, 100)
    assert figures.p_value == strata_p_value(round(figures.coverage * 200), *sides, 100)
