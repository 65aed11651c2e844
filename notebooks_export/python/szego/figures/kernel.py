"""The mean kernel of each head of a checkpoint that rotates: a panel a layer, a line a head."""
import numpy as np

from . import words
from .compose import caption_of_series, outlier_heads
from .heads import extent
from .record import Axis, Figure, Section


def _say_caption(drawing):
    return caption_of_series(drawing)[:-1] + outlier_heads(drawing) + "."


def _peak_lag(one):
    """Where a kernel is greatest in size; NaN: it has no finite value."""
    size = np.where(np.isfinite(one.y) & np.isfinite(one.x), np.abs(one.y), -np.inf)
    return float(one.x[np.argmax(size)]) if len(size) and np.isfinite(size.max()) else np.nan


def _say_finding(drawing):
    """How far away each head looks most, for tokens of all directions alike."""
    peaks = [(_peak_lag(one), one.rows) for one in drawing.every()]
    peaks = [(lag, rows) for lag, rows in peaks if np.isfinite(lag)]
    if not peaks:
        return []
    lags = np.array([lag for lag, _ in peaks])
    text = f"{words.model(drawing.rows)}: the mean kernel is greatest in size at lag 0 in " \
           f"{int((lags == 0).sum())} of {words.count(len(lags), 'head', 'heads')}"
    if not (lags == 0).all():
        far, rows = max(peaks, key=lambda peak: abs(peak[0]))
        name = words.key(rows, ("layer", "head"))
        text += f", in the others at lags {extent(lags[lags != 0])}" if (lags != 0).sum() > 1 else ""
        text += f"; the farthest, lag {words.number(far)}, is that of {name}" if name else ""
    return text + "."


LINES = Figure("kernel-lines", ("checkpoint_kernel",), needs=("layer", "lag", "kernel"),
               undone="mean kernels are not drawn", figure_by=("result", "source"), group_by=("result", "source"),
               panel_by=("layer",), series_by=("head",), outliers=True, x=Axis("lag"), y=Axis("kernel"),
               subject=words.model, title="mean kernel by head", caption=_say_caption,
               finding=_say_finding)

SECTION = Section(
    "kernel", "Mean kernel over the lag", ("checkpoint_kernel",),
    "The mean logit of a token with its own copy at each lag, over tokens of all directions alike. It is the part of "
    "the logits that depends on the distance alone.", (LINES,))
