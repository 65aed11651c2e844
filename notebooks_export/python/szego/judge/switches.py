"""What one difference in the configuration does: runs of an experiment against those that it is like."""
from typing import Dict, List, Optional, Tuple

from .plan import Arm
from .rows import Rows, real_text
from .runs import Run, Runs
from .statistics import mean_and_spread

_TEXT = 511  # bytes of the keys that differ; a longer list is cut: rows are for people


def switches(runs: Runs) -> Optional[Rows]:
    """A row a switch, encoding and task; None: the preset has no switches."""
    kinds: Dict[Tuple[Arm, str], Run] = {}
    for run in runs.all:
        if run.planned.like is not None:
            kinds.setdefault((run.arm, run.task), run)
    if not kinds:
        return None
    rows = Rows("switches")
    for (arm, task), run in kinds.items():
        like = run.planned.like
        own, others = runs.of(arm, task), runs.of(Arm(like, arm.encoding), task)
        cells: Dict[str, object] = {"note": f"{like} has no run of this encoding and task"}
        if others:
            with_, without = _differences(own[0].planned.config, others[0].planned.config)
            cells = {"with": with_, "without": without, "note": None if with_ else "nothing differs"}
        rows.add(experiment=arm.experiment, like=like, encoding=arm.encoding, task=task, **cells,
                 **_means(own, others))
    return rows


def _means(own: List[Run], others: List[Run]) -> Dict[str, object]:
    with_, without = ({run.seed: run.fact("test_accuracy") for run in side if run.finished} for side in (own, others))
    pairs = [with_[seed] - without[seed] for seed in with_ if seed in without]
    cells: Dict[str, object] = {}
    for numbers, (mean, deviation, count) in (
            (list(with_.values()), ("accuracy", "spread", "seeds")),
            (list(without.values()), ("accuracy_without", "spread_without", "seeds_without")),
            (pairs, ("difference", "difference_spread", "pairs"))):
        cells[mean], cells[deviation] = mean_and_spread(numbers)
        cells[count] = len(numbers)
    return cells


def _differences(config: Dict[str, object], other: Dict[str, object]) -> Tuple[str, str]:
    """"key=value key=value" of the keys in which the two differ, as they are in each. A key that one of them does not
    record, as it is older, has the default of then: it is not compared."""
    keys = [key for key in config if key in other and config[key] != other[key]]
    return tuple(_cut(" ".join(f"{key}={_text(side[key])}" for key in keys))  # type: ignore[return-value]
                 for side in (config, other))


def _cut(text: str) -> str:
    return text.encode()[:_TEXT].decode(errors="ignore")


def _text(value) -> str:
    """As a configuration has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return real_text(value) if isinstance(value, float) else str(value)[:200]
