#!/usr/bin/python3
"""The Python package szego: folders read back against the program's own JSON and NumPy arrays, and
hostile folders. usage: test_python.py PROGRAM"""
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import tracemalloc
import warnings

from peer import Tap, scratch, skip, szego as program_json

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "notebooks_export", "python"))
try:
    import numpy as np
    import szego
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")
try:
    import pandas
except ImportError:
    pandas = None

PROGRAM = os.path.abspath(sys.argv[1])
os.environ["SZEGO"] = PROGRAM
SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
rng = random.Random(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")


def refused(name, call, *words, kind=szego.SzegoError):
    tap.refused(name, call, *words, kind=kind)


def same(a, b):
    """Equal arrays: types, masks, and doubles by their bits, NaN with NaN."""
    if a.dtype != b.dtype or not np.array_equal(np.ma.getmaskarray(a), np.ma.getmaskarray(b)):
        return False
    a, b = (x[~np.ma.getmaskarray(x)].tolist() for x in (a, b))
    return all(x == y and math.copysign(1, x) == math.copysign(1, y) or (x != x and y != y)
               if isinstance(x, float) else x == y for x, y in zip(a, b))


def save(folder, command, tables, /, **changes):
    """A result: {table: ([(name, type)], [row of CSV text])}. `changes` spoil its manifest."""
    os.makedirs(folder, exist_ok=True)
    entries = []
    for name, (columns, rows) in tables.items():
        entries.append({"name": name, "file": name + ".csv", "rows": len(rows),
                        "columns": [{"name": c, "type": t, "doc": f"about {c}"} for c, t in columns]})
        with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8", newline="") as file:
            file.write("\n".join([",".join(c for c, _ in columns), *rows]) + "\n")
    entries[0].update(changes.pop("entry", {}))
    manifest = {"format": "szego-results-1", "command": command, "provenance": {"version": "0"},
                "tables": entries, **changes}
    with open(os.path.join(folder, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump(manifest, file)


# ---- What the program wrote ----

def check_written(folder):
    """-o DIR/ through load() against --format json, cell by cell."""
    arguments = ["spectrum", "--all", "-n", "40", "--pe", "alibi:heads=4", "--pe", "rope:dim=16",
                 "--pe", "nope"]
    subprocess.run([PROGRAM, *arguments, "--quiet", "-o", folder + "/"], check=True)
    results = szego.load(folder)
    wanted = program_json(PROGRAM, *arguments)
    del wanted["provenance"]
    tap.ok("tables", set(results) >= {f"spectrum_{name}" for name in wanted} and len(wanted) == 2)
    bad = cells = 0
    for name, rows in wanted.items():
        table = results[f"spectrum_{name}"]
        bad += [*table] != ["result", *(key for key in rows[0] if key != "not_finite")] or len(table["result"]) != len(rows)
        for column in [*table][1:]:
            for row, value in zip(rows, table[column].tolist()):
                cells += 1
                # JSON has no infinity: `not_finite` says which columns hold one.
                if value == math.inf and row.get("not_finite", {}).get(column) == "inf":
                    row[column] = math.inf
                if value != row[column] or type(value) is not type(row[column]):
                    bad += 1
                    print("#", name, column, repr(value)[:80], repr(row[column])[:80])
    tap.ok("every cell is JSON's", cells > 1500 and bad == 0, f"{bad} of {cells}")
    tap.ok("columns are explained", results.docs["spectrum_eigenvalues"]["n"] != "")
    tap.ok("provenance", results.provenance["."]["command"] == "spectrum")
    again = szego.run_spectrum("alibi:heads=4", 40, all=True)
    first = np.asarray(results["spectrum_eigenvalues"]["source"]) == "alibi:heads=4"
    tap.ok("szego.run_spectrum computes the same",
           first.sum() == 160 and all(same(results["spectrum_eigenvalues"][column][first],
                                           again["spectrum_eigenvalues"][column])
                                      for column in ("source", "head", "index", "re", "im")))
    if pandas:
        frame = szego.load(folder, frames=True)["spectrum_summary"]
        tap.ok("frames", str(frame["layer"].dtype) == "Int64" and frame["layer"].isna().all()
               and frame["lambda_max"].tolist() == results["spectrum_summary"]["lambda_max"].tolist())


def check_program():
    refused("an unknown encoding", lambda: szego.run_spectrum("ropey", 4, seed=1), "exit code 2", "ropey",
            kind=szego.ProgramError)
    try:
        szego.run("spectrum", "--pe", "ropey", "-n", "4")
    except szego.ProgramError as caught:
        tap.ok("the exit code and the message are kept", caught.code == 2 and "ropey" in caught.stderr)
    os.environ["SZEGO"] = "/nowhere/szego"
    refused("a program that is not there", lambda: szego.run("info"), "/nowhere/szego")
    os.environ["SZEGO"] = PROGRAM
    from szego.program import _results
    root = {"provenance": {"command": "x"},
            "t": [{"a": None, "b": None, "i": 3, "note": "odd", "not_finite": {"a": "-inf"}},
                  {"a": None, "b": 1.5, "i": 4, "note": None, "not_finite": {"a": "nan"}},
                  {"a": 2.0, "b": None, "i": None, "note": "b is nan"}]}
    table = _results(root, False)["x_t"]
    tap.ok("NaN and infinities come back, whatever the notes say",
           table["a"][0] == -np.inf and np.isnan(table["a"][1]) and table["a"].dtype == np.float64
           and np.ma.getmaskarray(table["a"]).sum() == 0 and table["note"].tolist() == ["odd", None, "b is nan"]
           and [*table] == ["result", "a", "b", "i", "note"])
    root = {"provenance": {"command": "x"}, "t": [{"a": 1.5, "not_finite": {"a": "nan"}}]}
    refused("a number that is said not to be one", lambda: _results(root, False), "not_finite: a: 'nan'")
    tap.ok("what is null otherwise is empty", table["b"].tolist() == [None, 1.5, None]
           and table["i"].tolist() == [3, 4, None] and table["i"].dtype == np.int64)


def check_bundled(folder):
    """The program in the package's folder, where pip puts it, takes precedence over PATH, and SZEGO over both."""
    site, path = os.path.join(folder, "site"), os.path.join(folder, "path")
    shutil.copytree(os.path.dirname(szego.__file__), os.path.join(site, "szego"))
    os.mkdir(path)
    for name, says in (("path/szego", "path"), ("other", "other"), ("bundled", "bundled")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\necho {says} "$@"\nexit 4\n')
        os.chmod(os.path.join(folder, name), 0o755)

    def said(**environment):
        known = {name: value for name, value in os.environ.items() if name != "SZEGO"}
        done = subprocess.run([sys.executable, "-m", "szego", "a", "b c"], capture_output=True, text=True, check=False,
                              env={**known, "PYTHONPATH": site, "PATH": path + ":/usr/bin:/bin", **environment})
        return done.returncode, done.stdout + done.stderr

    tap.ok("python -m szego becomes the program of PATH", said() == (4, "path a b c\n"), said())
    with open(os.path.join(folder, "tells"), "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\nprintf "%s|" "$SZEGO_PYTHON"; echo "$SZEGO_PYTHON" >&2; exit 4\n')
    os.chmod(file.name, 0o755)
    kept = {name: os.environ.pop(name, None) for name in ("SZEGO_PYTHON", "SZEGO")}
    os.environ["SZEGO"] = file.name
    tap.ok("its scripts run under this interpreter", said(SZEGO=file.name)[1].startswith(f"{sys.executable}|"),
           said(SZEGO=file.name))
    tap.ok("or as the user says", said(SZEGO=file.name, SZEGO_PYTHON="mine")[1].startswith("mine|"))
    tap.refused("those of run() too", lambda: szego.run("info"), f"exit code 4: {sys.executable}",
                kind=szego.ProgramError)
    os.environ.update({name: value for name, value in kept.items() if value is not None})
    code, message = said(PATH="/nowhere")
    tap.ok("it says that there is none", code == 1 and message.startswith("szego: ") and "PATH" in message
           and "Traceback" not in message, message)
    os.mkdir(os.path.join(site, "szego", "bin"))
    os.rename(os.path.join(folder, "bundled"), os.path.join(site, "szego", "bin", "szego"))
    tap.ok("the program in the package's folder takes precedence over it", said() == (4, "bundled a b c\n"), said())
    other = os.path.join(folder, "other")
    tap.ok("the environment variable SZEGO takes precedence over both", said(SZEGO=other) == (4, "other a b c\n"),
           said(SZEGO=other))
    code, message = said(SZEGO="/nowhere/szego")
    tap.ok("it names a program that cannot be run", code == 1 and "/nowhere/szego: No such file" in message
           and "Traceback" not in message, message)


# ---- Texts, numbers, joins ----

def check_cells(folder):
    reals = [0.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1, math.inf, -math.inf, math.nan]
    reals += [math.ldexp(rng.random() - 0.5, rng.randint(-1000, 1000)) for _ in range(500)]
    texts = ["", "a,b", 'say "x"', "<script>alert(1)</script>", "two\nlines", "\r\n", "\u202eabc",
             '"', ",", " ", "nan"]
    texts += [f"text {i}" for i in range(500)] + ["x" * 1000000]
    quote = lambda text: '"' + text.replace('"', '""') + '"'
    rows = [f"{value!r},,{quote(texts[i % len(texts)])}," for i, value in enumerate(reals)]
    rows.append("," + str(-2**63) + ",," + str(2**63 - 1))
    save(folder, "test", {"t": ([("r", "real"), ("i", "integer"), ("s", "text"), ("j", "integer")], rows)})
    table = szego.load(folder)["test_t"]
    tap.ok("reals are exact", same(table["r"][:-1], np.ma.MaskedArray(reals)) and table["r"].mask[-1]
           and not table["r"].mask[:-1].any())
    tap.ok("texts are exact, and an empty text is no empty cell",
           table["s"].tolist()[:-1] == [texts[i % len(texts)] for i in range(len(reals))]
           and table["s"].mask.tolist() == [False] * len(reals) + [True])
    tap.ok("integers are exact", table["i"][-1] == -2**63 and table["j"][-1] == 2**63 - 1
           and table["j"].mask.sum() == len(reals))
    if pandas:
        frame = szego.load(folder, frames=True)["test_t"]
        tap.ok("frames are exact", frame["j"].iloc[-1] == 2**63 - 1 and frame["i"].iloc[-1] == -2**63
               and frame["s"].iloc[-1] is None and frame["s"].iloc[0] == "")


def check_join(folder):
    save(folder, "c", {"t": ([("a", "integer"), ("note", "text")], ["1,", "2,x"])})
    save(folder + "/b", "c", {"t": ([("z", "text"), ("a", "real"), ("result", "text")], ["u,0.5,own"])})
    save(folder + "/a-", "c", {"t": ([("a", "integer")], ["7"])})
    save(folder + "/a/x", "c", {"t": ([("a", "integer")], ["8"])})
    save(folder + "/other", "d", {"t": ([("a", "integer")], [])})
    save(folder + "/foreign", "c", {"t": ([("a", "integer")], ["9"])}, format="another")
    os.symlink(folder, folder + "/loop")
    table = szego.load(folder)["c_t"]
    tap.ok("paths in order", table["result"].tolist() == [".", ".", "a/x", "a-", "b"])
    tap.ok("columns in order", [*table] == ["result", "a", "z", "result_", "note"])
    tap.ok("the wider type", table["a"].tolist() == [1.0, 2.0, 8.0, 7.0, 0.5]
           and table["a"].dtype == np.float64)
    tap.ok("columns that are not there are empty", table["z"].tolist() == [None] * 4 + ["u"])
    tap.ok("a table without rows", len(szego.load(folder)["d_t"]["a"]) == 0)
    commands = {"a-b-": 3, "a--b": 4}
    for command, rows in commands.items():
        save(f"{folder}/{command}", command, {"t": ([("i", "integer")], ["1"] * rows)})
    found = szego.load(folder)
    tap.ok("hyphens of commands", {name: len(found[name]["i"]) for name in ("a_b__t", "a__b_t")} == {"a_b__t": 3, "a__b_t": 4})
    ends = [dict(zip("abcd", (None, "upper", None, "upper"))), dict(zip("abcd", (None, "upper", "lower", "lower")))]
    for index, said in enumerate(ends):
        columns = [{"name": name, "type": "real", "doc": "", **({"end": end} if end else {})} for name, end in said.items()]
        save(f"{folder}/ends/{index}", "e", {"t": ([(name, "real") for name in said], ["1,2,3,4"])}, entry={"columns": columns})
    tap.ok("ends stay ends, unless results contradict each other", szego.load(folder).ends["e_t"] == {"b": "upper", "c": "lower"})
    save(folder + "/big", "c", {"t": ([("a", "integer")], [str(2**53 + 1)])})
    tap.ok("an integer that is no double beside reals", szego.load(folder)["c_t"]["a"].tolist() ==
           ["1", "2", "8", "7", "0.5", str(2**53 + 1)])


def check_export(folder):
    """What `szego export --to csv` wrote is the folder that it read, and is not read twice."""
    save(folder, "c", {"t": ([("a", "integer"), ("note", "text")], ["1,", "2,x"])})
    save(folder + "/b", "c-d", {"t": ([("result", "text"), ("r", "real")], ['own,0.1', "own,"])})
    before = szego.load(folder)
    subprocess.run([PROGRAM, "export", folder, "--to", "csv", "--quiet"], check=True)
    after, export = szego.load(folder), szego.load(folder + "/export")
    tap.ok("an export below is passed over", set(after) == set(before) == {"c_t", "c_d_t"}
           and set(after.provenance) == {".", "b"})
    tap.ok("an export has the tables it was made of", set(export) == set(before) and all(
        [*export[name]] == [*table] and all(same(export[name][column], cells)
                                            for column, cells in table.items())
        for name, table in before.items()) and export.docs == before.docs)
    tap.ok("an export's provenance", [*export.provenance] == ["."]
           and [one["path"] for one in export.provenance["."]["results"]] == [".", "b"])


# ---- Hostile folders ----

GOOD = {"t": ([("a", "integer"), ("b", "real")], ["1,0.5"])}
SPOILT = {
    "a file above the folder": ({"entry": {"file": "../t.csv"}}, "../t.csv"),
    "an absolute file": ({"entry": {"file": "/etc/passwd"}}, "/etc/passwd"),
    "a table that leaves the folder": ({"entry": {"name": "../t", "file": "../t.csv"}}, "table name"),
    "too many rows": ({"entry": {"rows": 2}}, "1 rows", "says 2"),
    "negative rows": ({"entry": {"rows": -1}}, "rows"),
    "rows that are true": ({"entry": {"rows": True}}, "rows"),
    "huge rows": ({"entry": {"rows": 10**30}}, "rows"),
    "no columns": ({"entry": {"columns": []}}, "0 columns"),
    "another type": ({"entry": {"columns": [{"name": "a", "type": "blob", "doc": ""}]}}, "blob"),
    "other columns": ({"entry": {"columns": [{"name": "a", "type": "real", "doc": ""}]}}, "columns"),
    "a command with a path": ({"command": "../x"}, "command"),
    "no provenance": ({"provenance": None}, "provenance"),
    "tables that are none": ({"tables": [3]}, "tables[0]"),
}
CELLS = {"an integer that is none": "x,0.5", "an integer beyond 64 bits": f"{2**63},0.5",
         "an underscore": "1_0,0.5", "a blank": " 1,0.5", "a real that is none": "1,0x1p3",
         "a row too long": "1,0.5,3", "a row too short": "1", "an open quote": '"1,0.5',
         "text behind a quote": '"1"2,0.5', "other digits": "\u0661,0.5"}


def check_hostile(folder):
    for name, (changes, *words) in SPOILT.items():
        save(folder, "c", GOOD, **changes)
        refused(name, lambda: szego.load(folder), folder, *words, kind=szego.DataError)
    for name, row in CELLS.items():
        save(folder, "c", {"t": (GOOD["t"][0], [row])})
        refused(name, lambda: szego.load(folder), os.path.join(folder, "t.csv"), kind=szego.DataError)
    for text, said in ((b"{", "not valid JSON"), (b"[" * 100000, "nested too deeply"), (b"NaN}", "NaN is no JSON"),
                       (b'1, "format": 2}', "a key is there twice"), (b"\xff", "codec can't decode")):
        with open(os.path.join(folder, "manifest.json"), "wb") as file:
            file.write(b'{"format": "szego-results-1", "a": ' + text)
        refused(said, lambda: szego.load(folder), "manifest.json: ", said, kind=szego.DataError)
    save(folder, "c", GOOD)
    os.unlink(os.path.join(folder, "t.csv"))
    refused("a table that is missing", lambda: szego.load(folder), "t.csv", kind=szego.DataError)
    os.mkfifo(os.path.join(folder, "t.csv"))
    refused("a pipe", lambda: szego.load(folder), "no regular file", kind=szego.DataError)
    save(folder + "/good", "c", GOOD)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = szego.load(folder, strict=False)
    tap.ok("strict=False leaves out, with a warning", results["c_t"]["a"].tolist() == [1]
           and len(caught) == len(results.skipped) == 1 and "t.csv" in str(caught[0].message))
    tracemalloc.start()
    szego.load(folder + "/good")
    tap.ok("a result takes the memory of its size", tracemalloc.get_traced_memory()[1] < 1 << 20)
    tracemalloc.stop()
    with open(folder + "/good/manifest.json", "r+b") as file:
        file.truncate((256 << 20) + 1)  # holes, which no disk holds
    refused("a manifest of more than 256 MiB", lambda: szego.load(folder + "/good"), "manifest.json", "268435456 bytes",
            kind=szego.DataError)
    check_manifests(folder + "/manifests")
    check_limits(folder + "/limits")
    refused("a folder without results", lambda: szego.load(tempfile.mkdtemp(dir=folder)), "manifest.json")
    refused("no folder", lambda: szego.load(folder + "/none"), "no such folder")


def check_manifests(folder):
    """Other programs have a manifest.json too; one of another version of this format is not theirs."""
    for index, text in enumerate(['{"name": "a browser\'s extension"}', "not JSON at all", "[1,2]", "",
                                  '{"format": 7, "about": "szego-results-1"}',
                                  '{"format": "szego-runs-1", "about": "szego-results-1"}']):
        os.makedirs(f"{folder}/{index}")
        with open(f"{folder}/{index}/manifest.json", "w", encoding="utf-8") as file:
            file.write(text)
    os.mkdir(f"{folder}/pipe")
    os.mkfifo(f"{folder}/pipe/manifest.json")
    save(f"{folder}/good", "c", GOOD)
    os.mkdir(f"{folder}/link")
    os.symlink("../good/manifest.json", f"{folder}/link/manifest.json")
    tap.ok("manifests of other programs, pipes and links are passed over", [*szego.load(folder).provenance] == ["good"])
    save(f"{folder}/later", "c", GOOD, format="szego-results-9")
    refused("another version", lambda: szego.load(folder), "later/manifest.json: format: is szego-results-9", "szego-results-1",
            kind=szego.DataError)
    shutil.rmtree(f"{folder}/later")
    os.symlink(folder, folder + "-linked")
    tap.ok("the first folder may be a link", [*szego.load(folder + "-linked/").provenance] == ["good"])
    deep = os.path.join(folder, *["d"] * 64)
    save(deep, "d", GOOD)
    tap.ok("64 folders in each other", len(szego.load(folder).provenance) == 2)
    save(deep + "/d", "c", GOOD)
    refused("65 folders", lambda: szego.load(folder), "d/d: lies more than 64 folders", kind=szego.DataError)


def check_limits(folder):
    """The longest and most that are read, which the program reads too, and one more, which both refuse."""
    column = ([("a", "integer")], ["1"])

    def both(name, wanted, command, tables, *words):
        shutil.rmtree(folder, ignore_errors=True)
        save(folder, command, tables)
        done = subprocess.run([PROGRAM, "export", folder, "--to", "npz", "--quiet"], check=False,
                              capture_output=True, text=True)
        tap.ok(f"{name}: the program", done.returncode == (0 if wanted else 3), done.stderr[:200])
        if wanted:
            tap.ok(name, len(szego.load(folder)) == len(tables))
        else:
            refused(name, lambda: szego.load(folder), *words, kind=szego.DataError)

    both("a command of 64", True, "c" * 64, {"t": column})
    both("a command of 65", False, "c" * 65, {"t": column}, "manifest.json", "64 characters")
    both("a joined name of 200", True, "c", {"t" * 198: column})
    both("a joined name of 201", False, "c", {"t" * 199: column}, "joined name", "200 characters")
    both("a table's name of 201", False, "c", {"t" * 201: column}, "tables[0]", "200 characters")
    both("1024 tables", True, "c", {f"t{index}": column for index in range(1024)})
    both("1025 tables", False, "c", {f"t{index}": column for index in range(1025)}, "at most 1024")
    both("1024 kinds of tables", True, "c", {f"t{index}": column for index in range(1024)})
    save(folder + "/b", "c", {"other": column})
    refused("1025 kinds of tables", lambda: szego.load(folder), "other", "1024 kinds", kind=szego.DataError)


CHECKS = (check_written, check_cells, check_join, check_export, check_hostile, check_bundled)
for check in CHECKS:
    with scratch() as place:
        check(os.path.join(place, "results"))
check_program()
tap.finish()
