"""Text in HTML and SVG: names come from hostile files."""
import unicodedata

from markupsafe import Markup

from ..markup import PARAGRAPH, escaped, visible
from .formula import mathml, pieces


def text(value, characters=PARAGRAPH):
    """A text between tags or in a quoted attribute, as nothing but text."""
    return Markup(escaped(visible(value, characters)))


def prose(value):
    """The same of a text of the house, whose formulas between backquotes are set."""
    return Markup("".join(mathml(piece) if formula else escaped(visible(piece)) for piece, formula in pieces(value)))


def width(value):
    """Characters of a text as a monospaced font would count them, wide ones twice."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in value)
