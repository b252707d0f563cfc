"""What each command does: arguments in, an :class:`~core.commands.answer.CommandResult` out; a room a subject."""
