"""Accuracy on sequences longer than those of training: means over seeds, by encoding and by how the rotation is
rescaled."""
import numpy as np

from . import words
from .record import ROWS, Axis, Figure, Section

TABLE = ("reproduce_length_arms",)


def _scaling(rows, i=0):
    scaling = rows.text("scaling", i)
    return "as trained" if scaling in (None, "none") else f"scaled by {words.clipped(scaling)}"


def _mean(rows, i):
    """"rope scaled by yarn 61% [55, 67] (98% on the test split)"."""
    def percent(column):
        return words.number(100 * rows.number(column, i))
    text = f"{words.clipped(rows.text('encoding', i))} {_scaling(rows, i)} {percent('accuracy')}%"
    if np.isfinite(rows.number("t_low", i)):
        text += f" [{percent('t_low')}, {percent('t_high')}]"
    if np.isfinite(rows.number("test_accuracy", i)):
        text += f" ({percent('test_accuracy')}% on the test split)"
    return text


def _say_longest(drawing):
    rows = drawing.rows
    length, accuracy = rows.numbers("words"), rows.numbers("accuracy")
    longest = np.flatnonzero(length == np.nanmax(length))
    high, low = longest[np.argmax(accuracy[longest])], longest[np.argmin(accuracy[longest])]
    factor = rows.number("factor", high)
    times = ("as many as the longest of training has" if factor == 1
             else f"{words.number(factor)} times the longest of training")
    text = f"{words.number(rows.number('words', high))} words, {times}: highest {_mean(rows, high)}"
    text += f", lowest {_mean(rows, low)}" if low != high else ""
    seeds = rows.number("seeds", high)
    return f"{text}; {words.count(int(seeds) if np.isfinite(seeds) else 0, 'seed', 'seeds')}."


BY_LENGTH = Figure("lengths", TABLE, needs=("words", "accuracy"), undone="accuracies by length are not drawn",
                   keeps=lambda rows: np.isfinite(rows.numbers("accuracy")) & np.isfinite(rows.numbers("words")),
                   figure_by=("result", "experiment"), group_by=("result", "experiment"), panel_by=("encoding",),
                   series_by=("scaling",), x=Axis("words", label="words of a test sequence"),
                   y=Axis("accuracy", label="accuracy (%)", times=100), lo="t_low", hi="t_high",
                   hover=("words", "accuracy", "t_low", "t_high", "test_accuracy", "label_ceiling", "seeds"),
                   subject=lambda rows: f"Experiment {words.clipped(rows.text('experiment'))}", series_name=_scaling,
                   title="accuracy on longer sequences", caption=_say_longest, finding=_say_longest)
LISTED = Figure("lengths-rows", TABLE, marks=ROWS,
                shown=("experiment", "encoding", "scaling", "words", "factor", "seeds", "accuracy", "t_low", "t_high",
                       "test_accuracy", "label_ceiling"))
SECTION = Section(
    "lengths", "Longer sequences", TABLE + ("reproduce_length",),
    "Trained decoders on sequences of one length each. The distances are those of training, the triggers stand anywhere. "
    "Sequences as long as the longest of training differ from the test split in that alone. A rotation is also tested with "
    "rescaled frequencies; nothing is trained again for it. Lines reach over the 95% interval of the mean over seeds by "
    "Student's t.", (BY_LENGTH, LISTED))
