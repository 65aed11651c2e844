#!/usr/bin/python3
"""Pages: hostile results stay text, nothing is loaded, marks are those of the rows, and a page is whole or not there.
usage: test_page.py PROGRAM SOURCE"""
import base64
import contextlib
import hashlib
import html
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

from peer import PACKAGE, Tap, gone, scratch
from support import Parsed

sys.path.insert(0, PACKAGE)
# pylint: disable=wrong-import-position
import numpy as np
import szego
from szego.files import whole_file
from szego.figures import compose, contraction, record, words
from szego.figures.rows import Tables
from szego.page import document, svg, write

PROGRAM = os.path.abspath(sys.argv[1])
HOSTILE = "<script>alert(1)</script>\"'&\u202e\x1b]]>"
TAKEN = {**os.environ, "SZEGO_PYTHON": sys.executable}
tap = Tap()


def write_result(folder, table, rows, command="train", **change):
    """A folder of one table, as commands write it."""
    os.makedirs(folder, exist_ok=True)
    columns = list(rows[0])
    kinds = ["text" if isinstance(rows[0][name], str) else "real" if isinstance(rows[0][name], float) else "integer"
             for name in columns]
    manifest = {"format": "szego-results-1", "command": command,
                "provenance": {"version": HOSTILE, "commit": HOSTILE, "command": command, "arguments": [HOSTILE]},
                "tables": [{"name": table, "file": f"{table}.csv", "rows": len(rows), "columns": [
                    {"name": name, "type": kind, "doc": HOSTILE} for name, kind in zip(columns, kinds)]}]}
    manifest.update(change)
    with open(f"{folder}/manifest.json", "w", encoding="utf-8") as file:
        json.dump(manifest, file)
    with open(f"{folder}/{table}.csv", "w", encoding="utf-8", newline="") as file:
        for row in [dict(zip(columns, columns)), *rows]:
            file.write(",".join('"' + str(cell).replace('"', '""') + '"' if isinstance(cell, str) and row is not None
                                else "" if cell is None else repr(cell) for cell in row.values()) + "\n")


def contraction_rows(ratio=lambda step, head: 0.5 + head, name=HOSTILE, heads=3):
    return [{"run": name, "encoding": name, "task": name, "source": name, "content_kind": "same_qk", "step": step,
             "layer": 0, "head": head, "width_ratio": float(ratio(step, head)), "norm_ratio": 1.5, "nuclear_ratio": 0.5}
            for step in (0, 10, 20) for head in range(heads)]


def page_of(folder, **options):
    path, _ = write.report(folder, **options)
    with open(path, encoding="utf-8") as file:
        return file.read()


def hostile_names_are_text():
    with scratch() as folder:
        write_result(f"{folder}/r", "contraction", contraction_rows())
        text = page_of(folder, workers=1)
    page = Parsed(text)
    scripts = [attributes for tag, attributes in page.elements if tag == "script"]
    tap.ok("every element is closed in its order", not page.wrong and not page.open, str((page.wrong, page.open)))
    tap.ok("no script but the page's three and its tables",
           sum(not attributes for attributes in scripts) == 3
           and all(attributes.get("type") == "application/octet-stream" for attributes in scripts if attributes),
           str(scripts))
    tap.ok("the name is shown as text", "&lt;script&gt;alert(1)&lt;/script&gt;" in text and "<script>alert" not in text)
    tap.ok("marks of direction and controls are made visible", "\\u202e" in text and "\u202e" not in text
           and "\x1b" not in text)
    loads = [(tag, name, value) for tag, attributes in page.elements for name, value in attributes.items()
             if name in ("src", "href", "xlink:href") and not value.startswith(("#", "data:"))]
    tap.ok("nothing is loaded", not loads, str(loads))
    handlers = [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    tap.ok("no handler in an attribute", not handlers, str(handlers))
    policy = next(attributes["content"] for tag, attributes in page.elements
                  if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy")
    made = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in made]
    tap.ok("the policy names each script by its hash", len(made) == 3
           and all(f"'sha256-{one}'" in policy for one in hashes), policy)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    tap.ok("ids are there once", len(ids) == len(set(ids)), str({i for i in ids if ids.count(i) > 1}))
    refers = re.findall(r'(?:href="#|url\(#)([^")]*)', text)
    tap.ok("what is referred to is there", set(refers) <= set(ids), str(set(refers) - set(ids)))
    tap.ok("there is a finding", 'id="findings"' in text)


def notes_are_whole():
    note = "a note of several sentences; " * 12 + "its end"
    with scratch() as folder:
        write_result(f"{folder}/r", "claims", [{"id": "B2", "statement": "s", "verdict": "measured", "note": note}], "verify")
        text = page_of(folder, workers=1)
    tap.ok("a note of a claim is shown to its end", f">{note}</td>" in text)


def colours_have_names():
    with scratch() as folder:
        write_result(f"{folder}/r", "contraction", contraction_rows(heads=1))
        text = page_of(folder, workers=1)
    drawings = [one for one in re.findall(r"<svg.*?</svg>", text, re.DOTALL) if 'class="cells"' not in one]
    literal = [found for one in drawings for found in re.findall(r"#[0-9a-fA-F]{6}\b", one)]
    tap.ok("no colour of a drawing is literal", drawings and not literal, str(literal[:5]))
    style = text[:text.index("</style>")]
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", "".join(drawings)))
    tap.ok("and each is in the style sheet", used and all(f"{name}:" in style for name in used), str(used))


def marks_are_those_of_the_rows():
    """NaN between the rows moves no title to another mark."""
    values = {(step, head): np.nan if (step, head) in ((10, 1), (0, 2)) else step + head + 1.0 for step in (0, 10, 20)
              for head in range(3)}
    with scratch() as folder:
        write_result(f"{folder}/r", "contraction", contraction_rows(lambda step, head: values[step, head], "rope"))
        tables = Tables(szego.load(folder))
    drawing = next(block for block in document.compose.section_blocks(contraction.SECTION, tables)
                   if getattr(block, "id", "") == "contraction-heads")
    picture = svg.inline(drawing, "f0")
    hits = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"[^>]*><title>head (\d)\ntraining step: (\d+)\n'
                      r'ratio of widths: ([\d.]+)</title>', picture["svg"])
    told = {(int(step), int(head)): float(value) for _, _, head, step, value in hits}
    tap.ok("each mark says its row", told == {key: value for key, value in values.items() if value == value},
           f"{told} {picture['svg'][-3000:]}")
    # Equal values stand at equal heights, and greater ones above.
    heights = sorted((float(value), -float(y)) for _, y, _, _, value in hits)
    tap.ok("and stands at its height", heights == sorted(heights, key=lambda pair: pair[1]), str(heights))
    heads = re.findall(r'data-head="0\.(\d)" data-series', picture["svg"])
    tap.ok("a series has its head", sorted(heads) == ["0", "1", "2"], str(heads))
    tap.ok("as many marks as are claimed", len(re.findall(r'class="(?:ink )?mark"', picture["svg"])) == picture["marks"] > 0)


def extreme_points_answer():
    """However close points lie, the pointer finds the least and the greatest of both coordinates."""
    x = np.r_[np.linspace(1.0, 2.0, 400), 2.0004, 0.9996]
    with scratch() as folder:
        write_result(f"{folder}/r", "contraction", contraction_rows(lambda step, head: step + head + 1.0, "rope"))
        drawing = next(block for block in document.compose.section_blocks(contraction.SECTION, Tables(szego.load(folder)))
                       if getattr(block, "id", "") == "contraction-heads")
    one = drawing.panels[0].series[0]
    y = 2.0 + 0.5 * np.sin(3 * np.pi * x)
    one.marks, one.x, one.y, one.lo, one.hi, one.hover = "points", x, y, None, None, None
    drawing.panels[0].series[:] = [one]
    del drawing.panels[1:]
    told = {float(value) for value in re.findall(r"<title>[^<]*training step: ([\d.]+)\n", svg.inline(drawing, "f0")["svg"])}
    tap.ok("the least and the greatest x have a place", {0.9996, 2.0004} <= told and len(told) <= 60, str(sorted(told)))
def kernel_rows(lags, value):
    """Two heads' kernels; a record that shows each row, NaN as well."""
    return [{"source": "m", "layer": 0, "head": head, "lag": lag, "kernel": value(head, lag)} for head in range(2)
            for lag in range(lags)]


def marks_of_each_row_are_its_own():
    """Rows that are NaN, at the front and between the others, and rows that are too many to be drawn, move no title to
    another mark, and no mark from its place."""
    for lags, holes in ((12, {0, 1, 4, 7, 8}), (3000, {0, 1, 2, 700, *range(1500, 1600)})):
        def value(head, lag, lags=lags, holes=holes):
            return np.nan if lag in holes else head + lag * lag / lags**2
        with scratch() as folder:
            write_result(f"{folder}/r", "kernel", kernel_rows(lags, value), "checkpoint")
            tables = Tables(szego.load(folder))
        lines = record.Figure("lines", ("checkpoint_kernel",), series_by=("head",), x=record.Axis("lag"), y=record.Axis("kernel"))
        drawing = compose.build(lines, tables.rows("checkpoint_kernel"))
        picture = svg.inline(drawing, "f0")["svg"]
        hits = [(*map(float, place), int(head), int(lag), float(told)) for *place, head, lag, told in re.findall(
            r'<circle cx="([\d.]+)" cy="([\d.]+)"[^>]*><title>head (\d)\nlag[^:\n]*: (\d+)\n[^:\n]*: ([\d.e-]+)</title>', picture)]
        tap.ok(f"{lags} rows: each mark says its own", len(hits) > 12 and all(
            lag not in holes and abs(told - value(head, lag)) < 1e-5 for _, _, head, lag, told in hits), str(hits[:4]))
        (_, low, *_, least), (_, high, *_, most) = min(hits, key=lambda hit: hit[4]), max(hits, key=lambda hit: hit[4])
        (left, *_, first, _), (right, *_, last, _) = min(hits, key=lambda hit: hit[3]), max(hits, key=lambda hit: hit[3])
        wrong = [hit for hit in hits if abs(hit[0] - left - (right - left) * (hit[3] - first) / (last - first)) > 0.02
                 or abs(hit[1] - low - (high - low) * (hit[4] - least) / (most - least)) > 0.02]
        tap.ok(f"{lags} rows: and stands at its place", not wrong and right > left and low > high, str(wrong[:4]))


def head_rows(source):
    return [{"source": source, "layer": 0, "head": head, "mean_share": 0.5 - head / 10, "mean_null": 0.1, "mean_p": 0.001,
             "stands_out": "mean", "mean_shape": "peaked", "mean_peak": 1, "note": ""} for head in range(2)]


def titles(folder):
    text = page_of(folder)
    return html.unescape(re.search("<title>(.*)</title>", text)[1]), html.unescape(re.search("<h1>(.*)</h1>", text)[1])


def a_page_of_a_model_has_its_name():
    general = f"in: {document.SUBJECT} (szego report)", document.SUBJECT
    with scratch() as folder:
        write_result(f"{folder}/in/a", "heads", head_rows("models/tiny<b>/model-00001-of-2.safetensors"), "checkpoint")
        tap.ok("the title is the model's name", titles(f"{folder}/in") == ("tiny<b> (szego report)", "tiny<b>"),
               str(titles(f"{folder}/in")))
        findings = page_of(f"{folder}/in").split('id="findings"')[1].split("</section>")[0]
        tap.ok("its page begins with the heads", "tiny&lt;b&gt;: in 2 of 2 heads of layer 0 position alone" in findings, findings)
        write_result(f"{folder}/in/b", "heads", head_rows("models/other/"), "checkpoint")
        tap.ok("of two models it is not", titles(f"{folder}/in") == general, str(titles(f"{folder}/in")))
        write_result(f"{folder}/in/b", "contraction", contraction_rows(
            name="models/tiny<b>/model-00001-of-2.safetensors"))
        tap.ok("nor beside other results", titles(f"{folder}/in") == general)
    for path, name in (("org/m", "m"), ("m/", "m"), ("a/m-q4.gguf", "m-q4"), ("m/pytorch_model.bin", "m"), ("m/model.safetensors.index.json", "m"),
                       ("hub/models--org--m-7b/snapshots/0123abc/", "org/m-7b"), ("modeling/", "modeling"),
                       ("hub/models--org--m-7b/snapshots/0123abc/model.safetensors", "org/m-7b"), (".", None), (None, None)):
        tap.ok(f"the name of {path}", words.checkpoint(path) == name, str(words.checkpoint(path)))


def damaged_results_are_named():
    with scratch() as folder:
        write_result(f"{folder}/a", "contraction", contraction_rows(name="rope"))
        write_result(f"{folder}/b", "contraction", contraction_rows(name="rope"))
        with open(f"{folder}/b/contraction.csv", "a", encoding="utf-8") as file:
            file.write("cut")
        write_result(f"{folder}/c", "contraction", contraction_rows(name="rope"), format="szego-results-9")
        path, results = write.report(folder, f"{folder}/out/", workers=1)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        tap.ok("the page is in the folder that was named", path == f"{folder}/out/report.html")
        tap.ok("the damaged one is told with its row, and one of another version", len(results.skipped) == 2
               and "b/contraction.csv: row 11" in results.skipped[0]
               and "c/manifest.json: format: is szego-results-9" in results.skipped[1]
               and "2 results were left out" in text and "b/contraction.csv: row 11" in text, str(results.skipped))
        tap.ok("and the other drawn", 'id="contraction-1"' in text)
        for name, given in (("an ending that is none", f"{folder}/x.csv"), ("a file in a file", f"{path}/x.html"),
                            ("a folder in a file", f"{path}/x./")):
            try:
                write.report(folder, given, workers=1)
                tap.ok(name, False)
            except (szego.SzegoError, OSError) as error:
                tap.ok(f"{name} is refused", "x." in str(error), str(error))
        try:
            write.report(f"{folder}/out", workers=1)
            tap.ok("a folder without results", False)
        except szego.SzegoError as error:
            tap.ok("a folder without results is told", "no result" in str(error), str(error))


def numbers_of(chance):
    return chance.choice([-1, 1]) * chance.random() * 10.0**chance.randrange(-300, 300)


def tables_of_no_section_are_for_readers():
    """Through manifest, join and page: of an end more than is certified is never shown, of other numbers the nearest."""
    chance = random.Random(os.environ.get("SZG_TEST_SEED", 3))
    with scratch() as folder:
        rows = []
        for _ in range(12):
            values = [numbers_of(chance) for _ in range(20)]
            rows.append({"name": "L" * 100000, "none": None, **{f"{part}{k}": value for k, value in enumerate(values)
                                                               for part in ("lower", "plain", "upper")}})
        write_result(f"{folder}/r", "odd", rows, "odd", tables=[{"name": "odd", "file": "odd.csv", "rows": 12, "columns": [
            {"name": name, "type": "text" if name == "name" else "real", "doc": HOSTILE, "end": name[:5]} for name in rows[0]]}])
        text = page_of(folder, workers=1)
    page = Parsed(text)
    cells = re.findall(r'<td class="number"(?: title="([^"]*)")?>([^<]*)</td>', text.replace("\N{MINUS SIGN}", "-"))
    wrong = []
    for row in range(10):
        for k in range(20):
            exact = rows[row][f"plain{k}"]
            low, near, high = (text for _, text in cells[(20 * row + k) * 3:][:3])
            if not float(low) <= exact <= float(high) or float(high) - float(low) > 1.0001e-5 * abs(exact) \
                    or near != f"{exact:.6g}" and float(near) != exact or low == high:
                wrong.append((exact, low, near, high))
    tap.ok("ends lie outside by less than a unit of the sixth digit", not wrong and len(cells) == 600, str(wrong[:3]))
    tap.ok("what is rounded stands beside it", all(exact == "" or float(exact) == rows[i // 60][f"plain{i % 60 // 3}"]
                                                   for i, (exact, _) in enumerate(cells)))
    heads = [attributes for tag, attributes in page.elements if tag == "th"]
    tap.ok("a column without a value is not shown, and every one has its meaning", len(heads) == 2 + 60
           and all("alert" in attributes["title"] for attributes in heads[1:]), str(len(heads)))
    tap.ok("long texts are cut", "LLL\N{HORIZONTAL ELLIPSIS}</td>" in text and len(text) < 400000, str(len(text)))
    tap.ok("what was run comes last", re.findall(r'<section id="(\w+)"', text)[-1] == "provenance")
    told = (re.search(r'<section id="findings">.*?</section>', text, re.DOTALL) or [""])[0]
    tap.ok("without a figure columns are told, but no certified ends", "odd: 12 rows; plain0 " in told
           and "plain1 " in told and "lower" not in told and "upper" not in told and 'href="#others"' in told, told)


def tables_without_a_needed_column_are_told():
    with scratch() as folder:
        write_result(f"{folder}/r", "eigenvalues", [{"source": "a", "re": 0.5}, {"source": "a", "re": 2.5}], "spectrum")
        text = page_of(folder, workers=1)
    told = re.findall(r"<li>([^<]*) <a href=\"#(\w+)\">[^<]*</a></li>", text)
    tap.ok("in the findings of their section", "its values are not drawn" in text and len(told) == 1
           and told[0][0].startswith("spectrum_eigenvalues: 2 rows; ") and told[0][0].endswith(" 0.5 to 2.5.")
           and told[0][1] == "spectrum", str(told))


def notes_are_whole():
    note = "word " * 62 + "end."
    with scratch() as folder:
        write_result(f"{folder}/r", "claims", [{"id": "B2", "statement": "s", "verdict": "measured", "note": note}], "verify")
        text = page_of(folder, workers=1)
    tap.ok("a note of the length of the paper's claims is not cut", note in text)
    tap.ok("one row is singular", re.search(r'data-table="[^"]*">CSV: 1 row</a>', text) is not None)


def workers_draw_alike():
    with scratch() as folder:
        for run in range(4):
            write_result(f"{folder}/r{run}", "contraction", contraction_rows(lambda step, head: 1 + head + step / 20, f"e{run}"))
        tap.ok("two processes write the page of one", page_of(folder, workers=2) == page_of(folder, workers=1))


def an_interrupt_leaves_nothing():
    with scratch() as folder:
        for run in range(12):
            write_result(f"{folder}/r{run}", "contraction", contraction_rows(name=f"e{run}"))
        child = subprocess.Popen([sys.executable, "-c", "import os, sys; sys.path.insert(0, sys.argv[1])\n"
                                  "from szego.page import write, svg\nimport time\n"
                                  "slow = svg.inline\n"
                                  "def inline(*a):\n    open(f'{sys.argv[2]}/drawing-{os.getpid()}', 'w').close(); time.sleep(0.5)\n"
                                  "    return slow(*a)\n"
                                  "svg.inline = inline\n"
                                  "write.report(sys.argv[2], workers=2)", PACKAGE, folder],
                                 stderr=subprocess.PIPE, start_new_session=True)
        workers = []
        while len(workers) < 2 and child.poll() is None:  # one that has not begun would say that it is interrupted
            time.sleep(0.01)
            workers = [name.partition("-")[2] for name in os.listdir(folder) if name.startswith("drawing")]
        os.killpg(child.pid, signal.SIGINT)  # as a terminal does
        said = child.communicate(timeout=60)[1].decode()
        tap.ok("the workers say nothing", said.count("Traceback") <= 1, said)
        left = [name for name in os.listdir(folder) if name[0] not in "rd" or name == "report.html"]
        tap.ok("an interrupt ends it", child.returncode not in (0, None), str(child.returncode))
        tap.ok("no page and no part of one is left", not left, str(left))
        tap.ok("and no worker", len(workers) == 2 and gone(workers), str(workers))


def below(process):
    """Processes below one, at any depth."""
    for folder in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            for child in map(int, folder.read_text().split()):
                yield child
                yield from below(child)


def at_work(child):
    """The program's script and the two processes that draw for it, once they are there."""
    found = []
    while len(found) < 3 and child.poll() is None:
        time.sleep(0.003)
        found = list(below(child.pid))
    return found


def the_program_is_interrupted():
    """Ctrl-C on a terminal reaches all processes, `kill -INT` the program alone."""
    with scratch() as folder:
        for run in range(12):
            write_result(f"{folder}/in/r{run}", "contraction", contraction_rows(name=f"e{run}"))
        for name, send in (("a terminal", os.killpg), ("kill", os.kill)):
            with subprocess.Popen([PROGRAM, "report", "in", "-o", "out.html", "--threads", "2"], cwd=folder, text=True,
                                  stderr=subprocess.PIPE, env=TAKEN, start_new_session=True) as child:
                found = at_work(child)
                send(child.pid, signal.SIGINT)
                said = child.communicate(timeout=60)[1]
            tap.ok(f"{name} interrupts the program while it draws", child.returncode == 130 and len(found) >= 3 and
                   said == "szego: interrupted\n", f"{child.returncode} {found}: {said}")
            tap.ok(f"{name}: neither a file nor a process is left", os.listdir(folder) == ["in"] and gone(found),
                   f"{os.listdir(folder)} {found}")


def a_drawer_that_is_killed_is_told():
    with scratch() as folder:
        for run in range(12):
            write_result(f"{folder}/in/r{run}", "contraction", contraction_rows(name=f"e{run}"))
        with subprocess.Popen([PROGRAM, "report", "in", "-o", "out.html", "--threads", "2"], cwd=folder, text=True,
                              stderr=subprocess.PIPE, env=TAKEN) as child:
            os.kill(at_work(child)[-1], signal.SIGKILL)
            said = child.communicate(timeout=60)[1]
        tap.ok("a process that draws and is killed is told in one line", child.returncode == 1 and said.startswith(
            "szego: a process that drew") and said.count("\n") == 1 and os.listdir(folder) == ["in"], said)


def planted_modules_are_not_run():
    with scratch() as folder:
        write_result(f"{folder}/r", "contraction", contraction_rows(name="rope"))
        for name in ("szego", "numpy", "matplotlib", "jinja2", "markupsafe", "json", "concurrent", "multiprocessing"):
            os.mkdir(f"{folder}/{name}")
            for file in (f"{name}.py", f"{name}/__init__.py"):
                with open(f"{folder}/{file}", "w", encoding="utf-8") as planted:
                    planted.write("open('planted', 'w').close()\nraise SystemExit('planted')\n")
        done = subprocess.run([PROGRAM, "report", "r"], cwd=folder, capture_output=True, text=True, check=False,
                              env={**TAKEN, "PYTHONPATH": f".::{folder}"})
        tap.ok("modules in the current folder are not imported", done.returncode == 0 and
               done.stderr == "szego: wrote r/report.html\n" and not os.path.exists(f"{folder}/planted"), done)


def an_error_leaves_nothing():
    with scratch() as folder:
        with open(f"{folder}/kept", "w", encoding="utf-8") as file:
            file.write("old")
        try:
            with whole_file(f"{folder}/kept") as file:
                file.write("new")
                raise OSError(28, "No space left on device")
        except szego.SzegoError as error:
            tap.ok("an error names the file", f"{folder}/kept: cannot be written: No space left" in str(error), str(error))
        with open(f"{folder}/kept", encoding="utf-8") as file:
            tap.ok("the old file stays, and no other", file.read() == "old" and os.listdir(folder) == ["kept"],
                   str(os.listdir(folder)))


def a_program_of_every_kind():
    with scratch() as folder:
        subprocess.run([PROGRAM, "spectrum", "--pe", "rope:dim=8", "-n", "32", "--all", "-o", f"{folder}/s/", "--quiet"],
                       check=True)
        text = page_of(folder, workers=1)
        tap.ok("results of the program have a page", "rope:dim=8" in text and "What was run" in text)


hostile_names_are_text()
notes_are_whole()
colours_have_names()
marks_are_those_of_the_rows()
extreme_points_answer()
marks_of_each_row_are_its_own()
a_page_of_a_model_has_its_name()
damaged_results_are_named()
tables_of_no_section_are_for_readers()
tables_without_a_needed_column_are_told()
notes_are_whole()
workers_draw_alike()
an_interrupt_leaves_nothing()
the_program_is_interrupted()
a_drawer_that_is_killed_is_told()
planted_modules_are_not_run()
an_error_leaves_nothing()
a_program_of_every_kind()
tap.finish()
