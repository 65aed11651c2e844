#!/usr/bin/python3
"""szego.judge against recorded tables and, by judge_oracle.py, against the program's own ones of a tiny experiment with
runs taken away and cells emptied, its statistics computed a second way, and folders that it refuses. Prints TAP.
usage: test_judge.py PROGRAM"""
import contextlib
import csv
import fractions
import functools
import io
import itertools
import json
import math
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tarfile

from peer import PACKAGE, Tap, scratch

sys.path.insert(0, PACKAGE)
import numpy as np  # pylint: disable=wrong-import-position # nothing is skipped: check installs all of them
from scipy import stats  # pylint: disable=wrong-import-position
import szego.judge  # pylint: disable=wrong-import-position
from szego.files import locked  # pylint: disable=wrong-import-position
from judge_oracle import Oracle, exact_sign_flip, rejected, slow_pooled  # pylint: disable=wrong-import-position
from szego.judge import columns, draws, measures, rows as rows_module, shares, statistics  # pylint: disable=wrong-import-position

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RECORDS = [(path.parent.name, path.parent) for root in ("docs/reference/mechanism-results", "docs/results")
           for path in sorted(SOURCE.glob(f"{root}/*/runs.tar.xz"))]
ROUNDINGS = 1e-12
PROGRAM = os.path.abspath(sys.argv[1])
tap = Tap()

# Every kind of table, with a switch, a sweep, runs on another run's head, one that is stopped early, and one whose
# numbers stop being finite. A model this small learns nothing, so that drops are few and ties are many.
PRESET = {
    "name": "toy", "about": "for a test", "seeds": [1, 2, 3, 4, 5, 6],
    "config": {"model": {"vocabulary": 20, "width": 8, "hidden": 8, "layers": 2, "heads": 4, "max_length": 24},
               "data": {"examples": 100, "between_max": 4, "side_max": 2, "longest": 10},
               "loop": {"epochs": 2, "batch": 16, "learning_rate": 0.02}, "capture": {"every": 3}},
    "tasks": {"distance": {}, "count": {"data": {"words": 10, "count_max": 4, "triggers": 3}}},
    "experiments": [
        {"name": "text", "profile": "text", "encodings": ["rope", "nope"], "tasks": ["distance"],
         "ablation": ["output", "rotation", "cumulative"]},
        {"name": "text", "seeds": [1], "encodings": ["rope", "nope", "mla"], "tasks": ["count"], "rotated_heads": [1, 3]},
        {"name": "code", "profile": "released", "encodings": ["alibi"], "seeds": [1], "ablation": ["values"]},
        {"name": "bare", "like": "text", "encodings": ["rope", "t5"], "tasks": ["distance"], "seeds": [1, 2],
         "config": {"model": {"mask": "none"}, "loop": {"decay": 0.0001}}},
        {"name": "same", "like": "text", "encodings": ["rope"], "tasks": ["distance"], "seeds": [2]},
        {"name": "short", "profile": "text", "tasks": ["distance"], "encodings": ["rope"], "seeds": [1, 2],
         "ablation": True, "config": {"loop": {"limit_steps": 4}},
         "length": {"words": [10, 20], "scaling": ["linear"], "examples": 20}},
        {"name": "wild", "profile": "text", "tasks": ["distance"], "encodings": ["rope"], "seeds": [1], "ablation": True,
         "config": {"loop": {"learning_rate": 1000, "decay": 1000}}},
        {"name": "after", "profile": "text", "tasks": ["distance"], "encodings": ["rope"], "seeds": [1],
         "config": {"intervention": {"kind": "gradient"}},
         "head": {"of": "wild", "encoding": "rope", "layer": 0, "which": "winner"}},
        {"name": "still", "profile": "text", "tasks": ["distance"], "encodings": ["rope"], "ablation": ["output", "rotation"],
         "config": {"intervention": {"kind": "rotation"}},
         "head": {"of": "text", "encoding": "rope", "layer": 0, "which": "other"}}],
    "hypotheses": [
        {"name": "H1", "text": "a, \"b\"", "task": "distance", "primary": True, "measure": "total_drop", "layer": 0,
         "arm": {"experiment": "text", "encoding": "rope"}, "minus": [{"experiment": "text", "encoding": "nope"}]},
        {"name": "H2", "text": "b", "task": "distance", "primary": True, "measure": "accuracy",
         "arm": {"experiment": "text", "encoding": "nope"},
         "minus": [{"experiment": "text", "encoding": "rope"}, {"experiment": "still", "encoding": "rope"}]},
        {"name": "E1", "text": "c", "task": "distance", "primary": False, "measure": "accuracy",
         "arm": {"experiment": "wild", "encoding": "rope"}},
        {"name": "E2", "text": "d", "task": "distance", "primary": False, "measure": "accuracy",
         "arm": {"experiment": "after", "encoding": "rope"}}],
    "relations": [
        {"name": "R1", "text": "r", "task": "distance", "x": {"measure": "contraction"}, "y": {"measure": "accuracy"}},
        {"name": "R2", "text": "s", "task": "distance", "x": {"measure": "contraction", "layer": 1, "step": 3},
         "y": {"measure": "steps_to_half"},
         "arms": [{"experiment": "text", "encoding": "rope"}, {"experiment": "text", "encoding": "nope"}]}],
    "by_step": [{"task": "distance", "arm": {"experiment": "text", "encoding": "rope"},
                 "stopped": [{"experiment": "short", "encoding": "rope"}]}]}
JUDGED = list(columns.COLUMNS)


# ---- Parity -------------------------------------------------------------------------------------


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def difference(want, got):
    """The first cell that differs by more than roundings; None: there is none."""
    want, got = rows(want), rows(got)
    if want[0] != got[0] or len(want) != len(got):
        return f"{len(want)} rows, {len(got)} here"
    for number, (old, new) in enumerate(zip(want, got)):
        for name, a, b in zip(want[0], old, new):
            if a != b and not (is_real(a) and is_real(b) and abs(float(a) - float(b)) <= ROUNDINGS * max(1, abs(float(a)))):
                return f"row {number + 1}, {name}: {a!r}, here {b!r}"
    return None


def is_real(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def check_records(place):
    """Every judged table that is recorded comes again from its archive, equal_95 and equal_p to the letter too."""
    count = 0
    for name, record in RECORDS:
        with tarfile.open(record / "runs.tar.xz") as archive:
            archive.extractall(place / name)
        szego.judge.write(place / name, preset=name)
        for table in (one for one in JUDGED if (record / f"{one}.csv").exists()):
            found = difference(record / f"{table}.csv", place / name / f"{table}.csv")
            tap.ok(f"{name}: {table}", found is None, found or "")
            count += 1
    tap.ok("records", len(RECORDS) == 6 and count == 16, f"{len(RECORDS)}, {count}")


def reproduce(folder, *options):
    """The program's own tables."""
    done = subprocess.run([PROGRAM, "reproduce", "--preset", folder.parent / "toy.json", "-o", f"{folder}/", "--quiet", *options],
                          env={**os.environ, "SZEGO_PYTHON": "/bin/false"}, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 3) or not folder.exists():
        raise RuntimeError(done.stderr)


def compare(name, folder, output):
    """The judged tables, written into another folder, against what the program's own tables make them."""
    szego.judge.write(folder, output=output)
    found = Oracle(folder, output, PRESET)
    faults = found.all()
    tap.ok(f"{name}: cells", not faults, "\n".join(faults[:4]))
    tap.ok(f"{name}: tables", found.checked >= {"table1", "sweep", "switches", "arms", "pairs", "hypotheses", "relations"},
           str(found.checked))
    made = {path.stem for path in output.glob("*.csv")}
    shutil.rmtree(output)
    return made


def empty_cells(path, generator, *names):
    """Empties a third of the cells of these columns."""
    table = rows(path)
    for row in table[1:]:
        for name in names:
            if generator.random() < 1 / 3:
                row[table[0].index(name)] = ""
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(table)


def disturb(folder, generator):
    """Takes runs away and empties cells: what copied folders may lack."""
    finished = sorted(folder.glob("runs/*/*/*/*/finished.json"))
    for path in generator.choice(finished, 6, replace=False):
        if "text/distance/rope" not in str(path) or generator.random() < 1 / 3:
            path.unlink()
    for path in generator.choice(sorted(folder.glob("runs/*/*/*/*/contraction.csv")), 8, replace=False):
        empty_cells(path, generator, str(generator.choice(["width_ratio", "grad_norm_qk"])))
    for path in generator.choice(sorted(folder.glob("runs/*/*/*/*/metrics.csv")), 5, replace=False):
        empty_cells(path, generator, "accuracy")
    for path in folder.glob("runs/still/*/*/*/finished.json"):  # of a run that is not there any more, or of none
        if not (folder / "runs/text/distance/rope" / path.parent.name / "finished.json").exists():
            path.unlink()


def check_program(place):
    """A tiny experiment, whole and disturbed."""
    folder = place / "toy"
    (place / "toy.json").write_text(json.dumps(PRESET))
    reproduce(folder, "--minutes", "1000")
    tap.ok("toy: every table", compare("toy", folder, place / "out") == set(JUDGED), str(JUDGED))
    manifest, first = json.loads((folder / "manifest.json").read_text()), (folder / "deposit.csv").read_bytes()
    szego.judge.write(folder)
    after = json.loads((folder / "manifest.json").read_text())
    added = [one for one in after["tables"] if one not in manifest["tables"]]
    tap.ok("toy: the manifest stays", {**after, "tables": [one for one in after["tables"] if one not in added]} == manifest
           and {one["name"] for one in added} == set(JUDGED), str([one["name"] for one in added]))
    names = [one["name"] for one in after["tables"]]
    tap.ok("toy: judged tables come first, in the order of their descriptions", names ==
           JUDGED + [one["name"] for one in manifest["tables"]], str(names))
    tap.ok("toy: other tables stay", (folder / "deposit.csv").read_bytes() == first and not list(folder.glob("*.part")))
    again, loaded = szego.judge.judge(folder), szego.load(folder)
    same = all(str(again[name][one].tolist()) == str(loaded[name][one].tolist()) for name in again for one in again[name])
    tap.ok("toy: judge() is load() of what is written", same and len(again) == len(JUDGED), str(list(again)))
    done = subprocess.run([PROGRAM, "report", folder, "-o", place / "page.html", "--quiet"], check=False)
    tap.ok("toy: the page reads it", done.returncode == 0 and (place / "page.html").stat().st_size > 100_000)
    # A run of a primary hypothesis that has enough pairs without it; one of an exploratory hypothesis alone.
    lost = ("text/distance/nope/run-6/finished.json", "wild/distance/rope/run-1/failed.json")
    for seed in range(5):
        other = place / f"toy-{seed}"
        shutil.copytree(folder / "runs", other / "runs")
        if seed < len(lost):
            (other / "runs" / lost[seed]).unlink()
        else:
            disturb(other, np.random.default_rng(seed))
        reproduce(other, "--list")
        compare(f"disturbed {seed}", other, place / "out")
    return folder


# ---- Statistics a second way --------------------------------------------------------------------


def corners(generator, count):
    """Numbers with ties, zeros and opposites."""
    kind = generator.integers(4)
    if kind == 0:
        return generator.integers(-2, 3, count).astype(float)
    return [np.full(count, 0.25), generator.normal(size=count), generator.integers(0, 2, count) * 2.0**-30][kind - 1]


def same(a, b, bound=1e-11):
    return (math.isnan(a) and math.isnan(b)) or abs(a - b) <= bound


def check_statistics():
    generator, faults = np.random.default_rng(7), {}

    def note(name, good, *what):
        if not good:
            faults.setdefault(name, what)
    for trial in range(300):
        count = int(generator.integers(1, 9))
        x, y = corners(generator, count), corners(generator, count)
        note("sign_flip", statistics.sign_flip(x) == exact_sign_flip(x), x)
        mean, low, high = statistics.mean_interval(x)
        if count > 1:
            ends = x.mean() + np.array([-1, 1]) * stats.t.isf(0.025, count - 1) * stats.sem(x)
            note("mean_interval", same(mean, x.mean()) and np.abs(ends - [low, high]).max() <= 1e-8 * (1 + np.abs(ends).max()), x)
        else:
            note("mean_interval of one", mean == x[0] and math.isnan(low) and math.isnan(high), x)
        p = np.where(generator.random(count) < 0.2, math.nan, generator.integers(1, 9, count) / 64)
        known = [1 if math.isnan(one) else one for one in p]
        for index, adjusted in enumerate(statistics.holm(p)):
            note("holm", math.isnan(adjusted) == math.isnan(p[index]), p)
            if not math.isnan(adjusted) and adjusted < 1:
                note("holm", rejected(known, adjusted * (1 + 1e-12), index) and not rejected(known, adjusted * (1 - 1e-12), index), p)
        flat = count < 2 or len(set(x)) == 1 or len(set(y)) == 1
        own = statistics.spearman(x, y)
        note("spearman", math.isnan(own) if flat else same(own, stats.spearmanr(x, y).correlation), x, y)
        check_groups(generator, note)
    tap.ok("statistics", not faults, str(faults)[:400])
    tap.ok("no number", math.isnan(statistics.sign_flip([])) and math.isnan(statistics.sign_flip([1, math.nan]))
           and math.isnan(statistics.mean_interval([]).value) and math.isnan(statistics.spearman([1, 2], [1, math.nan])))
    # Beyond 20 numbers choices are drawn; 25 equal ones sum to 25 - 2 k: 4 standard errors of a million choices.
    want = 2 * stats.binom.cdf(5, 25, 0.5)
    tap.close("drawn signs", statistics.sign_flip([1] * 20 + [-1] * 5), want, 4 * math.sqrt(want / 1e6))
    tap.ok("sums that are equal but for their error", statistics.sign_flip([0.1, 0.2, -0.3 + 1e-9], 1e-9) == 1)


def check_groups(generator, note):
    count = int(generator.integers(2, 25))
    x, y = corners(generator, count), corners(generator, count)
    group, block = np.sort(generator.integers(0, 4, count)), generator.integers(0, 6, count)
    found, want = statistics.pooled_within(x, y, group, block), slow_pooled(x, y, group, block)
    note("pooled", same(found.correlation.value, want), x, y, group)
    varying = [one for one in set(group.tolist()) if not math.isnan(slow_pooled(x, y, np.where(group == one, 0, 9 + np.arange(count)), block))]
    blocks = set(block[np.isin(group, varying)].tolist())
    note("counts", (found.pairs, found.groups, found.blocks) == (int(np.isin(group, varying).sum()), len(varying), len(blocks)), x, y)
    with np.errstate(all="ignore"):
        z = np.arctanh(np.clip([slow_pooled(x, y, group, block, one) for one in blocks], -1, 1)) if blocks else np.array([math.nan])
        n = len(blocks)
        reach = stats.t.isf(0.025, n - 1) * math.sqrt((n - 1) * z.var()) if n > 1 and np.isfinite(z).all() else math.nan
    known = n >= 4 and math.isfinite(reach) and abs(want) < 1 - 1e-12
    ends = np.tanh(np.arctanh(want) + np.array([-reach, reach])) if known else [math.nan] * 2
    note("interval", all(same(a, b, 1e-7) for a, b in zip(found.correlation[1:], ends)), found, ends)


def check_shares():
    """Fisher's sum in fractions, and simulations."""
    for count, share in itertools.product((1, 2, 4, 7, 16), (0, 1 / 16, 0.3, 0.5, 0.77, 0.999, 1)):
        term = [fractions.Fraction(share)] * count
        exact = sum((-1)**(j + 1) * math.comb(count, j) * max(0, 1 - j * term[0])**(count - 1) for j in range(1, count + 1)) \
            if count > 1 else fractions.Fraction(share < 1)
        tap.close(f"largest of {count} above {share:.3g}", shares.largest_share_tail(count, share), float(exact), 1e-7)
    for count in (1, 2, 4, 16, 1000):
        quantile = shares.largest_share_quantile(count, 0.05)
        tap.ok(f"quantile of {count}", shares.largest_share_tail(count, quantile - 1e-9) >= 0.05
               >= shares.largest_share_tail(count, quantile + 1e-9), str(quantile))
        if count < 1000:
            drawn = np.random.default_rng(1).dirichlet(np.ones(count), 40_000).max(axis=1)
            tap.close(f"mean of {count}", shares.uniform_index(count), drawn.mean(), 5 * drawn.std() / 200 + 1e-12)
    # Two samples of n have quantiles whose difference has 2 p (1 - p) / n, over the squared density, as variance: here
    # the shares' empirical distributions, 4.5 standard errors of a difference of two.
    for heads, examples, accuracy, total in ((4, 4500, 0.97, 0.4), (4, 60, 0.5, 0.3), (1, 9, 1.0, 0.5), (8, 50, 0.1, 0.9)):
        own = np.sort(shares.equal_heads(heads, examples, accuracy, total, 101, 1))
        right = np.random.default_rng(2).binomial(examples, max(0, accuracy - total / heads), (heads, shares.TRIALS))
        drops = np.maximum(0, accuracy - right / examples)
        with np.errstate(invalid="ignore"):
            other = np.sort(np.nan_to_num(drops.max(axis=0) / drops.sum(axis=0)))
        points = np.unique(np.concatenate([own, other])) + 1e-9
        apart = np.abs(np.searchsorted(own, points) - np.searchsorted(other, points)).max() / shares.TRIALS
        tap.ok(f"equal heads {heads}, {examples}", apart <= 4.5 * math.sqrt(0.5 / shares.TRIALS), f"{apart}")
    # Random123's known answers of philox4x32-10: counter 0 and key 0.
    known = np.array([0x6627e8d5e169c58d, 0xbc57ac4c9b00dbd8], np.uint64) >> np.uint64(11)
    tap.ok("Philox", (draws.uniforms(0, 0, 0, 2) * 2.0**53 == known).all())
    others = {draws.other_head(seed, 1, 4, 2) for seed in range(99)}
    tap.ok("the other head", others == {0, 1, 3} and draws.other_head(5, 0, 2, 0) == 1, str(others))


class Curve:
    """What the measures ask of a run."""

    def __init__(self, steps, accuracy, majority, examples):
        self.curve, self.facts = (np.array(steps), np.array(accuracy, float)), {"majority": majority, "test_examples": examples}

    def fact(self, name):
        return self.facts[name]


def check_curves():
    half = measures.steps_to_half
    tap.close("half on the line", half(Curve([10, 20, 30], [0.2, 0.6, 0.8], 0.1, 9)), 15, 1e-12)
    tap.close("half before the first epoch", half(Curve([10, 20], [0.5, 0.6], 0.1, 9)), 5, 1e-12)
    tap.ok("nothing learned", all(math.isnan(half(Curve(*one, 9))) for one in (([10], [0.2], 0.1), ([], [], 0.1), ([5], [0.9], math.nan))))
    nan = math.nan
    tap.ok("an epoch that is not known", all(math.isnan(half(Curve([10, 20, 30], one, 0.1, 9))) for one in (
        [0.2, 0.8, nan], [nan, 0.6, 0.8], [0.2, nan, 0.8], [nan, 0.2, 0.8])) and same(half(Curve([10, 20, 30], [0.5, nan, 0.6], 0.1, 9)), 5))
    early = measures.early_end
    tap.ok("early ends where nothing is known", early(Curve([10, 20, 30], [0.1, nan, 0.9], 0.1, 900), None) == 10)
    tap.ok("early", early(Curve([10, 20, 30], [0.1, 0.1, 0.9], 0.1, 900), None) == 20 and early(Curve([10], [0.9], 0.1, 900), None) == 0
           and early(Curve([10], [0.1], 0.1, 900), None) == 10 and early(Curve([10], [0.1], 0.1, 0), None) == 0
           and early(None, 7) == 7)
    # Step 8 lacks a head, step 9 has one twice.
    log = {"step": np.array([0, 0, 0, 4, 4, 8, 9, 9, 9]), "layer": np.zeros(9, int), "head": np.array([0, 1, 1, 0, 1, 0, 0, 1, 1]),
           "probe": np.array(["0", "0", "1", *"000000"], object), "grad_norm_qk": np.array([1.0, 3, 9, 2, 2, 5, 1, 7, 7])}
    share, steps = measures.gradient_shares(log, 0, 2, 0, 9)
    tap.ok("gradient shares", steps == 2 and np.allclose(share, [0.375, 0.625]), f"{share} {steps}")


# ---- What is refused ----------------------------------------------------------------------------


def refused(name, folder, *words, preset=None):
    tap.refused(name, lambda: szego.judge.judge(folder, preset=preset), *words, kind=szego.DataError)


@contextlib.contextmanager
def changed(path, text):
    """A file with another content, or without one (None)."""
    before = path.read_text()
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    try:
        yield
    finally:
        path.write_text(before)


def check_refused(place, folder):
    run, tested = folder / "runs/text/distance/rope/run-2", folder / "runs/short/distance/rope/run-2"
    (place / "empty/runs").mkdir(parents=True)
    (place / "bare").mkdir()
    refused("no folder", place / "none", "none", "no such folder")
    (place / "loop").symlink_to("loop")  # as a folder whose parent may not be read
    refused("a folder of which nobody can tell whether it is there", place / "loop", f"{place}/loop: Too many levels")
    refused("a file", folder / "manifest.json", "manifest.json: is not a folder")
    refused("no manifest and no preset", place / "bare", "bare", "manifest.json", "(preset)")
    refused("no runs", place / "bare", "bare/runs", "`szego reproduce` wrote", preset=PRESET)
    refused("runs of nothing", place / "empty", "empty/runs", "text/distance/rope/run-1", "(preset)", preset=PRESET)
    refused("no such preset", folder, "'nope'", "./my.json", preset="nope")
    refused("another preset's runs", folder, "run-1/finished.json", "config.model.width", "16",
            preset={**PRESET, "config": {**PRESET["config"], "model": {**PRESET["config"]["model"], "width": 16}}})
    for path in (run / "metrics.csv", run / "ablation.csv", tested / "length.csv"):
        with changed(path, None):
            refused(f"without {path.name}", folder, str(path), "is missing", "remove finished.json")
    with changed(tested / "length.csv", (tested / "length.csv").read_text().replace(",20,2,none,", ",10,2,none,", 1)):
        refused("lengths that were not asked for", folder, str(tested / "length.csv"), "preset")
    with changed(tested / "length.csv", (tested / "length.csv").read_text().replace(",linear,", ",yarn,", 1)):
        refused("other scalings than the arm's", folder, str(tested / "length.csv"), "scalings", "run-1/length.csv")
    metrics, ablation, captured = ((run / f"{name}.csv").read_text() for name in ("metrics", "ablation", "contraction"))
    facts = json.loads((run / "finished.json").read_text())
    first = run.parent / "run-1"
    with changed(first / "finished.json", None):
        (first / "finished.json").symlink_to("finished.json")  # as a folder that may not be read
        refused("a run of which nobody can tell whether it is finished", folder, str(first / "finished.json"))
        (first / "finished.json").unlink()
    manifest = folder / "manifest.json"
    for words, text in ((["format: is szego-results-2", "szego-results-1 is needed", "(preset)"],
                         manifest.read_text().replace("szego-results-1", "szego-results-2")),
                        (["command: is spectrum", "(preset)"], manifest.read_text().replace('"reproduce"', '"spectrum"', 1)),
                        (["line 1", "remove it and name the preset"], "{")):
        with changed(manifest, text):
            refused(f"a manifest: {words[0]}", folder, str(manifest), *words)
            if "needed" in words[-2]:
                tap.ok("the preset helps", len(szego.judge.judge(folder, preset=PRESET)) == len(JUDGED))
    check_manifests(manifest, folder)
    for name, words, text in (
            ("metrics.csv", ["column accuracy is missing"], metrics.replace("accuracy", "accurate", 1)),
            ("metrics.csv", ["row 3", "split"], metrics.replace(",test,", ",tset,", 1)),
            ("metrics.csv", ["is no real"], re.sub(r"(,test,[^,]*),", r"\1,x", metrics, count=1)),
            ("metrics.csv", ["epochs of split"], "".join(metrics.splitlines(True)[:2])),
            ("metrics.csv", ["row 4", "step is below"], metrics.replace(",2,10,train,", ",2,1,train,", 1)),
            ("metrics.csv", ["ends at step 11", "finished.json says 10 steps"], metrics.replace(",2,10,", ",2,11,")),
            ("metrics.csv", ["last accuracy of split test is 1.0", "says"], re.sub(r"(,2,10,test,[^,]*),[^,]*", r"\1,1", metrics)),
            ("contraction.csv", ["step 3, layer 1, head 2, probe 0: is missing"], re.sub(r'(?m)^[^"]*"[^"]*",3,1,2,0,.*\n', "", captured)),
            ("contraction.csv", ["step 6, layer 0, head 0, probe 0: is missing"], re.sub(r'(?m)^[^"]*"[^"]*",[69],.*\n', "", captured)),
            ("contraction.csv", ["head and probe twice"], captured + captured.splitlines(True)[1]),
            ("contraction.csv", ["step 1, layer 0, head 0, probe 0: is not what config.capture names"],
             captured + re.sub('",0,', '",1,', captured.splitlines(True)[1])),
            ("contraction.csv", ["has 0 probes, and 1 were captured"], captured.splitlines(True)[0]),
            ("finished.json", ["test_accuracy is null", "test_examples is"], json.dumps({**facts, "test_accuracy": None})),
            ("finished.json", ["whole is null"], json.dumps({**facts, "whole": None})),
            ("finished.json", ["whole is 0.9", "test_accuracy"], json.dumps({**facts, "whole": 0.9})),
            ("finished.json", ["epochs is 3", "loop.epochs 2"], json.dumps({**facts, "epochs": 3})),
            ("ablation.csv", ["row 3", "twice"], ablation.replace(",2,0,1,", ",2,0,0,", 1)),
            ("ablation.csv", ["heads and layers are 10"], "".join(ablation.splitlines(True)[:-1])),
            ("ablation.csv", ["method is not output"], ablation.replace(",output,", ",values,", 1)),
            ("finished.json", ["seed is 3", "two folders"], json.dumps({**facts, "seed": 3})),
            ("finished.json", ["whole is 1.5"], json.dumps({**facts, "whole": 1.5})),
            ("finished.json", ["test_accuracy is missing"], json.dumps({k: v for k, v in facts.items() if k != "test_accuracy"})),
            ("finished.json", ["line 1", "remove finished.json"], "{")):
        with changed(run / name, text):
            refused(f"{name}: {words[0]}", folder, f"run-2/{name}", *words)
    with changed(run / "metrics.csv", metrics.replace(",2,10,", ",2,11,")):
        refused("a log that nothing is asked of", folder, "run-2/metrics.csv", "ends at step 11", preset={
            key: one for key, one in PRESET.items() if key not in ("hypotheses", "relations", "by_step")})
    shutil.move(first, place / "kept")
    first.symlink_to("run-2")
    refused("one folder as two runs", folder, "run-1/finished.json", "seed is 2")
    first.unlink()
    shutil.copytree(run, first)
    refused("one run in two folders", folder, "run-1/finished.json", "seed is 2", "two folders")
    shutil.rmtree(first)
    shutil.move(place / "kept", first)
    szego.judge.judge(folder)
    check_presets(place, folder)
    check_mixtures(place / "unpacked", folder)


def check_manifests(manifest, folder):
    """The preset in a manifest that was changed since."""
    root = json.loads(manifest.read_text())
    for key, value, words in (
            *((key, None, [f"{key} is missing"]) for key in ("experiments", "seeds", "tasks")),
            ("seeds", [1, 1], ["two runs would have the folder", "run-1"]), ("seeds", ["a"], ["experiments[0]", "a seed is 'a'"]),
            ("early_steps", 1.5, ["early_steps is '1.5'"]), ("hypotheses", 7, ["preset: hypotheses"]),
            ("config", {"model": {"width": []}}, ["model.width"]), ("config", "x", ["experiments[0]", "(preset)"]),
            ("hypotheses", [{**PRESET["hypotheses"][0], "layer": 7}], ["ablation.csv: has 2 layers", "asks for layer 7"]),
            ("experiments", [{**PRESET["experiments"][0], "rotated_heads": [2**70]}], ["rotated_heads", "from 0 to 1023"]),
            ("experiments", [{**PRESET["experiments"][0], "length": {"words": "ab"}}], ["length: words is 'a'"]),
            ("experiments", [{**PRESET["experiments"][0], "name": "../x"}], ["name is '../x'", "it names a folder"]),
            ("experiments", [{**PRESET["experiments"][0], "ablation": 3}], ["experiments[0]", "(preset)"])):
        preset = {name: one for name, one in {**PRESET, key: value}.items() if one is not None}
        with changed(manifest, json.dumps({**root, "provenance": {**root["provenance"], "preset": preset}})):
            refused(f"a manifest's preset: {key} is {str(value)[:20]}", folder, "manifest.json" if "ablation.csv" not in words[0]
                    else "run-1/", *words)
    for value in (5, [{"runs": 5, "config": {}}], [{"runs": ["a"], "config": "x"}]):
        with changed(manifest, json.dumps({**root, "provenance": {**root["provenance"], "configs": value}})):
            refused(f"a manifest's configs: {str(value)[:20]}", folder, f"{manifest}: configs", "(preset)")
    with contextlib.ExitStack() as stack:
        stack.enter_context(changed(manifest, json.dumps({**root, "provenance": {**root["provenance"], "configs": []}})))
        for end in folder.glob("runs/*/*/*/*/f*ed.json"):
            stack.enter_context(changed(end, end.read_text().replace('"probes": 1', '"probes": "x"')))
        refused("configurations of another kind", folder, "finished.json: config", "'x'", "remove finished.json")


def check_presets(place, folder):
    """A preset that is named is refused as `szego reproduce` refuses it, by the program and by the package."""
    first, arm = PRESET["hypotheses"][0], PRESET["hypotheses"][0]["arm"]
    relation = {**PRESET["relations"][1], "arms": [arm, arm]}
    for number, (words, changes) in enumerate((
            ("hypotheses[0].minuss: is unknown: did you mean minus?",
             {"hypotheses": [{**{key: one for key, one in first.items() if key != "minus"}, "minuss": first["minus"]}]}),
            ("relations[0].arms[1]: is there twice", {"relations": [relation]}),
            ("hypotheses[0].primary: is a text", {"hypotheses": [{**first, "primary": "true"}]}),
            ("is \"arm\" itself", {"hypotheses": [{**first, "minus": [arm]}]}),
            ("hypotheses[1].name: \"H1\" is there twice", {"hypotheses": [first, first]}),
            ("has no run of experiment text, encoding alibi", {"hypotheses": [{**first, "arm": {**arm, "encoding": "alibi"}}]}),
            ("hypothesis: is unknown: did you mean hypotheses?", {"hypothesis": [first]}),
            ("has no layer 7", {"hypotheses": [{**first, "layer": 7}]}))):
        preset, path = {**PRESET, **changes}, place / f"wrong-{number}.json"
        path.write_text(json.dumps(preset))
        refused(f"{words}: a dict", folder, "preset: ", words, preset=preset)
        refused(f"{words}: a file", folder, f"{path}: ", words, preset=path)
        done = subprocess.run([PROGRAM, "judge", "--preset", path, folder], capture_output=True, text=True, check=False)
        asked = subprocess.run([PROGRAM, "reproduce", "--list", "--preset", path], capture_output=True, text=True, check=False)
        tap.ok(f"{words}: the program", done.returncode == 3 and words in done.stderr and done.stderr == asked.stderr, done.stderr)
    refused("a preset that is no JSON", folder, "preset: is no JSON", preset={**PRESET, "seeds": [math.nan]})


def check_mixtures(place, folder):
    """Runs without a manifest, as runs.tar.xz has them: each says alone what it is of."""
    shutil.copytree(folder / "runs", place / "runs")
    szego.judge.judge(place, preset=PRESET)
    ends = {name: place / "runs" / name / "finished.json" for name in (
        "text/distance/rope/run-2", "text/distance/nope/run-2", "bare/distance/t5/run-2", "short/distance/rope/run-2",
        "text/count/rope/run-1", "text/count/rope-rotate-0-2/run-1")}
    rope, nope, bare, short, whole, part = ends.values()
    def with_config(path, section, **keys):
        facts = json.loads(path.read_text())
        facts["config"][section].update(keys)
        return json.dumps(facts)
    for name, path, text, words in (
            ("a copy under another encoding", nope, rope.read_text(), ["config.model.encoding is 'rope'", "has 'nope'"]),
            ("a copy under another part of heads", part, whole.read_text(), ["config.model.encoding is 'rope'", "has 'rope:rotate=0-2'"]),
            ("a copy under another profile", rope, rope.read_text().replace('"text"', '"released"', 1), ["config.profile"]),
            ("a seed of another batch, which the preset sets", rope, with_config(rope, "loop", batch=8), ["config.loop.batch is 8"]),
            ("a seed of another key, which it does not set", rope, with_config(rope, "model", dropout=0.5), ["model.dropout is 0.5", "0.1"]),
            ("an experiment with another default", short, with_config(short, "model", mask="none"), ["model.mask is 'none'", "'causal'"]),
            ("a switch that is off", bare, with_config(bare, "model", mask="causal"), ["config.model.mask is 'causal'"]),
            ("a seed of more data", rope, rope.read_text().replace('"test_examples": ', '"test_examples": 9'), ["test_examples is 9"])):
        with changed(path, text):
            refused(name, place, str(path.relative_to(place)), *words, preset=PRESET)
    twice = {**PRESET, "experiments": [*PRESET["experiments"], {"name": "code", "seeds": [1], "encodings": ["alibi:slopes=exp"]}]}
    shutil.copytree(place / "runs/code/distance/alibi", place / "runs/code/distance/alibi-slopes-exp")
    refused("two spellings of one arm", place, "alibi-slopes-exp/run-1", "seed counts once", preset=twice)


# ---- What is written ----------------------------------------------------------------------------


def judge_into(folder, output, *options, **more):
    """`szego judge -o`: (exit code, what it says)."""
    done = subprocess.run([PROGRAM, "judge", *options, folder, "-o", output], capture_output=True, text=True, check=False, **more)
    return done.returncode, done.stderr


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def check_written(place, folder):
    output, file = place / "judged", place / "file"
    szego.judge.write(folder, output=output)
    whole = contents(output)
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (4096, 4096))
    for where in (output, place / "new"):
        code, said = judge_into(folder, where, preexec_fn=limit)
        tap.ok(f"no space in {where.name}: a message, and no file changes", code == 1 and contents(where) == (
            whole if where == output else {}) and said == f"szego: {where}/manifest.json: cannot be written: File too large\n", said)
    (output / "pairs.csv").unlink()
    (output / "pairs.csv").mkdir()
    code, said = judge_into(folder, output)
    tap.ok("a folder where a table goes", code == 1 and said.startswith(f"szego: {output}/pairs.csv: is a folder") and
           contents(output) == {name: one for name, one in whole.items() if name != "pairs.csv"}, said)
    (output / "pairs.csv").rmdir()
    szego.judge.write(folder, output=output)
    with locked(output):
        code, said = judge_into(folder, output)
    tap.ok("another writer", code == 1 and f"{output}: another writer uses this folder" in said and contents(output) == whole, said)
    file.write_text("")
    for where, wanted, words in ((file, 1, "is not a folder"), (f"{file}/below/", 1, "Not a directory"),
                                 (place / "table.csv", 2, "end it in /")):
        code, said = judge_into(folder, where)
        tap.ok(f"-o {pathlib.Path(where).name}", code == wanted and said.startswith(f"szego: {'output ' * (wanted == 2)}{where}".rstrip("/"))
               and words in said and said.count("\n") == 1, said)
    for where, wanted, words in ((place / "nowhere", 1, "No such file"), (file, 1, "Not a directory")):
        code, said = judge_into(where, output)
        tap.ok(f"DIR is {where.name}", code == wanted and f"szego: {where}: {words}" in said and "reproduce -o DIR/" in said, said)
    less = {key: value for key, value in PRESET.items() if key not in ("hypotheses", "by_step")}
    (place / "less.json").write_text(json.dumps(less))
    other, before = place / "other", contents(folder)
    shutil.copytree(folder, other)
    root = json.loads((other / "manifest.json").read_text())
    root["provenance"]["arguments"] = ["made elsewhere"]
    (other / "manifest.json").write_text(json.dumps(root))
    for name, of, options in (("another preset", folder, ["--preset", place / "less.json"]), ("other runs", other, [])):
        code, said = judge_into(of, folder, *options)
        tap.ok(f"{name} over the program's own tables", code == 3 and contents(folder) == before and
               f"{folder}/manifest.json: its tables " in said and "deposit" in said and "choose another folder" in said, said)
    code, said = judge_into(folder, output, "--preset", place / "less.json")
    gone = ["arms.csv", "by_step.csv", "hypotheses.csv", "pairs.csv"]
    tap.ok("tables of before go, and a line names them", code == 0 and sorted(set(whole) - set(contents(output))) == gone and
           all(name in said for name in gone) and said.count("\n") == 1 and len(szego.load(output)) == len(whole) - 1 - len(gone), said)
    check_interrupt(folder, output)


def check_interrupt(folder, output):
    """Ctrl-C while files are renamed waits until all are."""
    replace, calls = os.replace, []
    def interrupted(*names):
        calls.append(names)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        replace(*names)
    os.replace = interrupted
    try:
        szego.judge.write(folder, output=output)
        stopped = False
    except KeyboardInterrupt:
        stopped = True
    finally:
        os.replace = replace
    tap.ok("Ctrl-C while files are renamed", stopped and len(szego.load(output)) == len(JUDGED) and
           len(contents(output)) == len(JUDGED) + 1, str(sorted(contents(output))))


class Terminal(io.StringIO):
    def isatty(self):
        return True


def check_progress(folder):
    """The line goes before a message comes."""
    shown = Terminal()
    with changed(folder / "runs/text/distance/nope/run-1/finished.json", "{"), contextlib.redirect_stderr(shown):
        tap.refused("a run that is damaged", lambda: szego.judge.main([str(folder)]), "line 1", kind=szego.DataError)
    tap.ok("the line of progress ends", "reading runs: 1 of" in shown.getvalue() and shown.getvalue().endswith("\r\x1b[K"),
           repr(shown.getvalue()))


# ---- A terminal ---------------------------------------------------------------------------------


def screen_of(folder, width):
    """{table: its lines} of what `szego judge` prints."""
    done = subprocess.run([PROGRAM, "judge", folder], env={**os.environ, "COLUMNS": str(width)}, capture_output=True,
                          text=True, check=True)
    return {lines[0]: lines[1:] for lines in map(str.splitlines, done.stdout.split("\n\n"))}


def check_screen(folder):
    """What a terminal shows, by the cells of tables.json."""
    found, wide = szego.judge.judge(folder)["reproduce_hypotheses"], screen_of(folder, 200)
    heads, *rows_shown = (line.split("  ") for line in wide["hypotheses"])
    shown = [[one.strip() for one in cells if one.strip()] for cells in rows_shown]
    first = f"[{found['t_low'][0]:.4g}, {found['t_high'][0]:.4g}]"
    tap.ok("tables for a person", list(wide) == ["table1", "sweep", "switches", "hypotheses", "length_arms", "relations"],
           list(wide))
    tap.ok("a range is one cell, empty without ends", "interval" in " ".join(heads).split() and
           first in shown[0] and "[" not in " ".join(shown[2]), wide["hypotheses"])
    for width in (40, 60, 80):
        lines = [line for table in screen_of(folder, width).values() for line in table if not line.startswith("  and ")]
        tap.ok(f"lines fit {width} columns", max(map(len, lines)) <= width, "\n".join(lines))
    told = screen_of(folder, 80)["hypotheses"]
    tap.ok("what is left out is counted, and the least telling goes first", "p_holm" in told[0].split() and
           "p" not in told[0].split() and "pairs" not in told[0].split() and
           f"and {len(wide['hypotheses'][0].split()) - len(told[0].split())} more columns" in told[-1], "\n".join(told))


def check_main(folder):
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        code = szego.judge.main([f"{folder}"])
    text = shown.getvalue()
    tap.ok("main prints", code == 0 and "hypotheses\n" in text and "H1" in text and max(map(len, text.splitlines())) < 120)
    check_screen(folder)
    output = folder.parent / "written"
    with contextlib.redirect_stdout(shown):
        code = szego.judge.main([f"--output={output}/", "--quiet", "--", f"{folder}"])
    tap.ok("main writes", code == 0 and len(szego.load(output)) == len(JUDGED))
    with contextlib.redirect_stderr(shown):
        for wrong in ([], ["--threads=2", str(folder)], [str(folder), "more"]):
            try:
                szego.judge.main(wrong)
                tap.ok(f"usage {wrong[:1]}", False)
            except SystemExit as ended:
                tap.ok(f"usage {wrong[:1]}", ended.code == 2)
    try:
        szego.judge.judge(folder, prest="toy")
        tap.ok("keyword", False)
    except szego.KeywordError as error:
        tap.ok("keyword", "did you mean preset?" in str(error))
    for text in ("0.1", "0.3333333333333333", "0.30000000000000004", "1e-05", "1e+16", "12", "-0", "inf"):
        tap.ok(f"written as {text}", rows_module.real_text(float(text)) == text, rows_module.real_text(float(text)))


tap.ok("judging needs no Matplotlib", "matplotlib" not in sys.modules)
check_statistics()
check_shares()
check_curves()
with scratch() as made:
    check_records(pathlib.Path(made))
    toy = check_program(pathlib.Path(made))
    check_refused(pathlib.Path(made), toy)
    check_written(pathlib.Path(made), toy)
    check_progress(toy)
    check_main(toy)
tap.finish()
