"""The page of Hedge's terms, generated from the list that the pages explain them from."""

from app.glossary import GROUPS
from app.navigation import PAGES


def page() -> str:
    """Every term with its meaning and a link to the help of the page that shows it."""
    titles = {entry.name: entry.title for entry in PAGES}
    parts = ["# Glossary", "The terms that the pages explain, in the same words."]
    for group, terms in GROUPS.items():
        rows = [
            f"- **{term.title}**: {term.meaning} See [{titles[term.page]}](pages/{term.page}.md)."
            for term in terms.values()
        ]
        parts += [f"## {group}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"
