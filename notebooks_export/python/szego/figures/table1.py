"""The paper's Table 1 with the accuracies of reproductions and of runs beside, and how their settings differ."""
from dataclasses import replace

import numpy as np

from . import words
from .compose import compose
from .drawing import Drawing, Grid, Heading, Listing, Paragraph
from .record import POINTS, Axis, Column, Figure, Section
from .rows import is_within

TABLE, RUNS = "reproduce_table1", "train_runs"
#: What the paper prints: percent by encoding and task, as train/reproduce/published.json has it.
SOURCE = "arXiv 2505.13027v1 (May 2025)"
PUBLISHED = {("mla", "distance"): 88.34, ("mla", "count"): 97.41, ("rope", "distance"): 92.64,
             ("rope", "count"): 69.43, ("nope", "distance"): 3.51, ("nope", "count"): 77.69}
SIZES = {"model.vocabulary", "model.layers", "model.width", "model.hidden", "model.heads", "model.latent_kv",
         "model.max_length", "data.examples", "loop.epochs"}
TASKS = ((1, "distance"), (2, "count"))  #: The paper's tasks 1 and 2.
WHISKERS = "whiskers reach one standard deviation, which is no test"
RESULTS, ROWS_SHOWN, SETTINGS, MISSING = 4, 100, 12, 20


def _of_result(tables, name, result):
    rows = tables.rows(name)
    return rows.pick(rows.texts("result") == result) if result is not None else rows


# ---- Whether the runs had the paper's settings ----

def _ends(text):
    """(least, greatest) of the numbers of "512|1024"; NaN where one is no number."""
    try:
        values = [float(part) for part in (text or "").split("|")]
    except ValueError:
        return np.nan, np.nan
    return min(values), max(values)


def _differing(settings):
    """(smaller sizes, other differences), as texts "layers 2 (paper 6)". A setting that the paper's tables repeat is
    listed once."""
    smaller, others, seen = [], [], set()
    columns = [settings.texts(name) for name in ("setting", "task", "key", "paper", "here", "same")]
    for setting, task, key, paper, here, same in zip(*columns):
        if key and (key, task) in seen:
            continue
        seen.add((key, task))
        text = f"{words.clipped(setting)}{f' of {words.clipped(task)}' if task else ''} {words.clipped(here)} " \
               f"(paper {words.clipped(paper)})"
        if key in SIZES and here and paper and _ends(here)[1] < _ends(paper)[0]:
            smaller.append(text)
        elif same != "yes":
            others.append(text)
    return smaller, others


def _listed(texts):
    more = f" and {len(texts) - SETTINGS} more" if len(texts) > SETTINGS else ""
    return ", ".join(texts[:SETTINGS]) + more


def _warning(tables, result):
    """What a reader must know before the numbers; None: the settings are the paper's."""
    settings = _of_result(tables, "reproduce_settings", result)
    if not len(settings):
        return "The table of settings is not there: whether these runs had the paper's sizes is not known."
    smaller, others = _differing(settings)
    parts = []
    if smaller:
        parts.append(f"The numbers here are of a smaller experiment than the paper's: {_listed(smaller)}. They do not "
                     "tell whether its numbers reproduce.")
    if others:
        begin = "Other differences" if smaller else "The settings are not the paper's"
        parts.append(f"{begin}: {_listed(others)}.")
    return " ".join(parts) or None


def _results(tables):
    """(result, its rows of Table 1), the first few."""
    return [(rows.text("result"), rows) for rows in tables.rows(TABLE).split("result")]


def warnings(tables):
    """What the page warns of, a sentence or two a reproduction."""
    results = _results(tables)
    found = [(result, _warning(tables, result)) for result, _ in results[:RESULTS]]
    several = len(results) > 1
    return [f"{f'Results of {result}: ' if several else ''}{text}" for result, text in found if text]


# ---- Tables ----

def _percent(value, sign=""):
    return (words.signed(f"{value:{sign}.2f}"), words.exact(value)) if np.isfinite(value) else "\N{EN DASH}"


def _outcome(mean, spread, seeds, paper):
    """Four cells: here, seeds, paper, the difference."""
    if np.isfinite(mean):
        several = seeds > 1 and np.isfinite(spread)
        here = (f"{mean:.2f}" + (f" ± {spread:.2f}" if several else ""),
                words.exact(mean) + (f" ± {words.exact(spread)}" if several else ""))
    else:
        here = "not run"
    count = words.exact(seeds) if np.isfinite(mean) and np.isfinite(seeds) else ""
    return [here, count, _percent(paper), _percent(mean - paper, "+")]


def _numbers(rows, task):
    return [rows.numbers(f"{column}{task}") for column in ("task", "spread", "seeds", "paper")]


def _grid(rows):
    head, cells = ["experiment", "encoding"], []
    for _, name in TASKS:
        head += [f"task {name}, here (%)", "seeds", "paper (%)", "here \N{MINUS SIGN} paper (points)"]
    outcomes = [np.array(_numbers(rows, task)).T for task, _ in TASKS]
    for i in range(min(len(rows), ROWS_SHOWN)):
        names = [words.clipped(rows.text(column, i)) for column in ("experiment", "encoding")]
        cells.append(names + [cell for of in outcomes for cell in _outcome(*map(float, of[i]))])
    return Grid(head, cells, [False] * 2 + [True] * 8, sources=[rows])


def _seeds(rows):
    """What ± means here, and what cannot be said."""
    seeds = np.concatenate([of[2][np.isfinite(of[0])] for of in (_numbers(rows, task) for task, _ in TASKS)])
    if not len(seeds):
        return
    if not (seeds > 1).any():
        yield Paragraph("One seed each: there is no interval, and what other seeds would give is not known.")
    else:
        single = "" if (seeds > 1).all() else " Entries of one seed have no interval."
        yield Paragraph(f"± is the standard deviation over seeds.{single}")


def _more(rows, what, table):
    if len(rows) > ROWS_SHOWN:
        yield Paragraph(f"{len(rows) - ROWS_SHOWN} more {what} are in the table {table}.", sources=[rows])


# ---- Figures ----

def _subject(name):
    """"Task distance, experiment text"."""
    return lambda rows: ", ".join(filter(None, (f"Task {name}", words.task(rows))))


def _best(rows, task):
    """(row of the highest mean, how many others are as high or have whiskers that overlap its own)."""
    mean, spread, seeds, _ = _numbers(rows, task)
    best = int(np.nanargmax(np.where(np.isfinite(mean), mean, np.nan)))
    near = (seeds[best] > 1) & (seeds > 1) & (mean + spread >= mean[best] - spread[best])
    return best, int((near | (mean == mean[best])).sum()) - 1


def _highest(rows, task):
    """"rope is highest with 93.6% (paper 92.6%); the whiskers of 1 other overlap its own"."""
    mean, _, seeds, paper = _numbers(rows, task)
    best, rivals = _best(rows, task)
    alone = int(np.isfinite(mean).sum()) == 1
    text = f"{words.clipped(rows.text('encoding', best))} {'has' if alone else 'is highest with'} {mean[best]:.1f}%"
    text += f" (paper {paper[best]:.1f}%)" if np.isfinite(paper[best]) else ""
    others = words.count(rivals, "other", "others")
    if rivals and seeds[best] > 1:
        text += f"; the whiskers of {others} overlap its own"
    elif rivals:
        text += f"; {others} {'is' if rivals == 1 else 'are'} as high"
    return text


def _task_figure(task, name):
    def has_not_run(rows):
        return not np.isfinite(rows.numbers(f"task{task}")).any()

    def say_highest(drawing):
        seeds = drawing.rows.numbers(f"seeds{task}")[np.isfinite(drawing.rows.numbers(f"task{task}"))]
        whiskers = WHISKERS if (seeds > 1).any() else "one seed each"
        return f"{_highest(drawing.rows, task)}; {whiskers}."

    def say_finding(drawing):
        best, rivals = _best(drawing.rows, task)
        whiskers = f"; {WHISKERS}" if rivals and drawing.rows.number(f"seeds{task}", best) > 1 else ""
        beside = [f"{what} {drawing.rows.number(f'{column}{task}', best):.1f}%" for column, what in
                  (("length", "the length alone gives"), ("ceiling", "the label ceiling is"))
                  if np.isfinite(drawing.rows.number(f"{column}{task}", best))]
        chance = f"; {', '.join(beside)}" if beside else ""
        return (f"Table 1, {words.uncapital(_subject(name)(drawing.rows))}: "
                f"{_highest(drawing.rows, task)}{whiskers}{chance}.")

    return Figure(f"table1-task{task}", (TABLE,), needs=(f"task{task}",),
                  undone=f"accuracies of task {name} are not drawn", figure_by=("experiment",),
                  group_by=("experiment",), skips=has_not_run, marks=POINTS, x=Axis("encoding"),
                  y=Axis(label="test accuracy (%)", lo=0, hi=100),
                  columns=(Column(f"task{task}", "here", spread=f"spread{task}", seeds=f"seeds{task}"),
                           Column(f"paper{task}", "paper"), Column(f"ceiling{task}", "label ceiling"),
                           Column(f"length{task}", "by length alone")),
                  subject=_subject(name), title="test accuracy", caption=say_highest,
                  finding=say_finding)


FIGURES = tuple(_task_figure(*task) for task in TASKS)


# ---- What stands beside ----

def _beside(tables, result):
    for name, show in (("reproduce_settings", _show_settings), ("reproduce_items", _show_items),
                       ("reproduce_missing", _show_missing), ("reproduce_needs", _show_needs)):
        rows = _of_result(tables, name, result)
        if len(rows):
            yield from show(rows)


def _show_settings(rows):
    yield Heading("Settings: the paper's Tables 3 and 4, and these runs")
    yield Listing(rows, ("item", "setting", "task", "paper", "here", "same", "note"))


def _show_items(rows):
    runs = rows.numbers("runs")
    whole = int(((runs > 0) & (rows.numbers("finished") >= runs)).sum())
    yield Heading("Which of the paper's tables and figures have run")
    yield Paragraph(f"{whole} of {len(rows)} rows have all their runs.", sources=[rows])
    yield Listing(rows, ("item", "about", "experiment", "runs", "finished", "note"))


def _show_missing(rows):
    failed = int((rows.texts("state") == "failed").sum())
    yield Heading("Runs that are missing")
    yield Paragraph(f"{words.count(len(rows), 'run', 'runs')} of the preset {'is' if len(rows) == 1 else 'are'} not "
                    "finished.", sources=[rows])
    if failed:
        yield Paragraph(f"{failed} of them failed: their numbers stopped being finite, or those of the run that they "
                        "need did. Hypotheses count them as failed.")
    if len(rows) > MISSING:
        yield Paragraph(f"These are the first {MISSING}; all are in the table reproduce_missing.")
    yield Listing(rows, ("run", "encoding", "task", "seed", "state", "failed_step", "note"), MISSING)


def _show_needs(rows):
    yield Heading("What the runs need")
    yield Listing(rows, ("preset", "experiment", "task", "runs", "finished", "operations", "hours", "rate", "note"))


# ---- Runs of `szego train`, outside of reproductions ----

def _runs(tables, reproductions):
    runs = tables.rows(RUNS)
    runs = runs.pick(np.array([not is_within(path, reproductions) for path in runs.texts("result")], bool))
    if not len(runs):
        return
    if reproductions:
        yield Heading("Other runs")
    yield Paragraph(f"Test accuracy in percent. The column \"paper\" has the accuracy in Table 1 of {SOURCE} for the same "
                    "encoding and task. Sizes, data and settings of these runs are their own, so the two numbers are of "
                    "different experiments. The label ceiling is the best accuracy that any classifier can have.")
    texts = [runs.texts(name) for name in ("result", "run", "encoding", "task")]
    numbers = [runs.numbers(name) for name in ("seed", "test_accuracy", "label_ceiling")]
    cells = []
    for *names, seed, accuracy, ceiling in list(zip(*texts, *numbers))[:ROWS_SHOWN]:
        percents = 100 * accuracy, 100 * ceiling, PUBLISHED.get(tuple(names[2:]), np.nan)
        cells.append([words.clipped(name) for name in names] + [words.exact(seed) if np.isfinite(seed) else ""] +
                     [_percent(value) if np.isfinite(value) else "" for value in percents])
    yield Grid(["result", "run", "encoding", "task", "seed", "test accuracy", "label ceiling", "paper"], cells,
               [False] * 4 + [True] * 4, sources=[runs])
    yield from _more(runs, "runs", RUNS)


# ---- The section ----

def _result_blocks(tables, result, rows, most):
    warning = _warning(tables, result)
    yield Paragraph(warning or "The settings that the paper states are those of these runs.", warning=bool(warning))
    yield Paragraph(f"Test accuracy in percent, of the tasks distance and count (the paper's tasks 1 and 2); seeds counts "
                    f"finished runs. The paper's numbers are those of Table 1 of {SOURCE}, differences are in "
                    "percentage points.")
    yield _grid(rows)
    yield from _more(rows, "rows", TABLE)
    yield from _seeds(rows)
    figures = [replace(figure, keeps=lambda all_rows: np.isin(all_rows.index, rows.index)) for figure in FIGURES]
    yield from compose(figures, tables, most)
    yield from _beside(tables, result)


def _compose(section, tables):
    results, drawn = _results(tables), 0
    for result, rows in results[:RESULTS]:
        if len(results) > 1:
            yield Heading(f"Results of {result}")
        for block in _result_blocks(tables, result, rows, section.most - drawn):
            drawn += isinstance(block, Drawing)
            yield block
    if len(results) > RESULTS:
        names = ", ".join(words.clipped(result) for result, _ in results[RESULTS:])
        yield Paragraph(f"Left out: {words.count(len(results) - RESULTS, 'more reproduction', 'more reproductions')} "
                        f"({names}). Their rows are in the table {TABLE}.", sources=[tables.rows(TABLE)])
    yield from _runs(tables, {result for result, _ in results} - {None})


SECTION = Section("table1", "Table 1: accuracies beside the paper's", (TABLE, RUNS), figures=FIGURES, most=12,
                  compose=_compose)
