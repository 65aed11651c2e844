"""What the softmax makes of logits: entropy, sinks and the largest logit, by layer and head."""
import numpy as np

from . import words
from .compose import caption_of_series, outlier_heads
from .heads import extent, mean, say_cells
from .record import CELLS, CHOSEN, MEANS, POINTS, Axis, Column, Figure, Section

#: Dumps of several steps are several files, of one source where they name it.
BY_MATRIX = dict(tables=("logits_statistics",), figure_by=("result", "source", "matrix"),
                 group_by=("result", "source", "matrix"), subject=words.model)


def _has_layer(rows):
    return np.isfinite(rows.numbers("layer")) & np.isfinite(rows.numbers("head"))


def _has_no_layer(rows):
    return ~_has_layer(rows)


def _is_short(rows):
    """One step is no course."""
    return len(rows.split("step")) < 2


# ---- What is seen ----

def _even_first_share(n, causal):
    """The mean weight of token 0, over queries 1 .. n - 1, of even weights."""
    if not 2 <= n <= 1e7:
        return np.nan
    return float(np.sum(1 / np.arange(2, int(n) + 1)) / (n - 1)) if causal else 1 / n


def _even(rows):
    """"; even weights would give it 0.27": over the lengths and masks of the rows, where these are given."""
    masks = rows.texts("mask")
    known = np.isfinite(rows.numbers("n")) & np.array([mask in ("causal", "none") for mask in masks], bool)
    if not len(rows) or not known.all():
        return ""
    lengths, place, counts = np.unique(np.stack([rows.numbers("n"), masks == "causal"]), axis=1, return_inverse=True,
                                       return_counts=True)
    shares = np.array([_even_first_share(n, causal) for n, causal in lengths.T])
    share = float(np.sum(shares * counts) / len(rows))
    return f"; even weights would give it {words.number(share)}" if np.isfinite(share) else ""


def _say_finding(drawing):
    rows = drawing.rows
    text = f"{words.model(rows)}: the entropy of the attention weights over its maximum is {say_cells(drawing)}."
    first = rows.known("first_share")
    if len(first):
        text += (f" The first token gets {words.number(mean(first.numbers('first_share')))} of the weight on average"
                 f"{_even(first)}.")
    return text


def _say_points(drawing):
    one = drawing.series()[0]
    y = one.y[np.isfinite(one.y)]
    return f"{words.model(drawing.rows)}: {one.name} {extent(y)}, mean {words.number(mean(y))}." if len(y) else []


def _say_caption(drawing):
    return caption_of_series(drawing)[:-1] + outlier_heads(drawing) + "."


# ---- Records ----

def _map(name, column, title, **more):
    return Figure(f"softmax-{name}", **BY_MATRIX, keeps=_has_layer, last="step", needs=(column,), marks=CELLS,
                  x=Axis("head"), y=Axis("layer"), value=column, title=f"{title}, mean over probes", **more)


def _course(name, column, title, y):
    return Figure(f"softmax-{name}", **BY_MATRIX, keeps=_has_layer, skips=_is_short, needs=(column, "step"),
                  panel_by=("layer",), series_by=("head",), outliers=True, by_last=True, values=MEANS, x=Axis("step"),
                  y=y, title=f"{title}", caption=_say_caption)


#: Files that name no layer.
HEADS = Figure("softmax-heads", **BY_MATRIX, keeps=_has_no_layer,
               columns=(Column("entropy_normalised", "entropy over its maximum"),
                        Column("first_share", "weight of the first token"),
                        Column("sink_share", "weight of the declared sinks"),
                        Column("learned_share", "weight of the learned sink")),
               marks=POINTS, x=Axis("head", otherwise="n"), y=Axis(label="share", lo=0, hi=1),
               title="entropy and sinks of the attention weights", finding=_say_points)

ENTROPY = "entropy of the attention weights over its maximum"
SECTION = Section(
    "softmax", "Softmax of the logits", ("logits_statistics",),
    "The entropy of a query's attention weights, divided by the logarithm of their number: 1 is a flat softmax, 0 one "
    "key that takes all. The weight of the first token is the mean over the queries after it. An entropy that "
    "collapses while the largest logit grows goes with unstable training (Zhai et al. 2023).",
    (_map("entropy", "entropy_normalised", ENTROPY, undone="entropies are not drawn", value_lo=0, value_hi=1,
          finding=_say_finding),
     _map("first", "first_share", "attention weight of the first token", value_lo=0, value_hi=1),
     _map("sinks", "sink_share", "attention weight of the declared sinks", value_lo=0, value_hi=1),
     _map("learned", "learned_share", "attention weight of the learned sink", value_lo=0, value_hi=1),
     _map("largest", "largest_logit", "largest logit", colours=CHOSEN),
     _course("entropy-course", "entropy_normalised", ENTROPY, Axis("entropy_normalised", lo=0, hi=1)),
     _course("largest-course", "largest_logit", "largest logit", Axis("largest_logit", scale=CHOSEN)), HEADS),
    most=16)
