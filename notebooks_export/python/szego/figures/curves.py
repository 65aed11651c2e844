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


def _folders(rows):
    return [None if _is_reproduced(rows) else (path or "").rpartition("/")[0] for path in rows.texts("result")]


def _run_keys(rows):
    """What tells runs apart. A log in which the epochs of a run start again holds a further run."""
    seen, found = {}, []
    for *run, epoch in zip(*(rows.source.codes(column)[rows.index] for column in ("result", "run", "seed", "split")),
                           rows.numbers("epoch")):
        last, log = seen.get(tuple(run), (-np.inf, 0))
        log += bool(epoch <= last)
        seen[tuple(run)] = epoch, log
        found.append((*run[:3], log))
    return found


def _are_seeds(rows, runs):
    """Whether the runs are seeds of each other: no two have one seed, and all have one schedule."""
    if len(set(runs)) == 1:
        return True
    return len({run[2] for run in runs}) == len(set(runs)) and \
        len(rows.split("epoch", "split", "step", "learning_rate")) == len(rows.split("epoch", "split"))


def _series_key(rows):
    """Seeds of one command have folders in the same folder: their runs are one line. Other runs have lines of their
    own."""
    runs, lines = _run_keys(rows), list(zip(rows.texts("encoding"), _folders(rows)))
    places = {}
    for i, line in enumerate(lines):
        places.setdefault(line, []).append(i)
    apart = {line for line, at in places.items() if not _are_seeds(rows.pick(at), [runs[i] for i in at])}
    return [(*line, split, run if line in apart else None) for line, split, run in
            zip(lines, rows.texts("split"), runs)]


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


def _name_apart(lines):
    """Names lines of one encoding by their folders, their runs, or the place of their log in the run's."""
    def several(column):
        return len({one.rows.text(column) for one in lines}) > 1
    shown = [column for column in ("result", "run") if several(column)][:1] or ["run"]
    names = [words.clipped(one.rows.text(shown[0]) or "unnamed") for one in lines]
    for i, one in enumerate(lines):
        log = f", log {names[:i + 1].count(names[i])}" if names.count(names[i]) > 1 else ""
        one.name = f"{_encoding(one.rows) or 'run'} ({names[i]}{log})"


def _pair_lines(drawing):
    """One colour a name; training is the thin line of it. Lines of one encoding are told apart by their folders."""
    colours = {}
    for panel in drawing.panels:
        kinds = [(one.rows.text("encoding"), _is_training(one)) for one in panel.series]
        for kind in dict.fromkeys(kinds):
            alike = [one for one, other in zip(panel.series, kinds) if other == kind]
            if len(alike) > 1:
                _name_apart(alike)
        for one, kind in zip(panel.series, kinds):
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
    columns = ("task", "experiment") if _is_reproduced(rows) else ("task",)
    return words.capital(words.task(rows, columns)) or "Task not given"


def _tests(drawing):
    return [one for one in drawing.every() if not _is_training(one)]


def _lost(drawing, one):
    """(runs of the line whose last epoch has no finite value, all its runs)."""
    runs, last = _run_keys(one.rows), {}
    for run, epoch, value in zip(runs, one.rows.numbers("epoch"), one.rows.numbers(drawing.figure.y.column)):
        if run not in last or epoch > last[run][0]:
            last[run] = epoch, value
    return sum(not np.isfinite(value) for _, value in last.values()), len(last)


def _has_end(drawing, one):
    lost, runs = _lost(drawing, one)
    return lost < runs and not np.isnan(one.last())


def _ends(drawing):
    """(best, worst) of the test lines by their last values, up to rounding; (None, None): there is none."""
    lines = [one for one in _tests(drawing) if _has_end(drawing, one)]
    if not lines:
        return None, None
    ends = [float(f"{one.last():.12g}") for one in lines]
    greatest, least = lines[ends.index(max(ends))], lines[ends.index(min(ends))]
    return (greatest, least) if drawing.figure.y.column == "accuracy" else (least, greatest)


def _seeds(drawing):
    counts = [(one.least, one.most) for one in _tests(drawing) if len(one.x)]
    if len(counts) == 1 and counts[0][0] == counts[0][1]:
        return words.count(counts[0][0], "seed", "seeds")
    least, most = min(of[0] for of in counts), max(of[1] for of in counts)
    return f"{words.count(most, 'seed', 'seeds')} each" if least == most else f"{least} to {most} seeds"


def _ceiling(drawing):
    return (drawing.own or {}).get("ceiling", np.nan)


def _shown(drawing, value):
    return words.percent(value) if drawing.figure.y.column == "accuracy" else f"{words.number(value)} nats"


def _say_lost(drawing):
    """" Without a finite value at the last epoch: rope (1 of 3 runs)." or nothing."""
    found = [(one, *_lost(drawing, one)) for one in _tests(drawing)]
    said = [f"{one.name or 'test'} ({lost} of {words.count(runs, 'run', 'runs')})" for one, lost, runs in found if lost]
    return f" Without a finite value at the last epoch: {', '.join(said)}." if said else ""


def _say_apart(drawing):
    """Why runs of one folder are not averaged; or nothing."""
    lines = [(one.rows.text("encoding"), _folders(one.rows)[0]) for one in _tests(drawing)]
    return (" Runs that share a seed, or whose learning rates differ, are no seeds of one experiment: they have lines of "
            "their own." if len(set(lines)) < len(lines) else "")


def _say_ends(drawing):
    """"At the end rope has the highest test accuracy, 92.1%, and nope the lowest, 80.0% (label ceiling 95.0%; 3 seeds
    each)." """
    what = drawing.figure.y.column
    best, worst = _ends(drawing)
    more = _say_lost(drawing) + _say_apart(drawing)
    if best is None:
        return f"No run has a finite test {what} at its last epoch.{more}"
    ends = [_shown(drawing, one.last()) for one in (best, worst)]
    ceiling = f"label ceiling {_shown(drawing, _ceiling(drawing))}; " if np.isfinite(_ceiling(drawing)) else ""
    beside = f"({ceiling}{_seeds(drawing)})"
    if sum(_has_end(drawing, one) for one in _tests(drawing)) == 1:
        return f"At the end {best.name or 'the model'} has a test {what} of {ends[0]} {beside}.{more}"
    if ends[0] == ends[1]:
        return f"Lines end at a test {what} of {ends[0]} {beside}.{more}"
    order = ("highest", "lowest") if what == "accuracy" else ("lowest", "highest")
    return (f"At the end {best.name or 'test'} has the {order[0]} test {what}, {ends[0]}, and {worst.name or 'test'} the "
            f"{order[1]}, {ends[1]} {beside}.{more}")


def _say_finding(drawing):
    """"rope reaches a test accuracy of 91.8%, where the most frequent label alone gives 33% and the label ceiling is
    94.8% (task distance)." """
    best, _ = _ends(drawing)
    if best is None:
        return f"{_task(drawing.rows)}: no run has a finite test accuracy at its last epoch." if _tests(drawing) else []
    chance = drawing.own["majority"]
    beside = [f"the most frequent label alone gives {words.percent(chance)}"] if np.isfinite(chance) else []
    if np.isfinite(_ceiling(drawing)):
        beside.append(f"the label ceiling is {words.percent(_ceiling(drawing))}")
    where = f" where {' and '.join(beside)}" if beside else ""
    return (f"{best.name or 'The model'} reaches a test accuracy of {words.percent(best.last())}{where} "
            f"({words.uncapital(_task(drawing.rows))}).{_say_lost(drawing)}")


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
