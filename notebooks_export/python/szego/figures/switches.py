"""One difference in the configuration at a time: what it does to the accuracy."""
import numpy as np

from . import words
from .record import POINTS, ROWS, Axis, Figure, Rule, Section

SEEDS_NEEDED = 3
TABLE = ("reproduce_switches",)


def _say_largest(drawing):
    """"Largest difference: -50 points (one). 1 of 3 exceeds its spread; 1 rests on fewer than 3 seeds."."""
    rows = drawing.rows
    difference, pairs = rows.numbers("difference"), rows.numbers("pairs")
    enough = pairs >= SEEDS_NEEDED
    beyond = int((enough & (np.abs(difference) > rows.numbers("difference_spread"))).sum())
    few, known = int((~enough).sum()), len(rows)
    at = int(np.argmax(np.abs(difference)))
    text = (f"Largest difference: {words.number(100 * difference[at])} points "
            f"({words.clipped(rows.text('experiment', at))}). {beyond} of {known} exceed{'s' if known == 1 else ''} their "
            "spread")
    if few:
        text += f"; {few} rest{'s' if few == 1 else ''} on fewer than {SEEDS_NEEDED} seeds"
    return text + "."


def _subject(rows):
    return f"{words.clipped(rows.text('encoding'))}, task {words.clipped(rows.text('task'))}"


DIFFERENCES = Figure("switches", TABLE, needs=("accuracy", "accuracy_without", "difference"),
                     undone="the switches are not drawn", keeps=lambda rows: np.isfinite(rows.numbers("difference")),
                     figure_by=("result", "task", "encoding"), group_by=("result", "task", "encoding"), marks=POINTS,
                     x=Axis("difference", label="accuracy with less without (points)", times=100), y=Axis("experiment"),
                     spread="difference_spread", seeds="pairs", rules=(Rule("0: no difference", at=0, vertical=True),),
                     hover=("experiment", "with", "accuracy", "spread", "seeds", "without", "accuracy_without", "pairs"),
                     subject=_subject, title="difference that each switch makes", caption=_say_largest,
                     finding=lambda drawing: f"Switches, {_subject(drawing.rows)}: {_say_largest(drawing)[0].lower()}"
                     f"{_say_largest(drawing)[1:]}")
LISTED = Figure("switches-rows", TABLE, marks=ROWS,
                shown=("experiment", "like", "encoding", "task", "with", "without", "accuracy", "accuracy_without",
                       "difference", "difference_spread", "pairs"))
SECTION = Section(
    "switches", "Switches", TABLE,
    "Each experiment differs from another one in the keys named. A key decides a result only if switching it moves the "
    "accuracy as far as the two profiles lie apart, from both ends, by more than the spread over three seeds. If all have "
    "run so and none does, no single key decides it. Differences are means over the seeds that both sides have; lines "
    "reach one standard deviation to both sides, a hint and no test.", (DIFFERENCES, LISTED))
