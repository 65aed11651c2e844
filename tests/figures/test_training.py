#!/usr/bin/python3
"""Training: curves, Table 1, the sweep, switches, heads taken away, longer sequences; their words from the rows."""
import json
import math
import os

from support import blocks, chance, drawing, drawings, np, tables, tap

from szego.figures import ablation, curves, lengths, sweep, switches, table1

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
ENCODINGS, EPOCHS = ("rope", "nope", "a$b$<i>"), (0, 1, 2, 3)


def number(value):
    """Four digits, as captions have them."""
    return f"{float(f'{value:.4g}'):g}"


def captions(section, made):
    return {one.id: one.caption for one in drawings(section, made)}


# ---- Curves ----

def metrics(seeds=(1, 2, 3), experiment="text", result="rep"):
    made = {}
    for encoding in ENCODINGS:
        for seed in seeds:
            for epoch in EPOCHS:
                for split in ("train", "test"):
                    made[encoding, seed, epoch, split] = chance.choice([0.0, 0.25, 0.5, 1.0, chance.random()])
    rows = [{"result": result, "run": f"{e}-{s}", "encoding": e, "task": "count", "experiment": experiment, "seed": s,
             "epoch": epoch, "split": split, "accuracy": value, "loss": 1 - value}
            for (e, s, epoch, split), value in made.items()]
    return made, rows


def ends_are_means_over_seeds():
    made, rows = metrics()
    runs = [{"result": "rep", "experiment": "text", "task": "count", "ceiling": 0.9}, {"result": "rep", "experiment": "x",
             "task": "count", "ceiling": 0.1}, {"result": "rep", "experiment": "text", "task": "count", "ceiling": 7.0}]
    found = {one.id: one for one in drawings(curves.SECTION, tables(reproduce_curves=rows, reproduce_runs=runs))}
    last = {e: np.mean([made[e, seed, 3, "test"] for seed in (1, 2, 3)]) for e in ENCODINGS}
    best = max(last, key=last.get)
    text = f"Best at the end: {best}, {number(last[best])} of a ceiling of 0.9"
    tap.ok("the best end is the greatest mean of the test split", found["curves-accuracy"].caption.startswith(text)
           and found["curves-accuracy"].caption.endswith("(3 seeds each)."), found["curves-accuracy"].caption)
    tap.ok("the finding says it in percent", found["curves-accuracy"].findings[0].startswith(
        f"{best} reaches a test accuracy of {100 * last[best]:.1f}% where the label ceiling is 90.0%"))
    lines = found["curves-accuracy"].series()
    tap.ok("training is the thin line of its encoding's colour", all(
        any(other.colour == line.colour and not other.thin for other in lines) for line in lines if line.thin)
        and sum(line.thin for line in lines) == len(ENCODINGS))
    losses = {e: 1 - last[e] for e in ENCODINGS}
    tap.ok("of losses the least is the best", found["curves-loss"].caption.startswith(
        f"Best at the end: {min(losses, key=losses.get)}, {number(min(losses.values()))}"))


def runs_of_a_reproduction_are_drawn_once():
    _, rows = metrics()
    _, own = metrics((1,), result="rep/runs/a")
    _, other = metrics((1,), result="elsewhere/a")
    found = drawings(curves.SECTION, tables(reproduce_curves=rows, train_metrics=own + other))
    sources = {one.rows.table: set(one.rows.texts("result")) for one in found}
    tap.ok("a run below a reproduction is not drawn again", sources == {"reproduce_curves": {"rep"},
                                                                     "train_metrics": {"elsewhere/a"}}, str(sources))


# ---- Table 1 ----

def settings(**changed):
    base = {"model.layers": ("6", "6"), "model.width": ("256", "256"), "loop.batch": ("512|1024", "512|1024")}
    base.update(changed)
    return [{"result": "rep", "key": key, "setting": key.split(".")[1], "task": None, "paper": paper, "here": here,
             "same": "yes" if here == paper else "no"} for key, (paper, here) in base.items()]


def row(encoding, mean, spread, seeds, paper):
    return {"result": "rep", "experiment": "text", "encoding": encoding, "task1": mean, "spread1": spread, "seeds1": seeds,
            "paper1": paper, "ceiling1": 95.0, "length1": 5.0, "task2": math.nan, "spread2": math.nan, "seeds2": 0,
            "paper2": math.nan, "ceiling2": math.nan, "length2": math.nan}


def table_says_what_the_rows_say():
    with open(os.path.join(ROOT, "train/reproduce/published.json"), encoding="utf-8") as file:
        published = json.load(file)
    paper = {(one["encoding"], one["task"]): one["percent"] for one in published["accuracies"]}
    source = published["source"]
    tap.ok("the paper's numbers are those of published.json", table1.PAPER == paper
           and table1.SOURCE == f"arXiv {source['arxiv']}v{source['version']} ({source['date']})", str(paper))
    rows = [row("rope", 90.0, 2.0, 3, 92.64), row("nope", 87.0, 1.5, 3, 3.51), row("alibi", 80.0, 1.0, 3, math.nan)]
    made = tables(reproduce_table1=rows, reproduce_settings=settings())
    tap.ok("two within the whiskers", captions(table1.SECTION, made)["table1-distance"] ==
           "rope is highest with 90.0% (paper 92.6%), 1 other within the whiskers; whiskers: one standard deviation.",
           str(captions(table1.SECTION, made)))
    grid = next(one for one in blocks(table1.SECTION, made) if isinstance(one, drawing.Grid))
    tap.ok("cells of the table", grid.cells[0] == ["text", "rope", "90.00 ± 2.00", "3", "92.64", "-2.64", "not run", "",
                                                   "\N{EN DASH}", "\N{EN DASH}"], str(grid.cells[0]))


def smaller_experiments_are_told():
    def caveat(**changed):
        made = tables(reproduce_table1=[row("rope", 1.0, 1.0, 1, 2.0)], reproduce_settings=settings(**changed))
        return next(one for one in blocks(table1.SECTION, made) if isinstance(one, drawing.Paragraph))
    same, smaller = caveat(), caveat(**{"model.width": ("256", "8|16")})
    other, text = caveat(**{"loop.batch": ("512|1024", "16")}), caveat(**{"model.width": ("256", "wide")})
    tap.ok("the paper's settings are no warning", not same.warning and "are those of these runs" in same.text, same.text)
    tap.ok("a smaller width is", smaller.warning and "smaller experiment than the paper's: width 8|16 (paper 256)."
           in smaller.text, smaller.text)
    partly = caveat(**{"model.width": ("256", "8|300")})
    tap.ok("widths on both sides of the paper's are not", "smaller" not in partly.text, partly.text)
    tap.ok("a batch is a difference, and no size", other.warning and other.text.startswith("The settings are not the paper's: "
                                                                                         "batch 16"), other.text)
    tap.ok("and so is a width that is no number", text.text.startswith("The settings are not"), text.text)
    bare = tables(reproduce_table1=[row("rope", 1.0, 1.0, 1, 2.0)])
    tap.ok("without settings it is said that they are not known", "is not known" in next(
        one.text for one in blocks(table1.SECTION, bare) if isinstance(one, drawing.Paragraph)))


# ---- The others ----

def sweep_and_switches():
    rows = [{"result": "r", "experiment": "text", "task": "distance", "encoding": "rope", "rotated_heads": k,
             "accuracy": value, "spread": 0.01, "seeds": 3} for k, value in ((1, 0.2), (4, 0.9), (8, 0.5))]
    caption = captions(sweep.SECTION, tables(reproduce_sweep=rows))["sweep"]
    tap.ok("the sweep's highest", caption ==
           "Task 1, trigger distance: highest 90% with 4 heads; whiskers: one standard deviation.", caption)
    for one in rows:
        one["seeds"] = 1
    tap.ok("one seed decides nothing", captions(sweep.SECTION, tables(reproduce_sweep=rows))["sweep"].endswith(
        "one seed decides nothing."))
    rows = [{"result": "r", "experiment": name, "like": "text", "encoding": "rope", "task": "count", "with": "a=1",
             "without": "a=0", "accuracy": 0.5, "accuracy_without": 0.5 - d if d is not None else None, "difference": d,
             "difference_spread": s, "pairs": pairs, "spread": 0.1, "seeds": 3}
            for name, d, s, pairs in (("one", -0.5, 0.1, 3), ("two", 0.2, 0.3, 3), ("three", 0.3, 0.01, 2),
                                      ("gone", math.nan, 0.1, 3))]
    caption = captions(switches.SECTION, tables(reproduce_switches=rows))["switches"]
    tap.ok("the largest difference, and those beyond their spread", caption ==
           "Largest difference: -50 points (one). 1 of 3 exceed their spread; 1 rests on fewer than 3 seeds.", caption)


def heads_taken_away():
    rows, drops = [], {}
    for layer in (0, 1):
        for head in range(4):
            for seed in (1, 2):
                drops[layer, head, seed] = chance.choice([-0.1, 0.0, 0.2, chance.random() / 2])
                rows.append({"result": "r", "encoding": "rope", "task": "count", "method": "output", "layer": layer,
                             "head": head, "seed": seed, "accuracy": 0.9 - drops[layer, head, seed],
                             "drop": drops[layer, head, seed], "note": None})
        rows.append({"result": "r", "encoding": "rope", "task": "count", "method": "output", "layer": layer, "head": None,
                     "seed": 1, "accuracy": 0.1, "drop": 5.0, "note": "all"})
    found = {one.id: one for one in drawings(ablation.SECTION, tables(ablate_ablation=rows))}
    (layer, head, _), drop = max(drops.items(), key=lambda item: item[1])
    text = (f"Worst loss: without head {head} of layer {layer}, accuracy falls from 0.9 to {number(0.9 - drop)}; 2 seeds; "
            "2 points have a note.")
    tap.ok("the worst head, a whole layer left out", found["ablation-accuracy"].caption == text,
           f"{text} {found['ablation-accuracy'].caption}")
    kinds = {one.name: (one.marks, len(one.x)) for one in found["ablation-accuracy"].series()}
    tap.ok("heads are violins, layers points", kinds == {"one head": ("violins", 16), "the whole layer": ("points", 2)},
           str(kinds))
    deposit = [{"result": "r", "encoding": "rope", "task": "count", "method": "output", "layer": 0, "seed": seed,
                "index": index, "index_least": least, "index_greatest": most, "largest_drop": drop, "total_drop": 0.5,
                "worst_head": worst, "uniform_index": 0.52, "note": None}
               for seed, index, least, most, drop, worst in ((1, 0.9, None, None, 0.4, 2), (2, 0.5, None, None, 0.2, 1),
                                                            (None, 0.7, 0.5, 0.9, None, None))]
    found = {one.id: one for one in drawings(ablation.SECTION, tables(ablate_ablation=rows, ablate_deposit=deposit))}
    tap.ok("the deposit index is that of the mean over seeds", found["ablation-deposit"].caption ==
           "Largest share: 0.7 [0.5, 0.9], the worst head of layer 0, of drops that sum to 0.5; uniform shares have a mean "
           "of 0.52.", found["ablation-deposit"].caption)
    tap.ok("its figure has the runs alone", [len(one.x) for one in found["ablation-deposit"].series()] == [2])


def longer_sequences():
    rows = [{"result": "r", "experiment": "longer", "encoding": encoding, "scaling": scaling, "words": words, "factor":
             words / 10, "seeds": 4, "accuracy": accuracy, "t_low": accuracy - 0.1, "t_high": accuracy + 0.1,
             "test_accuracy": 0.75, "label_ceiling": 0.9}
            for encoding, scaling, words, accuracy in (("rope", "none", 10, 0.7), ("rope", "none", 40, 0.25),
                                                       ("rope", "yarn", 40, 0.5), ("alibi", None, 40, 0.125))]
    caption = captions(lengths.SECTION, tables(reproduce_length_arms=rows))["lengths"]
    tap.ok("the highest and the lowest of the longest", caption ==
           "40 words, 4 times the longest of training: highest rope scaled by yarn 50% [40, 60] (75% on the test split), "
           "lowest alibi as trained 12.5% [2.5, 22.5] (75% on the test split); 4 seeds.", caption)


ends_are_means_over_seeds()
runs_of_a_reproduction_are_drawn_once()
table_says_what_the_rows_say()
smaller_experiments_are_told()
sweep_and_switches()
heads_taken_away()
longer_sequences()
tap.finish()
