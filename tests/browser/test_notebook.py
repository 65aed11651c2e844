#!/usr/bin/python3
"""Exported notebooks: valid, runnable top to bottom in Jupyter over the results of every command, also
where every text is hostile, and each cell over arrays that lack columns or hold anything.
usage: test_notebook.py PROGRAM"""
import ast
import io
import contextlib
import json
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "peer"))
# pylint: disable=wrong-import-position
import results
from peer import Tap, scratch, skip

try:
    import matplotlib
    import nbformat
    import numpy as np
    from nbconvert.preprocessors import CellExecutionError, ExecutePreprocessor
    import ipykernel  # pylint: disable=unused-import
except ImportError as error:
    skip(f"{error}: Debian's jupyter-nbconvert, python3-ipykernel and python3-matplotlib are needed "
         "(./check --browser installs them)")

matplotlib.use("Agg")
os.environ.pop("MPLBACKEND", None)  # Jupyter's kernel shows figures where it chooses the backend itself
import matplotlib.pyplot
PROGRAM = os.path.abspath(sys.argv[1])
SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
ROUNDS = int(os.environ.get("SZG_TEST_MULTIPLIER", "1")) * 2
SECTIONS = {"positional", "ranges", "spectrum", "extremes", "density", "symbol", "claims", "toeplitzness", "rotary",
            "contraction", "softmax", "table1", "curves", "ablation", "sweep", "switches", "mechanism", "relations",
            "lengths"}
BEFORE = ("load", "figures")  # what every other cell depends on
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")


def export(folder, path):
    subprocess.run([PROGRAM, "export", folder, "--to", "ipynb", "-o", path, "--quiet"], check=True)
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


def carried(notebook):
    """{name: source} of the modules in the notebook's cells."""
    return {call.args[0].value: call.args[1].value for source in code_of(notebook).values()
            for call in ast.walk(ast.parse(source)) if isinstance(call, ast.Call)
            and getattr(call.func, "id", "") == "module"}


def code_of(notebook):
    return {cell.id: cell.source for cell in notebook.cells if cell.cell_type == "code"}


def imported(source):
    """The packages that a source imports; a relative import is one of the notebook's own modules, "." and its name."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = [node.module] if node.module else [name.name for name in node.names]
            if node.level == 0 and node.module == "szego_figures":
                names = [name.name for name in node.names]
            own = node.level > 0 or node.module == "szego_figures"
            found |= {f".{name}" if own else name.partition(".")[0] for name in names}
    return found


def check_form(name, notebook):
    try:
        nbformat.validate(notebook)
        why = ""
    except nbformat.ValidationError as error:
        why = str(error)[:200]
    tap.ok(f"{name}: valid", not why, why)
    tap.ok(f"{name}: nbformat 4.5", (notebook.nbformat, notebook.nbformat_minor) == (4, 5))
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    tap.ok(f"{name}: not executed",
           all(not cell.outputs and cell.execution_count is None for cell in code))
    sections = {cell.id for cell in code} - set(BEFORE)
    tap.ok(f"{name}: a cell for each kind of table", sections == SECTIONS, str(SECTIONS ^ sections))
    sources = carried(notebook)
    found = set().union(*map(imported, [*code_of(notebook).values(), *sources.values()]))
    own = {f".{module}" for module in sources}
    tap.ok(f"{name}: NumPy and Matplotlib are enough", len(own) > len(SECTIONS)
           and found <= {"numpy", "matplotlib", *sys.stdlib_module_names, *own}, str(found - own))


def run(notebooks, folder):
    """Runs the notebooks one after the other in one kernel, whose start takes as long as many cells."""
    whole = nbformat.v4.new_notebook(metadata=next(iter(notebooks.values())).metadata)
    whole.cells = [cell for notebook in notebooks.values() for cell in notebook.cells]
    try:
        # No limits but the suite's: how long a cell takes is the machine's affair.
        ExecutePreprocessor(timeout=None, startup_timeout=600, kernel_name="python3").preprocess(
            whole, {"metadata": {"path": folder}})
        why = ""
    except CellExecutionError as error:
        why = str(error)[-500:]
    tap.ok(f"{', '.join(notebooks)}: run top to bottom", not why, why)
    for name, notebook in notebooks.items():
        check_shown(name, notebook)


def lines_of(outputs):
    """The lines that a cell printed, with one for each picture or table between them."""
    return [line for one in outputs for line in (one.text.splitlines() if one.output_type == "stream" else
                                                 ["table" if "text/html" in one.data else "picture"]) if line]


def check_shown(name, notebook):
    texts = {cell.id: cell.source for cell in notebook.cells if cell.cell_type == "markdown"}
    for cell in notebook.cells:
        if cell.cell_type != "code" or cell.id in BEFORE:
            continue
        lines = lines_of(cell.outputs)
        empty = [line for line, after in zip(lines, lines[1:] + ["END"]) if line.isupper() and after.isupper()]
        tap.ok(f"{name}: {cell.id}: below each heading is something", not empty, str(empty))
        intro = texts[f"{cell.id}-text"].partition("\n\n")[2].replace("`", "")
        tap.ok(f"{name}: {cell.id}: its introduction is above it alone", not intro or intro not in lines, intro)
        if cell.id in ("claims", "table1"):
            tap.ok(f"{name}: {cell.id} shows tables", "table" in lines, str(lines)[:500])
        images = [o for o in cell.outputs if "image/png" in o.get("data", {})]
        words = "".join(o.text for o in cell.outputs if o.output_type == "stream")
        tap.ok(f"{name}: {cell.id} shows something", images or len(words) > (500 if cell.id == "claims" else 20))
        complaints = [o.text[:200] for o in cell.outputs
                      if o.output_type == "stream" and o.name == "stderr" and "Glyph" not in o.text]
        tap.ok(f"{name}: {cell.id} without complaints", not complaints, str(complaints))


def wreck(array, rng):
    """The array with columns lost, of another type, or with any number in them."""
    rows = [rng.randrange(len(array)) for _ in range(rng.choice([1, 2, 40]))] if len(array) else []
    columns = {}
    for name in array.dtype.names:
        values, fate = array[name][rows], rng.random()
        if fate < 0.1:
            continue
        if fate < 0.2:
            values = np.array([b"<b>$x$\xff", b"nan", b""][:1] * len(rows), dtype="S8")
        elif fate < 0.5 and values.dtype.kind in "fi":
            values = np.array([rng.choice([np.nan, np.inf, -np.inf, 0, -1, 1e308, 5e-324, 2.0**62, 3])
                               for _ in rows], dtype=float)
        columns[name] = values
    columns = columns or {"result": array["result"][rows]}
    out = np.zeros(len(rows), dtype=[(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        out[name] = values
    return out


def run_alone(notebook, name):
    """Runs one cell after those that every cell depends on; the figures it leaves open, and what it prints."""
    for module in [one for one in sys.modules if one.partition(".")[0] == "szego_figures"]:
        del sys.modules[module]  # of another cell
    code, space, said = code_of(notebook), {}, io.StringIO()
    with contextlib.redirect_stdout(said):
        for one in (*BEFORE, name):
            exec(code[one], space)  # pylint: disable=exec-used
    plt = space["plt"]
    return [plt.figure(number) for number in plt.get_fignums()], said.getvalue()


def run_wrecked(notebook, arrays, rng):
    """Runs every cell by itself over wrecked arrays; the name of the first that fails."""
    np.savez("export.npz", manifest=arrays["manifest"],
             **{name: wreck(arrays[name], rng) for name in arrays.files if name != "manifest"})
    for name in sorted(SECTIONS):
        try:
            with np.errstate(all="ignore"):
                for figure in run_alone(notebook, name)[0]:
                    figure.canvas.draw()
        except Exception as error:  # pylint: disable=broad-except
            return f"{name}: {type(error).__name__}: {error}"
        finally:
            matplotlib.pyplot.close("all")
    return ""


def check_alone(notebook):
    """A cell needs no other but those that the notebook names, and draws a figure."""
    for name in sorted(SECTIONS):
        try:
            figures, _ = run_alone(notebook, name)
            why = "" if figures else "no figure"
        except Exception as error:  # pylint: disable=broad-except
            why = f"{type(error).__name__}: {error}"
        finally:
            matplotlib.pyplot.close("all")
        tap.ok(f"{name}: runs without the other sections, and draws", not why, why)


def check_methods(notebook, arrays):
    """Heads that were taken away in several ways are not drawn as one; old results do not say how."""
    heads = arrays["reproduce_ablation"]
    heads = heads[heads["head"] >= 0]
    heads = heads[heads["run"] == heads["run"][0]]
    other = heads.copy()
    other["method"] = b"cumul"
    for name, rows, wanted in (
            ("two methods", np.concatenate([heads, other]), ["by output", "by cumul"]),
            ("no method", heads[[n for n in heads.dtype.names if n != "method"]], [""])):
        np.savez("export.npz", manifest=arrays["manifest"], reproduce_ablation=rows)
        figures, said = run_alone(notebook, "ablation")
        points = [sum(len(line.get_xdata()) for axis in figure.axes for line in axis.lines
                      if line.get_marker() not in ("", "None", None)) for figure in figures]
        matplotlib.pyplot.close("all")
        methods = re.findall(r", (by \w+): accuracy without each head", said) or [""]
        tap.ok(f"ablation: {name}: a figure each, which says so", methods == wanted, said)
        tap.ok(f"ablation: {name}: the points of one method",
               points == [len(heads)] * len(wanted) and len(heads) > 0, str(points))


def check_ends(notebook, arrays):
    """What NumPy prints of the ends of enclosures, once the first cell has run, are those ends."""
    np.set_printoptions(precision=8, floatmode="maxprec_equal")
    code = {cell.id: cell.source for cell in notebook.cells if cell.cell_type == "code"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code["load"], {})  # pylint: disable=exec-used
    columns = [(table["name"], column["name"]) for table in json.loads(arrays["manifest"].item())["tables"]
               for column in table["columns"] if "end" in column and column["dtype"] == "<f8"]
    wrong = []
    for table, column in columns:
        values = arrays[table][column]
        values = values[np.isfinite(values)]
        printed = np.array2string(values, threshold=len(values) + 1).strip("[]").split()
        if [float(text) for text in printed] != list(values):
            wrong.append(f"{table}.{column}")
    tap.ok("ends of enclosures are printed whole", columns and not wrong, ", ".join(wrong))


with scratch() as work:
    folder = os.path.join(work, "results")
    results.make(PROGRAM, folder)
    clean = export(folder, os.path.join(work, "export.ipynb"))
    check_form("clean", clean)
    arrays = np.load(os.path.join(work, "export.npz"))
    arrays = type("Loaded", (dict,), {"files": arrays.files})({n: arrays[n] for n in arrays.files})
    os.chdir(work)
    import warnings
    warnings.simplefilter("ignore")
    check_ends(clean, arrays)
    check_alone(clean)
    for round_ in range(ROUNDS):
        why = run_wrecked(clean, arrays, random.Random(f"{SEED} {round_}"))
        tap.ok(f"wrecked arrays, {round_}: every cell copes", not why, why)
    check_methods(clean, arrays)
    os.remove("export.npz")
    clean = export(folder, os.path.join(work, "export.ipynb"))
    results.spoil(folder)
    spoilt = export(folder, os.path.join(work, "spoilt.ipynb"))
    check_form("spoilt", spoilt)
    texts = "\n".join(cell.source for cell in spoilt.cells if cell.id in ("title", "readme"))
    tap.ok("spoilt: no markup of a file in the texts", "<img" not in texts and "<script" not in texts)
    run({"clean": clean, "spoilt": spoilt}, work)
tap.finish()
