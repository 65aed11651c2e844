#!/usr/bin/python3
"""What the pages say of the deposit's statistics, computed again from the recorded tables by SciPy. Prints TAP.

usage: deposit.py SOURCE
"""
import csv
import io
import itertools
import pathlib
import sys
import tarfile

try:
    import numpy
    import scipy.stats
except ImportError as missing:
    sys.exit(print(f"1..0 # SKIP {missing}"))

from findings import report

SOURCE = pathlib.Path(sys.argv[1])
RESULTS = SOURCE / "docs/reference/mechanism-results"


def table(name):
    with open(RESULTS / name, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def pairs(experiment, hypothesis, instead=None):
    """Differences by seed; the arm's index is `instead` where it has none, or the pair is left out."""
    rows = [row for row in table(f"{experiment}/pairs.csv") if row["hypothesis"] == hypothesis]
    return numpy.array([float(row["arm_value"] or instead) - float(row["minus_value"]) for row in rows
                        if row["minus_value"] and (row["arm_value"] or instead is not None)])


def indices(experiment, arm, layer="0"):
    return {row["seed"]: float(row["index"]) for row in table(f"{experiment}/arms.csv")
            if (row["arm"], row["layer"], row["method"]) == (arm, layer, "output") and row["index"]}


def differences(experiment, arm, minus):
    one, other = indices(experiment, arm), indices(experiment, minus)
    return numpy.array([one[seed] - other[seed] for seed in sorted(one.keys() & other.keys())])


def interval(x):
    half = scipy.stats.t.ppf(0.975, len(x) - 1) * x.std(ddof=1) / len(x) ** 0.5
    return f"{x.mean():.3f}", f"{x.mean() - half:.3f}", f"{x.mean() + half:.3f}"


def power(count, tests=6, effect=1.4, trials=3000):
    """How often the sign-flip test finds normal differences, its p multiplied by Holm's largest factor."""
    signs = numpy.array(list(itertools.product((1, -1), repeat=count)))
    x = effect + numpy.random.default_rng(1).standard_normal((trials, count))
    flipped, own = abs(x @ signs.T), abs(x.sum(axis=1, keepdims=True))
    return ((flipped >= own - 1e-9).mean(axis=1) * tests <= 0.05).mean()


def equal_quantile(row, examples=4500, heads=4):
    """What the largest share of heads with equal drops exceeds in 5% of test splits."""
    accuracy, total = float(row["accuracy"]), float(row["total_drop"])
    right = numpy.random.default_rng(2).binomial(examples, accuracy - total / heads, (20000, heads))
    drops = numpy.maximum(accuracy - right / examples, 0)
    return numpy.quantile(drops.max(axis=1) / drops.sum(axis=1), 0.95)


def rank_correlations():
    """Of shares and drops, by (encoding, layer, kernel): the mean over runs, its p, and how often both have one largest
    head. Without ties Spearman's correlation of four is 1 - S / 10, S the sum of squared differences of ranks."""
    one = numpy.zeros(21)
    for order in itertools.permutations(range(4)):
        one[sum((a - b) ** 2 for a, b in enumerate(order))] += 1 / 24
    rows = [row for name in ("mechanism", "mechanism-replication") for row in table(f"shares-{name}.csv")]
    for key in (("rope", "0", "mean"), ("rope", "0", "self"), ("rope", "1", "mean"), ("rope", "1", "self"),
                ("absolute", "0", "mean")):
        runs = {}
        for row in rows:
            if (row["encoding"], row["layer"]) == key[:2]:
                runs.setdefault((row["run"], row["seed"]), []).append((float(row[key[2] + "_share"]), float(row["drop"])))
        heads = [numpy.array(run).T for run in runs.values()]
        assert all(len(set(values)) == 4 for run in heads for values in run)
        found = [scipy.stats.spearmanr(*run).statistic for run in heads]
        law = numpy.ones(1)
        for _ in heads:
            law = numpy.convolve(law, one)
        sums = len(heads) - numpy.arange(len(law)) / 10
        yield (len(heads), numpy.mean(found), law[abs(sums) >= abs(sum(found)) - 1e-6].sum(),
               sum(run[0].argmax() == run[1].argmax() for run in heads))


def recorded_drops():
    """Whether the drops beside the shares are those of the recorded runs."""
    for name in ("mechanism", "mechanism-replication"):
        with tarfile.open(RESULTS / name / "runs.tar.xz") as archive:
            drops = {(row["run"], row["layer"], row["head"]): row["drop"] for member in archive.getmembers()
                     if member.name.endswith("/ablation.csv")
                     for row in csv.DictReader(io.TextIOWrapper(archive.extractfile(member), encoding="utf-8"))}
        yield all(drops[row["run"], row["layer"], row["head"]] == row["drop"] for row in table(f"shares-{name}.csv"))


def main():
    mechanism = " ".join((SOURCE / "docs/mechanism.md").read_text(encoding="utf-8").split())
    findings = " ".join((SOURCE / "docs/findings.md").read_text(encoding="utf-8").split())
    results = []

    def check(name, good, why=""):
        results.append((name, good, why))

    def says(name, page, sentence):
        if page is findings:  # for findings.py, which looks for every number of that page
            print(f"# findings: {sentence}")
        check(name, sentence in page, f"the page lacks: {sentence}")

    for name, instead in (("as planned", None), ("with 0.25", 0.25), ("with 1", 1.0)):
        x = pairs("mechanism-replication", "P1", instead)
        mean, low, high = interval(x)
        says(f"P1 {name}", mechanism, f"| {name} | {len(x)} | {mean} | {low} .. {high} |")
    h3 = [f"{pairs('mechanism', 'H3', instead).mean():.3f}" for instead in (0.25, 1.0)]
    says("H3 with its seed", mechanism, f"these means are {h3[0]} and {h3[1]}")

    first = differences("mechanism", "rope/rope", "plain/absolute")
    again = differences("mechanism-replication", "again/rope", "again/absolute")
    check("E12 is these pairs", numpy.allclose(sorted(first), sorted(pairs("mechanism", "E12"))))
    (mean, low, high), pooled = interval(again), interval(numpy.r_[first, again])
    for page, text in (("findings", findings), ("mechanism", mechanism)):
        says(f"E12 again, {page}", text, f"{mean} ({low} .. {high}), positive in {(again > 0).sum()} of {len(again)}")
        says(f"E12 pooled, {page}", text, f"{pooled[0]} ({pooled[1]} .. {pooled[2]})")
    one = numpy.r_[-pairs("mechanism", "E4"), pairs("mechanism-replication", "P4")]
    for page, text in (("findings", findings), ("mechanism", mechanism)):
        says(f"one frequency, {page}", text, f"{(one > 0).sum()} of {len(one)} pairs")

    for count, said in ((10, 0.77), (9, 0.66), (8, 0.53)):
        got = power(count)
        check(f"power of {count} pairs", abs(got - said) < 0.025, f"{got}, not {said}")
    check("power of six pairs", power(6) == 0)
    says("powers", mechanism, "77%, for a difference of 1.4 standard deviations, needs all ten pairs. Nine pairs have 66%, "
         "eight have 53%, and six have none")

    rows = [row for row in table("mechanism/arms.csv") if row["method"] == "output" and row["index"]]
    median = numpy.median([float(row["equal_95"]) for row in rows])
    says("equal heads", mechanism, f"its median is {median:.3f}")
    check("about 0.27", abs(median - 0.27) < 0.005, f"{median}")
    check("equal heads, simulated", all(abs(equal_quantile(row) - float(row["equal_95"])) < 0.004 for row in rows[:40:4]))
    shares = numpy.random.default_rng(3).dirichlet(numpy.ones(4), 100000).max(axis=1)
    check("uniform shares", abs(shares.mean() - 0.521) < 0.002, f"{shares.mean()}")
    says("uniform shares are named", findings, "Shares that are uniform on the simplex have a mean of 0.521")

    (runs, a, pa, na), (_, b, pb, nb), (_, c, pc, nc), (_, d, pd, nd), (_, e, pe, ne) = rank_correlations()
    says("shares and drops of RoPE", findings, f"as a mean over {runs} runs, is {a:.2f} for RoPE's mean kernel in the first "
         f"layer (p = {pa:.3f}), {b:.2f} for its self kernel (p = {pb:.3f}), and {c:.2f} and {d:.2f} in the second (p = "
         f"{pc:.3f} and {pd:.3f})")
    says("shares and drops of sinusoids", findings, f"For sinusoids it is {e:.2f} in the first layer (p = {pe:.3f})")
    says("shares and drops by Holm's rule", findings, f"the smallest of the five p is {5 * min(pa, pb, pc, pd, pe):.3f} by "
         "Holm's rule")
    says("the largest share and the largest drop", findings, f"in {na}, {nb}, {nc}, {nd} and {ne} of {runs} runs")
    check("drops beside shares are the recorded ones", all(recorded_drops()))
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
