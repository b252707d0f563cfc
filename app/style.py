"""The only style that Streamlit's own widgets need in addition to ``.streamlit/config.toml``."""

CHOSEN = """<style>
[data-tag] { background: transparent !important; color: inherit !important; border: 1px solid currentColor; }
[data-tag] button { color: inherit !important; }
</style>"""
"""Draws the chosen options of a multiselect in the page's text and background colours. Streamlit draws them in white on
the primary colour, which is too light for that in the dark theme."""
