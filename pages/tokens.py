"""How sure a model is of each word, and whether its confidence can be trusted."""

import streamlit as st

from app.components import token_page

st.title("How sure is a model of each word?", anchor=False)
token_page.text_by_token()
token_page.evaluations()
