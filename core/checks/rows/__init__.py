"""The checks. Each is a function of a :class:`~core.checks.outcome.Place`, and may load torch when it is called."""
