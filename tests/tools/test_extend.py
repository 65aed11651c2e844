#!/usr/bin/env python3
"""docs/extend: each patch applies, the counts agree, and what the patches add builds and works. Prints TAP.

usage: test_extend.py patches|build
patches: of a copy of the tree; nothing is compiled. build: the copy with all patches is built, and the tests and
golden command lines that the patches bring run, and one command line each, whose answer is a formula's.
"""
import csv
import io
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/extend"
PATCHES = sorted(FOLDER.glob("*.patch"))
EPS = 2.0**-52
# The tests that look at what the patches add, besides those that the patches bring.
ROOM_TESTS = ["encoding records", "encoding spec", "theory claims"]
TARGETS = ["analysis/szego", "analysis/tables.json", "libszego.so.0.1.0", "tests/test_checkpoint", "tests/test_encoding", "tests/test_network", "tests/test_theory",
           "tests/support/with_core"]


class Failure(Exception):
    """What did not work, in words."""


def call(command, folder, **environment):
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-40:])
        raise Failure(f"{' '.join(map(str, command))}: exit {done.returncode}\n{tail}")
    return done.stdout


def copy_tree(place):
    """Tracked files as they stand, and those that git does not ignore."""
    listed = call(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT).split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)


def apply(place, patch, *options):
    # Below another repository git would take that one's root for the patch's, and do nothing.
    call(["git", "apply", *options, str(patch)], place, GIT_CEILING_DIRECTORIES=str(place.parent))


def apply_all(place):
    for patch in PATCHES:
        apply(place, patch)


# ---- Patches and pages ----

def each_applies_alone(place):
    for patch in PATCHES:
        apply(place, patch, "--check")


def all_apply_together(place):
    apply_all(place)
    for patch in reversed(PATCHES):
        apply(place, patch, "-R")


def counts_agree(_):
    """The index has one row a patch, with the counts that the tool prints."""
    counted = list(csv.DictReader(io.StringIO(call([ROOT / "tools/extend"], ROOT))))
    rows = re.findall(r"^\| \[[^]]*\]\((\S+)\.md\) \| \[(\S+)\]\((\S+)\.patch\) \| (\d+) \| (\d+) \| (\d+) \|",
                      (FOLDER / "README.md").read_text(), re.M)
    want = sorted((r["patch"],) * 3 + (r["places"], r["tests"], r["docs"]) for r in counted)
    if not want or sorted(rows) != want:
        raise Failure(f"the table of docs/extend/README.md says {sorted(rows)}, tools/extend counts {want}")


def counts_are_right(place):
    """The tool's counts of a patch whose files are known."""
    names = ["lib/a/new.c", "lib/a/list.def", "cuda/meson.build", "tests/a/test_new.c", "tests/cli/cases/new/run",
             "tests/cli/cases/new/out", "docs/a.md", "README.md"]
    patch = place / "known.patch"
    patch.write_text("".join(f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n" for name in names))
    out = call([ROOT / "tools/extend", patch], ROOT).splitlines()
    patch.unlink()
    if out[1:] != ["known,3,2,2,lib/a/new.c lib/a/list.def cuda/meson.build"]:
        raise Failure(f"tools/extend prints {out}")


def pages_are_there(_):
    for patch in PATCHES:
        page = patch.with_suffix(".md")
        if not page.is_file() or patch.name not in page.read_text():
            raise Failure(f"{page} is missing, or does not name {patch.name}")


# ---- The built program ----

def brought():
    """What the patches bring: tests as meson calls them, golden cases by name."""
    text = "".join(patch.read_text() for patch in PATCHES)
    tests = re.findall(r"^\+\+\+ b/tests/([a-z_]+)/test_(\w+)\.(?:c|py)$", text, re.M)
    cases = re.findall(r"^diff --git a/tests/cli/cases/([^/]+)/", text, re.M)
    return [" ".join(test) for test in tests], sorted(set(cases))


def build(place):
    shared = {"CCACHE_BASEDIR": str(place), "CCACHE_NOHASHDIR": "1"}
    call(["meson", "setup", "build", "-Dcuda=disabled"], place, **shared)
    targets = call(["ninja", "-C", "build", "-t", "targets", "all"], place)
    emulated = re.findall(r"^(tests/cuda/\S*emulated\S*\.so):", targets, re.M)
    call(["ninja", "-C", "build", "-j", str(len(os.sched_getaffinity(0))), *TARGETS, *emulated], place, **shared)


def tests_pass(place):
    tests, _ = brought()
    on_device = re.findall(r"cuda network_softplus \w+", call(["meson", "test", "-C", "build", "--list"], place))
    out = call(["meson", "test", "-C", "build", "--no-rebuild", *ROOM_TESTS, *tests, *on_device], place)
    passed, wanted = re.search(r"^Ok: +(\d+)", out, re.M), len({*ROOM_TESTS, *tests, *on_device})
    if not passed or int(passed[1]) != wanted:
        raise Failure(f"{wanted} tests were asked for:\n{out}")


def golden_cases_pass(place):
    _, cases = brought()
    out = call(["tests/cli/run-cases", "build/analysis/szego", "tests/cli/cases", *cases], place)
    if f"1..{len(cases)}\n" not in out:
        raise Failure(out)


def table(place, *words):
    return list(csv.DictReader(io.StringIO(call([place / "build/analysis/szego", *words, "--format", "csv"], place))))


def close(got, want, bound):
    if not (len(got) == len(want) and all(abs(a - b) <= bound for a, b in zip(got, want))):
        raise Failure(f"{got}, where {want} are expected to {bound}")


def gaussian_answers(place):
    """At theta = 0 and pi: the sum of the lags, those beyond 30 below e^-100. 31 terms, their moduli sum to 5.1."""
    rows = table(place, "symbol", "--pe", "gaussian:width=2", "-n", "8", "--convention", "closed_form", "--grid", "2")
    lags = [math.exp(-k * k / 8) for k in range(31)]
    want = [1 + 2 * sum(sign**k * lags[k] for k in range(1, 31)) for sign in (1, -1)]
    # The library: at pi x = (2 pi)^2 / 2 < 20, so 8 (x + 1) + 16 < 200 roundings of a value below 5.1.
    close([float(row["re"]) for row in rows], want, 200 * EPS * 5.1)


def sandwich_answers(place):
    """cos(i - j) has rank 2: its eigenvalues are (n +- sin n / sin 1) / 2. docs/explanation/methods.md: 64 n eps of the largest."""
    n = 40
    rows = table(place, "spectrum", "--pe", "sandwich:dim=2", "-n", str(n), "--all")
    part = math.sin(n) / math.sin(1)
    want = [0] * (n - 2) + sorted([(n + part) / 2, (n - part) / 2])
    every = [float(row["re"]) for row in rows for _ in range(int(row["multiplicity"]))]
    close(sorted(every), want, 64 * n * EPS * max(want))
    if any(row["zeros"] != str(n - 2) for row in rows):
        raise Failure(f"the other {n - 2} eigenvalues are 0, but zeros is {[row['zeros'] for row in rows]}")


def neighbours_answers(place):
    """Tridiagonal: 2 p cos(j pi / (n + 1)), two values of at most 2 p, each within 4 eps of itself."""
    n = 41
    rows = table(place, "spectrum", "--pe", "neighbours:strength=3", "-n", str(n), "--all")
    want = sorted(6 * math.cos(j * math.pi / (n + 1)) for j in range(1, n + 1))
    close(sorted(float(row["re"]) for row in rows), want, 8 * EPS * 6)
    if float(rows[n // 2]["re"]) != 0:
        raise Failure(f"the middle eigenvalue is 0, not {rows[n // 2]['re']}")


def claim_answers(place):
    rows = table(place, "verify", "L1q", "--terms", "6", "--trials", "20")
    if [(row["id"], row["verdict"], row["trials"]) for row in rows] != [("L1q", "holds", "20")]:
        raise Failure(f"verify L1q: {rows}")


def lags_answer(place):
    """Powers of 1/2 are exact."""
    rows = table(place, "lags", "--pe", "kms:rho=0.5", "-n", "4")
    close([float(row["re"]) for row in rows], [0.5**abs(k) for k in range(-3, 4)], 0)


def figure_answers(place):
    """The page of `szego lags`: the point at lag k is 2^-|k|, and says so with the words of the schema."""
    program = place / "build/analysis/szego"
    call([program, "lags", "kms:rho=0.5", "-n", "4", "--quiet", "-o", "lags/"], place)
    call([program, "report", "lags/", "--quiet"], place)
    page = (place / "lags/report.html").read_text()
    points = re.findall(r"<title>(?:[^<]*\n)?lag \(positions\): (-?\d+)\nvalue: ([0-9.]+)</title>",
                        page.replace("\N{MINUS SIGN}", "-"))
    want = [(str(k), str(0.5**abs(k)).removesuffix(".0")) for k in range(-3, 4)]
    if sorted(points) != sorted(want) or 'id="lags-1"' not in page:
        raise Failure(f"the page's points are {points}, where {want} are expected")


def write_checkpoint(folder):
    """One layer, one head of size 4 in a model of width 4: W_Q = I, W_K = diag(1, 2, 3, 4)."""
    folder.mkdir()
    header, data = {}, b""
    for part, diagonal in (("q", (1, 1, 1, 1)), ("k", (1, 2, 3, 4))):
        numbers = [diagonal[i] if i == j else 0 for i in range(4) for j in range(4)]
        header[f"model.layers.0.self_attn.{part}_proj.weight"] = {
            "dtype": "F32", "shape": [4, 4], "data_offsets": [len(data), len(data) + 64]}
        data += struct.pack("<16f", *numbers)
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    (folder / "config.json").write_text(json.dumps({
        "model_type": "orion", "num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1, "hidden_size": 4,
        "rope_theta": 10000}))


def family_answers(place):
    """Singular values of W_Q^T W_K / sqrt(4): 1/2, 1, 3/2, 2, each within the residual 64 n eps of the largest."""
    write_checkpoint(place / "model")
    call([place / "build/analysis/szego", "checkpoint", "model", "--quiet", "-o", "out/"], place)
    with open(place / "out/spectra.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if (row["matrix"], row["kind"]) == ("qk", "singular")]
    close(sorted(float(row["re"]) for row in rows), [0.5, 1, 1.5, 2], 64 * 4 * EPS * 2)
    with open(place / "out/frequencies.csv", newline="", encoding="utf-8") as file:
        theta = [float(row["theta"]) for row in csv.DictReader(file)]
    close(theta, [1, 0.01], 8 * EPS)


PARTS = {
    "patches": [each_applies_alone, all_apply_together, counts_agree, counts_are_right, pages_are_there],
    "build": [apply_all, build, tests_pass, golden_cases_pass, gaussian_answers, sandwich_answers,
              neighbours_answers, claim_answers, lags_answer, figure_answers, family_answers],
}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in PARTS:
        sys.exit(__doc__)
    if not (ROOT / ".git").exists():
        print("1..0 # SKIP no git checkout: which files belong to the tree is not known")
        return 0
    steps = PARTS[sys.argv[1]]
    print(f"1..{len(steps)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="szego-extend.") as scratch:
        place = pathlib.Path(scratch).resolve() / "tree"
        place.mkdir()
        copy_tree(place)
        for number, step in enumerate(steps, 1):
            name = step.__name__.replace("_", " ")
            try:
                step(place)
            except Failure as why:
                print(f"not ok {number} - {name}\n" + "\n".join(f"# {line}" for line in str(why).splitlines()))
                return 1
            print(f"ok {number} - {name}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
