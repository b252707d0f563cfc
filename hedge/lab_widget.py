"""The Alpha lab as an anywidget, a widget that Jupyter, VS Code, Colab and marimo show."""

import anywidget
import traitlets

from charts.bundles import script
from core.conformal.alpha import THOUSAND, thousandths


class LabWidget(anywidget.AnyWidget):  # type: ignore[misc] # anywidget is not read by mypy
    """``alpha`` goes both ways. ``data``, ``page`` and ``themes`` are sent once
    (``app/components/alpha_lab/notebook.js``)."""

    _esm = script("notebook")
    data = traitlets.Dict().tag(sync=True)
    page = traitlets.Dict().tag(sync=True)
    themes = traitlets.Dict().tag(sync=True)
    alpha = traitlets.Float(0.1).tag(sync=True)

    @traitlets.validate("alpha")  # type: ignore[untyped-decorator]
    def _valid_alpha(self, proposal: dict[str, float]) -> float:
        return thousandths(proposal["value"]) / THOUSAND
