"""Heads of a checkpoint: heat maps, and their singular values layer by layer. Tensors without a layer, of
architectures that are not known, are points."""
import numpy as np

from . import words
from .compose import caption_of_series, extreme, outlier_heads
from .heads import extent, mean, say_cells
from .record import CELLS, CHOSEN, LOG, POINTS, RANKED, ROWS, Axis, Figure, Section

BY_MATRIX = ("result", "source", "matrix")
BY_FILE = ("result", "source")


def _has_layer(rows):
    return np.isfinite(rows.numbers("layer"))


def _has_no_layer(rows):
    return ~_has_layer(rows)


def _file(rows):
    return words.file(rows.text("source"))


# ---- What is seen ----

def _say_toeplitzness(drawing):
    """Of n^2 independent entries of one size, means along the 2n - 1 diagonals hold (2n - 1) / n^2 of the norm."""
    orders = drawing.rows.distinct("n")
    text = words.capital(say_cells(drawing))
    if len(orders):
        text += f". A matrix with independent entries has {extent((2 * orders - 1) / orders**2)}"
    return text + ". It does not say how large the logits are: a head whose logits are all near 0 may have the largest."


def _finding_of(what):
    return lambda drawing: f"{words.model(drawing.rows)}: {what} {say_cells(drawing)}."


def _say_spectra(drawing):
    return caption_of_series(drawing)[:-1] + outlier_heads(drawing) + "."


def _say_tensor_spectra(drawing):
    named = [words.clipped(one.name) for one in drawing.series() if one.stands_out]
    more = f"; tensors that stand out: {', '.join(named)}" if named else ""
    return caption_of_series(drawing)[:-1] + more + "."


def _greatest(drawing):
    """"model.embed with 3.5": the tensor with the greatest value."""
    one = extreme(drawing)
    at = int(np.flatnonzero(one.y == one.peak())[0])
    return f"{words.clipped(one.rows.text('matrix', at))} with {words.number(one.y[at])}"


def _say_greatest(drawing):
    return f"Greatest: {_greatest(drawing)}."


def _tensors_finding(what):
    def say(drawing):
        values = np.concatenate([one.y[np.isfinite(one.y)] for one in drawing.series()])
        lost = int(drawing.rows.is_infinite(drawing.figure.y.column).sum())
        every = f"{len(values)} of {len(values) + lost}" if lost else f"{len(values)}"
        return (f"{_file(drawing.rows)}: {what} {extent(values)} over {every} tensor{'' if every == '1' else 's'}"
                f", mean {words.number(mean(values))}; the greatest is that of {_greatest(drawing)}.")
    return say


# ---- Records ----

def _map(name, column, title, **more):
    more.setdefault("finding", _finding_of(title))
    return Figure(f"toeplitzness-{name}", ("checkpoint_summary",), only="layer", needs=("layer", "head", column),
                  keeps=_has_layer, figure_by=BY_MATRIX, group_by=BY_MATRIX, marks=CELLS, x=Axis("head"),
                  y=Axis("layer"), value=column, subject=words.model, title=title, **more)


def _points(name, column, title):
    return Figure(f"toeplitzness-{name}", ("checkpoint_summary",), needs=(column,), keeps=_has_no_layer,
                  figure_by=BY_FILE, group_by=BY_FILE, marks=POINTS, x=Axis(label="tensor, in the order of the rows"),
                  y=Axis(column, scale=LOG), hover=("matrix", column), subject=_file,
                  title=f"{title} of each tensor", caption=_say_greatest,
                  finding=_tensors_finding(title))


RANKS = dict(tables=("checkpoint_spectra",), needs=("re",), where=("kind", "singular"), outliers=True, values=RANKED,
             x=Axis(label="rank, largest first"), y=Axis("re", label="singular value", scale=LOG))
SPECTRA = Figure("toeplitzness-spectra", **RANKS, undone="the singular values are not drawn", keeps=_has_layer,
                 figure_by=BY_MATRIX, group_by=BY_MATRIX, panel_by=("layer",), series_by=("head",),
                 heading="Singular values", subject=words.model, title="singular values by head",
                 caption=_say_spectra)
#: One figure for all tensors: a figure each would leave most out.
TENSOR_SPECTRA = Figure("toeplitzness-tensor-spectra", **RANKS, keeps=_has_no_layer, figure_by=BY_FILE,
                        group_by=BY_FILE, series_by=("matrix",), subject=_file, title="singular values of each tensor",
                        caption=_say_tensor_spectra)
TENSORS = Figure("toeplitzness-tensors", ("checkpoint_summary",), keeps=_has_no_layer, figure_by=BY_FILE, marks=ROWS,
                 shown=("matrix", "rows", "columns", "n", "rank", "sigma_max", "condition", "stable_rank",
                        "effective_rank", "note"))
NOTES = Figure("toeplitzness-notes", ("checkpoint_notes",), figure_by=BY_FILE, marks=ROWS, heading="Notes",
               shown=("layer", "head", "matrix", "note"))

SECTION = Section(
    "toeplitzness", "Heads of a checkpoint", ("checkpoint_summary", "checkpoint_spectra", "checkpoint_notes"),
    "Toeplitzness is the share of the squared Frobenius norm that remains when each diagonal is replaced by its mean. "
    "It is 1 if the matrix is Toeplitz. Stable rank is the squared Frobenius norm over the squared spectral norm; "
    "effective rank is the exponential of the singular values' entropy. The matrix `qk` of a head is W_Q^T W_K, its "
    "weights of queries and keys; the matrix `position` has the logits that positions alone give.",
    (_map("map", "toeplitzness", "toeplitzness", undone="no heat maps are drawn", value_lo=0, value_hi=1,
          caption=_say_toeplitzness, finding=None),
     _map("largest", "sigma_max", "largest singular value", colours=LOG),
     _map("effective", "effective_rank", "effective rank", colours=CHOSEN),
     _map("stable", "stable_rank", "stable rank", colours=CHOSEN), SPECTRA,
     _points("values", "sigma_max", "largest singular value"), _points("ranks", "effective_rank", "effective rank"),
     TENSOR_SPECTRA, TENSORS, NOTES), most=12)
