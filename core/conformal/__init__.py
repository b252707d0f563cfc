"""Split conformal prediction over option probabilities.

The steps are ``probabilities → scores → threshold → PredictionSets → coverage``. :mod:`core.conformal.curve` does them
all for every alpha in one pass. alpha is the error rate that a person allows. It is an integer number of thousandths
everywhere (:mod:`core.conformal.alpha`), because ``ceil((n + 1) * (1 - alpha))`` in floating point gives the wrong rank
for a tenth of all alphas.
"""
