"""Accuracy on sequences longer than those of training: means over seeds, by encoding and by how the rotation is
rescaled."""
import numpy as np

from . import words
from .record import ROWS, Axis, Figure, Section

TABLE = "reproduce_length_arms"


def _experiment(rows):
    return f"Experiment {words.clipped(rows.text('experiment'))}"


def _scaling(rows):
    """"as trained", or "scaled by yarn"."""
    scaling = rows.text("scaling")
    return "as trained" if scaling in (None, "none") else f"scaled by {words.clipped(scaling)}"


def _percent(rows, column):
    return words.number(100 * rows.number(column))


def _mean(rows):
    """"rope scaled by yarn 61% [55, 67] (98% on the test split)"."""
    text = f"{words.clipped(rows.text('encoding'))} {_scaling(rows)} {_percent(rows, 'accuracy')}%"
    if np.isfinite(rows.number("t_low")):
        text += f" [{_percent(rows, 't_low')}, {_percent(rows, 't_high')}]"
    if np.isfinite(rows.number("test_accuracy")):
        text += f" ({_percent(rows, 'test_accuracy')}% on the test split)"
    return text


def _longest(rows):
    """(highest, lowest) of the means on the longest sequences."""
    length, accuracy = rows.numbers("words"), rows.numbers("accuracy")
    at = np.flatnonzero(length == np.max(length[np.isfinite(length)], initial=-np.inf))
    return (rows.pick([at[choose(accuracy[at])]]) for choose in (np.argmax, np.argmin)) if len(at) else (None, None)


def _say_longest(drawing):
    """"136 words, 4 times the longest training sequence: highest rope 61% ..., lowest alibi 20% ...; 10 seeds." """
    high, low = _longest(drawing.rows)
    if high is None:
        return "The number of words is not given."
    factor, seeds, ceiling = high.number("factor"), high.number("seeds"), high.number("label_ceiling")
    text = f"{words.number(high.number('words'))} words"
    if factor == 1:
        text += ", as many as the longest training sequence"
    elif np.isfinite(factor):
        text += f", {words.number(factor)} times the longest training sequence"
    text += f": highest {_mean(high)}"
    text += f", lowest {_mean(low)}" if low.index[0] != high.index[0] else ""
    text += f"; label ceiling {words.number(100 * ceiling)}%" if np.isfinite(ceiling) else ""
    return text + (f"; {words.count(seeds, 'seed', 'seeds')}." if np.isfinite(seeds) else ".")


def _say_finding(drawing):
    return f"Longer sequences, {words.uncapital(_experiment(drawing.rows))}: {_say_longest(drawing)}"


BY_LENGTH = Figure("lengths", (TABLE,), needs=("words", "accuracy"), undone="accuracies by length are not drawn",
                   known=("accuracy",), figure_by=("result", "experiment"),
                   group_by=("result", "experiment"), panel_by=("encoding",), series_by=("scaling",),
                   x=Axis("words", label="words of a test sequence"),
                   y=Axis("accuracy", label="accuracy (%)", times=100), lo="t_low", hi="t_high",
                   hover=("words", "accuracy", "t_low", "t_high", "test_accuracy", "label_ceiling", "seeds"),
                   subject=_experiment, series_name=_scaling, title="accuracy on longer sequences",
                   caption=_say_longest, finding=_say_finding)
LISTED = Figure("lengths-rows", (TABLE,), marks=ROWS,
                shown=("experiment", "encoding", "scaling", "words", "factor", "seeds", "accuracy", "t_low", "t_high",
                       "test_accuracy", "label_ceiling"))

SECTION = Section(
    "lengths", "Longer sequences", (TABLE, "reproduce_length"),
    "Trained decoders are tested on sequences of one length each. The distances are those of training, and the "
    "triggers stand anywhere. Sequences as long as the longest of training differ from the test split in that alone. "
    "A rotation is also tested with rescaled frequencies, without further training. Lines reach over the 95% interval "
    "of the mean over seeds by Student's t.", (BY_LENGTH, LISTED))
