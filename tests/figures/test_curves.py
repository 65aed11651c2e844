#!/usr/bin/python3
"""Accuracy and loss by epoch: means, colours, ceilings and captions against the rows."""
from support import blocks, chance, drawing, drawings, np, tables, tap

from szego.figures import colours, curves

HOSTILE = "rope:$<b>&"


def logs(encoding, seeds, experiment="text", result=".", values=None, **more):
    values = {} if values is None else values
    return [{"result": result, "run": f"run-{seed}", "encoding": encoding, "task": "distance", "experiment": experiment,
             "seed": seed, "epoch": epoch, "split": split, "loss": 1.0 / epoch,
             "accuracy": values.setdefault((seed, epoch, split), chance.random()), **more}
            for seed in seeds for epoch in (1, 2) for split in ("train", "test")]


def a_line_is_the_mean_of_the_seeds():
    values = {}
    made = tables(reproduce_curves=logs("alibi", (1, 2, 3), values=values) + logs(HOSTILE, (1, 2, 3), accuracy=0.0),
                  reproduce_runs=[{"result": ".", "task": "distance", "experiment": experiment, "ceiling": ceiling,
                                   "majority": majority} for experiment, ceiling, majority in
                                  (("text", 0.5, 0.25), ("text", 1.0, None), ("other", 0.125, 0.9),
                                   ("text", 1e300, 9.0))])
    accuracy, loss = drawings(curves.SECTION, made)
    test, train = [next(one for one in accuracy.series() if one.name == "alibi" and one.thin == thin)
                   for thin in (False, True)]
    mean = sum(values[seed, 2, "test"] for seed in (1, 2, 3)) / 3
    tap.close("the end of a line is the mean", test.last(), mean, 1e-14)
    tap.ok("its area reaches to the least and the greatest",
           [test.lo[-1], test.hi[-1]] == [f(values[seed, 2, "test"] for seed in (1, 2, 3)) for f in (min, max)])
    tap.ok("training is the thin line of the same colour, without an area or an entry",
           train.colour == test.colour and train.thin and train.unlisted and train.lo is None)
    tap.ok("another encoding has another colour", len({one.colour for one in accuracy.series()}) == 2)
    tap.ok("the caption has the ends and the ceiling of the figure's runs", accuracy.caption ==
           f"At the end alibi has the highest test accuracy, {100 * mean:.1f}%, and {HOSTILE} the lowest, 0.0% (label ceiling "
           "75.0%; 3 seeds each).", accuracy.caption)
    tap.ok("the finding has what guessing gives", accuracy.findings == [
        f"alibi reaches a test accuracy of {100 * mean:.1f}% where the most frequent label alone gives 25.0% and the "
        "label ceiling is 75.0% (task distance, experiment text)."], str(accuracy.findings))
    tap.ok("losses that are alike have no worst", loss.caption == "Lines end at a test loss of 0.5 nats (3 seeds each).",
           loss.caption)
    alone = drawings(curves.SECTION, tables(train_metrics=logs("rope", (1,), loss=0.125)))[1]
    tap.ok("one line is no best", alone.caption == "At the end rope has a test loss of 0.125 nats (1 seed).", alone.caption)


def ends_of(made):
    """Of the accuracies: names and ends of the test lines, the caption, the finding."""
    one = drawings(curves.SECTION, tables(train_metrics=made))[0]
    return {line.name: line.last() for line in one.series() if not line.thin}, one.caption, one.findings[0]


def runs_that_are_no_seeds_of_each_other_are_apart():
    def at(end, run="run-1", seed=1, result="flat/a", rate=0.5):
        return [{**row, "run": run, "accuracy": end, "learning_rate": rate} for row in logs("rope", (seed,), result=result)]
    why = "Runs that share a seed, or whose learning rates differ, are no seeds of one experiment: they have lines of their own."
    names, caption, _ = ends_of(at(0.25) + at(0.75, result="flat/b"))
    tap.ok("a copied run, or one seed in two folders", names == {"rope (flat/a)": 0.25, "rope (flat/b)": 0.75} and
           caption.endswith(f"(1 seed each). {why}"), f"{names} {caption}")
    names, caption, _ = ends_of(at(0.25, result="flat") + at(0.75, result="flat"))
    tap.ok("two logs in one file", names == {"rope (run-1, log 1)": 0.25, "rope (run-1, log 2)": 0.75}, f"{names}")
    names, caption, _ = ends_of(at(0.25) + at(0.75, "run-2", 2, rate=0.25))
    tap.ok("two learning rates", names == {"rope (run-1)": 0.25, "rope (run-2)": 0.75} and why in caption, f"{names}")
    names, caption, _ = ends_of(at(0.25) + at(0.75, "run-2", 2, result="flat/b"))
    tap.ok("seeds are averaged", names == {"rope": 0.5} and caption.endswith("50.0% (2 seeds)."), f"{names} {caption}")


def runs_that_diverge_have_no_end():
    made = logs("rope", (1,), accuracy=0.75, loss=1.0)
    for row in made:
        if row["epoch"] == 2:
            row["accuracy"] = row["loss"] = np.nan
    _, caption, finding = ends_of(made)
    tap.ok("the last finite epoch is not the end", caption.startswith(
        "No run has a finite test accuracy at its last epoch. Without a finite value at the last epoch: rope (1 of 1 run).")
        and finding == "Task distance: no run has a finite test accuracy at its last epoch.", f"{caption} {finding}")
    _, caption, finding = ends_of(made + logs("nope", (1,), accuracy=0.5))
    tap.ok("another one is best", caption.startswith("At the end nope has a test accuracy of 50.0%") and
           "rope (1 of 1 run)" in caption and finding.startswith("nope reaches a test accuracy of 50.0%") and
           finding.endswith("Without a finite value at the last epoch: rope (1 of 1 run)."), f"{caption} {finding}")
    _, caption, finding = ends_of(made + logs("rope", (2,), accuracy=0.25))
    tap.ok("a seed of two is named", "rope (1 of 2 runs)" in caption and "(1 to 2 seeds)" in caption and
           "accuracy of 25.0%" in finding, f"{caption} {finding}")


def runs_of_a_reproduction_are_drawn_once():
    made = tables(reproduce_curves=logs("rope", (1,), result="rep"),
                  train_metrics=logs("rope", (1,), result="rep/text/run-1") +
                  logs("rope", (2,), result="repeat/a/run-2") + logs("rope", (3,), result="repeat/b/run-3"))
    first, second = [one for one in drawings(curves.SECTION, made) if one.id == "curves-accuracy"]
    tap.ok("the reproduction and the other runs", first.title.endswith("experiment text: accuracy by epoch") and
           second.title == "Task distance: accuracy by epoch", second.title)
    names = sorted({one.name for one in second.series()})
    tap.ok("lines of one encoding are told apart by their folders",
           names == ["rope (repeat/a/run-2)", "rope (repeat/b/run-3)"], str(names))


def corners():
    bare = [{key: cell for key, cell in row.items() if key != "accuracy"} for row in logs("rope", (1,))]
    found = blocks(curves.SECTION, tables(train_metrics=bare))
    texts = [one.text for one in found if isinstance(one, drawing.Paragraph)]
    tap.ok("a table without accuracies says so", any("no column of numbers accuracy" in text for text in texts),
           str(texts))
    unknown = [{**row, "accuracy": np.nan if row["split"] == "test" else 0.5} for row in logs("rope", (1,))]
    tap.ok("a test split of NaN has no best", drawings(curves.SECTION, tables(train_metrics=unknown))[0].caption ==
           "No run has a finite test accuracy at its last epoch. Without a finite value at the last epoch: rope (1 of 1 run). "
           "Not drawn: 2 values that are not finite.")
    many = [row for i in range(9) for row in logs(f"e{i}", (1,))]
    drawn = drawings(curves.SECTION, tables(train_metrics=many))[0]
    for look in (colours.dash, colours.marker):
        looks = {(colours.of(one.colour), look(one.colour)) for one in drawn.series()}
        tap.ok(f"nine encodings have nine looks by colour and {look.__name__}", len(looks) == 9, str(len(looks)))


a_line_is_the_mean_of_the_seeds()
runs_that_are_no_seeds_of_each_other_are_apart()
runs_that_diverge_have_no_end()
runs_of_a_reproduction_are_drawn_once()
corners()
tap.finish()
