"""What judged tables must say, computed again row by row from the program's own tables (runs, ablation, contraction,
length) and from the definitions in docs/how-to/reproduce.md, by NumPy and SciPy."""
import csv
import fractions
import itertools
import math
import warnings

import numpy as np
from scipy import stats

BOUND = 1e-9  # of intervals: SciPy's quantile of t is off by a relative 1e-8 at most, and reaches are below 1
PAPER = {"mla": (88.34, 97.41), "rope": (92.64, 69.43), "nope": (3.51, 77.69)}


def read(folder, name):
    """The rows of a table as dicts; empty cells of numbers are NaN where real() reads them."""
    path = folder / f"{name}.csv"
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def real(row, name):
    return float(row[name]) if row[name] != "" else math.nan


def mean(numbers):
    return float(np.mean(numbers)) if len(numbers) else math.nan


def spread(numbers):
    return float(np.std(numbers, ddof=1)) if len(numbers) > 1 else math.nan


def interval(numbers):
    if len(numbers) < 2:
        return mean(numbers), math.nan, math.nan
    reach = stats.t.isf(0.025, len(numbers) - 1) * stats.sem(numbers)
    return mean(numbers), mean(numbers) - reach, mean(numbers) + reach


def exact_sign_flip(numbers):
    """By the definition, in fractions."""
    given = [fractions.Fraction(float(one)) for one in numbers]
    far = [abs(sum(sign * one for sign, one in zip(signs, given))) >= abs(sum(given))
           for signs in itertools.product((1, -1), repeat=len(given))]
    return sum(far) / len(far)


def rejected(p, level, index):
    """Holm's step-down procedure at one level."""
    order = sorted(range(len(p)), key=lambda one: p[one])
    for rank, one in enumerate(order):
        if p[one] > level / (len(p) - rank):
            return False
        if one == index:
            return True
    return False


def slow_pooled(x, y, group, block, without=None):
    """The mean of the groups' own correlations by NumPy's, each with the weight pairs less 1."""
    total = weight = 0.0
    for one in set(group.tolist()):
        kept = (group == one) & (block != without)
        a, b = x[kept], y[kept]
        if len(a) > 1 and a.std(ddof=1) > 1e-6 * abs(a.mean()) and b.std(ddof=1) > 1e-6 * abs(b.mean()):
            total, weight = total + (len(a) - 1) * np.corrcoef(a, b)[0, 1], weight + len(a) - 1
    return total / weight if weight else math.nan


class Oracle:
    """faults: "TABLE, COLUMN: what is there, what should be"."""

    def __init__(self, own, judged, preset):
        self.own, self.judged, self.preset, self.faults, self.checked = own, judged, preset, [], set()
        self.runs = read(own, "runs")
        self.missing = {row["run"]: row for row in read(own, "missing")}
        self.by_name = {row["run"]: row for row in self.runs}

    def all(self):
        for name in ("table1", "sweep", "switches", "arms", "pairs", "hypotheses", "length_arms", "relations",
                     "by_step"):
            rows = read(self.judged, name)
            for row in rows:
                self.table, self.row = name, row  # pylint: disable=attribute-defined-outside-init
                getattr(self, name)(row)
            if rows:
                self.checked.add(name)
        return self.faults

    def expect(self, column, want, bound=1e-12):
        got = self.row[column]
        if isinstance(want, str):
            good = got == want
        else:
            value = float(got) if got != "" else math.nan
            good = (math.isnan(value) and math.isnan(want)) or abs(value - want) <= bound
        if not good:
            self.faults.append(f"{self.table}, {column}: {got!r}, wanted {want!r} in {self.row}")

    def accuracies(self, experiment, encoding, task):
        """By seed, of finished runs."""
        return {int(row["seed"]): real(row, "test_accuracy") for row in self.runs
                if (row["experiment"], row["encoding"], row["task"]) == (experiment, encoding, task)}

    # ---- Accuracies ----

    def table1(self, row):
        for which, task in enumerate(("distance", "count")):
            number = which + 1
            own = list(self.accuracies(row["experiment"], row["encoding"], task).values())
            self.expect(f"task{number}", 100 * mean(own), 1e-10)
            self.expect(f"spread{number}", 100 * spread(own), 1e-10)
            self.expect(f"seeds{number}", len(own) or math.nan)
            self.expect(f"paper{number}", PAPER.get(row["encoding"], (math.nan, math.nan))[which])
            last = [one for one in self.runs if (one["experiment"], one["encoding"], one["task"])
                    == (row["experiment"], row["encoding"], task)][-1:]
            for column, fact in ((f"length{number}", "by_length"), (f"ceiling{number}", "ceiling")):
                self.expect(column, 100 * real(last[0], fact) if last else math.nan, 1e-10)

    def sweep(self, row):
        own = list(self.accuracies(row["experiment"], row["encoding"], row["task"]).values())
        heads = {"nope": "0", "rope": str(self.preset["config"]["model"]["heads"])}
        part = row["encoding"].rpartition("-")[2]
        self.expect("rotated_heads", heads.get(row["encoding"]) or str(int(part) + 1))
        for column, want in (("accuracy", mean(own)), ("spread", spread(own)), ("seeds", len(own))):
            self.expect(column, want)

    def switches(self, row):
        own, other = (self.accuracies(row[side], row["encoding"], row["task"]) for side in ("experiment", "like"))
        pairs = [own[seed] - other[seed] for seed in own if seed in other]
        for numbers, columns in ((list(own.values()), ("accuracy", "spread", "seeds")),
                                 (list(other.values()), ("accuracy_without", "spread_without", "seeds_without")),
                                 (pairs, ("difference", "difference_spread", "pairs"))):
            for column, want in zip(columns, (mean(numbers), spread(numbers), len(numbers))):
                self.expect(column, want)

    def length_arms(self, row):
        same = ("experiment", "encoding", "scaling", "words")
        own = [one for one in read(self.own, "length") if all(one[key] == row[key] for key in same)]
        found = interval([real(one, "accuracy") for one in own])
        self.expect("seeds", len(own))
        for column, want, bound in zip(("accuracy", "t_low", "t_high"), found, (1e-12, BOUND, BOUND)):
            self.expect(column, want, bound)
        self.expect("test_accuracy", mean([real(self.by_name[one["run"]], "test_accuracy") for one in own]))
        self.expect("label_ceiling", real(own[0], "label_ceiling"))

    # ---- Heads ----

    def drops(self, run, layer, method):
        """Of the layer's heads, gains as 0."""
        own = [one for one in read(self.own, "ablation") if (one["run"], one["layer"], one["method"])
               == (run, layer, method) and one["head"] != ""]
        return np.array([max(0.0, real(one, "drop")) for one in sorted(own, key=lambda one: int(one["head"]))])

    def arms(self, row):
        drops, run = self.drops(row["run"], row["layer"], row["method"]), self.by_name[row["run"]]
        total = drops.sum()
        self.expect("arm", f"{run['experiment']}/{run['encoding']}")
        self.expect("accuracy", real(run, "test_accuracy"))
        self.expect("total_drop", total, 1e-10)
        self.expect("largest_drop", drops.max(), 1e-10)
        self.expect("index", drops.max() / total if total > 0.05 else math.nan, 1e-10)
        if drops.max() > 0:
            self.expect("worst_head", int(drops.argmax()))
            other = int(row["other_head"]) if row["other_head"] else None
            if other is not None and (other == drops.argmax() or not 0 <= other < len(drops)):
                self.faults.append(f"arms, other_head {other} of {drops}")
            if other is not None and total > 0.05:
                self.expect("other_index", drops[other] / total, 1e-10)

    # ---- Questions ----

    def number(self, arm, task, seed, measure, layer):
        """Of the run; NaN: it has none; None: it is not finished."""
        experiment, encoding = arm.split("/", 1)
        run = next((one for one in self.runs if (one["experiment"], one["encoding"], one["task"], one["seed"])
                    == (experiment, encoding, task, str(seed))), None)
        if run is None:
            lost = next((one for name, one in self.missing.items() if name.startswith(f"{experiment}/{task}/")
                         and one["encoding"] == encoding and one["seed"] == str(seed)), None)
            return math.nan if lost is not None and lost["state"] in ("failed", "left out") else None
        if measure == "accuracy":
            return real(run, "test_accuracy")
        assert measure == "total_drop", measure
        return float(self.drops(run["run"], layer, "output").sum())

    def of(self, name):
        return next(one for one in self.preset["hypotheses"] if one["name"] == name)

    def pairs(self, row):
        task, minus = self.of(row["hypothesis"])["task"], [arm for arm in row["minus"].split("|") if arm]
        own = self.number(row["arm"], task, row["seed"], row["measure"], row["layer"])
        others = [self.number(arm, task, row["seed"], row["measure"], row["layer"]) for arm in minus]
        known = not any(one is None for one in (own, *others))
        if known:
            self.expect("difference", own - (mean(others) if others else 0), 1e-10)
        self.expect("note", "a run is not finished" if not known
                    else "a run lacks the number" if math.isnan(own + sum(others)) else "")

    def pairs_of(self, name):
        return [one for one in read(self.judged, "pairs") if one["hypothesis"] == name]

    def p_of(self, name):
        """By enumeration; NaN: a pair is missing, or there are fewer than five."""
        rows = self.pairs_of(name)
        made = np.array([real(one, "difference") for one in rows if one["note"] == ""])
        if len(made) < 5 or any(one["note"] == "a run is not finished" for one in rows):
            return math.nan
        sums = np.array(list(itertools.product((1, -1), repeat=len(made)))) @ made
        return float((abs(sums) >= abs(made.sum()) - 1e-9).mean())

    def hypotheses(self, row):
        rows = self.pairs_of(row["hypothesis"])
        made = [real(one, "difference") for one in rows if one["note"] == ""]
        missing = sum(one["note"] == "a run is not finished" for one in rows)
        for column, want in (("seeds", len(rows)), ("pairs", len(made)), ("missing", missing),
                             ("failed", len(rows) - len(made) - missing)):
            self.expect(column, want)
        for column, want, bound in zip(("difference", "t_low", "t_high"), interval(made), (1e-10, BOUND, BOUND)):
            self.expect(column, want, bound)
        p = self.p_of(row["hypothesis"])
        self.expect("p", p)
        primary = [one["name"] for one in self.preset["hypotheses"] if one["primary"]]
        complete = not any(one["note"] == "a run is not finished" for name in primary for one in self.pairs_of(name))
        tested = sorted((1 if math.isnan(self.p_of(name)) else self.p_of(name), name) for name in primary)
        level, adjusted = 0.0, {}
        for rank, (one, name) in enumerate(tested):
            level = max(level, min(1, (len(tested) - rank) * one))
            adjusted[name] = level
        holm = adjusted[row["hypothesis"]] if row["primary"] == "yes" and complete and not math.isnan(p) else math.nan
        self.expect("p_holm", holm)
        self.expect("decision", "exploratory" if row["primary"] != "yes" else "not complete" if missing
                    else "not testable" if len(made) < 5 else "not complete" if math.isnan(holm)
                    else "not decided" if holm > 0.05 else "supported" if mean(made) > 0 else "opposed")

    def relations(self, row):
        means = [one for one in read(self.judged, "relation_arms") if one["relation"] == row["relation"]]
        runs = [one for one in read(self.judged, "relation_runs") if one["relation"] == row["relation"]]
        for one in means:
            own = [(real(run, "x_value"), real(run, "y_value")) for run in runs if run["arm"] == one["arm"]]
            own = [pair for pair in own if not math.isnan(sum(pair))]
            if own and abs(mean([x for x, _ in own]) - real(one, "x_mean")) > 1e-10:
                self.faults.append(f"relation_arms: x_mean of {one}")
        if row["kind"] == "between":
            known = [(real(one, "x_mean"), real(one, "y_mean")) for one in means if one["runs"] != "0"]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # equal numbers have no correlation
                want = stats.spearmanr(*zip(*known))[0] if len(known) > 1 else math.nan
            self.expect("correlation", float(want), 1e-10)

    def by_step(self, row):
        """Ratios of widths: those of the whole arm's runs, and of runs that were stopped where it has no such step."""
        if row["measure"] != "contraction":
            return
        course = self.preset["by_step"][0]
        arms = [f"{arm['experiment']}/{arm['encoding']}" for arm in (course["arm"], *course["stopped"])]
        found = {}
        for arm, row_ in itertools.product(arms, read(self.own, "contraction")):
            run = self.by_name[row_["run"]]
            if (f"{run['experiment']}/{run['encoding']}", row_["task"], row_["layer"], row_["step"]) == (
                    arm, row["task"], row["layer"], row["step"]):
                found.setdefault(run["seed"], {}).setdefault(arm, []).append(real(row_, "width_ratio"))
        firsts = [next(iter(by_arm.values())) for by_arm in found.values()]
        values = [float(np.exp(np.mean(np.log(one)))) for one in firsts if not math.isnan(sum(one))]
        self.expect("seeds", len(values))
        self.expect("failed", len(firsts) - len(values))
        for column, want, bound in zip(("mean", "t_low", "t_high"), interval(values), (1e-10, BOUND, BOUND)):
            self.expect(column, want, bound)
