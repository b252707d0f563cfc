"""The one list of what is shown with an interval, a band or a p-value, and of the simulations that show what it means.

``tests/simulation/test_shown.py`` reads the places off the source (:mod:`tests.simulation.origins`) and fails where one
is missing here, or has no simulation.
"""

SIMULATED: dict[str, tuple[str, ...]] = {
    # Coverage, sets and what is made from them
    "tests.reference.redraw.beta_band": ("coverage: band of the calibration draw",),
    "core.conformal.coverage.beta_binomial_band": ("laws: report, band of coverage", "coverage: a redrawn split"),
    "core.conformal.coverage.strata_band": ("laws: report, band of coverage, LAC by",),
    "core.conformal.coverage.guarantee_p_value": ("laws: report, p of the guarantee",),
    "core.conformal.coverage.strata_p_value": ("laws: report, p of the guarantee, LAC by",),
    "core.conformal.coverage.share_interval": (
        "laws: report, accuracy",
        "laws: perplexity, choices made right",
        "perplexity: share of choices made right",
    ),
    "core.conformal.coverage.clustered_share_interval": (
        "laws: report, coverage of",
        "laws: calibration, accuracy",
        "laws: perplexity, coverage of endings",
    ),
    "core.conformal.coverage.crossed_share_interval": ("class, right among",),
    "core.conformal.mondrian.StratumCoverage": (
        "laws: report, coverage of",
        "coverage: subjects named as covered too little",
    ),
    "core.conformal.pvalues.p_values": ("coverage: conformal p-value",),
    "core.conformal.set_sizes.intervals.intervals": (
        "laws: report, mean set size",
        "laws: report, UAcc",
        "laws: perplexity, mean set size of endings",
        "set size: interval of mean size",
    ),
    "core.conformal.set_sizes.intervals.strata_intervals": (
        "laws: report, mean set size, LAC by",
        "laws: report, UAcc, LAC by",
    ),
    "core.conformal.set_sizes.differences.difference_intervals": (
        "laws: compare, equal models, difference in",
        "laws: compare, a better model, difference in",
        "set size: interval of a difference in",
    ),
    "core.reports.overview.matrix.Cell": ("laws: report, band of coverage", "coverage: a table of 20 runs with a mark"),
    "core.reports.compare.paired.Difference": ("laws: compare, equal models", "laws: compare, a better model"),
    "core.reports.compare.paired.Pair": ("laws: compare, p of a difference", "set size: permutation test"),
    "core.conformal.pairwise._p_values": ("laws: compare, matrix: smallest", "matrix: any false difference in"),
    "core.reports.compare.paired_shares.turned_p_value": ("laws: compare, p of a difference in accuracy",),
    "core.reports.compare.paired_shares.paired_share_interval": (
        "laws: compare, matrix: all differences in accuracy",
        "matrix: all intervals of accuracy",
    ),
    # Planned questions
    "core.reports.compare.power.mcnemar_power": ("power: accuracy", "power: detectable accuracy"),
    "core.reports.compare.run_matrix.PairDifference": ("power: set size", "power: detectable accuracy"),
    # Streams
    "tests.reference.adaptive.promised_band": ("stream: adaptive coverage",),
    "tests.reference.exchangeability.online_p_values": ("stream: last p-value", "stream: false alarm"),
    # Found by search
    "core.conformal.mondrian.least_covered_p_values": ("search: least covered",),
    "core.conformal.shift.exchangeability_p_value": ("search: a pair chosen beforehand",),
    "core.reports.alpha_lab.covariate_shift.Search": ("search: worst pair",),
    # Calibration
    "core.estimates.Estimate": (
        "laws: report, ECE",
        "laws: calibration",
        "laws: compare, matrix: all differences in",
        "laws: jury",
        "matrix: all intervals of set size",
        "matrix: all intervals of UAcc",
        "ECE",
        "overconfidence",
        "underconfidence",
        "MCE",
        "ℓ2 error",
        "smooth ECE",
        # Juries of answers on which jurors disagree
        "jury, accuracy of",
        "jury, F1 of",
        "jury, difference to majority",
        "jury, difference to always True",
    ),
    "core.calibration.means.skewed_mean_interval": ("laws: calibration, NLL", "laws: calibration, Brier"),
    "core.calibration.means.loss_interval": ("laws: calibration, change of NLL",),
    "core.calibration.consistency.CalibrationTest": ("laws: calibration, p of",),
    "core.calibration.reliability.ReliabilityBin": (
        "laws: calibration, accuracy of a bin",
        "laws: calibration, a calibrated model's band",
    ),
    # Questions in several orders
    "core.reports.prompting.option_order.OptionOrder": ("rotations, PPA", "rotations, questions whose choice changes"),
    "core.reports.prompting.option_order.SetStability": ("rotations, sets that stay the same",),
    "core.reports.prompting.option_order._rate_intervals": ("rotations, how often A is picked",),
    "core.reports.prompting.option_order.letters_p_value": ("rotations, test of the letters",),
    # Juries
    "core.reports.label_budget.curve": ("label budget, judge", "label budget, labels alone"),
    "core.jury.agreement._interval": (
        "laws: jury, Cohen's kappa",
        "laws: jury, Fleiss' kappa",
        "laws: jury, correlation of errors",
        "laws: jury, effective votes",
        "jury, effective votes",
    ),
    "core.reports.jury.left_out": ("laws: jury, what a juror adds",),
    "core.reports.jury.reliability": ("laws: jury, right in a bin of confidence",),
    "core.reports.jury._risk_table": ("laws: jury, wrong among the answered",),
    # Answer or pass
    "core.conformal.selective.SelectiveResult": (
        "selective, promise",
        "selective, bound of the error",
        "selective, two judges in turn",
    ),
    # Perplexity
    "core.models.perplexity.figures.Paired": (
        "laws: perplexity, p of A − B",
        "perplexity: interval of A − B",
        "perplexity: p-value of A − B",
    ),
    "core.models.perplexity.figures.clustered_mean_interval": (
        "laws: perplexity, A − B",
        "perplexity: interval of A − B",
    ),
    # Published claims
    "core.reports.compare.claims.PublishedClaim": ("claims:",),
    "core.reports.compare.claims._spearman_interval": ("claims: interval of Spearman's ρ",),
    "core.reports.compare.claims._spearman_p": ("claims: p of Spearman's ρ",),
}
"""A place → how the names of its simulations begin: those of cases, and ``laws: …`` of the table under every law."""

PASSED_ON: dict[str, tuple[str, ...]] = {
    "core.reports.question_plan.DetectableFigures": ("core.conformal.coverage.beta_binomial_band",),
    "hedge.commands.plan.plan": (
        "core.reports.compare.power.mcnemar_power",
        "core.reports.compare.run_matrix.PairDifference",
    ),
    "core.calibration.means.MeanInterval": ("core.calibration.means.loss_interval",),
    "core.calibration.means.seen_loss_interval": ("core.calibration.means.skewed_mean_interval",),
    "core.serving.classroom.class_figures.SurenessGroup": ("core.conformal.coverage.crossed_share_interval",),
    "hedge.commands.perplexity._choices": ("core.conformal.coverage.share_interval",),
    "core.conformal.set_sizes.intervals.quantile_interval": (
        "core.conformal.set_sizes.intervals.intervals",
        "core.conformal.set_sizes.intervals.strata_intervals",
        "core.conformal.set_sizes.differences.difference_intervals",
    ),
    "core.reports.report.accuracy_interval": ("core.conformal.coverage.clustered_share_interval",),
    "core.reports.compare.benchmark.results_json": (
        "core.conformal.set_sizes.intervals.intervals",
        "core.estimates.Estimate",
    ),
    "core.reports.compare.benchmark.rows_of": (
        "core.conformal.set_sizes.intervals.intervals",
        "core.conformal.coverage.beta_binomial_band",
        "core.conformal.coverage.share_interval",
        "core.estimates.Estimate",
    ),
    "core.reports.calibration.calibrated.figures_frame": (
        "core.estimates.Estimate",
        "core.calibration.consistency.CalibrationTest",
    ),
    "core.reports.calibration.calibrated.nominal_coverage": ("core.conformal.coverage.beta_binomial_band",),
    "core.reports.compare.claims.Correlation": (
        "core.reports.compare.claims._spearman_interval",
        "core.reports.compare.claims._spearman_p",
    ),
    "core.reports.frames._score_columns": (
        "core.conformal.set_sizes.intervals.intervals",
        "core.conformal.coverage.beta_binomial_band",
    ),
    "core.reports.frames.overview_row": (
        "core.conformal.set_sizes.intervals.intervals",
        "core.conformal.coverage.beta_binomial_band",
        "core.conformal.coverage.share_interval",
        "core.estimates.Estimate",
    ),
    "core.reports.frames.score_rows": (
        "core.conformal.set_sizes.intervals.intervals",
        "core.conformal.coverage.strata_band",
        "core.conformal.coverage.strata_p_value",
    ),
    "core.reports.by_alpha.by_alpha": ("core.conformal.coverage.beta_binomial_band",),
    "core.reports.jury.SetsFigures": ("core.conformal.coverage.beta_binomial_band",),
    "core.reports.jury.accuracy_rows": ("core.estimates.Estimate",),
    "core.reports.jury.calibration_errors": ("core.estimates.Estimate",),
    "core.reports.jury.to_json": ("core.estimates.Estimate",),
    "core.reports.jury_answer._with_interval": ("core.estimates.Estimate",),
    "core.reports.lesson._shift_tables": ("core.reports.alpha_lab.covariate_shift.Search",),
    "core.reports.lesson.lesson_tables": ("core.conformal.mondrian.least_covered_p_values",),
    "core.reports.prompting.letter_answers.Invalid": ("core.conformal.coverage.share_interval",),
    "core.reports.paper.results.Measure": (
        "core.conformal.coverage.share_interval",
        "core.conformal.coverage.beta_binomial_band",
        "core.conformal.set_sizes.intervals.intervals",
        "core.estimates.Estimate",
    ),
    "core.reports.paper.layout.PaperCell": (
        "core.conformal.coverage.share_interval",
        "core.conformal.coverage.beta_binomial_band",
        "core.conformal.set_sizes.intervals.intervals",
        "core.estimates.Estimate",
    ),
    "core.reports.paper.measurements.of_jury": ("core.estimates.Estimate",),
    "core.reports.paper.measurements.of_tokens": (
        "core.estimates.Estimate",
        "core.models.perplexity.figures.clustered_mean_interval",
    ),
    "core.reports.paper.runs.of_calibration": ("core.estimates.Estimate", "core.conformal.coverage.share_interval"),
    "core.reports.paper.runs._pairs": (
        "core.reports.compare.paired.Pair",
        "core.reports.compare.paired.Difference",
        "core.reports.compare.paired_shares.paired_share_interval",
        "core.conformal.pairwise._p_values",
    ),
    "core.reports.answer_or_pass.pass_rows": ("core.conformal.selective.SelectiveResult",),
    "core.reports.one_question.option_frame": ("core.conformal.pvalues.p_values",),
    "core.reports.scored_sets.option_p_values": ("core.conformal.pvalues.p_values",),
    "core.reports.perplexity.ChoiceSets": ("core.conformal.set_sizes.intervals.intervals",),
    "core.reports.perplexity._difference": ("core.models.perplexity.figures.Paired",),
    "core.reports.token_pairs.TokenPair": ("core.models.perplexity.figures.clustered_mean_interval",),
    "core.reports.course.asking.differences": (
        "core.reports.compare.paired.Difference",
        "core.conformal.set_sizes.differences.difference_intervals",
    ),
    "core.reports.prompting.experiments._pair_row": (
        "core.reports.compare.paired.Pair",
        "core.reports.compare.paired.Difference",
    ),
    "core.reports.compare.run_matrix.pairs_frame": (
        "core.reports.compare.paired_shares.paired_share_interval",
        "core.conformal.pairwise._p_values",
        "core.estimates.Estimate",
    ),
    "core.reports.prompting.option_order._turned_p_value": ("core.reports.prompting.option_order.letters_p_value",),
    "core.reports.report.Report": ("core.estimates.Estimate",),
    "core.reports.report.ScoreReport": (
        "core.conformal.set_sizes.intervals.intervals",
        "core.conformal.set_sizes.intervals.strata_intervals",
        "core.conformal.coverage.strata_band",
        "core.conformal.coverage.strata_p_value",
    ),
    "core.reports.report.SizeCoverage": ("core.conformal.coverage.share_interval",),
    "core.reports.alpha_lab.covariate_shift.Shifted": ("core.conformal.shift.exchangeability_p_value",),
    "core.reports.tokens.figures_frame": ("core.estimates.Estimate",),
}
"""A place that shows what others compute → these."""

NO_INTERVAL: dict[str, str] = {
    "core.reports.report.without_intervals": "figures without intervals",
    "core.jury.confidence._p_value": "the confidence of one verdict, a scale and no test; its conformal p-value is "
    "that of core.conformal.pvalues",
    "core.conformal.pvalues.holm": "Holm's correction, proved for any p-values; those are simulated one by one",
    "core.reports.prompting.experiments.option_scores": "log-probabilities",
    "core.storage.record_tables.bare_tables": "log-probabilities",
    "core.reports.paper.results.TableChoice": "whether a table has intervals",
    "core.models.server.replies.EchoedText": "log-probabilities",
    "core.models.server.abilities.Abilities": "what a server can do",
    "core.models.server.list_checks.EchoedToken": "what a server can do",
    "core.models.server.list_checks.Findings": "what a server can do",
    "core.models.server_address.ServedWeights": "which weights a server holds",
    "core.reports.bounded._both": "the ends of what a server's bounds leave open, proved and not estimated",
}
"""A place whose name looks like one → what it is."""
