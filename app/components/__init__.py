"""The components that pages are composed of."""
