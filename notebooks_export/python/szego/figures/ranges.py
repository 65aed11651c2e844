"""The range of every encoding's eigenvalues, beside the certified range of its symbol."""
from dataclasses import dataclass, replace

import numpy as np

from . import bounds, words
from .bounds import say_certified
from .compose import add_series, chosen_scale, compose
from .drawing import Finding, Grid
from .record import RANGES, Axis, Figure, Section

TABLE = "spectrum_summary"
MOST, NAMED, NAME = 40, 12, 48
#: A range so many times as small as the greatest is not seen on a linear axis.
UNSEEN = 100


@dataclass
class Range:
    """The heads of one matrix at one order. lo, hi: over the heads, NaN: no values; certified_lo, certified_hi: NaN: no
    range bounds them all; singular: of singular values, where some head's eigenvalues are complex or not computed;
    bounded, within: heads that have a certified range, and whose values lie in it; computed: those with
    finite values."""
    rows: object
    lo: float
    hi: float
    singular: bool
    certified_lo: float
    certified_hi: float
    bounded: int
    within: int
    computed: int
    name: str = ""

    @property
    def n(self):
        return self.rows.number("n")

    @property
    def label(self):
        heads = len(self.rows)
        return self.name + (f", {heads} heads" if heads > 1 else "")

    @property
    def extent(self):
        """"-2 to 5", and of how many heads where some have no finite values."""
        some = "" if self.computed == len(self.rows) else f" ({self.computed} of {len(self.rows)} heads)"
        return f"{self.least} to {words.number(self.hi)}{some}"

    @property
    def least(self):
        """Its lower end. An eigenvalue that is 0 to rounding may be known to be positive."""
        if self.lo == 0 and not self.singular and (self.rows.numbers("lambda_min_lo") > 0).all():
            return "a positive number below rounding"
        return words.number(self.lo)

    @property
    def is_bounded(self):
        """Every head is."""
        return self.bounded == len(self.rows)

    @property
    def is_flat(self):
        return not self.lo < self.hi

    @property
    def kind(self):
        return "singular values" if self.singular else "eigenvalues"


def read_range(rows):
    """The range of the heads of a matrix."""
    complex_ = bounds.Stated(rows, False).is_modulus | np.isnan(rows.numbers("lambda_max"))
    singular = bool(complex_.any())
    stated = bounds.Stated(rows, singular)
    lo, hi = (rows.numbers(f"{'sigma' if singular else 'lambda'}_{end}") for end in ("min", "max"))
    known = (lo <= hi) & np.isfinite(lo) & np.isfinite(hi)
    bounded = known & ~np.isnan(stated.hi)
    within = bounded & (stated.lo <= lo) & (hi <= stated.hi)
    ends = [np.nan] * 4
    if known.any():
        ends[:2] = lo[known].min(), hi[known].max()
    if bounded.all():
        ends[2:] = stated.lo.min(), stated.hi.max()
    return Range(rows, ends[0], ends[1], singular, ends[2], ends[3], int(bounded.sum()), int(within.sum()),
                 int(known.sum()))


def _widest(ranges):
    return max((one for one in ranges if one.is_bounded), key=lambda one: one.hi - one.lo, default=None)


def _name(ranges):
    """By the source, and by what tells a range from others of the same source."""
    by_source = {}
    for one in ranges:
        by_source.setdefault(one.rows.text("source"), []).append(one)
    sources = dict(zip(by_source, words.apart([source or "unnamed" for source in by_source], NAME)))
    for source, alike in by_source.items():
        several = [column for column in ("matrix", "layer", "n", "result")
                   if len({one.rows.cell(column) for one in alike if one.rows.has(column)}) > 1]
        if "result" in several and len(several) > 1 and len({tuple(one.rows.cell(c) for c in several[:-1])
                                                             for one in alike}) == len(alike):
            several.remove("result")
        for one in alike:
            one.name = ", ".join([sources[source]] + [_say(one.rows, column) for column in several
                                                      if one.rows.cell(column) is not None])


def _say(rows, column):
    cell = rows.cell(column)
    if isinstance(cell, str):
        return ("in " if column == "result" else "") + words.clipped(cell)
    return f"n = {words.number(cell)}" if column == "n" else f"{column} {words.number(cell)}"


def read(rows):
    """Every range of a summary, named."""
    ranges = [read_range(group) for group in rows.split("result", "source", "layer", "matrix", "n")]
    _name(ranges)
    return ranges


def choose(ranges):
    """Those that are drawn, in their order: what the findings speak of, the first of each source before any second,
    and last those without an extent."""
    widest, seen, ranks = _widest(ranges), set(), []
    for one in ranges:
        source = one.rows.text("source")
        outside = one.is_bounded and one.within < one.bounded
        ranks.append(0 if one is widest else 1 if outside else 4 if one.is_flat else 3 if source in seen else 2)
        seen.add(source)
    drawable = [i for i, one in enumerate(ranges) if not np.isnan(one.hi)]
    return [ranges[i] for i in sorted(sorted(drawable, key=lambda i: (ranks[i], i))[:MOST])]


# ---- The figure ----

def _say_held(ranges):
    """Of those that are certified, how many hold; others are not counted as if they did."""
    bounded = [one for one in ranges if one.is_bounded]
    within, every = sum(one.within == one.bounded for one in bounded), len(bounded) == len(ranges)
    if len(bounded) == 1:
        return f"The one certified range {'holds' if within else 'does not hold'} its spectrum"
    if within == len(bounded):
        return f"All {within} spectra lie in their certified ranges" if every else (
            f"All {within} spectra that have a certified range lie in it")
    return f"{within} of the {len(bounded)} spectra {'' if every else 'that have a certified range '}lie in " + (
        "their certified ranges" if every else "it")


def _hover(one):
    text = f"{one.label}\n{one.kind} {one.extent}"
    if not np.isnan(one.certified_hi):
        text += f"\ncertified {say_certified(one.certified_lo, one.certified_hi)}"
    return text


def _prepare(drawing, ranges):
    shown = choose(ranges)
    drawing.own = shown
    panel = drawing.panels[0]
    panel.series = []
    drawing.y.names = [one.label for one in shown]
    kinds = {one.kind for one in shown}
    drawing.title = "ranges of " + " and ".join(sorted(kinds))
    drawing.x.label = " or ".join(sorted(kind[:-1] for kind in kinds))
    for certified in (False, True):
        lo, hi = (np.array([getattr(one, f"certified_{end}" if certified else end) for one in shown], float)
                  for end in ("lo", "hi"))
        known = ~np.isnan(hi)
        if known.any():
            add_series(drawing, panel, drawing.rows,
                       "certified range of the symbol" if certified else "computed values", (lo + hi)[known] / 2,
                       np.flatnonzero(known), lo=lo[known], hi=hi[known], colour="certified" if certified else 0,
                       hover=[_hover(one) for one, k in zip(shown, known) if k])
    _choose_scale(drawing, shown)


def _choose_scale(drawing, shown):
    """Linear near 0 only where no range ends, so that small ones are seen beside large ones; of at most 9 decades."""
    sizes = np.array([max(abs(one.lo), abs(one.hi)) for one in shown if not one.is_flat])
    ends = np.array([end for one in shown for end in (one.lo, one.hi, one.certified_lo, one.certified_hi)])
    drawing.x.kind, drawing.x.linear = chosen_scale(ends)
    if drawing.x.kind == "linear" and len(sizes) and sizes.min() < sizes.max() / UNSEEN:
        drawing.x.kind = "symlog"
    if drawing.x.kind == "symlog" and len(sizes):
        drawing.x.linear = max(10.0 ** np.floor(np.log10(sizes.min())), 1e-9 * sizes.max())
        drawing.x.label += f" (logarithmic beyond ±{words.number(drawing.x.linear)})"


def _say_names(ranges):
    names = [one.label for one in ranges]
    more = f"; and {len(names) - NAMED} more, which are in the table" if len(names) > NAMED else ""
    return "; ".join(names[:NAMED]) + more


def _say_caption(drawing, ranges):
    text = f"{_say_held(ranges)}." if any(one.is_bounded for one in ranges) else (
        "No certified range bounds these spectra.")
    missing = [one for one in ranges if np.isnan(one.hi)]
    left_out = [one for one in ranges if not np.isnan(one.hi) and not any(one is of for of in drawing.own)]
    if left_out:
        text += f" Not drawn, but in the table: {_say_names(left_out)}."
    if missing:
        text += f" Not computed: {_say_names(missing)}."
    return text


# ---- Findings ----

def _say_range(one):
    return f"{one.label}: {one.kind} {one.extent}"


def _say_theorems(ranges):
    """"A limit theorem applies to none of the 10 encodings; 8 have a certified range." """
    named = [_theorem(one.rows) for one in ranges]
    if len(ranges) < 2 or not all(one.rows.has("theorem") for one in ranges):
        return []
    under, bounded = sum(name != "none" for name in named), sum(one.is_bounded for one in ranges)
    text = f"A limit theorem applies to {under or 'none'} of the {len(ranges)} spectra"
    every = "all" if bounded == len(ranges) else bounded or "none"
    return [f"{text}; {every} {'has' if bounded == 1 else 'have'} a certified range."]


def _say_findings(ranges):
    """What is certified, whether it holds, and the first range of rotary encodings, which the paper is about."""
    bounded = [one for one in ranges if one.is_bounded]
    widest, theorems = _widest(ranges), _say_theorems(ranges)
    if not widest:
        return theorems
    if len(bounded) == 1:
        held = "holds" if bounded[0].within == bounded[0].bounded else "does not hold"
        text = f"The certified range {held} the spectrum of {_say_range(widest)}."
    else:
        text = f"{_say_held(ranges)}. The widest of them is that of {_say_range(widest)}."
    rope = next((one for one in ranges if (one.rows.text("source") or "").startswith("rope")
                 and one.within == len(one.rows)), None)
    more = [] if rope is None or rope is widest else [
        f"{_say_range(rope)}, certified within {say_certified(rope.certified_lo, rope.certified_hi)}."]
    return theorems + [text] + more


# ---- The table ----

def _pair(lo, hi):
    return f"{words.exact(lo)} to {words.exact(hi)}"


def _certified_cell(one):
    if not np.isnan(one.certified_hi):
        return say_certified(one.certified_lo, one.certified_hi), _pair(one.certified_lo, one.certified_hi)
    if one.bounded:
        return f"{one.bounded} of {len(one.rows)} heads only"
    return "none"


def _range_cell(one):
    if np.isnan(one.hi):
        return "not computed"
    before = "singular values " if one.singular else ""
    return before + one.extent, before + _pair(one.lo, one.hi)


def _theorem(rows):
    """One that covers every head."""
    found = {bounds.theorem(rows, i) for i in range(len(rows))}
    return found.pop() or "none" if len(found) == 1 else "none"


def grid(rows, ranges):
    """The table of every range, also of those that are not drawn."""
    cells = [[one.name, str(len(one.rows)), words.exact(one.n) if np.isfinite(one.n) else "", _range_cell(one),
              _certified_cell(one), _theorem(one.rows)] for one in ranges]
    return Grid(("encoding or file", "heads", "order n", "range", "certified range", "limit theorem"), cells,
                (False, True, True, True, True, False), sources=[rows])


# ---- The section ----

RANGES_OF_ALL = Figure("ranges", (TABLE,), needs=("lambda_min", "lambda_max"),
                       undone="the ends of the spectra are not drawn", marks=RANGES,
                       x=Axis(label="eigenvalue or singular value"), y=Axis("source"),
                       lo="lambda_min", hi="lambda_max", title="ranges of eigenvalues")


def _compose(section, tables):
    rows = tables.rows(TABLE)
    ranges = read(rows)
    figure = replace(RANGES_OF_ALL, prepare=lambda drawing: _prepare(drawing, ranges),
                     caption=lambda drawing: _say_caption(drawing, ranges),
                     finding=lambda drawing: _say_findings(ranges)[:1])
    blocks = compose((figure,), tables, section.most)
    yield from blocks
    if len(blocks) and hasattr(blocks[0], "panels"):
        yield from (Finding(text) for text in _say_findings(ranges)[1:])
    yield grid(rows, ranges)


SECTION = Section(
    "ranges", "Ranges of all encodings", (TABLE,),
    "Each row is one encoding: the range of its eigenvalues over all heads, beside the range that the symbol certifies "
    "for them. Where eigenvalues are complex the row shows singular values, and their certified range reaches from 0 "
    "to the maximum of |a|.", (RANGES_OF_ALL,), compose=_compose)
