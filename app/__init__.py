"""The Streamlit app: state, caches and components of the pages. Statistics are in ``core``; no torch is loaded here."""
