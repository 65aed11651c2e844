"""Fewer points than there are data, where a figure has fewer pixels."""
import numpy as np


def line(x, low, high, columns):
    """Indices of the points of a line that are drawn, ascending.

    Points are cut into runs: columns of equal width where x only rises or only falls, else stretches of equal length.
    Each run keeps its first and last point, its lowest `low` and highest `high`, and without an order in x its least
    and greatest x. Where points that are not finite stand between two kept ones, one of them is kept: the line breaks
    there. Up to 4 * columns points are all kept.
    """
    x, low, high = (np.asarray(a, float) for a in (x, low, high))
    finite = np.isfinite(x) & np.isfinite(low) & np.isfinite(high)
    points = np.flatnonzero(finite)
    if len(points) <= 4 * columns:
        return _with_breaks(points, finite)
    at = x[points]
    ordered = (np.diff(at) >= 0).all() or (np.diff(at) <= 0).all()
    if ordered:
        lo, hi = at.min() / 2, at.max() / 2
        run = ((at / 2 - lo) / (hi - lo) * columns if hi > lo else at * 0).astype(int).clip(0, columns - 1)
    else:
        run = np.arange(len(at)) * columns // len(at)
    starts = np.flatnonzero(np.r_[True, run[1:] != run[:-1]])
    ends = np.r_[starts[1:], len(run)] - 1
    kept = [starts, ends]
    for values in (low[points], -high[points]) + (() if ordered else (at, -at)):
        order = np.lexsort((values, np.repeat(np.arange(len(starts)), ends - starts + 1)))
        kept.append(order[starts])
    return _with_breaks(points[np.unique(np.concatenate(kept))], finite)


def _with_breaks(kept, finite):
    if len(kept) < 2:
        return kept
    gone = np.r_[0, np.cumsum(~finite)]
    broken = kept[:-1][gone[kept[1:]] > gone[kept[:-1] + 1]] + 1
    firsts = [i + int(np.argmin(finite[i:])) for i in broken]
    return np.unique(np.r_[kept, np.array(firsts, kept.dtype)])


def cloud(x, y, limit):
    """Indices of at most `limit` points, ascending: the first of each cell of a grid as fine as the limit allows, and
    the four extreme points."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    points = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(points) <= limit:
        return points
    ends = [points[of] for a in (x[points], y[points]) for of in (np.argmin(a), np.argmax(a))]
    side = 256
    while side >= 1:
        cells = _cell(x[points], side) * side + _cell(y[points], side)
        first = np.unique(cells, return_index=True)[1]
        kept = np.unique(np.r_[points[first], ends])
        if len(kept) <= limit:
            return kept
        side //= 2
    return np.unique(ends)


def _cell(values, cells):
    lo, hi = values.min() / 2, values.max() / 2
    return (((values / 2 - lo) / (hi - lo) if hi > lo else values * 0) * cells).astype(int).clip(0, cells - 1)
