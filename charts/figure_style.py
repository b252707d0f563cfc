"""The look of a figure in a file: its width on paper, its font, and its theme."""

import math
import re
from dataclasses import dataclass

from charts.palette import ThemeColors, theme_colors
from core.errors import InputError
from core.settings import ROOT

UNITS = 96
"""Units of a drawing in an inch, as in CSS: a text of 10 units has 7.5 points on paper."""
WIDTHS = {"single": 3.25, "double": 6.75, "slide": 40 / 3}
"""Names of widths in inches: one column of a paper, two columns, and a slide of 16:9 (13.33 by 7.5 inches)."""
NARROWEST, WIDEST = 2.0, 20.0
"""The range of a width of one's own, in inches."""
FONTS = {
    "sans": "Liberation Sans, Arial, Helvetica, sans-serif",
    "serif": "Liberation Serif, Times New Roman, Times, serif",
}
"""Names of fonts. Any other font is named as the paper names it, and has the serif ones behind it."""
FONT_FOLDER = ROOT / "assets" / "fonts"
"""The fonts that figures are drawn with: Hedge Sans and Hedge Serif, which are Liberation's under other names."""
FAMILY = re.compile(r"[\w .-]{1,60}")
THEMES = ("light", "dark")
SLIDE_UNITS = 640
"""Units across a slide: it is drawn at half its size, so that its texts are twice as large."""
DPI = 300


@dataclass(frozen=True, slots=True)
class FigureStyle:
    """The look of a figure in a file.

    ``width`` is a name of :data:`WIDTHS` or inches, ``font`` a name of :data:`FONTS` or the paper's own font, ``theme``
    ``light`` or ``dark``. Raises :class:`InputError` for anything else. The fonts of :data:`FONTS` come with Hedge. If
    this machine lacks the paper's own font, an SVG still names it, and a PDF and a PNG use the serif font instead.
    """

    width: str | float = "single"
    font: str = "sans"
    theme: str = "light"

    def __post_init__(self) -> None:
        if isinstance(self.width, str) and self.width not in WIDTHS:
            raise InputError(f"unknown width {self.width!r}; choose {', '.join(WIDTHS)}, or give inches")
        if not (math.isfinite(self.inches) and NARROWEST <= self.inches <= WIDEST):
            raise InputError(f"the width must be from {NARROWEST:g} to {WIDEST:g} inches, got {self.width}")
        if not FAMILY.fullmatch(self.font):
            raise InputError(f"the font must be sans, serif or the name of one, got {self.font!r}")
        if self.theme not in THEMES:
            raise InputError(f"unknown theme {self.theme!r}; choose {' or '.join(THEMES)}")

    @property
    def inches(self) -> float:
        """The width on paper."""
        return WIDTHS[self.width] if isinstance(self.width, str) else float(self.width)

    @property
    def slide(self) -> bool:
        """Whether the figure fills a slide, with its title."""
        return self.width == "slide"

    @property
    def units(self) -> float:
        """The width of the drawing, in its own units."""
        return SLIDE_UNITS if self.slide else self.inches * UNITS

    @property
    def family(self) -> str:
        """The font and those that stand in for it, as an SVG and a web page name them."""
        return FONTS.get(self.font) or f"{self.font}, {FONTS['serif']}"

    @property
    def drawn_family(self) -> str:
        """The same with the fonts of :data:`FONT_FOLDER`, for the renderer. No other font has their names, so the fonts
        of a machine don't matter."""
        return self.family.replace("Liberation", "Hedge")

    @property
    def colors(self) -> ThemeColors:
        """The theme's colours."""
        return theme_colors(self.theme)


def width_of(text: str) -> str | float:
    """A width as a person writes it: a name, or inches (``4``, ``4in``).

    >>> width_of("single"), width_of("4.5in")
    ('single', 4.5)
    """
    if text in WIDTHS:
        return text
    try:
        return float(text.lower().removesuffix("in").removesuffix('"'))
    except ValueError:
        raise InputError(f"unknown width {text!r}; choose {', '.join(WIDTHS)}, or give inches") from None
