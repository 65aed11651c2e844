#!/usr/bin/python3
"""The tutorial's notebook: no outputs are stored, its cells run in order, and its numbers are NumPy's.
usage: test_tutorial.py PROGRAM SOURCE"""
import ast
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import time
import warnings

from peer import EPS, PACKAGE, Tap, eigenvalue_bound, scratch, skip

PROGRAM, SOURCE = map(os.path.abspath, sys.argv[1:])
os.environ.update(SZEGO=PROGRAM, MPLBACKEND="Agg", PYTHONPATH=PACKAGE)  # of the program that the cells run too
sys.path.insert(0, PACKAGE)
try:
    import matplotlib.pyplot as plt
    import numpy as np
    import pandas
    import szego
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy, python3-matplotlib and python3-pandas are needed")

tap = Tap()


def check_stored(book, path):
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    stored = [cell["id"] for cell in code if cell["outputs"] or cell["execution_count"] is not None or cell["metadata"]]
    tap.ok("no outputs, counts or metadata of cells are stored", len(code) > 10 and not stored, str(stored))
    tap.ok("the format is nbformat's 4.5", (book["nbformat"], book["nbformat_minor"]) == (4, 5)
           and len({cell["id"] for cell in book["cells"]}) == len(book["cells"]))
    magic = [cell["id"] for cell in code for line in cell["source"] if line.lstrip().startswith(("!", "%"))]
    tap.ok("cells are plain Python", not magic, str(magic))
    started = [name for cell in code for name in ("subprocess", "os.system", "popen", "get_ipython")
               if name in "".join(cell["source"])]
    tap.ok("no cell starts a program itself", not started, str(started))
    with scratch() as place:
        words = os.path.join(place, "words")
        with open(words, "w", encoding="utf-8") as file:
            file.write("\n\n".join("".join(cell["source"]) for cell in book["cells"]
                                   if cell["cell_type"] == "markdown"))
        done = subprocess.run([os.path.join(path, "tools/prose"), "--limits", words], capture_output=True, text=True,
                              check=False)
        tap.ok("its words keep the limits of tools/prose", done.returncode == 0, done.stdout)


def run(book):
    """Names after all cells, the text that each cell printed, and whether each figure of its calls of show has data."""
    space, printed, figures = {"__name__": "__main__"}, {}, {}
    for cell in book["cells"]:
        if cell["cell_type"] != "code":
            continue
        name, drawn, text, started = cell["id"], [], io.StringIO(), time.monotonic()
        plt.show = lambda drawn=drawn: drawn.append([any(axes.has_data() for axes in plt.figure(number).axes)
                                                     for number in plt.get_fignums()]) or plt.close("all")
        with contextlib.redirect_stdout(text), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            shown = run_cell("".join(cell["source"]), name, space)
        tap.ok(f"{name}: every figure was shown", not plt.get_fignums(), str(plt.get_fignums()))
        tap.ok(f"{name}: no warnings", not warned, " ".join(str(one.message) for one in warned))
        if shown is not None:
            tap.ok(f"{name}: what it shows", len(repr(shown)) < 20000 and "<table" in shown._repr_html_())
        printed[name], figures[name] = text.getvalue(), drawn
        print(f"# {name}: {time.monotonic() - started:.1f} s")
    return space, printed, {name: drawn for name, drawn in figures.items() if drawn}


def run_cell(source, name, space):
    """The value of the cell's last expression, which a notebook shows; None of any other."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), space)  # pylint: disable=exec-used
    return eval(compile(ast.Expression(last.value), name, "eval"), space) if last else None  # pylint: disable=eval-used


# ---- Numbers ------------------------------------------------------------------------------------

def near(name, got, want, bound):
    got, want = np.asarray(got), np.asarray(want)
    tap.ok(name, got.shape == want.shape and bool((np.abs(got - want) <= bound).all()),
           f"{got.shape} {want.shape}" if got.shape != want.shape else f"{np.abs(got - want).max():.3g}, {bound:.3g}")


def kms(n, rho=0.9):
    return np.linalg.eigvalsh(rho**np.abs(np.subtract.outer(np.arange(n), np.arange(n))))


def check_spectra(space):
    # The symbol (1 - rho^2) / (1 - 2 rho cos(theta) + rho^2) has the ends 1/19 and 19 at rho = 0.9. Cut to lags below
    # 256 it moves by at most 2 sum_{k >= 256} rho^k.
    found, cut = space["found"], 2 * 0.9**256 / (1 - 0.9)
    near("kms: NumPy's eigenvalues", found.eigenvalues, kms(256), eigenvalue_bound(256, 19))
    near("kms: the range is the closed form's", [found.range.lo, found.range.hi], [1 / 19, 19], cut + 256 * EPS * 19)
    rows = space["spectra"]["spectrum_eigenvalues"]
    for n in (64, 256, 1024):
        here = (rows["source"] == "kms:rho=0.9") & (rows["n"] == n)
        near(f"kms, {n}: NumPy's eigenvalues", np.sort(np.repeat(rows["re"][here], rows["multiplicity"][here])), kms(n),
             eigenvalue_bound(n, 19))
    lags = np.exp(-np.arange(64)**2 / 8.0)
    row = np.concatenate([lags, np.zeros(512 - 64)])
    dense = np.linalg.eigvalsh(row[np.abs(np.subtract.outer(np.arange(512), np.arange(512)))])
    near("a kernel of one's own: NumPy's", space["own"].eigenvalues, dense, eigenvalue_bound(512, dense.max()))


def check_claims(space):
    verdicts = space["claims"].verdicts
    tap.ok("verdicts are the ledger's", space["claims"].differing == 0 and len(verdicts) == 26
           and list(verdicts.values()).count("fails") == 13, str(verdicts))
    written = len(space["results"]["verify_certificates"]["id"])
    tap.ok("every certificate is confirmed", space["checked"].refused == 0
           and len(space["checked"]["verify_checks"]["id"]) == written > 30, str(written))


def weights(space, layer, head):
    """Queries and keys of a head of the written model, by the layout of its file."""
    with open(space["model"] / "model.safetensors", "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    found = []
    for name in ("q", "k"):
        begin, end = header[f"model.layers.{layer}.self_attn.{name}_proj.weight"]["data_offsets"]
        whole = np.frombuffer(data[8 + size + begin:8 + size + end], np.float32).reshape(64, 64)
        found.append(whole[16 * head:16 * (head + 1)].astype(float))
    return found


def check_checkpoint(space):
    heads = space["heads"]
    tap.ok("the written model is read whole", (heads.layers, heads.heads, heads.bad, heads.problems) == (4, 4, 0, ()))
    for layer, head in np.ndindex(4, 4):
        q, k = weights(space, layer, head)
        want = np.linalg.svd(q.T @ k / 4, compute_uv=False)[:16]  # 4 = sqrt(16)
        near(f"layer {layer}, head {head}: NumPy's singular values", heads.singular_values()[layer, head], want,
             eigenvalue_bound(64, want[0]))
        # Each of 16 squares, at most 1, and the largest one move by twice the relative bound of the values.
        near(f"layer {layer}, head {head}: stable rank", space["rank"][layer, head], (want**2).sum() / want[0]**2,
             64 * eigenvalue_bound(64, 1))
    table = space["table"]
    found = space["standing"]
    tap.ok("the planted positional head alone stands out, at lag 1", len(table) == 16 and list(zip(
        found["layer"], found["head"], found["self_peak"])) == [(2, 1, 1)] and set(table["mean_share"].isna()) == {True}, str(found))
    q, k = weights(space, 2, 1)
    turned = (k[:8] + 1j * k[8:]) * np.exp(-1j * 10000.0**(-2 * np.arange(8) / 16))[:, None]
    near("the planted keys are turned queries", turned, q[:8] + 1j * q[8:], 1e-6)
    tap.ok("the head of rank 2 is found", (space["layer"], space["head"]) == (1, 2) and space["rank"][1, 2] <= 2)


def check_training(space):
    trained, rows = space["trained"], space["results"]["train_contraction"]
    steps = [one[0] for one in space["seen"]]
    tap.ok("steps that were seen", steps == list(range(0, trained.steps, 50)) and len(steps) > 5, str(steps))
    tap.ok("the loss falls", np.isfinite(trained.test_loss) and trained.train_loss <
           space["results"]["train_metrics"]["loss"][0], repr(trained))
    want = [[rows["width_ratio"][(rows["step"] == step) & (rows["layer"] == layer)].mean() for layer in (0, 1)]
            for step in steps]
    near("what was seen is what was written", [one[1:] for one in space["seen"]], want, 16 * EPS * np.max(want))
    ablated = szego.load(f"{space['HOUR']}/ablation")["ablate_ablation"]
    tap.ok("every head is left out once", {(int(layer), int(head)) for layer, head, empty in zip(
        np.ma.getdata(ablated["layer"]), np.ma.getdata(ablated["head"]), np.ma.getmaskarray(ablated["head"]))
        if not empty and head >= 0} == set(np.ndindex(2, 4)))


def width(logits):
    values = np.linalg.eigvalsh((logits + logits.T) / 2)
    return values[-1] - values[0]


def ratio(q, k):
    """Widths of the logits with rotation over without, and what rounding may change of it. Pair t is dimensions t
    and t + d/2."""
    n, d = q.shape
    turn = np.exp(1j * np.outer(np.arange(n), 10000.0**(-2 * np.arange(d // 2) / d)))
    turned = [turn * (x[:, :d // 2] + 1j * x[:, d // 2:]) for x in (q, k)]
    content, coupled = width(q @ k.T), width(np.real(turned[0] @ turned[1].conj().T))
    # An eigenvalue moves by 20 n eps ||L||, and by 2 n eps ||q|| ||k|| as angles of up to n are rounded.
    moved = eigenvalue_bound(n, 1.1 * np.linalg.norm(q) * np.linalg.norm(k))
    return coupled / content, 2 * moved * (1 + coupled / content) / content


def check_logits(space):
    rows = szego.load(f"{space['HOUR']}/logits")["logits_contraction"]
    for head, got in enumerate(rows["width_ratio"]):
        want, bound = ratio(space["q"][head], space["k"][head])
        near(f"logits, head {head}: NumPy's width ratio", got, want, bound)
        if head == 0:
            near("in process as from the file", space["compared"].width, want, bound)
    tap.ok("logits: every head", len(rows["width_ratio"]) == 4)


def check_results(space):
    hour = pathlib.Path(space["HOUR"])
    page = (hour / "report.html").read_text(encoding="utf-8")
    words = ["kms:rho=0.9", "rope:dim=64", "L3", "stable", "dump.safetensors", "run-0"]
    tap.ok("the report has every part", page.startswith("<!DOCTYPE html>") and all(word in page for word in words),
           str([word for word in words if word not in page]))
    with np.load(hour / "all.npz") as arrays:
        tap.ok("the export has every table", {name.split("_")[0] for name in arrays.files} >=
               {"spectrum", "verify", "checkpoint", "train", "ablate", "logits"}, str(arrays.files))
    frame = space["frame"]
    tap.ok("frames", isinstance(frame, pandas.DataFrame) and len(frame) == len(space["seen"]) * 16
           and {str(frame["layer"].dtype), str(frame["width_ratio"].dtype)} == {"Int64", "float64"})


def main():
    path = os.path.join(SOURCE, "examples/tutorial.ipynb")
    with open(path, encoding="utf-8") as file:
        book = json.load(file)
    check_stored(book, SOURCE)
    with scratch() as place:
        os.chdir(place)
        space, printed, figures = run(book)
        expected = {"lengths": [1, 1], "kernel": [1], "recheck": [1], "positional": [1, 1], "heads": [1, 1], "contraction": [1, 1, 1],
                    "logits": [1]}
        tap.ok("every figure has data", {name: [len(one) for one in drawn] for name, drawn in figures.items()}
               == expected and all(all(one) for drawn in figures.values() for one in drawn), str(figures))
        tap.ok("the version is the program's", subprocess.run([PROGRAM, "--version"], capture_output=True, text=True,
                                                              check=True).stdout.split()[1] == printed["setup"].strip(),
               printed["setup"])
        tap.ok("the positional head is printed", printed["positional"].splitlines()[1].split()[:3] == ["2", "1", "self"],
               printed["positional"])
        tap.ok("a line each captured step", printed["training"].count("width ratio by layer") == len(space["seen"]))
        for check in (check_spectra, check_claims, check_checkpoint, check_training, check_logits, check_results):
            check(space)
        os.chdir(SOURCE)


main()
tap.finish()
