#!/usr/bin/python3
"""Tests of few differences, correlations and largest shares against SciPy and NumPy.
usage: test_statistics.py PROGRAM, that of statistics.c"""
import os
import subprocess
import sys

from peer import EPS, Tap, skip

try:
    import numpy as np
    from scipy import stats
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy and python3-scipy are needed")

SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
rng = np.random.default_rng(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")
asked, wanted = [], []


def ask(name, question, numbers, want, bound):
    """Keeps a question with what SciPy answers."""
    asked.append(f"{question} {len(numbers)} " + " ".join(f"{x!r}" for x in map(float, numbers)))
    wanted.append((name, np.atleast_1d(want), bound))


def holm(p):
    """Step by step, as Holm wrote it: the least level at which the hypotheses up to this one fall."""
    left, out, level = sorted(range(len(p)), key=lambda i: p[i]), [0] * len(p), 0
    for rank, i in enumerate(left):
        level = out[i] = max(level, min(1, (len(p) - rank) * p[i]))
    return out


def differences(n):
    """Rounded ones have ties and zeros, which the test has to count as SciPy does."""
    x = rng.standard_normal(n) + rng.choice([0, 0.5, 1])
    return np.round(x, 1) if rng.random() < 0.5 else x


for n in [2, 3, 5, 10, 10, 10, 30]:
    x = differences(n)
    interval = stats.t.interval(0.95, n - 1, loc=x.mean(), scale=stats.sem(x))
    # SciPy's quantile is CDFLIB's, whose search ends at a relative 1e-8 (cdft). test_statistics.c has a closed case.
    ask(f"t interval of {n}", "interval", x, [x.mean(), *interval], 1e-8 * (interval[1] - x.mean()))
for n in [2, 3, 4, 5, 8, 10, 10, 11, 12]:
    x = differences(n)
    exact = stats.permutation_test((x,), lambda x, axis: abs(x.sum(axis)), permutation_type="samples",
                                   alternative="greater", n_resamples=np.inf, vectorized=True)
    ask(f"sign flips of {n}", "flip", x, exact.pvalue, 4 * EPS)  # counts are integers
for n in [1, 2, 6, 6, 6, 20]:
    p = rng.random(n) ** 3
    ask(f"Holm of {n}", "holm", p, holm(p), 4 * EPS)
for n in [3, 4, 4, 4, 8, 16]:
    x, y = np.round(rng.random(n) * 4), rng.random(n)
    x[0] = 5  # not all equal
    ask(f"Spearman of {n}", "spearman", [*x, *y], stats.spearmanr(x, y)[0], 20 * n * EPS)


def around(value, reach):
    """A correlation, and the interval of its z."""
    z = np.arctanh(value)
    return [value, np.tanh(z - reach), np.tanh(z + reach)]


def pooled(arms, without=None):
    """Pearson's of all runs, each number in units of its arm: arms are lists of (x, y, seed)."""
    kept = [np.array([run[:2] for run in arm if run[2] != without]) for arm in arms]
    units = np.concatenate([stats.zscore(arm, ddof=1) for arm in kept])
    # Both squares add up to runs less arms.
    return units.prod(1).sum() / sum(len(arm) - 1 for arm in kept)


def jackknife(arms):
    seeds = sorted({run[2] for arm in arms for run in arm})
    left = np.arctanh([pooled(arms, seed) for seed in seeds])
    error = np.sqrt((len(seeds) - 1) * left.var())
    return around(pooled(arms), stats.t.ppf(0.975, len(seeds) - 1) * error)


for n in [4, 5, 8, 12, 12, 30]:
    rank = 1
    while not abs(rank) < 0.999:  # z is not finite; test_statistics.c has that case
        x = np.round(rng.standard_normal(n), 1)
        y = x * rng.choice([-0.5, 0, 0.5]) + rng.standard_normal(n)
        rank = stats.spearmanr(x, y)[0]
    # Roundings of the correlation, times the slope of z, 1 / (1 - rank^2).
    ask(f"interval of {n} ranks", "ranks", [*x, *y],
        around(rank, stats.norm.ppf(0.975) * np.sqrt((1 + rank ** 2 / 2) / (n - 3))), 100 * n * EPS / (1 - rank ** 2))
for arms, seeds in [(1, 5), (2, 4), (3, 10), (8, 10), (8, 10), (12, 10)]:
    shared, runs = rng.standard_normal((2, seeds)), []
    for arm in range(arms):  # units of their own, seeds in common, the last arm with fewer of them
        size = 10.0 ** rng.integers(-3, 3, 2)
        count = seeds - (arm == arms - 1 and seeds > 4)
        runs.append([(*(size * (shared[:, s] + rng.standard_normal(2))), 101 + s) for s in range(count)])
    # SciPy's quantile again; 1e-8 of it, and the width of z is below 10.
    ask(f"{arms} arms, {seeds} seeds", "pool", [x for arm, of in enumerate(runs) for run in of
                                                for x in (*run[:2], arm, run[2])], jackknife(runs), 1e-7)
for n in [2, 4, 16, 64]:
    # The largest share of exponential numbers; 95% of 200,000 draws, six standard errors of a tail.
    e = rng.exponential(size=(200000, n))
    share = (e.max(1) / e.sum(1))
    for quantile in [0.1, 0.5, 0.95]:
        x = np.quantile(share, quantile)
        ask(f"largest of {n}: tail at {quantile}", "tail", [n, x], 1 - quantile,
            6 * np.sqrt(quantile * (1 - quantile) / 200000) + 1e-5)
done = subprocess.run([sys.argv[1]], input="\n".join(asked), capture_output=True, text=True, check=False)
answers = done.stdout.splitlines()
tap.ok("every question has an answer", done.returncode == 0 and len(answers) == len(asked), done.stderr)
for line, (name, want, bound) in zip(answers, wanted):
    got = np.array(line.split(), float)
    error = abs(got - want).max() if got.shape == want.shape else np.nan
    tap.ok(name, bool(error <= bound), f"{line}: off by {error:.3g}, bound {bound:.3g}")
tap.finish()
