"""Heads in one panel: what tells them apart, those that are multiples of another, and what is said of all."""
from dataclasses import dataclass, field
from typing import List

import numpy as np

from . import words
from .compose import FEW, mark_outliers, name_head, outliers
from .rows import same

#: Of the greatest value: above what eigenvalue solvers leave, below what a figure shows.
ROUNDING = 1e-9
CONVENTION = 24


def numbers(values):
    """"1, 3 to 5" of some whole numbers: runs of three or more by their ends."""
    values = sorted({int(value) for value in values})
    runs = np.split(values, np.flatnonzero(np.diff(values) != 1) + 1) if values else []
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def extent(values):
    """"0.2 to 0.5", "0.2" where all are equal as printed."""
    least, most = words.number(np.min(values)), words.number(np.max(values))
    return least if least == most else f"{least} to {most}"


# ---- Multiples of another head ----

@dataclass
class LeftOut:
    """Heads that are not drawn, as each is a number times one that is: ALiBi's, say."""
    heads: List[float] = field(default_factory=list)
    times: List[float] = field(default_factory=list)

    def sentence(self):
        """" Not drawn: heads 1 to 7, which are 0.0078 to 0.5 times the one drawn."; nothing where all are drawn."""
        if not self.times:
            return ""
        known = {head for head in self.heads if np.isfinite(head)}
        named = f"{'head' if len(known) == 1 else 'heads'} {numbers(known)}" if known else "a head without a number"
        verb = "is" if len(known) < 2 else "are"
        return f" Not drawn: {named}, which {verb} {extent(self.times)} times the one drawn."


def _multiple(one, of):
    """The number > 0 by which `of` is a multiple of `one`, up to rounding, over the same x, at the same order and
    convention; None: it is none."""
    if len(one.y) != len(of.y) or not len(one.y) or not np.isfinite(of.y).all() or not np.isfinite(one.y).all():
        return None
    if not all(same(one.rows, 0, of.rows, 0, column) for column in ("n", "convention")):
        return None
    most = np.argmax(np.abs(one.y))
    with np.errstate(over="ignore", invalid="ignore"):
        times = of.y[most] / one.y[most] if one.y[most] else 1.0
        near = ROUNDING * np.abs(of.y).max()
        alike = (of.x == one.x).all() and (np.abs(of.y - times * one.y) <= near).all()
    return float(times) if 0 < times < np.inf and alike else None


def drop_multiples(panel):
    """Takes the multiples of heads before them out of the panel. The answer is a LeftOut."""
    kept, left_out = [], LeftOut()
    for one in panel.series:
        times = (_multiple(other, one) for other in kept if not same(other.rows, 0, one.rows, 0, "head"))
        found = next((value for value in times if value is not None), None)
        if found is None:
            kept.append(one)
        else:
            left_out.heads.append(one.rows.number("head"))
            left_out.times.append(found)
    panel.series = kept
    return left_out


# ---- Names ----

def name_series(drawing, panel, alone):
    """Names the series by those of head, order and convention in which they differ, `alone` where they differ in
    none. More than a few heads are grey but for those that stand out."""
    if not panel.series:
        return
    first = panel.series[0].rows
    told = [column for column in ("head", "n", "convention")
            if not all(same(first, 0, one.rows, 0, column) for one in panel.series)]
    for one in panel.series:
        one.name = ", ".join(filter(None, (_told(one.rows, column) for column in told))) or alone
    if len(panel.series) > FEW and "head" in told:
        mark_outliers(drawing, panel)
        return
    for i, one in enumerate(panel.series):
        one.colour, one.entry, one.unlisted, one.stands_out = i, None, False, False


def _told(rows, column):
    if column == "convention":
        return words.clipped(rows.text(column), CONVENTION) if rows.text(column) else None
    value = rows.number(column)
    return None if np.isnan(value) else f"{'n = ' if column == 'n' else 'head '}{words.number(value)}"


# ---- Logarithmic axes ----

def drop_zeros(drawing):
    """Takes points with y = 0 out of every series: a logarithmic axis has no place for them. drawing.own: how many."""
    drawing.own = 0
    for one in drawing.series():
        zero = one.y == 0
        drawing.own += int(zero.sum())
        for name in ("x", "y", "lo", "hi"):
            values = getattr(one, name)
            if values is not None:
                setattr(one, name, values[~zero])
        if one.hover:
            one.hover = [text for text, gone in zip(one.hover, zero) if not gone]


def say_zeros(drawing):
    """" 3 values are exactly 0 and not drawn."; nothing where none is."""
    count = drawing.own
    return f" {words.count(count, 'value is', 'values are')} exactly 0 and not drawn." if count else ""


# ---- Sentences over layers and heads ----

def say_cells(drawing):
    """"0.08 to 0.88 (greatest in head 3.10) over 72 heads, mean 0.6; heads that stand out: 5.6"."""
    cells = drawing.cells
    value = cells.value.ravel()
    name = [name_head(layer, head) for layer in cells.row_keys for head in cells.column_keys]
    finite = value[np.isfinite(value)]
    if len(finite) == 1:
        return f"{words.number(finite[0])} in the one head"
    text = f"{extent(finite)} over {len(finite)} heads"
    if finite.min() < finite.max():
        text += f" (least in {name[np.nanargmin(value)]}, greatest in {name[np.nanargmax(value)]})"
    text += f", mean {words.number(mean(finite))}"
    with np.errstate(divide="ignore", invalid="ignore"):
        found = outliers(np.log10(value) if cells.log else value)
    return text + (f"; heads that stand out: {', '.join(name[i] for i in found)}" if found else "")


def mean(values):
    """The mean of finite numbers, whose sum may overflow."""
    return float(np.clip(np.sum(values / len(values)), np.min(values), np.max(values)))
