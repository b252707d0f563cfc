"""The whole glossary on a page, each term with a link to the page that shows it."""

import streamlit as st

from app.glossary import GROUPS
from app.navigation import PAGES


def glossary() -> None:
    """Show every term with its meaning, in groups."""
    titles = {entry.name: entry.title for entry in PAGES}
    for group, terms in GROUPS.items():
        st.markdown(
            f"**{group}**\n\n"
            + "\n".join(
                f"- **{term.title}**: {term.meaning} [{titles[term.page]}]({term.page})" for term in terms.values()
            )
        )
