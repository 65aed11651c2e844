#!/usr/bin/python3
"""Heads taken away: the worst head, the deposit index and its captions against the rows."""
from support import blocks, chance, draw, drawing, drawings, np, tables, tap

from szego.figures import ablation

SEEDS, LAYERS, HEADS = (1, 2, 3), 2, 4


def heads(encoding="rope", **more):
    return [{"result": "r", "run": f"run-{seed}", "encoding": encoding, "task": "count", "seed": seed, "layer": layer,
             "head": head, "accuracy": 0.9 - drop, "drop": drop, "method": "output", "note": None, **more}
            for seed in SEEDS for layer in range(LAYERS) for head in (*range(HEADS), None)
            for drop in [chance.random() / 2 + (head is None)]]


def share(index, layer=0, seed=None, encoding="rope", **more):
    run = seed is not None
    return {"result": "r", "encoding": encoding, "task": "count", "method": "output", "layer": layer, "seed": seed,
            "index": index, "largest_drop": 0.25 if run else None, "total_drop": 0.5, "worst_head": 2 if run else None,
            "uniform_index": 0.5, "index_least": None if run else 0.25, "index_greatest": None if run else 0.75, **more}


def the_worst_head_is_named():
    made = heads()
    worst, drop = max((((layer, head), np.mean([one["drop"] for one in made if (one["layer"], one["head"]) == (layer, head)]))
                       for layer in range(LAYERS) for head in range(HEADS)), key=lambda one: one[1])
    drawn = drawings(ablation.SECTION, tables(ablate_ablation=made))[0]
    tap.ok("by its mean drop over the seeds, layers apart", drawn.caption ==
           f"Largest loss of accuracy: without head {worst[1]} of layer {worst[0]}, accuracy falls from 90.0% to "
           f"{100 * (0.9 - drop):.1f}%, on average over 3 seeds.", drawn.caption)
    lucky = [{**one, "drop": 0.3 if (one["seed"], one["layer"], one["head"]) == (2, 0, 1) else -0.2} for one in made]
    told = drawings(ablation.SECTION, tables(ablate_ablation=lucky))[0].caption
    tap.ok("a drop of one seed is none of all", told.startswith("No head costs accuracy"), told)
    part = [{**one, "drop": 0.25 if (one["layer"], one["head"]) == (0, 1) else -0.2, "accuracy": 0.5} for one in made
            if (one["seed"], one["layer"], one["head"]) != (3, 0, 1)]
    part[3].update(drop=9.0, accuracy=None)
    told = drawings(ablation.SECTION, tables(ablate_ablation=part))[0].caption
    tap.ok("both counts where a head lacks a seed; an accuracy that is not known costs nothing", told ==
           "Largest loss of accuracy: without head 1 of layer 0, accuracy falls from 75.0% to 50.0%, on average over 2 "
           "seeds; 3 seeds.", told)
    told = drawings(ablation.SECTION, tables(ablate_ablation=[one for one in made if one["seed"] == 1]))[0].caption
    tap.ok("of one seed there is no mean", told.endswith("; 1 seed.") and "average" not in told, told)
    one, whole = drawn.series()
    tap.ok("a violin of heads, points of layers", (one.marks, len(one.x), whole.marks, len(whole.x)) ==
           ("violins", 24, "points", 6))
    tap.ok("a mark has its head's name", one.head[:2] == ["0.0", "0.1"], str(one.head[:2]))
    tap.close("the rule is the accuracy with every head", drawn.panels[0].rules[0].at, 0.9, 1e-12)
    found = [one.text for one in blocks(ablation.SECTION, tables(ablate_ablation=made))
             if isinstance(one, drawing.Finding)]
    tap.ok("without a table of shares it is the finding", found == [f"Heads taken away, rope, task count, by output: "
                                                                    f"{drawn.caption}"], str(found))
    gains = drawings(ablation.SECTION, tables(ablate_ablation=[{**row, "drop": -0.1, "note": "$<"} for row in made]))
    tap.ok("gains are no loss; notes are counted", gains[0].caption ==
           "No head costs accuracy when it is taken away; 30 points have a note.", gains[0].caption)
    both = drawings(ablation.SECTION, tables(ablate_ablation=heads("$<a>", drop=0.0) +
                                             heads("b", drop=0.125, accuracy=0.5)))
    tap.ok("of several encodings its own is told", both[0].caption.startswith(
        "Largest loss of accuracy: without head 0 of layer 0, b, accuracy falls from 62.5% to 50.0%") and
        [panel.name for panel in both[0].panels] == ["$<a>", "b"], both[0].caption)


def the_costliest_head_has_its_name():
    made = [{**one, "drop": 0.1 + 0.2 * (one["head"] == 2)} for one in heads() if one["seed"] == 1 and one["layer"] == 0]
    one = drawings(ablation.SECTION, tables(ablate_ablation=made))[0]
    figure = draw.draw(one)
    texts = [text.get_text() for text in figure.axes[0].texts]
    tap.ok("beside its point", texts == ["head 2"], str(texts))
    several = drawings(ablation.SECTION, tables(ablate_ablation=heads()))[0]
    tap.ok("no point of several seeds", not draw.draw(several).axes[0].texts)


def the_largest_share_is_a_mean():
    made = tables(ablate_deposit=[share(1.0, seed=1), share(0.125, seed=2), share(0.5), share(0.625, layer=1),
                                  share(np.nan, layer=1, seed=1)], ablate_ablation=heads())
    drawn = next(one for one in drawings(ablation.SECTION, made) if one.id == "ablation-deposit")
    tap.ok("of means over seeds, though a run has more", drawn.caption ==
           "Largest loss: the worst head of layer 1 has 62.5% [25.0%, 75.0%] of what the heads of its layer cost (50 points of "
           "accuracy together); the largest of random shares is 50.0% on average. Not drawn: 1 value that is not finite.", drawn.caption)
    tap.ok("and found", drawn.findings == ["Heads taken away, rope, task count: the worst head of layer 1 has 62.5% "
                                           "[25.0%, 75.0%] of what the heads of its layer cost; the largest of random "
                                           "shares is 50.0% on average."],
           str(drawn.findings))
    tap.ok("runs alone are points", [(one.name, list(one.y)) for one in drawn.series()] == [("layer 0", [1.0, 0.125])])
    tap.ok("a mark at 1 is not cut", drawn.y.hi > 1 and drawn.y.lo == 0)
    listing = [one for one in blocks(ablation.SECTION, made) if isinstance(one, drawing.Listing)]
    tap.ok("means are listed", [list(one.rows.numbers("index")) for one in listing] == [[0.5, 0.625]])
    single = drawings(ablation.SECTION, tables(ablate_deposit=[share(1.0, seed=1), share(0.25, seed=1, layer=1,
                                                                                         uniform_index=0.75)],
                                               ablate_ablation=heads()))[-1]
    tap.ok("a run's own head; no rule where references differ", single.caption.startswith(
        "Largest loss: head 2 of layer 0 costs 25 points of accuracy. That is 100.0% of what the heads") and not single.panels[0].rules, single.caption)


def noise_is_no_finding():
    made = [share(1.0, seed=1, total_drop=0.05, largest_drop=0.05), share(0.5, seed=1, layer=1, total_drop=0.6,
                                                                          largest_drop=0.3),
            share(0.75, seed=1, layer=2, total_drop=0.2, largest_drop=0.15)]
    found = {one.id: one for one in drawings(ablation.SECTION, tables(ablate_deposit=made, ablate_ablation=heads()))}
    one = found["ablation-deposit"]
    tap.ok("the head that costs most is found, not the share of a drop of 5 points", one.findings == [
        "Heads taken away, rope, task count: head 2 of layer 1 costs 30 points of accuracy, 50.0% of what the heads of its "
        "layer cost; the largest of random shares is 50.0% on average."], str(one.findings))
    both = [row for seed, loss in ((1, 0.25), (2, 0.5)) for row in [share(0.5, seed=seed, largest_drop=loss)]]
    mean = drawings(ablation.SECTION, tables(ablate_deposit=both + [share(0.5)], ablate_ablation=heads()))[-1]
    tap.ok("of a mean over seeds the loss is the mean", "the worst head of layer 0 costs 37.5 points" in mean.findings[0],
           mean.findings[0])
    none = drawings(ablation.SECTION, tables(ablate_deposit=made[:1], ablate_ablation=heads()))[-1]
    tap.ok("noise alone is said to be that", none.caption == "In no layer do the drops sum to more than 5 points of accuracy: "
           "the shares are noise." and none.findings == ["Heads taken away, rope, task count, by output: In no layer do the drops "
                                                         "sum to more than 5 points of accuracy."], str(none.findings))
    over = drawings(ablation.SECTION, tables(ablate_deposit=[share(1.0, seed=1), share(0.5, total_drop=0.01)],
                                             ablate_ablation=heads()))[-1]
    tap.ok("of a mean, a run may have more", over.caption.startswith("In no layer, on average over the seeds, do the drops"),
           over.caption)
    bare = drawings(ablation.SECTION, tables(ablate_deposit=[share(0.5, seed=1, total_drop=None)], ablate_ablation=heads()))[-1]
    tap.ok("drops that are not known are not called noise", bare.caption.startswith(
        "Largest loss: head 2 of layer 0 costs 25 points of accuracy. That is 50.0% of what the heads of its layer cost; the"), bare.caption)
    small = blocks(ablation.SECTION, tables(ablate_ablation=heads(drop=0.01)))
    small = [one.text for one in small if isinstance(one, drawing.Finding)]
    tap.ok("nor is a small loss found", small == ["Heads taken away, rope, task count, by output: No head costs more than 5 points "
                                                  "of accuracy."], str(small))
    listing = ablation.OVER_SEEDS.shown
    tap.ok("means over seeds have their experiment", "experiment" in listing and "index_t_low" not in listing)


def layers_keep_their_colours():
    made = tables(ablate_deposit=[share(1.0, seed=1, encoding="a", layer=1), share(1.0, seed=1, encoding="b"),
                                  share(0.5, seed=1, encoding="b", layer=1)], ablate_ablation=heads())
    panels = drawings(ablation.SECTION, made)[-1].panels
    tap.ok("in panels that lack a layer too", [[(one.name, one.colour) for one in panel.series] for panel in panels] ==
           [[("layer 1", 1)], [("layer 0", 0), ("layer 1", 1)]])


the_worst_head_is_named()
the_costliest_head_has_its_name()
the_largest_share_is_a_mean()
noise_is_no_finding()
layers_keep_their_colours()
tap.finish()
