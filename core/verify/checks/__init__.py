"""The checks. Each is a function of a :class:`~core.verify.outcome.Place`, and may load torch when it is called."""
