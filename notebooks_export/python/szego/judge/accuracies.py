"""Table 1, and the sweep over rotated heads: means over the finished runs of a kind."""
from typing import Dict, List, Optional

from ..figures.table1 import PUBLISHED
from .rows import Rows
from .runs import Run, Runs
from .statistics import mean_and_spread

_TASKS = {"distance": "1", "count": "2"}  # columns of Table 1


def _finished(runs: List[Run]) -> List[Run]:
    return [run for run in runs if run.finished]


def table1(runs: Runs) -> Rows:
    """A row an experiment and encoding that is neither of the sweep nor a switch."""
    rows = Rows("table1")
    arms = dict.fromkeys(run.arm for run in runs.all if run.planned.rotated is None and run.planned.like is None)
    for arm in arms:
        cells: Dict[str, object] = {}
        for task, column in _TASKS.items():
            found = _finished(runs.of(arm, task))
            cells["paper" + column] = PUBLISHED.get((arm.encoding, task))
            if found:
                mean, deviation = mean_and_spread([run.fact("test_accuracy") for run in found])
                cells.update({"task" + column: 100 * mean, "spread" + column: 100 * deviation,
                              "seeds" + column: len(found), "length" + column: 100 * found[-1].fact("by_length"),
                              "ceiling" + column: 100 * found[-1].fact("ceiling")})
        rows.add(experiment=arm.experiment, encoding=arm.encoding, **cells)
    return rows


def sweep(runs: Runs) -> Optional[Rows]:
    """Rows in the order of rotated heads, for each experiment and task; None: there is no sweep."""
    kinds = dict.fromkeys((run.planned.experiment, run.task) for run in runs.all if run.planned.rotated is not None)
    if not kinds:
        return None
    rows = Rows("sweep")
    for experiment, task in kinds:
        arms: Dict[tuple, int] = {}
        for run in runs.all:
            if (run.planned.experiment, run.task) == (experiment, task):
                rotated = _rotated(run)
                if rotated is not None:
                    arms.setdefault(run.arm, rotated)
        for arm, rotated in sorted(arms.items(), key=lambda one: one[1]):
            accuracies = [run.fact("test_accuracy") for run in _finished(runs.of(arm, task))]
            mean, deviation = mean_and_spread(accuracies)
            rows.add(experiment=experiment, task=task, rotated_heads=rotated, encoding=arm.encoding, accuracy=mean,
                     spread=deviation, seeds=len(accuracies))
    return rows


def _rotated(run: Run) -> Optional[int]:
    """Heads that rotate. The ends of the sweep are no positions, and every head, in an encoding without keys."""
    if run.planned.rotated is not None:
        return run.planned.rotated
    return {"nope": lambda: 0, "rope": lambda: run.heads}.get(run.arm.encoding, lambda: None)()
