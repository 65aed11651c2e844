"""Accuracy against the number of heads that RoPE turns (Figure 5 of the paper)."""
import numpy as np

from . import words
from .record import Axis, Figure, Section

TASKS = {"distance": "Task 1, trigger distance", "count": "Task 2, trigger count"}


def _experiment(rows):
    return f"Experiment {words.clipped(rows.text('experiment'))}"


def _task(rows):
    task = rows.text("task")
    return TASKS.get(task) or words.clipped(task or "task not given")


def _say_highest(drawing):
    parts, single = [], False
    for line in drawing.series():
        at = np.flatnonzero(line.y == line.peak())
        parts.append(f"{line.name}: highest {words.number(line.peak())}% with {words.number(line.x[at[0]])} heads"
                     if len(at) else f"{line.name}: nothing has run")
        single |= line.lo is None or not np.isfinite(line.lo).any()
    return "; ".join(parts) + ("; one seed decides nothing." if single else "; whiskers: one standard deviation.")


SWEEP = Figure("sweep", ("reproduce_sweep",), needs=("rotated_heads", "accuracy"), undone="accuracies are not drawn",
               figure_by=("result", "experiment"), group_by=("result", "experiment"), series_by=("task",),
               x=Axis("rotated_heads"), y=Axis("accuracy", label="test accuracy (%)", times=100), spread="spread",
               hover=("rotated_heads", "accuracy", "spread", "seeds"), subject=_experiment, series_name=_task,
               title="accuracy against rotated heads", caption=_say_highest, finding=_say_highest)
SECTION = Section("sweep", "Accuracy against the number of rotated heads", ("reproduce_sweep",),
                  "RoPE turns as many of the model's heads as the axis says; the others have no position.", (SWEEP,))
