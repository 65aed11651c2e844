"""The paper's Table 1 with the reproduction's accuracies beside, how the settings stand to the paper's, and what has not
run."""
import math
from dataclasses import replace

import numpy as np

from . import words
from .compose import compose
from .drawing import Grid, Heading, Listing, Paragraph
from .folders import folders_of, is_within
from .record import POINTS, Axis, Column, Figure, Section

RESULTS, ROWS, LISTED, MISSING = 4, 100, 12, 20
#: As train/reproduce/published.json has them: the paper, and its test accuracies in percent by encoding and task.
SOURCE = "arXiv 2505.13027v1 (May 2025)"
PAPER = {("mla", "distance"): 88.34, ("mla", "count"): 97.41, ("rope", "distance"): 92.64, ("rope", "count"): 69.43,
         ("nope", "distance"): 3.51, ("nope", "count"): 77.69}
NOT_THE_PAPERS = "The settings are not the paper's"
SIZES = {"model.vocabulary", "model.layers", "model.width", "model.hidden", "model.heads", "model.latent_kv",
         "model.max_length", "data.examples", "loop.epochs"}


def _of_result(rows, result):
    return rows.pick(rows.texts("result") == result)


# ---- How the settings stand to the paper's ----

def _numbers(texts):
    """The numbers of "512|1024"; None where one is no number."""
    try:
        return [float(text) for text in texts.split("|")]
    except ValueError:
        return None


def _is_smaller(setting):
    here, paper = _numbers(setting["here"] or ""), _numbers(setting["paper"] or "")
    return setting["key"] in SIZES and bool(here and paper) and max(here) < min(paper)


def _settings(rows):
    """Each setting once: Table 4 repeats Table 3's."""
    found = {}
    for i in range(len(rows)):
        one = {name: rows.cell(name, i) if rows.has(name) else None for name in ("key", "task", "setting", "here",
                                                                                "paper", "same")}
        one = {name: cell if cell is None or isinstance(cell, str) else words.exact(cell) for name, cell in one.items()}
        found.setdefault((one["key"], one["task"]) if one["key"] else i, one)
    return [one for one in found.values() if one["same"] != "yes"]


def _list(settings):
    """"layers 2 (paper 6), ..."."""
    parts = []
    for one in settings[:LISTED]:
        task = f" of {words.clipped(one['task'])}" if one["task"] else ""
        parts.append(f"{words.clipped(one['setting'])}{task} {words.clipped(one['here'])} (paper "
                     f"{words.clipped(one['paper'])})")
    return ", ".join(parts) + (", \N{HORIZONTAL ELLIPSIS}" if len(settings) > LISTED else "")


def _caveat(settings):
    """(what a reader must know before the numbers, whether it is a warning)."""
    differing = _settings(settings)
    smaller = [one for one in differing if _is_smaller(one)]
    other = [one for one in differing if not _is_smaller(one)]
    if not differing:
        return "The settings that the paper states are those of these runs.", False
    text = ""
    if smaller:
        text = (f"The numbers here are of a smaller experiment than the paper's: {_list(smaller)}. They say nothing on "
                "whether its numbers reproduce.")
    if other:
        text += f"{' Different besides' if smaller else NOT_THE_PAPERS}: {_list(other)}."
    return text, True


def _caveat_of(tables, result):
    settings = _of_result(tables.rows("reproduce_settings"), result)
    if not len(settings):
        return "The table of settings is not there: whether these runs had the paper's sizes is not known.", True
    return _caveat(settings)


# ---- The table ----

def _percent(value, form="{:.2f}"):
    return form.format(value) if math.isfinite(value) else "\N{EN DASH}"


def _outcome(rows, i, task):
    mean, spread, seeds, paper = (rows.number(f"{name}{task}", i) for name in ("task", "spread", "seeds", "paper"))
    here = _percent(mean) if math.isfinite(mean) else "not run"
    if math.isfinite(mean) and seeds > 1 and math.isfinite(spread):
        here += f" ± {spread:.2f}"
    return [here, words.exact(seeds) if math.isfinite(mean) and math.isfinite(seeds) else "", _percent(paper),
            _percent(mean - paper, "{:+.2f}")]


def _grid(rows):
    head = ["experiment", "encoding"]
    for task in (1, 2):
        head += [f"Task {task}, here", "seeds", "paper", "here - paper"]
    cells = [[words.clipped(rows.text("experiment", i)), words.clipped(rows.text("encoding", i)), *_outcome(rows, i, 1),
              *_outcome(rows, i, 2)] for i in range(min(len(rows), ROWS))]
    return Grid(head, cells, [False, False] + [True] * 8, sources=[rows])


def _seeds(rows):
    """What ± means here, and what cannot be said."""
    known = [rows.numbers(f"seeds{task}")[np.isfinite(rows.numbers(f"task{task}"))] for task in (1, 2)]
    seeds = np.concatenate(known)
    single, several = (~(seeds > 1)).any(), (seeds > 1).any()
    if several:
        yield Paragraph("± is the standard deviation over seeds."
                        + (" Entries of one seed have no interval." if single else ""))
    elif single:
        yield Paragraph("One seed each: there is no interval; what other seeds would give is not known.")


# ---- Figures ----

def _say_highest(rows, task):
    """"rope is highest with 93.6% (paper 92.6%), 1 other within the whiskers; one seed each."."""
    mean, spread, seeds, paper = (rows.numbers(f"{name}{task}") for name in ("task", "spread", "seeds", "paper"))
    known = np.isfinite(mean)
    best = int(np.argmax(np.where(known, mean, -np.inf)))
    near = (seeds[best] > 1) & (seeds > 1) & (mean + spread >= mean[best] - spread[best])
    rivals = int((known & (near | (mean == mean[best]))).sum()) - 1
    text = f"{words.clipped(rows.text('encoding', best))} is highest with {mean[best]:.1f}%"
    text += f" (paper {paper[best]:.1f}%)" if np.isfinite(paper[best]) else ""
    if rivals > 0:
        text += f", {words.count(rivals, 'other', 'others')}{' within the whiskers' if seeds[best] > 1 else ' as high'}"
    return text + ("; one seed each." if (~(seeds[known] > 1)).all() else "; whiskers: one standard deviation.")


def _figure(task, says):
    return Figure(f"table1-{says.split()[1]}", ("reproduce_table1",), needs=(f"task{task}",),
                  undone=f"accuracies of {says} are not drawn", figure_by=("experiment",), group_by=("experiment",),
                  skips=lambda rows: not np.isfinite(rows.numbers(f"task{task}")).any(), marks=POINTS, x=Axis("encoding"),
                  y=Axis(label="test accuracy (%)", lo=0, hi=100),
                  columns=(Column(f"task{task}", "here", f"spread{task}", f"seeds{task}"),
                           Column(f"paper{task}", "paper"), Column(f"ceiling{task}", "label ceiling"),
                           Column(f"length{task}", "by length alone")),
                  subject=lambda rows: f"Experiment {words.clipped(rows.text('experiment'))}",
                  title=f"test accuracy, {says}", caption=lambda drawing: _say_highest(drawing.rows, task))


FIGURES = (_figure(1, "trigger distance (task 1)"), _figure(2, "trigger count (task 2)"))


# ---- The tables beside ----

def _items(rows):
    runs, finished = rows.numbers("runs"), rows.numbers("finished")
    whole = int(((runs > 0) & (finished >= runs)).sum())
    yield Heading("Which of the paper's tables and figures have run")
    yield Paragraph(f"{whole} of {len(rows)} rows have all their runs.")
    yield Listing(rows, ("item", "about", "experiment", "runs", "finished", "note"))


def _missing(rows):
    failed = int((rows.texts("state") == "failed").sum())
    yield Heading("Runs that are missing")
    yield Paragraph(f"{len(rows)} runs of the preset are not finished.")
    if failed:
        yield Paragraph(f"{failed} of them failed: their numbers stopped being finite, or those of the run that they need "
                        "did. Hypotheses count them as failed.")
    if len(rows) > MISSING:
        yield Paragraph(f"The first {MISSING} of them; all are in the table reproduce_missing.")
    yield Listing(rows.pick(slice(0, MISSING)), ("run", "encoding", "task", "seed", "state", "failed_step", "note"))


def _beside(tables, result):
    settings = _of_result(tables.rows("reproduce_settings"), result)
    if len(settings):
        yield Heading("Settings: the paper's Tables 3 and 4, and these runs")
        yield Listing(settings, ("item", "setting", "task", "paper", "here", "same", "note"))
    for name, show in (("items", _items), ("missing", _missing)):
        rows = _of_result(tables.rows(f"reproduce_{name}"), result)
        if len(rows):
            yield from show(rows)
    needs = _of_result(tables.rows("reproduce_needs"), result)
    if len(needs):
        yield Heading("What the runs need")
        yield Listing(needs, ("preset", "experiment", "task", "runs", "finished", "operations", "hours", "rate", "note"))


# ---- Runs of `szego train` ----

def _runs(rows):
    yield Paragraph(f"Test accuracy in percent. The paper's (Table 1 of {SOURCE}) is beside it if encoding and task have "
                    "its names; sizes, data and settings of these runs are their own, so the two numbers are of different "
                    "experiments.")
    cells = []
    for i in range(min(len(rows), ROWS)):
        texts = [rows.text(name, i) for name in ("result", "run", "encoding", "task")]
        seed = rows.number("seed", i)
        numbers = [100 * rows.number(name, i) for name in ("test_accuracy", "label_ceiling")]
        numbers.append(PAPER.get((texts[2], texts[3]), math.nan))
        cells.append([words.clipped(text) for text in texts] + [words.exact(seed) if math.isfinite(seed) else ""]
                     + [_percent(value) if math.isfinite(value) else "" for value in numbers])
    yield Grid(["result", "run", "encoding", "task", "seed", "test accuracy", "label ceiling", "paper"], cells,
               [False] * 4 + [True] * 4, sources=[rows])
    if len(rows) > ROWS:
        yield Paragraph(f"And {len(rows) - ROWS} more runs, behind the link.")


# ---- The section ----

def _one_result(section, tables, rows, result, several, most):
    if several:
        yield Heading(f"Results of {result}")
    text, warns = _caveat_of(tables, result)
    yield Paragraph(text, warning=warns)
    yield Paragraph(f"Test accuracy in percent; the paper's numbers are those of Table 1 of {SOURCE}, differences are in "
                    "percentage points.")
    yield _grid(rows)
    yield from _seeds(rows)
    of_result = [replace(figure, keeps=lambda rows: rows.texts("result") == result) for figure in section.figures]
    yield from compose(of_result, tables, most)
    yield from _beside(tables, result)


def _compose(section, tables):
    rows = tables.rows("reproduce_table1")
    results = folders_of(rows)
    most = section.most
    for result in results[:RESULTS]:
        for block in _one_result(section, tables, _of_result(rows, result), result, len(results) > 1, most):
            most -= hasattr(block, "panels")
            yield block
    if len(results) > RESULTS:
        yield Paragraph(f"{len(results) - RESULTS} more reproductions are left out; their rows are in the table "
                        "reproduce_table1.")
    runs = tables.rows("train_runs")
    others = runs.pick(np.array([not is_within(path, results) for path in runs.texts("result")], bool))
    if len(others):
        if results:
            yield Heading("Other runs")
        yield from _runs(others)


SECTION = Section("table1", "Table 1: accuracies beside the paper's", ("reproduce_table1", "train_runs"), None, FIGURES,
                  most=12, compose=_compose)
