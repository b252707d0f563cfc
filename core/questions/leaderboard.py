"""The multiple-choice tasks of the Open LLM Leaderboard v2, by the names that lm-evaluation-harness gives them."""

PREFIX = "leaderboard_"
BANK = "Open LLM Leaderboard"
"""The bank that the questions of these tasks are of."""
SUITES = {"gpqa": "GPQA", "musr": "MuSR", "bbh": "BBH", "mmlu_pro": "MMLU-Pro"}
"""The suites whose options have log-likelihoods: the beginning of their tasks' names, and their titles. Those whose
files are smallest come first; MMLU-Pro has about 380 MB for each model."""


def suite_of(task: str) -> str:
    """The suite that a task belongs to, a key of :data:`SUITES`; empty if it is of none.

    >>> suite_of("leaderboard_gpqa_main"), suite_of("leaderboard_ifeval"), suite_of("qa")
    ('gpqa', '', '')
    """
    name = task.removeprefix(PREFIX)
    if name == task:
        return ""
    return next((suite for suite in SUITES if name == suite or name.startswith(f"{suite}_")), "")


def title_of(task: str) -> str:
    """The title of a task of the leaderboard; any other name is returned as it is.

    >>> title_of("leaderboard_mmlu_pro"), title_of("leaderboard_bbh_boolean_expressions"), title_of("qa")
    ('MMLU-Pro', 'BBH boolean expressions', 'qa')
    """
    suite = suite_of(task)
    if not suite:
        return task
    part = task.removeprefix(f"{PREFIX}{suite}").strip("_").replace("_", " ")
    return f"{SUITES[suite]} {part}".strip()
