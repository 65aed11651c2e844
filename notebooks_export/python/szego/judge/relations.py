"""Does one number of the runs go with another one? Correlations between arms and within them: exploratory, and
without a decision."""
import math
from typing import Dict, List, NamedTuple, Optional, Tuple

from .measures import number
from .plan import Relation
from .rows import Rows
from .runs import Run, Runs
from .statistics import mean_interval, pooled_within, spearman_interval


class _Numbers(NamedTuple):
    """Both numbers of a run; NaN: it has none."""
    arm: int
    run: Run
    x: float
    y: float

    @property
    def whole(self) -> bool:
        return not (math.isnan(self.x) or math.isnan(self.y))


def relations(runs: Runs) -> Tuple[Optional[Rows], Optional[Rows], Optional[Rows]]:
    """(two rows a relation, the means of the arms, the numbers of each run); None: the preset has none."""
    if not runs.plan.relations:
        return None, None, None
    rows, by_arm, by_run = Rows("relations"), Rows("relation_arms"), Rows("relation_runs")
    for of in runs.plan.relations:
        early = runs.plan.early_steps
        numbers = [_Numbers(index, run, number(run, of.x, early), number(run, of.y, early))
                   for index, arm in enumerate(of.arms) for run in runs.of(arm, of.task)]
        _add_runs(by_run, of, numbers)
        means = _add_arms(by_arm, of, numbers)
        _add_correlations(rows, of, numbers, means)
    return rows, by_arm, by_run


def _asked(of: Relation) -> Dict[str, object]:
    """The columns that all three begin with."""
    return {"relation": of.name, "x": of.x.measure, "x_layer": of.x.layer, "x_step": of.x.step, "y": of.y.measure,
            "y_layer": of.y.layer, "y_step": of.y.step}


def _add_runs(rows: Rows, of: Relation, numbers: List[_Numbers]) -> None:
    for one in numbers:
        note = ("the run is not finished" if one.run.missing else None if one.whole else "the run lacks a number")
        rows.add(**_asked(of), arm=one.run.arm.name, seed=one.run.seed, x_value=one.x, y_value=one.y, note=note)


def _add_arms(rows: Rows, of: Relation, numbers: List[_Numbers]) -> List[Tuple[float, float]]:
    """The means of the arms that have runs with both numbers."""
    means = []
    for index, arm in enumerate(of.arms):
        own = [one for one in numbers if one.arm == index and one.whole]
        x, y = mean_interval([one.x for one in own]), mean_interval([one.y for one in own])
        if own:
            means.append((x.value, y.value))
        rows.add(**_asked(of), arm=arm.name, runs=len(own), x_mean=x.value, x_lo=x.low, x_hi=x.high, y_mean=y.value,
                 y_lo=y.low, y_hi=y.high)
    return means


def _add_correlations(rows: Rows, of: Relation, numbers: List[_Numbers], means: List[Tuple[float, float]]) -> None:
    """Between, of ranks: ratios reach from 0.9 to 20, accuracies lie close below the ceiling, and none of this is a
    line."""
    whole, missing = [one for one in numbers if one.whole], sum(one.run.missing for one in numbers)
    shared = {**_asked(of), "missing": missing, "failed": len(numbers) - len(whole) - missing,
              "statement": of.statement}
    between = spearman_interval([x for x, _ in means], [y for _, y in means])
    rows.add(**shared, kind="between", n=len(means), arms=len(means), runs=len(whole), correlation=between.value,
             lo=between.low, hi=between.high, method="spearman")
    within = pooled_within([one.x for one in whole], [one.y for one in whole], [one.arm for one in whole],
                           [one.run.seed for one in whole])
    rows.add(**shared, kind="within", n=within.pairs - within.groups, arms=within.groups, seeds=within.blocks,
             runs=within.pairs, correlation=within.correlation.value, lo=within.correlation.low,
             hi=within.correlation.high, method="pearson")
