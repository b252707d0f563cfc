"""The experiment: measures against scikit-learn, splits as published, everything that can't be tried said plainly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import f1_score, precision_score, recall_score

from core.calibration.bins import TopLabel
from core.calibration.errors import top_errors
from core.calibration.jackknife import random_groups
from core.errors import InputError
from core.exchange.juries import read
from core.jury.adjudication import RULES
from core.jury.agreement import agreement
from core.jury.experiment import PROTOCOLS, Protocol, calibration_size, kept, measures, run, split
from core.reports.jury import calibration_errors, left_out, pooled_sets, reliability, risk, to_json
from tests.core.jury.verdicts import jury, seeded_jury


def test_measures_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    said, labels = rng.random(50) < 0.4, rng.random(50) < 0.5
    found = measures(said, labels)
    assert found["accuracy"] == (said == labels).mean()
    assert found["precision"] == pytest.approx(precision_score(labels, said))
    assert found["recall"] == pytest.approx(recall_score(labels, said))
    assert found["f1"] == pytest.approx(f1_score(labels, said))


def test_nothing_divides_by_zero() -> None:
    assert measures(np.zeros(2, bool), np.array([True, False])) == {
        "accuracy": 0.5, "precision": 0.0, "recall": 0.0, "f1": 0.0,
    }  # fmt: skip


def test_the_source_calibration_rows_come_first_and_their_number_stays() -> None:
    judged = seeded_jury(100)
    turned = judged.rows(np.arange(100)[::-1])
    places = kept(turned, PROTOCOLS["published"])
    size = calibration_size(turned, places, PROTOCOLS["published"])
    parts = [turned.parts[i] for i in places]
    assert parts == ["calibration"] * size + ["test"] * (len(places) - size)
    assert turned.disagreed[places].all()
    of = split(turned, places, size, 4, PROTOCOLS["published"])
    assert sorted([*of.calibration, *of.test]) == sorted(places)
    assert len(of.calibration) == size


def test_an_interval_holds_the_figure_and_no_rule_differs_from_itself() -> None:
    found = run(seeded_jury(200), Protocol())
    for of in found.outcomes:
        assert of.accuracy.low <= of.accuracy.value <= of.accuracy.high
    by = {of.rule: of for of in found.outcomes}
    assert (by["majority"].to_majority.low, by["majority"].to_majority.high) == (0, 0)
    assert list(by) == list(RULES)
    assert run(seeded_jury(200), Protocol()) == found


def test_a_split_learns_from_agreed_answers_without_judging_them() -> None:
    judged = seeded_jury(100)
    places = kept(judged, PROTOCOLS["all-rules"])
    size = calibration_size(judged, places, PROTOCOLS["all-rules"])
    of = split(judged, places, size, 0, PROTOCOLS["all-rules"])
    agreed = ~judged.disagreed
    calibrate = sum(judged.parts[i] == "calibration" for i in np.flatnonzero(agreed))
    assert of.case.unanimous.shape == (calibrate, 3)
    assert (of.case.unanimous == of.case.unanimous[:, :1]).all()
    assert of.case.asked.disagreed.all()
    every = Protocol(disagreement=False)
    assert split(judged, np.arange(100), 50, 0, every).case.unanimous is None


def test_dawid_and_skene_do_not_fail_on_disputed_answers() -> None:
    """Independent jurors, all better than chance: fitted on disputed answers alone the model can name the worst one the
    best, because their disputes contradict its independence; fitted on all it judges as its truth would."""
    rng = np.random.default_rng(3)
    labels = rng.random(3000) < 0.6
    right = rng.random((3000, 3)) < (0.9, 0.75, 0.7)
    p = np.where(right == labels[:, None], 0.8, 0.2)
    judged = jury(p, labels)
    of = next(of for of in run(judged, Protocol(seeds=(0, 1), rules=("dawid_skene",))).outcomes)
    # The first juror's log-odds exceed the two others' together: 2.20 against 1.10 + 0.85.
    disputed = judged.rows(judged.disagreed)
    assert of.accuracy.value == pytest.approx(disputed.right[:, 0].mean(), abs=0.03)


def test_an_interval_is_the_jackknife_of_the_whole_experiment() -> None:
    """By hand for a rule that fits nothing, on one split: leave a group out, measure, and take Student's t."""
    judged = seeded_jury(200)
    protocol = Protocol(seeds=(4,), rules=("majority",), disagreement=False)
    of = split(judged, np.arange(200), 100, 4, protocol)
    right = (of.case.verdicts.sum(axis=1) >= 2) == of.case.asked.labels
    group = random_groups(200)[of.test]
    left_out = np.array([right[group != one].mean() for one in range(20)])
    reach = stats.t.ppf(0.975, 19) * np.sqrt(19 / 20 * ((left_out - left_out.mean()) ** 2).sum())
    found = run(judged, protocol).outcomes[0].accuracy
    assert (found.value, found.low, found.high) == pytest.approx(
        (right.mean(), right.mean() - reach, right.mean() + reach)
    )


def test_abstaining_begins_where_the_rule_is_as_right_as_it_is() -> None:
    judged = seeded_jury(200)
    table, found = risk(judged, Protocol()), run(judged, Protocol())
    for of in found.outcomes:
        own = table[table["rule"] == of.rule]
        assert list(own["at"]) == pytest.approx([at / 100 for at in range(101)])
        assert own["wrong"].iloc[0] == pytest.approx(1 - of.accuracy.value)
        assert own["answered"].iloc[0] == 1
        assert (own["answered"].diff().dropna() <= 0).all()
        known = own[own["answered"] > 0]
        assert ((known["low"] <= known["wrong"]) & (known["wrong"] <= known["high"])).all()
        assert own["wrong"][own["answered"] == 0].isna().all()


def test_each_answer_counts_once_in_a_calibration_error() -> None:
    judged = seeded_jury(120)
    table = calibration_errors(judged, Protocol())
    assert (table["n"] == judged.disagreed.sum()).all()
    raw = table[(table["juror"] == "juror1") & (table["scale"] == "raw")].iloc[0]
    disputed = judged.rows(judged.disagreed)
    assert raw["ece"] == pytest.approx(top_errors(TopLabel(disputed.top[:, 1], disputed.right[:, 1] * 1.0)).ece)
    assert ((table["low"] >= 0) & (table["low"] <= table["high"])).all()


def test_leaving_a_juror_out_and_reliability() -> None:
    judged = seeded_jury(120)
    table = left_out(judged, Protocol())
    assert set(table["juror"]) == set(judged.jurors)
    np.testing.assert_allclose(table["gain"], table["accuracy"] - table["without"], atol=1e-15)
    assert ((table["gain_low"] <= table["gain"]) & (table["gain"] <= table["gain_high"])).all()
    assert set(table["rule"]) == set(RULES) - {"always_false", "dawid_skene"}  # of two jurors it can tell nothing
    assert "dawid_skene" in set(left_out(seeded_jury(60, 4), Protocol(seeds=(0,)))["rule"])
    assert left_out(judged.without(0), Protocol()).empty
    bins = reliability(judged, Protocol())
    shares = bins.groupby(["juror", "scale"])["share"].sum()
    np.testing.assert_allclose(shares, 1)
    assert ((bins["right_low"] <= bins["right"]) & (bins["right"] <= bins["right_high"])).all()


def test_pooled_sets_keep_their_promise_within_its_band() -> None:
    judged = seeded_jury(2000)
    protocol = Protocol(disagreement=False)
    places = kept(judged, protocol)
    sets = [pooled_sets(split(judged, places, 1000, seed, protocol), 100) for seed in range(20)]
    assert sum(found.band[0] <= found.coverage <= found.band[1] for _, found in sets) >= 16
    assert np.mean([found.coverage for _, found in sets]) == pytest.approx(0.9, abs=0.01)
    members, found = sets[0]
    assert found.only_true + found.only_false + found.both + found.empty == len(members) == 1000


def test_what_can_not_be_tried_is_said() -> None:
    judged = seeded_jury(40)
    alike = judged.rows(~judged.disagreed)
    with pytest.raises(InputError, match="agree on all"):
        run(alike, Protocol())
    with pytest.raises(InputError, match="answers are right"):
        run(judged.rows(judged.labels), Protocol(disagreement=False))
    with pytest.raises(InputError, match="calibration share"):
        run(replace(judged, parts=("",) * 40), PROTOCOLS["published"])
    with pytest.raises(InputError, match=r"\(0, 1\), got 1"):
        Protocol(share=1.0)
    with pytest.raises(InputError, match="at least one seed"):
        Protocol(seeds=())
    few = jury(np.array([[0.9, 0.1], [0.9, 0.2], [0.1, 0.9]]), np.array([True, False, False]))
    with pytest.raises(InputError, match="nothing can be learnt"):
        run(few, Protocol(share=0.4))


@pytest.mark.parametrize(("share", "size"), [(0.001, 1), (0.3, 30), (0.999, 99)])
def test_a_share_leaves_an_answer_on_either_side(share: float, size: int) -> None:
    judged = seeded_jury(100)
    assert calibration_size(judged, np.arange(100), Protocol(share=share)) == size


def test_without_a_group_neither_side_nor_the_agreed_answers_keep_its_answers() -> None:
    judged = seeded_jury(100)
    protocol = Protocol()
    places = kept(judged, protocol)
    size = calibration_size(judged, places, protocol)
    whole = split(judged, places, size, 0, protocol)
    # Half of the answers on which the jurors agree calibrate.
    assert len(whole.case.unanimous) == round(0.5 * (100 - len(places)))
    gone = np.zeros(100, dtype=bool)
    gone[::4] = True
    less = split(judged, places, size, 0, protocol, without=gone)
    assert less.calibration.tolist() == [i for i in whole.calibration if not gone[i]]
    assert less.test.tolist() == [i for i in whole.test if not gone[i]]
    everything = split(judged, places, size, 0, protocol, without=np.ones(100, dtype=bool))
    assert everything.calibration.tolist() == whole.calibration.tolist()  # a side that would be empty stays
    assert len(everything.case.unanimous) == 0
    # Nor may a side calibrate on right answers alone.
    right = split(judged, places, size, 0, protocol, without=~judged.labels)
    assert right.calibration.tolist() == whole.calibration.tolist()
    assert judged.labels[right.test].all()


# ---------------------------------------------------------------- the published files


@pytest.fixture(scope="module")
def published(request):
    import os
    from pathlib import Path

    folder = os.environ.get("HEDGE_REAL_DATA")
    if not folder:
        pytest.skip("HEDGE_REAL_DATA is not set; this test reads what can't be shipped")
    return read(sorted((Path(folder) / "juries").glob("jury_logits*.csv"))).judgements


def test_the_published_experiment_gives_the_published_figures(published) -> None:
    found = run(published, PROTOCOLS["published"])
    rules = to_json(found, calibration_errors(published, PROTOCOLS["published"]))["rules"]
    assert len(rules) == 6
    assert round(rules["majority"]["accuracy"], 4) == 0.5959
    assert round(rules["majority"]["f1"], 4) == 0.5934
    assert round(rules["veto"]["accuracy"], 4) == 0.5990
    assert rules["veto"]["f1"] == 0


def test_what_the_published_files_also_say(published) -> None:
    assert published.jurors == ("llama13b", "olmo13b", "stable13b")
    found = run(published, PROTOCOLS["all-rules"])
    assert (found.n, found.n_calibration, found.n_test) == (357, 164, 193)
    assert round(1 - found.right, 3) == 0.583
    assert round(found.ece, 2) == 0.25
    assert round(found.ece_raw, 2) == 0.12
    disputed = published.rows(published.disagreed)
    mean = (disputed.p_true.mean(axis=1) > disputed.p_false.mean(axis=1)) == disputed.labels
    assert mean.mean() == pytest.approx(0.656, abs=0.001)
    assert ((published.verdicts.sum(axis=1) >= 2) == published.labels).mean() == 0.815
    assert round(agreement(published).unanimous_wrong.value, 2) == 0.14
