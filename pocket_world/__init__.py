"""How the pocket world, its question bank and its models are made."""
