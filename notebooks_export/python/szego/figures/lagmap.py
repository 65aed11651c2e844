"""Heads' kernels over the lag: a map of all of them, and some in panels beside what chance gives.

A kernel is drawn less its mean over the lags, as the softmax does not see a constant, and in standard deviations of
independent tokens' logits: what moves a logit by 1 is as large as what tokens do.
"""
import functools
from dataclasses import dataclass, replace

import numpy as np

from . import words
from .compose import build, name_head
from .drawing import Cells, Drawing, Panel, Scale, Series
from .record import LINE

#: Heads of a map, and of panels, at most.
HEADS, PANELS = 72, 10
#: Columns of a map: every lag below this one, then so many a doubling.
SINGLE = 8
#: Of the cells' sizes, that at which colours end: a few heads do not make all others pale.
COLOURED = 0.98
UNIT = "kernel less its mean, in standard deviations of the tokens' logits"
KINDS = {"mean": "mean kernel", "self": "self kernel"}


@dataclass
class Kernel:
    """A head's kernel at ascending lags, and between which values 95% of the draws lie, in the unit above."""
    lag: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def beyond(self):
        """Where it is not what chance gives."""
        return (self.value < self.low) | (self.value > self.high)


# ---- Reading ----

@functools.lru_cache(maxsize=64)
def _weights(lags):
    """Those of theory.md, 1 / (1 + |k|), for listed lags: one that stands for its neighbours has theirs too."""
    lag = np.frombuffer(lags, np.int64)
    every = 1 / (1 + np.abs(np.arange(lag[0], lag[-1] + 1)))
    starts = np.r_[lag[0], (lag[:-1] + lag[1:] + 1) // 2] - lag[0]
    return np.add.reduceat(every, starts) / every.sum()


def mean_over_lags(lag, value):
    """The weighted mean of a kernel at ascending whole lags."""
    return float(_weights(np.asarray(lag, np.int64).tobytes()) @ value)


def read(rows, kind, noise):
    """The Kernel of one head's rows; None: no lag has finite numbers, or independent tokens' logits do not vary."""
    columns = [rows.numbers(column) for column in ("lag", kind, f"{kind}_low", f"{kind}_high")]
    lag, value, low, high = columns
    kept = np.flatnonzero(np.isfinite(lag) & np.isfinite(value))
    if not len(kept) or not noise > 0:
        return None
    kept = kept[np.argsort(lag[kept], kind="stable")]
    mean = mean_over_lags(lag[kept], value[kept])
    return Kernel(lag[kept], *((part[kept] - mean) / noise for part in (value, low, high)))


def name(head):
    """"layer 4 head 3" of a row of heads; "head 3" where it has no layer."""
    places = [f"{column} {words.number(head.number(column))}" for column in ("layer", "head") if np.isfinite(head.number(column))]
    return " ".join(places) or "the only head"


def key(head):
    return name_head(head.number("layer"), head.number("head"))


# ---- The map ----

def columns(first, last):
    """The first lag of each column, ascending, and the lag behind the last column."""
    starts, doubling = list(range(SINGLE)), 0
    while starts[-1] <= max(-first, last):
        starts += [(SINGLE + i) << doubling for i in range(SINGLE)]
        doubling += 1
    negative = [max(first, 1 - after) for start, after in zip(starts[1:], starts[2:]) if start <= -first]
    return np.array(negative[::-1] + [start for start in starts if first <= start <= last]), last + 1


def _nice(value):
    """The least of 1, 2, 5 and their multiples by powers of ten that is not below the value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-12)))


def _fill(kernels, starts, end):
    """(values, grey) [heads, columns]: the mean over each column's lags, and where every lag is within chance."""
    value, grey = np.full((len(kernels), len(starts)), np.nan), np.zeros((len(kernels), len(starts)), bool)
    for row, kernel in enumerate(kernels):
        at = np.searchsorted(starts, kernel.lag, "right") - 1
        known = (at >= 0) & (kernel.lag < end)
        counts = np.bincount(at[known], minlength=len(starts))
        filled = counts > 0
        value[row, filled] = np.bincount(at[known], kernel.value[known], len(starts))[filled] / counts[filled]
        grey[row] = filled & (np.bincount(at[known], kernel.beyond[known], len(starts)) == 0)
    return value, grey


def _lags(first, last):
    return f"lag {words.number(first)}" if first == last else f"lags {words.number(first)} to {words.number(last)}"


def _areas(heads, kernels, kind, starts, end):
    """What a pointer is told: of each head, an area for every doubling of the lag."""
    doubling = np.sign(starts) * np.floor(np.log2(np.maximum(np.abs(starts), 0.5)) + 1)
    firsts = np.flatnonzero(np.r_[True, np.diff(doubling) != 0])
    lasts = np.r_[firsts[1:], len(starts)] - 1
    made = []
    for row, (head, kernel) in enumerate(zip(heads, kernels)):
        share = f"{name(head)}, {KINDS[kind]}: share {two(head.number(f'{kind}_share'))}, by chance up to " \
                f"{two(head.number(f'{kind}_null'))}"
        for first, last in zip(firsts, lasts):
            after = starts[last + 1] if last + 1 < len(starts) else end
            mine = (kernel.lag >= starts[first]) & (kernel.lag < after)
            if mine.any():
                text = f"{share}\n{_lags(starts[first], after - 1)}: {extent(kernel.value[mine])}"
                made.append((row, int(first), int(last), text if kernel.beyond[mine].any() else f"{text}, within chance"))
    return made


def two(value):
    """Two significant digits."""
    return words.number(float(f"{value:.2g}"))


def extent(values):
    least, most = two(np.min(values)), two(np.max(values))
    return least if least == most else f"{least} to {most}"


def _ticks(starts, end):
    """Columns of 0 and of powers of 4, the largest first, with room for their numbers."""
    reach = max(end - 1, -starts[0])
    sizes = [4**power for power in range(int(np.log(max(reach, 1)) / np.log(4) + 1e-9), -1, -1)]
    kept, room = [], max(len(starts) / 10, 1)
    for lag in [0] + [sign * size for size in sizes for sign in (1, -1)]:
        if starts[0] <= lag < end:
            at = int(np.searchsorted(starts, lag, "right")) - 1
            if all(abs(at - other) >= room for other, _ in kept):
                kept.append((at, words.number(lag)))
    return dict(kept)


def draw_map(figure, heads, kernels, kind, title):
    """The Drawing of a map: rows of heads, in order, beside their kernels."""
    first, last = min(one.lag[0] for one in kernels), max(one.lag[-1] for one in kernels)
    starts, end = columns(int(first), int(last))
    value, grey = _fill(kernels, starts, end)
    coloured = np.abs(value[np.isfinite(value) & ~grey])
    reach = float(np.quantile(coloured, COLOURED)) if len(coloured) else 0.0
    reach = _nice(reach) if reach > 0 else 1.0
    ends = np.r_[starts[1:], end] - 1
    cells = Cells(np.arange(len(kernels)), starts, value, UNIT, [name(head) for head in heads],
                  [_lags(*pair) for pair in zip(starts, ends)], lo=-reach, hi=reach, two_hues=True, grey=grey,
                  heads=np.array([[key(head)] * len(starts) for head in heads], object),
                  areas=_areas(heads, kernels, kind, starts, end))
    rows = heads[0]
    drawing = Drawing(figure, rows, title, Scale("lag (positions)", names=cells.column_names, ticks=_ticks(starts, end)),
                      Scale("layer.head, the largest share first", names=[key(head) for head in heads]),
                      [Panel(rows, cells=cells)], height=1.0 + max(0.08, min(0.2, 4.6 / len(heads))) * len(heads))
    return drawing


# ---- Panels ----

def in_noise(kind):
    """A kernel of weights in the map's unit: (head, series) -> the band of chance."""
    def change(head, one):
        order = np.argsort(one.x, kind="stable")
        known = order[np.isfinite(one.x[order]) & np.isfinite(one.y[order])]
        mean, noise = mean_over_lags(one.x[known], one.y[known]), head.number(f"{kind}_noise")
        one.y, low, high = ((part - mean) / noise for part in (one.y, one.lo, one.hi))
        one.lo = one.hi = None
        return low, high
    return change


def _prepare_panels(heads, kind, line, chance, change, drawing):
    for head, panel in zip(heads, drawing.panels):
        (one,) = panel.series
        low, high = change(head, one)
        panel.name = f"{name(head)}: {two(head.number(f'{kind}_share'))}"
        one.name, one.head, one.colour = line, key(head), 0
        if np.isfinite(low).any():
            panel.series.insert(0, Series(one.rows, chance, LINE, one.x, one.y * np.nan, low, high, area=True, colour="muted"))
    drawing.x.label = "lag (positions)"
    if max(np.abs(one.x).max(initial=0) for one in drawing.series()) > SINGLE:
        drawing.x.kind, drawing.x.linear = "symlog", 1.0


def draw_panels(figure, heads, rows, kind, line, chance, change):
    """The Drawing of heads, in order; rows: of each, its rows of the table of kernels. line, chance: what the kernel and
    its band are called. change: (head, series) -> low and high ends of the band; it may change the series."""
    every = rows[0].every().pick(np.concatenate([one.index for one in rows]))
    return build(replace(figure, prepare=functools.partial(_prepare_panels, heads, kind, line, chance, change)), every)
