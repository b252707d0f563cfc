"""Tidy frames in, figures out, on a page or in a file. No statistics here, no Streamlit, and no colours of its own.

Each module is named for what it draws. A mark names the meaning of its colour (:mod:`charts.palette`). Figures are
Altair's, which draws the same on a page and, without a browser, in a file.
"""
