"""The pocket world: the program that makes the question bank and the small models that ship with Hedge."""
