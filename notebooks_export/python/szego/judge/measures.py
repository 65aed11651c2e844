"""The numbers of one run that arms, hypotheses, relations and courses compare."""
import math
from typing import NamedTuple, Optional, Tuple

import numpy as np

from .plan import Quantity
from .runs import Ablation, Run
from .statistics import spearman

LEAST_DROP = 0.05  # drops that come to no more have no index


# ---- Curves -------------------------------------------------------------------------------------


def steps_to_half(run: Run) -> float:
    """Steps until test accuracy is half of the last one's, on the line from epoch to epoch, which begins at step 0
    with the commonest label's share. NaN: half of it is no more than that, or the last accuracy, or one before half is
    reached, is not known."""
    steps, accuracy = run.curve
    start = run.fact("majority")
    half = accuracy[-1] / 2 if len(accuracy) else math.nan
    if not half > start:
        return math.nan
    at = int(np.argmax(accuracy >= half))
    if np.isnan(accuracy[:at]).any():
        return math.nan
    step, before = (steps[at - 1], accuracy[at - 1]) if at else (0, start)
    return float(step + (steps[at] - step) * (half - before) / (accuracy[at] - before))


def early_end(run: Run, early_steps: Optional[int]) -> int:
    """Captured steps below this one count as early. Without `early_steps` of the preset: those of the epochs before
    test accuracy is three standard errors above the commonest label's share, or is not known."""
    if early_steps:
        return early_steps
    steps, accuracy = run.curve
    share, examples = run.fact("majority"), run.fact("test_examples")
    bound = share + 3 * math.sqrt(share * (1 - share) / examples) if examples > 0 else math.nan
    at_chance = int(np.argmin(np.append(accuracy <= bound, False)))
    return int(steps[at_chance - 1]) if at_chance else 0


# ---- Captured steps -----------------------------------------------------------------------------


def _counts(log, of: Quantity, end: int) -> np.ndarray:
    """Whether a row's step counts. AdamW has moments once a step is done."""
    step = log["step"]
    if of.step is not None:
        return step == of.step
    return (step >= 0) & (step < end) & ~((of.measure == "curvature_adamw") & (step == 0))


def captured_number(run: Run, of: Quantity, end: int) -> float:
    """The geometric mean of the ratio of widths, or the mean curvature, over the captured steps before `end` or the
    quantity's own. NaN: there are no such rows, or one of them has no number."""
    if of.measure == "contraction":
        return mean_contraction(run.contraction, of, end)
    log, column = run.curvature, {"curvature": "hessian_max", "curvature_adamw": "adamw_max"}[of.measure]
    rows = log[column][_counts(log, of, end)] if log else np.empty(0)
    return float(rows.mean()) if len(rows) and np.isfinite(rows).all() else math.nan


def mean_contraction(log, of: Quantity, end: int = 0) -> float:
    """Ratios are averaged by their logarithms: what one head widens twofold and another one narrows to half is 1."""
    if log is None:
        return math.nan
    rows = log["width_ratio"][_counts(log, of, end) & ((log["layer"] == of.layer) | (of.layer is None))]
    if not len(rows) or not ((rows > 0) & np.isfinite(rows)).all():
        return math.nan
    return float(np.exp(np.log(rows).mean()))


def gradient_shares(log, layer: int, heads: int, first: int, last: int) -> Tuple[np.ndarray, int]:
    """(the heads' shares of the gradient norm of W_Q and W_K in a layer, means over the captured steps first .. last;
    how many these are). A step of which some head is missing does not count. The first probe has each step's norms,
    as others do."""
    empty = np.full(heads, math.nan), 0
    if log is None or not len(log["step"]):
        return empty
    step, head = log["step"], log["head"]
    kept = ((step >= max(first, 0)) & (step <= last) & (head >= 0) & (head < heads) & (log["layer"] == layer)
            & (log["probe"] == log["probe"][0]))
    which, place = np.unique(step[kept], return_inverse=True)
    norms, found = np.full((len(which), heads), math.nan), np.zeros((len(which), heads), int)
    norms[place, head[kept]] = log["grad_norm_qk"][kept]
    np.add.at(found, (place, head[kept]), 1)
    total = norms.sum(axis=1)
    whole = (found == 1).all(axis=1) & (total > 0)
    if not whole.any():
        return empty
    return (norms[whole] / total[whole, None]).mean(axis=0), int(whole.sum())


# ---- A layer ------------------------------------------------------------------------------------


class Layer(NamedTuple):
    """Of one layer and one way of ablating."""
    drops: np.ndarray  # gains counted as 0
    total: float
    largest: float
    index: float  # NaN where the drops come to LEAST_DROP or less
    worst: int  # -1: no head costs accuracy
    early_steps: int  # captured ones
    rank_correlation: float


def layer_numbers(run: Run, ablation: Ablation, layer: int, early_steps: Optional[int]) -> Layer:
    """What the drops of a layer come to, and whether early gradients foretell them: gains are ranks too."""
    drops = ablation.drops(layer)
    costs = np.fmax(0, drops)
    total, largest, heads = float(costs.cumsum()[-1]), float(costs.max()), len(costs)
    enough = total > LEAST_DROP + heads * 2.0**-52  # each drop is a difference of two shares below 1
    end = early_end(run, early_steps)
    shares, steps = gradient_shares(run.contraction, layer, heads, 0, end - 1)
    return Layer(costs, total, largest, largest / total if enough else math.nan,
                 int(np.argmax(costs)) if largest > 0 else -1, steps, spearman(shares, drops) if steps else math.nan)


def number(run: Run, of: Quantity, early_steps: Optional[int]) -> float:
    """One number of a run, by ablation of outputs. NaN: it has none, as a run that is not finished."""
    if not run.finished:
        return math.nan
    if of.measure == "accuracy":
        return run.fact("test_accuracy")
    if of.measure == "steps_to_half":
        return steps_to_half(run)
    if of.measure in ("contraction", "curvature", "curvature_adamw"):
        return captured_number(run, of, 0 if of.step is not None else early_end(run, early_steps))
    if "output" not in run.planned.methods:
        return math.nan
    found = layer_numbers(run, run.ablation("output"), of.layer or 0, early_steps)
    return {"index": found.index, "total_drop": found.total, "rank_correlation": found.rank_correlation}[of.measure]
