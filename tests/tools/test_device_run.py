#!/usr/bin/env python3
"""tools/device-run against the emulated GPU, which is deaf to what tests ask of it, as a real one is.
usage: test_device_run.py parity | calls | kills BUILD. Prints TAP."""

import contextlib
import csv
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
TOOL = os.path.join(HERE, "../../tools/device-run")

# Answers as bench/peer_torch.py does, at once, and tells its environment on standard error.
STAND_IN_PYTHON = """#!/bin/sh
echo "rival: LD_LIBRARY_PATH=${LD_LIBRARY_PATH-unset}" >&2
while read -r request; do
    case $request in
    version) echo stand-in ;;
    *) echo ok ;;
    esac
done
"""
# Runs the program; refuses one tool, as a machine may refuse them all.
STAND_IN_SANITIZER = """#!/bin/sh
[ "$1" != --help ] || { echo '  --kernel-regex-exclude'; exit 0; }
tool=$2
while [ "${1#*/tests/}" = "$1" ]; do shift; done
"$@" || exit
[ "$tool" = memcheck ] && echo '========= ERROR SUMMARY: 0 errors' || echo 'Device not supported'
"""


class Run:
    """A run of device-run in a folder that goes with it."""

    def __init__(self, build, arguments, sanitizer=False, environment=None):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.results = os.path.join(self.folder.name, "results")
        bin_folder = os.path.join(self.folder.name, "bin")
        os.mkdir(bin_folder)
        self.put(os.path.join(bin_folder, "rival"), STAND_IN_PYTHON)
        if sanitizer:
            self.put(os.path.join(bin_folder, "compute-sanitizer"), STAND_IN_SANITIZER)
        plugin = os.path.join(build, "tests/cuda/libszego-cuda-emulated.so")
        self.command = [TOOL, "--results", self.results, "--build", build, "--emulated", plugin]
        self.command += ["--jobs", str(os.cpu_count())] + arguments
        self.environment = dict(
            os.environ,
            PATH=bin_folder + ":" + os.environ["PATH"],
            SZEGO_PYTHON=os.path.join(bin_folder, "rival"),
            SZG_TEST_MULTIPLIER="0.01",
            # A device does not fail at will: neither does the emulated one in a dry run.
            SZG_EMULATED_FAIL="cudaMalloc:1",
            LD_LIBRARY_PATH="/nowhere",
            **(environment or {}),
        )

    @staticmethod
    def put(path, text):
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def whole(self):
        return subprocess.run(
            self.command, env=self.environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip

    def start(self):
        return subprocess.Popen(
            self.command, env=self.environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def text(self, name):
        try:
            with open(os.path.join(self.results, name)) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def rows(self):
        return list(csv.DictReader(self.text("bench.csv").splitlines()))


count = failures = 0


def check(name, good, why=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)
    if not good:
        print("".join(f"# {line}\n" for line in str(why).splitlines()), end="")


def parity(build):
    run = Run(build, ["build", "parity", "spectra-parity"])
    done = run.whole()
    lines = run.text("tests.txt").splitlines()
    keys = [tuple(line.split()[:3]) for line in lines]
    check("every test passes where nothing fails at will", done.returncode == 0,
          run.text("summary.txt") + run.text("tests.log")[-3000:])  # fmt: skip
    check("each runs once", len(keys) == len(set(keys)) > 20, lines)
    check("none is of the emulated GPU alone", all(key[0] != "test_cuda" for key in keys), lines)
    check("three precisions of whole models",
          sum(key[1] == "parity" for key in keys) == 3, lines)  # fmt: skip


def verdicts(run):
    return [line for line in run.text("summary.txt").splitlines() if line.startswith("== ")]


def calls(build):
    """What is measured in the three calls, and every verdict."""
    stages = "facts build rates first-step steps operations".split()
    run = Run(build, stages)
    done = run.whole()
    rows = run.rows()
    check("first: all is done", done.returncode == 0, run.text("summary.txt"))
    check("first: a verdict a stage",
          [line.split()[1].rstrip(":") for line in verdicts(run)] == stages + ["exit"],
          verdicts(run))  # fmt: skip
    first = [row for row in rows if row["item"] == "train:rope:first"]
    check("first: one step in three precisions",
          sorted({row["backend"] for row in first}) == ["cuda:bf16", "cuda:f32", "cuda:tf32"]
          and all(float(row["ours_s"]) > 0 for row in first), first)  # fmt: skip
    parts = [row for row in rows if row["item"] == "train:rope:operations" and row["calls"]]
    check("first: operations with bytes and their share of the copy's rate",
          len(parts) > 15 and all(float(row["copy_share"]) > 0 for row in parts), parts)  # fmt: skip
    check("first: every row says that it was measured",
          rows and all(row["verdict"] == "measured" for row in rows), rows)  # fmt: skip

    run = Run(build, ["facts", "build", "rival"])
    done = run.whole()
    rivals = [row for row in run.rows() if row["rival_s"]]
    check("second: all is done", done.returncode == 0, run.text("summary.txt"))
    check("second: a rival for five steps and two products", len(rivals) == 7, run.rows())
    check("second: the rival starts without LD_LIBRARY_PATH, its words are kept",
          run.text("rival.log").count("LD_LIBRARY_PATH=unset") >= 7
          and "nowhere" not in run.text("rival.log"), run.text("rival.log"))  # fmt: skip

    run = Run(build, "build sanitizer spectra crossover capture profile".split(), sanitizer=True)
    done = run.whole()
    summary = run.text("summary.txt")
    check("third: what a machine refuses is left out, and fails nothing",
          done.returncode == 5 and "FAILED" not in summary
          and "sanitizer: ok" in summary and "cannot work here" in summary, summary)  # fmt: skip
    check("third: memcheck is told file by file", summary.count("memcheck network_") > 6, summary)
    kinds = {row["item"] for row in run.rows()}
    # Small sizes leave general eigenvalues out: the least order takes the cpu too long.
    check("third: batched, dense, crossovers, capture",
          kinds >= {"batch:plain", "batch:checked", "dense", "train:rope:capture"}
          and sum(kind.startswith("crossover:") for kind in kinds) == 5, kinds)  # fmt: skip
    check("at most eight files", len(os.listdir(run.results)) <= 8, os.listdir(run.results))

    run = Run(build, ["--seconds", "6", "build", "steps", "operations"])
    done = run.whole()
    check("what no time is left for is told", done.returncode == 1
          and "operations: no time is left" in run.text("summary.txt"),
          run.text("summary.txt"))  # fmt: skip


def kills(build):
    """Ten kills of all processes at random rows: what was finished is there, and whole."""
    stages = ["build", "rates", "first-step", "operations"]
    undisturbed = Run(build, stages)
    check("undisturbed", undisturbed.whole().returncode == 0, undisturbed.text("summary.txt"))
    order = [(row["item"], row["backend"], row["input"]) for row in undisturbed.rows()]
    seed = int(os.environ.get("SZG_TEST_SEED", "20250513"))
    print(f"# SZG_TEST_SEED={seed}, {len(order)} rows undisturbed")
    choose = random.Random(seed)
    struck = 0
    for _ in range(40):  # a run can end before its kill: that one does not count
        if struck == 10:
            break
        run = Run(build, stages)
        wanted = choose.randrange(1, len(order))
        process = run.start()
        while process.poll() is None and run.text("bench.csv").count("\n") < 1 + wanted:
            time.sleep(0.001)
        time.sleep(choose.random() * 0.05)
        seen, told = run.text("bench.csv"), verdicts(run)
        struck += process.poll() is None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        time.sleep(0.2)
        text, rows = run.text("bench.csv"), run.rows()
        got = [(row["item"], row["backend"], row["input"]) for row in rows]
        whole = text[: text.rfind("\n") + 1]
        good = whole.startswith(seen[: seen.rfind("\n") + 1])
        good = good and got[: whole.count("\n") - 1] == order[: whole.count("\n") - 1]
        good = good and verdicts(run)[: len(told)] == told
        check(f"killed at row {wanted}: {whole.count(chr(10)) - 1} rows and {len(told)} verdicts "
              "are there", good and whole.count("\n") > wanted, text)  # fmt: skip
    check("ten kills struck a run at work", struck == 10, f"{struck} of 40 runs")


{"parity": parity, "calls": calls, "kills": kills}[sys.argv[1]](os.path.realpath(sys.argv[2]))
print(f"1..{count}")
sys.exit(failures != 0)
