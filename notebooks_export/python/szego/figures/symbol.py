"""The symbol as a function of the angle, with its certified minimum and maximum; the point masses of almost periodic
kernels."""
from dataclasses import dataclass, field, replace

import numpy as np

from . import bounds, heads, words
from .bounds import Index
from .compose import FEW, add_series, compose
from .drawing import Line
from .record import CHOSEN, POINTS, Axis, Figure, Section

#: What the curve shows, by the convention of its rows.
CUT = {"truncated": "the symbol cut to the lags below {}", "fejer": "the Fejér mean of the lags below {}",
       "closed_form": "the symbol of all lags"}
CURVE = ("result", "source", "layer", "head", "matrix", "n", "convention")
END_DIGITS, MOST_STEMS = 2, 64
#: The ratio of angles from which on a log axis shows them.
WIDE = 50


# ---- Curves ----

@dataclass
class Facts:
    """What the caption says of the curves. curves: how many; stated: with a certified range; lo, hi: of all ranges;
    width: of the widest enclosure of an end."""
    complex: bool
    coarse: bool = False
    curves: int = 0
    stated: int = 0
    lo: float = np.inf
    hi: float = -np.inf
    width: float = 0.0
    left_out: heads.LeftOut = field(default_factory=heads.LeftOut)

    def count(self, ends):
        """Adds a row of certified ends."""
        lo, hi = ends.number("min_lo"), ends.number("max_hi")
        if lo <= hi:
            self.lo, self.hi = min(self.lo, lo), max(self.hi, hi)
            self.width = np.fmax(self.width, np.fmax(ends.number("min_hi") - lo, hi - ends.number("max_lo")))
            self.stated += 1


def _is_complex(rows):
    return bool((np.nan_to_num(rows.numbers("im")) != 0).any())


def _is_constant(rows):
    """A flat line shows nothing."""
    re = rows.numbers("re")
    finite = re[np.isfinite(re)]
    return not _is_complex(rows) and len(finite) > 1 and finite.min() == finite.max()


def _say_end(which, lo, hi, theta):
    """The end's enclosure, to every digit that it has."""
    return (f"certified {which} in [{words.exact(lo)}, {words.exact(hi)}], {words.upper(hi - lo, END_DIGITS)} wide, "
            f"found at angle {words.number(theta)}")


def _add_ends(drawing, panel, one, ends):
    for which, at, outer in (("minimum", "min", "lo"), ("maximum", "max", "hi")):
        lo, hi, theta = ends.number(f"{at}_lo"), ends.number(f"{at}_hi"), ends.number(f"theta_{at}")
        value = ends.number(f"{at}_{outer}")
        if not np.isnan(value):
            add_series(drawing, panel, one.rows, None, [theta], [value], marks=POINTS, colour=one.colour,
                       hover=[_say_end(which, lo, hi, theta)])


def _prepare(drawing, known):
    panel = drawing.panels[0]
    facts = drawing.own = Facts(_is_complex(drawing.rows), curves=len(panel.series))
    for one in panel.series:
        if facts.complex:  # its certified ends are those of the modulus
            one.y = np.hypot(one.y, one.rows.numbers("im"))
        facts.coarse |= bounds.is_coarse(one.rows)
        ends = known.find(one.rows)
        if ends is not None:
            facts.count(ends)
            drawing.sources.append(ends)
    heads.leave_out_multiples(panel, facts.left_out)
    heads.name_series(drawing, panel, "modulus |a|" if facts.complex else "symbol a")
    drawing.y.label = "modulus |a| of the symbol" if facts.complex else "symbol a"
    curves = list(panel.series)
    for one in curves if len(curves) <= FEW else ():
        ends = known.find(one.rows)
        if ends is not None:
            _add_ends(drawing, panel, one, ends)
    if len(curves) == 1 and facts.stated:
        panel.rules += [Line("certified range", facts.lo, colour="certified"),
                        Line(None, facts.hi, colour="certified")]
    if len(curves) == 1 and facts.complex:
        drawing.y.label = "symbol a"
        rows = curves[0].rows
        for colour, column, name in ((1, "re", "real part"), (2, "im", "imaginary part")):
            add_series(drawing, panel, rows, name, rows.numbers("theta"), rows.numbers(column), colour=colour)


def _say_cut(drawing):
    """"the symbol cut to the lags below n = 64"; "this symbol" where the rows do not say."""
    shown = [one.rows for one in drawing.every() if one.rows.text("convention") in CUT]
    orders = sorted({rows.number("n") for rows in shown if np.isfinite(rows.number("n"))})
    below = f"n = {words.listed(map(words.number, orders))}"
    said = [CUT[convention].format(below) for convention in dict.fromkeys(rows.text("convention") for rows in shown)]
    return " and ".join(said) or "this symbol"


def _say_range(drawing):
    facts = drawing.own
    several = facts.stated > 1
    some = f" of {facts.stated} of {facts.curves} curves" if facts.stated < facts.curves else ""
    return (f"Certified range{'s' if several else ''}{' of |a|' if facts.complex else ''}{some}"
            f"{', all within' if several else ''} {bounds.say_certified(facts.lo, facts.hi)} ({_say_cut(drawing)})")


def _say_curves(drawing):
    facts = drawing.own
    if not facts.stated:
        text = f"No range is certified for {_say_cut(drawing)}."
    else:
        text = f"{_say_range(drawing)}; each end is known to within {words.upper(facts.width, END_DIGITS)}."
    text += heads.say_left_out(facts.left_out)
    return text + (" Too few samples: the line may miss peaks." if facts.coarse else "")


def _finding(drawing):
    facts = drawing.own
    if not facts.stated:
        return []
    said = _say_range(drawing)
    return f"{words.source(drawing.rows)}: {said[0].lower() + said[1:]}."


CURVES = Figure("symbol", ("symbol_samples",), needs=("theta", "re", "im"), undone="the symbols are not drawn",
                figure_by=("result", "source", "layer", "matrix"), group_by=("result", "source"),
                series_by=("head", "n", "convention"), outliers=True, skips=_is_constant,
                skipped="the symbol is constant",
                x=Axis("theta", label="angle, radians", lo=0, hi=2 * np.pi), y=Axis("re", scale=CHOSEN),
                subject=words.source, title="symbol", caption=_say_curves, finding=_finding)


# ---- Point masses ----

@dataclass
class Masses:
    """at_zero: the mass at angle 0, for which a logarithmic axis has no place; NaN: it is drawn."""
    count: int
    total: float
    at_zero: float = np.nan


def _prepare_masses(drawing):
    one = drawing.panels[0].series[0]
    positive = one.x[np.isfinite(one.x) & (one.x > 0)]
    drawing.own = Masses(len(one.x), float(np.sum(one.y[np.isfinite(one.y)])))
    one.name = "point mass"
    if len(positive) and positive.max() > WIDE * positive.min():
        drawing.x.kind = "log"
        if (one.x == 0).any():
            drawing.own.at_zero = float(np.nansum(one.y[one.x == 0]))
    if len(one.x) <= MOST_STEMS:
        one.lo, one.hi = np.zeros(len(one.x)), one.y


def _say_masses(drawing):
    own = drawing.own
    text = (f"{words.count(own.count, 'point mass', 'point masses')}, {words.number(own.total)} in sum: no symbol is a "
            f"function, and no limit theorem applies")
    if np.isfinite(own.at_zero):
        text += f"; the mass at angle 0 is {words.number(own.at_zero)}"
    return text + "."


ATOMS = Figure("symbol-atoms", ("symbol_atoms",), needs=("theta", "mass"), undone="the point masses are not drawn",
               figure_by=("result", "source", "layer", "head", "matrix", "n"), group_by=("result", "source"),
               marks=POINTS, x=Axis("theta"), y=Axis("mass"), subject=words.subject, title="point masses",
               prepare=_prepare_masses, caption=_say_masses)


def _compose(section, tables):
    known = Index(tables.rows("symbol_range"), *CURVE)
    return compose((replace(CURVES, prepare=lambda drawing: _prepare(drawing, known)), ATOMS), tables, section.most)


SECTION = Section(
    "symbol", "Symbols", ("symbol_samples", "symbol_atoms"),
    "The symbol is the function whose Fourier coefficients are the diagonals of the matrix. The dots are its certified "
    "ends.", (CURVES, ATOMS), compose=_compose)
