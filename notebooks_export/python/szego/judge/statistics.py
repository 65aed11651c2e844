"""Inference from few numbers: the mean's interval, the sign-flip test, Holm's rule, correlations with intervals."""
import functools
import math
from typing import NamedTuple, Sequence

import numpy as np
from scipy import stats

EXACT_SIGNS = 20
DRAWN_SIGNS = 1_000_000
LEAST_FOR_INTERVAL = 4
_ROUNDING = 1e-6  # numbers of single precision are off by some 1e-7: a deviation that small is rounding


class Interval(NamedTuple):
    """A number and its 95% interval; NaN: there is none."""
    value: float
    low: float
    high: float


# ---- The mean -----------------------------------------------------------------------------------


@functools.lru_cache(maxsize=256)
def student_quantile(freedom: int) -> float:
    """The 97.5% quantile of Student's t. 1 - t^2 / (freedom + t^2) has a beta distribution, whose quantiles SciPy
    computes to the last digits; those of scipy.stats.t are right to ten."""
    below, above = stats.beta.ppf(0.95, 0.5, freedom / 2), stats.beta.ppf(0.05, freedom / 2, 0.5)
    return math.sqrt(freedom * below / above)


def mean_interval(numbers: Sequence[float]) -> Interval:
    """The mean and its 95% interval by Student's t; the ends are NaN with fewer than two numbers."""
    count = len(numbers)
    if count < 2:
        return Interval(float(numbers[0]) if count else math.nan, math.nan, math.nan)
    mean = float(np.mean(numbers))
    reach = student_quantile(count - 1) * float(np.std(numbers, ddof=1)) / math.sqrt(count)
    return Interval(mean, mean - reach, mean + reach)


def mean_and_spread(numbers: Sequence[float]):
    """(mean, standard deviation of a sample); NaN without a number, and with fewer than two."""
    count = len(numbers)
    return (float(np.mean(numbers)) if count else math.nan,
            float(np.std(numbers, ddof=1)) if count > 1 else math.nan)


# ---- Tests --------------------------------------------------------------------------------------


def sign_flip(numbers: Sequence[float], error: float = 0.0) -> float:
    """Fisher's test of differences that are symmetric about 0 (1935): the share of all 2^n choices of signs whose sum
    is as far from 0 as that of the numbers, to both sides.

    Each number may be off by `error`: sums that are equal but for that are as far. Beyond EXACT_SIGNS numbers
    DRAWN_SIGNS choices are drawn, by NumPy's generator of seed 0, and the share counts the numbers themselves among
    them (Phipson and Smyth 2010). NaN without numbers, or with one that is NaN."""
    x = np.asarray(numbers, float)
    if not x.size or np.isnan(x).any():
        return math.nan
    # Either sum of n terms is off by n - 1 roundings, each at most 2^-53 of the terms' size.
    bound = abs(math.fsum(x)) - 2 * x.size * (2.0**-53 * np.abs(x).sum() + error)
    if x.size > EXACT_SIGNS:
        return _drawn_share(x, bound)
    sums = x[:1]
    for one in x[1:]:  # the other half of the choices are the opposites
        sums = np.concatenate([sums + one, sums - one])
    return float(np.mean(np.abs(sums) >= bound))


def _drawn_share(x: np.ndarray, bound: float) -> float:
    generator, beyond, block = np.random.default_rng(0), 1, 10_000
    for _ in range(DRAWN_SIGNS // block):
        signs = 2.0 * generator.integers(0, 2, (block, x.size), dtype=np.int8) - 1
        beyond += int((np.abs(signs @ x) >= bound).sum())
    return beyond / (DRAWN_SIGNS + 1)


def holm(p: Sequence[float]) -> np.ndarray:
    """Holm (1979): the least level at which each hypothesis is rejected. A p that is NaN was not tested: it counts as
    1 among the others, and stays NaN."""
    given = np.asarray(p, float)
    known = np.where(np.isnan(given), 1, given)
    order = np.argsort(known, kind="stable")
    steps = np.minimum(1, (len(known) - np.arange(len(known))) * known[order])
    adjusted = np.empty(len(known))
    adjusted[order] = np.maximum.accumulate(steps)
    return np.where(np.isnan(given), math.nan, adjusted)


# ---- Correlations -------------------------------------------------------------------------------


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """Pearson's correlation of the ranks, ties with the mean of theirs. NaN: fewer than two pairs, a number that is
    NaN, or all numbers of a side are equal."""
    if len(x) < 2 or np.isnan(x).any() or np.isnan(y).any():
        return math.nan
    a, b = (stats.rankdata(side) - (len(x) + 1) / 2 for side in (x, y))
    size = math.sqrt(a @ a * (b @ b))
    return float(a @ b / size) if size > 0 else math.nan


def spearman_interval(x: Sequence[float], y: Sequence[float]) -> Interval:
    """Spearman's correlation with the interval of Fisher's z, whose variance is (1 + r^2 / 2) / (n - 3) for ranks
    (Bonett and Wright 2000). None: fewer than LEAST_FOR_INTERVAL pairs, or a correlation of 1 or -1."""
    value = spearman(x, y)
    if len(x) < LEAST_FOR_INTERVAL:
        return Interval(value, math.nan, math.nan)
    return _around(value, stats.norm.ppf(0.975) * math.sqrt((1 + value**2 / 2) / (len(x) - 3)))


def _around(value: float, reach: float) -> Interval:
    """A correlation of 1 or -1, but for rounding, has no finite z."""
    if not (abs(value) < 1 - 1e-12 and math.isfinite(reach)):
        return Interval(value, math.nan, math.nan)
    z = math.atanh(value)
    return Interval(value, math.tanh(z - reach), math.tanh(z + reach))


class Pooled(NamedTuple):
    """A correlation within groups. Those are counted in which both numbers vary, with their pairs and the different
    blocks of these."""
    correlation: Interval
    pairs: int
    groups: int
    blocks: int


def pooled_within(x, y, group, block) -> Pooled:
    """Pearson's correlation within groups: either number is centred in its group, and divided by the group's standard
    deviation. So it is the mean of the groups' own correlations, each with the weight pairs less 1. A group in which
    a number does not vary, but for rounding, says nothing.

    The interval is that of Fisher's z by leaving out a block at a time (the jackknife, Tukey 1958), with Student's t
    of blocks - 1: pairs of one block are not independent. None: fewer than LEAST_FOR_INTERVAL blocks, or a z that is
    not finite."""
    x, y, block = np.asarray(x, float), np.asarray(y, float), np.asarray(block)
    _, group = np.unique(group, return_inverse=True)
    value, varies = _within(x, y, group)
    counted = varies[group] if len(x) else np.zeros(0, bool)
    blocks = np.unique(block[counted])
    left_out = [_within(x[block != one], y[block != one], group[block != one])[0] for one in blocks]
    return Pooled(_around(value, _jackknife(left_out)), int(counted.sum()), int(varies.sum()), len(blocks))


def _within(x, y, group):
    """(the pooled correlation, which groups vary)."""
    count = np.bincount(group).astype(float)
    x_off, x_varies = _centred(x, group, count)
    y_off, y_varies = _centred(y, group, count)
    varies = x_varies & y_varies
    if not varies.any():
        return math.nan, varies
    xx, yy, xy = (np.bincount(group, product)[varies] for product in (x_off**2, y_off**2, x_off * y_off))
    weight = count[varies] - 1
    return float(np.clip(weight @ (xy / (np.sqrt(xx) * np.sqrt(yy))) / weight.sum(), -1, 1)), varies


def _centred(x, group, count):
    """(the distances from the group's mean, which groups vary)."""
    mean = np.bincount(group, x) / np.maximum(count, 1)
    off = x - mean[group]
    deviation = np.sqrt(np.bincount(group, off**2) / np.maximum(count - 1, 1))
    return off, (count > 1) & (deviation > _ROUNDING * np.abs(mean))


def _jackknife(left_out) -> float:
    """Half of the width of the interval of z."""
    blocks = len(left_out)
    if blocks < LEAST_FOR_INTERVAL:
        return math.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.arctanh(left_out)
        squares = ((z - z.mean())**2).sum()
    return student_quantile(blocks - 1) * float(np.sqrt(squares * (blocks - 1) / blocks))
