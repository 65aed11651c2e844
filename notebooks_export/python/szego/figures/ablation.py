"""Accuracy without each head, a violin a layer (Figures 4 and 6 to 14 of the paper), and the deposit index beside the
accuracy that it is a share of."""
import numpy as np

from . import words
from .compose import compose
from .drawing import Drawing, Finding, Line
from .record import POINTS, ROWS, VIOLINS, Axis, Figure, Rule, Section
from .rows import same

#: Drops that come to no more are noise: hypotheses take no index of them either.
LEAST_DROP = 0.05


# ---- Of which experiment ----

def _has_encodings(rows):
    return len(set(rows.texts("encoding"))) > 1


def _subject(rows):
    """"rope, task distance, experiment text, by output"; without the encoding where there are several."""
    method = rows.text("method")
    text = words.capital(words.task(rows)) or "Task not given" if _has_encodings(rows) else words.run(rows)
    return text + (f", by {words.clipped(method)}" if method else "")


def _encoding(drawing, row):
    """", rope" in a figure of several encodings."""
    return f", {words.clipped(row.text('encoding'))}" if _has_encodings(drawing.rows) else ""


def _head(row, column):
    return f"head {words.number(row.number(column))} of layer {words.number(row.number('layer'))}"


# ---- Accuracy without a head ----

def _kinds(rows):
    """A row without a head takes the whole layer away."""
    head = rows.numbers("head")
    if not rows.has("head") or rows.is_text("head"):
        return [None] * len(rows)
    return ["head" if np.isfinite(value) else "layer" if np.isnan(value) else None for value in head]


def _kind(rows):
    return "one head" if np.isfinite(rows.number("head")) else "the whole layer"


def _mark_kinds(drawing):
    """The head whose loss costs most is named where it is one point."""
    for panel in drawing.panels:
        for one in panel.series:
            is_head = np.isfinite(one.rows.number("head"))
            one.colour, one.marks = (0, VIOLINS) if is_head else (1, POINTS)
        worst = _worst(panel.rows)
        if worst is not None and len(worst) == 1 and _mean_drop(worst) > 0:
            for one in panel.series:
                place = np.flatnonzero(one.rows.index == worst.index[0])
                one.named = {int(i): f"head {words.number(worst.number('head'))}" for i in place}


def _worst(rows):
    """The rows, one per seed, of the head whose loss costs most on average; None: there is none."""
    known = np.isfinite(rows.numbers("head")) & np.isfinite(rows.numbers("drop")) & np.isfinite(rows.numbers("accuracy"))
    heads = rows.pick(known).split("encoding", "layer", "head")
    return max(heads, key=lambda head: np.mean(head.numbers("drop")), default=None)


def _mean_drop(rows):
    return float(np.mean(rows.numbers("drop")))


def _loss(drawing, worst):
    """"Largest loss of accuracy: without head 1 of layer 0, accuracy falls from 90.0% to 50.0%"; "" where nothing is known."""
    if worst is None:
        return ""
    drop, accuracy = _mean_drop(worst), float(np.mean(worst.numbers("accuracy")))
    over = f", on average over {words.count(len(worst), 'seed', 'seeds')}" if len(worst) > 1 else ""
    if drop <= 0:
        return "No head costs accuracy when it is taken away"
    return (f"Largest loss of accuracy: without {_head(worst, 'head')}{_encoding(drawing, worst)}, accuracy falls from "
            f"{words.percent(accuracy + drop)} to {words.percent(accuracy)}{over}")


def _say_worst(drawing):
    """"Largest loss of accuracy: without head 1 of layer 0, accuracy falls from 90.0% to 50.0%; 2 seeds." """
    noted = sum(note is not None for note in drawing.rows.texts("note"))
    seeds, worst = len(drawing.rows.distinct("seed")), _worst(drawing.rows)
    parts = [_loss(drawing, worst), "" if worst is not None and len(worst) == seeds > 1 else words.count(seeds, "seed", "seeds"),
             words.count(noted, "point has a note", "points have a note") if noted else ""]
    return f"{'; '.join(filter(None, parts))}."


# ---- The deposit index ----

def _is_run(rows):
    """Of one run; the other rows are means over seeds."""
    return np.isfinite(rows.numbers("seed")) & np.isfinite(rows.numbers("largest_drop"))


def _has_index(rows):
    return np.isfinite(rows.numbers("index"))


def _is_over_seeds(rows):
    return _has_index(rows) & np.isnan(rows.numbers("seed"))


def _layers(rows):
    return [layer if is_run else None for layer, is_run in zip(rows.numbers("layer"), _is_run(rows))]


def _prepare_deposit(drawing):
    """A rule where all runs and layers have the same number of heads; a layer has one colour in every panel."""
    layers = list(drawing.rows.distinct("layer"))
    for one in drawing.series():
        if np.isfinite(one.rows.number("layer")):
            one.colour = layers.index(one.rows.number("layer"))
    uniform = drawing.rows.numbers("uniform_index")
    if np.isfinite(uniform).all() and (uniform == uniform[0]).all():
        for panel in drawing.panels:
            panel.rules.append(Line("largest of random shares, mean", float(uniform[0])))


def _loss_of(rows, row):
    """What the worst head of the row's layer costs: of a mean over seeds, the mean of its runs; NaN: not known."""
    runs = row if _is_run(row)[0] else rows.pick(_is_run(rows))
    alike = [all(same(runs, i, row, 0, column) for column in ("encoding", "layer")) for i in range(len(runs))]
    losses = runs.numbers("largest_drop")[np.array(alike, bool)]
    return float(np.mean(losses)) if len(losses) else np.nan


def _costliest(rows):
    """The row of the layer whose worst head costs most, of the means over seeds, or of the runs where there are no
    means; None: no layer's drops are more than noise."""
    candidates = ~_is_run(rows)
    if not candidates.any():
        candidates = ~candidates
    found, most = None, -np.inf
    for i in np.flatnonzero(candidates):
        row = rows.pick([i])
        total, loss = row.number("total_drop"), _loss_of(rows, row)
        weight = loss if np.isfinite(loss) else total * row.number("index")
        weight = row.number("index") if np.isnan(weight) else weight  # the table has no drops
        if not total <= LEAST_DROP and weight > most:
            found, most = row, weight
    return found


def _index(row):
    """"58.0% [50.0%, 75.0%]": with the least and the greatest of the seeds."""
    least, greatest = row.number("index_least"), row.number("index_greatest")
    known = np.isfinite(least) and np.isfinite(greatest)
    return words.percent(row.number("index")) + (f" [{words.percent(least)}, {words.percent(greatest)}]" if known else "")


def _uniform(row):
    uniform = row.number("uniform_index")
    return f"; the largest of random shares is {words.percent(uniform)} on average" if np.isfinite(uniform) else ""


def _worst_head(row):
    """With means over seeds, each seed may have another one."""
    if np.isfinite(row.number("worst_head")):
        return _head(row, "worst_head")
    return f"the worst head of layer {words.number(row.number('layer'))}"


def _points(value):
    return f"{words.number(100 * value)} points of accuracy"


def _say_noise(rows):
    over = "" if _is_run(rows).all() else ", on average over the seeds,"
    return f"In no layer{over} do the drops sum to more than {_points(LEAST_DROP)}"


def _say_deposit(drawing):
    row = _costliest(drawing.rows)
    if row is None:
        return f"{_say_noise(drawing.rows)}: the shares are noise."
    loss = _loss_of(drawing.rows, row)
    does = f"costs {_points(loss)}. That is" if np.isfinite(loss) else "has"
    total = row.number("total_drop")
    drops = f" ({_points(total)} together)" if np.isfinite(total) else ""
    return (f"Largest loss: {_worst_head(row)}{_encoding(drawing, row)} {does} {_index(row)} of what the heads of its layer "
            f"cost{drops}{_uniform(row)}.")


def _say_finding(drawing):
    """"Heads taken away, rope, task distance: head 2 of layer 0 costs 25 points of accuracy, 58.0% of what the heads of
    its layer cost; ..." """
    row = _costliest(drawing.rows)
    if row is None:
        return f"Heads taken away, {_subject(drawing.rows)}: {_say_noise(drawing.rows)}."
    loss = _loss_of(drawing.rows, row)
    does = f"costs {_points(loss)}," if np.isfinite(loss) else "has"
    return (f"Heads taken away, {words.run(row)}: {_worst_head(row)} {does} {_index(row)} of what the heads of its layer "
            f"cost{_uniform(row)}.")


# ---- Records ----

BY_EXPERIMENT = dict(figure_by=("result", "experiment", "task", "method"),
                     group_by=("result", "experiment", "task", "method"), panel_by=("encoding",), subject=_subject)
DEPOSITS = ("reproduce_deposit", "ablate_deposit")

ACCURACY = Figure("ablation-accuracy", ("reproduce_ablation", "ablate_ablation"), needs=("layer", "accuracy"),
                  undone="accuracies are not drawn", **BY_EXPERIMENT, series_key=_kinds, series_name=_kind,
                  marks=VIOLINS, x=Axis("layer", places=True), y=Axis("accuracy", lo=0, hi=1),
                  rules=(Rule("with every head", column="accuracy", plus="drop"),),
                  hover=("layer", "head", "seed", "accuracy", "drop", "note"), prepare=_mark_kinds,
                  title="accuracy without each head", caption=_say_worst)
DEPOSIT = Figure("ablation-deposit", DEPOSITS, needs=("index", "largest_drop"),
                 undone="the shares of the worst heads are not drawn", **BY_EXPERIMENT, known=("index",),
                 series_key=_layers, series_name=lambda rows: f"layer {words.number(rows.number('layer'))}",
                 marks=POINTS, x=Axis("largest_drop", label="loss of accuracy"),
                 y=Axis("index", label="share of the drops", lo=0, hi=1),
                 hover=("worst_head", "seed", "index", "largest_drop", "note"), prepare=_prepare_deposit,
                 title="the worst head's share of the drops", caption=_say_deposit, finding=_say_finding)
OVER_SEEDS = Figure("ablation-seeds", DEPOSITS, keeps=_is_over_seeds, marks=ROWS, heading="Deposit index over seeds",
                    shown=("experiment", "encoding", "task", "method", "layer", "runs", "index", "index_least",
                           "index_greatest", "uniform_index", "total_drop"))


def _compose(section, tables):
    """Where no share is drawn, the largest loss is what was found."""
    blocks = compose(section.figures, tables, section.most)
    drawings = [block for block in blocks if isinstance(block, Drawing)]
    yield from blocks
    worst = _worst(drawings[0].rows) if drawings and not any(one.findings for one in drawings) else None
    if worst is not None:
        text = _say_worst(drawings[0]) if _mean_drop(worst) > LEAST_DROP else \
            f"No head costs more than {_points(LEAST_DROP)}."
        yield Finding(f"Heads taken away, {_subject(drawings[0].rows)}: {text}", drawings[0].id)


SECTION = Section(
    "ablation", "Heads taken away one by one", ("reproduce_ablation", "ablate_ablation"),
    "A point is the accuracy after one head is taken away. Ten points or more also have a violin: its width is their "
    "density, and its line is their median. The deposit index of a layer is the share of the drops, gains counted as "
    "0, that the worst head carries. The dashed line is the expected largest share of `H` random shares: uniform on the "
    "simplex, as those of independent, exponential drops are. It is a reference: `H` heads with equal losses would lie "
    "near 1 / `H` (column equal_95 of the table arms). Drops within the sampling error of the "
    "test split are noise, and so are their shares. Brackets hold the least and the greatest of the seeds: those of three "
    "seeds hold the median of further ones with a chance of 75%, those of two with 50%. The table has the 95% interval of "
    "the mean by Student's t, whose ends may lie outside 0 to 1 with few seeds. Do not draw conclusions from one seed.",
    (ACCURACY, DEPOSIT, OVER_SEEDS), most=12, compose=_compose)
