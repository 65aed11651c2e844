"""When? The deposit index, the winner's share of the gradients and the ratio of widths by step: means over seeds with
intervals, from an arm and from the same runs stopped early."""
import math
from typing import Dict, Iterator, Optional, Tuple

import numpy as np

from .measures import gradient_shares, layer_numbers, mean_contraction
from .plan import Course, Quantity
from .rows import Rows
from .runs import Run, Runs
from .shares import uniform_index
from .statistics import mean_interval

_REFERENCES = {"index": uniform_index, "gradient_share": lambda heads: 1 / heads, "contraction": lambda heads: 1.0}
_ORDER = list(_REFERENCES)
Place = Tuple[int, int, int]  # measure (of _ORDER), layer, step


def by_step(runs: Runs) -> Optional[Rows]:
    """A row a course, measure, layer and step; None: the preset has none."""
    if not runs.plan.courses:
        return None
    rows = Rows("by_step")
    for course in runs.plan.courses:
        _add_course(rows, runs, course)
    return rows


def _add_course(rows: Rows, runs: Runs, course: Course) -> None:
    wholes = runs.of(course.arms[0], course.task)
    found: Dict[Place, Dict[int, float]] = {}  # by seed; NaN: its run lacks the number
    for whole in wholes:
        for arm in course.arms:
            run = runs.find(arm, course.task, whole.seed)
            if run is not None and run.finished:
                for place, value in _points(runs, run, whole):
                    found.setdefault(place, {}).setdefault(whole.seed, value)
    for place, by_seed in sorted(found.items()):
        measure, layer, step = _ORDER[place[0]], place[1], place[2]
        numbers = [by_seed[seed] for seed in sorted(by_seed) if math.isfinite(by_seed[seed])]
        mean = mean_interval(numbers)
        rows.add(arm=course.arms[0].name, task=course.task, measure=measure, layer=layer, step=step,
                 seeds=len(numbers), failed=len(by_seed) - len(numbers), missing=len(wholes) - len(by_seed),
                 mean=mean.value, t_low=mean.low, t_high=mean.high,
                 reference=_REFERENCES[measure](wholes[-1].heads))


def _points(runs: Runs, run: Run, whole: Run) -> Iterator[Tuple[Place, float]]:
    """The numbers of a run; `whole`: the seed's run that is not stopped, which says who wins."""
    for layer in range(run.layers):
        index = math.nan
        if "output" in run.planned.methods:
            index = layer_numbers(run, run.ablation("output"), layer, runs.plan.early_steps).index
        yield (_ORDER.index("index"), layer, run.steps), index
    log = run.contraction
    if log is None:
        return
    kept = (log["step"] >= 0) & (log["layer"] >= 0) & (log["layer"] < whole.layers)
    for step, layer in np.unique(np.stack([log["step"][kept], log["layer"][kept]], axis=1), axis=0).tolist():
        yield ((_ORDER.index("contraction"), layer, step),
               mean_contraction(log, Quantity("contraction", layer, step)))
        if whole.finished:
            shares, steps = gradient_shares(log, layer, whole.heads, step, step)
            winner = whole.worst_head(layer)
            yield ((_ORDER.index("gradient_share"), layer, step),
                   float(shares[winner]) if steps and winner >= 0 else math.nan)
