"""Values by lag, as `szego kernel` prints them: entries of encodings, and kernels of a checkpoint's heads beside chance."""
import numpy as np

from . import heads, words
from .compose import add_series
from .drawing import Series
from .lagmap import KINDS, SINGLE, key, name
from .record import LINE, Axis, Figure, Section

CHANCE = "chance: 95% of random signs"


def _scale_lags(drawing):
    drawing.x.label = "lag (positions)"
    if max((np.abs(one.x).max(initial=0) for one in drawing.series()), default=0) > SINGLE:
        drawing.x.kind, drawing.x.linear = "symlog", 1.0


# ---- Encodings ----

def _prepare_entries(drawing):
    panel = drawing.panels[0]
    drawing.own = heads.LeftOut()
    heads.leave_out_multiples(panel, drawing.own)
    heads.name_series(drawing, panel, "value", ("head",))
    for one in list(panel.series):
        spread, im = one.rows.numbers("spread"), one.rows.numbers("im")
        if np.isfinite(spread).any():
            one.lo, one.hi, one.area = one.y - spread, one.y + spread, True
        if np.isfinite(im).any():
            one.name = "real part" if len(panel.series) == 1 else one.name
            add_series(drawing, panel, one.rows, "imaginary part", one.x, im, colour=1)
    _scale_lags(drawing)


def _say_entries(drawing):
    """Where the values are greatest and least."""
    rows = drawing.rows
    lag, value = rows.numbers("lag"), rows.numbers("re")
    value = np.where(np.isfinite(value), value, np.nan)
    if not np.isfinite(value).any():
        return "No value is finite." + heads.say_left_out(drawing.own)
    most, least = int(np.nanargmax(value)), int(np.nanargmin(value))
    text = f"Values from {words.number(value[least])} (lag {words.number(lag[least])}) to {words.number(value[most])} " \
           f"(lag {words.number(lag[most])})."
    mirrored = "conjugate of the value" if np.isfinite(rows.numbers("im")).any() else "value"
    text += " Lags above 0 are those of earlier keys." if lag.min() < 0 else f" Lag \N{MINUS SIGN}k has the {mirrored} of lag k."
    if np.isfinite(rows.numbers("spread")).any():
        text += " The matrix is not Toeplitz: the line is the mean along a diagonal, and the area a standard deviation to either side."
    return text + heads.say_left_out(drawing.own)


ENTRIES = Figure("kernel", ("kernel_kernel",), only="re", needs=("lag", "re"), undone="the values are not drawn",
                 figure_by=("result", "source", "matrix", "n"), group_by=("result", "source"), series_by=("head",), outliers=True,
                 x=Axis("lag"), y=Axis("re"), subject=words.source, title="values by lag", prepare=_prepare_entries,
                 caption=_say_entries)


# ---- Heads of a checkpoint ----

def _prepare_heads(drawing):
    for panel in drawing.panels:
        (one,) = panel.series
        low, high, one.lo, one.hi = one.lo, one.hi, None, None
        panel.name, one.name, one.head, one.colour = name(one.rows), drawing.figure.title, key(one.rows), 0
        if np.isfinite(low).any():
            panel.series.insert(0, Series(one.rows, CHANCE, LINE, one.x, one.y * np.nan, low, high, area=True, colour="muted"))
    drawing.free_y = len(drawing.panels) > 1
    _scale_lags(drawing)


def _say_heads(drawing):
    both = drawing.rows.numbers("lag").min() < 0
    chance = any(one.is_band for one in drawing.series())
    return ("Expected logits by lag." + (" The grey band holds 95% of the kernels with random signs of W_K's columns." if chance else "")
            + (" Lags above 0 are those of earlier keys." if both else "")
            + (" Panels have scales of their own." if drawing.free_y else "")
            + " szego checkpoint adds the shares.")


HEADS = {kind: Figure(f"kernel-{kind}", ("kernel_kernel",), only=kind, known=(kind,), figure_by=("result", "source"),
                      panel_by=("layer", "head"), marks=LINE, x=Axis("lag"), y=Axis(kind, label="logit"), lo=f"{kind}_low",
                      hi=f"{kind}_high", area=True, subject=lambda rows: words.checkpoint(rows.text("source")) or "checkpoint",
                      title=KINDS[kind], prepare=_prepare_heads, caption=_say_heads) for kind in KINDS}

SECTION = Section(
    "kernel", "Kernels by lag", ("kernel_kernel",),
    "The lag is the position of the query less that of the key. An encoding has a value at each lag. A head of a checkpoint has "
    "two kernels: the mean kernel is the expected logit of two independent tokens, the self kernel that of a token and its own copy.",
    (ENTRIES, *HEADS.values()))
