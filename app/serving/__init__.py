"""What serves the pages: the guard before Streamlit, who uses them, health and figures, and work in the background."""
