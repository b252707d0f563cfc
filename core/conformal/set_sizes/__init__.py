"""95% intervals of figures computed from prediction sets: mean set size and UAcc.

A mean set size varies for two reasons. The test questions are a sample, and so are the calibration questions, which
determine the threshold that all sets share. An interval from the test sets alone treats the threshold as known; it
contained the expected size in 50 to 61 of 100 simulations instead of 95. These intervals redraw both samples.

Redrawing the threshold needs no resampling of scores. Over draws of n calibration scores without ties, the k-th
smallest of them lies at the level U ~ Beta(k, n + 1 − k) (:mod:`core.conformal.coverage`). So among the given scores it
has the rank J ≈ (n + 1)·U; rank n + 1 is the infinite threshold. Let s(J) be the mean set size at the J-th smallest
score.

1. The interval estimates the average size over new draws of calibration questions. That is the mean of s over J,
   s̃(k) = Σ_J P(J | k)·s(J), weighted as by Harrell and Davis (1982, doi 10.1093/biomet/69.3.635). If APS is close to
   full sets, s jumps and s̃ does not; with s alone the interval would miss the mean of a skewed distribution.
2. The variation from the calibration draw is s̃(k + c·(J − k)). The weighting makes s̃ less variable than s by the
   factor c < 1, the ratio of the two standard deviations if s is linear in the level. If a single rank makes more than
   half of the change of s over the range of J, as with APS just below full sets, the distribution is skewed and c is
   1.35 instead: with a smaller c the interval contained the expected size in 88 of 100 simulations. The two cases are
   far apart (shares of at most .4 for smooth distributions and at least .7 for skewed ones). The value 1.35 was chosen
   by simulation (``tests/simulation/set_sizes.py``).
3. The variation from the test draw is normal noise with the covariance of size and accuracy over the test questions.

The ends are the 2.5% and 97.5% quantiles of 2,000 such resamples. Levels and noise are spread evenly over their
distributions (Latin hypercube sampling, McKay et al. 1979) instead of drawn, so the same run always has the same
interval.
"""
