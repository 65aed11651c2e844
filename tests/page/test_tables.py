#!/usr/bin/python3
"""Tables of any shape, damaged and hostile ones among them, through the page and every export: never a traceback, never
markup out of a cell, and what is written reads back the same. The tables are those of tests/data/tables.
usage: test_tables.py PROGRAM SOURCE"""
import contextlib
import io
import json
import os
import random
import re
import shutil
import sys
import traceback
import warnings

from peer import PACKAGE, Tap, scratch
from support import Parsed, loose_signs

sys.path.insert(0, PACKAGE)
# pylint: disable=wrong-import-position
import numpy as np
import szego
from szego.notebook import write as notebook
from szego.page import write

CORPUS = os.path.join(os.environ["SZG_TEST_DATA"], "tables")
TYPES = {"t": "text", "i": "integer", "r": "real"}
tap = Tap()


def results_of(text):
    """[(command, [(table, columns, rows of CSV)])] of a file in the corpus: "## COMMAND" begins a result, "# TABLE" a
    table of it, then a line of columns, "t:", "i:" or "r:" before each name."""
    found = []
    for result in re.split(r"(?:\A|\n)## ", text)[1:]:
        command, *tables = re.split(r"\n# (?=\w+\n)", result)  # a cell may hold "# x" behind a newline
        made = []
        for table in tables:
            name, header, rows = (table.split("\n", 2) + ["", ""])[:3]
            columns = [(TYPES.get(word[:1]), word[2:]) for word in header.split(",")]
            if all(kind and column for kind, column in columns):
                made.append((name.split()[0], columns, rows))
        found.append((command.split()[0], made))
    return found


def put(folder, command, tables):
    """Writes a result by the format's description; its tables may be unreadable."""
    os.makedirs(folder)
    entries = []
    for name, columns, rows in tables:
        # Each row ends with a newline outside quotes.
        count = sum(part.count("\n") for part in re.sub(r'"(?:[^"]|"")*"', "", rows).splitlines(True))
        count += bool(rows) and not rows.endswith("\n")
        entries.append({"name": name, "file": f"{name}.csv", "rows": count,
                        "columns": [{"name": plain(column), "type": kind, "doc": "of a test"} for kind, column in columns]})
        with open(f"{folder}/{name}.csv", "w", encoding="utf-8", newline="") as file:
            file.write(",".join(column for _, column in columns) + "\n" + rows)
    with open(f"{folder}/manifest.json", "w", encoding="utf-8") as file:
        json.dump({"format": "szego-results-1", "command": command, "provenance": {"command": command}, "tables": entries},
                  file)


def plain(column):
    """A column's name as CSV means it."""
    return column[1:-1].replace('""', '"') if column.startswith('"') else column


def is_read(folder):
    try:
        szego.load(folder)
        return True
    except szego.DataError:
        return False


def readable(command, tables):
    """Those of the tables that a reader accepts alone."""
    kept = []
    for table in tables:
        with scratch() as folder:
            put(f"{folder}/r", command, [table])
            if is_read(folder) and table[0] not in [name for name, _, _ in kept]:
                kept.append(table)
    return kept


def quiet(main, *arguments):
    """(exit code, what was said); a DataError is what the program shows with exit code 3, a warning is a fault."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return main(list(arguments)), said.getvalue()
        except szego.DataError as error:
            return 3, said.getvalue() + str(error)
        except (Exception, SystemExit) as error:  # pylint: disable=broad-except # a check after this call shows it
            return repr(error), traceback.format_exc()


def same(left, right):
    """Whether two joined results have the same tables."""
    return set(left) == set(right) and all(
        list(left[name]) == list(right[name]) and all(
            np.array_equal(np.ma.getmaskarray(np.ma.asarray(left[name][column])),
                           np.ma.getmaskarray(np.ma.asarray(right[name][column])))
            and str(np.ma.asarray(left[name][column]).tolist()) == str(np.ma.asarray(right[name][column]).tolist())
            for column in left[name]) for name in left)


def check_page(name, folder, code):
    got, said = quiet(write.main, folder, f"--output={folder}/page.html", "--threads=1")
    tap.ok(f"{name}: exit code {code}", got == code, said)
    if got != code:
        return
    with open(f"{folder}/page.html", encoding="utf-8") as file:
        text = file.read()
    page = Parsed(text)
    tap.ok(f"{name}: elements are closed, and no cell is one", not page.wrong and not page.open
           and "<script>alert" not in text and not loose_signs(text) and "\0" not in text,
           str((page.wrong, page.open, loose_signs(text)[:2])))


def check_exports(name, folder):
    for form in ("csv", "ipynb"):
        got, said = quiet(notebook.main, folder, f"--to={form}")
        # Only a number or text that no array holds is refused, and then nothing is written.
        refused = got == 3 and form == "ipynb" and not os.path.exists(f"{folder}/export.ipynb")
        tap.ok(f"{name}: {form}", got == 0 or refused and "column" in said and "write csv" in said, said)
        if got == 0 and form == "ipynb":
            with open(f"{folder}/export.ipynb", encoding="utf-8") as file:
                tap.ok(f"{name}: the notebook has cells", len(json.load(file)["cells"]) > 2)
    quiet(notebook.main, f"{folder}/export", "--to=csv", f"--output={folder}/again/")
    tap.ok(f"{name}: an export reads back the same, and so does its export",
           same(szego.load(folder), szego.load(f"{folder}/export"))
           and same(szego.load(folder), szego.load(f"{folder}/again")))


def check_case(name):
    with open(f"{CORPUS}/{name}", encoding="utf-8", newline="") as file:
        results = results_of(file.read())
    with scratch() as folder:
        for index, (command, tables) in enumerate(results):
            put(f"{folder}/{index}", command, tables)
        whole = all(is_read(f"{folder}/{index}") for index in range(len(results))) and results
        if not whole:
            got, said = quiet(write.main, folder, f"--output={folder}/raw.html", "--threads=1")
            tap.ok(f"{name}: as it stands, exit code 3 and a reason", got == 3 and folder in said, said)
    results = [(command, readable(command, tables)) for command, tables in results]
    results = [(command, tables) for command, tables in results if tables and command != "export"]
    with scratch() as folder:
        for index, (command, tables) in enumerate(results):
            put(f"{folder}/{index}", command, tables)
        if results:
            check_page(name, folder, 0)
            check_exports(name, folder)


def damage(data, draw):
    """A file cut, with a byte of another value, or with a piece twice."""
    at = draw.randrange(len(data))
    return draw.choice([data[:at], data[:at] + bytes([draw.randrange(256)]) + data[at + 1:],
                        data[:at] + data[at // 2:]])


def check_damage():
    """One of two results is damaged: it is read as it is or named, and the other one is there."""
    draw, named = random.Random(7), 0
    with open(f"{CORPUS}/valid-spectrum", encoding="utf-8", newline="") as file:
        (command, tables), = results_of(file.read())
    with scratch() as folder:
        put(f"{folder}/a", command, tables)
        put(f"{folder}/whole", command, tables)
        files = sorted(os.listdir(f"{folder}/a"))
        for name in (file for file in files if file.endswith(".csv")):  # whole rows are lost
            with open(f"{folder}/a/{name}", "rb") as file:
                data = file.read()
            with open(f"{folder}/a/{name}", "wb") as file:
                file.write(data[:data.rindex(b"\n", 0, -1) + 1])
            got, said = quiet(notebook.main, folder, "--to=csv")  # which draws nothing
            tap.ok(f"{name} without its last row is told", got == 3 and f"left out: {folder}/a/{name}: has" in said, said)
            shutil.copy(f"{folder}/whole/{name}", f"{folder}/a/{name}")
        for trial in range(150):
            shutil.rmtree(f"{folder}/a")
            shutil.copytree(f"{folder}/whole", f"{folder}/a")
            path = f"{folder}/a/{draw.choice(files)}"
            with open(path, "rb") as file:
                data = damage(file.read(), draw)
            with open(path, "wb") as file:
                file.write(data)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results = szego.load(folder, strict=False)
            if "whole" not in results.provenance or any(f"{folder}/a/" not in told for told in results.skipped):
                tap.ok(f"damage {trial} is named with its file", False, str(results.skipped))
            named += len(results.skipped)
            if trial % 75 == 0:
                check_page(f"damage {trial}", folder, 3 if results.skipped else 0)
    tap.ok("damaged results are named with their file, and the other is read", named > 50, str(named))


for case in sorted(os.listdir(CORPUS)):
    check_case(case)
check_damage()
tap.finish()
