#!/usr/bin/python3
"""The descriptions of columns: tables.json against what the program writes and what the reference pages list.
usage: test_columns.py PROGRAM"""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "notebooks_export", "python"))
# pylint: disable=wrong-import-position
from peer import PACKAGE, Tap, scratch, skip

try:
    from szego import columns
    from szego.figures import labels
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

PROGRAM = os.path.abspath(sys.argv[1])
tap = Tap()
TABLES = columns.tables()
UNITS = {"1", "nats", "radians", "radians a position", "positions", "words", "s", "microseconds", "hours", "bytes",
         "bytes/s", "MiB", "%", "operations", "operations/s", "tokens/s"}
COMMANDS = {"spectrum": ["spectrum", "rope:dim=8", "-n", "16", "--all", "--certify"],
            "symbol": ["symbol", "kms:rho=0.5", "rope:dim=4", "-n", "8"],
            "kernel": ["kernel", "alibi:heads=2", "-n", "8"],
            "extremes": ["spectrum", "alibi:heads=2", "-n", "64", "--k", "1"],
            "density": ["spectrum", "kms:rho=0.5", "-n", "32", "--density"],
            "ratio": ["spectrum", "rope:dim=8", "-n", "8", "--part", "ratio"],
            "diff": ["diff", "alibi:heads=2", "alibi:heads=2,slopes=exp", "-n", "8"],
            "verify": ["verify", "B1"],
            "info": ["info"]}
#: Tables that commands describe each in their own words; tables.json has the first one's.
SEVERAL = {"summary", "range", "samples", "kernel"}


def check_descriptions():
    bare = [f"{table}.{one['name']}" for table, found in TABLES.items() for one in found["columns"]
            if not one["label"] or (one["type"] == "text") != (one["unit"] == "") or one["unit"] not in UNITS | {""}]
    tap.ok("every column has a label, every number a known unit", not bare, str(bare))
    unlike = [f"{table}.{one['name']}" for table, found in TABLES.items() for one in found["columns"]
              if one["name"].endswith(("_lo", "_hi")) and not table.startswith("relation")
              and one.get("end") != {"lo": "lower", "hi": "upper"}[one["name"][-2:]]]
    tap.ok("what is called an end is one", not unlike, str(unlike))
    for table, found in TABLES.items():
        names = [one["name"] for one in found["columns"]]
        cells = [one["name"] for one in found.get("screen", [])]
        if len(set(names)) < len(names) or len(set(cells)) < len(cells):
            tap.ok(f"{table} has each column and cell once", False)


def written():
    """(what, the table as its manifest describes it) of what the program writes."""
    with scratch() as folder:
        for name, arguments in COMMANDS.items():
            out = os.path.join(str(folder), name)
            done = subprocess.run([PROGRAM, *arguments, "-q", "-o", out + "/"], capture_output=True, text=True, check=False)
            if done.returncode:
                tap.ok(" ".join(arguments), False, done.stderr)
                continue
            with open(os.path.join(out, "manifest.json"), encoding="utf-8") as file:
                for table in json.load(file)["tables"]:
                    yield name, table


def check_written():
    wrong, seen = [], set()
    for what, table in written():
        seen.add(table["name"])
        described = {one["name"]: one for one in TABLES.get(table["name"], {"columns": []})["columns"]}
        for one in table["columns"]:
            own = described.get(one["name"], {})
            keys = ("type", "end") if table["name"] in SEVERAL else ("type", "end", "doc")
            if [own.get(key) for key in keys] != [one.get(key) for key in keys]:
                wrong.append(f"{what}: {table['name']}.{one['name']}: {one} and {own}")
    tap.ok("tables.json describes what is written", not wrong, str(wrong[:3]))
    tap.ok("many tables were written", len(seen) >= 14, str(sorted(seen)))


def check_lookup():
    tap.ok("a label", columns.label("sigma_max") == "largest singular value" == columns.label("sigma_max", "summary"))
    tap.ok("a label that tables differ about", columns.label("index") == "index"
           and columns.label("index", "deposit") == "deposit index"
           and columns.label("index", "eigenvalues") == "place in the spectrum")
    tap.ok("a column that no table has", columns.label("no_such") == "no_such" and not columns.unit("no_such"))
    tap.ok("a table without the column", columns.label("sigma_max", "claims") == "largest singular value")
    tap.ok("units", (columns.unit("loss"), columns.unit("lag"), columns.unit("head"), columns.unit("source"))
           == ("nats", "positions", "", ""))
    tap.ok("ends", (columns.end("lambda_min_lo"), columns.end("symbol_change_hi"), columns.end("lambda_min"),
                    columns.end("lo", "relations"), columns.end("lo", "evidence")) == ("lower", "upper", "", "", "lower"))


# ---- The reference pages ----

LISTED = re.compile(r"^\| `(\w+)` \| (.*) \|$", re.M)  # table | its columns


def page(name):
    with open(os.path.join(ROOT, "docs", "reference", name), encoding="utf-8") as file:
        return file.read()


def names_of(table):
    return [one["name"] for one in TABLES[table]["columns"]]


def first_cells(text):
    """The names that each row of a list begins with."""
    return [re.findall(r"`(\w+)`", row) for row in re.findall(r"^\| (`.*?) \| ", text, re.M)]


def check_names(name, told, table):
    tap.ok(f"{name} lists the columns of {table}", set(told) == set(names_of(table)),
           f"{sorted(set(told) ^ set(names_of(table)))}")


def check_section(name, text, table, beside=(), measures=()):
    """The rows of a section's list name every column; each name that they begin with is a column. An X in it stands
    for each of the measures."""
    told = [one.replace("X", measure) for row in first_cells(text) for one in row
            for measure in (measures if "X" in one else ("",))]
    check_names(name, [*told, *beside], table)


def check_contraction(text):
    own, measures = text.split("| `X` | meaning |")
    names = [one for row in first_cells(measures.split("| table |")[0]) for one in row]
    names += ["symbol_min_lo", "symbol_min_hi", "symbol_max_lo", "symbol_max_hi"]  # first .. last in the page
    beside = ["run", "encoding", "task", "seed", "experiment"]  # in the folders of runs and reproductions
    known = set(names_of("contraction"))
    check_section("tables.md", own, "contraction", [one for one in beside if one in known], names)


def check_density(text):
    """TABLE | COLUMN, a table's name in its first row alone."""
    told, table = {}, None
    for first, column in re.findall(r"^\| ?(.*?) ?\| (`.*?) \|", text, re.M):
        table = first.strip("`") or table
        told.setdefault(table, ["source", "head", "matrix", "n"]).extend(re.findall(r"`(\w+)`", column))
    tap.ok("tables.md lists two tables of densities", set(told) == {"density", "moments"}, str(told))
    for name, found in told.items():
        check_names("tables.md", found, name)


def check_facts(text):
    rows = re.findall(r"^\| `(\w+)` \| (`.*?) \| ", text, re.M)
    wrong = [(column, table) for column, tables in rows for table in re.findall(r"`(\w+)`", tables)
             if table in TABLES and column not in names_of(table)]
    tap.ok("facts for programs are columns of their tables", len(rows) >= 6 and not wrong, str(wrong))


def check_pages():
    text = page("tables.md")
    section = {title: body for title, body in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text, re.M | re.S)}
    check_section("tables.md", section["Eigenvalues at the ends"], "extremes", ("source", "head", "matrix", "n"))
    kernel, extrema = section["Values by lag"].split("| column of `extrema`")
    checkpoint = re.findall(r"\w+", dict(LISTED.findall(page("checkpoints.md")))["kernel"].split(";")[0])
    check_section("tables.md", kernel, "kernel", set(checkpoint) & set(names_of("kernel")))
    check_section("tables.md", extrema, "extrema")
    statistics = section["Statistics of a softmax"]
    check_section("tables.md", statistics, "statistics")
    check_section("tables.md", section["A training that is watched"], "monitor")
    encodings = section["Differences"].split("| column of `diff_encodings`")[1]
    check_section("tables.md", encodings, "diff_encodings")
    diff, heads = section["Differences"].split("| column of `diff_encodings`")[0].split("| column of `diff_heads`")
    heads, adapter = heads.split("| column of `diff_adapter`")
    check_section("tables.md", heads, "diff_heads")
    check_section("tables.md", adapter, "diff_adapter")
    check_section("tables.md", diff, "diff", (),
                  ("sigma_max", "frobenius", "nuclear", "stable_rank", "entropy"))
    check_contraction(section["Contraction"])
    check_density(section["Spectral density"])
    check_facts(section["Facts for programs"])
    listed = dict(LISTED.findall(text.split("## Statistics")[0]) + LISTED.findall(page("checkpoints.md")))
    listed = {table: row for table, row in listed.items() if table in TABLES and f"{TABLES[table]['columns'][0]['name']}" in row}
    for table, row in listed.items():
        known = set(names_of(table))
        told = re.findall(r"\b[a-z]\w+", re.sub(r"\(.*?\)|`.*?`|[;:].*", "", row))
        unknown = set(told) - known - {"with", "each", "of", "and"}
        tap.ok(f"what the page lists are columns of {table}", not unknown, str(unknown))
        lacking = [one for one in known if not re.search(rf"\b{one}\b", row)]
        if table not in ("summary", "range", "samples", "circuits", "kernel"):
            lacking = [one for one in lacking if one not in ("run", "encoding", "task", "seed", "experiment")]
            tap.ok(f"the page lists the columns of {table}", not lacking, str(lacking))
    tap.ok("lists were found", len(listed) >= 10, str(sorted(listed)))


# ---- Older lists, while they are there ----

LABEL = re.compile(r'^LABEL\("(\w+)", "(.*?)", (?:NULL|"(.*?)")\)', re.M)


def labels_of(name):
    """(label, unit) of the column in each table that has it."""
    return {(one["label"], one["unit"].replace("1", "")) for found in TABLES.values() for one in found["columns"]
            if one["name"] == name}


def check_page_labels():
    path = os.path.join(ROOT, "notebooks_export", "report", "plot", "label.def")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            found = LABEL.findall(file.read())
        unlike = [name for name, *said in found if name not in labels.MEASURES and tuple(said) not in labels_of(name)]
        tap.ok("the page calls columns as their schemas do", found and not unlike, str(unlike))


def check_judged():
    """The judge's tables have no schema that a compiler could check."""
    own, kinds = columns.own_tables("judge"), {"value": ("name",), "word": ("name",), "range": ("lower", "upper")}
    wrong = [f"{table}: {cell['name']}" for table, found in own.items() for cell in found.get("screen", [])
             if set(cell) != {"priority", "name", "kind", "heading", *kinds[cell["kind"]]} or
             not {cell[end] for end in kinds[cell["kind"]]} <= {one["name"] for one in found["columns"]} or
             not 1 <= cell["priority"] <= 9]
    tap.ok("screens show columns of the judge's tables", not wrong and sum("screen" in one for one in own.values()) == 6,
           str(wrong))
    with open(os.path.join(os.path.dirname(PROGRAM), "tables.json"), encoding="utf-8") as file:
        both = sorted(set(json.load(file)) & set(own))
    tap.ok("a table has one description", not both, str(both))


# ---- Where it is ----

ASK = """import runpy, sys
sys.argv = [sys.argv[1]]
runpy.run_path(sys.argv[0])["load_package"]()
from szego import columns
print(columns.label("only_there"))"""


def check_build():
    """A build of any name: its program finds the package by a link, and the package what that build has written."""
    with scratch() as folder:
        made = os.path.join(folder, "notebooks_export", "python")
        os.makedirs(made)
        os.makedirs(os.path.join(folder, "analysis"))
        os.symlink(os.path.join(PACKAGE, "szego"), os.path.join(made, "szego"))
        with open(os.path.join(folder, "analysis", "tables.json"), "w", encoding="utf-8") as file:
            json.dump({"one": {"columns": [{"name": "only_there", "label": "found", "unit": "1"}]}}, file)
        script = os.path.join(folder, "analysis", os.pardir, "notebooks_export", "python", "szego", "publish.py")
        done = subprocess.run([sys.executable, "-I", "-c", ASK, script], capture_output=True, text=True, check=False)
        tap.ok("the tables of the build whose program started the script", done.stdout == "found\n",
               done.stdout + done.stderr[-500:])


check_descriptions()
check_page_labels()
check_judged()
check_build()
check_written()
check_lookup()
check_pages()
tap.finish()
