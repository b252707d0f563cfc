"""What each command does: arguments in, an :class:`~core.commands.answer.Answer` out; a room a subject."""
