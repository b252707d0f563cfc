"""95 % intervals of what is counted from prediction sets: mean set size and UAcc.

A mean set size has two sources of luck. The test questions are a sample, and so are the calibration questions, which
set the threshold that every set shares. An interval from the test sets alone takes the threshold for granted; it held
the expected size in 50 to 61 of 100 simulations instead of 95. These intervals redraw both samples.

The redrawn threshold needs no resampling. Over draws of n calibration scores without ties the k-th smallest of them
lies at the level U ~ Beta(k, n + 1 − k) (:mod:`core.conformal.coverage`), so among the scores at hand it takes the rank
J ≈ (n + 1)·U; rank n + 1 is the endless threshold. With s(J) the mean set size at the J-th smallest score:

1. What the interval is of, the size that new calibration questions give on average, is the mean of s over that luck,
   s̃(k) = Σ_J P(J | k)·s(J): Harrell and Davis' weighting (1982, doi 10.1093/biomet/69.3.635). Where APS is close to
   full sets, s jumps and s̃ does not: with s alone the interval would miss the mean of a skewed law.
2. The luck of the calibration draw is s̃(k + c·(J − k)). The weighting makes s̃ less variable than s by the factor
   c < 1, the ratio of the two standard deviations where s is linear in the level. Where a single rank makes more than
   half of the change of s over the luck, as APS does just below full sets, the law is skewed and c is 1.35 instead:
   with less the interval held the expected size in 88 of 100 simulations. The two cases lie far apart (shares of at
   most .4 for smooth laws, at least .7 there), and 1.35 was chosen by simulation (``tests/simulation/set_sizes.py``).
3. The luck of the test draw is normal noise with the covariance that size and accuracy have over the test questions.

The ends are the 2.5 % and 97.5 % quantiles of 2,000 such resamples. Levels and noise are spread evenly over their laws
(Latin hypercube sampling, McKay et al. 1979) instead of drawn, so that the same run always has the same interval.
"""
