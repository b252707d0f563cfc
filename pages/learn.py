"""The course: lessons with live figures."""

import streamlit as st

from app import state
from app.components.learn.course import lesson_of
from app.components.shared.glossary_list import glossary
from app.components.shared.page_head import head_beside
from app.state.learn import LearnView
from app.tab_title import name_tab
from core.reports.lesson import LESSONS, load

view = state.view(LearnView)
content = load(LESSONS[view.lesson])
name_tab(content.title)
place = head_beside(content.title, content.subtitle)
lesson_of(content, view, place)

with st.expander("Glossary: every term in one or two sentences", on_change="rerun", key="glossary_open") as folded:
    if folded.open:
        glossary()
