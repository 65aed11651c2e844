"""Whether one number of the runs goes with another one: the arms' means, and the runs within their arms."""
from dataclasses import replace
from functools import partial

import numpy as np

from . import labels, words
from .compose import WIDE, add_series, compose
from .drawing import Finding, Paragraph
from .record import LINEAR, LOG, POINTS, ROWS, Axis, Figure, Section

STATEMENT = 240
DEVIATIONS = "standard deviations from the arm's mean"


# ---- Words ----

def _is_captured(measure):
    return measure == "contraction" or measure.startswith("curvature")


def _side(rows, side):
    """"ratio of widths, layer 1, step 0"."""
    measure, layer, step = rows.text(side), rows.number(f"{side}_layer"), rows.number(f"{side}_step")
    text = words.clipped(labels.measure(measure))
    text += f", layer {words.number(layer)}" if np.isfinite(layer) else ""
    if np.isfinite(step):
        return text + f", step {words.number(step)}"
    return text + (", mean of the early steps" if measure and _is_captured(measure) else "")


def _subject(rows):
    return f"{words.clipped(rows.text('relation'))}: {_side(rows, 'y')} over {_side(rows, 'x')}"


def _interval(rows):
    low, high = rows.number("lo"), rows.number("hi")
    if not (np.isfinite(low) and np.isfinite(high)):
        return ", without an interval"
    contains = "contains" if low <= 0 <= high else "does not contain"
    return f", 95% interval [{words.number(low)}, {words.number(high)}], which {contains} 0"


def _counted(rows, column, one, many):
    return f"; {words.count(rows.number(column), one, many)}" if rows.number(column) > 0 else ""


def _why_none(rows):
    if rows.text("kind") == "within":
        return "in no arm both numbers vary"
    return "it takes two at least" if not rows.number("arms") >= 2 else "one of the numbers is the same in all of them"


def _say_found(rows):
    """"Exploratory. Between 8 arms the correlation is negative: -0.6, 95% interval [-0.9, 0.3], which contains 0; 41
    runs are not finished."""
    arms, value = rows.number("arms"), rows.number("correlation")
    text = "Within" if rows.text("kind") == "within" else "Between"
    text = f"Exploratory. {text} {words.count(arms if arms > 0 else 0, 'arm', 'arms')}"
    if np.isfinite(value):
        sign = "negative" if value < 0 else "positive" if value > 0 else "0"
        text += f" the correlation is {sign}: {words.number(value)}{_interval(rows)}"
    else:
        text += f" no correlation is computed: {_why_none(rows)}"
    return (text + _counted(rows, "failed", "run lacks a number", "runs lack a number")
            + _counted(rows, "missing", "run is not finished", "runs are not finished") + ".")


def _say_kind(relations, kind, drawing):
    """What the table of relations has on the drawing's one."""
    rows = drawing.rows
    found = relations.pick((relations.texts("kind") == kind) & (relations.texts("relation") == rows.text("relation"))
                           & (relations.texts("result") == rows.text("result")))
    if not len(found):
        return "The table of relations does not have this one."
    return f"{words.clipped(found.text('statement'), STATEMENT)} {_say_found(found)}{drawing.own or ''}"


# ---- Between arms ----

def _axis(rows, side, column):
    """Ratios, eigenvalues and steps reach over powers of ten; shares do not."""
    measure = rows.text(side) or ""
    return Axis(column, label=_side(rows, side),
                scale=LOG if _is_captured(measure) or measure == "steps_to_half" else LINEAR)


def _prepare_means(drawing):
    """Axes by their measures, and each arm's interval along x; that along y is the points' own."""
    rows, panel = drawing.rows, drawing.panels[0]
    drawing.figure = replace(drawing.figure, x=_axis(rows, "x", "x_mean"), y=_axis(rows, "y", "y_mean"))
    drawing.x.label, drawing.y.label = drawing.figure.x.label, drawing.figure.y.label
    for arm in list(panel.series):
        ends = arm.rows.number("x_lo"), arm.rows.number("x_hi")
        if np.isfinite(ends).all():
            add_series(drawing, panel, arm.rows, None, ends, [arm.y[0]] * 2, marks="line", colour=arm.colour,
                       thin=True)


BY_RELATION = dict(figure_by=("result", "relation"), group_by=("result", "relation"), series_by=("arm",), marks=POINTS,
                   width=WIDE, subject=_subject, series_name=lambda rows: words.clipped(rows.text("arm"), 60))


MEANS = Figure("relations-arms", ("reproduce_relation_arms",), needs=("x_mean", "y_mean"),
               undone="the arms' means are not drawn", known=("x_mean", "y_mean"), **BY_RELATION,
               x=Axis("x_mean"), y=Axis("y_mean"), lo="y_lo", hi="y_hi", hover=("runs", "x_mean", "y_mean", "note"),
               prepare=_prepare_means, title="means of the arms, with 95% intervals")


# ---- Within arms ----

def _centred(values):
    """In units of the arm's standard deviation, from its mean; None: all are equal, but for rounding."""
    mean = np.mean(values / len(values)) * len(values)
    size = np.abs(values - mean).max()
    if not size > 0:
        return None
    away = (values - mean) / size  # its squares do not overflow
    spread = np.std(away, ddof=1)
    return away / spread if spread * size > 1e-6 * abs(mean) else None


def _varies(rows):
    return all(_centred(rows.numbers(column)) is not None for column in ("x_value", "y_value"))


def _is_constant(rows):
    return not any(map(_varies, rows.split("arm")))


def _prepare_runs(drawing):
    drawing.x.label, drawing.y.label = (f"{_side(drawing.rows, side)} ({DEVIATIONS})" for side in "xy")
    panel = drawing.panels[0]
    constant = [arm for arm in panel.series if not _varies(arm.rows)]
    panel.series = [arm for arm in panel.series if arm not in constant]
    for arm in panel.series:
        arm.x, arm.y = _centred(arm.x), _centred(arm.y)
    if constant:
        drawing.own = f" Not drawn, because a number does not vary: {', '.join(arm.name or '' for arm in constant)}."


RUNS = Figure("relations-runs", ("reproduce_relation_runs",), needs=("x_value", "y_value"),
              undone="the runs are not drawn", known=("x_value", "y_value"), **BY_RELATION, skips=_is_constant,
              skipped="in no arm both numbers vary",
              x=Axis("x_value"), y=Axis("y_value"), hover=("seed", "x_value", "y_value"), prepare=_prepare_runs,
              title="runs, in units of their arm's standard deviation")
LISTED = Figure("relations-listed", ("reproduce_relations",), marks=ROWS, heading="Every relation",
                shown=("relation", "x", "x_layer", "x_step", "y", "y_layer", "y_step", "kind", "arms", "runs", "failed",
                       "missing", "correlation", "lo", "hi"))


# ---- The section ----

def _undrawn(relations):
    """A relation without any arm has no figure; its sentence stands alone."""
    for i in np.flatnonzero((relations.texts("kind") == "between") & ~(relations.numbers("arms") > 0)):
        rows = relations.pick([i])
        yield Paragraph(f"{words.clipped(rows.text('relation'))}: {words.clipped(rows.text('statement'), STATEMENT)} "
                        f"{_say_found(rows)}", sources=[rows])


def _compose(section, tables):
    relations = tables.rows("reproduce_relations")
    records = (replace(MEANS, caption=partial(_say_kind, relations, "between")),
               replace(RUNS, caption=partial(_say_kind, relations, "within")))
    yield from compose(records, tables, section.most)
    yield from _undrawn(relations)
    if len(relations):
        low, high = relations.numbers("lo"), relations.numbers("hi")
        known = np.isfinite(low) & np.isfinite(high)
        apart = int((known & ((low > 0) | (high < 0))).sum())
        count = words.count(len(relations), "correlation", "correlations")
        if not known.any():
            yield Finding(f"Relations, exploratory: of {count} none has a 95% interval.")
        else:
            yield Finding(f"Relations, exploratory: of {count} {known.sum()} {'has' if known.sum() == 1 else 'have'} a 95% "
                          f"interval, and {apart} of these {'does' if apart == 1 else 'do'} not contain 0; if all were 0, "
                          "about 1 in 20 would not.")
    yield from compose((LISTED,), tables, 0)


SECTION = Section(
    "relations", "Relations, exploratory", ("reproduce_relations", "reproduce_relation_arms"),
    "Does one number of the runs go with another one? Nothing here is decided, and a correlation does not show a cause. "
    "Between arms: Spearman's correlation of the arms' means, whose interval is that of Fisher's z with the number of arms. "
    "Within arms: Pearson's correlation of the runs, each number centred in its arm and divided by the arm's standard "
    "deviation. An arm in which a number does not vary is left out. The interval within arms leaves out one seed at a "
    "time, as runs of one seed are not independent.",
    (MEANS, RUNS), most=16, compose=_compose)
