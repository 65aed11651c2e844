"""What the tables say about the values of a matrix: the range that its symbol certifies, the theorem that applies."""
import numpy as np

from . import words

#: The columns that tell one matrix of one order from the others.
MATRIX = ("result", "source", "layer", "head", "matrix", "n")
#: Digits of certified ends in captions and tables.
DIGITS = 4
#: What follows from each is in docs/explanation/theory.md.
THEOREMS = {"szego": "Szegő", "szego+rank-one": "Szegő, but one value", "avram-parter": "Avram and Parter",
            "avram-parter+rank-one": "Avram and Parter, but one value",
            "tyrtyshnikov-zamarashkin": "Tyrtyshnikov and Zamarashkin"}


class Index:
    """Groups of rows by the columns that tell them apart."""

    def __init__(self, rows, *columns):
        self.rows, self.columns = rows, columns
        self.groups = rows.split(*columns) if len(rows) else []
        self._known = {}

    def find(self, like):
        """The first group whose cells are those of the first row of `like`; a column that one of the two lacks
        decides nothing. None: there is none."""
        shared = tuple(column for column in self.columns if self.rows.has(column) and like.has(column))
        if shared not in self._known:
            self._known[shared] = {self._key(group, shared): group for group in reversed(self.groups)}
        return self._known[shared].get(self._key(like, shared))

    @staticmethod
    def _key(rows, columns):
        return tuple(rows.cell(column) for column in columns)


class Stated:
    """The certified ranges that rows of a table of ranges, or of a summary, state for the values of their matrices.

    Arrays [rows]. lo, hi: of eigenvalues, or where `singular` of singular values; NaN: none. radius: of their moduli.
    part: the symbol is of the Toeplitz part, and bounds nothing of the matrix. is_modulus: the range is that of |a|.
    """

    def __init__(self, rows, singular):
        summary = rows.has("symbol_max_hi")
        lo, hi = rows.numbers("symbol_min_lo" if summary else "min_lo"), rows.numbers(
            "symbol_max_hi" if summary else "max_hi")
        said = rows.texts("bound_of").astype(str)
        known = (lo <= hi) & np.isfinite(lo) & np.isfinite(hi)
        self.part = said == "toeplitz_part"
        self.is_modulus = self.part | (said == "singular_values")
        bounds = known & ~self.part & (self.is_modulus | (said == "eigenvalues"))
        self.radius = np.where(bounds, np.maximum(np.abs(lo), np.abs(hi)), np.nan)
        modulus = singular | self.is_modulus
        self.hi = np.where(modulus, self.radius, np.where(bounds, hi, np.nan))
        self.lo = np.where(bounds, np.where(singular, 0, np.where(self.is_modulus, -self.radius, lo)), np.nan)


def theorem(rows, i=0):
    """The limit theorem that applies, in a few words; None: none does, or the table has no such column."""
    name = rows.text("theorem", i) if len(rows) else None
    return None if not name or name == "none" else THEOREMS.get(name, name)


def is_coarse(samples):
    """Whether the symbol of these samples, a polynomial of degree n - 1, may oscillate more often than they can show:
    their curve and quantiles then miss what the certified ends see."""
    closed = samples.text("convention") == "closed_form"
    return not closed and 2 * (samples.number("n") - 1) >= len(samples)


def say_certified(lo, hi):
    """"-12.01 to 128.1": rounded outwards."""
    return f"{words.lower(lo, DIGITS)} to {words.upper(hi, DIGITS)}"
