"""Accuracy without each head, a violin a layer (Figures 4, 6 to 8 and 9 to 14 of the paper), and the deposit index
beside the accuracy that it is a share of."""
import numpy as np

from . import words
from .drawing import Line
from .record import POINTS, ROWS, VIOLINS, Axis, Figure, Rule, Section


# ---- What of ----

def _several(rows, column):
    return len(set(rows.texts(column))) > 1


def _subject(rows):
    """"rope, distance (text), by output": the encoding where there is one only."""
    if not _several(rows, "encoding"):
        text = words.run(rows)
    else:
        text = f"Task {words.clipped(rows.text('task') or 'not given')}"
        text += f", experiment {words.clipped(rows.text('experiment'))}" if rows.text("experiment") else ""
    return text + (f", by {words.clipped(rows.text('method'))}" if rows.text("method") else "")


def _encoding(drawing, row):
    """", rope" in a figure of several encodings."""
    if not _several(drawing.rows, "encoding"):
        return ""
    return f", {words.clipped(drawing.rows.text('encoding', row))}"


# ---- Accuracy without a head ----

def _kind_key(rows):
    """A row without a head is of a whole layer."""
    if not rows.has("head"):
        return [None] * len(rows)
    return ["head" if np.isfinite(head) else "layer" for head in rows.numbers("head")]


def _is_head(rows):
    return np.isfinite(rows.number("head"))


def _mark_kinds(drawing):
    for one in drawing.series():
        one.colour, one.marks = (0, VIOLINS) if _is_head(one.rows) else (1, POINTS)


def _head(rows, row, column="head"):
    return f"head {words.number(rows.number(column, row))} of layer {words.number(rows.number('layer', row))}"


def _say_worst(drawing):
    """"Worst loss: without head 1 of layer 0 accuracy falls from 0.9 to 0.5; 2 seeds."."""
    rows = drawing.rows
    drop, accuracy = rows.numbers("drop"), rows.numbers("accuracy")
    known = np.isfinite(rows.numbers("head")) & np.isfinite(drop) & np.isfinite(accuracy)
    text = ""
    if known.any():
        worst = int(np.argmax(np.where(known, drop, -np.inf)))
        if drop[worst] <= 0:
            text = "No head's loss costs accuracy; "
        else:
            text = (f"Worst loss: without {_head(rows, worst)}{_encoding(drawing, worst)}, accuracy falls from "
                    f"{words.number(accuracy[worst] + drop[worst])} to {words.number(accuracy[worst])}; ")
    text += words.count(len(rows.distinct("seed")), "seed", "seeds")
    noted = int(sum(note is not None for note in rows.texts("note")))
    return text + (f"; {words.count(noted, 'point has a note', 'points have a note')}." if noted else ".")


# ---- The deposit index ----

def _is_run(rows):
    """Rows of one run; the others are means over the seeds."""
    return np.isfinite(rows.numbers("seed")) & np.isfinite(rows.numbers("largest_drop"))


def _has_index(rows):
    return np.isfinite(rows.numbers("index"))


def _layer_key(rows):
    return [layer if run else None for layer, run in zip(rows.numbers("layer"), _is_run(rows))]


def _layer(rows):
    return f"layer {words.number(rows.number('layer'))}"


def _add_uniform(drawing):
    """What uniform shares have in all runs and layers, where that is one number."""
    uniform = drawing.rows.numbers("uniform_index")
    if len(uniform) and np.isfinite(uniform).all() and (uniform == uniform[0]).all():
        for panel in drawing.panels:
            panel.rules.append(Line("uniform shares, mean", float(uniform[0])))


def _largest(rows):
    """Of means over seeds the row with the greatest index, of runs where there are no means."""
    index, run = rows.numbers("index"), _is_run(rows)
    means = np.flatnonzero(~run) if (~run).any() else np.arange(len(rows))
    return int(means[np.argmax(index[means])])


def _share(rows, row):
    """"0.58 [0.5, 0.75]": the least and the greatest of the seeds."""
    text = words.number(rows.number("index", row))
    least, greatest = rows.number("index_least", row), rows.number("index_greatest", row)
    if np.isfinite(least) and np.isfinite(greatest):
        text += f" [{words.number(least)}, {words.number(greatest)}]"
    return text


def _uniform(rows, row):
    uniform = rows.number("uniform_index", row)
    return f"; uniform shares have a mean of {words.number(uniform)}" if np.isfinite(uniform) else ""


def _worst_head(rows, row):
    """Of means over seeds each seed may have another one."""
    if np.isfinite(rows.number("worst_head", row)):
        return _head(rows, row, "worst_head")
    return f"the worst head of layer {words.number(rows.number('layer', row))}"


def _say_deposit(drawing):
    rows = drawing.rows
    row = _largest(rows)
    total = rows.number("total_drop", row)
    text = f"Largest share: {_share(rows, row)}{_encoding(drawing, row)}, {_worst_head(rows, row)}"
    text += f", of drops that sum to {words.number(total)}" if np.isfinite(total) else ""
    return f"{text}{_uniform(rows, row)}."


def _say_finding(drawing):
    rows = drawing.rows
    row = _largest(rows)
    return (f"Heads taken away, {words.run(rows.pick([row]))}: {_worst_head(rows, row)} carries {_share(rows, row)} of its "
            f"layer's drops{_uniform(rows, row)}.")


# ---- Records ----

BY_EXPERIMENT = dict(figure_by=("result", "experiment", "task", "method"),
                     group_by=("result", "experiment", "task", "method"), panel_by=("encoding",), subject=_subject)
DEPOSITS = ("reproduce_deposit", "ablate_deposit")

ACCURACY = Figure("ablation-accuracy", ("reproduce_ablation", "ablate_ablation"), needs=("layer", "accuracy"),
                  undone="accuracies are not drawn", **BY_EXPERIMENT, series_key=_kind_key,
                  series_name=lambda rows: "one head" if _is_head(rows) else "the whole layer", marks=VIOLINS,
                  x=Axis("layer", places=True), y=Axis("accuracy", lo=0, hi=1),
                  rules=(Rule("every head there", "accuracy", "drop"),),
                  hover=("layer", "head", "seed", "accuracy", "drop", "note"), prepare=_mark_kinds,
                  title="accuracy without each head", caption=_say_worst)
DEPOSIT = Figure("ablation-deposit", DEPOSITS, needs=("index", "largest_drop"),
                 undone="the shares of the worst heads are not drawn", **BY_EXPERIMENT, keeps=_has_index,
                 series_key=_layer_key, series_name=_layer, marks=POINTS, x=Axis("largest_drop", label="loss of accuracy"),
                 y=Axis("index", label="share of the drops", lo=0, hi=1),
                 hover=("worst_head", "seed", "index", "largest_drop", "note"), prepare=_add_uniform,
                 title="the worst head's share of the drops", caption=_say_deposit, finding=_say_finding)
OVER_SEEDS = Figure("ablation-seeds", DEPOSITS, keeps=lambda rows: _has_index(rows) & np.isnan(rows.numbers("seed")),
                    marks=ROWS, heading="Deposit index over seeds",
                    shown=("encoding", "task", "method", "layer", "index", "index_least", "index_greatest", "index_t_low",
                           "index_t_high", "uniform_index", "total_drop"))

SECTION = Section(
    "ablation", "Heads taken away one by one", ("reproduce_ablation", "ablate_ablation"),
    "A point is the accuracy after one head is taken away. The deposit index of a layer is the share of the drops, gains "
    "counted as 0, that the worst head carries. The rule is a reference, not what equal heads give: the mean of the "
    "largest share if shares are uniform on the simplex, as those of independent, exponential drops are. Heads that all "
    "cost the same stay near 1 / heads (column equal_95 of the table arms). A large share of a small drop says little, and "
    "drops within the sampling error of the test split are noise. Brackets hold the least and the greatest of the seeds: "
    "of three seeds they hold the median of further ones with a chance of 75%, of two with 50%. The columns index_t hold "
    "the 95% interval of the mean by Student's t. One seed is a hint, not a finding.", (ACCURACY, DEPOSIT, OVER_SEEDS),
    most=12)
