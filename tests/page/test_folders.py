#!/usr/bin/python3
"""Folders of results that hold a run twice, cannot be read in part, or say what no file can: report and export name
them, and write what is left; nothing takes the place of an earlier export if nothing is left.
usage: test_folders.py"""
import json
import os
import shutil
import sys
import warnings

from peer import PACKAGE, Tap, scratch

sys.path.insert(0, PACKAGE)
# pylint: disable=wrong-import-position
import numpy as np
import szego
from szego.notebook.write import export
from szego.page.write import report

HOSTILE = "<img src=x onerror=alert(1)>`*[c](javascript:d)|$\\frac{1$ &amp;\u202e"
NOBODY = 65534
CURVES = "run,seed,encoding,task,split,epoch,loss,accuracy\n"
tap = Tap()


def put(folder, seed, raw="null"):
    """A run of three epochs. Seeds differ in their run alone; raw: JSON in the provenance."""
    os.makedirs(folder)
    columns = [{"name": name, "type": kind, "doc": "of a test"} for name, kind in zip(
        CURVES.strip().split(","), ("text", "integer", "text", "text", "text", "integer", "real", "real"))]
    with open(f"{folder}/metrics.csv", "w", encoding="utf-8") as file:
        file.write(CURVES + "".join(f"runs/run-{seed},{seed},rope,count,test,{epoch},{1 / (1 + epoch)},0.5\n" for epoch in range(3)))
    text = json.dumps({"format": "szego-results-1", "command": "train", "provenance": {"version": "1", "x": "RAW"},
                       "tables": [{"name": "metrics", "file": "metrics.csv", "rows": 3, "columns": columns}]})
    with open(f"{folder}/manifest.json", "w", encoding="utf-8") as file:
        file.write(text.replace('"RAW"', raw))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def refusal(call):
    """What the call raises as SzegoError, "": nothing."""
    try:
        call()
        return ""
    except szego.SzegoError as error:
        return str(error)


def a_copy_is_named_and_left_out():
    with scratch() as folder:
        for seed in (0, 1):
            put(f"{folder}/run-{seed}", seed)
        shutil.copytree(f"{folder}/run-0", f"{folder}/run-0 copy")
        said = f"{folder}/run-0 copy: is a copy of {folder}/run-0: its rows would count twice: remove one of the two"
        tap.ok("load refuses a copy and names both", refusal(lambda: szego.load(folder)) == said,
               refusal(lambda: szego.load(folder)))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            results = szego.load(folder, strict=False)
        tap.ok("or leaves it out: seeds that have the same provenance are none", results.skipped == [said]
               and list(results["train_metrics"]["result"]) == ["run-0"] * 3 + ["run-1"] * 3
               and [str(one.message) for one in told] == [f"left out: {said}"], str(results.skipped))
        path, results = report(folder, f"{folder}/page.html", workers=1)
        text = read(path).decode()
        tap.ok("the page names it, and has two seeds", results.skipped == [said] and said in text
               and "1 result was left out:" in text and "(2 seeds)" in text)
        with open(f"{folder}/run-0 copy/metrics.csv", "a", encoding="utf-8") as file:
            file.write("runs/run-0,0,rope,count,test,3,0.25,0.5\n")
        tap.ok("what differs is no copy", "rows where manifest.json says 3" in refusal(lambda: szego.load(folder)))


def what_cannot_be_read_is_named():
    """A folder that nobody may list, or look into; root may, so it becomes nobody for a while."""
    with scratch() as folder:
        os.chmod(folder, 0o755)
        for name in ("a", "hidden/b", "sealed"):
            put(f"{folder}/{name}", len(name))
        os.chmod(f"{folder}/hidden", 0)
        os.chmod(f"{folder}/sealed", 0o444)
        user = os.geteuid()
        if user == 0:
            os.seteuid(NOBODY)
        try:
            results = szego.folders.load_readable(folder)
            strict = refusal(lambda: szego.load(folder))
        finally:
            os.seteuid(user)
            for name in ("hidden", "sealed"):
                os.chmod(f"{folder}/{name}", 0o755)
        said = [f"{folder}/{name}: Permission denied: what lies in this folder cannot be read"
                for name in ("hidden", "sealed")]
        tap.ok("folders that cannot be read are named, and the rest is read", results.skipped == said
               and list(results.provenance) == ["a"], str(results.skipped))
        tap.ok("load refuses the first", strict == said[0], strict)


def nothing_replaces_an_export_where_nothing_is_left():
    with scratch() as folder:
        put(f"{folder}/in/a", 0)
        names = {"npz": "out.npz", "ipynb": "book.ipynb", "csv": "out/"}
        for form, name in names.items():
            export(f"{folder}/in", form, f"{folder}/{name}")
        kept = ("out.npz", "book.npz", "book.ipynb", "out/manifest.json", "out/train_metrics.csv")
        before = [read(f"{folder}/{name}") for name in kept]
        with open(f"{folder}/in/a/metrics.csv", "a", encoding="utf-8") as file:
            file.write("cut")
        for form, name in names.items():
            said = refusal(lambda form=form, name=name: export(f"{folder}/in", form, f"{folder}/{name}"))
            tap.ok(f"{form}: a folder without a result that can be read is refused", said.startswith(
                f"{folder}/in: holds no result that can be read: {folder}/in/a/metrics.csv: row 5"), said)
        tap.ok("and earlier exports stay", [read(f"{folder}/{name}") for name in kept] == before)


def what_is_read_can_be_written_again():
    """JSON can say more than a double and more than Unicode; what an export cannot repeat is refused where it is read."""
    for raw, words in (("1e400", "1e400 is beyond the range of a double"), ("[-2.5E+9999]", "-2.5E+9999 is beyond"),
                       ('"\\ud800"', "\\ud800 is half of a surrogate pair"), ('{"x\\uDFFF": 1}', "\\udfff is half of")):
        with scratch() as folder:
            put(f"{folder}/in/a", 0)
            put(f"{folder}/in/b", 1, raw)
            for form, path in (("npz", "out.npz"), ("csv", "out/")):
                _, results = export(f"{folder}/in", form, f"{folder}/{path}")
                tap.ok(f"{raw} is refused, {form}", len(results.skipped) == 1 and results.skipped[0].startswith(
                    f"{folder}/in/b/manifest.json: ") and words in results.skipped[0], str(results.skipped))
            tap.ok(f"{raw}: the exports are read again", len(szego.load(f"{folder}/out")["train_metrics"]["epoch"]) == 3
                   and len(np.load(f"{folder}/out.npz")["train_metrics"]) == 3)
    with scratch() as folder:
        put(f"{folder}/a", 0, '[-1.7e308, "\\ud83d\\ude00 \\\\ud800"]')
        tap.ok("numbers that are doubles are read, and whole pairs",
               szego.load(folder).provenance["a"]["x"] == [-1.7e308, "\U0001f600 \\ud800"])


def names_that_are_not_utf8_are_not_written():
    with scratch() as folder:
        for name in ("in/a\udcff", "in/b"):
            put(f"{folder}/{name}", len(name))
        said = refusal(lambda: export(f"{folder}/in", "csv", f"{folder}/out/"))
        tap.ok("a folder whose name is not UTF-8 is refused for csv alone", said.startswith("a\udcff: a name that") and
               not os.path.exists(f"{folder}/out"), ascii(said))
        export(f"{folder}/in", "npz", f"{folder}/out.npz")
        tap.ok("and npz has its bytes", set(np.load(f"{folder}/out.npz")["train_metrics"]["result"]) == {b"a\xff", b"b"})


def numbers_that_are_no_doubles_are_refused():
    """They would be read as infinity or 0."""
    cells = {"1e400": False, "-1E+309": False, "4e-400": False, "-0.001e-323": False, "9" * 400: False,
             "0." + "0" * 400 + "1": False, "1.7976931348623157e308": True, "-1e-320": True, "4.9e-324": True,
             "0e999": True, "-0.0e-999": True, "0" * 400 + "1": True, "0.1" + "0" * 400: True, "inf": True, "-inf": True,
             "nan": True, "9" * 99 + "e99": True, "." + "0" * 98 + "1e-99": True}
    with scratch() as folder:
        put(f"{folder}/r", 0)
        for cell, fits in cells.items():
            with open(f"{folder}/r/metrics.csv", "w", encoding="utf-8") as file:
                file.write(CURVES + f"r,0,rope,count,test,0,{cell},0.5\n" * 3)
            said = refusal(lambda: szego.load(folder))
            words = "" if fits else f"{folder}/r/metrics.csv: row 2, column loss: '{cell[:40]}"
            tap.ok(f"{cell[:24]} is {'' if fits else 'no '}double", said == "" if fits else said.startswith(words) and
                   said.endswith("is no real within the range of a double"), said)
            if fits:
                value = float(szego.load(folder)["train_metrics"]["loss"][0])
                tap.ok("and read as the nearest", repr(value) == repr(float(cell)), repr(value))


def texts_of_a_notebook_are_no_markup():
    """Names of folders, tables' columns and what they mean, provenance, and messages of what is left out: all of them
    may come from anywhere, and a notebook's text cells are HTML, Markdown and formulas."""
    with scratch() as folder:
        put(f"{folder}/{HOSTILE}/{HOSTILE}", 0)
        put(f"{folder}/{HOSTILE}/left out {HOSTILE}", 1, "1e999")
        place = f"{folder}/{HOSTILE}/{HOSTILE}"
        with open(f"{place}/manifest.json", encoding="utf-8") as file:
            manifest = json.load(file)
        manifest["provenance"] = {key: HOSTILE for key in ("version", "commit", "command", "backend")}
        for column in manifest["tables"][0]["columns"]:
            column["doc"] = HOSTILE
        manifest["tables"][0]["columns"][0]["name"] = HOSTILE
        with open(f"{place}/manifest.json", "w", encoding="utf-8") as file:
            json.dump(manifest, file)
        with open(f"{place}/metrics.csv", encoding="utf-8") as file:
            text = file.read().replace("run", HOSTILE, 1)
        with open(f"{place}/metrics.csv", "w", encoding="utf-8") as file:
            file.write(text)
        _, results = export(f"{folder}/{HOSTILE}", "ipynb", f"{folder}/{HOSTILE}.ipynb")
        with open(f"{folder}/{HOSTILE}.ipynb", encoding="utf-8") as file:
            cells = json.load(file)["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown" and cell["id"] in ("title", "readme")]
    whole = "\n".join(texts)
    # The folder, a row of the provenance, two names in a message, the npz, a column, and eight meanings.
    tap.ok("each hostile name is shown", len(results.skipped) == 1 and whole.count("javascript") == 1 + 5 + 2 + 1 + 1 + 8,
           whole)
    wrong = [sign for sign in ("<img", "](", "`*", "$\\", "\\frac", "\u202e", " &amp; ") if sign in whole]
    tap.ok("and nothing in it is markup or a formula", not wrong, str(wrong))


a_copy_is_named_and_left_out()
texts_of_a_notebook_are_no_markup()
numbers_that_are_no_doubles_are_refused()
names_that_are_not_utf8_are_not_written()
what_cannot_be_read_is_named()
nothing_replaces_an_export_where_nothing_is_left()
what_is_read_can_be_written_again()
tap.finish()
