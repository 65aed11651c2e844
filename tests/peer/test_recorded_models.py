#!/usr/bin/python3
"""The tables of docs/models and the output in README.md, computed again from the models.
usage: test_recorded_models.py PROGRAM; SZG_TEST_MODEL and SZG_TEST_ROPE_MODEL are paths that tools/fetch-model prints."""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

from peer import Tap, skip, tables

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.path.abspath(sys.argv[1])
MODELS = {"all-MiniLM-L6-v2": os.environ.get("SZG_TEST_MODEL"), "gemma-3-270m": os.environ.get("SZG_TEST_ROPE_MODEL")}
DIGITS = {"low": 1e-5, "high": 1e-5}  # bands have six digits; all else differs by rounding


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def alike(column, old, new):
    try:
        near = DIGITS.get(column.rpartition("_")[2], 1e-9) * max(1, abs(float(old)))
        return abs(float(old) - float(new)) <= near
    except ValueError:
        return old == new


def differences(old, new):
    if len(old) != len(new):
        return [f"{len(old)} rows, now {len(new)}"]
    return [f"row {number}, {column}: {a[column]}, now {b.get(column)}" for number, (a, b) in enumerate(zip(old, new), 1)
            for column in a if not alike(column, a[column], b.get(column, ""))]


def shown_output():
    """What README shows below the command that reads the model, as lines."""
    block = (SOURCE / "README.md").read_text(encoding="utf-8").partition('$ szego checkpoint "$model"\n')[2]
    return block.partition("\n...\n")[0].splitlines()


if not any(MODELS.values()):
    skip("SZG_TEST_MODEL and SZG_TEST_ROPE_MODEL are not set: ./check --full fetches one, --release both")
tap = Tap()
for name, path in MODELS.items():
    if not path:
        continue
    record = SOURCE / "docs/models" / name
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([SOURCE / "tools/record-model", PROGRAM, path, scratch], check=True)
        for table in ("heads", "layers", "kernel"):
            wrong = differences(rows(record / f"{table}.csv"), rows(pathlib.Path(scratch) / f"{table}.csv"))
            tap.ok(f"{name}: {table} is the recorded one", not wrong, "; ".join(wrong[:5]))
if MODELS["gemma-3-270m"]:
    printed = subprocess.run([PROGRAM, "checkpoint", MODELS["gemma-3-270m"]], check=True, capture_output=True, text=True,
                             env={**os.environ, "COLUMNS": "80"}).stdout.splitlines()
    shown = shown_output()
    tap.ok("README shows what the program prints", len(shown) > 20 and printed[:len(shown)] == shown)
    first = rows(SOURCE / "docs/models/gemma-3-270m/heads.csv")
    for seed in "12":  # docs/findings.md says so
        other = tables(PROGRAM, "checkpoint", MODELS["gemma-3-270m"], "--seed", seed)["heads"]
        tap.ok(f"seed {seed}: the same heads stand out",
               [row["stands_out"] or "" for row in first] == [row["stands_out"] or "" for row in other])
        moved = max(abs(float(a["self_share"]) - float(b["self_share"])) for a, b in zip(first, other))
        tap.ok(f"seed {seed}: shares move by less than 0.008", 0 < moved < 0.008, f"{moved}")
tap.finish()
