"""The commands of ``hedge``, one module per subject. Each takes its arguments and returns a result
(:class:`~hedge.commands.answer.CommandResult`)."""
