"""The mean of few numbers with its 95% interval by Student's t."""
import math
from typing import Sequence, Tuple

import numpy as np


def _within(freedom, angle):
    """The chance of abs(t) <= tan(angle) sqrt(freedom): a finite sum (Abramowitz and Stegun 26.7.3-4)."""
    odd = freedom % 2
    powers = np.arange(3 if odd else 2, freedom + 1, 2)
    terms = np.cumprod(np.r_[math.cos(angle) if odd else 1.0, (powers - 1) / powers * math.cos(angle)**2])[:-1]
    total = math.sin(angle) * float(terms.sum())
    return (angle + total) / math.acos(0) if odd else total


def student_quantile(freedom):
    """What abs(t) exceeds in 5%; NaN without a degree of freedom."""
    low, high = 0.0, math.acos(0)
    if freedom < 1:
        return math.nan
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(freedom, middle) < 0.95 else (low, middle)
    return math.tan(low) * math.sqrt(freedom)


def mean_interval(values: Sequence[float]) -> Tuple[float, float, float]:
    """(mean, low, high) of finite numbers; NaN: too few of them."""
    count = len(values)
    if not count:
        return math.nan, math.nan, math.nan
    mean = float(np.mean(values))
    if count == 1:
        return mean, math.nan, math.nan
    reach = student_quantile(count - 1) * float(np.std(values, ddof=1)) / math.sqrt(count)
    return mean, mean - reach, mean + reach
