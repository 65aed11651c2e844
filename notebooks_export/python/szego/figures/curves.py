"""Accuracy and loss by epoch, a line an encoding (Figures 2 and 3 of the paper)."""
from dataclasses import replace

import numpy as np

from . import words
from .compose import compose
from .drawing import Line
from .folders import folders_of, is_below, is_within
from .record import MEANS, Axis, Figure, Section

REPRODUCED, TRAINED = "reproduce_curves", "train_metrics"


# ---- Which rows are one line ----

def _keys(rows, *columns):
    return list(zip(*(rows.texts(column) for column in columns)))


def _figure_key(rows):
    """Runs of one task are one figure; of a reproduction, those of one experiment."""
    return _keys(rows, "task", "result", "experiment") if rows.table == REPRODUCED else _keys(rows, "task")


def _line_key(rows):
    """Seeds of one command lie together in a folder."""
    if rows.table == REPRODUCED:
        return _keys(rows, "encoding", "split")
    parents = [(path or "").rpartition("/")[0] for path in rows.texts("result")]
    return list(zip(rows.texts("encoding"), rows.texts("split"), parents))


# ---- Lines ----

def _is_training(line):
    return line.rows.text("split") == "train"


def _name(rows):
    return words.clipped(rows.text("encoding"))


def _pair_lines(drawing):
    """One colour a name; training is the thin line of it. Another line of an encoding is told apart by its folder."""
    lines = drawing.series()
    places = [(line.rows.text("encoding"), _is_training(line)) for line in lines]
    colours = {}
    for line, place in zip(lines, places):
        if place[0] is not None and places.count(place) > 1:
            line.name = f"{_name(line.rows)} ({words.clipped(line.rows.text('result'))})"
        line.colour = colours.setdefault(line.name, len(colours))
        if _is_training(line):
            line.thin = line.unlisted = True
            line.lo = line.hi = None


def _ceiling(drawing, tables):
    """The mean label ceiling of the figure's runs, in the table of runs beside them; NaN: not known."""
    rows = drawing.rows
    reproduced = rows.table == REPRODUCED
    runs = tables.rows("reproduce_runs" if reproduced else "train_runs")
    value = runs.numbers("ceiling" if reproduced else "label_ceiling")
    result, task, experiment = rows.text("result"), rows.text("task"), rows.text("experiment")
    if not len(runs) or result is None or task is None or (reproduced and experiment is None):
        return np.nan
    own = runs.texts("result")
    beside = [path == result if reproduced else path is not None and is_below(result, path) for path in own]
    same = np.array(beside, bool) & (runs.texts("task") == task) & (value >= 0) & (value <= 1)
    if reproduced:
        same &= runs.texts("experiment") == experiment
    return float(np.mean(value[same])) if same.any() else np.nan


# ---- Words ----

def _subject(rows):
    text = f"Task {words.clipped(rows.text('task'))}"
    if rows.table == REPRODUCED and rows.text("experiment"):
        text += f", experiment {words.clipped(rows.text('experiment'))}"
    return text


def _tests(drawing):
    return [line for line in drawing.series() if not _is_training(line) and np.isfinite(line.last())]


def _end(drawing, best):
    """The test line whose end is the best (the worst); None: there is none."""
    greatest = best == (drawing.figure.y.column == "accuracy")
    return (max if greatest else min)(_tests(drawing), key=lambda line: line.last(), default=None)


def _ceiling_of(drawing):
    at = [rule.at for rule in drawing.panels[0].rules if rule.name == "label ceiling"]
    return at[0] if at else np.nan


def _seeds(drawing):
    lines = [line for line in drawing.series() if not _is_training(line) and len(line.x)]
    least, most = min(line.least for line in lines), max(line.most for line in lines)
    if least == most:
        return f" ({words.count(most, 'seed', 'seeds')} each)."
    return f" ({least} to {most} seeds)."


def _say_ends(drawing):
    """"Best at the end: rope, 0.921 of a ceiling of 0.95; worst: nope, 0.8 (3 seeds each)."."""
    best, worst = _end(drawing, True), _end(drawing, False)
    if best is None:
        return "No finite value of the test split."
    text, ceiling = f"Best at the end: {best.name or 'test'}, {words.number(best.last())}", _ceiling_of(drawing)
    text += f" of a ceiling of {words.number(ceiling)}" if np.isfinite(ceiling) else ""
    if words.number(worst.last()) != words.number(best.last()):
        text += f"; worst: {worst.name or 'test'}, {words.number(worst.last())}"
    return text + _seeds(drawing)


def _say_finding(drawing):
    best, ceiling = _end(drawing, True), _ceiling_of(drawing)
    if best is None:
        return []
    text = f"{_name(best.rows)} reaches a test accuracy of {100 * best.last():.1f}%"
    text += f" where the label ceiling is {100 * ceiling:.1f}%" if np.isfinite(ceiling) else ""
    return f"{text} ({_subject(drawing.rows)})."


# ---- Records ----

BY_EPOCH = dict(tables=(REPRODUCED, TRAINED), figure_key=_figure_key, group_by=("result", "experiment", "task"),
                series_key=_line_key, values=MEANS, x=Axis("epoch"), subject=_subject, series_name=_name,
                caption=_say_ends, prepare=_pair_lines)
ACCURACY = Figure("curves-accuracy", **BY_EPOCH, needs=("epoch", "accuracy"), undone="accuracies are not drawn",
                  y=Axis("accuracy", lo=0, hi=1), title="accuracy by epoch", finding=_say_finding)
LOSS = Figure("curves-loss", **BY_EPOCH, needs=("epoch", "loss"), undone="losses are not drawn", y=Axis("loss"),
              title="loss by epoch")


def _compose(section, tables):
    above = folders_of(tables.rows(REPRODUCED))

    def keeps(rows):
        """Runs of a reproduction are drawn from its own table, and not a second time."""
        if rows.table == REPRODUCED:
            return np.ones(len(rows), bool)
        return np.array([not is_within(path, above) for path in rows.texts("result")], bool)

    def prepare(drawing):
        _pair_lines(drawing)
        ceiling = _ceiling(drawing, tables)
        if np.isfinite(ceiling):
            drawing.panels[0].rules.append(Line("label ceiling", ceiling))

    figures = (replace(section.figures[0], keeps=keeps, prepare=prepare), replace(section.figures[1], keeps=keeps))
    return compose(figures, tables, section.most)


SECTION = Section(
    "curves", "Accuracy by epoch", (REPRODUCED, TRAINED),
    "Thick lines are the test split. Thin lines are training, with dropout and while the weights still change. Of several "
    "seeds a line is the mean, and the area reaches from the least to the greatest. Runs of different folders may differ "
    "in more than the encoding.", (ACCURACY, LOSS), compose=_compose)
