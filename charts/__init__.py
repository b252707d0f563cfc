"""Tidy frames in, figures out, on a page or in a file. No statistics here, no Streamlit, and no colours of its own.

Each module is named for what it draws. A mark names the meaning of its colour (:mod:`charts.palette`). Figures are
Altair's. A radar, heat maps and parallel coordinates are Plotly's on a page, where the pointer reads them.
"""
