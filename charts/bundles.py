"""The bundles of the components' scripts and styles: ``npm run bundle`` writes them from the files in ``app/``."""

from core.settings import ROOT

COMPONENTS = ROOT / "app" / "components"
"""The folder with the components' HTML, and the scripts and styles that are bundled."""
BUNDLES = ROOT / "assets" / "bundles"


def script(name: str) -> str:
    """The bundle of a script, by its name in ``bundle.js``: one module that imports nothing."""
    return (BUNDLES / f"{name}.js").read_text(encoding="utf-8")


def style(name: str) -> str:
    """The bundle of a style, by its name in ``bundle.js``."""
    return (BUNDLES / f"{name}.css").read_text(encoding="utf-8")
