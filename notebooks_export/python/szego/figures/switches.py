"""What one difference in the configuration does to the accuracy."""
import numpy as np

from . import words
from .record import POINTS, ROWS, Axis, Figure, Rule, Section

TABLE, SEEDS_NEEDED = "reproduce_switches", 3


def _kind(rows):
    return f"{words.clipped(rows.text('encoding'))}, task {words.clipped(rows.text('task'))}"


def _counted(rows):
    """"1 of 3 is larger than one standard deviation, which is no test; 1 rests on fewer than 3 seeds"."""
    difference, enough = np.abs(rows.numbers("difference")), rows.numbers("pairs") >= SEEDS_NEEDED
    beyond, few = int((enough & (difference > rows.numbers("difference_spread"))).sum()), int((~enough).sum())
    text = f"{beyond} of {len(rows)} {'is' if 1 in (beyond, len(rows)) else 'are'} larger than one standard deviation, which is no test"
    return text + (f"; {few} rest{'s' if few == 1 else ''} on fewer than {SEEDS_NEEDED} seeds" if few else "")


def _largest(rows):
    """(points, experiment)."""
    at = int(np.argmax(np.abs(rows.numbers("difference"))))
    return words.number(100 * rows.number("difference", at)), words.clipped(rows.text("experiment", at))


def _say_largest(drawing):
    """"Largest difference: -50 points (one). 1 of 3 is larger than one standard deviation, which is no test." """
    points, experiment = _largest(drawing.rows)
    return f"Largest difference: {points} points ({experiment}). {_counted(drawing.rows)}."


def _say_finding(drawing):
    points, experiment = _largest(drawing.rows)
    if not drawing.rows.numbers("difference").any():
        return f"Switches, {_kind(drawing.rows)}: no switch changes the accuracy."
    return (f"Switches, {_kind(drawing.rows)}: {experiment} makes the largest difference, {points} points; "
            f"{_counted(drawing.rows)}.")


DIFFERENCES = Figure("switches", (TABLE,), needs=("accuracy", "accuracy_without", "difference"),
                     undone="the switches are not drawn", known=("difference",), figure_by=("result", "task", "encoding"),
                     group_by=("result", "task", "encoding"), marks=POINTS,
                     x=Axis("difference", label="change of accuracy (percentage points)", times=100),
                     y=Axis("experiment"), spread="difference_spread", seeds="pairs",
                     rules=(Rule("0: no difference", at=0, vertical=True),),
                     hover=("experiment", "with", "accuracy", "spread", "seeds", "without", "accuracy_without",
                            "pairs"),
                     subject=_kind, title="difference that each switch makes", caption=_say_largest,
                     finding=_say_finding)
LISTED = Figure("switches-rows", (TABLE,), marks=ROWS,
                shown=("experiment", "like", "encoding", "task", "with", "without", "accuracy", "accuracy_without",
                       "difference", "difference_spread", "pairs"))

SECTION = Section(
    "switches", "Switches", (TABLE,),
    "Each experiment differs from another one in the keys named. A key decides a result only if switching it moves the "
    "accuracy as far as the two profiles lie apart, from both ends, by more than the spread over three seeds. If all "
    "have run so and none does, no single key decides it. Differences are means over the seeds that both sides have; "
    "lines reach one standard deviation to both sides, which is a hint and not a test.", (DIFFERENCES, LISTED))
