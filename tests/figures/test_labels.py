#!/usr/bin/python3
"""What figures call columns: the words of tables.json, by table, and the same words in a notebook without szego."""
import os
import subprocess
import sys
import tempfile

from support import column, drawings, np, tables, tap

from szego import columns
from szego.figures import compose, curves, labels, record
from szego.figures.rows import Tables
from szego.tables import Results

METRICS = {"run": ["a", "a"], "encoding": ["rope", "rope"], "task": ["count", "count"], "seed": [1, 1],
           "epoch": [1, 2], "step": [10, 20], "split": ["test", "test"], "loss": [0.5, 0.25], "accuracy": [0.5, 0.75]}


def words_are_those_of_the_table():
    tap.ok("a table of a command", labels.words("index", "ablate_deposit") == "deposit index" and
           labels.words("index", "checkpoint_top") == "place in the spectrum")
    tap.ok("names that begin alike", labels.words("difference", "reproduce_pairs") == "difference" and
           labels.words("difference", "reproduce_hypotheses") == "mean difference")
    tap.ok("a table without the column", labels.words("sigma_max", "nowhere") == "largest singular value")
    tap.ok("a column of no table", (labels.words("no_such", "verify_claims"), labels.axis("no_such", "verify_claims"))
           == ("no_such", "no_such"))
    tap.ok("axes have units, but not that of pure numbers",
           (labels.axis("loss", "train_metrics"), labels.axis("accuracy", "train_metrics"))
           == ("cross-entropy (nats)", "accuracy"))


def measures_have_words():
    tap.ok("measures", [labels.measure(name) for name in ("index", "curvature", "no_such")]
           == ["deposit index", "largest eigenvalue of the Hessian", "no_such"])
    known = {one["name"] for table in columns.tables().values() for one in table["columns"]}
    tap.ok("a column is described in its schema alone", not known & set(labels.MEASURES), known & set(labels.MEASURES))


def axes_say_them():
    made = tables(train_metrics=[dict(zip(METRICS, cells)) for cells in zip(*METRICS.values())])
    found = [one.y.label for one in drawings(curves.SECTION, made)]
    tap.ok("axes of curves", "cross-entropy (nats)" in found, found)


def hover_says_them():
    made = tables(reproduce_switches=[{"pairs": 2}]).rows("reproduce_switches")
    text = compose.hover_text(record.Figure("f", ("reproduce_switches",), hover=("pairs",)), "a", made, 0)
    tap.ok("hover texts", text == "a\nseeds on both sides: 2", text)


# ---- Notebooks ----

def notebook():
    try:
        from szego.notebook import archive, ipynb  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        print(f"# not run: the notebook's words: {error}: Debian's python3-nbformat is needed")
        return
    carries_the_same_words(ipynb)
    draws_without_the_package(archive, ipynb)


def carries_the_same_words(ipynb):
    asked = {f"x_{name}": [one["name"] for one in table["columns"]] for name, table in columns.tables().items()}
    asked["x_claims"] = [*asked["x_claims"], "no_such", "'''"]
    space = {}
    exec(ipynb.names(asked), space)  # pylint: disable=exec-used
    wrong = [(table, one) for table, own in asked.items() for one in own
             if [space[what](one, table) for what in ("label", "unit")]
             != [columns.label(one, table), columns.unit(one, table)]]
    tap.ok("a notebook has every word of its tables", not wrong and len(asked) > 50, f"{len(asked)} {wrong[:5]}")
    exec(ipynb.names({}), space)  # pylint: disable=exec-used
    wrong = [one["name"] for one in columns.tables()["arms"]["columns"]
             if space["label"](one["name"], "arms") != columns.label(one["name"], "arms")]
    tap.ok("and those of measures", not wrong and space["label"]("index", "arms") == "deposit index", wrong)
    tap.ok("and no others", len(space["NAMES"]) < len(columns.tables()["arms"]["columns"]), space["NAMES"])


def draws_without_the_package(archive, ipynb):
    results = Results()
    results["train_metrics"] = {name: column(cells) for name, cells in {"result": ["."] * 2, **METRICS}.items()}
    made = ipynb.cells(results, Tables(results), "runs", "export.npz", "0", "0")
    code = "\n\n".join(cell[1] for cell in made if len(cell) == 3)
    code = "import matplotlib\nmatplotlib.use('Agg')\n" + code + """
print([axes.get_ylabel() for n in plt.get_fignums() for axes in plt.figure(n).axes])
assert "szego" not in sys.modules"""
    with tempfile.TemporaryDirectory() as folder:
        archive.write_npz(results, os.path.join(folder, "export.npz"), "0", "0")
        done = subprocess.run([sys.executable, "-I", "-c", code], cwd=folder, capture_output=True, text=True,
                              check=False)
    tap.ok("figures of a notebook have them", done.returncode == 0 and "'cross-entropy (nats)'" in done.stdout,
           done.stderr[-2000:] + done.stdout[-500:])


words_are_those_of_the_table()
measures_have_words()
axes_say_them()
hover_says_them()
notebook()
tap.finish()
