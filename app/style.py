"""The one style that Streamlit's own widgets need beside ``.streamlit/config.toml``."""

CHOSEN = """<style>
[data-tag] { background: transparent !important; color: inherit !important; border: 1px solid currentColor; }
[data-tag] button { color: inherit !important; }
</style>"""
"""What is chosen in a box for several choices, in the text's colour on the page's. Streamlit writes it in white on the
primary colour, which in the dark theme is too light for that."""
