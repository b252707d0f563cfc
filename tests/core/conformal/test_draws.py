import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.conformal.draws import FEWER, REDRAW, SPLIT, TUNING, UNIFORMS, first_part, hashes, uniforms

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(0, 2**20), st.sampled_from([UNIFORMS, SPLIT, FEWER, TUNING, REDRAW]))
def test_unlike_places_have_unlike_hashes(seed, draw, purpose):
    drawn = hashes(np.arange(5000), seed=seed, purpose=purpose, draw=draw)
    assert len(np.unique(drawn)) == 5000


def test_hashes_by_a_slow_loop():
    def stir(x):
        x = ((x ^ (x >> 16)) * 0x21F0AAAD) % 2**32
        x = ((x ^ (x >> 15)) * 0x735A2D97) % 2**32
        return x ^ (x >> 15)

    first = stir((stir(stir(SPLIT) ^ 12) + 34) % 2**32)
    second = stir((first + SPLIT) % 2**32)
    slow = [stir((stir(place ^ first) + second) % 2**32) for place in (0, 1, 77, 2**31)]
    assert hashes(np.array([0, 1, 77, 2**31]), seed=12, purpose=SPLIT, draw=34).tolist() == slow


def test_seeds_purposes_and_draws_have_nothing_to_do_with_each_other():
    streams = [
        hashes(np.arange(4000), seed=seed, purpose=purpose, draw=draw) / 2**32
        for seed in (0, 1, 2, 2**31)
        for purpose in (SPLIT, REDRAW)
        for draw in (0, 1, 2)
    ]
    correlation = np.corrcoef(streams) - np.eye(len(streams))
    # 276 pairs of 4,000: the largest of this many correlations of independent numbers stays below 4.5 / √4000.
    assert abs(correlation).max() < 4.5 / np.sqrt(4000)


@pytest.mark.parametrize("seed", [0, 1, 123456])
def test_uniforms_are_uniform(seed):
    u = uniforms(np.arange(100_000), seed=seed)
    assert ((u >= 0) & (u < 1)).all()
    assert stats.kstest(u, "uniform").pvalue > 0.001
    # Neighbours, and every bit of the last byte of their 53, too.
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 4 / np.sqrt(100_000)
    bits = ((u * 2**53).astype(np.int64)[:, None] >> np.arange(8)) & 1
    assert abs(bits.mean(axis=0) - 0.5).max() < 4 * 0.5 / np.sqrt(100_000)


def test_a_part_of_the_rows_keeps_the_numbers_that_it_has_in_the_whole():
    rows = np.array([3, 50, 700])
    assert np.array_equal(uniforms(rows, seed=4), uniforms(np.arange(1000), seed=4)[rows])


@given(st.lists(st.integers(0, 8), min_size=1, max_size=40), seeds, st.data())
def test_a_part_holds_whole_places_and_no_more_than_it_must(places, seed, data):
    places = np.array(places)
    size = data.draw(st.integers(0, len(places)))
    inside = first_part(places, size, seed=seed, purpose=SPLIT)
    assert not set(places[inside]) & set(places[~inside])
    assert inside.sum() >= size
    if size:  # without the last place there would be too few
        drawn = hashes(places, seed=seed, purpose=SPLIT)
        last = places[inside][np.argmax(drawn[inside])]
        assert (inside & (places != last)).sum() < size


def test_every_part_of_two_of_five_is_as_likely():
    counts = np.zeros(32)
    draws = 20_000
    for draw in range(draws):
        inside = first_part(np.arange(5), 2, seed=9, purpose=REDRAW, draw=draw)
        counts[(inside * 2 ** np.arange(5)).sum()] += 1
    seen = counts[counts > 0]
    assert len(seen) == 10
    assert stats.chisquare(seen).pvalue > 0.001


def test_seeds_count_modulo_two_to_the_32():
    assert np.array_equal(uniforms(np.arange(9), seed=2**32 + 5), uniforms(np.arange(9), seed=5))
