"""Accuracy and loss by epoch, a line an encoding (Figures 2 and 3 of the paper)."""
from dataclasses import replace

import numpy as np

from . import words
from .compose import compose
from .drawing import Line
from .record import MEANS, Axis, Figure, Section
from .rows import is_below, is_within

REPRODUCED, TRAINED = "reproduce_curves", "train_metrics"


# ---- Which rows make a figure, and a line ----

def _is_reproduced(rows):
    return rows.table == REPRODUCED


def _keys(rows, *columns):
    return list(zip(*(rows.texts(column) for column in columns)))


def _figure_key(rows):
    return _keys(rows, *(("task", "result", "experiment") if _is_reproduced(rows) else ("task",)))


def _series_key(rows):
    """Seeds of one command have folders in the same folder: their runs are one line."""
    folders = [None if _is_reproduced(rows) else (path or "").rpartition("/")[0] for path in rows.texts("result")]
    return list(zip(rows.texts("encoding"), rows.texts("split"), folders))


def _runs_of(figure_rows, tables):
    """The figure's runs in the table of runs, and the column with their label ceiling."""
    result, task = figure_rows.text("result"), figure_rows.text("task")
    reproduced = _is_reproduced(figure_rows)
    runs = tables.rows("reproduce_runs" if reproduced else "train_runs")
    if result is None or task is None:
        return runs.pick([]), "ceiling"
    runs = runs.pick(runs.texts("task") == task) if len(runs) else runs
    if reproduced:
        experiment = figure_rows.text("experiment")
        mask = [own == result and other is not None and other == experiment
                for own, other in zip(runs.texts("result"), runs.texts("experiment"))]
    else:
        drawn = set(figure_rows.texts("result")) - {None}
        mask = [own is not None and any(is_below(path, own) for path in drawn) for own in runs.texts("result")]
    return runs.pick(np.array(mask, bool)), "ceiling" if reproduced else "label_ceiling"


def _mean_share(rows, column):
    """The mean of the numbers between 0 and 1; NaN: there is none."""
    values = rows.numbers(column)
    values = values[(values >= 0) & (values <= 1)]
    return float(np.mean(values)) if len(values) else np.nan


# ---- Lines ----

def _is_training(one):
    return one.rows.text("split") == "train"


def _encoding(rows):
    return words.clipped(rows.text("encoding"))


def _pair_lines(drawing):
    """One colour a name; training is the thin line of it. Lines of one encoding are told apart by their folders."""
    colours = {}
    for panel in drawing.panels:
        kinds = [(one.rows.text("encoding"), _is_training(one)) for one in panel.series]
        for one, kind in zip(panel.series, kinds):
            if kind[0] and kinds.count(kind) > 1:
                one.name = f"{_encoding(one.rows)} ({words.clipped(one.rows.text('result'))})"
            one.colour = colours.setdefault(one.name, len(colours))
            if kind[1]:
                one.thin, one.unlisted, one.lo, one.hi = True, True, None, None


def _prepare_accuracy(tables):
    def prepare(drawing):
        _pair_lines(drawing)
        runs, column = _runs_of(drawing.rows, tables)
        ceiling = _mean_share(runs, column)
        drawing.own = {"ceiling": ceiling, "majority": _mean_share(runs, "majority")}
        if np.isfinite(ceiling):
            drawing.panels[0].rules.append(Line("label ceiling", ceiling))
    return prepare


# ---- Words ----

def _task(rows):
    experiment = rows.text("experiment") if _is_reproduced(rows) else None
    return f"Task {words.clipped(rows.text('task'))}" + (f", experiment {words.clipped(experiment)}" if experiment
                                                         else "")


def _ends(drawing):
    """(best, worst) of the test lines by their last values, up to rounding; (None, None): there is none."""
    lines = [one for one in drawing.series() if not _is_training(one) and not np.isnan(one.last())]
    if not lines:
        return None, None
    ends = [float(f"{one.last():.12g}") for one in lines]
    greatest, least = lines[ends.index(max(ends))], lines[ends.index(min(ends))]
    return (greatest, least) if drawing.figure.y.column == "accuracy" else (least, greatest)


def _seeds(drawing):
    counts = [(one.least, one.most) for one in drawing.series() if not _is_training(one) and len(one.x)]
    least, most = min(of[0] for of in counts), max(of[1] for of in counts)
    return f"{words.count(most, 'seed', 'seeds')} each" if least == most else f"{least} to {most} seeds"


def _ceiling(drawing):
    return (drawing.own or {}).get("ceiling", np.nan)


def _say_ends(drawing):
    """"Best at the end: rope, 0.921 of a ceiling of 0.95; worst: nope, 0.8 (3 seeds each)." """
    best, worst = _ends(drawing)
    if best is None:
        return "No finite value of the test split."
    text = f"Best at the end: {best.name or 'test'}, {words.number(best.last())}"
    if np.isfinite(_ceiling(drawing)):
        text += f" of a ceiling of {words.number(_ceiling(drawing))}"
    if worst is not best:
        text += f"; worst: {worst.name or 'test'}, {words.number(worst.last())}"
    return f"{text} ({_seeds(drawing)})."


def _say_finding(drawing):
    """"rope reaches a test accuracy of 91.8%, where the most frequent label alone gives 33% and the label ceiling is
    94.8% (Task distance)." """
    best, _ = _ends(drawing)
    if best is None:
        return []
    chance = drawing.own["majority"]
    beside = [f"the most frequent label alone gives {100 * chance:.1f}%"] if np.isfinite(chance) else []
    if np.isfinite(_ceiling(drawing)):
        beside.append(f"the label ceiling is {100 * _ceiling(drawing):.1f}%")
    where = f" where {' and '.join(beside)}" if beside else ""
    return (f"{_encoding(best.rows) or 'The model'} reaches a test accuracy of {100 * best.last():.1f}%{where} "
            f"({_task(drawing.rows)}).")


# ---- Records ----

BY_EPOCH = dict(tables=(REPRODUCED, TRAINED), figure_key=_figure_key, group_by=("result", "experiment", "task"),
                series_key=_series_key, values=MEANS, x=Axis("epoch"), subject=_task, series_name=_encoding,
                caption=_say_ends)
ACCURACY = Figure("curves-accuracy", **BY_EPOCH, needs=("epoch", "accuracy"), undone="accuracies are not drawn",
                  y=Axis("accuracy", lo=0, hi=1), title="accuracy by epoch", finding=_say_finding)
LOSS = Figure("curves-loss", **BY_EPOCH, needs=("epoch", "loss"), undone="losses are not drawn", y=Axis("loss"),
              title="loss by epoch", prepare=_pair_lines)


def _compose(section, tables):
    """Runs of a reproduction are drawn from its own table, not a second time."""
    reproductions = set(tables.rows(REPRODUCED).texts("result")) - {None}

    def is_new(rows):
        return [_is_reproduced(rows) or not is_within(path, reproductions) for path in rows.texts("result")]
    prepared = {ACCURACY.id: _prepare_accuracy(tables)}
    figures = tuple(replace(one, keeps=is_new, prepare=prepared.get(one.id, one.prepare)) for one in section.figures)
    yield from compose(figures, tables, section.most)


SECTION = Section(
    "curves", "Accuracy by epoch", (REPRODUCED, TRAINED),
    "Thick lines show the test split. Thin lines show training, with dropout and while the weights still change. With "
    "several seeds a line is the mean, and the area reaches from the least to the greatest. Runs in different folders "
    "may differ in more than the encoding.", (ACCURACY, LOSS), compose=_compose)
