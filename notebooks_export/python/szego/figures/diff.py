"""What changed between checkpoints: of a series by step, of two by layer and head."""
import numpy as np

from . import words
from .compose import caption_of_series, outlier_heads
from .heads import extent, say_cells
from .record import CELLS, CHOSEN, Axis, Figure, Section

BY_STACK = dict(figure_by=("result", "stack"), group_by=("result", "stack"))


def _has_head(rows):
    return np.isfinite(rows.numbers("layer")) & np.isfinite(rows.numbers("head"))


def _is_pair(rows):
    """One checkpoint against another: no line has two points."""
    return len(rows.split("step")) < 2


def _is_series(rows):
    return not _is_pair(rows)


# ---- What is seen ----

def _base(rows):
    if len(rows.split("base")) > 1:
        return "Each against the one before"
    return f"Against {words.clipped(rows.text('base') or 'a base that is not given')}"


def _subject(rows):
    """The base, and the stack where the model has several."""
    return _base(rows) + (f", {words.clipped(rows.text('stack'))}" if rows.text("stack") else "")


def _pair(rows):
    """"checkpoint-10 against checkpoint-1"."""
    return f"{words.model(rows)} against {words.file(rows.text('base'))}" if rows.text("base") else words.model(rows)


def _say_caption(drawing):
    return caption_of_series(drawing)[:-1] + outlier_heads(drawing) + "."


def _say_scale(most):
    """The greatest change beside that of two matrices that have nothing to do with each other."""
    unrelated = np.sqrt(2)
    than = "more than" if most > 1.05 * unrelated else "about as much as" if most > 0.95 * unrelated else "less than"
    return f"The greatest change is {than} that of unrelated matrices of equal norm, {words.number(unrelated)}"


def _say_course(drawing):
    """What unrelated matrices of equal norm would have: their difference has the square root of 2 of it."""
    x = np.concatenate([one.x[np.isfinite(one.y)] for one in drawing.every()])
    y = np.concatenate([one.y[np.isfinite(one.y)] for one in drawing.every()])
    if not np.isfinite(x).any():
        return []
    first, last = np.nanmin(x), np.nanmax(x)
    at_last = [(float(one.y[one.x == last][0]), one) for one in drawing.every() if np.isfinite(one.y[one.x == last]).any()]
    value, most = max(at_last, key=lambda pair: pair[0])
    name = words.key(most.rows, ("layer", "head"))
    before = f" ({extent(y[x == first])} at step {words.number(first)})" if last > first else ""
    return (f"{_subject(drawing.rows)}: at step {words.number(last)} the QK matrices have changed by {extent(y[x == last])} "
            f"times their norm, most in {name}{before}. {_say_scale(value)}{outlier_heads(drawing)}.")


def _say_pair(drawing):
    return (f"{_pair(drawing.rows)}: relative change of the QK matrix {say_cells(drawing)}. "
            f"{_say_scale(np.nanmax(drawing.cells.value))}.")


# ---- Records ----

def _lines(name, column, title, **more):
    """A stack of a series has one figure for all steps, whatever each is compared with."""
    return Figure(f"diff-{name}", ("diff_diff",), needs=("step", column), keeps=_has_head, **BY_STACK, skips=_is_pair,
                  series_by=("layer", "head"), outliers=True, x=Axis("step"), y=Axis(column),
                  hover=("step", "layer", "head", column), subject=_subject, title=f"{title} by head and step",
                  caption=_say_caption, **more)


def _map(name, column, title, **more):
    return Figure(f"diff-{name}", ("diff_diff",), needs=("layer", "head", column), keeps=_has_head, **BY_STACK,
                  skips=_is_series, marks=CELLS, x=Axis("head"), y=Axis("layer"), value=column, colours=CHOSEN,
                  subject=_pair, title=title, **more)


LEFT, RIGHT = "angle of the first left singular vector", "angle of the first right singular vector"
SECTION = Section(
    "diff", "What changed between checkpoints", ("diff_diff",),
    "A head's QK matrix `M = scale W_Q^T W_K` goes from `M_A` to `M_B`. Its relative change is the Frobenius norm of "
    "`M_B - M_A` over that of `M_A`; the part of second order is that of `dW_Q^T dW_K` alone. Turns are the angles "
    "between the first left (queries) and the first right (keys) singular vectors of both.",
    (_lines("change", "change", "relative change of the QK matrix", heading="By step", finding=_say_course),
     _lines("second-order", "d3", "part of second order", most=2),
     _lines("stable", "qk_stable_rank", "stable rank"), _lines("entropy", "qk_entropy", "spectral entropy"),
     _lines("left", "left_angle_1", LEFT), _lines("right", "right_angle_1", RIGHT),
     _map("change-map", "change", "relative change of the QK matrix", undone="changes are not drawn",
          heading="Two checkpoints", finding=_say_pair),
     _map("left-map", "left_angle_1", LEFT), _map("right-map", "right_angle_1", RIGHT)), most=12)
