"""How much of a rotary head stands at each frequency."""
import numpy as np

from . import words
from .compose import caption_of_series, outlier_heads
from .heads import extent
from .record import CELLS, LOG, Axis, Figure, Section

BY_FILE = dict(figure_by=("result", "source"), group_by=("result", "source"))


def _say_layers(drawing):
    return caption_of_series(drawing)[:-1] + outlier_heads(drawing) + "."


def _say_finding(drawing):
    """The pair with most energy in each layer, and its share beside that of an even spread."""
    cells = drawing.cells
    value = np.where(np.isfinite(cells.value), cells.value, 0)
    known = value[value.sum(axis=1) > 0]
    if not len(known):
        return []
    share = known / known.sum(axis=1, keepdims=True)
    pairs = cells.column_keys[np.argmax(share, axis=1)]
    most, counts = np.unique(pairs, return_counts=True)
    often = most[np.argmax(counts)]
    return (f"{words.model(drawing.rows)}: the rotary pair with most energy has {extent(share.max(axis=1))} of it, "
            f"layer by layer; an even spread over {words.count(share.shape[1], 'pair', 'pairs')} has "
            f"{words.number(1 / share.shape[1])}. Pair {words.number(often)} leads in {counts.max()} of "
            f"{words.count(len(pairs), 'layer', 'layers')}.")


MAP = Figure("rotary-map", ("checkpoint_frequencies",), needs=("theta", "energy"),
             undone="rotary energies are not drawn", **BY_FILE, marks=CELLS, x=Axis("pair"), y=Axis("layer"),
             value="energy", colours=LOG, subject=words.model, title="rotary energy, mean over heads",
             finding=_say_finding)
LAYERS = Figure("rotary-layers", ("checkpoint_frequencies",), needs=("theta", "energy"), **BY_FILE,
                panel_by=("layer",), series_by=("head",), outliers=True, x=Axis("theta", scale=LOG),
                y=Axis("energy", scale=LOG), subject=words.model, title="rotary energy by frequency",
                caption=_say_layers)

SECTION = Section(
    "rotary", "Rotary energy by frequency", ("checkpoint_frequencies",),
    "The energy of a rotary pair is the squared norm of its block of the coupling, rotation and reflection together.",
    (MAP, LAYERS))
