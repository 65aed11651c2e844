#!/usr/bin/python3
"""Nothing reads prose: every note, method and statement of results of all commands is put in other
words, and page, exports, notebook plots, and what the program makes of the files again stay the same
to the byte, those words apart. usage: test_rewording.py PROGRAM"""
import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "browser"))
# pylint: disable=wrong-import-position
import results
from peer import Tap, scratch, skip

try:
    import matplotlib
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.backends.backend_svg import RendererSVG
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy and python3-matplotlib are needed")

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "szego"})  # no name is random
for renderer in (RendererAgg, RendererSVG):  # words of equal length take equal room
    renderer.get_text_width_height_descent = lambda self, text, font, ismath: (
        0.6 * len(text) * font.get_size_in_points(), font.get_size_in_points(), 0.2 * font.get_size_in_points())
PROGRAM = os.path.abspath(sys.argv[1])
tap = Tap()

# ---- Which texts are words for people ----

PROSE = {"note", "statement", "true_statement", "about", "setting"}
PROSE_OF = {("summary", "method"), ("range", "method"), ("claims", "source"), ("evidence", "quantity")}
# Names, numbers and formulas, which programs read. A new column of texts belongs in one of the lists.
FACTS = {"arm", "backend", "base_mean_shape", "base_self_shape", "basis", "beyond_chance", "bound_kind", "bound_of", "commit", "content_kind", "convention", "decision", "precision",
         "device", "dtype", "encoding", "equality", "experiment", "file", "folded", "here", "hypothesis", "id",
         "item", "kernel", "key", "kind", "layers", "left", "left_hi", "left_lo", "left_out", "like", "mask", "matrix",
         "mean_shape", "mean_tokens", "measure", "minus", "model_type", "pairing", "paper", "phases", "positions", "preset", "primary", "probe", "profile",
         "property", "relation", "result", "right", "right_hi", "right_lo", "rotary", "run", "same", "self_shape", "shape",
         "scaling", "sinks", "solver", "source", "split", "stands_out", "state", "table", "task", "tensor", "theorem", "used", "value",
         "values_of", "verdict", "version", "weights", "with", "without", "x", "y"}
IDENTIFIED = {"ablation", "arms", "deposit", "relations"}  # tables whose `method` is a name


def is_prose(table, column):
    return column in PROSE or (table, column) in PROSE_OF


# ---- Other words ----

def _shifted(letters, digits):
    lower, numbers = "abcdefghijklmnopqrstuvwxyz", "0123456789"
    return str.maketrans(lower + lower.upper() + numbers,
                         lower[letters:] + lower[:letters] + lower.upper()[letters:] +
                         lower.upper()[:letters] + numbers[digits:] + numbers[:digits])


# Equal texts get other words in rows of other parity: a note is no name either.
SHIFTS = _shifted(13, 5), _shifted(7, 3)
TOKEN = re.compile(r"[0-9A-Za-z]+")


def quoted(text):
    return "" if text is None else '"' + text.replace('"', '""') + '"'


def reword_file(path, table, types):
    """Returns how many cells have other words."""
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = results.cells(file.read())
    count = 0
    for i, row in enumerate(rows):
        for k, name in enumerate(header):
            if row[k] and is_prose(table, name):
                other = row[k].translate(SHIFTS[i % 2])
                count += other != row[k]
                row[k] = other
    texts = {name for name in header if types[name] == "text"}
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(",".join(header) + "\n")
        for row in rows:
            file.write(",".join(quoted(cell) if name in texts else cell or ""
                                for name, cell in zip(header, row)) + "\n")
    return count


def reword(folder):
    """{COMMAND_TABLE.column: cells that have other words}"""
    words = {}
    for path, manifest in results.manifests(folder):
        for table in manifest["tables"]:
            types = {column["name"]: column["type"] for column in table["columns"]}
            count = reword_file(os.path.join(folder, path, table["file"]), table["name"], types)
            name = f"{manifest['command']}_{table['name']}"
            words[name] = words.get(name, 0) + count
    return words


def unclassified(folder):
    """Columns of texts of which the lists above say nothing."""
    return sorted({f"{table['name']}.{column['name']}" for _, manifest in results.manifests(folder)
                   for table in manifest["tables"] for column in table["columns"]
                   if column["type"] == "text" and not is_prose(table["name"], column["name"])
                   and column["name"] not in FACTS
                   and not (column["name"] == "method" and table["name"] in IDENTIFIED)})


# ---- Comparing ----

def difference(one, other):
    """Where two texts differ by more than other words; "" if they do not."""
    if one == other:
        return ""
    at = 0
    for old, new in zip(TOKEN.finditer(one), TOKEN.finditer(other)):
        if one[at:old.start()] != other[at:new.start()]:
            break
        if old[0] != new[0] and new[0] not in {old[0].translate(shift) for shift in SHIFTS}:
            break
        at = old.end()
        if old.end() != new.end():
            break
    else:
        if one[at:] == other[at:]:
            return ""
    return f"at {at}: {one[max(at - 80, 0):at + 80]!r} is {other[max(at - 80, 0):at + 80]!r}"


def same(name, one, other):
    why = difference(one, other)
    tap.ok(name, not why, why)


def run(*arguments, codes=(0,)):
    done = subprocess.run([PROGRAM, *arguments, "--quiet"], capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        raise RuntimeError(f"szego {' '.join(arguments)}: {done.returncode}: {done.stderr}")
    return done.stdout


FOLDERS = []  # of the results as they were made, and of those with other words


def anywhere(text):
    """The text as if both folders had one name, also where Markdown shows it."""
    for folder in FOLDERS:
        markdown = re.sub("[^0-9A-Za-z]", lambda sign: f"&#{ord(sign[0])};", folder)
        text = text.replace(folder, "FOLDER").replace(markdown, "FOLDER")
    return text


def page_of(folder, scratch_file):
    """The report without the tables it holds, which the exports hold too, and their sizes in bytes."""
    run("report", folder, "-o", scratch_file)
    with open(scratch_file, encoding="utf-8") as file:
        page = anywhere(file.read())
    page = re.sub(r", [0-9]+ k?B here</summary>", "</summary>", page)
    page = re.sub(r"<math>.*?</math>", "(formula)", page)  # other letters are other elements
    return re.sub(r'(<script type="application/octet-stream"[^>]*>)[^<]*', r"\1", page)


def compare_pages(folders, base):
    pages = [page_of(folder, base + "page.html") for folder in folders]
    same("the page", *pages)
    figures = len(re.findall("<figure ", pages[0]))
    tap.ok("the page has figures of each section", figures > 40, f"{figures} figures")
    for said in ("eigenvalue of the Hermitian part", "diagonal entry (triangular matrix)", " are 0 by structure",
                 "lie in the certified range", "certified maximum of |a|", "Toeplitz part and bounds nothing",
                 "certified range of the symbol"):
        tap.ok(f"the page says: {said}", said in pages[0])


def archive_of(folder, form, path):
    """{name: text} of an export: of an array a text for each column, numbers by their bytes."""
    run("export", folder, "--to", form, "-o", path)
    if form == "csv":
        return tables_in(path)
    found = {}
    with np.load(path) as archive:
        for name in archive.files:
            found[name] = str(archive[name].dtype)
            for column in archive[name].dtype.names or ():
                cells = archive[name][column]
                words = is_prose(name.partition("_")[2], column)
                found[f"{name}.{column}"] = ("\n".join(cell.decode() for cell in cells) if words
                                             else cells.tobytes().hex())
        found["manifest"] = archive["manifest"].item()
    return found


def tables_in(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".csv"):
            with open(os.path.join(folder, name), encoding="utf-8", newline="") as file:
                found[name] = file.read()
    return found


def same_parts(name, one, other, least):
    tap.ok(f"{name}: the same parts", list(one) == list(other) and len(one) > least, f"{len(one)}")
    why = [f"{part} {difference(text, other[part])}" for part, text in one.items()
           if difference(text, other[part])]
    tap.ok(f"{name}: the same except the words", not why, "; ".join(why)[:2000])


def compare_exports(folders, base):
    for form, least in (("csv", 30), ("npz", 300)):
        same_parts(form, *(archive_of(folder, form, f"{base}{i}.{form}" + ("/" if form == "csv" else ""))
                           for i, folder in enumerate(folders)), least)


# ---- Notebooks ----

def outputs_of(folder, path):
    """The notebook's text, and what its cells print and draw."""
    run("export", folder, "--to", "ipynb", "-o", path)
    with open(path, encoding="utf-8") as file:
        text = anywhere(file.read())
    drawn = {}

    def show():
        for number in plt.get_fignums():
            svg = io.StringIO()
            plt.figure(number).savefig(svg, format="svg", metadata={"Date": None})
            print(svg.getvalue())
        plt.close("all")

    names, before, plt.show = {}, os.getcwd(), show
    os.chdir(os.path.dirname(path))
    try:
        for cell in json.loads(text)["cells"]:
            if cell["cell_type"] == "code":
                said = io.StringIO()
                with contextlib.redirect_stdout(said):
                    exec("".join(cell["source"]), names)  # pylint: disable=exec-used
                drawn[cell["id"]] = said.getvalue()
    finally:
        os.chdir(before)
    return text, drawn


def compare_notebooks(folders, base):
    (one, drawn), (other, again) = [outputs_of(folder, f"{base}n{i}/look.ipynb")
                                    for i, folder in enumerate(folders)]
    same("the notebook", one, other)
    same_parts("what the notebook prints and draws", drawn, again, 10)
    tap.ok("the notebook draws certified ranges and counterexamples",
           "certified range" in drawn["spectrum"] and "<svg" in drawn["claims"], ", ".join(drawn))


# ---- What the program makes of the files again ----

def reproduce_again(folder, inputs):
    run("reproduce", "--preset", inputs + "/toy.json", "--minutes", "1e6", "-o", folder + "/reproduce/")
    return tables_in(folder + "/reproduce")


def ablations_of_runs(folder):
    """The files of each run that have notes, which reproduce reads again: (path, types)"""
    for place, _, files in sorted(os.walk(folder + "/reproduce/runs")):
        if "ablation.csv" in files:
            path = os.path.join(place, "ablation.csv")
            with open(path, encoding="utf-8", newline="") as file:
                header = results.cells(file.read())[0]
            yield path, dict.fromkeys(header, "number") | {"note": "text"}


def annotate_runs(folder):
    """Notes for every ablated head of every run."""
    for path, _ in ablations_of_runs(folder):
        with open(path, encoding="utf-8") as file:
            head, *lines = file.read().splitlines()
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([head, *(line.rstrip('"') + '"taken away by hand"' for line in lines), ""]))


def compare_what_is_read_again(folders, inputs):
    count = sum(reword_file(path, "ablation", types) for path, types in ablations_of_runs(folders[1]))
    tap.ok("the runs' own files have other words", count > 0)
    found = [reproduce_again(folder, inputs) for folder in folders]
    same_parts("reproduce once more", *found, 8)
    tap.ok("the runs' notes are read", "taken away by hand" in found[0]["ablation.csv"])
    checked = [run("verify", "--check", folder + "/verify/certificates.csv", "--format", "csv")
               for folder in folders]
    same("verify --check", *checked)


def make(folder):
    """Results of every command, and those whose facts once stood in notes."""
    results.make(PROGRAM, folder)
    pe = ["--pe", "rope:dim=4", "--content", "gaussian:dim=4"]
    run("spectrum", "--part", "ratio", "--all", "-n", "24", *pe, "-o", folder + "/ratio/")
    run("spectrum", "--part", "logits", "--all", "-n", "24", *pe, "-o", folder + "/logits/")
    run("spectrum", "--part", "logits", "--all", "-n", "24", "--mask", "causal", *pe, "-o",
        folder + "/causal/")
    run("spectrum", "-n", "32", "--pe", "alibi:heads=2", "--pe", "relative:seed=3", "-o", folder + "/ends/")
    annotate_runs(folder)
    reproduce_again(folder, folder + "-inputs")
    run("symbol", "-n", "16", "--convention", "fejer", "--pe", "kms:rho=0.9", "-o", folder + "/fejer/")


def main():
    with scratch() as place:
        base, folders = place + "/", [place + "/results", place + "/reworded/results"]
        FOLDERS.extend(folders)
        make(folders[0])
        tap.ok("columns of texts are words or facts", not unclassified(folders[0]), str(unclassified(folders[0])))
        shutil.copytree(folders[0], folders[1])
        words = reword(folders[1])
        for name in ("spectrum_summary", "spectrum_eigenvalues", "spectrum_range", "spectrum_contraction",
                     "symbol_range", "verify_claims", "verify_samples", "verify_certificates",
                     "checkpoint_notes", "train_contraction", "train_runs", "reproduce_needs"):
            tap.ok(f"{name} has other words", words.get(name, 0) > 0)
        os.mkdir(base + "n0")
        os.mkdir(base + "n1")
        compare_pages(folders, base)
        compare_exports(folders, base)
        compare_notebooks(folders, base)
        compare_what_is_read_again(folders, base + "results-inputs")
    tap.finish()


main()
