"""Eigenvalues and singular values: sorted beside the symbol's quantiles, by rank where the rank is low, in the plane
where they are complex."""
from dataclasses import dataclass, field, replace

import numpy as np

from . import bounds, heads, words
from .bounds import DIGITS, MATRIX, Index, Stated
from .compose import FEW, add_series, chosen_scale, compose
from .drawing import LARGEST, Line, Panel, Paragraph, Series
from .record import LOG, PANELS, POINTS, Axis, Figure, Section
from .rows import Rows, same

TABLE = "spectrum_eigenvalues"
#: Values of which so large a share is 0, as listed, have a low rank.
LOW_RANK = 0.25
#: A certified circle so many times as wide as the values would leave them a dot.
CIRCLE_SHOWN = 2.5
CIRCLE_POINTS, PLANE_SIZE, FEW_VALUES, ZEROS_DRAWN, NAMED = 181, 4.17, 10, 256, 6


# ---- Values with their multiplicities ----

@dataclass
class Quantiles:
    """The quantiles of a list of numbers: value, ascending and finite, and how many times each stands in the list."""
    value: np.ndarray
    times: np.ndarray

    @classmethod
    def of(cls, values, zeros=0):
        """Of the finite values, and of so many further zeros."""
        value = np.sort(values[np.isfinite(values)])
        times = np.ones(len(value), np.int64)
        if zeros:
            place = np.searchsorted(value, 0)
            value, times = np.insert(value, place, 0.0), np.insert(times, place, zeros)
        return cls(value, times)

    @property
    def total(self):
        return int(self.times.sum())

    def within(self, lo, hi):
        """(how many lie in [lo, hi], how far the farthest of the others is from it)."""
        inside = (self.value >= lo) & (self.value <= hi)
        beyond = np.maximum(lo - self.value, self.value - hi)
        return int(self.times[inside].sum()), float(max(beyond.max(initial=0), 0))

    def distance(self, other):
        """The integral of |Q(q) - Q_other(q)| over 0 < q < 1: the 1-Wasserstein distance of the two distributions. NaN
        where one is empty."""
        if not len(self.value) or not len(other.value):
            return np.nan
        ends = [np.cumsum(one.times) / one.total for one in (self, other)]
        edges = np.unique(np.concatenate([[0.0], *ends]))
        middle = (edges[:-1] + edges[1:]) / 2
        mine, its = (one.value[np.searchsorted(end, middle).clip(0, len(one.value) - 1)]
                     for one, end in zip((self, other), ends))
        return float((np.abs(mine - its) * np.diff(edges)).sum())

    def curve(self):
        """(share, value): the k-th of all n values over (k + 1/2) / n; of many equal ones some at equal distances."""
        shown = np.minimum(self.times, ZEROS_DRAWN)
        first = np.repeat(np.cumsum(self.times) - self.times, shown)
        nth = np.arange(shown.sum()) - np.repeat(np.cumsum(shown) - shown, shown)
        times, shown_each = np.repeat(self.times, shown), np.repeat(shown, shown)
        place = first + nth * (times - 1) // np.maximum(shown_each - 1, 1)
        return (place + 0.5) / max(self.total, 1), np.repeat(self.value, shown)


# ---- One matrix ----

class Matrix:
    """The eigenvalues or singular values of one matrix, and what is known of its symbol.

    re, im: [listed], without the zeros by structure; zeros: values that are 0 by structure, as far as is said; symbol:
    Quantiles of the samples, None: none that compare; blur: the resolution of those; stated: (lo, hi, radius).
    """

    def __init__(self, values, known):
        self.values, self.n = values, values.number("n")
        self.singular = is_singular(values)[0]
        self.samples, self.summary = known.samples.find(values), known.summary.find(values)
        self.range = known.range.find(values)
        zeros = values.number("zeros")
        self.zeros = int(zeros) if 1 <= zeros < 2**62 else 0
        self.re, self.im = values.numbers("re"), values.numbers("im")
        counted = np.flatnonzero((self.re == 0) & (self.im == 0) & (values.numbers("multiplicity") == zeros))
        if self.zeros:
            self.re, self.im = np.delete(self.re, counted[:1]), np.delete(self.im, counted[:1])
        self.spectrum = Quantiles.of(self.re, self.zeros)
        self._state()
        self._read_symbol()

    def _state(self):
        source = self.range if self.range is not None else self.summary
        self.lo = self.hi = self.radius = np.nan
        self.part = False
        if source is not None:
            stated = Stated(source.pick([0]), self.singular)
            self.lo, self.hi, self.radius = float(stated.lo[0]), float(stated.hi[0]), float(stated.radius[0])
            self.part = bool(stated.part[0])

    def _read_symbol(self):
        """Of a real symbol its values; for singular values those of its modulus. Eigenvalues have nothing to compare
        with in a complex symbol."""
        self.symbol, self.blur = None, np.nan
        if self.samples is None or not len(self.samples):
            return
        re, im = self.samples.numbers("re"), self.samples.numbers("im")
        re = np.hypot(re, im) if self.singular else re
        # A function that runs from sample to sample is on average a quarter of its way from the one next to it.
        self.blur = float(np.abs(re - np.roll(re, 1)).sum() / (4 * len(re)))
        if self.singular or not (np.nan_to_num(im) != 0).any():
            self.symbol = Quantiles.of(re)

    @property
    def is_whole(self):
        """Values that do not add up to the matrix's order have no places among its quantiles."""
        return np.isnan(self.n) or self.n == self.total

    def is_twin(self, other):
        """Whether this is the other matrix in a further result."""
        return (not same(self.values, 0, other.values, 0, "result")
                and all(same(self.values, 0, other.values, 0, column) for column in MATRIX[1:])
                and self.zeros == other.zeros
                and np.array_equal(self.re, other.re, equal_nan=True)
                and np.array_equal(self.im, other.im, equal_nan=True))

    @property
    def exact_zeros(self):
        return self.zeros + int(((self.re == 0) & (self.im == 0)).sum())

    @property
    def total(self):
        """How many values there are, with those that are not finite."""
        return len(self.re) + self.zeros

    @property
    def infinite(self):
        return int((~np.isfinite(self.re + self.im)).sum())

    def within_circle(self):
        modulus = np.hypot(self.re, self.im)
        modulus = modulus[np.isfinite(modulus)]
        return self.zeros + int((modulus <= self.radius).sum()), float(np.max(modulus - self.radius, initial=0))

    @property
    def label(self):
        """Of which matrix these are the eigenvalues, where it is not the one that the figure names."""
        if self.singular:
            return "singular value"
        if words.of_what(self.values):
            return f"eigenvalue of the {words.of_what(self.values)}"
        if self.summary is not None and self.summary.text("solver") == "triangular":
            return "diagonal entry (triangular matrix)"
        return "eigenvalue"


def is_singular(rows):
    return rows.texts("kind") == "singular"


@dataclass
class Known:
    """The other tables, by matrix; what could not be drawn."""
    samples: Index
    range: Index
    summary: Index
    partial: list = field(default_factory=list)


# ---- Which rows go where ----

SHARE, RANKS, PLANE, FLAT = "share", "ranks", "plane", "flat"


def _shape(rows):
    """How the values of the matrices of one figure are drawn."""
    re, im = rows.numbers("re"), rows.numbers("im")
    if (np.nan_to_num(im) != 0).any() and not is_singular(rows)[0]:
        return PLANE
    finite = re[np.isfinite(re)]
    if not len(finite):
        return SHARE
    if finite.min() == finite.max():
        return FLAT
    first = [group.number("zeros") for group in rows.split(*MATRIX)]
    if any(zeros >= 1 for zeros in first) or (finite == 0).mean() >= LOW_RANK:
        return RANKS
    return SHARE


def shapes(rows):
    """One of SHARE, RANKS, PLANE, FLAT for each row: alike for a result's matrices of one source and name. They are
    kept with the table, as every figure of the section asks for them."""
    source = rows.source
    if not hasattr(source, "spectrum_shapes"):
        source.spectrum_shapes = np.full(source.size, SHARE, object)
        for group in Rows(source).split("result", "source", "matrix", "kind"):
            source.spectrum_shapes[group.index] = _shape(group)
    return source.spectrum_shapes[rows.index]


def _family(rows):
    """"rope" of "rope:dim=64": encodings of one kind share a figure; a file is of its own kind."""
    families = [(source or "").partition(":")[0] for source in rows.texts("source")]
    return [source if family == "file" else family for family, source in zip(families, rows.texts("source"))]


# ---- What the matrices of a figure have in common ----

@dataclass
class Facts:
    """Counted when the figure is prepared, said by its caption. total, bounded: with values that are not finite;
    ranges: the certified one of each matrix that has one; lo, hi, radius: of them all; distance, blur: from the symbol's quantiles, where a
    theorem applies; without_theorem: symbols where none does; coarse: the order whose symbol has too few samples;
    twins: results that hold a matrix of another once more."""
    plane: bool
    singular: bool = False
    part: bool = False
    total: int = 0
    infinite: int = 0
    zeros: int = 0
    computed: int = 0
    bounded: int = 0
    ranges: list = field(default_factory=list)
    within: int = 0
    beyond: float = 0.0
    lo: float = np.inf
    hi: float = -np.inf
    radius: float = 0.0
    least: float = np.inf
    greatest: float = -np.inf
    distance: float = np.nan
    blur: float = np.nan
    without_theorem: int = 0
    coarse: float = np.nan
    twins: list = field(default_factory=list)
    matrices: list = field(default_factory=list)
    left_out: heads.LeftOut = field(default_factory=heads.LeftOut)
    negative: bool = False
    beyond_rounding: int = 0
    circle_hidden: bool = False

    @property
    def bounds_all(self):
        """What bounds some values is drawn for none."""
        return 0 < self.bounded == self.total

    def count(self, of):
        """Adds a matrix."""
        self.matrices.append(of)
        self.singular |= of.singular
        self.part |= of.part
        self.total += of.total
        self.infinite += of.infinite
        self.zeros += of.zeros
        self.computed += of.exact_zeros - of.zeros
        if len(of.spectrum.value):
            self.least = min(self.least, of.spectrum.value[0])
            self.greatest = max(self.greatest, of.spectrum.value[-1])
        if not np.isnan(of.radius if self.plane else of.hi):
            within, beyond = of.within_circle() if self.plane else of.spectrum.within(of.lo, of.hi)
            self.bounded, self.within = self.bounded + of.total, self.within + within
            self.ranges.append((of.lo, of.hi, of.radius))
            self.beyond = max(self.beyond, beyond)
            self.lo, self.hi = min(self.lo, of.lo), max(self.hi, of.hi)
            self.radius = max(self.radius, of.radius)
        self._count_distance(of)

    def _count_distance(self, of):
        if of.symbol is None or not len(of.symbol.value):
            return
        if bounds.is_coarse(of.samples):
            self.coarse = of.n
        distance = of.spectrum.distance(of.symbol)
        if of.summary is not None and of.summary.text("theorem") and not bounds.theorem(of.summary):
            self.without_theorem += 1
        elif not np.isnan(distance) and of.summary is not None and bounds.theorem(of.summary):
            self.distance, self.blur = np.fmax(self.distance, distance), np.fmax(self.blur, of.blur)


def _read_panel(drawing, panel, known, facts):
    """The matrices of a panel's series; those whose values are not all there leave it."""
    kept = []
    for one in panel.series:
        matrix = Matrix(one.rows, known)
        if not matrix.is_whole:
            known.partial.append(matrix)
            continue
        if any(matrix.is_twin(other) for other in facts.matrices):
            facts.twins.append(one.rows.text("result"))
            continue
        facts.count(matrix)
        kept.append((one, matrix))
        drawing.sources += [rows for rows in (matrix.samples, matrix.range) if rows is not None and len(rows)]
    panel.series = [one for one, _ in kept]
    return {id(one): matrix for one, matrix in kept}


def _part_orders(drawing):
    """A panel an order where there are several: curves that approach each other would hide each other."""
    parted = []
    for panel in drawing.panels:
        orders = panel.rows.split("n")
        for rows in orders:
            name = f"n = {words.number(rows.number('n'))}" if len(orders) > 1 else None
            parted.append(Panel(rows, ", ".join(filter(None, (panel.name, name))) or None,
                                [one for one in panel.series if np.isin(one.rows.index, rows.index).all()]))
    drawing.left_out += [panel.name for panel in parted[PANELS:]]
    drawing.panels = parted[:PANELS]


# ---- Over the share of values ----

def _prepare_share(drawing, known):
    facts = drawing.own = Facts(False)
    _part_orders(drawing)
    kept = []
    for panel in drawing.panels:
        matrices = _read_panel(drawing, panel, known, facts)
        kept.append(list(matrices.values()))
        for one in panel.series:
            one.x, one.y = matrices[id(one)].spectrum.curve()
        heads.leave_out_multiples(panel, facts.left_out)
        heads.name_series(drawing, panel, "singular values" if facts.singular else "eigenvalues")
        for one in panel.series:
            one.marks = POINTS if len(panel.series) <= FEW or len(one.x) < FEW_VALUES else "line"
        _add_symbols(drawing, panel, matrices, facts)
    if facts.matrices:
        drawing.y.label = facts.matrices[-1].label
    if facts.bounds_all:
        for panel, own in zip(drawing.panels, kept):
            lo, hi = min(matrix.lo for matrix in own), max(matrix.hi for matrix in own)
            panel.rules += [Line("certified maximum of |a|", hi, colour="certified")] if facts.singular else [
                Line("certified range", lo, colour="certified"), Line(None, hi, colour="certified")]
    if not facts.singular:
        _choose_scale(drawing, facts)
    elif facts.greatest > 0:  # those that are 0 have no place on it
        drawing.y.kind = "log"


def _choose_scale(drawing, facts):
    """By the eigenvalues, which a symbol or its ends that reach much farther would press to a line."""
    values = np.concatenate([of.spectrum.value for of in facts.matrices] or [np.zeros(0)])
    seen = np.concatenate([one.y for one in drawing.series()] or [np.zeros(0)])
    ends = [rule.at for panel in drawing.panels for rule in panel.rules]
    drawn = np.concatenate([seen[np.isfinite(seen)], ends])
    kind, linear = chosen_scale(values)
    if kind == "linear":
        kind, linear = chosen_scale(np.concatenate([values, [drawn.min(initial=0), drawn.max(initial=0)]]))
    if kind == "log" and not drawn.min(initial=np.inf) > 0:
        kind, linear = "symlog", chosen_scale(np.r_[values, -values])[1]
    drawing.y.kind, drawing.y.linear = kind, linear


def _add_symbols(drawing, panel, matrices, facts):
    """Thin lines over the values, so that both are seen where they agree: of a colour of their own beside one matrix,
    else each of its matrix's."""
    shown = panel.series
    if len(shown) > FEW:
        return
    lines = []
    for i, one in enumerate(shown):
        symbol = matrices[id(one)].symbol
        if symbol is None or not len(symbol.value):
            continue
        x, y = symbol.curve()
        lines.append(Series(one.rows, "quantiles of |a|" if facts.singular else "quantiles of the symbol", "line", x, y,
                            colour=1 if len(shown) == 1 else one.colour, fine=len(shown) == 1, thin=len(shown) > 1,
                            unlisted=i > 0))
    panel.series = shown + lines


# ---- By rank ----

def _prepare_ranks(drawing, known):
    facts = drawing.own = Facts(False)
    panel = drawing.panels[0]
    matrices = _read_panel(drawing, panel, known, facts)
    facts.negative = facts.least < 0
    for one in panel.series:
        size = np.abs(matrices[id(one)].re)
        one.y = np.sort(size[np.isfinite(size) & (size > 0)])[::-1]
        one.x = np.arange(1.0, len(one.y) + 1)
        one.marks = POINTS if len(panel.series) <= FEW else "line"
        facts.beyond_rounding += int((one.y > _rounding(matrices[id(one)], one.y)).sum())
    heads.leave_out_multiples(panel, facts.left_out)
    heads.name_series(drawing, panel, "singular values" if facts.singular else "eigenvalues",
                      ("source", "layer", "matrix", "head", "n", "result"))
    if facts.matrices:
        drawing.y.label = f"|{facts.matrices[-1].label}|" if facts.negative else facts.matrices[-1].label
    _add_roundings(panel, matrices)
    if len(facts.matrices) == 1 and facts.bounds_all and facts.radius > 0:
        panel.rules.append(Line("certified maximum" + (" of |a|" if facts.singular else ""),
                                facts.radius if facts.negative else facts.hi, colour="certified"))


def _add_roundings(panel, matrices):
    """A rule for each of a few matrices, in its colour; else one at the greatest rounding error."""
    found = [(_rounding(matrices[id(one)], one.y), one) for one in panel.series]
    if not any((one.y <= rounding).any() for rounding, one in found):
        return
    name = "rounding error: n ε times the largest"
    if len({rounding for rounding, _ in found}) == 1 or len(found) > FEW:
        more = "" if len(found) == 1 else ", at most"
        panel.rules.append(Line(name + more, max(rounding for rounding, _ in found), colour=7))
        return
    for i, (rounding, one) in enumerate(found):
        panel.rules.append(Line(None if i else name, rounding, colour=one.colour))


def _rounding(matrix, sizes):
    """What a solver leaves of a 0: n eps times the largest value."""
    order = matrix.n if np.isfinite(matrix.n) else matrix.spectrum.total
    return float(order * np.finfo(float).eps * sizes.max(initial=0))


# ---- In the plane ----

def _prepare_plane(drawing, known):
    facts = drawing.own = Facts(True)
    _part_orders(drawing)
    for panel in drawing.panels:
        matrices = _read_panel(drawing, panel, known, facts)
        for one in panel.series:
            matrix = matrices[id(one)]
            zero = [0.0] if matrix.zeros else []  # one dot for all of them
            one.x, one.y = np.append(matrix.re, zero), np.append(matrix.im, zero)
        heads.name_series(drawing, panel, "eigenvalues")
    values = [np.hypot(one.x, one.y) for one in drawing.series()] or [np.zeros(1)]
    values = np.concatenate(values)
    reach, radius = values[values < LARGEST].max(initial=0), facts.radius  # beyond it the width of the scale overflows
    facts.circle_hidden = facts.bounds_all and (radius > CIRCLE_SHOWN * reach > 0 or radius >= LARGEST)
    reach = 1.05 * max(reach, 0 if facts.circle_hidden or radius >= LARGEST else radius) or 1.0
    for scale in (drawing.x, drawing.y):
        scale.lo, scale.hi = -reach, reach
    if len(drawing.panels) == 1:
        drawing.width = drawing.height = PLANE_SIZE
    turn = np.linspace(0, 2 * np.pi, CIRCLE_POINTS)
    for panel in drawing.panels if facts.bounds_all and not facts.circle_hidden else ():
        add_series(drawing, panel, panel.rows, "certified maximum of |a|", facts.radius * np.cos(turn),
                   facts.radius * np.sin(turn), marks="line", colour="certified")


# ---- Words ----

def _values(facts, count):
    one = "singular value" if facts.singular else "eigenvalue"
    return words.count(count, one, one + "s")


def _say_bounds(facts):
    """"the certified range [-12.01, 128.1]"; of several matrices how far theirs reach."""
    several = f"s of their {len(facts.ranges)} matrices, which reach" if len(set(facts.ranges)) > 1 else ""
    if facts.plane:
        radius = f"|z| = {words.upper(facts.radius, DIGITS)}"
        beyond = ", which is wider than the figure" if facts.circle_hidden else ""
        return f"the certified circle{f'{several} to' if several else ''} {radius}{beyond}"
    lo, hi = words.lower(facts.lo, DIGITS), words.upper(facts.hi, DIGITS)
    return f"the certified range{several} from {lo} to {hi}" if several else f"the certified range [{lo}, {hi}]"


def _say_within(facts):
    if facts.within == facts.bounded:
        text = "The " + _values(facts, 1)[2:] if facts.bounded == 1 else f"All {_values(facts, facts.bounded)}"
    else:
        text = f"{facts.within} of {_values(facts, facts.bounded)}"
        text += f" (the farthest {words.number(facts.beyond)} outside)" if facts.beyond > 0 else ""
    return f"{text} {'lies' if facts.bounded == 1 else 'lie'} in {_say_bounds(facts)}"


def _say_extent(facts):
    """Where the values reach, for want of a certified range."""
    text = _values(facts, facts.total)
    if not facts.plane and facts.least <= facts.greatest:
        text += f" from {words.number(facts.least)} to {words.number(facts.greatest)}"
    if facts.part:
        return text + "; the symbol is that of the Toeplitz part and bounds nothing here"
    return text + "; no certified range bounds them"


def _say_zeros(facts):
    if not facts.zeros and not facts.computed:
        return ""
    structure = f"; {facts.zeros} {'is' if facts.zeros == 1 else 'are'} 0 by structure" if facts.zeros else ""
    computed = (f"{', ' if facts.zeros else '; '}{facts.computed} {'more ' if facts.zeros else ''}"
                f"{'was' if facts.computed == 1 else 'were'} computed as 0")
    return structure + (computed if facts.computed else "")


def _say_distance(facts):
    """How near the symbol's quantiles are, and whether they have to be."""
    if facts.without_theorem:
        matrices = "this matrix" if len(facts.matrices) == 1 else (
            "these matrices" if facts.without_theorem == len(facts.matrices) else
            f"{facts.without_theorem} of these {len(facts.matrices)} matrices")
        values = "singular values" if facts.singular else "eigenvalues"
        return f" No limit theorem applies to {matrices}: the {values} need not come near the symbol's quantiles."
    if facts.left_out.heads:
        return ""
    if not np.isnan(facts.coarse):
        return (f" At n = {words.number(facts.coarse)} the symbol has too few samples to measure the distance from its "
                "quantiles.")
    if np.isnan(facts.distance):
        return ""
    below = "below " if facts.distance <= facts.blur else ""
    return (f" Mean distance from the symbol's quantiles: {below}{words.number(max(facts.distance, facts.blur))}.")


def _say_twins(facts):
    """Results that hold a matrix once more."""
    results = [words.clipped(result or "unnamed") for result in dict.fromkeys(facts.twins)]
    more = f" and {len(results) - NAMED} more" if len(results) > NAMED else ""
    return f" Not drawn again: the same values in {', '.join(results[:NAMED])}{more}." if results else ""


def _say_first(facts):
    text = _say_within(facts) if facts.bounded else _say_extent(facts)
    if 0 < facts.bounded < facts.total:
        text += f"; no certified range bounds {words.count(facts.total - facts.bounded, 'other', 'others')}"
    if facts.infinite:
        text += f"; {facts.infinite} {'is' if facts.infinite == 1 else 'are'} not finite"
    return text


def _say(drawing):
    facts = drawing.own
    text = _say_first(facts) + _say_zeros(facts) + "." + heads.say_left_out(facts.left_out)
    return text + ("" if facts.plane else _say_distance(facts))


def _reach(numbers):
    """"3", "3 to 5"."""
    least, most = min(numbers), max(numbers)
    return f"{least} to {most}" if most > least else f"{least}"


def _say_each_zeros(facts):
    """The zeros of a few matrices by name, or from the fewest to the most: a solver leaves 0 of what is not."""
    if len(facts.matrices) == 1 or not facts.zeros + facts.computed:
        return _say_zeros(facts)
    structure, found = [of.zeros for of in facts.matrices], [of.exact_zeros for of in facts.matrices]
    if len(found) > NAMED or len(set(found)) == 1:
        if not facts.computed:
            return f"; in each matrix {_reach(found)} values are 0 by structure"
        return f"; in each matrix {_reach(found)} values were computed as 0, {_reach(structure)} of them by structure"
    columns = [column for column in ("source", "head")
               if len({of.values.cell(column) for of in facts.matrices if of.values.has(column)}) > 1]
    parts = []
    for of, zeros in zip(facts.matrices, found):
        more = [words.key(of.values, columns), f"{of.zeros} by structure" if of.zeros else ""]
        more = ", ".join(filter(None, more))
        parts.append(f"{zeros} of {of.total}{f' ({more})' if more else ''}")
    return f"; computed as 0: {', '.join(parts)}"


def _say_ranks(drawing):
    facts = drawing.own
    text = _say_first(facts) + _say_each_zeros(facts) + "." + heads.say_left_out(facts.left_out) + _say_twins(facts)
    shown = sum(len(one.x) for one in drawing.series())
    above = "" if facts.beyond_rounding == shown else (
        f"; {facts.beyond_rounding} of them {'is' if facts.beyond_rounding == 1 else 'are'} larger than the rounding "
        "error")
    signs = ", by their absolute values" if facts.negative else ""
    return f"{text} The figure shows the {shown} others by rank{signs}{above}."


def _finding(drawing):
    """"rope:dim=64, rotary mean: of 128 eigenvalues 64 are 0 by structure, 20 more were computed as 0"; else what the
    caption says first."""
    facts = drawing.own
    before = drawing.title.rpartition(":")[0]
    if drawing.id.startswith("spectrum-ranks") and facts.zeros + facts.computed:
        return f"{before}: of {_values(facts, facts.total)} {_say_zeros(facts)[2:]}."
    said = _say_first(facts)
    return f"{before}: {said[0].lower() + said[1:]}."


# ---- Records ----

def _subject_of_family(rows):
    sources = list(dict.fromkeys(source or "unnamed" for source in rows.texts("source")))
    if len(sources) == 1 and len(set(rows.texts("result"))) == 1:
        return words.source(rows)
    kind = words.clipped(sources[0] if len(sources) == 1 else sources[0].partition(":")[0])
    shown = kind if len(sources) == 1 else f"{kind}, {len(sources)} encodings"
    return shown + (f", {words.clipped(rows.text('matrix'))}" if rows.text("matrix") else "")


def _keeps(shape, singular):
    def keeps(rows):
        return (shapes(rows) == shape) & (is_singular(rows) == singular)
    return keeps


def _ranks_key(rows):
    return list(zip(_family(rows), rows.texts("matrix").astype(str), rows.texts("values_of").astype(str)))


BY_MATRIX = dict(tables=(TABLE,), needs=("re", "im"), figure_by=("result", "source", "matrix"),
                 group_by=("result", "source"), panel_by=("layer",), series_by=("head", "n"), outliers=True,
                 subject=words.source, finding=_finding)
OVER_SHARE = dict(BY_MATRIX, prepare=_prepare_share, caption=_say)
BY_RANK = dict(BY_MATRIX, figure_key=_ranks_key, panel_by=(), prepare=_prepare_ranks, caption=_say_ranks,
               series_by=("result", "source", "layer", "head", "n"), subject=_subject_of_family,
               x=Axis("im", label="rank"), y=Axis("re", scale=LOG))
SHARES = Axis("im", label="share of the values below", lo=0, hi=1)

EIGENVALUES = Figure("spectrum-eigenvalues", **OVER_SHARE, keeps=_keeps(SHARE, False), x=SHARES,
                     undone="its values are not drawn", y=Axis("re"), title="eigenvalues")
COMPLEX = Figure("spectrum-plane", **BY_MATRIX, keeps=_keeps(PLANE, False), prepare=_prepare_plane, caption=_say,
                 marks=POINTS, x=Axis("re", label="real part"), y=Axis("im", label="imaginary part"),
                 title="eigenvalues")
RANKED_EIGENVALUES = Figure("spectrum-ranks", **BY_RANK, keeps=_keeps(RANKS, False), title="eigenvalues by rank")
SINGULAR = Figure("spectrum-singular", **OVER_SHARE, keeps=_keeps(SHARE, True), x=SHARES, y=Axis("re"),
                  title="singular values")
RANKED_SINGULAR = Figure("spectrum-ranks-singular", **BY_RANK, keeps=_keeps(RANKS, True),
                         title="singular values by rank")
EQUAL = Figure("spectrum-equal", **BY_MATRIX, keeps=lambda rows: shapes(rows) == FLAT, skips=lambda rows: True,
               skipped="all values are equal")


def _say_partial(matrix):
    return (f"{words.subject(matrix.values)}: {len(matrix.re)} values are listed and {matrix.zeros} are said to be 0, "
            f"which is not the matrix's order {words.exact(matrix.n)}: there are no quantiles.")


def _compose(section, tables):
    known = Known(*(Index(tables.rows(f"spectrum_{name}"), *MATRIX) for name in ("samples", "range", "summary")))

    def bound(prepare):
        return lambda drawing: prepare(drawing, known)
    figures = [replace(figure, prepare=bound(figure.prepare)) if figure.prepare else figure
               for figure in section.figures]
    yield from compose(figures, tables, section.most)
    yield from (Paragraph(_say_partial(matrix)) for matrix in known.partial)


SECTION = Section(
    "spectrum", "Eigenvalues over the symbol", (TABLE,),
    "Each dot is an eigenvalue. Its x is the share of eigenvalues below it. The line shows the symbol's quantiles, "
    "which large matrices follow where a limit theorem applies (see the table of ranges). Two violet rules are the "
    "certified ends. Orders n have a panel each. Where many eigenvalues are 0, or are computed as 0, the others are "
    "drawn by their rank. Complex eigenvalues are drawn in the complex plane. A `rotary mean` is the mean of RoPE's "
    "factors over its frequencies at each lag; a `position gram` is P P^T of the position vectors.",
    (EIGENVALUES, RANKED_EIGENVALUES, COMPLEX, SINGULAR, RANKED_SINGULAR, EQUAL), most=12, compose=_compose)
