"""The menu: the pages that a person may open."""

import streamlit as st

from app import navigation
from app.components.shared.only_looking import only_looking
from app.serving import login
from core import access


def pages() -> dict[str, list[st.Page]]:
    """The groups of pages that the person may open, as Streamlit expects them. A page's address is the name of its
    script.

    Streamlit shows the default page at ``/`` only, so a page outside the menu leads there from its own name.
    """
    menu = {
        title: [
            st.Page(
                entry.script,
                title=entry.title,
                url_path="" if entry is navigation.PAGES[0] else entry.name,
                help=entry.help,
                default=entry is navigation.PAGES[0],
            )
            for entry in group
            if navigation.is_open(entry)
        ]
        for title, group in navigation.MENU.items()
    }
    first = next(iter(menu.values()))
    if access.mode() == "login":
        menu[access.actor().name] = [st.Page(login.account, title="Your account", url_path=login.ACCOUNT)]
    first.append(
        st.Page(_to_first_page, title=navigation.PAGES[0].title, url_path=navigation.PAGES[0].name, visibility="hidden")
    )
    for entry in navigation.PAGES:
        if not navigation.is_open(entry):  # a link from elsewhere opens a sentence instead
            first.append(st.Page(_only_looking, title=entry.title, url_path=entry.name, visibility="hidden"))
    return menu


def _only_looking() -> None:
    st.title("Not available here", anchor=False)
    only_looking("launch runs or check the machine")


def _to_first_page() -> None:
    navigation.go(navigation.PAGES[0], **st.query_params.to_dict())
