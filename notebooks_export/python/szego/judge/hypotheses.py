"""What the runs say of the preset's hypotheses: pairs over seeds, intervals, tests, decisions."""
import math
from typing import Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from .measures import number
from .plan import Hypothesis
from .rows import Rows
from .runs import Run, Runs
from .statistics import Interval, holm, mean_interval, sign_flip

LEAST_PAIRS, LEVEL = 5, 0.05

# How far numbers of this size may be off. They are shares of counts, off by units of 2^-53 of the accuracies that
# they come from, and one may be the difference of nearly equal ones. The line of steps_to_half divides by a
# difference of accuracies, an example at least: of 2^16 examples, it loses 16 bits. Equal sums of differences would
# else count as other ones.
_ROUNDING = 2.0**-36


class Pair(NamedTuple):
    """What a seed says. minus: 0 without arms to subtract."""
    seed: int
    arm: float
    minus: float
    missing: bool  # a run is not finished

    @property
    def difference(self) -> float:
        return self.arm - self.minus

    @property
    def made(self) -> bool:
        return not self.missing and not math.isnan(self.difference)


class Verdict(NamedTuple):
    """What the pairs of a hypothesis come to; p: NaN: it is not tested."""
    pairs: List[Pair]
    made: int
    missing: int
    mean: Interval
    p: float


def hypotheses(runs: Runs) -> Tuple[Optional[Rows], Optional[Rows]]:
    """(a row a hypothesis, a row a hypothesis and seed); None: the preset has none."""
    asked = runs.plan.hypotheses
    if not asked:
        return None, None
    verdicts = [_judge(runs, of) for of in asked]
    adjusted = _adjust(asked, verdicts)
    rows, pairs = Rows("hypotheses"), Rows("pairs")
    for of, found, p_holm in zip(asked, verdicts, adjusted):
        rows.add(**_asked(of), seeds=len(found.pairs), pairs=found.made, missing=found.missing,
                 failed=len(found.pairs) - found.made - found.missing, difference=found.mean.value,
                 t_low=found.mean.low, t_high=found.mean.high, p=found.p, p_holm=p_holm,
                 decision=_decide(of, found, p_holm), statement=of.statement)
        for pair in found.pairs:
            note = None if pair.made else "a run is not finished" if pair.missing else "a run lacks the number"
            pairs.add(**_asked(of), seed=pair.seed, arm_value=pair.arm, minus_value=pair.minus if of.minus else None,
                      difference=pair.difference, note=note)
    return rows, pairs


def _asked(of: Hypothesis) -> Dict[str, object]:
    """The columns that both tables begin with."""
    return {"hypothesis": of.name, "primary": "yes" if of.primary else "no", "measure": of.of.measure,
            "layer": of.of.layer, "arm": of.arm.name, "minus": "|".join(arm.name for arm in of.minus) or None}


def _judge(runs: Runs, of: Hypothesis) -> Verdict:
    """Over every seed that all arms have in the preset."""
    pairs = []
    for run in runs.of(of.arm, of.task):
        others = [runs.find(arm, of.task, run.seed) for arm in of.minus]
        if None not in others:
            pairs.append(_pair(runs, of, run, others))  # type: ignore[arg-type] # none of them is None
    made = [pair for pair in pairs if pair.made]
    differences, missing = [pair.difference for pair in made], sum(pair.missing for pair in pairs)
    largest = max((abs(value) for pair in made for value in (pair.arm, pair.minus)), default=0.0)
    # A test is made once, of all runs.
    tested = missing == 0 and len(made) >= LEAST_PAIRS
    return Verdict(pairs, len(made), missing, mean_interval(differences),
                   sign_flip(differences, _ROUNDING * largest) if tested else math.nan)


def _pair(runs: Runs, of: Hypothesis, run: Run, others: List[Run]) -> Pair:
    """A run that failed or is left out has no number, as one that was not trained well enough has."""
    own, *minus = (number(one, of.of, runs.plan.early_steps) for one in [run, *others])
    return Pair(run.seed, own, sum(one / len(minus) for one in minus), any(one.missing for one in [run, *others]))


def _adjust(asked: List[Hypothesis], verdicts: List[Verdict]) -> np.ndarray:
    """Over the primary hypotheses, once all their runs are there: another one's p changes them all."""
    primary = np.array([of.primary for of in asked])
    adjusted = np.full(len(asked), math.nan)
    if not any(found.missing for of, found in zip(asked, verdicts) if of.primary):
        adjusted[primary] = holm([found.p for of, found in zip(asked, verdicts) if of.primary])
    return adjusted


def _decide(of: Hypothesis, found: Verdict, p_holm: float) -> str:
    if not of.primary:
        return "exploratory"
    if found.missing:
        return "not complete"
    if found.made < LEAST_PAIRS:
        return "not testable"
    if math.isnan(p_holm):  # a run of another one is missing
        return "not complete"
    if not p_holm <= LEVEL:
        return "not decided"
    return "supported" if found.mean.value > 0 else "opposed"
