"""The only style that Streamlit's own widgets need in addition to ``.streamlit/config.toml``."""

CHOSEN = """<style>
[data-tag] { background: transparent !important; color: inherit !important; border: 1px solid currentColor; }
[data-tag] button { color: inherit !important; }
</style>"""
"""Draws the chosen options of a multiselect in the page's text and background colours. Streamlit draws them in white on
the primary colour, which is too light for that in the dark theme."""

STACKED_KEY = "stacked_when_narrow"
STACKED = f"""<style>
@media (max-width: 1150px) {{
  .st-key-{STACKED_KEY} [data-testid="stHorizontalBlock"]:has(> [data-testid="stColumn"]) {{ flex-direction: column; }}
  .st-key-{STACKED_KEY} [data-testid="stHorizontalBlock"]:has(> [data-testid="stColumn"]) > [data-testid="stColumn"] {{
    width: 100%; min-width: 100%; flex: 1 1 auto;
  }}
}}
</style>"""
"""Puts the columns in the container :data:`STACKED_KEY` below each other in a window that is narrower than 1,150 px.
Streamlit does so only below 640 px, where a figure beside a form has long become too narrow."""
