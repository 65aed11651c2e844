"""Heads in one panel: what tells them apart, those that are multiples of another, and what is said of all."""
from dataclasses import dataclass, field

import numpy as np

from . import words
from .compose import FEW, cell_place, mark_outliers, outliers, say_outliers
from .rows import same

#: Of the greatest value: above what eigenvalue solvers leave, below what a figure shows.
ROUNDING = 1e-9
NAMED = 12


@dataclass
class LeftOut:
    """Heads that are not drawn, as each is a number times one that is: ALiBi's, say."""
    heads: list = field(default_factory=list)
    times: list = field(default_factory=list)
    drawn: list = field(default_factory=list)


def _greatest(values):
    """The value of the greatest size; NaN: there is none."""
    sizes = np.where(np.isnan(values), -1, np.abs(values))
    return values[np.argmax(sizes)] if len(values) else np.nan


def _factor(head, one):
    """What times y of `head` is y of `one`, up to rounding, over the same x at the same order; None: nothing is."""
    if len(head.x) != len(one.x) or not len(one.x) or not all(same(head.rows, 0, one.rows, 0, column)
                                                              for column in ("n", "convention")):
        return None
    most, own = _greatest(head.y), _greatest(one.y)
    with np.errstate(all="ignore"):
        times = own / most if most != 0 else 1.0
        if not times > 0 or np.isinf(times) or (head.x != one.x).any():
            return None
        near = ROUNDING * abs(own)
        few = slice(None, None, max(1, len(one.y) // 8))  # most heads differ there already
        alike = all((np.abs(one.y[part] - times * head.y[part]) <= near).all() for part in (few, slice(None)))
    return times if alike else None


def leave_out_multiples(panel, left_out):
    """Takes the series out of the panel that are multiples of another head's before them."""
    kept = []
    for one in panel.series:
        for head in kept:
            times = None if same(head.rows, 0, one.rows, 0, "head") else _factor(head, one)
            if times is not None:
                left_out.heads.append(one.rows.number("head"))
                left_out.times.append(times)
                left_out.drawn.append(head.rows.number("head"))
                break
        else:
            kept.append(one)
    panel.series = kept


def name_series(drawing, panel, alone, columns=("head", "n", "convention")):
    """Names the series by those of the columns in which they differ, `alone` where they differ in none. A few, and
    those of one head, have colours of their own; of more heads those that stand out."""
    if not panel.series:
        return
    first = panel.series[0].rows
    several = [column for column in columns
               if any(not same(first, 0, one.rows, 0, column) for one in panel.series[1:])]
    for i, one in enumerate(panel.series):
        one.name = words.key(one.rows, several) or alone
        one.colour, one.unlisted, one.entry, one.stands_out = i, False, None, False
    if "head" in several and len(panel.series) > FEW:
        mark_outliers(drawing, panel)


def say_left_out(of):
    """" Not drawn: heads 1 to 7, which are 0.0078 to 0.5 times head 0." or nothing."""
    if not of.heads:
        return ""
    heads, drawn = sorted(set(of.heads)), sorted(set(of.drawn))
    several = len(of.heads) > 1
    times = extent(of.times)
    of_what = f"head {words.number(drawn[0])}" if len(drawn) == 1 else "a head that is drawn"
    if times == "1":
        same_as = f"which {'have' if several else 'has'} the values of {of_what}."
        return f" Not drawn: {'heads' if several else 'head'} {_say_heads(heads)}, {same_as}"
    return (f" Not drawn: {'heads' if several else 'head'} {_say_heads(heads)}, which {'are' if several else 'is'} "
            f"{times} times {of_what}.")


def _say_heads(heads):
    """"3", "1 to 7", "1, 3, 5"."""
    if len(heads) > 2 and heads[-1] - heads[0] == len(heads) - 1:
        return f"{words.number(heads[0])} to {words.number(heads[-1])}"
    more = f" and {len(heads) - NAMED} more" if len(heads) > NAMED else ""
    return ", ".join(map(words.number, heads[:NAMED])) + more


# ---- Sentences over layers and heads ----

def extent(values):
    """"0.2 to 0.5", "0.2" where all are equal as printed."""
    least, most = words.number(np.min(values)), words.number(np.max(values))
    return least if least == most else f"{least} to {most}"


def _lost_cells(drawing):
    """How many cells have values, none of which is finite."""
    cells, figure, rows = drawing.cells, drawing.figure, drawing.rows
    rows = rows.pick(rows.is_infinite(figure.value))
    at = np.searchsorted(cells.row_keys, rows.numbers(figure.y.column)), np.searchsorted(
        cells.column_keys, rows.numbers(figure.x.column))
    known = (at[0] < cells.value.shape[0]) & (at[1] < cells.value.shape[1])
    at = np.unique(np.stack(at)[:, known], axis=1)
    return int(np.isnan(cells.value[at[0], at[1]]).sum())


def say_cells(drawing):
    """"0.08 to 0.88 over 72 heads (smallest in layer 5, head 6; largest in layer 3, head 10), mean 0.6; a head
    that stands out: layer 5 head 6"; "over 71 of 72 heads" where one is not finite."""
    cells = drawing.cells
    value = cells.value.ravel()
    places = [(layer, head) for layer in cells.row_keys for head in cells.column_keys]
    finite, lost = value[np.isfinite(value)], _lost_cells(drawing)
    if len(finite) == 1:
        return f"{words.number(finite[0])} in the one head" + (" with a finite value" if lost else "")
    text = f"{extent(finite)} over {len(finite)}{f' of {len(finite) + lost}' if lost else ''} heads"
    if finite.min() < finite.max():
        text += f" (smallest in {cell_place(drawing, np.nanargmin(value))}; "
        text += f"largest in {cell_place(drawing, np.nanargmax(value))})"
    text += f", mean {words.number(mean(finite))}"
    with np.errstate(divide="ignore", invalid="ignore"):
        found = outliers(np.log10(value) if cells.log else value)
    return text + say_outliers(places[i] for i in found)


def mean(values):
    """The mean of finite numbers, whose sum may overflow."""
    return float(np.clip(np.sum(values / len(values)), np.min(values), np.max(values)))
