"""Accuracy against the number of heads that RoPE turns (Figure 5 of the paper)."""
import numpy as np

from . import words
from .record import Axis, Figure, Section

def _experiment(rows):
    return f"Experiment {words.clipped(rows.text('experiment'))}"


def _task(rows):
    return f"task {words.clipped(rows.text('task'))}" if rows.text("task") else "task not given"


def _has_whiskers(one):
    return one.lo is not None and bool(np.isfinite(one.lo).any())


def _highest(one):
    if np.isnan(one.peak()):
        return "no run has finished"
    return f"highest {words.number(one.peak())}% with {_heads(one.x[np.flatnonzero(one.y == one.peak())[0]])}"


def _peak(one):
    """The highest, or that none is apart from the others."""
    known = one.y[np.isfinite(one.y)]
    if len(known) > 1 and known.min() == known.max():
        return "the same with every number of heads"
    if _has_whiskers(one) and len(known) > 1 and np.nanmax(one.lo) <= np.nanmin(one.hi):
        return "no number of heads differs from another one by more than their standard deviations"
    return _highest(one)


def _heads(count):
    return f"{words.number(count)} {'head' if count == 1 else 'heads'}"


def _say_highest(drawing):
    """"Task distance: highest 94% with 8 heads; whiskers: one standard deviation." """
    lines = drawing.series()
    parts = [f"{one.name}: {_peak(one)}" for one in lines]
    if any(map(_has_whiskers, lines)):
        parts.append("whiskers: one standard deviation")
    if not all(map(_has_whiskers, lines)):
        parts.append("a single seed does not show which number of heads is best")
    return f"{words.capital('; '.join(parts))}."


def _seeds(counts):
    least, most = int(counts.min()), int(counts.max())
    return f"{words.count(most, 'seed', 'seeds')} each" if least == most else f"{least} to {most} seeds"


def _say_finding(drawing):
    """What turning no head and every head gives, and the best between, a sentence a task."""
    for one in drawing.series():
        known = np.flatnonzero(np.isfinite(one.x) & np.isfinite(one.y))
        if not len(known):
            continue
        ends = sorted({known[np.argmin(one.x[known])], known[np.argmax(one.x[known])]}, key=lambda i: one.x[i])
        shown = ", ".join(f"{words.number(one.y[i])}% with {_heads(one.x[i])}" for i in ends)
        seeds = one.rows.numbers("seeds")[known]
        counts = f" ({_seeds(seeds)})" if np.isfinite(seeds).all() else ""
        yield (f"Heads that RoPE turns, {one.name}, {words.uncapital(_experiment(drawing.rows))}: {shown}; {_peak(one)}"
               f"{counts}.")


SWEEP = Figure("sweep", ("reproduce_sweep",), needs=("rotated_heads", "accuracy"), undone="accuracies are not drawn",
               figure_by=("result", "experiment"), group_by=("result", "experiment"), series_by=("task",),
               x=Axis("rotated_heads"), y=Axis("accuracy", label="test accuracy (%)", times=100), spread="spread",
               hover=("rotated_heads", "accuracy", "spread", "seeds"), subject=_experiment, series_name=_task,
               title="accuracy against rotated heads", caption=_say_highest, finding=_say_finding)

SECTION = Section(
    "sweep", "Accuracy against the number of rotated heads", ("reproduce_sweep",),
    "The x axis is the number of heads with RoPE. The other heads have no positional encoding.", (SWEEP,))
