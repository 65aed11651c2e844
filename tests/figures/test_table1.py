#!/usr/bin/python3
"""Table 1: cells, warnings, captions, and the paper's numbers against the file that the program compiles in."""
import json
import os

from support import blocks, drawing, drawings, np, tables, tap

from szego.figures import table1

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def row(encoding, mean, spread=None, seeds=None, **more):
    return {"result": "rep", "experiment": "text", "encoding": encoding, "task1": mean, "spread1": spread,
            "seeds1": seeds, "paper1": 92.64 if encoding == "rope" else None, "task2": None, "spread2": None,
            "seeds2": None, "paper2": 69.43, "length1": 40.0, "length2": None, "ceiling1": 99.0, "ceiling2": None,
            **more}


def setting(name, key, paper, here, same="no", task=None):
    return {"result": "rep", "item": "Table 3", "setting": name, "key": key, "task": task, "paper": paper, "here": here,
            "same": same}


def of_kind(found, kind):
    return [one for one in found if isinstance(one, kind)]


def published_numbers_are_the_paper_s():
    """Table 1 of arXiv 2505.13027v1, typed in once more; the source is that of the program's settings."""
    tap.ok("every accuracy that the paper prints", table1.PUBLISHED == {
        ("mla", "distance"): 88.34, ("mla", "count"): 97.41, ("rope", "distance"): 92.64, ("rope", "count"): 69.43,
        ("nope", "distance"): 3.51, ("nope", "count"): 77.69})
    with open(os.path.join(ROOT, "train/reproduce/published.json"), encoding="utf-8") as file:
        source = json.load(file)["source"]
    tap.ok("and its source", table1.SOURCE == f"arXiv {source['arxiv']}v{source['version']} ({source['date']})")


def cells_are_those_of_the_rows():
    made = tables(reproduce_table1=[row("rope", 90.125, 2.5, 3), row("$<nope>", 88.0, 1.0, 3),
                                    row("alibi", 10.0, 0.0, 1), row("mla", np.nan)])
    found = blocks(table1.SECTION, made)
    grid = of_kind(found, drawing.Grid)[0]
    tap.ok("means with spread, difference and exact values", grid.cells[0][2:6] ==
           [("90.12 ± 2.50", "90.125 ± 2.5"), "3", ("92.64", "92.64"), ("−2.52", "−2.5150000000000006")],
           str(grid.cells[0]))
    tap.ok("one seed has no interval", grid.cells[2][2] == ("10.00", "10") and grid.cells[2][4] == "\N{EN DASH}")
    tap.ok("what has not run", grid.cells[3][2:4] == ["not run", ""] and grid.cells[0][6] == "not run")
    texts = [one.text for one in of_kind(found, drawing.Paragraph)]
    tap.ok("± is told, and that one seed has none",
           "± is the standard deviation over seeds. Entries of one seed have no interval." in texts, str(texts))
    drawn = of_kind(found, drawing.Drawing)
    tap.ok("a task without runs has no figure", [one.id for one in drawn] == ["table1-task1"])
    tap.ok("88 + 1 reaches 90.125 - 2.5: one rival", drawn[0].caption ==
           "rope is highest with 90.1% (paper 92.6%); the whiskers of 1 other overlap its own; whiskers reach one standard "
           "deviation, which is no test.",
           drawn[0].caption)
    tap.ok("the finding has what length alone gives", drawn[0].findings[0].endswith(
        "the whiskers of 1 other overlap its own; whiskers reach one standard deviation, which is no test; the length alone "
        "gives 40.0%, the label ceiling is 99.0%."), drawn[0].findings[0])
    here = drawn[0].series()[0]
    tap.ok("whiskers of several seeds alone", list(here.lo[:2]) == [87.625, 87.0] and np.isnan(here.lo[2]))


def single_seeds_have_no_whiskers():
    drawn = drawings(table1.SECTION, tables(reproduce_table1=[row("rope", 50.0, None, 1), row("nope", 50.0, None, 1)]))
    tap.ok("equal means are as high", drawn[0].caption == "rope is highest with 50.0% (paper 92.6%); 1 other is as high; "
           "one seed each.", drawn[0].caption)
    drawn = drawings(table1.SECTION, tables(reproduce_table1=[row("rope", 50.0, None, 1), row("nope", np.nan)]))
    tap.ok("one alone is not the highest", drawn[0].caption == "rope has 50.0% (paper 92.6%); one seed each.",
           drawn[0].caption)


def smaller_experiments_are_warned_of():
    settings = [setting("layers", "model.layers", "6", "2|3"), setting("layers", "model.layers", "6", "2|3"),
                setting("epochs", "loop.epochs", "100", "2", task="distance"),
                setting("heads", "model.heads", "8|16", "8|16", "yes"),
                setting("batch", "loop.batch", "512|1024", "16"),
                setting("width", "model.width", "256", "1e300"), setting("hidden", "model.hidden", "512", "$<x>")]
    made = tables(reproduce_table1=[row("rope", 50.0)], reproduce_settings=settings)
    text = ("The numbers here are of a smaller experiment than the paper's: layers 2|3 (paper 6), epochs of distance 2 "
            "(paper 100). They do not tell whether its numbers reproduce. Other differences: batch 16 (paper "
            "512|1024), width 1e300 (paper 256), hidden $<x> (paper 512).")
    tap.ok("smaller sizes, and other differences, each once", table1.warnings(made) == [text],
           str(table1.warnings(made)))
    warned = [one.text for one in of_kind(blocks(table1.SECTION, made), drawing.Paragraph) if one.warning]
    tap.ok("before the numbers", warned == [text])
    same = tables(reproduce_table1=[row("rope", 50.0)], reproduce_settings=settings[3:4])
    tap.ok("the paper's settings are not warned of", table1.warnings(same) == [])
    tap.ok("unknown settings are", table1.warnings(tables(reproduce_table1=[row("rope", 50.0)])) ==
           ["The table of settings is not there: whether these runs had the paper's sizes is not known."])
    tap.ok("no reproduction, no warning", table1.warnings(tables(train_runs=[{"result": "a"}])) == [])


def other_runs_stand_beside_the_papers():
    runs = [{"result": f"{folder}/run-1", "run": "run-1", "encoding": "rope", "task": "count", "seed": 1,
             "test_accuracy": 0.5, "label_ceiling": None} for folder in ("rep", "repeat")]
    found = blocks(table1.SECTION, tables(reproduce_table1=[row("rope", 50.0)], train_runs=runs))
    grid = of_kind(found, drawing.Grid)[1]
    tap.ok("runs of a reproduction are not told again", [cells[0] for cells in grid.cells] == ["repeat/run-1"])
    tap.ok("percent, and the paper's", grid.cells[0][4:] == ["1", ("50.00", "50"), "", ("69.43", "69.43")],
           str(grid.cells[0]))


def missing_runs_are_counted():
    missing = [{"result": "rep", "run": f"run-{i}", "state": "failed" if i == 3 else "missing"} for i in range(25)]
    found = blocks(table1.SECTION, tables(reproduce_table1=[row("rope", 50.0)], reproduce_missing=missing))
    texts = [one.text for one in of_kind(found, drawing.Paragraph)]
    tap.ok("how many, and how many failed", "25 runs of the preset are not finished." in texts and
           any(text.startswith("1 of them failed") for text in texts), str(texts))
    tap.ok("the first 20 are listed", [one.most for one in of_kind(found, drawing.Listing)] == [20] and
           "These are the first 20; all are in the table reproduce_missing." in texts)


published_numbers_are_the_paper_s()
cells_are_those_of_the_rows()
single_seeds_have_no_whiskers()
smaller_experiments_are_warned_of()
other_runs_stand_beside_the_papers()
missing_runs_are_counted()
tap.finish()
