"""When? Numbers of an arm by training step: means over seeds with their intervals, a panel a layer."""
import numpy as np

from . import labels, words
from .record import Axis, Figure, Rule, Section

LAYERS_SAID = 4


def _subject(rows):
    """"rope/rope, task distance, deposit index"."""
    return (f"{words.clipped(rows.text('arm'))}, task {words.clipped(rows.text('task'))}, "
            f"{words.clipped(labels.measure(rows.text('measure')))}")


def _layer(rows, i):
    """"0.72 [0.6, 0.84] in layer 0 (9 seeds, 1 without it)"."""
    mean, low, high, layer, seeds = (rows.number(column, i) for column in ("mean", "t_low", "t_high", "layer", "seeds"))
    interval = f" [{words.number(low)}, {words.number(high)}]" if np.isfinite(low) else ""
    lacking = [f", {rows.number(column, i):.0f} {what}" for column, what in
               (("failed", "without it"), ("missing", "not finished")) if rows.number(column, i) > 0]
    counted = words.count(seeds if seeds > 0 else 0, "seed", "seeds")
    return f"{words.number(mean)}{interval} in layer {words.number(layer)} ({counted}{''.join(lacking)})"


def _say_last(drawing):
    """"At step 990 the ratio of widths is 0.72 [0.6, 0.84] in layer 0 (9 seeds); content alone: 1."""
    step = drawing.rows.numbers("step")
    rows = drawing.rows.pick(step == np.nanmax(step))
    more = f", and {words.count(len(rows) - LAYERS_SAID, 'more layer', 'more layers')}" if len(rows) > LAYERS_SAID else ""
    return (f"At step {words.number(np.nanmax(step))} the {labels.measure(drawing.rows.text('measure'))} is "
            f"{', '.join(_layer(rows, i) for i in range(min(len(rows), LAYERS_SAID)))}{more}; "
            f"{drawing.figure.rules[0].name}: {words.number(drawing.rows.number('reference'))}.")


def _find_last(drawing):
    rows, said = drawing.rows, _say_last(drawing)
    return f"{words.clipped(rows.text('arm'))}, task {words.clipped(rows.text('task'))}: {said[0].lower()}{said[1:]}"


def _label(drawing):
    drawing.y.label = labels.measure(drawing.rows.text("measure"))


def _course(measure, reference, **more):
    return Figure(f"by-step-{measure.replace('_', '-')}", ("reproduce_by_step",), needs=("step", "mean"),
                  where=("measure", measure), known=("mean",),
                  skips=lambda rows: not rows.has_several("step"), skipped="there is one step",
                  figure_by=("result", "arm", "task"), group_by=("result", "arm", "task", "measure"),
                  panel_by=("layer",), series_name=lambda rows: "mean over the seeds, 95% interval", x=Axis("step"),
                  y=Axis("mean"), prepare=_label, lo="t_low", hi="t_high", rules=(Rule(reference, column="reference"),),
                  hover=("step", "mean", "t_low", "t_high", "seeds"), subject=_subject,
                  title="by step", caption=_say_last, finding=_find_last, **more)


SECTION = Section(
    "by-step", "By step", ("reproduce_by_step",),
    "When does it happen? Means over seeds by training step, with the 95% interval by Student's t. The deposit index at a "
    "step is that of runs that end there. The share of the gradient norm, of W_Q and W_K over the layer's heads, is that of "
    "the head of the layer with the largest drop at the end of the seed's whole run. The ratio of "
    "widths is the geometric mean over heads and probes: below 1 the encoding narrows the logits. All of this is "
    "exploratory.",
    (_course("index", "uniform shares, mean", undone="numbers by step are not drawn"),
     _course("gradient_share", "equal heads"), _course("contraction", "content alone")))
