"""What the tests of the tables `heads` and `kernel` share: writing a model, and szego's tables of it."""
import csv
import os
import subprocess
import sys

from peer import scratch, write_model

PROGRAM = sys.argv[1]


def analyse_all(model, *arguments):
    """The tables, each a list of rows."""
    with scratch() as folder:
        write_model(f"{folder}/model", model.config, model.tensors())
        run = subprocess.run([PROGRAM, "checkpoint", f"{folder}/model", "-o", f"{folder}/out/", *arguments],
                             capture_output=True, text=True, check=False)
        if run.returncode:
            raise SystemExit(run.stderr)
        found = {}
        for name in ("heads", "kernel", "layers", "notes"):
            path = f"{folder}/out/{name}.csv"
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    found[name] = list(csv.DictReader(file))
        return found


def analyse(model, *arguments):
    return analyse_all(model, *arguments)["heads"]


def number(row, column):
    return float(row[column]) if row[column] else float("nan")


def check_numbers(tap, label, row, want, bound):
    for column, value in want.items():
        tap.close(f"{label}: {column}", number(row, column), value, bound * (1 + abs(value)))
