"""What the largest of several shares is in two references: uniform on the simplex, and equal but for the sampling
error of the test split."""
import functools
import math

import numpy as np
from scipy import optimize, special, stats

from .draws import equal_heads_uniforms

TRIALS = 10_000
_ALL = 16  # expected shares above, from which on the chance is 1 within 1e-7


def uniform_index(heads: int) -> float:
    """The expected largest of shares uniform on the simplex, (1 + 1/2 + .. + 1/n) / n (Fisher 1929)."""
    return float((1 / np.arange(heads, 0, -1.0)).sum() / heads) if heads > 0 else math.nan


def largest_share_tail(count: int, share: float) -> float:
    """The chance that the largest of `count` shares uniform on the simplex is above `share`: the sum over j >= 1 of
    (-1)^(j + 1) C(count, j) (1 - j share)_+^(count - 1) (Fisher 1929), within 1e-7. NaN for count < 1.

    The first term is the expected number of shares above. Where it is large the terms cancel, and the chance is 1:
    the shares are negatively associated (Joag-Dev and Proschan 1983), so that all are below with a chance of at most
    e^-term."""
    if count < 1 or math.isnan(share):
        return math.nan
    if share >= 1:
        return 0.0
    if share <= 1 / count or count * math.exp((count - 1) * math.log1p(-share)) > _ALL:
        return 1.0
    j = np.arange(1.0, count + 1)
    j = j[j * share < 1]
    logs = (special.gammaln(count + 1) - special.gammaln(j + 1) - special.gammaln(count - j + 1)
            + special.xlog1py(count - 1, -j * share))
    return float(np.clip((np.where(j % 2 == 1, 1, -1) * np.exp(logs)).sum(), 0, 1))


@functools.lru_cache(maxsize=256)
def largest_share_quantile(count: int, chance: float) -> float:
    """The share that the largest exceeds with this chance."""
    if count < 1 or not 0 < chance < 1:
        return math.nan
    return float(optimize.bisect(lambda share: largest_share_tail(count, share) - chance, 0, 1, xtol=2.0**-53))


def equal_heads(heads: int, examples: int, accuracy: float, total: float, seed: int, layer: int) -> np.ndarray:
    """The largest share of the drops in TRIALS simulated ablations of heads that all cost the same.

    Of `examples` test examples the whole model gets the share `accuracy` right, and one without a head accuracy -
    total / heads: the counts are binomial and independent, and drops below 0 count as 0. Trials without a drop have
    the share 0. The numbers follow from seed and layer alone, as those of the program did."""
    chance = max(0.0, accuracy - total / heads)
    at_most = stats.binom.cdf(np.arange(examples), examples, chance)
    uniforms, order = equal_heads_uniforms(seed, layer, heads, TRIALS)
    right = np.empty(len(order))  # of each uniform, how many of at_most it reaches
    right[order] = np.repeat(np.arange(examples + 1), np.diff(np.searchsorted(uniforms, at_most), prepend=0,
                                                              append=len(uniforms)))
    drops = np.maximum(0, accuracy - right.reshape(heads, TRIALS) / examples)
    sums = drops.sum(axis=0)
    return np.divide(drops.max(axis=0), sums, out=np.zeros(TRIALS), where=sums > 0)
