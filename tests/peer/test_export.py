#!/usr/bin/python3
"""szego export read back with NumPy and Python's zipfile, cell by cell, against the CSV files that it
was made of, read here with the csv module. usage: test_export.py PROGRAM"""
import csv
import io
import json
import math
import os
import random
import struct
import subprocess
import sys
import zipfile

from peer import Tap, scratch, skip

try:
    import numpy as np
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

PROGRAM = sys.argv[1]
SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
random.seed(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")
TEXTS = ["<script>alert(1)</script>", 'say "no", twice', "two\nlines", "\r\n", "\N{SNOWMAN} \u202e", "",
         "-nan", "0", "'", "\x1b[31m", "\\", "x" * 3000, "$a$ `b` | [c](javascript:d)", "None"]
REALS = [0.1, -0.0, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, math.nan, 1 / 3, 1e22]
WHOLE = [2**63 - 1, -(2**63), 0, -1, 2**53 + 1]
EMPTY = None  # an empty cell: not the empty text, which is quoted


def field(value, kind):
    """One field of CSV as docs/reference/formats.md describes it."""
    if value is EMPTY:
        return ""
    if kind == "text":
        return '"' + value.replace('"', '""') + '"'
    return repr(value)


def write_result(folder, command, tables):
    """A result as another program would write it. tables: {name: (columns, rows)}."""
    os.makedirs(folder)
    described = []
    for name, (columns, rows) in tables.items():
        lines = [",".join(column for column, _ in columns)]
        lines += [",".join(field(value, kind) for value, (_, kind) in zip(row, columns))
                  for row in rows]
        with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8", newline="") as file:
            file.write("\n".join(lines) + "\n")
        described.append({"name": name, "file": name + ".csv", "rows": len(rows), "columns": [
            {"name": column, "type": kind, "doc": "<i>of</i> " + column}
            for column, kind in columns]})
    with open(os.path.join(folder, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump({"format": "szego-results-1", "command": command,
                   "provenance": {"version": "9", "<b>": "</script>"}, "tables": described}, file)


def export(folder, form, *more, code=0):
    done = subprocess.run([PROGRAM, "export", folder, "--to", form, "--quiet", *more],
                          capture_output=True, text=True, check=False)
    tap.ok(f"{form} of {os.path.basename(folder)}: exit {code}", done.returncode == code, done.stderr)
    return done.stderr


def expected(rows, kinds):
    """What NumPy must hold: bytes, float or int, by the documented types."""
    out = []
    for k, kind in enumerate(kinds):
        column = [row[k] for row in rows]
        if kind == "text":
            out.append([(value or "").encode() for value in column])
        elif kind == "integer" and EMPTY not in column:
            out.append(column)
        else:
            out.append([math.nan if value is EMPTY else float(value) for value in column])
    return out


def same(got, want):
    """The same bits, NaN payloads apart."""
    if isinstance(want, float):
        return (math.isnan(got) and math.isnan(want)) or struct.pack("d", got) == struct.pack("d", want)
    return got == want


COLUMNS = [("name", "text"), ("whole", "integer"), ("gaps", "integer"), ("real", "real"),
           ("note", "text")]


def random_rows(count):
    return [[random.choice(TEXTS + [EMPTY]), random.choice(WHOLE),
             random.choice([EMPTY, 0, 2**53, -(2**62), -(2**63)]), random.choice(REALS + [EMPTY]),
             random.choice(TEXTS + [EMPTY])] for _ in range(count)]


def read_csv(text):
    """RFC 4180 with the one distinction that the csv module loses: "" is a text, nothing is none."""
    rows, cell, row, quoted, i = [], [], [], False, 0
    was_quoted = False
    while i < len(text):
        c = text[i]
        if quoted:
            if c == '"' and text[i + 1:i + 2] == '"':
                cell.append('"')
                i += 1
            elif c == '"':
                quoted = False
            else:
                cell.append(c)
        elif c == '"':
            quoted = was_quoted = True
        elif c in ",\n":
            row.append("".join(cell) if cell or was_quoted else EMPTY)
            cell, was_quoted = [], False
            if c == "\n":
                rows.append(row)
                row = []
        else:
            cell.append(c)
        i += 1
    return rows


def check_archive(path, tables):
    with zipfile.ZipFile(path) as file:
        tap.ok("the zip is whole", file.testzip() is None)
        tap.ok("its times are fixed and all is deflated",
               all(info.date_time == (1980, 1, 1, 0, 0, 0)
                   and info.compress_type == zipfile.ZIP_DEFLATED for info in file.infolist()))
    with np.load(path, allow_pickle=False) as archive:
        tap.ok("the arrays are those of the tables",
               sorted(archive.files) == sorted(["manifest", *tables]), str(archive.files))
        manifest = json.loads(archive["manifest"].item())
        for name, (columns, rows) in tables.items():
            array = archive[name]
            described = next(table for table in manifest["tables"] if table["name"] == name)
            tap.ok(f"{name}: columns and rows", array.dtype.names == tuple(c for c, _ in columns)
                   and len(array) == len(rows) == described["rows"], f"{array.dtype.names}")
            tap.ok(f"{name}: the manifest's dtypes",
                   [c["dtype"] for c in described["columns"]]
                   == [array.dtype[i].str for i in range(len(columns))])
            want = expected(rows, [kind for _, kind in columns])
            for k, (column, _) in enumerate(columns):
                good = all(same(got, one) for got, one in zip(array[column].tolist(), want[k]))
                tap.ok(f"{name}.{column}: every cell", good)
        return manifest


def check_csv(folder, tables):
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    tap.ok("csv: one file per table", sorted(t["name"] for t in manifest["tables"]) == sorted(tables))
    for name, (columns, rows) in tables.items():
        with open(os.path.join(folder, name + ".csv"), encoding="utf-8", newline="") as file:
            text = file.read()
        got, want = read_csv(text), [[c for c, _ in columns], *rows]
        by_module = [[cell or EMPTY for cell in row] for row in csv.reader(io.StringIO(text, newline=""))]
        flat = [[cell or EMPTY for cell in row] for row in got]
        tap.ok(f"{name}.csv: the csv module reads the same fields", by_module == flat)
        good = len(got) == len(want) and got[0] == want[0]
        for cells, values in zip(got[1:], want[1:]):
            for cell, value, (_, kind) in zip(cells, values, columns):
                if value is EMPTY or cell is EMPTY:
                    good &= cell is value
                elif kind == "real":
                    good &= same(float(cell), float(value))
                else:
                    good &= (int(cell) if kind == "integer" else cell) == value
        tap.ok(f"{name}.csv: every cell", good)


with scratch() as work:
    hostile = os.path.join(work, "hostile")
    first, second = random_rows(300), random_rows(200)
    write_result(os.path.join(hostile, "a"), "verify", {"claims": (COLUMNS, first)})
    write_result(os.path.join(hostile, "<script>"), "verify", {"claims": (COLUMNS, second)})
    write_result(os.path.join(hostile, "b"), "train", {"empty": (COLUMNS, [])})
    joined_columns = [("result", "text"), *COLUMNS]
    tables = {"verify_claims": (joined_columns, [["<script>", *row] for row in second]
                                + [["a", *row] for row in first]),
              "train_empty": (joined_columns, [])}
    export(hostile, "npz")
    manifest = check_archive(os.path.join(hostile, "export.npz"), tables)
    tap.ok("the manifest has the provenance of every result",
           [r["path"] for r in manifest["results"]] == ["<script>", "a", "b"]
           and manifest["results"][0]["provenance"]["<b>"] == "</script>")
    export(hostile, "csv")
    check_csv(os.path.join(hostile, "export"), tables)
    # The export of the folder with the export in it, and of the export itself, are the same.
    export(hostile, "npz", "-o", os.path.join(work, "again.npz"))
    check_archive(os.path.join(work, "again.npz"), tables)
    export(os.path.join(hostile, "export"), "npz", "-o", os.path.join(work, "copy.npz"))
    check_archive(os.path.join(work, "copy.npz"), tables)

    beyond = os.path.join(work, "beyond")
    rows = [["x", 1, EMPTY, 0.5, ""], ["y", 2, 2**53 + 1, 0.5, ""]]
    write_result(beyond, "verify", {"claims": (COLUMNS, rows)})
    message = export(beyond, "npz", code=3)
    tap.ok("an integer that is no double is named",
           all(word in message for word in ("verify_claims", "gaps", str(2**53 + 1), "write csv")))
    tap.ok("and nothing is written", not os.path.exists(os.path.join(beyond, "export.npz")))
    export(beyond, "csv")
    check_csv(os.path.join(beyond, "export"),
              {"verify_claims": (joined_columns, [[".", *row] for row in rows])})

    with open(os.path.join(hostile, "b", "manifest.json"), "w", encoding="utf-8") as file:
        file.write('{"format": "szego-results-1", ')
    message = export(hostile, "npz", code=3)
    tap.ok("a result that cannot be read is named", "manifest.json" in message, message)
    del tables["train_empty"]
    manifest = check_archive(os.path.join(hostile, "export.npz"), tables)
    tap.ok("and listed in the manifest", len(manifest["unread"]) == 1)

tap.finish()
