"""The page of Hedge's terms, generated from the list that the pages explain them from."""

from app.glossary import GROUPS
from app.navigation import PAGES


def page() -> str:
    """Every term with its meaning and a link to the help of the page that shows it."""
    titles = {entry.name: entry.title for entry in PAGES}
    parts = ["# Glossary", "The terms that the pages explain, in the same words."]
    for group, terms in GROUPS.items():
        rows = [f"- **{of.title}**: {of.meaning} See [{titles[of.page]}](pages/{of.page}.md)." for of in terms.values()]
        parts += [f"## {group}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"
